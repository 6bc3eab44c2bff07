"""What a judge's prompt file holds; `judges.methods.prompting` says what it means. Pure."""

from __future__ import annotations

import re
from itertools import chain
from typing import Annotated, Self, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from annotation.evidence.kinds import PATTERN
from annotation.scheme import problems
from base import yaml_reading
from base.sentences import gettext as _
from base.yaml_reading import YamlRefused
from judges.methods import Method
from judges.methods.calibration import Calibration
from judges.methods.candidates import Candidates

Spec = TypeVar("Spec", bound=BaseModel)
# A name as a model shall write it: words of letters, with spaces or hyphens between them.
_Name = Annotated[str, Field(pattern=r"^[^\W\d_]+(?:[ -][^\W\d_]+)*$", max_length=60)]


class PromptError(ValueError):
    """The prompt file does not fit; `str()` says where."""


def _each_once(keys: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(keys)) < len(keys):
        raise ValueError(_("an option is offered twice"))
    return keys


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Lexical(_Spec):
    """Which option a verdict of the lexical judge becomes.

    Either the verdicts are named: `same`, `part` and `none`. Or the facet is a list ("rent, deposit"), each part of
    which is looked up, and `shares` names the option by the share of the parts that are found: [least share, option],
    the first that fits. Or the question takes a list, which a `parser` of a pack reads out of all blocks by rules.
    """

    kinds: Annotated[
        Annotated[tuple[Annotated[str, Field(pattern=PATTERN)], ...], Field(min_length=1)] | None, Field(alias="in")
    ] = None
    same: str = ""
    part: str = ""
    none: str = ""
    shares: tuple[tuple[float, str], ...] = ()
    parser: Annotated[str, Field(max_length=60)] = ""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.parser:
            if self.kinds is not None or self.named():
                raise ValueError(_("a parser reads all of the evidence, and gives no option"))
            return self
        if not (self.kinds and self.none):
            raise ValueError(_("give “in”, the kinds of evidence, and “none”; or a parser"))
        if bool(self.shares) == bool(self.same and self.part):
            raise ValueError(_("give either same and part, or shares"))
        return self

    def named(self) -> list[str]:
        return [key for key in (self.same, self.part, self.none, *(key for _share, key in self.shares)) if key]


class Embedding(_Spec):
    """Which option the cosine of an item and the line nearest to it becomes: that of the highest threshold that it
    reaches, `none` where it reaches no one.

    `item`: what is compared with the lines, with the placeholders of a cell. `scale`: by how much a cosine over a
    threshold makes the option above it one nat more probable than the one below.
    """

    kinds: Annotated[tuple[Annotated[str, Field(pattern=PATTERN)], ...], Field(alias="in", min_length=1)]
    item: Annotated[str, Field(min_length=1)] = "$about"
    thresholds: Annotated[dict[str, Annotated[float, Field(ge=-1, le=1)]], Field(min_length=1)]
    none: str
    scale: Annotated[float, Field(gt=0, le=1)] = 0.05

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        if self.none in self.thresholds:
            raise ValueError(_("“none” is the option of no likeness, which has no threshold"))
        if len(set(self.thresholds.values())) < len(self.thresholds):
            raise ValueError(_("two options have one threshold, so that one of them is never chosen"))
        return self

    def named(self) -> list[str]:
        return [*self.thresholds, self.none]


class Stacker(_Spec):
    """How a question's answers by other judges of the study are weighed together (`judges.methods.stacking`).

    `judges`: the weight of each, by its code as a rater; `options`: the options to choose among, each with its bias in
    nats.
    """

    judges: Annotated[dict[str, Annotated[float, Field(allow_inf_nan=False)]], Field(min_length=2, max_length=20)]
    options: Annotated[dict[str, Annotated[float, Field(allow_inf_nan=False)]], Field(min_length=2)]

    def named(self) -> list[str]:
        return list(self.options)


class NearestLines(_Spec):
    """How many lines `$nearest_KIND` of a cell has at most, by which encoder (`llm.encoders`) they are the nearest, and
    from which cosine on; with `parts` only what is near of each line (`judges.methods.nearest.parts_of`), and never
    a part in which a word begins like one of `without`. What a question says of `without` is added to what is said of
    all.

    `item`: what is compared with the lines, with the placeholders of a cell; where it is silent, what the question is
    about, or all facets. `without_answers`: the judge's own words for its answers are left out of the lines.
    """

    item: str = ""
    lines: Annotated[int, Field(ge=1, le=50)] = 4
    encoder: Annotated[str, Field(max_length=60)] = "characters"
    least: Annotated[float, Field(ge=-1, lt=1)] = -1.0
    parts: bool = False
    without: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=40)], ...], Field(max_length=200)] = ()
    without_answers: bool = False


class Rating(_Spec):
    """A criterion: its name in letters, as it is read in answers, and what it means."""

    criterion: _Name
    wording: Annotated[str, Field(min_length=1)]


