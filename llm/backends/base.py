"""What a backend offers, what it says of itself, and how it fails. Importing this loads neither torch nor a model.

A backend is a class that `llm.registry` knows by a dotted path. Nothing else names one: whatever a page, a form, a
check or the queue has to know of a kind of backend, its class says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Self

from base.sentences import gettext as _
from llm import grammars
from llm.engine.prompt import Generated, OnProgress, PromptTooLong, RowPrompt, RowScores, Sampling

# A precision: bfloat16, and float32 for what bfloat16 leaves in doubt.
RESCUED = "rescued"


class BackendError(Exception):
    """A backend could not do its work; the message is a sentence for the person who runs the judge.

    `permanent` says that trying again changes nothing until somebody does what the sentence asks; `of_prompt`, that
    what was asked may be why, so that other prompts may be answered.
    """

    def __init__(self, message: str, *, permanent: bool, of_prompt: bool = False) -> None:
        super().__init__(message)
        self.permanent = permanent
        self.of_prompt = of_prompt


class Unavailable(BackendError):
    """Nobody is there to do the work, at this row or at any other; trying again later may help."""

    def __init__(self, message: str) -> None:
        super().__init__(message, permanent=False)


def another_model(url: str, *, now: str, then: str) -> BackendError:
    """Of a server that has another model under the same name than when the run began."""
    return BackendError(
        _(
            "%(url)s was away and came back with another model: %(now)s. When this run began it was "
            "%(then)s. Resume the run if its labels may be of both, which its record will then say; else "
            "start another."
        )
        % {"url": url, "now": now, "then": then},
        permanent=True,
    )


class Use(StrEnum):
    """What is asked of a model: the log-probabilities of given options, or an answer in its own words."""

    SCORE = "score"
    GENERATE = "generate"


class Chat(StrEnum):
    """Whether a backend asks in a model's chat form, for one use of it."""

    EITHER = "either"
    NEVER = "never"
    ALWAYS = "always"


class Needs(StrEnum):
    """What a worker has to have for it; the queue follows from that."""

    CPU = "cpu"
    GPU = "gpu"
    NETWORK = "network"


@dataclass(frozen=True)
class Place:
    """Where a model is and how it is had: the fields of a stored model that backends take, with what is "not given"."""

    location: str
    revision: str = ""
    gguf_file: str = ""
    dtype: str = "auto"
    device: str = "cpu"
    served_name: str = ""
    api_key_env: str = ""
    requests_per_minute: int | None = None


@dataclass(frozen=True)
class Installation:
    """What the people who run this installation have set.

    Attributes:
        threads: of torch; None leaves its own choice.
        key_variables: that may hold a server's key, beside those that end in `_API_KEY`.
        server_seconds: for one answer of a server, from the request to the last byte.
        server_max_bytes: of one answer of a server.
        server_tolerance: by how much, in nats, a server may give the same token another log-probability.
    """

    threads: int | None = None
    key_variables: frozenset[str] = frozenset()
    server_seconds: float = 600.0
    server_max_bytes: int = 32 * 2**20
    server_tolerance: float = 1e-3


