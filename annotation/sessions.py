"""Who is asking: Django's sessions and users, in plain SQL, since every request reads one of each."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils import timezone

from annotation import actions, demo_way
from annotation.models import User
from annotation.people.address import counted_address
from annotation.plain_sql import Shape, Statement, stored

_session, _user = Shape(Session), Shape(User)
_sessions = Statement(
    "SELECT {session} FROM {session.table} WHERE {session.session_key} = %s AND {session.expire_date} > %s",
    session=_session,
)
_users = Statement("SELECT {user} FROM {user.table} WHERE {user.id} = %s", user=_user)


# So many times the limit of an account are tried from many addresses, then only known ones go on.
_HARD = 10


class SessionStore(db.SessionStore):
    def _validate_session_key(self, key: str | None) -> bool:
        """A cookie may hold anything, NUL included; what cannot be a key is not looked for."""
        return bool(key and len(key) >= 8 and key.isascii() and key.isalnum())

    def _get_session_from_db(self) -> Session | None:
        now = stored(Session, "expire_date", timezone.now())
        found = [_session(row) for row in _sessions(self.session_key, now)]
        return found[0] if found else super()._get_session_from_db()  # type: ignore[misc]  # it says so and forgets the key


class Backend(ModelBackend):
    """Users by name and password, wherever one is asked for: the log-in page, the API, a page that asks again."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        """As Django does, but no more often than the limits allow; all processes count together.

        Raises:
            PermissionDenied: too often; the request's `wait_to_log_in` says for how many seconds. Django takes it for a
                wrong password.
        """
        if username is None or password is None:
            return None
        network = counted_address(request)
        account, address = f"account:{username.casefold()}", f"address:{network}"
        both = f"{account} {address}"
        # Who guesses must not be able to lock the account's owner out: an address from which they logged in lately is
        # not stopped by what others try, and any other has one try left where there were too many.
        tries, in_all = settings.PALATE_LOGIN_TRIES, settings.PALATE_LOGIN_TRIES_ACCOUNT
        limits = [(both, tries), (address, settings.PALATE_LOGIN_TRIES_ADDRESS)]
        if actions.tries(account) < in_all:
            limits.append((account, _HARD * in_all))
        elif not actions.logged_in_lately(username, network):
            limits = [(both, 1), limits[1], (account, _HARD * in_all)]
        wait = actions.try_allowed(limits)
        if wait:
            known = None if "\0" in username else User.objects.filter(username=username).first()
            actions.note_limited(account, address, of=known)
            if request is not None:
                request.wait_to_log_in = wait  # type: ignore[attr-defined]
            raise PermissionDenied
        user = super().authenticate(request, username=username, password=password, **kwargs)
        if isinstance(user, User) and not demo_way.opens_nothing(password):
            actions.forget_tries(both, account, one=[address])
            return user
        return None

    def get_user(self, user_id: Any) -> User | None:
        found = [_user(row) for row in _users(user_id)]
        return found[0] if found and self.user_can_authenticate(found[0]) else None