class Writing(_Spec):
    """A question that is answered in the model's own words: the name that stands before its answer, what is asked, what
    an answer looks like (as the question's kind has it, where this is silent), and whether a brief reason is asked.

    `bare`: the wording is all that is asked, as in a prompt that somebody else has published; the answer is the whole
    of what is written."""

    name: _Name
    wording: Annotated[str, Field(min_length=1)]
    form: str = ""
    reason: bool = False
    bare: bool = False

    @model_validator(mode="after")
    def _asks_for_nothing_more(self) -> Self:
        if self.bare and (self.form or self.reason):
            raise ValueError(_("“bare” asks the wording alone: leave out “form” and “reason”"))
        return self


class QuestionPrompt(_Spec):
    cell: str = ""
    unconditional: str = ""
    options: dict[str, str] = {}
    # Keys of the options that are offered, where that is a part of the question's.
    offer: Annotated[tuple[str, ...], Field(min_length=2), AfterValidator(_each_once)] | None = None
    # A facet of the row that says which of them are offered there, by their keys.
    offer_in: str = ""
    # By how many places the options are said further on: the first so many stand last.
    turn: Annotated[int, Field(ge=0, le=100)] = 0
    # What its placeholders $nearest_KIND are filled with, as far as it is not as in the whole prompt.
    nearest: NearestLines | None = None
    lexical: Lexical | None = None
    embedding: Embedding | None = None
    stacker: Stacker | None = None
    rating: Rating | None = None
    writing: Writing | None = None


class PromptSpec(_Spec):
    row: str = ""
    # Whose words the lexical judge knows; of no name those of all packs.
    lexicon: str = ""
    # By which a judge of the method embedding compares texts.
    encoder: Annotated[str, Field(max_length=60)] = "all-minilm-l6-v2"
    # What the placeholders $nearest_KIND of cells are filled with, where a question does not say it.
    nearest: NearestLines = NearestLines()
    questions: Annotated[dict[str, QuestionPrompt], Field(min_length=1)]
    # Questions of one section that one answer is to hold, of a judge that rates or writes.
    together: tuple[Annotated[tuple[str, ...], Field(min_length=2)], ...] = ()
    # Of a judge that rates or writes: its answers are bound to a grammar, so that each can be read.
    grammar: bool = False
    # Of a judge that writes: what has it think before it answers, as in “Think step by step first.”; none without it.
    thinking: str = ""
    # Of a judge that writes: the lines of a table (layout `down`) are asked all at once, not one after another.
    whole_table: bool = False
    # Of a judge that rates or writes: it is shown the picture of the row, where there is one.
    picture: bool = False
    # By which a judge with scores chooses, by the question's name.
    calibration: dict[str, Calibration] = {}
    # Examples that stand before a question's cells, by its name; a page draws them from people's labels.
    examples: dict[str, str] = {}
    # As `turn` of each question, added to it: an arm of a judge differs by it.
    turn: Annotated[int, Field(ge=0, le=100)] = 0
    # Texts that stand side by side in the evidence; an arm reads them in another order.
    candidates: Candidates | None = None

    @model_validator(mode="after")
    def _names_what_it_asks(self) -> Self:
        if unknown := [name for name in self.calibration if name not in self.questions]:
            raise ValueError(
                _("“calibration” names “%(question)s”, which the file does not ask") % {"question": unknown[0]}
            )
        if unknown := [name for name in self.examples if name not in self.questions]:
            raise ValueError(
                _("“examples” names “%(question)s”, which the file does not ask") % {"question": unknown[0]}
            )
        return self

    @model_validator(mode="after")
    def _thinks_freely(self) -> Self:
        if self.thinking.strip() and self.grammar:
            raise ValueError(_("“thinking” asks for thoughts, and “grammar” binds all that is written: take one"))
        return self

    @model_validator(mode="after")
    def _bare_alone(self) -> Self:
        bare = [name for name, asked in self.questions.items() if asked.writing and asked.writing.bare]
        shared = self.grammar or self.thinking.strip() or self.whole_table
        if bare and (shared or any(name in chain.from_iterable(self.together) for name in bare)):
            raise ValueError(
                _(
                    "“%(question)s” is asked “bare”, in its wording alone, which goes with none of “together”, "
                    "“whole_table”, “thinking” and “grammar”"
                )
                % {"question": bare[0]}
            )
        return self

    @model_validator(mode="after")
    def _together_once(self) -> Self:
        named = list(chain.from_iterable(self.together))
        for name in named:
            if name not in self.questions:
                raise ValueError(_("“together” names “%(question)s”, which the file does not ask") % {"question": name})
            if named.count(name) > 1:
                raise ValueError(_("“together” names “%(question)s” twice") % {"question": name})
        for group in self.together:
            if len({name.partition(".")[0] for name in group}) > 1:
                raise ValueError(
                    _("“together” names questions of several sections: %(questions)s; one answer is about one column")
                    % {"questions": ", ".join(group)}
                )
        return self

    def group_of(self, name: str) -> tuple[str, ...]:
        """The questions that share an answer with this one."""
        return next((group for group in self.together if name in group), (name,))

    def nearest_of(self, question: QuestionPrompt) -> NearestLines:
        """What the placeholders $nearest_KIND of a question's cells are filled with."""
        if question.nearest is None:
            return self.nearest
        own = question.nearest.model_dump(exclude_unset=True)
        without = tuple(dict.fromkeys((*self.nearest.without, *question.nearest.without)))
        return self.nearest.model_copy(update=own | {"without": without})


