"""All settings, read from environment variables; `docs/settings.md` lists them.

Three kinds of installation share this file. `PALATE_ENV` says which: `demo` (a laptop: SQLite, queue in a folder),
`test`, and `production`, the default, in which nothing that matters to safety has a default of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from importlib import util
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import dj_email_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError, validate
from kombu.transport import TRANSPORT_ALIASES

from base import environment
from config.beat import every
from recipes import packs

BASE_DIR = Path(__file__).resolve().parent.parent

env = Env()

# Seconds for which who waits for a page waits for a mail server that is silent.
_MAIL_TIMEOUT = 20


@env.parser_for("mail_url")
def _mail_url(text: str) -> dict[str, Any]:
    """The settings of `dj_email_url`, which knows no smtp+tls and smtp+ssl, and takes anything.

    `smtp+tls` begins in the clear and goes on under TLS or not at all; `smtp+ssl` begins under TLS.
    """
    scheme, colon, rest = text.strip().partition(":")
    known = {"smtp+tls": "submission", "smtp+ssl": "smtp"}
    try:
        found: dict[str, Any] = dj_email_url.parse(f"{known.get(scheme, scheme)}{colon}{rest}")
        if scheme == "smtp+ssl":
            found |= {"EMAIL_USE_SSL": True, "EMAIL_USE_TLS": False, "EMAIL_PORT": urlsplit(text).port or 465}
    except ValueError as error:
        raise EnvError(f"{error}.") from error
    if "EMAIL_BACKEND" not in found or not colon:
        raise EnvError("Not an address such as smtp+tls://user:password@host:587.")
    if found["EMAIL_TIMEOUT"] is None:
        found["EMAIL_TIMEOUT"] = _MAIL_TIMEOUT
    return found


@env.parser_for("time_zone")
def _time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise EnvError("Not a time zone such as Europe/Prague.") from error
    return name


@env.parser_for("names")
def _names(text: str) -> dict[str, str]:
    """`name=what` with commas."""
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if any(not (name.strip() and equals and what.strip()) for name, equals, what in pairs):
        raise EnvError("Not name=what, with commas.")
    return {name.strip(): what.strip() for name, _equals, what in pairs}


@env.parser_for("queue_url")
def _queue_url(text: str) -> str:
    """Celery takes what it does not know for the host of another kind of queue, and looks for it for ever."""
    scheme, marks, _rest = text.partition("://")
    if not marks or scheme.partition("+")[0].lower() not in TRANSPORT_ALIASES:
        raise EnvError("Not an address such as redis://host:6379/0.")
    return text


@env.parser_for("words")
def _words(text: str, each: Callable[[str], object] = str) -> list[str]:
    """With commas, and spaces where somebody likes them; `each` raises for what is none."""
    found = [word.strip() for word in text.split(",") if word.strip()]
    for word in found:
        each(word)
    return found


try:
    PALATE_ENV = env.str("PALATE_ENV", "production", validate=validate.OneOf(["demo", "test", "production"]))
    environment.read(BASE_DIR)
    _is_production = PALATE_ENV == "production"
    # Of a folder an empty value is none: it would be whichever folder a process was started in.
    VAR_DIR = Path(env.str("PALATE_VAR", "") or BASE_DIR / "var")

    DEBUG = env.bool("DEBUG", False)
    if _is_production:
        SECRET_KEY = env.str("SECRET_KEY", validate=validate.Length(min=32))
    else:
        SECRET_KEY = env.str("SECRET_KEY", f"palate-{PALATE_ENV}-only")
    # Earlier ones, by which is read what was signed or encrypted.
    SECRET_KEY_FALLBACKS: list[str] = env.words(
        "SECRET_KEY_FALLBACKS", "", each=validate.Length(min=32 if _is_production else 1)
    )
    ALLOWED_HOSTS: list[str] = env.words(
        "ALLOWED_HOSTS",
        "" if _is_production else "localhost,127.0.0.1,[::1],testserver",
        each=validate.Regexp(
            r"(\*|\.?\w[\w.-]*|\[[\da-fA-F:.]+\])$", error="Not host names such as palate.example.org, with commas."
        ),
    )
    _origin = validate.Regexp(
        r"https?://((\*\.)?\w[\w.-]*|\[[\da-fA-F:.]+\])(:\d{1,5})?$",
        error="Not origins such as https://login.example.org, with commas.",
    )
    CSRF_TRUSTED_ORIGINS: list[str] = env.words("CSRF_TRUSTED_ORIGINS", "", each=_origin)
    _behind_https = env.bool("HTTPS", _is_production)
    # Who else is held to HTTPS for a year: this host alone, its subdomains too, or both and on the lists of browsers.
    _hsts = env.str("PALATE_HSTS", "host", validate=validate.OneOf(["host", "subdomains", "preload"]))
    # How many proxies of ours stand before the web server: of what stands in X-Forwarded-For, the address is believed
    # that the outermost of them has written.
    PALATE_PROXIES = env.int("PALATE_PROXIES", 1 if _behind_https else 0, validate=validate.Range(min=0, max=9))

    DATABASES = {
        "default": env.dj_db_url(
            "DATABASE_URL",
            f"sqlite:///{VAR_DIR / 'palate.sqlite3'}",
            conn_max_age=60,
            conn_health_checks=True,
            disable_server_side_cursors=env.bool("DATABASE_POOLED", False),
        )
    }
    # A commit of SQLite's waits until it is on the disk (FULL), or may be lost when the machine loses power (NORMAL).
    _sqlite_synchronous = env.str("SQLITE_SYNCHRONOUS", "FULL", validate=validate.OneOf(["FULL", "NORMAL"]))
    # Tests must leave nothing on a queue that a worker of this machine might take.
    CELERY_BROKER_URL: str = env.queue_url(
        "CELERY_BROKER_URL", "memory://" if PALATE_ENV == "test" else "filesystem://localhost//"
    )
    EMAIL_CONFIG: dict[str, Any] = env.mail_url("EMAIL_URL", "console:")
    EMAIL_FROM = env.str("EMAIL_FROM", "palate@localhost")
    TIME_ZONE: str = env.time_zone("TIME_ZONE", "UTC")
    # Of those whose browser asks for none that is here, of e-mails that no page sends, and of what workers say.
    LANGUAGE_CODE = env.str("DEFAULT_LANGUAGE", "en", validate=validate.OneOf(["en", "cs"]))

    # Wrong passwords in a quarter of an hour: of one account from one address, of one account, and from one address.
    PALATE_LOGIN_TRIES = env.int("PALATE_LOGIN_TRIES", 10, validate=validate.Range(min=1, max=1_000_000))
    PALATE_LOGIN_TRIES_ACCOUNT = env.int(
        "PALATE_LOGIN_TRIES_ACCOUNT", 50, validate=validate.Range(min=1, max=1_000_000)
    )
    PALATE_LOGIN_TRIES_ADDRESS = env.int(
        "PALATE_LOGIN_TRIES_ADDRESS", 100, validate=validate.Range(min=1, max=1_000_000)
    )
    # Whose accounts need a second factor, by roles; an owner is a superuser.
    PALATE_SECOND_FACTOR: list[str] = env.words(
        "PALATE_SECOND_FACTOR", "", each=validate.OneOf(["annotator", "manager", "researcher", "owner"])
    )
    # Whether who has an e-mail address must confirm it before the account can be used.
    PALATE_CONFIRM_EMAIL = env.bool("PALATE_CONFIRM_EMAIL", False)
    # Hours after which somebody logs in anew.
    _session_hours = env.int("PALATE_SESSION_HOURS", 336, validate=validate.Range(min=1, max=8760))
    # Single sign-on by OpenID Connect: the provider's address, and who we are there.
    OIDC_SERVER_URL = env.str("OIDC_SERVER_URL", "")
    OIDC_CLIENT_ID = env.str("OIDC_CLIENT_ID", "")
    OIDC_CLIENT_SECRET = env.str("OIDC_CLIENT_SECRET", "")
    # Where else its log-in page stands, as scheme and host: browsers follow no form to an address that is not named.
    _oidc_origins: list[str] = env.words("OIDC_ORIGINS", "", each=_origin)
    OIDC_NAME = env.str("OIDC_NAME", "Single sign-on")
    # Who of those whom the provider knows gets an account: who is invited, or everybody.
    OIDC_ADMITS = env.str("OIDC_ADMITS", "invited", validate=validate.OneOf(["invited", "everybody"]))
    # Whether an account here with an address that the provider has verified is logged in to by it.
    OIDC_TRUSTS_EMAIL = env.bool("OIDC_TRUSTS_EMAIL", False)

    # Single sign-on by SAML 2.0 in its place: the identity provider by its entity ID, and either where its metadata
    # are, or where its log-in page stands and the file of its certificate.
    SAML_IDP = env.str("SAML_IDP", "")
    SAML_METADATA_URL = env.str("SAML_METADATA_URL", "")
    SAML_SSO_URL = env.str("SAML_SSO_URL", "")
    _saml_certificate = env.str("SAML_CERTIFICATE", "")
    # Who we are there, where it is not the address of our own metadata; files of a key and its certificate, by which
    # requests are signed and encrypted answers are read.
    SAML_ENTITY_ID = env.str("SAML_ENTITY_ID", "")
    _saml_own = [env.str("SAML_KEY", ""), env.str("SAML_OWN_CERTIFICATE", "")]
    # Attributes that say who somebody is, the first that is sent.
    _saml_uid: list[str] = env.words("SAML_UID", "")
    _saml_origins: list[str] = env.words("SAML_ORIGINS", "", each=_origin)
    SAML_NAME = env.str("SAML_NAME", "Single sign-on")
    SAML_ADMITS = env.str("SAML_ADMITS", "invited", validate=validate.OneOf(["invited", "everybody"]))

    # How large an upload may be. A whole import is bounded as well as each page of it.
    PALATE_MAX_IMPORT_BYTES = env.int("PALATE_MAX_IMPORT_BYTES", 200 * 2**20, validate=validate.Range(min=1, max=2**40))
    # A larger one is done by a worker, and its files wait for that in a folder which web server and workers share.
    PALATE_IMPORT_AT_ONCE = env.int("PALATE_IMPORT_AT_ONCE", 2**20, validate=validate.Range(min=0, max=2**40))
    PALATE_UPLOADS = Path(env.str("PALATE_UPLOADS", "") or VAR_DIR / "uploads")
    # Seconds that a worker may be silent about a document before another one takes it over.
    PALATE_LEASE_SECONDS = env.int("PALATE_LEASE_SECONDS", 90, validate=validate.Range(min=1, max=86_400))
    # Where downloads are made that take longer than a page may, and for how many days they stay.
    PALATE_EXPORTS = Path(env.str("PALATE_EXPORTS", "") or VAR_DIR / "exports")
    PALATE_EXPORT_DAYS = env.int("PALATE_EXPORT_DAYS", 7, validate=validate.Range(min=1, max=3650))
    # Threads of a CPU judge; 0 leaves the choice to torch.
    PALATE_TORCH_THREADS = env.int("PALATE_TORCH_THREADS", 0, validate=validate.Range(min=0, max=1024))
    # Folders of domain packs beside those of `recipes/`.
    _pack_folders: list[str] = env.words("PALATE_PACKS", "")
    PALATE_PACKS = [Path(folder).resolve() for folder in _pack_folders]
    # Environment variables that a judge may name as its server's key beside those that end in _API_KEY.
    PALATE_KEY_VARIABLES: list[str] = env.words("PALATE_KEY_VARIABLES", "")
    # One answer of a judge's server: seconds from the request to the last byte, and bytes. And by how many nats a
    # server may give the same token of the same text another log-probability.
    PALATE_SERVER_SECONDS = env.float("PALATE_SERVER_SECONDS", 600.0, validate=validate.Range(min=1, max=86_400))
    PALATE_SERVER_MAX_BYTES = env.int(
        "PALATE_SERVER_MAX_BYTES", 32 * 2**20, validate=validate.Range(min=1024, max=2**31)
    )
    PALATE_SERVER_TOLERANCE = env.float("PALATE_SERVER_TOLERANCE", 1e-3, validate=validate.Range(min=0, max=100))
    # In which prices of models are given.
    PALATE_CURRENCY = env.str("PALATE_CURRENCY", "USD", validate=validate.Length(min=1, max=8))
    # Who a site is told that we are when a page is fetched; before the slash stands what its robots.txt may call us.
    PALATE_USER_AGENT = env.str(
        "PALATE_USER_AGENT",
        "Palate/0.1 (research; annotation of recipes)",
        validate=validate.Regexp(r"[\x21-\x7e]+/.+"),
    )
    # Seconds between two visits to one host, and for one page in all; bytes of one page.
    PALATE_FETCH_PAUSE = env.float("PALATE_FETCH_PAUSE", 2.0, validate=validate.Range(min=0, max=86_400))
    PALATE_FETCH_SECONDS = env.float("PALATE_FETCH_SECONDS", 30.0, validate=validate.Range(min=1, max=3600))
    PALATE_FETCH_MAX_BYTES = env.int("PALATE_FETCH_MAX_BYTES", 8 * 2**20, validate=validate.Range(min=1024, max=2**31))
    # Lets pages of this machine itself be fetched: for a demo and for tests. No other address that is not public is.
    PALATE_FETCH_LOOPBACK = env.bool("PALATE_FETCH_LOOPBACK", False)
    # Hosts of the own network that webhooks may call, over plain HTTP and on any port too. All others are called over
    # HTTPS, at public addresses.
    PALATE_WEBHOOK_HOSTS: list[str] = env.words(
        "PALATE_WEBHOOK_HOSTS",
        "" if _is_production else "localhost,127.0.0.1",
        each=validate.Regexp(
            r"([a-z0-9][a-z0-9.-]*|[\da-f:]+)$",
            error="Not hosts such as hooks.example.org, in small letters, with commas.",
        ),
    )
    # Backends of this installation's own, beside those of `llm.registry`: name=dotted.path.of.its.Class, with commas.
    PALATE_BACKENDS: dict[str, str] = env.names("PALATE_BACKENDS", "")
    # Encoders of sentences by name, beside those of Palate: "mine=lab.Encoder"; see llm/encoders.py.
    PALATE_ENCODERS: dict[str, str] = env.names("PALATE_ENCODERS", "")
    # What an operator sees. Lines of the log: "json", with numbers of requests and runs and no text of theirs; "text".
    LOG_FORMAT = env.str("LOG_FORMAT", "json" if _is_production else "text", validate=validate.OneOf(["json", "text"]))
    # Of the code, where no git checkout tells it.
    PALATE_COMMIT = env.str("PALATE_COMMIT", "")
    # Who may read /metrics from elsewhere than this machine: a program with this token.
    PALATE_METRICS_TOKEN = env.str("PALATE_METRICS_TOKEN", "")
    # Where errors go, and who is told that a queue stands still, after how long.
    SENTRY_DSN = env.str("SENTRY_DSN", "")
    _log_level = env.str(
        "LOG_LEVEL", "INFO", validate=validate.OneOf(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"])
    )
    PALATE_ALARM_EMAIL: list[str] = env.words(
        "PALATE_ALARM_EMAIL", "", each=validate.Regexp(r"[^@\s]+@[^@\s]+$", error="Not e-mail addresses, with commas.")
    )
    _alarm_minutes = env.int("PALATE_ALARM_MINUTES", 10, validate=validate.Range(min=1, max=525_600))  # a year
    PALATE_ALARM_AFTER = timedelta(minutes=_alarm_minutes)
    # What others read is looked at here, before anybody waits for it: config/gunicorn.py, and who searches the web.
    env.int("WEB_CONCURRENCY", 3, validate=validate.Range(min=1, max=1000))
    _address = validate.Regexp(r"(https?://[^\s/]+\S*)?$", error="Not an address such as https://host.")
    env.str("SEARXNG_URL", "", validate=_address)
    env.words(
        "SEARXNG_ENGINES", "", each=validate.Regexp(r"[\w .-]{1,40}$", error="Not names of engines, with commas.")
    )
    env.str("BING_SEARCH_URL", "", validate=_address)
except EnvError as error:
    raise ImproperlyConfigured(str(error)) from error

if _is_production and DEBUG:
    raise ImproperlyConfigured("DEBUG is set in production: whoever meets an error would read what is behind it")

if _is_production and not ALLOWED_HOSTS:
    raise ImproperlyConfigured("ALLOWED_HOSTS names no host, so that nobody would be answered")


def _make(folder: Path, variable: str) -> None:
    """Of this user alone, as it holds all texts and the digests of passwords."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"{variable} names a folder that cannot be made: {error}") from error


