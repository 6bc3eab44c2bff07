"""A small SAML 2.0 identity provider: a real HTTP server that reads a request and answers with a signed assertion.

Whoever asks is `person`: nobody types a password here, since that is the provider's own affair.
"""

from __future__ import annotations

import base64
import html
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4
from xml.sax.saxutils import escape

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from lxml import etree

PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
_NAMES = {"samlp": "urn:oasis:names:tc:SAML:2.0:protocol", "saml": "urn:oasis:names:tc:SAML:2.0:assertion"}


def _key_and_certificate() -> tuple[str, str]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "idp")]), datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return secret.decode(), made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


@dataclass
class Provider:
    """`person`: attributes of who is logged in there. `name`: the name ID and its format. `more`: attributes as they
    stand in the answer. The other fields are what a forger might change of it."""

    url: str
    person: dict[str, str]
    name: tuple[str, str] = ("_4711", PERSISTENT)
    keys: tuple[str, str] = field(default_factory=_key_and_certificate)
    signs: bool = True
    with_keys: tuple[str, str] | None = None
    audience: str = ""
    late: bool = False
    answers_to: str = ""
    more: str = ""

    @property
    def entity(self) -> str:
        return f"{self.url}/metadata"

    def answer(self, query: str) -> str:
        """The page that leads back, with the answer in its form."""
        [packed] = parse_qs(query)["SAMLRequest"]
        asked = etree.fromstring(zlib.decompress(base64.b64decode(packed), -15))
        issuer = asked.find("saml:Issuer", _NAMES)
        assert issuer is not None
        answer = self._signed(str(asked.get("ID")), str(asked.get("AssertionConsumerServiceURL")), str(issuer.text))
        return (
            f'<form method="post" action="{html.escape(str(asked.get("AssertionConsumerServiceURL")))}">'
            f'<input name="SAMLResponse" value="{base64.b64encode(answer).decode()}"></form>'
        )

    def _signed(self, request: str, acs: str, audience: str) -> bytes:
        from onelogin.saml2.utils import OneLogin_Saml2_Utils

        now = datetime.now(UTC) - timedelta(hours=2 if self.late else 0)
        at, until = (time.strftime("%Y-%m-%dT%H:%M:%SZ") for time in (now, now + timedelta(minutes=5)))
        name, form = self.name
        request = self.answers_to or request
        said = "".join(
            f'<saml:Attribute Name="{key}"><saml:AttributeValue>{escape(value)}</saml:AttributeValue></saml:Attribute>'
            for key, value in self.person.items()
        )
        named = f'<saml:NameID Format="{form}">{escape(name)}</saml:NameID>' if name else ""
        assertion = (
            f'<saml:Assertion xmlns:saml="{_NAMES["saml"]}" ID="_{uuid4().hex}" Version="2.0" IssueInstant="{at}">'
            f"<saml:Issuer>{self.entity}</saml:Issuer><saml:Subject>"
            f"{named}"
            '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">'
            f'<saml:SubjectConfirmationData NotOnOrAfter="{until}" Recipient="{acs}" InResponseTo="{request}"/>'
            "</saml:SubjectConfirmation></saml:Subject>"
            f'<saml:Conditions NotBefore="{at}" NotOnOrAfter="{until}"><saml:AudienceRestriction>'
            f"<saml:Audience>{self.audience or audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>"
            f'<saml:AuthnStatement AuthnInstant="{at}" SessionIndex="_1"><saml:AuthnContext><saml:AuthnContextClassRef>'
            "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport</saml:AuthnContextClassRef>"
            "</saml:AuthnContext></saml:AuthnStatement>"
            f"<saml:AttributeStatement>{said}{self.more}</saml:AttributeStatement></saml:Assertion>"
        )
        if self.signs:
            assertion = OneLogin_Saml2_Utils.add_sign(assertion, *(self.with_keys or self.keys)).decode()
        return (
            f'<samlp:Response xmlns:samlp="{_NAMES["samlp"]}" xmlns:saml="{_NAMES["saml"]}" ID="_{uuid4().hex}" '
            f'Version="2.0" IssueInstant="{at}" Destination="{acs}" InResponseTo="{request}">'
            f"<saml:Issuer>{self.entity}</saml:Issuer><samlp:Status>"
            '<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>'
            f"{assertion}</samlp:Response>"
        ).encode()


@contextmanager
def running() -> Iterator[Provider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = provider.answer(urlsplit(self.path).query).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(f"http://127.0.0.1:{server.server_port}", {})
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
