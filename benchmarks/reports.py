"""How long reports take: the simulated paper with two judges, growth to a million labels, and scripts pair by pair.

    PALATE_ENV=test DATABASE_URL=sqlite:///:memory: python -m benchmarks.reports

Prints seconds of CPU (of the best of three, but for the large ones) and the peak of memory, and exits with 1 when a
limit is passed. The paper's study is read from the database that `DATABASE_URL` names; the tables of the growth are
made in memory, so that their figures are those of arrays, statistics, tables and figures' data alone.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import django
import numpy as np

LIMITS = {"paper": 1.0, "paper with intervals": 5.0, "a million": 20.0}
MEMORY = 1024  # MiB
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
COLUMNS, RATERS, RATERS_A_ROW = 20, 50, 2
CROWD_ITEMS, CROWD_RATERS, RATERS_AN_ITEM = 462, 76, 10


def main() -> int:
    django.setup()
    from django.core.management import call_command

    from annotation.models import Study
    from reports import queries
    from reports.data.arrays import Filters

    found = {}
    print("Growth: rows x 20 columns x 1 question of 4 options, 2 of 50 raters a row, one judge with scores")
    whole(made_table(SIZES[0]))  # what is loaded with the first report is not counted
    for size in SIZES:
        table = made_table(size)
        n = len(table.labels)
        seconds = timed(partial(whole, table), times=1)
        print(f"  {n:>9,} labels {seconds:7.2f} s  {1e6 * seconds / n:5.1f} µs a label  peak {peak()} MiB")
    found["a million"] = seconds
    memory = peak()

    call_command("migrate", verbosity=0)
    call_command("simulate_paper", verbosity=0)
    study = Study.objects.select_related("scheme").get(slug="simulated-paper")
    add_judges(study)
    found |= of_paper(study)
    crowd = queries.label_table(crowd_study(), Filters())
    print(f"\nA crowd of {CROWD_RATERS} raters, {len(crowd.labels):,} labels of {CROWD_ITEMS} items")
    print(f"  the report without intervals                {timed(partial(whole, crowd)):6.2f} s")
    print(f"  the report with 2,000 draws of items        {timed(partial(whole, crowd, by='document')):6.2f} s")
    against_scripts(study)
    failed = [name for name, seconds in found.items() if seconds > LIMITS[name]]
    print(f"\nPeak at a million labels: {memory} MiB of {MEMORY} MiB")
    for name, limit in LIMITS.items():
        print(f"{name}: {found[name]:.2f} s of {limit:.0f} s{'  TOO SLOW' if name in failed else ''}")
    return int(bool(failed) or memory > MEMORY)


def timed(work: Callable[[], object], *, times: int = 3) -> float:
    best = float("inf")
    for _time in range(times):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def peak() -> int:
    """MiB that this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def whole(table: Any, **filters: Any) -> Any:
    """A whole report: arrays, statistics, tables and the data of its figures."""
    from reports.contents import contents_of
    from reports.data.arrays import Filters
    from reports.data.cells import study_data
    from reports.numbers.report import compute

    chosen = Filters(**filters)
    return contents_of(compute(study_data(table, chosen), chosen))


def made_table(n_labels: int, *, seed: int = 0) -> Any:
    """A label table of about so many labels, two thirds of them by people, a third by a judge with scores."""
    from annotation.scheme.spec import load_scheme
    from reports.data.label_table import AssignmentEntry, Assignments, ColumnEntry, LabelTable, RaterEntry, RowEntry

    source = """
        {key: growth, version: 1, title: Growth, sections: [{key: items, title: Items, column: {title: Item,
          facets: [item]}, questions: [{key: presence, title: Presence, options: [{key: a, label: A},
            {key: b, label: B}, {key: c, label: C}, {key: d, label: D}],
          merges: [{key: two, title: Two, options: {b: a, d: c}}]}]}]}"""
    rng = np.random.default_rng(seed)
    n_rows = n_labels // (COLUMNS * (RATERS_A_ROW + 1))
    truth = rng.integers(0, 4, size=(n_rows, COLUMNS))
    assignments: list[AssignmentEntry] = []
    labels: list[Any] = []
    for row in range(n_rows):
        for rater in (*sorted(rng.choice(RATERS, size=RATERS_A_ROW, replace=False).tolist()), RATERS):
            number = len(assignments)
            assignments.append(AssignmentEntry(rater, row, 1, "submitted", ()))
            stray = rng.random(COLUMNS) < 0.2
            chosen = np.where(stray, rng.integers(0, 4, size=COLUMNS), truth[row])
            zeros = np.zeros(COLUMNS, dtype=np.int64)
            labels.append(np.stack([zeros + number, np.arange(COLUMNS), zeros, chosen, zeros, zeros], axis=1))
    every = np.concatenate(labels)
    of_judge = np.flatnonzero(np.isin(every[:, 0] % (RATERS_A_ROW + 1), [RATERS_A_ROW]))
    scores = np.full((of_judge.size, 4, 4), np.nan)
    scores[..., 0] = rng.normal(-4, 1, size=(of_judge.size, 4))
    scores[np.arange(of_judge.size), every[of_judge, 3], 0] += 2
    scores[..., 1], scores[..., 2] = 2, 5
    return LabelTable(
        slug="growth",
        title="Growth",
        spec=load_scheme(source).model_dump(mode="json"),
        raters=(*(RaterEntry(f"W{n}", "person") for n in range(RATERS)), RaterEntry("J1", "judge", False, "none")),
        sheets=("All",),
        rows=tuple(RowEntry(0, f"Row {n}") for n in range(n_rows)),
        columns=tuple(ColumnEntry(0, "items", n, f"item {n}", {"item": f"item {n}"}) for n in range(COLUMNS)),
        assignments=Assignments.of(assignments),
        labels=every,
        scored=of_judge,
        scores=scores,
    )