_make(VAR_DIR, "PALATE_VAR")
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    _make(Path(DATABASES["default"]["NAME"]).parent, "DATABASE_URL")
    DATABASES["default"]["ENGINE"] = "config.sqlite"
    DATABASES["default"]["OPTIONS"] = {
        # Readers do not wait for the writer, and a writer takes its lock at the start instead of failing half-way.
        "init_command": f"PRAGMA journal_mode=WAL; PRAGMA cache_size=-20000; PRAGMA synchronous={_sqlite_synchronous};",
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
    }
    DATABASES["default"]["TEST"] = {"NAME": ":memory:"}  # else parallel tests take it for another kind of database

if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    DATABASES["default"]["ENGINE"] = "config.postgresql"
    # Uses of a prepared query by one connection until its plan is kept there.
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault("prepare_threshold", 2)
    if not DATABASES["default"].get("DISABLE_SERVER_SIDE_CURSORS"):
        # Who opens a cursor here reads it to its end; PostgreSQL would plan for its first tenth. Compiling takes longer
        # than any query of a page, and disks are no longer read as tapes. Poolers refuse this.
        DATABASES["default"]["OPTIONS"].setdefault(
            "options", "-c cursor_tuple_fraction=1 -c jit=off -c random_page_cost=1.1"
        )

