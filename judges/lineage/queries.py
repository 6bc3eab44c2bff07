"""Reads for the lineage of judges: what each came from, what changed, and how it does on development documents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext_lazy

from annotation import doors
from annotation.models import Assignment, Label, Rater, Row, Study
from annotation.scheme.spec import Layout, QuestionSpec
from judges.calibrations.queries import peoples_labels
from judges.lineage.models import Origin
from judges.methods import USES, Method, candidates
from judges.methods.candidates import Candidates
from judges.methods.prompting import QuestionPrompt, offered, questions_for
from judges.models import Extractor, Judge

CHANGED = {
    "model": gettext_lazy("model"),
    "method": gettext_lazy("method"),
    "normalisation": gettext_lazy("normalisation"),
    "writing": gettext_lazy("temperature or longest answer"),
    "chat": gettext_lazy("chat form"),
    "evidence": gettext_lazy("evidence"),
    "examples": gettext_lazy("examples"),
    "calibration": gettext_lazy("calibration"),
    "order": gettext_lazy("order of the options"),
    "candidates": gettext_lazy("order of the candidates"),
    "thresholds": gettext_lazy("thresholds"),
    "wording": gettext_lazy("wording"),
    "prompt": gettext_lazy("how the prompt is used"),
}
# A lineage this long has a loop that no action can make.
_LONGEST = 200
# Documents that are looked at for what they call their candidates.
_LOOKED_AT = 50


@dataclass(frozen=True)
class Score:
    """How a judge does on development documents: the share of cells with an answer that somebody among people gave too,
    the mean over questions. n_cells: over all questions."""

    accuracy: float
    n_cells: int
    n_documents: int

    @property
    def percent(self) -> int:
        return round(100 * self.accuracy)


@dataclass(frozen=True)
class Version:
    """One judge of a lineage. `changed`: what differs from the judge that it came from; `together`: the judges that it
    weighs; `score`: None where it has no label, or people have none there."""

    judge: Judge
    how: str
    at: datetime | None
    changed: tuple[str, ...]
    together: tuple[str, ...] = ()
    score: Score | None = None

    @property
    def said(self) -> str:
        return str(Origin.How(self.how).label) if self.how else ""

    @property
    def told(self) -> dict[str, Any]:
        """As a certificate keeps it; the same in every language."""
        return {
            "name": self.judge.name,
            "how": self.how,
            "at": self.at.date().isoformat() if self.at else "",
            "prompt_sha256": self.judge.prompt.digest,
            "model": self.judge.model.name if self.judge.model else "",
            "together": list(self.together),
            "development": {
                "accuracy": round(self.score.accuracy, 12),
                "cells": self.score.n_cells,
                "documents": self.score.n_documents,
            }
            if self.score
            else None,
        }


def ancestors(judge: Judge, study: Study | None = None) -> list[Judge]:
    """What a judge came from, the first version first, itself last, as far back as `study` knows them; two queries a
    version."""
    found = [judge]
    while len(found) < _LONGEST:
        origin = Origin.objects.filter(judge=found[0]).select_related("parent__prompt", "parent__model").first()
        if origin is None or origin.parent is None or origin.parent in found:
            break
        if study is not None and origin.parent.study_id not in (None, study.pk):
            break
        found.insert(0, origin.parent)
    return found


def origins_behind(judge: Judge) -> list[Origin]:
    """Where a judge, all that it came from and all that these weigh came from, and how judges with the same prompts
    were fitted: whatever rows a judge has seen stand here. A query a generation, two where one weighs others."""
    found: dict[int, Origin] = {}
    known: dict[int, Judge] = {}
    todo = [judge]
    while todo:
        known |= {one.pk: one for one in todo}
        prompts = {one.prompt_id for one in todo}
        before: dict[int, Judge] = {}
        for origin in Origin.objects.filter(judge__prompt__in=prompts).select_related("judge", "parent__prompt"):
            found[origin.pk] = origin
            # Of another judge with the same prompt only what made the prompt counts, not what that one came from.
            if origin.judge_id in known and origin.parent is not None:
                before[origin.parent.pk] = origin.parent
        if names := {name for one in todo for name in weighed(one)}:
            before |= {one.pk: one for one in Judge.objects.filter(name__in=names).select_related("prompt")}
        todo = [one for pk, one in before.items() if pk not in known]
    return list(found.values())


def rows_behind(origins: Iterable[Origin]) -> set[int]:
    """The rows that judges were fitted to or have examples of. Of a judge from before these were kept: all rows of its
    study that people had begun and submitted by then. One query for each of the latter."""
    rows: set[int] = set()
    for origin in origins:
        if origin.rows is not None:
            rows.update(origin.rows)
            continue
        by_people = Assignment.objects.filter(
            Q(started_at=None) | Q(started_at__lte=origin.at),
            row__sheet__study=origin.study_id,
            rater__kind=Rater.Kind.PERSON,
            state=Assignment.State.SUBMITTED,
        )
        rows.update(by_people.values_list("row_id", flat=True))
    return rows


def examples_of(judges: Iterable[Judge]) -> set[int]:
    """The rows that the prompts of judges, and of those that they weigh, show as examples; `rows_behind` says what
    counts where that was not kept. One query a judge and for each that it came from, up to the one that was given them.
    """
    drawn: dict[int, Origin] = {}
    known: set[int] = set()
    todo = list(judges)
    while todo:
        judge = todo.pop()
        known.add(judge.pk)
        before: list[Judge] = []
        if judge.prompt_spec.examples:
            origins = Origin.objects.filter(judge__prompt=judge.prompt_id).select_related("parent__prompt")
            given = [origin for origin in origins if origin.how == Origin.How.EXAMPLES]
            drawn |= {origin.pk: origin for origin in given}
            if not given:
                before = [one.parent for one in origins if one.judge_id == judge.pk and one.parent is not None]
        if names := weighed(judge):
            before += Judge.objects.filter(name__in=names).select_related("prompt")
        todo += [one for one in before if one.pk not in known]
    return rows_behind(drawn.values())


def rows_seen(study: Study, codes: Collection[str]) -> dict[str, set[int]]:
    """The rows of a study that judges of these names, or what they came from or weigh, were fitted to or have examples
    of, as of `rows_behind`; judges that have seen none are not in it. One query where no judge was made from the
    study's labels."""
    if not has_shown_rows(study):
        return {}
    judges = Judge.objects.filter(name__in=codes).select_related("prompt")
    found = {judge.name: rows_behind(o for o in origins_behind(judge) if o.study_id == study.pk) for judge in judges}
    return {name: rows for name, rows in found.items() if rows}


