"""A judge's prompt file, and the prompts made of it. Pure.

    row: |            # shared by all cells of a row
      Web page: $title
      $evidence_clause
    questions:
      duties.stated:            # section.question
        cell: |
          Do these clauses state the duty “$about”?
          Answer:
        options: {stated: Stated, absent: Not stated}     # how an option is said; its label where this is silent

Placeholders of `row`: $title, $evidence (all blocks) and $evidence_KIND (the blocks of that kind), one block a line;
$row_NAME, a facet of the row, where raters may see it, and $lines_NAME, one that is a list of texts, one a line.
Those of `cell` and `unconditional` (the same question without any evidence, for the normalisation pmi): $column (all
facets), $about (the facet that the question is about), $facet_NAME, $question, $options. A question that the file does
not name is not asked of the judge.

The same file serves the lexical judge, which reads only `lexical`: how its verdicts are said in the question's options.

    questions:
      duties.stated:
        lexical: {in: [clause], same: stated, part: implied, none: absent}

Where the question takes a list, it may name a parser that a pack registered (`judges.doors.ItemParser`), which takes
the list out of the evidence by rules:

    questions:
      clause.parties:
        lexical: {parser: clause-parties}

And a judge that rates, which reads `row` and `rating`: the criterion's name, as the judge shall write it, and what it
means, with the placeholders of `cell` but $options. Only scales are rated; the numbers are the scheme's.

    questions:
      acts.strictness:
        rating: {criterion: STRICTNESS, wording: How strictly is $facet_act asked for?}

A judge that writes reads `row` and `writing`: the name that it shall write before its answer, and what is asked. What
an answer looks like follows from the question's kind, unless `form` says it otherwise.

    questions:
      acts.party:
        writing: {name: PARTY, wording: "Who has to do $facet_act?", reason: true}

A prompt may `offer` a part of a question's options; the others are neither said nor scored. Of a judge that rates or
writes, one answer may hold several questions of a section: `together` names them.

    questions:
      duties.stated:
        offer: [stated, absent]
    together:
      - [acts.party, acts.strictness]

`turn: 1` says the options in another order, the first of them last, `turn: 2` the first two; at the top of the file it
is of all questions. Judges that differ in it alone are arms of one (`judges.actions.lineage`).

`candidates` says what the evidence calls the places of texts that stand side by side, and which option names each
(`judges.methods.candidates`); its `turn` is that of the candidates. Options need not be named where their keys are the
names:

    candidates:
      names: [left, right]
      until: The question
      options: {duties.better: [[left, right]]}
      turn: 1

Where each row has options of its own, `offer_in` names the facet of rows that says their keys:

    questions:
      task.answer:
        offer_in: candidates

A judge that compares embeddings (`judges.methods.embedding`) reads `encoder` and `embedding`, and any judge with scores
chooses by `calibration` (`judges.methods.calibration`), where the file has it:

    questions:
      duties.stated:
        embedding: {in: [clause], thresholds: {stated: 0.8, implied: 0.5}, none: absent}
    calibration:
      duties.stated: {temperature: 1.2, bias: {stated: 0.4}}

One that weighs other judges of a study together (`judges.methods.stacking`) reads `stacker`, which a page fits:

    questions:
      duties.stated:
        stacker: {judges: {words: 0.8, near: 1.1}, options: {stated: 0.1, implied: -0.1, absent: 0}}

`$nearest_KIND` of a cell is filled with the lines nearest to its item; `nearest` says how many and by which encoder.
`$evidence_KIND` of a cell is all of that kind, which cells of other questions then do not see.

`whole_table: true` asks all lines of a table in one answer (`judges.methods.whole_tables`).

`thinking` has a judge that writes think before it answers (chain of thought): its sentence stands at the end of what is
asked, and only what is written below a line ANSWER is read:

    thinking: Think step by step first, in a few short sentences.

A question that is written with `bare: true` is asked in its wording alone; nothing is said of the answer's form.

`examples` stand before the cells of a question; a page draws them from people's labels
(`judges.calibrations.examples`). Of a judge that writes they are whole documents with their answers, and stand before
the first line of `row` that has a placeholder; of questions that are asked together those of the first that has some
count:

    examples:
      duties.stated: |
        Duty: Pay rent
        Answer: Stated

`grammar: true` binds the answers of a judge that rates or writes to a grammar made of the questions
(`judges.methods.grammar`), so that each can be read; for backends that can do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from annotation.evidence import kinds
from annotation.scheme.spec import Kind, Layout, QuestionSpec, SchemeSpec, SectionSpec
from base.sentences import gettext as _
from judges.methods import SCORES, USES, Method, lexicons, whole_tables
from judges.methods.prompt_files import (
    Embedding,
    Lexical,
    NearestLines,
    PromptError,
    PromptSpec,
    QuestionPrompt,
    Rating,
    Writing,
    kinds_named,
    kinds_near,
    kinds_read,
    load_prompt,
    questions_for,
    read_as,
    rewritten,
)
from judges.methods.prompt_texts import (
    answers_said,
    asking,
    cell_prompt,
    criterion,
    document_text,
    is_asked,
    item_text,
    lines_above,
    names_there,
    nearest_item,
    offered,
    offered_at,
    options_said,
    row_text,
    table_lines,
    things_there,
)
from llm import encoders
from llm.prompts import digest, with_plain_ends

__all__ = [
    "Embedding",
    "Fitting",
    "Lexical",
    "NearestLines",
    "PromptError",
    "PromptSpec",
    "QuestionPrompt",
    "Rating",
    "Writing",
    "answers_said",
    "asking",
    "cell_prompt",
    "check_against",
    "criterion",
    "digest",
    "document_text",
    "fitting",
    "is_asked",
    "item_text",
    "kinds_named",
    "kinds_near",
    "kinds_read",
    "lines_above",
    "load_prompt",
    "names_there",
    "nearest_item",
    "offered",
    "offered_at",
    "options_said",
    "parts_offered",
    "questions_for",
    "read_as",
    "rewritten",
    "row_text",
    "table_lines",
    "things_there",
    "with_plain_ends",
]

PMI = "pmi"


class Fitting(NamedTuple):
    """A prompt file that asks nothing but questions of a scheme."""

    text: str
    spec: PromptSpec


def fitting(files: Iterable[Path], scheme: SchemeSpec) -> dict[str, Fitting]:
    """The prompt files that ask nothing but questions of the scheme, by their names without the ending."""
    asked = {f"{section.key}.{question.key}" for section in scheme.sections for question in section.questions}
    found = {}
    for file in files:
        text = with_plain_ends(file.read_text(encoding="utf-8"))
        if set((spec := _brought(text)).questions) <= asked:
            found[file.stem] = Fitting(text, spec)
    return found


# The files of a pack stay what they are while each form that offers them asks for all of them.
_brought = lru_cache(maxsize=256)(load_prompt)


_Known = Mapping[str, tuple[SectionSpec, QuestionSpec]]  # the questions of a scheme, by “section.question”
_Asked = Mapping[str, QuestionPrompt]  # those that the method can answer, by the same names


def check_against(spec: PromptSpec, scheme: SchemeSpec, method: str, *, normalisation: str = "none") -> None:
    """Whether a judge of this method can work with the prompt in studies of this scheme.

    Raises:
        PromptError: the prompt names what the scheme has not, or leaves out what the method or normalisation needs.
    """
    known = {
        f"{section.key}.{question.key}": (section, question)
        for section in scheme.sections
        for question in section.questions
    }
    _check_named(spec, scheme, known)
    _check_words(spec, scheme, method)
    _check_candidates(spec, known, method)
    asked = questions_for(spec, method)
    if not asked:
        raise PromptError(
            _("The prompt asks no question that the method “%(method)s” can answer.") % {"method": method}
        )
    if USES[Method(method)] is not None:
        shown = dict.fromkeys((facet.key for facet in scheme.row.shown), "x")
        _try("row", partial(row_text, spec, title="", blocks=[], facets=shown))
    if method == Method.LEXICAL:
        _check_lexical(asked, known)
    if method == Method.EMBEDDING:
        _check_embedding(spec, asked, known, normalisation)
    if method == Method.STACKER and normalisation != "none":
        raise PromptError(_("Judges are weighed together by what each of them chose by; choose “none”."))
    if method in SCORES:
        _check_calibration(spec, asked, normalisation)
    if method == Method.RATING:
        _check_ratings(asked, known)
    if method == Method.WRITING:
        _check_writing(asked, known)
        whole_tables.check(spec)
    if method == Method.CLOZE:
        _check_cloze(spec, asked, known, normalisation)


def _check_named(spec: PromptSpec, scheme: SchemeSpec, known: _Known) -> None:
    """The scheme has the questions, options and facets that the prompt names."""
    for name, prompt in spec.questions.items():
        if name not in known:
            raise PromptError(
                _("The prompt asks “%(question)s”, which is no question of the scheme “%(scheme)s”.")
                % {"question": name, "scheme": scheme.key}
            )
        question = known[name][1]
        options = {option.key for option in question.options}
        named = [*prompt.options, *(prompt.offer or ()), *(prompt.lexical.named() if prompt.lexical else [])]
        named += prompt.embedding.named() if prompt.embedding else []
        named += prompt.stacker.named() if prompt.stacker else []
        named += spec.calibration[name].bias if name in spec.calibration else []
        if unknown := [key for key in named if key not in options]:
            raise PromptError(
                _("The prompt of “%(question)s” names “%(option)s”, which is no option of that question.")
                % {"question": name, "option": unknown[0]}
            )
        if prompt.offer_in and prompt.offer_in not in {facet.key for facet in scheme.row.shown}:
            raise PromptError(
                _("The prompt of “%(question)s” offers what the facet “%(facet)s” says, which rows have not.")
                % {"question": name, "facet": prompt.offer_in}
            )
        if given := [option.key for option in question.options if option.blank and option.key in (prompt.offer or ())]:
            raise PromptError(
                _("The prompt of “%(question)s” offers “%(option)s”, which only a preset gives.")
                % {"question": name, "option": given[0]}
            )


def _check_cloze(spec: PromptSpec, asked: _Asked, known: _Known, normalisation: str) -> None:
    for name, prompt in asked.items():
        section, question = _with_options(name, known)
        sample = dict.fromkeys((*section.column.facets, *section.column.aside), "x")
        _try(name, partial(cell_prompt, prompt, question, sample, order=section.column.facets))
        _try(name, partial(nearest_item, spec.nearest_of(prompt), question, sample, order=section.column.facets))
        if normalisation == PMI and not prompt.unconditional.strip():
            raise PromptError(
                _(
                    "The prompt of “%(question)s” has no “unconditional” text; the normalisation "
                    "“%(normalisation)s” compares with it."
                )
                % {"question": name, "normalisation": PMI}
            )


def _check_words(spec: PromptSpec, scheme: SchemeSpec, method: str) -> None:
    if spec.lexicon and spec.lexicon not in lexicons.known():
        raise PromptError(
            _("The prompt names the lexicon “%(name)s”, which no pack has. There are: %(known)s.")
            % {"name": spec.lexicon, "known": ", ".join(lexicons.known()) or "–"}
        )
    known = kinds.known(scheme.block_kinds)
    if unknown := [kind for kind in kinds_read(spec, method) if kind not in known]:
        raise PromptError(
            _("The prompt reads evidence of the kind “%(kind)s”, which nobody declares. There are: %(known)s.")
            % {"kind": unknown[0], "known": ", ".join(known)}
        )


def _check_candidates(spec: PromptSpec, known: _Known, method: str) -> None:
    if spec.candidates is None:
        return
    if USES[Method(method)] is None:
        raise PromptError(
            _("“candidates” are for judges that read the evidence one line behind another: cloze, rating and writing.")
        )
    if spec.picture and spec.candidates.shift:
        raise PromptError(_("Candidates cannot change places in a picture. Leave out “picture”, or “turn”."))
    for name, rows in spec.candidates.options.items():
        if name not in spec.questions:
            raise PromptError(_("“candidates” names “%(question)s”, which the file does not ask") % {"question": name})
        options = {option.key for option in known[name][1].options}
        if unknown := [key for row in rows for key in row if key not in options]:
            raise PromptError(
                _("The prompt of “%(question)s” names “%(option)s”, which is no option of that question.")
                % {"question": name, "option": unknown[0]}
            )
    for name in spec.questions:
        section, question = known[name]
        if section.layout == Layout.DOWN and spec.candidates.rows_of(name, question):
            raise PromptError(
                _("“%(question)s” is asked line by line, where candidates cannot change places.") % {"question": name}
            )


def _check_lexical(asked: _Asked, known: _Known) -> None:
    for name, prompt in asked.items():
        assert prompt.lexical is not None
        question = known[name][1]
        if prompt.lexical.parser and question.kind != Kind.ITEMS:
            raise PromptError(
                _("“%(question)s” takes no list, which is what the parser “%(parser)s” reads.")
                % {"question": name, "parser": prompt.lexical.parser}
            )
        if not prompt.lexical.parser and not question.options:
            raise PromptError(
                _("“%(question)s” has no options; a judge without a model answers it by a parser only.")
                % {"question": name}
            )


def _with_options(name: str, known: _Known) -> tuple[SectionSpec, QuestionSpec]:
    section, question = known[name]
    if not question.options:
        raise PromptError(
            _("“%(question)s” has no options to choose among; ask for it with the method “writing”.")
            % {"question": name}
        )
    return section, question


def _check_embedding(
    spec: PromptSpec,
    asked: _Asked,
    known: _Known,
    normalisation: str,
) -> None:
    if spec.encoder not in encoders.names():
        raise PromptError(
            _("This installation has no encoder “%(name)s”. It has: %(known)s.")
            % {"name": spec.encoder, "known": ", ".join(encoders.names())}
        )
    if normalisation != "none":
        raise PromptError(_("Scores of embeddings have no lengths to normalise by; choose “none”."))
    for name, prompt in asked.items():
        section, question = _with_options(name, known)
        sample = dict.fromkeys((*section.column.facets, *section.column.aside), "x")
        _try(name, partial(item_text, prompt, question, sample, order=section.column.facets))


def _check_calibration(spec: PromptSpec, asked: _Asked, normalisation: str) -> None:
    for name in asked:
        fitted = spec.calibration.get(name)
        if fitted is not None and fitted.normalisation != normalisation:
            raise PromptError(
                _("The calibration of “%(question)s” is of scores under “%(fitted)s”; choose that normalisation.")
                % {"question": name, "fitted": fitted.normalisation}
            )


def _check_ratings(asked: _Asked, known: _Known) -> None:
    names: dict[str, str] = {}
    for name, prompt in asked.items():
        section, question = known[name]
        if question.kind != Kind.SCALE:
            raise PromptError(
                _("“%(question)s” is no scale; only the questions of a scheme that are scales can be rated.")
                % {"question": name}
            )
        sample = dict.fromkeys((*section.column.facets, *section.column.aside), "x")
        _try(name, partial(criterion, prompt, question, sample, order=section.column.facets))
        assert prompt.rating is not None
        same = prompt.rating.criterion.casefold().replace("-", " ")
        if same in names:
            raise PromptError(
                _(
                    "“%(one)s” and “%(other)s” have one criterion, “%(criterion)s”; an answer would not say which of "
                    "the two it rates."
                )
                % {"one": names[same], "other": name, "criterion": prompt.rating.criterion}
            )
        names[same] = name


def _check_writing(asked: _Asked, known: _Known) -> None:
    names: dict[tuple[str, str], str] = {}
    for name, prompt in asked.items():
        section, question = known[name]
        sample = dict.fromkeys((*section.column.facets, *section.column.aside), "x")
        _try(name, partial(asking, prompt, question, sample, order=section.column.facets))
        assert prompt.writing is not None
        same = (section.key, prompt.writing.name.casefold().replace("-", " "))
        if same in names:
            raise PromptError(
                _(
                    "“%(one)s” and “%(other)s” have one name, “%(name)s”; an answer would not say which of the two it "
                    "answers."
                )
                % {"one": names[same], "other": name, "name": prompt.writing.name}
            )
        names[same] = name


def _try(name: str, make: Callable[[], object]) -> None:
    try:
        make()
    except KeyError as error:
        sentence = _("The prompt of “%(question)s” has the placeholder $%(placeholder)s, which nothing fills.")
        sentence %= {"question": name, "placeholder": error.args[0]}
        if name != "row" and str(error.args[0]).startswith(("row_", "lines_")):
            sentence += " " + _("Facets of the row stand in “row”, before all questions.")
        raise PromptError(sentence) from error
    except ValueError as error:
        raise PromptError(
            _("The prompt of “%(question)s” cannot be used: %(error)s") % {"question": name, "error": error}
        ) from error


def parts_offered(spec: PromptSpec, scheme: SchemeSpec, method: str) -> dict[str, list[str]]:
    """The questions of which a judge of this method is offered a part of the options only, and which these are."""
    if USES[Method(method)] is None:
        return {}
    questions = {
        f"{section.key}.{question.key}": question for section in scheme.sections for question in section.questions
    }
    return {
        name: [option.key for option in offered(prompt, questions[name])]
        for name, prompt in questions_for(spec, method).items()
        if prompt.offer is not None
    }