# --- applications ----------------------------------------------------------------------------------------------------

try:
    _packs = packs.installed(PALATE_PACKS)
except OSError as error:
    raise ImproperlyConfigured(f"PALATE_PACKS names a folder that cannot be read: {error}") from error
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.forms",
    "csp",
    "django_htmx",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    *(["allauth.socialaccount.providers.saml"] if SAML_IDP else []),
    "allauth.mfa",
    "allauth.usersessions",
    "rest_framework",
    "rest_framework.authtoken",
    "drf_spectacular",
    "llm",
    "work",
    "annotation",
    "judges",
    "reports",
    *_packs,
    "accounts",
    "operating",
]
if PALATE_METRICS_TOKEN and len(PALATE_METRICS_TOKEN) < 16:
    raise ImproperlyConfigured("PALATE_METRICS_TOKEN is too short: 16 characters or more")
for _name, _is_set in (("PALATE_CONFIRM_EMAIL", PALATE_CONFIRM_EMAIL), ("PALATE_ALARM_EMAIL", PALATE_ALARM_EMAIL)):
    if _is_set and not env.str("EMAIL_URL", ""):
        raise ImproperlyConfigured(f"{_name} is set, so EMAIL_URL must be set too: no mail would go out")
if OIDC_SERVER_URL and not (OIDC_CLIENT_ID and OIDC_CLIENT_SECRET):
    raise ImproperlyConfigured("OIDC_SERVER_URL is set, so OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set too")