def crowd_study(*, slug: str = "crowd", seed: int = 0) -> Any:
    """One sheet of 462 items × one question with four options, each item labelled by 10 of 76 raters."""
    from annotation import actions
    from annotation.models import Assignment, Label, Option, Rater, Row
    from annotation.scheme.spec import load_scheme

    source = """
        {key: crowd, version: 1, title: Crowd, words: {row: item, rows: items}, sections: [
          {key: pairs, title: Pairs, column: {title: Pair, facets: [pair]}, questions: [
            {key: order, title: Order, options: [
              {key: a, label: Before}, {key: b, label: After}, {key: c, label: Overlap}, {key: d, label: Unclear}
            ]}]}]}"""
    scheme = actions.store_scheme(spec=load_scheme(source), source=source)
    study = actions.create_study(slug=slug, title="Crowd", scheme=scheme, by=None)
    sheet = actions.add_sheet(study=study, title="Items", columns={})
    column = sheet.columns.get()
    options = list(Option.objects.filter(question__section__scheme=scheme).select_related("question"))
    raters = Rater.objects.bulk_create(
        Rater(study=study, kind=Rater.Kind.PERSON, code=f"W{n}") for n in range(1, CROWD_RATERS + 1)
    )
    rows = Row.objects.bulk_create(Row(sheet=sheet, position=n, name=f"Item {n}") for n in range(CROWD_ITEMS))
    rng = np.random.default_rng(seed)
    assignments = Assignment.objects.bulk_create(
        Assignment(row=row, rater=raters[n])
        for row in rows
        for n in rng.choice(CROWD_RATERS, size=RATERS_AN_ITEM, replace=False).tolist()
    )
    truth = dict(zip((row.pk for row in rows), rng.integers(0, len(options), len(rows)).tolist(), strict=True))
    strays = rng.integers(0, 3 * len(options), len(assignments)).tolist()
    chosen = [
        options[stray if stray < len(options) else truth[assignment.row_id]]
        for assignment, stray in zip(assignments, strays, strict=True)
    ]
    Label.objects.bulk_create(
        Label(assignment=assignment, column=column, question=option.question, option=option)
        for assignment, option in zip(assignments, chosen, strict=True)
    )
    return study


def add_judges(study: Any, n: int = 2, *, seed: int = 1) -> None:
    """Judges that label every cell that a person did, with scores, and are wrong in a fifth of them."""
    from annotation.models import Assignment, Label, Option, Rater, Row

    rng = np.random.default_rng(seed)
    options: dict[int, list[Any]] = {}
    for option in Option.objects.filter(question__section__scheme=study.scheme_id).order_by("position"):
        options.setdefault(option.question_id, []).append(option)
    of_people = Label.objects.filter(assignment__rater__study=study, assignment__rater__kind="person")
    cells = {
        (row, column, question): option
        for row, column, question, option in of_people.values_list(
            "assignment__row_id", "column_id", "question_id", "option_id"
        )
    }
    for number in range(1, n + 1):
        judge = Rater.objects.create(study=study, kind=Rater.Kind.JUDGE, code=f"J{number}", simulated=True)
        rows = Row.objects.filter(sheet__study=study)
        work = {a.row_id: a for a in Assignment.objects.bulk_create(Assignment(rater=judge, row=r) for r in rows)}
        labels = []
        for (row, column, question), right in cells.items():
            logits = rng.normal(-4, 1, len(options[question]))
            logits[[option.pk for option in options[question]].index(right)] += rng.exponential(1.5 + number)
            scores = {
                option.key: {"logprob": float(value), "n_tokens": 2, "n_characters": 9, "unconditional": None}
                for option, value in zip(options[question], logits, strict=True)
            }
            stored = {"options": scores, "normalisation": "none"}
            best = options[question][int(logits.argmax())]
            labels.append(
                Label(assignment=work[row], column_id=column, question_id=question, option=best, scores=stored)
            )
        Label.objects.bulk_create(labels, batch_size=5000)


