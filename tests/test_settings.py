"""Settings from the environment: what is missing or malformed stops the start with a sentence."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from rest_framework.serializers import BaseSerializer

ROOT = Path(__file__).resolve().parents[1]
PRODUCTION = {
    "PALATE_ENV": "production",
    "SECRET_KEY": "k9$h2-uu1!x0q_w8r7z6p5o4n3m2l1j0ihgfedcba-ABCDEFGHIJKLMNOPQRS",
    "ALLOWED_HOSTS": "palate.example.org",
}


def manage(*command: str, cwd_var: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `manage.py` as an operator would: with these variables of ours and none of the tests'."""
    return run("manage.py", *command, cwd_var=cwd_var, **variables)


def told(expression: str, *, cwd_var: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Of the settings `s` of such a start, without the rest of it, which takes ten times as long."""
    says = f"from django.conf import settings as s; from django.db import connection as c; print({expression})"
    return run("-c", says, cwd_var=cwd_var, DJANGO_SETTINGS_MODULE="config.settings", **variables)


def run(*command: str, cwd_var: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    own = {"PALATE_ENV", "SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL", "DEBUG", "HTTPS", "CELERY_BROKER_URL"}
    inherited = {name: value for name, value in os.environ.items() if name not in own}
    return subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        cwd=ROOT,
        env=inherited | {"PALATE_VAR": str(cwd_var)} | variables,
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
    assert manage("check", cwd_var=var, PALATE_ENV="demo").returncode == 0


def test_check_deploy_is_clean_in_production(var: Path) -> None:
    result = manage("check", "--deploy", "--fail-level", "DEBUG", cwd_var=var, **PRODUCTION)

    # That HSTS is not for subdomains, and on no list.
    assert (result.returncode, result.stdout.strip()) == (0, "System check identified no issues (2 silenced).")


@pytest.mark.parametrize(
    ("scope", "found"), [("", "False False"), ("subdomains", "True False"), ("preload", "True True")]
)
def test_hsts_is_for_this_host_alone_unless_an_operator_says_more(var: Path, scope: str, found: str) -> None:
    says = "s.SECURE_HSTS_SECONDS, s.SECURE_HSTS_INCLUDE_SUBDOMAINS, s.SECURE_HSTS_PRELOAD"
    result = told(says, cwd_var=var, **PRODUCTION, **({"PALATE_HSTS": scope} if scope else {}))
    assert result.stdout.strip() == f"31536000 {found}", result.stderr


def test_production_does_not_start_with_debugging(var: Path) -> None:
    result = manage("check", cwd_var=var, **PRODUCTION, DEBUG="true")

    assert result.returncode != 0
    assert "ImproperlyConfigured: DEBUG is set in production" in result.stderr.splitlines()[-1]


def test_what_starts_and_is_not_safe_is_said_at_each_migration(var: Path) -> None:
    unsafe = {"ALLOWED_HOSTS": "*", "HTTPS": "false", "SECRET_KEY": "0123456" * 9}
    said = manage("migrate", "--plan", cwd_var=var, **{**PRODUCTION, **unsafe}).stderr

    assert "palate.W001) ALLOWED_HOSTS takes any name" in said
    assert "palate.W002) HTTPS is off" in said
    assert "palate.W003) SECRET_KEY is made of a few signs" in said
    assert "palate.W" not in manage("check", cwd_var=var, PALATE_ENV="demo", **unsafe).stderr


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
        ("PALATE_BACKENDS", "long=lab_backends.Longest"),  # a module that is not there
        ("PALATE_BACKENDS", "long=pathlib.Path"),
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
        ("SENTRY_DSN", "sentry.example.org"),
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
    result = manage("check", cwd_var=var, **{**PRODUCTION, variable: value})

    assert result.returncode != 0
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("django.core.exceptions.ImproperlyConfigured:"), result.stderr
    assert variable in last


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("smtp+tls://palate:a%40b@mail.example.org:587", "mail.example.org 587 palate a@b True False 20"),
        ("smtp+tls://mail.example.org", "mail.example.org 587 None None True False 20"),
        ("smtp+ssl://palate:secret@mail.example.org", "mail.example.org 465 palate secret False True 20"),
        ("smtp+ssl://palate:secret@mail.example.org:4650", "mail.example.org 4650 palate secret False True 20"),
        ("smtp://mail.example.org?ssl=true&timeout=5", "mail.example.org 25 None None False True 5"),
        ("smtp://mail.example.org", "mail.example.org 25 None None False False 20"),
    ],
)
def test_a_mail_server_is_spoken_to_as_its_address_says(var: Path, url: str, found: str) -> None:
    """The one that the table of settings shows stopped the start, and `ssl=true` was spoken to in the clear."""
    says = "s.EMAIL_HOST, s.EMAIL_PORT, s.EMAIL_HOST_USER, s.EMAIL_HOST_PASSWORD, s.EMAIL_USE_TLS, s.EMAIL_USE_SSL"
    result = told(f"{says}, s.EMAIL_TIMEOUT", cwd_var=var, **PRODUCTION, EMAIL_URL=url)
    assert result.stdout.rstrip("\n") == found, result.stderr
    assert "console" not in told("s.EMAIL_BACKEND", cwd_var=var, **PRODUCTION, EMAIL_URL=url).stdout


def test_a_browser_may_follow_the_button_of_single_sign_on(var: Path) -> None:
    says = "s.CONTENT_SECURITY_POLICY['DIRECTIVES']['form-action']"
    oidc = {"OIDC_CLIENT_ID": "palate", "OIDC_CLIENT_SECRET": "s", "OIDC_SERVER_URL": "https://id.example.org/realms/a"}
    found = told(says, cwd_var=var, **PRODUCTION, **oidc)
    assert found.stdout.strip() == "[\"'self'\", 'https://id.example.org']", found.stderr

    half = told(says, cwd_var=var, **PRODUCTION, OIDC_SERVER_URL="https://id.example.org")
    assert "OIDC_CLIENT_SECRET must be set too" in half.stderr


@pytest.mark.parametrize("variable", ["PALATE_CONFIRM_EMAIL=1", "PALATE_ALARM_EMAIL=ops@example.org"])
def test_what_is_mailed_needs_a_mail_server(var: Path, variable: str) -> None:
    """Whoever has an address could not log in, and alarms went to the log alone."""
    name, value = variable.split("=")
    found = told("s.DEBUG", cwd_var=var, **PRODUCTION, **{name: value})
    assert f"ImproperlyConfigured: {name} is set, so EMAIL_URL must be set too" in found.stderr
    found = told("s.DEBUG", cwd_var=var, **PRODUCTION, **{name: value}, EMAIL_URL="smtp://mail.example.org")
    assert found.stdout.strip() == "False", found.stderr


@pytest.mark.parametrize(
    ("url", "starts"),
    [
        ("http://id.example.org/realms/a", False),
        ("id.example.org", False),
        ("http://127.0.0.1.example.org/", False),
        ("https://id.example.org/realms/a", True),
        ("http://127.0.0.1:8080/realms/a", True),
    ],
)
def test_a_provider_is_asked_over_tls_unless_it_is_on_this_machine(var: Path, url: str, starts: bool) -> None:
    oidc = {"OIDC_CLIENT_ID": "palate", "OIDC_CLIENT_SECRET": "s", "OIDC_SERVER_URL": url}

    found = told("s.DEBUG", cwd_var=var, **PRODUCTION, **oidc)

    assert (found.stdout.strip() == "False") == starts, found.stderr
    assert starts or "OIDC_SERVER_URL must begin with https://" in found.stderr


def test_earlier_keys_are_read_from_the_environment(var: Path) -> None:
    earlier = {"SECRET_KEY_FALLBACKS": f"{'a' * 32}, {'b' * 40}"}
    found = told("s.SECRET_KEY_FALLBACKS", cwd_var=var, **PRODUCTION, **earlier)
    assert found.stdout.strip() == str(["a" * 32, "b" * 40]), found.stderr


def test_spaces_after_commas_belong_to_no_word(var: Path) -> None:
    """A host with one was never answered, and a role with one was none."""
    given = {"ALLOWED_HOSTS": "a.example.org, .b.example.org,", "PALATE_SECOND_FACTOR": "owner , manager"}
    found = told("s.ALLOWED_HOSTS, s.PALATE_SECOND_FACTOR", cwd_var=var, **PRODUCTION | given)
    assert found.stdout.strip() == "['a.example.org', '.b.example.org'] ['owner', 'manager']", found.stderr


@pytest.mark.parametrize("hosts", ["*", "[::1],127.0.0.1", "palate_web,palate-web.lab"])
def test_whatever_a_host_may_be_called_starts(var: Path, hosts: str) -> None:
    found = told("s.ALLOWED_HOSTS", cwd_var=var, **PRODUCTION | {"ALLOWED_HOSTS": hosts})
    assert found.stdout.strip() == str(hosts.split(",")), found.stderr


def test_over_https_cookies_are_of_this_host_alone(var: Path) -> None:
    says = "s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.SESSION_COOKIE_SECURE, s.SESSION_COOKIE_DOMAIN"
    found = told(says, cwd_var=var, **PRODUCTION)
    assert found.stdout.strip() == "__Host-sessionid __Host-csrftoken True None", found.stderr
    found = told(says, cwd_var=var, **PRODUCTION, HTTPS="false")
    assert found.stdout.strip() == "sessionid csrftoken False None", found.stderr


def test_a_commit_of_sqlite_waits_for_the_disk_unless_somebody_says_so(var: Path) -> None:
    says = "c.cursor().execute('PRAGMA synchronous').fetchone()[0]"
    found = told(says, cwd_var=var, **PRODUCTION)
    assert found.stdout.strip() == "2", found.stderr
    found = told(says, cwd_var=var, **PRODUCTION, SQLITE_SYNCHRONOUS="NORMAL")
    assert found.stdout.strip() == "1", found.stderr


def test_a_folder_that_is_left_empty_is_the_usual_one(var: Path) -> None:
    """It was the folder that the worker was started in, and the hourly cleaning deleted what lay there."""
    elsewhere = {"DATABASE_URL": "postgres://localhost/palate", "CELERY_BROKER_URL": "memory://"}
    empty = {"PALATE_UPLOADS": "", "PALATE_EXPORTS": ""}
    found = told("s.PALATE_UPLOADS, s.PALATE_EXPORTS", cwd_var=var, **PRODUCTION, **empty)
    assert found.stdout.split() == [str(var / "uploads"), str(var / "exports")], found.stderr
    found = told("s.VAR_DIR", cwd_var=var, **PRODUCTION, **elsewhere, PALATE_VAR="")
    assert found.stdout.strip() == str(ROOT / "var"), found.stderr


def test_nobody_else_of_the_machine_reads_the_database(var: Path) -> None:
    """A folder that is made for it is its user's alone, whatever the umask says."""
    found = told("s.DATABASES['default']['NAME']", cwd_var=var / "new", **PRODUCTION)
    assert found.stdout.strip() == str(var / "new" / "palate.sqlite3"), found.stderr
    assert stat.filemode((var / "new").stat().st_mode) == "drwx------"


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