_oidc = urlsplit(OIDC_SERVER_URL)
if (
    OIDC_SERVER_URL
    and _is_production
    and _oidc.scheme != "https"
    and _oidc.hostname not in ("localhost", "127.0.0.1", "::1")
):
    raise ImproperlyConfigured(
        "OIDC_SERVER_URL must begin with https://: whoever changes what it says on its way logs in as all"
    )
if SAML_IDP and OIDC_SERVER_URL:
    raise ImproperlyConfigured("OIDC_SERVER_URL and SAML_IDP are set: an installation has one single sign-on")
if SAML_IDP and not (SAML_METADATA_URL or (SAML_SSO_URL and _saml_certificate)):
    raise ImproperlyConfigured(
        "SAML_IDP is set, so SAML_METADATA_URL must be set too, or SAML_SSO_URL and SAML_CERTIFICATE"
    )
if SAML_METADATA_URL and _is_production and not SAML_METADATA_URL.startswith("https://"):
    raise ImproperlyConfigured(
        "SAML_METADATA_URL must begin with https://: whoever changes it on its way logs in as all"
    )
if SAML_IDP and util.find_spec("onelogin") is None:
    raise ImproperlyConfigured("SAML_IDP is set, and python3-saml is not installed: see docs/security.md")
if any(_saml_own) and not all(_saml_own):
    raise ImproperlyConfigured("SAML_KEY and SAML_OWN_CERTIFICATE must be set together")