def has_shown_rows(study: Study) -> bool:
    """Whether a judge was fitted to labels of a study, or has examples of it. One query."""
    return Origin.objects.filter(study=study).exclude(rows=[]).exists()


def chain(study: Study, judge: Judge) -> list[Version]:
    """The versions that led to a judge, the first one first, each with its score in this study."""
    return _versions(study, ancestors(judge, study))


def versions_of(study: Study, judge: Judge) -> list[Version]:
    """What was made of a judge, the oldest first. Arms and their average are in `arms_of`."""
    apart = (Origin.How.ARM, Origin.How.AVERAGE)
    made = Judge.objects.known_in(study).filter(origin__parent=judge).exclude(origin__how__in=apart)
    return _versions(study, list(made.select_related("prompt", "model").order_by("origin__pk")))


def arms_of(judge: Judge) -> list[Judge]:
    """The other arms of a judge, in the order in which they were made. One query."""
    arms = Judge.objects.filter(origin__parent=judge, origin__how=Origin.How.ARM)
    return list(arms.select_related("prompt", "model").order_by("origin__pk"))


def shifts(judge: Judge) -> set[int]:
    """The orders of the candidates in which the judge and its arms of them read, without those in other words. One
    query."""
    own = judge.prompt_spec.candidates
    arms = (arm for arm in arms_of(judge) if set(changes(judge, arm)) <= {"candidates"})
    return {_shift(own), *(_shift(arm.prompt_spec.candidates) for arm in arms)}


def average_of(judge: Judge) -> Judge | None:
    """The judge that averages the arms of this one, the last that was made. One query."""
    made = Judge.objects.filter(origin__parent=judge, origin__how=Origin.How.AVERAGE)
    return made.select_related("prompt").order_by("-origin__pk").first()


def told(study: Study, judge: Judge) -> list[dict[str, Any]]:
    """The chain as a certificate keeps it."""
    return [version.told for version in chain(study, judge)]


def _versions(study: Study, judges: Sequence[Judge]) -> list[Version]:
    origins = {
        origin.judge_id: origin
        for origin in Origin.objects.filter(judge__in=judges).select_related("parent__prompt", "parent__model")
    }
    scores = development_scores(study, judges)
    found = []
    for judge in judges:
        origin = origins.get(judge.pk)
        parent = origin.parent if origin else None
        found.append(
            Version(
                judge=judge,
                how=origin.how if origin else "",
                at=origin.at if origin else None,
                changed=tuple(str(CHANGED[what]) for what in changes(parent, judge)) if parent is not None else (),
                together=weighed(judge),
                score=scores.get(judge.pk),
            )
        )
    return found


