"""What a judge came from is kept, and judges are made whose labels say what the order of options or words does."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import yaml
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.actions import Refused
from annotation.models import Study
from judges.actions.creating import create_judge, keep_with
from judges.lineage import queries as lineage
from judges.lineage.models import Origin
from judges.methods import prompting
from judges.models import Judge

MOST_ARMS = 10


def came_from(
    *, judge: Judge, parent: Judge | None, how: str, study: Study | None = None, rows: Collection[int] = ()
) -> Origin:
    """Keep what a new judge came from. `rows`: those that it was fitted to or has examples of."""
    return Origin.objects.create(judge=judge, parent=parent, how=how, study=study, rows=sorted(rows))


@transaction.atomic
def create_arms(*, judge: Judge, study: Study, n: int | None = None) -> list[Judge]:
    """Judges like `judge` that read the options in other orders: the first one, two, … of them last.

    Args:
        n: how many, of those that are not there yet; None for all, so that each option stands at each place once.

    Raises:
        Refused: it is an arm or reads no options in an order, or there is nothing to make.
    """
    _refuse_arm(judge)
    places = max((len(options) for options in lineage.ordered_options(judge, study).values()), default=0)
    if places < 2:
        raise Refused(
            _(
                "“%(judge)s” reads no options in an order: a judge of the method “writing” does where a question has "
                "options, and one of the method “cloze” where its prompt has $options."
            )
            % {"judge": judge.name}
        )
    standing = {arm.prompt_spec.turn for arm in lineage.arms_of(judge)} | {judge.prompt_spec.turn % places}
    left = [turn for turn in range(places) if turn not in standing][: MOST_ARMS if n is None else n]
    if not left:
        raise Refused(_("“%(judge)s” has an arm of each order already.") % {"judge": judge.name})
    return [_arm(judge, study, turn) for turn in left]


def _arm(judge: Judge, study: Study, turn: int) -> Judge:
    name = f"{judge.name[:50]}-turn-{turn}"
    text = prompting.rewritten(_turned_examples(judge, study, turn), "turn", turn)
    return made_like(judge=judge, study=study, name=name, prompt_text=text)


@transaction.atomic
def create_candidate_arms(*, judge: Judge, study: Study) -> list[Judge]:
    """Judges like `judge` that read the candidates of the evidence in other orders: the first one, two, … of them last,
    so that over all arms each stands at every place once. What they answer is counted for the candidate that stood at
    the place they name.

    Raises:
        Refused: it is an arm, its evidence has no candidates, or there is nothing to make.
    """
    _refuse_arm(judge)
    found = lineage.candidates_of(judge, study)
    if found is None:
        raise Refused(
            _(
                "The documents have no candidates side by side that “%(judge)s” could read in another order. They "
                "stand below headings that an option of a question is called by; or the judge's prompt names them "
                "under “candidates”."
            )
            % {"judge": judge.name}
        )
    standing = lineage.shifts(judge)
    k = len(found.names)
    left = [turn for turn in range(k) if turn not in standing][:MOST_ARMS]
    if not left:
        raise Refused(_("“%(judge)s” has an arm of each order of the candidates already.") % {"judge": judge.name})
    written = found.model_dump(mode="json", exclude_defaults=True)
    return [
        made_like(
            judge=judge,
            study=study,
            name=f"{judge.name[:46]}-candidates-{turn}",
            prompt_text=prompting.rewritten(judge.prompt.text, "candidates", {**written, "turn": turn}),
        )
        for turn in left
    ]


def made_like(
    *, judge: Judge, study: Study, name: str, prompt_text: str, how: str = Origin.How.ARM, rows: Collection[int] = ()
) -> Judge:
    """A judge like `judge` with another prompt. `how`, `rows`: as for `came_from`."""
    refuse_name(name)
    made = create_judge(
        name=name,
        method=judge.method,
        normalisation=judge.normalisation,
        chat_template=judge.chat_template,
        temperature=judge.temperature,
        max_new_tokens=judge.max_new_tokens,
        model=judge.model,
        evidence=judge.evidence,
        prompt_text=prompt_text,
        study=study,
    )
    came_from(judge=made, parent=judge, how=how, study=study, rows=rows)
    return made


def _turned_examples(judge: Judge, study: Study, turn: int) -> str:
    """The text of a judge's prompt in whose examples the options stand as an arm reads them: where the answers say
    another order than the cell, the arm would be asked two things."""
    spec = judge.prompt_spec
    if not spec.examples or judge.method != Judge.Method.CLOZE:
        return judge.prompt.text  # a judge that writes has answers alone in its examples
    asked = {f"{s.key}.{q.key}": q for s in study.scheme.parsed.sections for q in s.questions}
    before = prompting.questions_for(spec, judge.method)
    after = prompting.questions_for(spec.model_copy(update={"turn": turn}), judge.method)
    turned = {
        name: text.replace(
            prompting.options_said(before[name], asked[name]), prompting.options_said(after[name], asked[name])
        )
        if name in before and name in asked and lineage.reads_an_order(judge, before[name], asked[name])
        else text
        for name, text in spec.examples.items()
    }
    if turned == spec.examples:
        return judge.prompt.text
    return prompting.rewritten(judge.prompt.text, "examples", turned)


@transaction.atomic
def count_as_arm(*, judge: Judge) -> None:
    """Count a copy whose wording alone is another as an arm of the judge that it was copied from.

    Raises:
        Refused: it is no copy, the other is an arm itself, this one has arms, or more than words or order differs.
    """
    origin = Origin.objects.filter(judge=judge, how=Origin.How.COPY).select_related("parent__prompt").first()
    if origin is None or origin.parent is None:
        raise Refused(_("“%(judge)s” is no copy of another judge.") % {"judge": judge.name})
    _refuse_arm(origin.parent)
    if lineage.arms_of(judge):
        raise Refused(
            _("“%(judge)s” has arms of its own, which it is compared with, so it cannot be an arm of another judge.")
            % {"judge": judge.name}
        )
    changed = set(lineage.changes(origin.parent, judge))
    if not changed or changed - {"wording", "order", "candidates"}:
        raise Refused(
            _("An arm differs from “%(judge)s” in its words or the order of options or candidates alone.")
            % {"judge": origin.parent.name}
        )
    origin.how = Origin.How.ARM
    origin.save(update_fields=["how"])


@transaction.atomic
def create_average(*, judge: Judge, study: Study) -> Judge:
    """A judge whose label in a cell is that of all arms of `judge` together, each alike: the option with the greatest
    mean log-probability among the arms' own options; of judges without scores the one that most arms chose, of equal
    ones a drawn one.

    Raises:
        Refused: it has no arm, asks no question that has options, or the average of these arms is there.
    """
    arms = lineage.arms_of(judge)
    if not arms:
        raise Refused(_("“%(judge)s” has no arms to average. Make some first.") % {"judge": judge.name})
    asked = {f"{s.key}.{q.key}": q for s in study.scheme.parsed.sections for q in s.questions if q.options}
    codes = [judge.name, *(arm.name for arm in arms)]
    standing = lineage.average_of(judge)
    if standing is not None and set(lineage.weighed(standing)) == set(codes):
        raise Refused(_("“%(judge)s” is the average of these arms.") % {"judge": standing.name})
    weight = round(1 / len(codes), 12)
    rules: dict[str, dict[str, Any]] = {}
    for name, prompt in prompting.questions_for(judge.prompt_spec, judge.method).items():
        if name in asked:
            chosen = {option.key for option in prompting.offered(prompt, asked[name])}
            options = {option.key: 0.0 for option in asked[name].options if option.key in chosen}
            rules[name] = {"stacker": {"judges": dict.fromkeys(codes, weight), "options": options}}
    if not rules:
        raise Refused(_("“%(judge)s” asks no question that has options.") % {"judge": judge.name})
    name = f"{judge.name[:50]}-average"
    number = 2
    while Judge.objects.filter(name=name).exists():  # of fewer arms
        name, number = f"{judge.name[:50]}-average-{number}", number + 1
    said = f"# The mean of {len(arms) + 1} arms of {judge.name}\n"
    text = said + yaml.safe_dump({"questions": rules}, sort_keys=False, allow_unicode=True)
    made = create_judge(name=name, method=Judge.Method.STACKER, prompt_text=text, study=study)
    keep_with(made, codes, study)
    came_from(judge=made, parent=judge, how=Origin.How.AVERAGE, study=study)
    return made


def _refuse_arm(judge: Judge) -> None:
    origin = Origin.objects.filter(judge=judge).select_related("parent").first()
    if origin is not None and origin.how == Origin.How.ARM and origin.parent is not None:
        raise Refused(
            _("“%(judge)s” is an arm itself. Make arms of “%(parent)s”.")
            % {"judge": judge.name, "parent": origin.parent.name}
        )


def refuse_name(name: str) -> None:
    if Judge.objects.filter(name=name).exists():
        raise Refused(_("There is a judge called “%(name)s” already.") % {"name": name})