def _saml_file(variable: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii") if path else ""
    except (OSError, ValueError) as error:
        raise ImproperlyConfigured(f"{variable} names a file that cannot be read: {error}") from error


SAML_CERTIFICATE = _saml_file("SAML_CERTIFICATE", _saml_certificate)
SAML_KEY = _saml_file("SAML_KEY", _saml_own[0])
SAML_OWN_CERTIFICATE = _saml_file("SAML_OWN_CERTIFICATE", _saml_own[1])

MIDDLEWARE = [
    "operating.middleware.seen",
    "accounts.middleware.asked_from",
    "accounts.middleware.answered_first",
    "django.middleware.security.SecurityMiddleware",
    "accounts.middleware.encrypted_api",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "operating.middleware.for_programs",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "operating.middleware.readable",
    "operating.middleware.Slashes",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    # Every page asks for a login; the views that do not are marked.
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.middleware.second_factor",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "annotation.people.gone.Gone",
    *([] if _is_production else ["annotation.demo_way.DemoWay"]),
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["django.templatetags.i18n", "django.templatetags.static"],
        },
    }
]
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"  # templates/django/forms has what is other than Django's

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "annotation.User"

# --- people ----------------------------------------------------------------------------------------------------------

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
] + [{"NAME": "accounts.passwords.NotOfThisPlace"}]
AUTHENTICATION_BACKENDS = ["annotation.sessions.Backend"]
SESSION_ENGINE = "annotation.sessions"
SESSION_COOKIE_AGE = _session_hours * 3600
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "annotation:home"
LOGOUT_REDIRECT_URL = "login"
EMAIL_BACKEND = EMAIL_CONFIG["EMAIL_BACKEND"]
DEFAULT_FROM_EMAIL = EMAIL_FROM
EMAIL_HOST = EMAIL_CONFIG.get("EMAIL_HOST", "")
EMAIL_PORT = EMAIL_CONFIG.get("EMAIL_PORT", 25)
EMAIL_HOST_USER = EMAIL_CONFIG.get("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = EMAIL_CONFIG.get("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS, EMAIL_USE_SSL = EMAIL_CONFIG["EMAIL_USE_TLS"], EMAIL_CONFIG["EMAIL_USE_SSL"]
EMAIL_TIMEOUT = EMAIL_CONFIG["EMAIL_TIMEOUT"]

# allauth: single sign-on, second factors, confirmed addresses, sessions. Our templates go before its own.
ACCOUNT_ADAPTER = "accounts.adapters.AccountAdapter"
SOCIALACCOUNT_ADAPTER = "accounts.adapters.SocialAccountAdapter"
MFA_ADAPTER = "accounts.adapters.MFAAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"  # PALATE_CONFIRM_EMAIL asks for it of those who have an address
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if _behind_https else "http"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_FORMS = {"reset_password": "accounts.forms.ForgottenForm"}
ACCOUNT_RATE_LIMITS = {"login": None, "login_failed": None}  # counted in the database: annotation.actions.trust
ACCOUNT_REAUTHENTICATION_REQUIRED = True  # before addresses and connections to single sign-on change
ACCOUNT_REAUTHENTICATION_TIMEOUT = 900
ACCOUNT_PREVENT_ENUMERATION = False  # who may not sign up by single sign-on is told why; passwords tell nothing
ALLAUTH_TRUSTED_PROXY_COUNT = PALATE_PROXIES
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_FORMS = {
    "authenticate": "accounts.forms.CodeForm",
    "reauthenticate": "accounts.forms.CodeAgainForm",
    "activate_totp": "accounts.forms.FirstCodeForm",
}
MFA_TOTP_ISSUER = "Palate"
MFA_TOTP_TOLERANCE = 1  # steps of half a minute that a clock may be wrong
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not _is_production  # a demo on this machine has no TLS
SOCIALACCOUNT_LOGIN_ON_GET = False
SOCIALACCOUNT_QUERY_EMAIL = True
SOCIALACCOUNT_EMAIL_AUTHENTICATION = OIDC_TRUSTS_EMAIL
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = OIDC_TRUSTS_EMAIL
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "provider_class": "accounts.oidc.Provider",
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "sso",
                "name": OIDC_NAME,
                "client_id": OIDC_CLIENT_ID,
                "secret": OIDC_CLIENT_SECRET,
                "settings": {"server_url": OIDC_SERVER_URL, "oauth_pkce_enabled": True},
            }
        ]
        if OIDC_SERVER_URL
        else [],
    },
    "saml": {
        "provider_class": "accounts.saml.Provider",
        "APPS": [
            {
                "provider_id": SAML_IDP,
                "name": SAML_NAME,
                "client_id": "sso",
                "settings": {
                    "idp": {
                        "entity_id": SAML_IDP,
                        "metadata_url": SAML_METADATA_URL,
                        "sso_url": SAML_SSO_URL,
                        "x509cert": SAML_CERTIFICATE,
                    },
                    "sp": {"entity_id": SAML_ENTITY_ID},
                    "uid": _saml_uid,
                    "advanced": {
                        "authn_request_signed": bool(SAML_KEY),
                        **({"private_key": SAML_KEY, "x509cert": SAML_OWN_CERTIFICATE} if SAML_KEY else {}),
                    },
                },
            }
        ]
        if SAML_IDP
        else [],
    },
}

