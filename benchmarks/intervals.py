"""What every interval takes at a million labels: seconds, and memory over that of the labels.

    python -m benchmarks.intervals [--labels 1000000] [--raters 500] [--people 2] [--only NAME] [--json FILE]

Labels are made in memory: documents of five cells in sheets of 20, each labelled by `--people` of the raters, two
judges of all cells. Each interval runs in a process of its own. "not computed" is what the report says then.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from reports.stats import comparison, estimates, intervals, numeric, values
from reports.stats.alternative import alternative_annotator_test
from reports.stats.answers import Answers
from reports.stats.bootstrap import TOO_MANY_COMPARISONS, By
from reports.stats.classification import classification_intervals
from reports.stats.hiring.arms import flips
from reports.stats.hiring.certificate import certify
from reports.stats.hiring.clusters import Judged
from reports.stats.hiring.exposure import exposure
from reports.stats.hiring.shares import powered_share
from reports.stats.hiring.supervision import watch

OPTIONS, CELLS, SHEET = 4, 5, 20  # cells of a document, documents of a sheet
# What one interval may take beyond the labels.
MOST_MIB = 2_000
LIMIT = 8 * 2**30  # of address space: what takes more ends by itself


class Made:
    """People's labels, two judges', and what hiring reads of one of them. people: answers; judges: of two judges on all
    cells; wrong, score: shape (n_cells,); document: of each cell."""

    def __init__(self, n_labels: int, n_raters: int, n_people: int, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        n_cells = n_labels // n_people
        cell = np.arange(n_cells)
        self.document = cell // CELLS
        sheet = self.document // SHEET
        truth = rng.integers(OPTIONS, size=n_cells)

        def says(right: float, n: int = 1) -> Any:
            said = np.where(rng.random((n, n_cells)) < right, truth, rng.integers(OPTIONS, size=(n, n_cells)))
            return said if n > 1 else said[0]

        # The people of a document are some that stand together, so that each cell has n different ones.
        first = rng.integers(n_raters, size=int(self.document[-1]) + 1)[self.document]
        rater = (first + np.arange(n_people)[:, np.newaxis]) % n_raters
        self.people = Answers.from_long(
            rater=rater.ravel(),
            cell=np.tile(cell, n_people),
            sheet=np.tile(sheet, n_people),
            document=np.tile(self.document, n_people),
            code=says(0.8, n_people).ravel(),
            n_options=OPTIONS,
        )
        chosen = [says(0.7), says(0.6)]
        self.judges = [
            Answers.from_long(
                rater=np.zeros(n_cells), cell=cell, sheet=sheet, document=self.document, code=code, n_options=OPTIONS
            )
            for code in chosen
        ]
        self.codes = np.stack([*chosen, says(0.7)])
        self.wrong = (chosen[0] != truth).astype(np.float64)
        self.score = np.clip(rng.random(n_cells) - 0.3 * self.wrong, 0, 1)
        self.rater = first


def kinds(made: Made) -> dict[str, Callable[[], object]]:
    people, (judge, other) = made.people, made.judges
    numbers = np.arange(OPTIONS, dtype=np.float64)
    test = made.document % 2 == 1

    def judged(some: Any) -> Judged:
        return Judged.of(made.wrong[some], made.score[some], made.document[some])

    found: dict[str, Callable[[], object]] = {}
    sides: tuple[By, ...] = ("document", "sheet")
    for by in sides:
        found |= {
            f"coefficients of all raters, by {by}": partial(intervals.agreement_intervals, people, by=by),
            f"κ and A_h, macro, by {by}": partial(intervals.macro_intervals, people, by=by),
            f"A_m, by {by}": partial(intervals.judge_accuracy_interval, people, judge, by=by),
            f"F1 and κ of a judge, by {by}": partial(classification_intervals, people, judge, by=by),
            f"two judges, by {by}": partial(comparison.compare_judges, people, judge, other, by=by),
            f"equal values, by {by}": partial(values.exact_intervals, people, by=by),
            f"numbers, by {by}": partial(numeric.numeric_intervals, people, numbers, by=by),
            f"numbers of a judge, by {by}": partial(
                numeric.numeric_difference_intervals, people, numeric.number_pairs(people, judge, numbers), by=by
            ),
        }
    return found | {
        "κ of each sheet": lambda: intervals.sheet_kappa_intervals(people),
        "Alternative Annotator Test": lambda: alternative_annotator_test(people, judge, by="document"),
        "shares (PPI++)": lambda: estimates.option_shares(people, judge),
        "certificate": lambda: certify(judged(~test), judged(test), epsilon=0.2, delta=0.1),
        "supervision": lambda: watch(made.wrong, made.document, most=CELLS, epsilon=0.5, delta=0.1),
        "powered share": lambda: powered_share(made.wrong, made.score, made.document % 50 == 0, made.document),
        "exposure": lambda: exposure(
            made.codes[0], made.codes[1], made.document % 2 == 0, made.rater, made.document, right=made.codes[2]
        ),
        "flip rates of three arms": lambda: flips(made.codes, made.document),
    }


def told(found: object) -> str:
    """ "not computed" where the answer says so of something."""
    return "not computed" if TOO_MANY_COMPARISONS in repr(found)[:100_000] else ""


def _measured(run: Callable[[], object], out: Any) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    try:
        said = told(run())
    except MemoryError:
        said = "out of memory"
    seconds = time.process_time() - started
    out.send((seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, said))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=int, default=1_000_000)
    parser.add_argument("--raters", type=int, default=500)
    parser.add_argument("--people", type=int, default=2, help="who label each cell")
    parser.add_argument("--only", default="", help="those whose name has this")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    made = Made(args.labels, args.raters, args.people)
    n_labels, n_documents = made.people.cell.size, made.document[-1] + 1
    print(f"{n_labels:,} labels of {args.raters} raters, {args.people} a cell: {n_documents:,} documents\n")
    print("| interval | seconds | MiB | |\n|---|---|---|---|")
    figures, broken = {}, False
    context = multiprocessing.get_context("fork")
    for name, run in kinds(made).items():
        if args.only not in name:
            continue
        ours, theirs = context.Pipe()
        child = context.Process(target=_measured, args=(run, theirs))
        child.start()
        theirs.close()
        try:
            seconds, mebibytes, said = ours.recv()
        except EOFError:
            seconds, mebibytes, said = float("nan"), float("nan"), "killed, or it failed"
        child.join()
        figures[name] = [seconds, mebibytes, said]
        broken |= not mebibytes <= MOST_MIB
        print(f"| {name} | {seconds:.1f} | {mebibytes:.0f} | {said} |", flush=True)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1, ensure_ascii=False))
    return int(broken)


if __name__ == "__main__":
    raise SystemExit(main())