def of_paper(study: Any) -> dict[str, float]:
    from django.test import Client
    from django.test.utils import override_settings
    from django.urls import reverse

    from annotation.models import User
    from reports import queries
    from reports.data.arrays import Filters

    table = queries.label_table(study, Filters())
    n_people = sum(table.raters[table.assignments[a].rater].kind == "person" for a in table.labels[:, 0].tolist())
    print(f"\n{study.title}: {n_people:,} labels of people, {len(table.labels) - n_people:,} of judges with scores")
    read = timed(lambda: queries.label_table(study, Filters()))
    plain, drawn = timed(lambda: whole(table)), timed(lambda: whole(table, by="document"))
    print(f"  read from the database                      {read:6.2f} s")
    print(f"  the report without intervals                {plain:6.2f} s")
    print(f"  the report with 2,000 draws of documents    {drawn:6.2f} s")
    client = Client()
    client.force_login(User.objects.get_or_create(username="benchmark", is_superuser=True)[0])
    with override_settings(WHITENOISE_AUTOREFRESH=True):
        page = timed(lambda: client.get(reverse("reports:report", args=[study.slug])))
    print(f"  the page, all in all                        {page:6.2f} s")
    return {"paper": plain, "paper with intervals": drawn}


def against_scripts(study: Any) -> None:
    """The same coefficients as a researcher's script has them: library by library, pair by pair."""
    import krippendorff
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    from reports import queries
    from reports.data.arrays import Filters
    from reports.stats.agreement import alpha, macro_kappa
    from reports.stats.among import agreement_among
    from reports.stats.pairs import pair_tables

    [presence] = [q for q in queries.load(study, Filters()).questions if q.name == "ingredients.presence"]
    people = presence.people

    def masks(here: Any, *raters: int) -> list[Any]:
        return [here & (people.rater == rater) for rater in raters]

    def kappas() -> float:
        values = []
        for sheet in np.unique(people.sheet).tolist():
            here = people.sheet == sheet
            for a, b in combinations(np.unique(people.rater[here]).tolist(), 2):
                of_a = dict(
                    zip(people.cell[here & (people.rater == a)], people.code[here & (people.rater == a)], strict=True)
                )
                of_b = dict(
                    zip(people.cell[here & (people.rater == b)], people.code[here & (people.rater == b)], strict=True)
                )
                both = sorted(of_a.keys() & of_b.keys())
                values.append(cohen_kappa_score([of_a[c] for c in both], [of_b[c] for c in both]))
        return float(np.mean(values))

    def matrix() -> Any:
        cells, place = np.unique(people.cell, return_inverse=True)
        found = np.full((int(people.rater.max()) + 1, cells.size), np.nan)
        found[people.rater, place] = people.code
        return found

    def two_each() -> Any:
        whole_cells = people.value_counts()
        pairs = [np.repeat(np.arange(counts.size), counts) for counts in whole_cells[whole_cells.sum(axis=1) == 2]]
        return aggregate_raters(np.array(pairs), n_cat=people.n_options)[0]

    def by_krippendorff() -> object:
        return krippendorff.alpha(matrix(), level_of_measurement="nominal")

    lines: Sequence[tuple[str, Callable[[], object], Callable[[], object]]] = (
        ("κ of 60 recipe-pairs, macro (scikit-learn)", lambda: macro_kappa(pair_tables(people)), kappas),
        ("Krippendorff's α (krippendorff)", lambda: alpha(people), by_krippendorff),
        (
            "Fleiss' κ of cells with two (statsmodels)",
            lambda: agreement_among(people),
            lambda: fleiss_kappa(two_each()),
        ),
    )
    print("\nThe same by scripts, ingredients      here       script")
    for name, ours, script in lines:
        print(f"  {name:<44} {timed(ours):6.3f} s {timed(script):8.3f} s")


if __name__ == "__main__":
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.exit(main())
