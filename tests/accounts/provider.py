"""A small OpenID Connect provider: a real HTTP server with discovery, PKCE, signed tokens and their public keys.

Whoever asks is `person`: nobody types a password here, since that is the provider's own affair.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "palate", "a secret between the two"


class Provider:
    """`person`: the claims of who is logged in there. `codes`: what was given out and not yet redeemed.

    `userinfo`, `token_answer` and `discovered`: what it says of itself and of them where that is not as it should be.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.person: dict[str, Any] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens: dict[str, dict[str, Any]] = {}
        self.audience = CLIENT
        self.userinfo: Any = None
        self.token_answer: dict[str, Any] = {}
        self.discovered: dict[str, Any] = {}

    def discovery(self) -> dict[str, Any]:
        said = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/jwks",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }
        return {**said, **self.discovered}

    def authorize(self, asked: dict[str, str]) -> str:
        assert asked["client_id"] == CLIENT
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def redeem(self, sent: dict[str, str]) -> dict[str, Any] | None:
        asked = self.codes.pop(sent.get("code", ""), None)
        if asked is None or (sent.get("client_id"), sent.get("client_secret")) != (CLIENT, SECRET):
            return None
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != asked["code_challenge"]:
            return None
        access = secrets.token_urlsafe(16)
        self.tokens[access] = self.person
        now = int(time.time())
        claims = {**self.person, "iss": self.url, "aud": self.audience, "iat": now, "exp": now + 300}
        signed = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "1"})
        answer = {"access_token": access, "token_type": "Bearer", "expires_in": 300, "id_token": signed}
        return {**answer, **self.token_answer}

    def jwks(self) -> dict[str, Any]:
        public = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [{**public, "kid": "1", "use": "sig", "alg": "RS256"}]}


@contextmanager
def running() -> Iterator[Provider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            match parts.path:
                case "/.well-known/openid-configuration":
                    self.say(200, provider.discovery())
                case "/jwks":
                    self.say(200, provider.jwks())
                case "/authorize":
                    self.send_response(302)
                    self.send_header("Location", provider.authorize(asked))
                    self.end_headers()
                case "/userinfo":
                    found = provider.tokens.get(self.headers.get("Authorization", "").removeprefix("Bearer "))
                    said = found if provider.userinfo is None else provider.userinfo
                    self.say(200 if found is not None else 401, said)
                case _:
                    self.say(404, {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            answer = provider.redeem({name: values[0] for name, values in parse_qs(body).items()})
            self.say(200 if answer else 400, answer or {"error": "invalid_grant"})

        def say(self, status: int, content: Any) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_of: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_of: Any, **_named: Any) -> None:
        return None


def followed(url: str) -> str:
    """Where the provider sends a browser that comes to an address of its."""
    try:
        urllib.request.build_opener(_Stay).open(url, timeout=10)
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.headers["Location"]
    raise AssertionError(f"no redirect from {url}")
