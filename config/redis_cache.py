"""Django's cache in Redis, for a Redis that is away."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.core.cache.backends import redis
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

log = logging.getLogger(__name__)

T = TypeVar("T")

# Seconds that a connection, and an answer, may take; and for how long it is not asked that did not answer.
CONNECTING, ANSWERING, RESTING = 1.0, 2.0, 5.0

# Servers that did not answer -> until when they are not asked. Of all threads: each has a cache of its own.
_resting: dict[tuple[str, ...], float] = {}


class RedisCache(redis.RedisCache):
    """While Redis does not answer, nothing is in it and nothing is kept: no page fails, what it needs is made anew.

    What `add` is asked then was not there. So nothing may rest on it that must happen once; codes of second factors
    are marked as used in the database (`accounts.forms`). The log says when it went and when it is back, once.
    """

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        usual = {
            "socket_connect_timeout": CONNECTING,
            "socket_timeout": ANSWERING,
            # A connection that was kept may be one of a server that was started anew since.
            "retry": Retry(NoBackoff(), 1),
        }
        super().__init__(server, params | {"OPTIONS": usual | params.get("OPTIONS", {})})

    def _asked(self, ask: Callable[[], T], missed: T) -> T:
        where = tuple(self._servers)  # type: ignore[attr-defined]  # the stubs leave it out
        until = _resting.get(where)
        if until is not None and time.monotonic() < until:
            return missed
        try:
            answer = ask()
        except RedisError as error:
            if until is None:
                log.warning("Redis does not answer (%s): pages go on without their cache", type(error).__name__)
            _resting[where] = time.monotonic() + RESTING
            return missed
        if _resting.pop(where, None) is not None:
            log.warning("Redis answers again")
        return answer

    def add(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return self._asked(lambda: super(RedisCache, self).add(key, value, timeout, version), missed=True)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        return self._asked(lambda: super(RedisCache, self).get(key, default, version), missed=default)

    def set(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        self._asked(lambda: super(RedisCache, self).set(key, value, timeout, version), missed=None)

    def touch(self, key: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return self._asked(lambda: super(RedisCache, self).touch(key, timeout, version), missed=False)

    def delete(self, key: Any, version: int | None = None) -> bool:
        return self._asked(lambda: super(RedisCache, self).delete(key, version), missed=False)

    def get_many(self, keys: Iterable[Any], version: int | None = None) -> dict[Any, Any]:
        missed: dict[Any, Any] = {}
        return self._asked(lambda: super(RedisCache, self).get_many(list(keys), version), missed)

    def set_many(self, data: dict[Any, Any], timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> list[Any]:
        return self._asked(lambda: super(RedisCache, self).set_many(data, timeout, version), missed=list(data))

    def delete_many(self, keys: Iterable[Any], version: int | None = None) -> None:
        self._asked(lambda: super(RedisCache, self).delete_many(list(keys), version), missed=None)

    def has_key(self, key: Any, version: int | None = None) -> bool:
        return self._asked(lambda: super(RedisCache, self).has_key(key, version), missed=False)

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        """Raises ValueError where the key is not there, and so while Redis is away."""
        found: int | None = self._asked(lambda: super(RedisCache, self).incr(key, delta, version), missed=None)
        if found is None:
            raise ValueError(f"Key {key!r} not found.")
        return found

    def clear(self) -> None:
        self._asked(lambda: super(RedisCache, self).clear(), missed=None)
