"""The backends of this installation, by their names: those of Palate, and those that `PALATE_BACKENDS` adds.

Adding one is a class (see `llm.backends.base.Backend`) and a line here, or a setting; no other code names a kind.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from llm import encoders
from llm.backends.base import Backend, BackendError, Chat, Installation, Needs, Place, Use

SHIPPED = {
    "transformers": "llm.backends.transformers.TransformersBackend",
    "openai": "llm.backends.openai.OpenAIBackend",
}
DEFAULT = "transformers"
# Servers are asked by whatever worker has a processor: they wait for the network most of the time.
QUEUES = {Needs.CPU: "cpu", Needs.GPU: "gpu", Needs.NETWORK: "cpu"}


class Placed(Protocol):
    """A model as far as its backend has to know it: `llm.models.LanguageModel`."""

    backend: str

    @property
    def place(self) -> Place: ...


def paths() -> dict[str, str]:
    """{name: dotted path of its class}"""
    return SHIPPED | dict(settings.PALATE_BACKENDS)


def choices() -> list[tuple[str, Any]]:
    """Names and labels, for a form; also of the stored field, so that a new backend makes no migration."""
    return [(kind, gettext_lazy(class_of(kind).label)) for kind in paths()]


def class_of(kind: str) -> type[Backend]:
    """The class of a backend.

    Raises:
        BackendError: this installation has none of that name.
    """
    path = paths().get(kind)
    if path is None:
        raise BackendError(
            _("This installation has no backend “%(kind)s”. It has: %(known)s. See PALATE_BACKENDS.")
            % {"kind": kind, "known": ", ".join(paths())},
            permanent=True,
        )
    return _imported(path)


@lru_cache(maxsize=64)
def _imported(path: str) -> type[Backend]:
    try:
        found = import_string(path)
    except ImportError as error:
        raise ImproperlyConfigured(f"PALATE_BACKENDS names {path}, which cannot be had: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Backend)):
        raise ImproperlyConfigured(f"PALATE_BACKENDS names {path}, which is no subclass of llm.backends.base.Backend")
    return found


def problems(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """For `manage.py check`: backends and encoders that cannot be had stop the start with a sentence.

    That the folder of an encoder is not on this machine is only said: a worker's may have it.
    """
    found: list[checks.CheckMessage] = []
    for kind, path in paths().items():
        try:
            _imported(path)
        except ImproperlyConfigured as error:
            found.append(checks.Error(f"The backend “{kind}” cannot be had: {error}", id="llm.E001"))
    for name in encoders.added():
        try:
            made = encoders.encoder(name)
        except encoders.EncoderError as error:
            found.append(checks.Error(str(error), id="llm.E002"))
            continue
        try:
            made.check()
        except encoders.EncoderError as error:
            found.append(checks.Warning(str(error), id="llm.W001"))
    return found


def installation() -> Installation:
    return Installation(
        threads=settings.PALATE_TORCH_THREADS or None,
        key_variables=frozenset(settings.PALATE_KEY_VARIABLES),
        server_seconds=settings.PALATE_SERVER_SECONDS,
        server_max_bytes=settings.PALATE_SERVER_MAX_BYTES,
        server_tolerance=settings.PALATE_SERVER_TOLERANCE,
    )


def backend_of(model: Placed, use: Use, *, chat_template: bool) -> Backend:
    """The backend of a model for one use. Loads nothing yet, and asks no server.

    Raises:
        BackendError: it can never work.
    """
    backend, place = class_of(model.backend), model.place
    backend.refuse(place, use, chat_template=chat_template, installation=installation())
    return backend.of(place, use, chat_template=chat_template, installation=installation())


def refuse(model: Placed, use: Use, *, chat_template: bool) -> None:
    """Refuse what can never work: asks nobody, and looks at no disk. Raises as `backend_of`."""
    class_of(model.backend).refuse(model.place, use, chat_template=chat_template, installation=installation())


def check(model: Placed, use: Use, *, chat_template: bool) -> None:
    """Look whether a model could work, as far as this process can tell without fetching anything.

    A model on the hub is fetched by the worker that needs it first, a GPU worker may have another disk than ours, and
    a server may be open to the workers only: what is wrong there comes out as the error of the run.

    Raises:
        BackendError: a package, folder or file that is not there; what names no place at all; what can never work.
    """
    refuse(model, use, chat_template=chat_template)
    class_of(model.backend).look(model.place, installation())


def asks_in_chat_form(model: Placed, use: Use, *, chat_template: bool) -> bool:
    """As it is wanted; but some backends write in the chat form only."""
    return chat_template or class_of(model.backend).uses.get(use) == Chat.ALWAYS


def queue_of(model: Placed) -> str:
    """The queue whose workers can work with it."""
    try:
        return QUEUES[class_of(model.backend).needs(model.place)]
    except BackendError:  # a backend that was taken out of the installation: any worker can say so
        return QUEUES[Needs.CPU]