def weighed(judge: Judge) -> tuple[str, ...]:
    """The judges that its prompt weighs together."""
    rules = [prompt.stacker for prompt in judge.prompt_spec.questions.values() if prompt.stacker is not None]
    return tuple(dict.fromkeys(code for rule in rules for code in rule.judges))


def is_unused(tool: Judge | Extractor) -> bool:
    """Whether nothing rests on a judge or an extractor, in any study: it has not worked, waits for no work, and nothing
    was made from it."""
    if tool.runs.exists():
        return False
    if isinstance(tool, Extractor):
        return not (tool.extractions.exists() or tool.judges.exists())
    if tool.versions.exists() or Rater.objects.filter(kind=Rater.Kind.JUDGE, code=tool.name).exists():
        return False
    stackers = Judge.objects.filter(method=Method.STACKER).select_related("prompt")
    return all(tool.name not in weighed(judge) for judge in stackers)


def changes(before: Judge, after: Judge) -> Iterator[str]:
    """What differs between two versions: keys of `CHANGED`."""
    old, new = before.prompt_spec, after.prompt_spec
    differing = {
        "model": before.model_id != after.model_id,
        "method": before.method != after.method,
        "normalisation": before.normalisation != after.normalisation,
        "writing": (before.temperature, before.max_new_tokens) != (after.temperature, after.max_new_tokens),
        "chat": before.chat_template != after.chat_template,
        "evidence": before.evidence_id != after.evidence_id,
        "examples": old.examples != new.examples,
        "calibration": old.calibration != new.calibration,
        "order": old.turn != new.turn,
        "candidates": _shift(old.candidates) != _shift(new.candidates),
        "thresholds": _thresholds(old.questions) != _thresholds(new.questions),
        "wording": old.row != new.row or _wordings(old.questions) != _wordings(new.questions),
    }
    rest = {"examples": {}, "calibration": {}, "turn": 0, "questions": {}, "row": "", "candidates": None}
    differing["prompt"] = old.model_copy(update=rest) != new.model_copy(update=rest) or _stand_otherwise(
        old.candidates, new.candidates
    )
    return (what for what, differs in differing.items() if differs)


def _stand_otherwise(old: Candidates | None, new: Candidates | None) -> bool:
    """Whether another text moves, or an answer means another candidate, than the order alone makes."""
    if old is None or new is None or not (old.shift or new.shift):
        return False
    return old.model_copy(update={"turn": 0}) != new.model_copy(update={"turn": 0})


def _shift(candidates: Candidates | None) -> int:
    """Without another order what a prompt says of candidates changes nothing that the judge reads."""
    return candidates.shift if candidates else 0


def _thresholds(questions: Mapping[str, QuestionPrompt]) -> dict[str, object]:
    return {name: of.embedding for name, of in questions.items() if of.embedding is not None}


def _wordings(questions: Mapping[str, QuestionPrompt]) -> dict[str, object]:
    return {name: of.model_copy(update={"embedding": None, "stacker": None}) for name, of in questions.items()}


def development_scores(study: Study, judges: Sequence[Judge]) -> dict[int, Score]:
    """How judges do on the study's development documents, by their keys: on all documents where it is not split.

    Of each judge the cells count that it and people have answered. Options count as the question's merge for judges
    has them, whatever a judge is offered, so that judges can be compared. What was fitted to these documents does
    better there than elsewhere; those that its prompt shows a judge with their answers do not count. What people have
    because of what a judge is sure of stays out, as where judges are chosen. Four queries, and those of `examples_of`;
    none without judges.
    """
    if not judges:
        return {}
    kept = doors.example_rows(study)
    not_alike = doors.rows_not_alike(study)
    rows = Row.objects.filter(sheet__study=study, withdrawn_at=None)
    cell = ("assignment__row_id", "column_id", "question__section__key", "question__key", "option__key")
    asked = {(s.key, q.key): q for s in study.scheme.parsed.sections for q in s.questions}

    @cache
    def counted(section: str, key: str, option: str) -> str:
        return asked[section, key].for_judges(option)

    people: dict[tuple[int, int, str, str], set[str]] = defaultdict(set)
    for row, column, section, key, option in peoples_labels(study, rows.values("pk")).values_list(*cell):  # type: ignore[arg-type]
        if row not in not_alike and (kept is None or row in kept):
            people[row, column, section, key].add(counted(section, key, option))
    by_name = {judge.name: judge for judge in judges}
    shown = {judge.name: examples_of([judge]) for judge in judges}
    said = Label.objects.filter(
        assignment__rater__study=study,
        assignment__rater__kind=Rater.Kind.JUDGE,
        assignment__rater__code__in=by_name,
        assignment__repeat=1,
        assignment__state=Assignment.State.SUBMITTED,
        option__isnull=False,
        preset=False,
    ).order_by()
    right: dict[str, dict[tuple[str, str], list[bool]]] = defaultdict(lambda: defaultdict(list))
    documents: dict[str, set[int]] = defaultdict(set)
    for row, column, section, key, option, code in said.values_list(*cell, "assignment__rater__code"):
        if (chose := people.get((row, column, section, key))) and row not in shown[code]:
            right[code][section, key].append(counted(section, key, option) in chose)
            documents[code].add(row)
    return {
        by_name[code].pk: Score(
            accuracy=sum(sum(of) / len(of) for of in by_question.values()) / len(by_question),
            n_cells=sum(map(len, by_question.values())),
            n_documents=len(documents[code]),
        )
        for code, by_question in right.items()
    }