# --- language and static files ---------------------------------------------------------------------------------------

LANGUAGES = [("en", "English"), ("cs", "Czech")]
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_AGE = 31_536_000
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = _behind_https
USE_I18N = True
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "whitenoise.storage.CompressedManifestStaticFilesStorage"
            if _is_production
            else "django.contrib.staticfiles.storage.StaticFilesStorage"
        )
    },
}
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = not _is_production
WHITENOISE_ALLOW_ALL_ORIGINS = False

# --- safety ----------------------------------------------------------------------------------------------------------

DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000
DATA_UPLOAD_MAX_NUMBER_FILES = 2_000
FILE_UPLOAD_HANDLERS = [
    "accounts.uploads.OfSomebody",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = _behind_https
SECURE_HSTS_SECONDS = 31_536_000 if _behind_https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = _hsts != "host"
SECURE_HSTS_PRELOAD = _hsts == "preload"
# That it is not so for subdomains, and on no list, is the operator's choice, not an oversight.
SILENCED_SYSTEM_CHECKS = {"host": ["security.W005", "security.W021"], "subdomains": ["security.W021"]}.get(_hsts, [])
SECURE_REDIRECT_EXEMPT = [
    r"^(healthz|readyz|metrics)$",  # asked over plain HTTP from inside the container
    r"^api/",  # refused: `accounts.middleware.encrypted_api`
]
if _behind_https:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
if _behind_https:  # a browser takes such a cookie from this very host alone, and over TLS
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME, LANGUAGE_COOKIE_NAME = (
        f"__Host-{name}" for name in ("sessionid", "csrftoken", "django_language")
    )
X_FRAME_OPTIONS = "DENY"
_sso_forms = [
    *(f"{at.scheme}://{at.netloc}" for at in map(urlsplit, (OIDC_SERVER_URL, SAML_SSO_URL)) if at.netloc),
    *_oidc_origins,
    *_saml_origins,
]
CONTENT_SECURITY_POLICY = {
    "EXCLUDE_URL_PREFIXES": [],
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        # The button of single sign-on is a form that ends at the provider.
        "form-action": [SELF, *_sso_forms],
    },
}

