"""One table over the tasks, as papers print it: models by tasks, their mean, and who is better than another model.

Source: Toyooka, Aizawa and Yamakata, tables 1 and 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Rater
from base.text import natural
from recipes.ingredient_states.probing.scores import Score, better, mean_interval
from recipes.ingredient_states.probing.tasks import Chance, Task
from reports.contents import Contents, ContentsPart
from reports.data.arrays import Filters
from reports.stats.bootstrap import MINIMUM_CLUSTERS, Interval
from reports.stats.comparison import NEVER_APART
from reports.tables import Head, ReportTable, Value
from reports.tables.base import interval_heads
from reports.tables.coefficients import ends
from reports.words import UNDEFINED, code_of, count

TITLES: Mapping[Task, Promise | str] = {
    Task.STEP_REFERENCE: gettext_lazy("Step reference"),
    Task.USAGE: gettext_lazy("Ingredient usage"),
    Task.TRACING: gettext_lazy("Ingredient tracing"),
}

DRAWN = Filters(by="sheet")  # how intervals are made, as a report's are


@dataclass(frozen=True, eq=False)
class TaskResults:
    """Who was right in a study of one task. intervals: of the accuracy of each of `scores`, None without any; chance:
    over all of its instances, None where it has none; recipes: the titles of their recipes, in their order."""

    slug: str
    title: str
    scores: tuple[Score, ...]
    intervals: tuple[Interval | None, ...]
    chance: Chance | None
    recipes: tuple[str, ...]


Chosen = Mapping[Task, TaskResults]  # a study of each task, as far as there are some
Line = Mapping[Task, Score]


def lines_of(chosen: Chosen) -> dict[str, Line]:
    """The scores of each model, over the tasks: judges first, then people.

    Judges are named by their models, since each task has a prompt, and so a judge, of its own. Where a model has
    several judges in one of the studies, its judges are named by themselves in all of them.
    """
    several = {
        model
        for results in chosen.values()
        for model, n in Counter(score.rater.model for score in results.scores).items()
        if n > 1
    }
    found: dict[tuple[bool, str], dict[Task, Score]] = {}
    for task, results in chosen.items():
        for score in results.scores:
            model = score.rater.model
            name = model if model and model not in several else code_of(score.rater)
            found.setdefault((score.rater.kind == Rater.Kind.PERSON, name), {}).setdefault(task, score)
    ordered = sorted(found, key=lambda key: (key[0], natural(key[1])))
    return {key[1]: found[key] for key in ordered}


def table_of(chosen: Chosen, *, base: str = "") -> ReportTable:
    """
    Args:
        base: the model that the others are held against; "" for none.
    """
    lines = lines_of(chosen)
    held = lines.get(base)
    rows = [_row(name, line, held) for name, line in lines.items()]
    for title, of in ((_("by chance, each"), "of_each"), (_("by chance, mean"), "of_mean")):
        rows.append(_chance(title, chosen, of, compared=held is not None))
    heads = [Head("who", _("Model"))]
    for task in Task:
        title = str(TITLES[task])
        heads += [
            Head(f"{task}.accuracy", _("Accuracy"), "number", title),
            Head(f"{task}.n", _("Instances"), "count", title),
        ]
        heads += [Head(f"{task}.better", _("p, McNemar, one-sided"), "number", title)] if held is not None else []
    how = [
        _(
            "The mean is that of the three tasks, however many instances each has; who lacks one has none. Judges "
            "stand in one line by their model; of a model with several judges in one study each has its own."
        ),
        _(
            "By chance, each: the mean over instances of 1 / candidates. By chance, mean: 1 / the mean number of "
            "candidates, which is less where instances have different numbers of them. Published rates are now the "
            "one, now the other."
        ),
    ]
    if held is not None:
        how.append(
            _("p: exact, that a model is better than %(base)s, on the instances that both were asked.") % {"base": base}
        )
    return ReportTable(
        key="probing.across",
        about="",
        title=_("Models and tasks"),
        heads=(*heads, Head("mean", _("Mean"), "number"), Head("because", _("Not defined because"), "note")),
        rows=tuple(rows),
        how=" ".join(how),
    )


def intervals_of(chosen: Chosen) -> ReportTable:
    """Of the accuracies and means of `table_of`, by drawing recipes."""
    heads = [Head("who", _("Model"))]
    for key, title in (*TITLES.items(), ("mean", _("Mean"))):
        heads += [Head(f"{key}.value", _("Accuracy"), "number", str(title))]
        heads += interval_heads(True, key=f"{key}.", group=str(title))
    rows = []
    for name, line in lines_of(chosen).items():
        cells: list[Value] = [name]
        for task in Task:
            score = line.get(task)
            of = _interval_of(score, chosen[task]) if score else None
            cells += [score.accuracy if score else None, *ends(of, shown=True)]
        mean, drawn = _mean([score.accuracy for score in line.values()]), None
        if mean is not None:
            drawn = mean_interval([(score, chosen[task].recipes) for task, score in line.items()], DRAWN)
        rows.append((*cells, mean, *ends(drawn, shown=True)))
    how = _(
        "95 %% intervals by drawing recipes %(draws)s times with all that is asked of them; for the mean with what "
        "each task asks of them. None where there are fewer than %(least)s recipes, where every draw gives the same, "
        "or where draws lack a task."
    ) % {"draws": count(DRAWN.n_draws), "least": MINIMUM_CLUSTERS}
    return ReportTable(
        key="probing.intervals",
        about="",
        title=_("How sure the accuracies are"),
        heads=tuple(heads),
        rows=tuple(rows),
        how=how,
    )


def contents_of(tables: Sequence[ReportTable], about: Sequence[tuple[str, str]]) -> Contents:
    """The tables as downloads take them."""
    return Contents(tuple(about), 0, (ContentsPart("probing", "", 0, tuple(tables)),)).rounded


def _row(name: str, line: Line, held: Line | None) -> tuple[Value, ...]:
    cells: list[Value] = [name]
    because = ""
    for task in Task:
        score = line.get(task)
        cells += [score.accuracy, score.right.size] if score else [None, None]
        if held is not None:
            p, reason = _better(held.get(task), score)
            cells.append(p)
            because = because or reason
    return *cells, _mean([score.accuracy for score in line.values()]), because


def _interval_of(score: Score, results: TaskResults) -> Interval | None:
    return next(of for one, of in zip(results.scores, results.intervals, strict=True) if one is score)


def _better(held: Score | None, score: Score | None) -> tuple[float | None, str]:
    """p that a model is better than the one it is held against; or why there is none, where a gap does not say it."""
    if held is None or score is None or held is score:
        return None, ""
    of = better(held, score)
    if of is None:
        return None, _("the two have no instance in common")
    return of.second_better, "" if of.second_better is not None else str(UNDEFINED[NEVER_APART])


def _chance(title: str, chosen: Chosen, of: str, *, compared: bool) -> tuple[Value, ...]:
    cells: list[Value] = [title]
    rates = []
    for task in Task:
        chance = chosen[task].chance if task in chosen else None
        rate = getattr(chance, of) if chance else None
        rates.append(rate)
        cells += [rate, chance.n if chance else None, *([None] if compared else [])]
    return *cells, _mean(rates), ""


def _mean(of_tasks: Sequence[float | None]) -> float | None:
    """Of all three; None where one is missing.

    >>> _mean([0.5, 0.75, 0.25]), _mean([0.5, 0.75]), _mean([0.5, None, 0.25])
    (0.5, None, None)
    """
    known = [one for one in of_tasks if one is not None]
    return sum(known) / len(known) if len(known) == len(Task) else None
