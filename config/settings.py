"""All settings, read from environment variables; `docs/settings.md` lists them.

Three kinds of installation share this file. `PALATE_ENV` says which: `demo` (a laptop: SQLite, queue in a folder),
`test`, and `production`, the default, in which nothing that matters to safety has a default of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError, validate

from recipes import packs

BASE_DIR = Path(__file__).resolve().parent.parent

env = Env()

try:
    PALATE_ENV = env.str("PALATE_ENV", "production", validate=validate.OneOf(["demo", "test", "production"]))
    if PALATE_ENV == "production":
        # A demo or a test in the same folder must not meet the settings of the installation.
        env.read_env(BASE_DIR / ".env", recurse=False)
    _is_production = PALATE_ENV == "production"
    VAR_DIR = Path(env.str("PALATE_VAR", str(BASE_DIR / "var")))

    DEBUG = env.bool("DEBUG", False)
    if _is_production:
        SECRET_KEY = env.str("SECRET_KEY", validate=validate.Length(min=32))
    else:
        SECRET_KEY = env.str("SECRET_KEY", f"palate-{PALATE_ENV}-only")
    ALLOWED_HOSTS = env.list(
        "ALLOWED_HOSTS", [] if _is_production else ["localhost", "127.0.0.1", "[::1]", "testserver"]
    )
    CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])
    _behind_https = env.bool("HTTPS", _is_production)

    DATABASES = {
        "default": env.dj_db_url(
            "DATABASE_URL",
            f"sqlite:///{VAR_DIR / 'palate.sqlite3'}",
            conn_max_age=60,
            conn_health_checks=True,
            disable_server_side_cursors=env.bool("DATABASE_POOLED", False),
        )
    }
    # Tests must leave nothing on a queue that a worker of this machine might take.
    CELERY_BROKER_URL = env.str(
        "CELERY_BROKER_URL", "memory://" if PALATE_ENV == "test" else "filesystem://localhost//"
    )
    EMAIL_CONFIG = env.dj_email_url("EMAIL_URL", "console:")
    EMAIL_FROM = env.str("EMAIL_FROM", "palate@localhost")
    TIME_ZONE = env.str("TIME_ZONE", "UTC")
    # Of those whose browser asks for none that is here, of e-mails that no page sends, and of what workers say.
    LANGUAGE_CODE = env.str("DEFAULT_LANGUAGE", "en", validate=validate.OneOf(["en", "cs"]))

    # How large an upload may be. A whole import is bounded as well as each page of it.
    PALATE_MAX_IMPORT_BYTES = env.int("PALATE_MAX_IMPORT_BYTES", 200 * 2**20)
    # A larger one is done by a worker, and its files wait for that in a folder which web server and workers share.
    PALATE_IMPORT_AT_ONCE = env.int("PALATE_IMPORT_AT_ONCE", 2**20)
    PALATE_UPLOADS = Path(env.str("PALATE_UPLOADS", str(VAR_DIR / "uploads")))
    # Seconds that a worker may be silent about a document before another one takes it over.
    PALATE_LEASE_SECONDS = env.int("PALATE_LEASE_SECONDS", 90)
    # Where downloads are made that take longer than a page may, and for how many days they stay.
    PALATE_EXPORTS = Path(env.str("PALATE_EXPORTS", str(VAR_DIR / "exports")))
    PALATE_EXPORT_DAYS = env.int("PALATE_EXPORT_DAYS", 7)
    # Threads of a CPU judge; 0 leaves the choice to torch.
    PALATE_TORCH_THREADS = env.int("PALATE_TORCH_THREADS", 0)
    # Folders of domain packs beside those of `recipes/`.
    _pack_folders: list[str] = env.list("PALATE_PACKS", [])
    PALATE_PACKS = [Path(folder).resolve() for folder in _pack_folders]
    # Environment variables that a judge may name as its server's key beside those that end in _API_KEY.
    PALATE_KEY_VARIABLES: list[str] = env.list("PALATE_KEY_VARIABLES", [])
    # Who a site is told that we are when a page is fetched; before the slash stands what its robots.txt may call us.
    PALATE_USER_AGENT = env.str(
        "PALATE_USER_AGENT",
        "Palate/0.1 (research; annotation of recipes)",
        validate=validate.Regexp(r"[\x21-\x7e]+/.+"),
    )
    # Seconds between two visits to one host, and for one page in all; bytes of one page.
    PALATE_FETCH_PAUSE = env.float("PALATE_FETCH_PAUSE", 2.0)
    PALATE_FETCH_SECONDS = env.float("PALATE_FETCH_SECONDS", 30.0)
    PALATE_FETCH_MAX_BYTES = env.int("PALATE_FETCH_MAX_BYTES", 8 * 2**20)
    # Lets pages of this machine itself be fetched: for a demo and for tests. No other address that is not public is.
    PALATE_FETCH_LOOPBACK = env.bool("PALATE_FETCH_LOOPBACK", False)
    # Backends of this installation's own, beside those of `llm.registry`: name=dotted.path.of.its.Class, with commas.
    PALATE_BACKENDS: dict[str, str] = env.dict("PALATE_BACKENDS", {})
    # Encoders of sentences by name, beside those of Palate: "mine=lab.Encoder"; see llm/encoders.py.
    PALATE_ENCODERS: dict[str, str] = env.dict("PALATE_ENCODERS", {})
except EnvError as error:
    raise ImproperlyConfigured(str(error)) from error

if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    Path(DATABASES["default"]["NAME"]).parent.mkdir(parents=True, exist_ok=True)
    DATABASES["default"]["ENGINE"] = "config.sqlite"
    DATABASES["default"]["OPTIONS"] = {
        # Readers do not wait for the writer, and a writer takes its lock at the start instead of failing half-way.
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-20000;",
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
    }
    DATABASES["default"]["TEST"] = {"NAME": ":memory:"}  # else parallel tests take it for another kind of database

if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    DATABASES["default"]["ENGINE"] = "config.postgresql"
    # Uses of a prepared query by one connection until its plan is kept there.
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault("prepare_threshold", 2)

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
    "csp",
    "django_htmx",
    "rest_framework",
    "rest_framework.authtoken",
    "drf_spectacular",
    "llm",
    "work",
    "annotation",
    "judges",
    "reports",
    *_packs,
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    # Every page asks for a login; the views that do not are marked.
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
ASGI_APPLICATION = "config.asgi.application"

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
]
AUTHENTICATION_BACKENDS = ["annotation.sessions.Backend"]
SESSION_ENGINE = "annotation.sessions"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "annotation:my-work"
LOGOUT_REDIRECT_URL = "login"
EMAIL_BACKEND = EMAIL_CONFIG["EMAIL_BACKEND"]
DEFAULT_FROM_EMAIL = EMAIL_FROM
EMAIL_HOST = EMAIL_CONFIG.get("EMAIL_HOST", "")
EMAIL_PORT = EMAIL_CONFIG.get("EMAIL_PORT", 25)
EMAIL_HOST_USER = EMAIL_CONFIG.get("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = EMAIL_CONFIG.get("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = EMAIL_CONFIG.get("EMAIL_USE_TLS", False)

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

# --- safety ----------------------------------------------------------------------------------------------------------

DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000
DATA_UPLOAD_MAX_NUMBER_FILES = 2_000
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = _behind_https
SECURE_HSTS_SECONDS = 31_536_000 if _behind_https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = _behind_https
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]  # asked over plain HTTP from inside the container
if _behind_https:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "EXCLUDE_URL_PREFIXES": [],
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    },
}

# --- the API ---------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "annotation.api.core.error_response",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.LimitOffsetPagination",
    "PAGE_SIZE": 100,
    "DEFAULT_THROTTLE_RATES": {"token": "10/min"},
    # The address that is counted: the one that the proxy before us has seen, never one that the client claims.
    "NUM_PROXIES": 1 if _behind_https else 0,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Palate",
    "DESCRIPTION": "People and LLM judges label the same cells, side by side.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    # Both are called "state"; the schema names each set of values.
    "ENUM_NAME_OVERRIDES": {
        "AssignmentState": "annotation.models.Assignment.State",
        "RunState": "work.states.RunState",
        "ExportState": "reports.models.Export.Shown",
    },
}

# --- what is drawn once and shown often ---

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # In files, so that all processes share it: a page names a figure, and another process draws it.
    "figures": {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": str(VAR_DIR / "figures"),
        "TIMEOUT": 86_400,
        "OPTIONS": {"MAX_ENTRIES": 2_000},
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
        (_queue_dir / _name).mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, str | int] = {
        "data_folder_in": str(_queue_dir / "messages"),
        "data_folder_out": str(_queue_dir / "messages"),
        "control_folder": str(_queue_dir / "control"),
    }
else:
    # A task that is not acknowledged in this time is delivered again. Longer than any task of ours takes; the recovery
    # of a killed worker does not wait for it but for the leases in the database (work.actions.recover).
    CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 7200}
CELERY_BEAT_SCHEDULE = {
    "recover": {"task": "work.tasks.recover", "schedule": 15.0},
    "clean-uploads": {"task": "annotation.tasks.clean_uploads", "schedule": 3600.0},
    "clean-exports": {"task": "reports.tasks.clean_exports", "schedule": 3600.0},
}
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")

# --- logging ---------------------------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", "INFO")},
}

if PALATE_ENV == "test":
    PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    CELERY_TASK_ALWAYS_EAGER = env.bool("CELERY_TASK_ALWAYS_EAGER", False)
    EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    LOGGING["root"]["level"] = "ERROR"  # type: ignore[index]
if "runserver" in sys.argv and PALATE_ENV == "demo":
    LOGGING["root"]["level"] = "WARNING"  # type: ignore[index]