class Backend(ABC):
    """Something that scores the options of cells, writes answers, and can say exactly what it is.

    `label`: how people choose it, in English, marked for translation. `uses`: what it can be asked, and in which form.
    `takes`: the fields of `Place` that mean something to it, beside the location; `requires`: those of them without
    which it cannot work. `binds`: whether the answers that it writes can be bound to a grammar.
    `sees`: whether prompts can come with a picture.
    `shares`: whether what the prompts of a row have in common is read once, when options are scored. `together`: how
    many rows' answers are better asked for in one call; 1 where it makes no difference.
    `asks_outside`: whether it asks somebody outside this process, also what it is: that is then asked once a run and
    process, and can be stopped; else it is asked at each row, and may load a model.
    `help`: the page of docs/, such as "judges/servers", that says what to do when it fails; "" for a backend that has
    none.
    """

    label: ClassVar[str]
    uses: ClassVar[Mapping[Use, Chat]]
    takes: ClassVar[frozenset[str]] = frozenset()
    requires: ClassVar[frozenset[str]] = frozenset()
    binds: ClassVar[bool] = False
    sees: ClassVar[bool] = False
    shares: ClassVar[bool] = True
    together: ClassVar[int] = 1
    asks_outside: ClassVar[bool] = False
    help: ClassVar[str] = "judges/models"

    # --- of the class: asked before there is anything to do -----------------------------------------------------------

    @classmethod
    @abstractmethod
    def of(cls, place: Place, use: Use, *, chat_template: bool, installation: Installation) -> Self:
        """The backend of a model for one use. Loads nothing yet, and asks nobody."""

    @classmethod
    def refuse(cls, place: Place, use: Use, *, chat_template: bool, installation: Installation) -> None:
        """Refuse what can never work. Asks nobody, and looks at no disk.

        Raises:
            BackendError: with what to do.
        """
        chat = cls.uses.get(use)
        if chat is None:
            raise BackendError(
                _("A model %(backend)s cannot score given options; it writes only.") % {"backend": _(cls.label)}
                if use == Use.SCORE
                else _("A model %(backend)s cannot write; it scores given options only.") % {"backend": _(cls.label)},
                permanent=True,
            )
        if chat == Chat.ALWAYS and not chat_template:
            raise BackendError(
                _("A model %(backend)s is asked in its chat form here. Create the judge with the chat form.")
                % {"backend": _(cls.label)},
                permanent=True,
            )
        if chat == Chat.NEVER and chat_template:
            raise BackendError(
                _("A model %(backend)s takes plain prompts here. Create the judge without the chat form.")
                % {"backend": _(cls.label)},
                permanent=True,
            )

    @classmethod
    def refuse_grammar(cls) -> None:
        """Refuse to bind answers to a grammar, where that can never work here.

        Raises:
            BackendError: with what to do.
        """
        if not cls.binds:
            raise BackendError(
                _("The answers of a model %(backend)s cannot be bound to a grammar. Take “grammar” out of the prompt.")
                % {"backend": _(cls.label)},
                permanent=True,
            )

    @classmethod
    def refuse_picture(cls) -> None:
        """Refuse prompts with pictures, where they can never be read here.

        Raises:
            BackendError: with what to do.
        """
        if not cls.sees:
            raise BackendError(
                _("A model %(backend)s reads texts alone here. Take “picture” out of the prompt, or ask a server.")
                % {"backend": _(cls.label)},
                permanent=True,
            )

    @classmethod
    def look(cls, place: Place, installation: Installation) -> None:
        """Look whether the model is where it should be, as far as this process can tell without fetching anything.

        Raises:
            BackendError: it is not there, or its place is none.
        """
        return

    @classmethod
    @abstractmethod
    def needs(cls, place: Place) -> Needs:
        """What a worker must have that is to work with this model."""

    @classmethod
    def scored_together(cls, place: Place) -> int:
        """How many rows' options are better scored in one call; 1 where it makes no difference."""
        return 1

    @classmethod
    def called(cls, place: Place) -> str:
        """What the model is called among others as long as nobody names it otherwise."""
        return place.location

    @classmethod
    def described(cls, place: Place) -> list[tuple[str, str]]:
        """What the page of a run says of the model: titles, in the reader's language, and texts."""
        return [(_("Model"), place.location)]

    @classmethod
    def announced(cls, place: Place) -> str:
        """Whom it asks outside this installation; "" if nobody."""
        return ""

    # --- of one model -------------------------------------------------------------------------------------------------

    @abstractmethod
    def score(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]:
        """The scores of each row, or in a row's place why its evidence does not fit; the other rows are scored.

        Raises:
            OptionsNotPrefixFree: an option of a cell begins another one.
            BackendError: the model is missing, out of memory, or answers with what is not a number.
            Whatever `on_progress` raises.
        """

    @property
    def rescue_below_nats(self) -> float:
        """Cells whose margin is under this are to be scored again by `rescue`; 0 of a backend that need not."""
        return 0.0

    def rescue(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]:
        """As `score`, in more digits."""
        return self.score(rows, on_progress)

    @abstractmethod
    def generate(
        self,
        prompts: Sequence[str],
        sampling: Sampling,
        on_progress: OnProgress | None = None,
        *,
        seeds: Sequence[int] | None = None,
    ) -> list[Generated | PromptTooLong]:
        """The answer to each prompt, or in its place why it does not fit; the other prompts are answered.

        `seeds`: of each prompt its own in place of the sampling's.

        The prompts are whole: instruction, evidence, question. Special tokens in them are made inert. With a chat
        template each is a user's message, and the answer is the assistant's reply. A grammar of `sampling` is for
        backends alone that bind, a picture for those that see.

        Raises:
            BackendError: the model is missing, out of memory, or answers with what is not a number; or the grammar
                cannot be used.
            Whatever `on_progress` raises.
        """

    def binding(self) -> str:
        """How answers are bound to a grammar, for a run's record; asked of backends that bind.

        Raises:
            BackendError: they cannot be, with what to do.
        """
        return grammars.installed() or ""

    def binding_told(self, on_progress: OnProgress) -> str:
        """As `binding`, of a backend that asks outside: calls `on_progress` meanwhile, and raises what that raises."""
        return self.binding()

    def identity_told(self, on_progress: OnProgress) -> dict[str, str]:
        """As `identity`, of a backend that asks outside: calls `on_progress` meanwhile, and raises what that raises."""
        return self.identity()

    @property
    def is_loaded(self) -> bool:
        """Whether `identity` and `binding` are told at once, since nothing has to be loaded or tried out for them any
        more. What cannot tell says no, and its holder's lease is then kept by a thread."""
        return False

    @abstractmethod
    def identity(self) -> dict[str, str]:
        """What produced the scores, for the run's record: model, revision, digest of the weights, dtype, device,
        versions of the libraries, settings of the engine. Raises BackendError like `score`."""
