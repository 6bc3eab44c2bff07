"""Who is asking: Django's sessions and users, in plain SQL, since every request reads one of each."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from annotation.models import User
from annotation.plain_sql import Shape, Statement, stored

_session, _user = Shape(Session), Shape(User)
_sessions = Statement(
    "SELECT {session} FROM {session.table} WHERE {session.session_key} = %s AND {session.expire_date} > %s",
    session=_session,
)
_users = Statement("SELECT {user} FROM {user.table} WHERE {user.id} = %s", user=_user)


class SessionStore(db.SessionStore):
    def _get_session_from_db(self) -> Session | None:
        now = stored(Session, "expire_date", timezone.now())
        found = [_session(row) for row in _sessions(self.session_key, now)]
        return found[0] if found else super()._get_session_from_db()  # type: ignore[misc]  # it says so and forgets the key


class Backend(ModelBackend):
    def get_user(self, user_id: Any) -> User | None:
        found = [_user(row) for row in _users(user_id)]
        return found[0] if found and self.user_can_authenticate(found[0]) else None
