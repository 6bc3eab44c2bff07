"""Who is asking: Django's sessions and users, by prepared queries, since every request reads one of each."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from annotation.models import User
from annotation.prepared import Prepared

_session = Prepared(
    lambda key, now: Session.objects.filter(session_key=key, expire_date__gt=now),
    now=Session._meta.get_field("expire_date"),
)
_user = Prepared(lambda pk: User.objects.filter(pk=pk))


class SessionStore(db.SessionStore):
    def _get_session_from_db(self) -> Session | None:
        found = _session(key=self.session_key, now=timezone.now())
        return found[0] if found else super()._get_session_from_db()  # type: ignore[misc]  # it says so and forgets the key


class Backend(ModelBackend):
    def get_user(self, user_id: Any) -> User | None:
        found = _user(pk=user_id)
        return found[0] if found and self.user_can_authenticate(found[0]) else None
