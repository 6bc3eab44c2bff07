"""Settings from the environment: what is missing or malformed stops the start with a sentence."""

from __future__ import annotations

import os
import runpy
import stat
import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from django.conf import global_settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from pytest_django import Settings
from rest_framework.serializers import BaseSerializer

from operating import checks

ROOT = Path(__file__).resolve().parents[1]
PRODUCTION = {
    "PALATE_ENV": "production",
    "SECRET_KEY": "k9$h2-uu1!x0q_w8r7z6p5o4n3m2l1j0ihgfedcba-ABCDEFGHIJKLMNOPQRS",
    "ALLOWED_HOSTS": "palate.example.org",
}


def manage(*command: str, cwd_var: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `manage.py` as an operator would: with these variables of ours and none of the tests'."""
    return run("manage.py", *command, cwd_var=cwd_var, **variables)


def started(cwd_var: Path, **variables: str) -> SimpleNamespace:
    """The settings of such a start: the module is run anew in this process, which takes a hundredth of a real start."""
    with mock.patch.dict(os.environ, environment(cwd_var) | variables, clear=True):
        return SimpleNamespace(**vars(global_settings) | runpy.run_path(str(ROOT / "config" / "settings.py")))


def told(expression: str, *, cwd_var: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Of what Django makes of the settings `s` in a process that really starts with them."""
    says = f"from django.conf import settings as s; from django.db import connection as c; print({expression})"
    return run("-c", says, cwd_var=cwd_var, DJANGO_SETTINGS_MODULE="config.settings", **variables)


def environment(cwd_var: Path) -> dict[str, str]:
    own = {"PALATE_ENV", "SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL", "DEBUG", "HTTPS", "CELERY_BROKER_URL"}
    return {name: value for name, value in os.environ.items() if name not in own} | {"PALATE_VAR": str(cwd_var)}


def run(*command: str, cwd_var: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        cwd=ROOT,
        env=environment(cwd_var) | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def var(tmp_path: Path) -> Path:
    if (ROOT / ".env").exists():
        pytest.skip("a .env file of this installation would fill in the variables that are tested")
    return tmp_path


def test_production_without_a_secret_key_does_not_start(var: Path) -> None:
    result = manage("check", cwd_var=var)  # production is the default

    assert result.returncode != 0
    assert 'ImproperlyConfigured: Environment variable "SECRET_KEY" not set' in result.stderr


def test_the_demo_starts_without_a_secret_key(var: Path) -> None:
    assert started(var, PALATE_ENV="demo").SECRET_KEY == "palate-demo-only"


def test_check_deploy_is_clean_in_production(var: Path) -> None:
    result = manage("check", "--deploy", "--fail-level", "DEBUG", cwd_var=var, **PRODUCTION)

    # That HSTS is not for subdomains, and on no list.
    assert (result.returncode, result.stdout.strip()) == (0, "System check identified no issues (2 silenced).")


@pytest.mark.parametrize(
    ("scope", "found"), [("", (False, False)), ("subdomains", (True, False)), ("preload", (True, True))]
)
def test_hsts_is_for_this_host_alone_unless_an_operator_says_more(
    var: Path, scope: str, found: tuple[bool, bool]
) -> None:
    s = started(var, **PRODUCTION, **({"PALATE_HSTS": scope} if scope else {}))
    assert s.SECURE_HSTS_SECONDS == 31536000
    assert found == (s.SECURE_HSTS_INCLUDE_SUBDOMAINS, s.SECURE_HSTS_PRELOAD)


def test_production_does_not_start_with_debugging(var: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="DEBUG is set in production"):
        started(var, **PRODUCTION, DEBUG="true")


def test_what_starts_and_is_not_safe_is_said_at_each_migration(var: Path, settings: Settings) -> None:
    unsafe = {"ALLOWED_HOSTS": "*", "HTTPS": "false", "SECRET_KEY": "0123456" * 9}
    said = manage("migrate", "--plan", cwd_var=var, **{**PRODUCTION, **unsafe}).stderr

    assert "palate.W001) ALLOWED_HOSTS takes any name" in said
    assert "palate.W002) HTTPS is off" in said
    assert "palate.W003) SECRET_KEY is made of a few signs" in said
    settings.ALLOWED_HOSTS = ["*"]
    assert checks.unsafe() == []  # of a test or a demo
    settings.PALATE_ENV = "production"
    assert "palate.W001" in {found.id for found in checks.unsafe()}


def test_a_file_of_settings_that_every_user_reads_is_told(settings: Settings, tmp_path: Path) -> None:
    """`cp .env.example .env` leaves it so on a machine that others use too."""
    settings.PALATE_ENV, settings.BASE_DIR = "production", tmp_path
    file = tmp_path / ".env"
    file.touch()
    for mode, is_told in ((0o644, True), (0o640, False), (0o600, False)):
        file.chmod(mode)
        assert ("palate.W004" in {found.id for found in checks.unsafe()}) is is_told


def test_the_schema_of_the_api_is_made_without_a_warning_and_the_same_in_every_process(
    var: Path, tmp_path: Path
) -> None:
    file = tmp_path / "schema.yml"
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(file))
    made = file.read_text(encoding="utf-8")
    assert "\n    AssignmentState:\n" in made
    assert "\n    RunState:\n" in made

    elsewhere = manage("spectacular", cwd_var=var, PALATE_ENV="demo", PYTHONHASHSEED="1")
    assert elsewhere.stdout == made, elsewhere.stderr


def test_no_two_serializers_have_one_name() -> None:
    """Components of the schema have their names; drf-spectacular warns of two only once both of them are bodies."""
    import_module("config.api_urls")
    unseen: list[type[BaseSerializer[Any]]] = [BaseSerializer]
    places = defaultdict[str, set[str]](set)
    while unseen:
        unseen += (one := unseen.pop()).__subclasses__()
        if not one.__module__.startswith(("rest_framework.", "drf_spectacular.", "tests.")):
            places[one.__name__].add(one.__module__)
    assert len(places) > 100
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SECRET_KEY", "short"),
        ("SECRET_KEY_FALLBACKS", "short"),
        ("DEBUG", "perhaps"),
        ("PALATE_ENV", "staging"),
        ("PALATE_MAX_IMPORT_BYTES", "much"),
        ("DATABASE_URL", "nonsense://"),
        ("EMAIL_URL", "mail.example.org:587"),
        ("EMAIL_URL", "smtp+tls://mail.example.org:x"),
        ("TIME_ZONE", "Prague"),
        ("LOG_LEVEL", "LOUD"),
        ("PALATE_BACKENDS", "lab.Backend"),
        ("CELERY_BROKER_URL", "redis//host:6379/0"),
        ("PALATE_LEASE_SECONDS", "-5"),
        ("PALATE_EXPORT_DAYS", "-1"),
        ("PALATE_EXPORT_DAYS", "99999999999"),
        ("PALATE_SESSION_HOURS", "99999999"),
        ("PALATE_SERVER_SECONDS", "1e300"),
        ("PALATE_HSTS", "all"),
        ("OIDC_ORIGINS", "foo"),
        ("SAML_ORIGINS", "https://login.example.org, foo"),
        ("CSRF_TRUSTED_ORIGINS", "palate.example.org"),
        ("ALLOWED_HOSTS", ""),
        ("ALLOWED_HOSTS", "https://palate.example.org"),
        ("ALLOWED_HOSTS", "palate.example.org:443"),
        ("PALATE_SECOND_FACTOR", "owner, boss"),
        ("WEB_CONCURRENCY", "0"),
        ("PALATE_ALARM_EMAIL", "nonsense"),
        ("PALATE_ALARM_MINUTES", "9999999999999"),
        ("SEARXNG_URL", "nonsense"),
        ("CELERY_BROKER_URL", "foo://h"),
        ("PALATE_VAR", "/dev/null/var"),
    ],
)
def test_a_malformed_variable_stops_the_start_with_a_sentence(var: Path, variable: str, value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=variable):
        started(var, **{**PRODUCTION, variable: value})


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PALATE_ENV", "staging"),
        ("PALATE_BACKENDS", "long=lab_backends.Longest"),  # a module that is not there
        ("PALATE_BACKENDS", "long=pathlib.Path"),
        ("SENTRY_DSN", "sentry.example.org"),
    ],
)
def test_a_process_that_cannot_start_says_why_in_its_last_line(var: Path, variable: str, value: str) -> None:
    result = manage("check", cwd_var=var, **{**PRODUCTION, variable: value})

    assert result.returncode != 0
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("django.core.exceptions.ImproperlyConfigured:"), result.stderr
    assert variable in last


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("smtp+tls://palate:a%40b@mail.example.org:587", ("mail.example.org", 587, "palate", "a@b", True, False, 20)),
        ("smtp+tls://mail.example.org", ("mail.example.org", 587, None, None, True, False, 20)),
        ("smtp+ssl://palate:secret@mail.example.org", ("mail.example.org", 465, "palate", "secret", False, True, 20)),
        (
            "smtp+ssl://palate:secret@mail.example.org:4650",
            ("mail.example.org", 4650, "palate", "secret", False, True, 20),
        ),
        ("smtp://mail.example.org?ssl=true&timeout=5", ("mail.example.org", 25, None, None, False, True, 5)),
        ("smtp://mail.example.org", ("mail.example.org", 25, None, None, False, False, 20)),
    ],
)
def test_a_mail_server_is_spoken_to_as_its_address_says(var: Path, url: str, found: tuple[object, ...]) -> None:
    """The one that the table of settings shows stopped the start, and `ssl=true` was spoken to in the clear."""
    s = started(var, **PRODUCTION, EMAIL_URL=url)
    server = (s.EMAIL_HOST, s.EMAIL_PORT, s.EMAIL_HOST_USER, s.EMAIL_HOST_PASSWORD)
    assert (*server, s.EMAIL_USE_TLS, s.EMAIL_USE_SSL, s.EMAIL_TIMEOUT) == found
    assert "console" not in s.EMAIL_BACKEND


def test_a_browser_may_follow_the_button_of_single_sign_on(var: Path) -> None:
    oidc = {"OIDC_CLIENT_ID": "palate", "OIDC_CLIENT_SECRET": "s", "OIDC_SERVER_URL": "https://id.example.org/realms/a"}
    allowed = started(var, **PRODUCTION, **oidc).CONTENT_SECURITY_POLICY["DIRECTIVES"]["form-action"]
    assert allowed == ["'self'", "https://id.example.org"]

    with pytest.raises(ImproperlyConfigured, match="OIDC_CLIENT_SECRET must be set too"):
        started(var, **PRODUCTION, OIDC_SERVER_URL="https://id.example.org")


@pytest.mark.parametrize("variable", ["PALATE_CONFIRM_EMAIL=1", "PALATE_ALARM_EMAIL=ops@example.org"])
def test_what_is_mailed_needs_a_mail_server(var: Path, variable: str) -> None:
    """Whoever has an address could not log in, and alarms went to the log alone."""
    name, value = variable.split("=")
    with pytest.raises(ImproperlyConfigured, match=f"{name} is set, so EMAIL_URL must be set too"):
        started(var, **PRODUCTION, **{name: value})
    started(var, **PRODUCTION, **{name: value}, EMAIL_URL="smtp://mail.example.org")


OIDC = {"OIDC_CLIENT_ID": "palate", "OIDC_CLIENT_SECRET": "s"}


@pytest.mark.parametrize("url", ["https://id.example.org/realms/a", "http://127.0.0.1:8080/realms/a"])
def test_a_provider_is_asked_over_tls_or_on_this_machine(var: Path, url: str) -> None:
    assert url == started(var, **PRODUCTION, **OIDC, OIDC_SERVER_URL=url).OIDC_SERVER_URL


@pytest.mark.parametrize("url", ["http://id.example.org/realms/a", "id.example.org", "http://127.0.0.1.example.org/"])
def test_no_provider_elsewhere_is_asked_in_the_clear(var: Path, url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="OIDC_SERVER_URL must begin with https://"):
        started(var, **PRODUCTION, **OIDC, OIDC_SERVER_URL=url)


def test_earlier_keys_are_read_from_the_environment(var: Path) -> None:
    earlier = {"SECRET_KEY_FALLBACKS": f"{'a' * 32}, {'b' * 40}"}
    assert started(var, **PRODUCTION, **earlier).SECRET_KEY_FALLBACKS == ["a" * 32, "b" * 40]


def test_spaces_after_commas_belong_to_no_word(var: Path) -> None:
    """A host with one was never answered, and a role with one was none."""
    given = {"ALLOWED_HOSTS": "a.example.org, .b.example.org,", "PALATE_SECOND_FACTOR": "owner , manager"}
    s = started(var, **PRODUCTION | given)
    assert (s.ALLOWED_HOSTS, s.PALATE_SECOND_FACTOR) == (["a.example.org", ".b.example.org"], ["owner", "manager"])


@pytest.mark.parametrize("hosts", ["*", "[::1],127.0.0.1", "palate_web,palate-web.lab"])
def test_whatever_a_host_may_be_called_starts(var: Path, hosts: str) -> None:
    assert hosts.split(",") == started(var, **PRODUCTION | {"ALLOWED_HOSTS": hosts}).ALLOWED_HOSTS


def test_over_https_cookies_are_of_this_host_alone(var: Path) -> None:
    s = started(var, **PRODUCTION)
    assert (s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME) == ("__Host-sessionid", "__Host-csrftoken")
    assert s.SESSION_COOKIE_SECURE
    assert s.SESSION_COOKIE_DOMAIN is None
    s = started(var, **PRODUCTION, HTTPS="false")
    assert (s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME) == ("sessionid", "csrftoken")
    assert not s.SESSION_COOKIE_SECURE


def test_a_commit_of_sqlite_waits_for_the_disk_unless_somebody_says_so(var: Path) -> None:
    says = "c.cursor().execute('PRAGMA synchronous').fetchone()[0]"
    found = told(says, cwd_var=var, **PRODUCTION)
    assert found.stdout.strip() == "2", found.stderr
    found = told(says, cwd_var=var, **PRODUCTION, SQLITE_SYNCHRONOUS="NORMAL")
    assert found.stdout.strip() == "1", found.stderr


def test_a_folder_that_is_left_empty_is_the_usual_one(var: Path) -> None:
    """It was the folder that the worker was started in, and the hourly cleaning deleted what lay there."""
    s = started(var, **PRODUCTION, PALATE_UPLOADS="", PALATE_EXPORTS="")
    assert (var / "uploads", var / "exports") == (s.PALATE_UPLOADS, s.PALATE_EXPORTS)
    elsewhere = {"DATABASE_URL": "postgres://localhost/palate", "CELERY_BROKER_URL": "memory://"}
    assert started(var, **PRODUCTION, **elsewhere, PALATE_VAR="").VAR_DIR == ROOT / "var"


def test_nobody_else_of_the_machine_reads_the_database(var: Path) -> None:
    """A folder that is made for it is its user's alone, whatever the umask says."""
    new = var / "new"
    assert started(new, **PRODUCTION).DATABASES["default"]["NAME"] == str(new / "palate.sqlite3")
    assert stat.filemode(new.stat().st_mode) == "drwx------"


def test_who_has_not_collected_static_files_is_not_ready(var: Path) -> None:
    """Each page failed, and the load balancer was told that all is well."""
    if (ROOT / "staticfiles").exists():
        pytest.skip("they are collected here")
    says = "(__import__('django').setup(), __import__('operating.queries').queries.unready())[1]"
    found = told(says, cwd_var=var, **PRODUCTION)
    assert found.stdout.strip() == "staticfiles", found.stderr


@pytest.mark.once
@pytest.mark.django_db
def test_each_model_change_has_its_migration() -> None:
    call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)


def test_what_is_refused_has_one_line(tmp_path: Path) -> None:
    """The framework's own, “…: …”, said neither which request nor what became of it."""
    loggers = started(tmp_path, **PRODUCTION).LOGGING["loggers"]
    assert loggers["django.request"]["level"] == "ERROR"
    assert "django.request" not in started(tmp_path, **PRODUCTION, LOG_FORMAT="text").LOGGING["loggers"]