# --- the API ---------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.tokens.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "annotation.api.parsing.JSONParser",
        "rest_framework.parsers.FormParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "annotation.api.answering.OneForm",
    "EXCEPTION_HANDLER": "annotation.api.core.error_response",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.LimitOffsetPagination",
    "PAGE_SIZE": 100,
    # The address that is counted: the one that the proxy before us has seen, never one that the client claims.
    "NUM_PROXIES": PALATE_PROXIES,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Palate",
    "DESCRIPTION": "People and LLM judges label the same cells, side by side. Parameters of a query and fields of a "
    "body that an operation does not name are ignored.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.schema.tell_refusals",
        "config.schema.for_generators",
    ],
    # Both are called "state"; the schema names each set of values.
    "ENUM_NAME_OVERRIDES": {
        "AssignmentState": "annotation.models.Assignment.State",
        "RunState": "work.states.RunState",
        "ExportState": "reports.models.Export.Shown",
        "ImportWhat": "annotation.models.Import.What",
        "MethodEnum": "judges.models.Judge.Method",
        "InviteState": ["open", "used", "revoked", "expired"],
        "RolesEnum": "annotation.models.Role",
    },
}

# --- what is drawn once and shown often ---

_of_files = "django.core.cache.backends.locmem.LocMemCache" if PALATE_ENV == "test" else "config.caches.FileCache"
CACHES = {
    # What allauth counts, such as mails asked for: shared by all processes. Nothing is lost with it but counts.
    "default": (
        {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
        if PALATE_ENV == "test"
        else {"BACKEND": "config.redis_cache.RedisCache", "LOCATION": CELERY_BROKER_URL}
        if CELERY_BROKER_URL.startswith("redis")
        else {
            "BACKEND": "config.caches.FileCache",
            "LOCATION": str(VAR_DIR / "cache"),
        }
    ),
    # A page names a figure, and another process draws it, perhaps of another machine.
    "figures": {
        **(
            {"BACKEND": "config.redis_cache.RedisCache", "LOCATION": CELERY_BROKER_URL}
            if CELERY_BROKER_URL.startswith("redis")
            else {
                "BACKEND": "config.caches.FileCache",
                "LOCATION": str(VAR_DIR / "figures"),
            }
        ),
        "KEY_PREFIX": "figures",
        "TIMEOUT": 86_400,
        **({} if CELERY_BROKER_URL.startswith("redis") else {"OPTIONS": {"MAX_ENTRIES": 2_000}}),
    },
    # What live reports say, by a digest of all that they are made of: nothing in it is ever out of date.
    # Pages of reports as they are laid out: many and small, so that they push no report out.
    "pages": {
        "BACKEND": _of_files,
        "LOCATION": str(VAR_DIR / "pages"),
        "OPTIONS": {"MAX_ENTRIES": 1_000},
    },
    "reports": {
        # Tests that run side by side have reports of their own.
        "BACKEND": _of_files,
        "LOCATION": str(VAR_DIR / "reports"),
        "TIMEOUT": 7 * 86_400,
        "OPTIONS": {"MAX_ENTRIES": 300},
    },
}

# --- the queue -------------------------------------------------------------------------------------------------------

CELERY_TASK_IGNORE_RESULT = True  # progress and results are rows of the database
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = "cpu"
CELERY_TIMEZONE = TIME_ZONE
if CELERY_BROKER_URL.startswith("filesystem"):
    _queue_dir = VAR_DIR / "queue"
    for _name in ("messages", "control"):
        _make(_queue_dir / _name, "PALATE_VAR")
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, str | float] = {
        "data_folder_in": str(_queue_dir / "messages"),
        "data_folder_out": str(_queue_dir / "messages"),
        "control_folder": str(_queue_dir / "control"),
        # Seconds between two looks into the folder, and so between two messages at least.
        "polling_interval": 0.25,
    }