# What a method reads of a question's prompt; without it, it is not asked the question.
_READS = {
    Method.CLOZE: "cell",
    Method.RATING: "rating",
    Method.WRITING: "writing",
    Method.LEXICAL: "lexical",
    Method.EMBEDDING: "embedding",
    Method.STACKER: "stacker",
}


def load_prompt(text: str) -> PromptSpec:
    """Read the prompt file of a judge; raises as `read_as`."""
    return read_as(PromptSpec, text)


def read_as(spec: type[Spec], text: str) -> Spec:
    """Read a prompt file.

    Raises:
        PromptError: with the line and the key that is wrong.
    """
    try:
        root = yaml_reading.compose(text)
        if not isinstance(root, yaml.MappingNode):
            raise YamlRefused(1, _("it should begin with a key and a colon, such as “row:”"))
        data = yaml_reading.construct(root)
    except YamlRefused as refused:
        raise PromptError(
            _("The prompt cannot be read, line %(line)s: %(reason)s") % {"line": refused.line, "reason": refused.reason}
        ) from refused
    try:
        return spec.model_validate(data)
    except ValidationError as error:
        raise PromptError(str(problems.told(root, error)[0])) from error


def rewritten(text: str, key: str, value: object, *, comment: str = "") -> str:
    """A prompt file in which a key has another value: where it stood, else at the end. Everything else stays as it is
    written. `comment`: a line to stand above it, in the place of one that says the same up to its colon.

    Raises:
        PromptError: the text is no YAML, or in another form than a line that begins with each key.
    """
    said = f"# {comment}\n" if comment else ""
    block = said + yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True, width=1000)
    try:
        root = yaml_reading.compose(text)
    except YamlRefused as error:
        raise PromptError(str(error)) from error
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    node = next(((name, value) for name, value in pairs if name.value == key), None)
    is_apart = root is not None and (root.start_mark.column or getattr(root, "flow_style", False) or "\n..." in text)
    if is_apart or (node and (node[0].start_mark.column or text[node[0].end_mark.index :].lstrip(" ")[:1] != ":")):
        raise PromptError(_("Write the prompt with each key at the beginning of a line, so that one can be put anew."))
    if node is None:
        return f"{text.rstrip()}\n{block}"
    start, end = node[0].start_mark.index, node[1].end_mark.index
    if node[1].end_mark.column:  # the rest of its line is a comment, if anything
        end = text.find("\n", end) + 1 or len(text)
    lines = text[start:end].splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].startswith("#")):  # those of what follows
        end -= len(lines.pop())
    ahead = text[:start].splitlines(keepends=True)
    if ahead and comment and ahead[-1].startswith(f"# {comment.partition(':')[0]}:"):
        ahead.pop()
    return "".join(ahead) + block + text[end:]


def questions_for(spec: PromptSpec, method: str) -> dict[str, QuestionPrompt]:
    """What a judge of this method is asked, as {section.question: prompt}."""
    asked = {name: prompt for name, prompt in spec.questions.items() if getattr(prompt, _READS[Method(method)])}
    if not spec.turn:
        return asked
    return {name: prompt.model_copy(update={"turn": prompt.turn + spec.turn}) for name, prompt in asked.items()}


def kinds_read(spec: PromptSpec, method: str) -> list[str]:
    """The kinds of evidence that a judge of this method reads by name; none where it reads all together."""
    if method == Method.LEXICAL:
        asked = questions_for(spec, method).values()
        return sorted({kind for of in asked if of.lexical for kind in of.lexical.kinds or ()})
    if method == Method.EMBEDDING:
        return sorted(
            {kind for of in questions_for(spec, method).values() if of.embedding for kind in of.embedding.kinds}
        )
    if re.search(r"\$\{?evidence\b", spec.row):
        return []
    cells = [of.cell for of in questions_for(spec, method).values()] if method == Method.CLOZE else []
    return sorted(kinds_named(spec.row).union(*map(kinds_near, cells), *map(kinds_named, cells)))


def kinds_near(template: str) -> set[str]:
    """The kinds of evidence of which a cell's text has a place for the nearest lines."""
    return set(re.findall(r"\$\{?nearest_([a-z0-9]+)", template))


def kinds_named(template: str) -> set[str]:
    """The kinds of evidence that a text has a place for."""
    return set(re.findall(r"\$\{?evidence_([a-z0-9]+)", template))
