"""What the first page of a report says of a probing task: how often each is right, beside what guessing gets."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.scheme.spec import Words
from recipes.ingredient_states.probing.across import TITLES
from recipes.ingredient_states.probing.derivers import FORMS
from recipes.ingredient_states.probing.scores import Asked, Score
from recipes.ingredient_states.probing.tables import found_in
from recipes.ingredient_states.probing.tasks import Task, chance_of
from reports.answers import estimate
from reports.doors import Sentence, Told
from reports.numbers.report import StudyReport
from reports.sentences import percent, quoted, with_interval
from reports.stats.bootstrap import Interval
from reports.words import code_of, count

_MOST_TOLD = 4


def told(report: StudyReport) -> Told | None:
    """Of those who are right most often, a sentence each; None where nobody has answered."""
    (section, question), *_others = report.data.table.questions
    name = f"{section.key}.{question.key}"
    found = found_in(report, name)
    if not found.scores:
        return None
    task = FORMS[report.data.scheme.key].task
    ranked = sorted(found.scores, key=lambda each: -(each[0].accuracy or 0.0))
    of_table = f"{name}.probing"
    said = [
        _sentence(report.data.scheme.words, task, found.asked, score, drawn, of_table)
        for score, drawn in ranked[:_MOST_TOLD]
    ]
    if n := len(ranked) - len(said):
        text = ngettext("%(n)s more is in the table.", "%(n)s more are in the table.", n) % {"n": count(n)}
        said.append(Sentence(text, of_table))
    title = _("%(task)s: how often they are right") % {"task": TITLES[task]}
    return Told(title, tuple(said))


def _sentence(
    words: Words, task: Task, asked: list[Asked], score: Score, drawn: Interval | None, table: str
) -> Sentence:
    chance = chance_of([asked[n].candidates for n in score.instances.tolist()])
    assert chance is not None
    right = estimate(score.accuracy, drawn)
    n, n_sheets = score.right.size, len({asked[n].sheet for n in score.instances.tolist()})
    rests_on = [f"{count(n_sheets)} {words.sheet if n_sheets == 1 else words.sheets}"]
    if score.n_without:
        rests_on.append(_("no readable answer: %(n)s") % {"n": count(score.n_without)})
    if right.no_interval:
        rests_on.append(_("no interval: %(reason)s") % {"reason": right.no_interval})
    text = (
        # Of answers that are sets, 1 / candidates is more than guessing gets.
        _("%(rater)s is right in %(share)s of %(instances)s; guessing gets at most %(chance)s (%(rests_on)s).")
        if task == Task.TRACING
        else _("%(rater)s is right in %(share)s of %(instances)s; guessing gets %(chance)s (%(rests_on)s).")
    ) % {
        "rater": quoted(code_of(score.rater)),
        "share": with_interval(right),
        "instances": ngettext("%(n)s instance", "%(n)s instances", n) % {"n": count(n)},
        "chance": percent(chance.of_each),
        "rests_on": "; ".join(rests_on),
    }
    if right.low is None or right.high is None:
        return Sentence(text, table)
    is_chance = right.low <= chance.of_each <= right.high
    if is_chance:
        text += " " + _("The interval holds what guessing gets.")
    return Sentence(text, table, warns=is_chance)