else:
    # A task that is not acknowledged in this time is delivered again. Longer than any task of ours takes; the recovery
    # of a killed worker does not wait for it but for the leases in the database (work.actions.recover).
    CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 7200}
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"  # keeps nothing on a disk
CELERY_BEAT_SCHEDULE = {
    "recover": every(15, "work.tasks.recover"),
    "clean-uploads": every(3600, "annotation.tasks.clean_uploads", can_wait=True),
    "clean-audit": every(3600, "annotation.tasks.clean_audit", can_wait=True),
    "clean-webhooks": every(3600, "annotation.tasks.clean_webhooks", can_wait=True),
    "clean-sessions": every(3600, "accounts.tasks.clean_sessions", can_wait=True),
    "clean-exports": every(3600, "reports.tasks.clean_exports", can_wait=True),
    "watch-queues": every(60, "operating.tasks.watch_queues"),
    "watch-certificates": every(300, "reports.tasks.watch_certificates"),
}

# --- logging ---------------------------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "base.logs.TextLines", "fmt": "{asctime} {levelname} {name}: {message}", "style": "{"},
        "json": {"()": "base.logs.JsonLines"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "filters": {
        "without_reasons": {"()": "base.logs.WithoutReasons"},
        "without_rounds": {
            "()": "base.logs.WithoutRounds",
            "tasks": ["work.tasks.recover", "operating.tasks.watch_queues"],
        },
    },
    "loggers": {
        "httpx": {"filters": ["without_reasons"]},
        # At DEBUG it writes the headers of answers, in which a server may repeat its key, whatever LOG_LEVEL is.
        "httpcore": {"level": "INFO"},
        **{
            name: {"filters": ["without_rounds"]}
            for name in ("celery.beat", "celery.worker.strategy", "celery.app.trace")
        },
        # It repeats each refusal without its request's number, which the line of `palate.requests` has.
        **({"django.request": {"level": "ERROR"}} if LOG_FORMAT == "json" else {}),
    },
    "root": {"handlers": ["console"], "level": _log_level},
}

if PALATE_ENV == "test":
    PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    CELERY_TASK_ALWAYS_EAGER = env.bool("CELERY_TASK_ALWAYS_EAGER", False)
    EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    LOGGING["root"]["level"] = "ERROR"  # type: ignore[index]
if "runserver" in sys.argv and PALATE_ENV == "demo":
    LOGGING["root"]["level"] = "WARNING"  # type: ignore[index]