def ordered_options(judge: Judge, study: Study) -> dict[str, list[str]]:
    """By question, the keys of the options as the judge reads them, where it reads them one behind the other."""
    asked = {f"{s.key}.{q.key}": q for s in study.scheme.parsed.sections for q in s.questions}
    return {
        name: [option.key for option in offered(prompt, asked[name])]
        for name, prompt in questions_for(judge.prompt_spec, judge.method).items()
        if name in asked and reads_an_order(judge, prompt, asked[name])
    }


def reads_an_order(judge: Judge, prompt: QuestionPrompt, question: QuestionSpec) -> bool:
    """Whether a judge reads the options of a question one behind the other."""
    if judge.method == Method.CLOZE:
        return bool(re.search(r"\$\{?options\b", prompt.cell))
    if judge.method != Method.WRITING or prompt.writing is None or prompt.writing.bare:  # whose wording has what it has
        return False
    return bool(question.options)


def candidates_of(judge: Judge, study: Study) -> Candidates | None:
    """The candidates that stand side by side in what the judge reads: those that its prompt names, else those that an
    option of a question is called by in each of the study's documents; None where there are none. One query."""
    spec = judge.prompt_spec
    if spec.picture:  # they would not change places in it
        return None
    if spec.candidates is not None or USES[Method(judge.method)] is None or judge.evidence_id is not None:
        return spec.candidates
    asked = questions_for(spec, judge.method)
    across = {
        f"{section.key}.{question.key}": question
        for section in study.scheme.parsed.sections
        if section.layout != Layout.DOWN
        for question in section.questions
        if f"{section.key}.{question.key}" in asked and len(question.options) > 1
    }
    if not across:
        return None
    rows = Row.objects.filter(sheet__study=study, withdrawn_at=None).order_by("pk")[:_LOOKED_AT]
    return candidates.detected([row.blocks for row in rows], across)


def _stood(judge: Judge, base: Judge, arms: Sequence[Judge], study: Study) -> dict[str, tuple[tuple[str, ...], ...]]:
    """By question, the options that name a candidate in the order in which this arm showed the candidates; empty where
    no arm of the judge shows them in another order."""
    named = next((own for arm in arms if (own := arm.prompt_spec.candidates) is not None and own.shift), None)
    if named is None:
        return {}
    own = named.model_copy(update={"turn": _shift(judge.prompt_spec.candidates)})
    asked = questions_for(base.prompt_spec, base.method)
    known = {f"{s.key}.{q.key}": q for s in study.scheme.parsed.sections for q in s.questions}
    stood = {name: own.stood(name, known[name]) for name in asked if name in known}
    return {name: rows for name, rows in stood.items() if rows}


@dataclass(frozen=True)
class ArmOf:
    """A judge as an arm of another by their codes; see `reports.data.label_table.ArmEntry`."""

    code: str
    of: str
    turn: int
    reworded: bool
    orders: Mapping[str, Sequence[str]]
    shift: int = 0
    stood: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)


def arms_in(study: Study, codes: Collection[str]) -> list[ArmOf]:
    """Judges of a study that are arms of another one there, each judge that has some before its arms. One query, none
    for fewer than two judges."""
    if len(codes) < 2:
        return []
    origins = Origin.objects.filter(how=Origin.How.ARM, judge__name__in=codes, parent__name__in=codes)
    found: dict[Judge, list[Judge]] = {}
    for origin in origins.select_related("judge__prompt", "parent__prompt").order_by("parent__name", "pk"):
        assert origin.parent is not None
        found.setdefault(origin.parent, []).append(origin.judge)
    return [
        ArmOf(
            code=judge.name,
            of=base.name,
            turn=judge.prompt_spec.turn,
            reworded="wording" in set(changes(base, judge)),
            orders=ordered_options(judge, study),
            shift=_shift(judge.prompt_spec.candidates),
            stood=_stood(judge, base, arms, study),
        )
        for base, arms in found.items()
        for judge in (base, *arms)
    ]
