"""What a certificate, an alarm and a powered share are worth, on made studies whose truth is known.

    python -m benchmarks.hiring [--studies 1000] [--crowd FILE] [--json FILE]

Prints how often a judge whose error is a hair above 5 % is certified (10 % is what is promised), by correlation and
number of documents; the same where errors come together as the default bound does not expect, which only the exact one
promises to bear; of the whole way, threshold and all; what planned documents reach; how often a drifting
judge is caught and a steady one accused; and how often powered intervals hold the share. With `--crowd` a file of crowd
labels (item, worker, response, gold; items of one text are named TEXT_NUMBER) gives workers to be hired as judges, and
the consensus of all by three rules. Exits with 1 where a promise is not kept.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reports.stats.abilities import abilities
from reports.stats.alternative import alternative_annotator_test
from reports.stats.answers import Answers
from reports.stats.consensus import dawid_skene, majority_vote
from reports.stats.hiring.betting import chosen_stake, upper_bound
from reports.stats.hiring.certificate import binomial_bound, certify, design_bound
from reports.stats.hiring.clusters import Judged, Totals, design_effect, totals
from reports.stats.hiring.planning import documents_needed
from reports.stats.hiring.shares import powered_share
from reports.stats.hiring.supervision import first_alarm

EPSILON, DELTA = 0.05, 0.1
CELLS, UNEQUAL = 10, 80
DEVELOPMENT = 60
# Three standard deviations of a share of 10 % in 1,000 studies are 2.8 %; a promise is broken beyond them.
ALLOWED = 0.128
Figures = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=1_000)
    parser.add_argument("--crowd", type=Path, help="a file of crowd labels with gold")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    started = time.process_time()
    figures: Figures = {
        "false": false_certificates(args.studies),
        "unlike": unlike(args.studies),
        "way": whole_way(args.studies),
        "planned": planned(args.studies),
        "audits": audits(args.studies),
        "shares": shares(args.studies),
    }
    if args.crowd:
        figures["crowd"] = crowd(args.crowd, max(args.studies // 5, 1))
    print(f"\n{time.process_time() - started:.0f} s of CPU")
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    broken = [row for row in figures["false"] if max(row["design"], row["betting"]) > ALLOWED]
    broken += [row for row in figures["unlike"] if row["betting"] > ALLOWED]
    broken += [row for row in figures["way"] if row["false"] > ALLOWED]
    broken += [row for row in figures["audits"] if row["error"].startswith("steady") and row["alarm"] > ALLOWED]
    for row in broken:
        print("not kept:", row)
    return 1 if broken else 0


def rates(rng: np.random.Generator, n: int, error: float, icc: float) -> np.ndarray:
    """The error rate of each document; an icc of 1 makes documents wholly right or wholly wrong."""
    if icc >= 1:
        return (rng.random(n) < error).astype(np.float64)
    return rng.beta(error * (1 - icc) / icc, (1 - error) * (1 - icc) / icc, n)


def counted(rng: np.random.Generator, n: int, error: float, icc: float) -> Totals:
    """n documents of which each has 4 to 10 accepted cells."""
    accepted = rng.integers(4, CELLS + 1, n)
    wrong = rng.binomial(accepted, rates(rng, n, error, icc))
    return Totals(wrong.astype(np.float64), accepted.astype(np.float64))


def scored(rng: np.random.Generator, n: int, error: float, icc: float, sure: float, start: int = 0) -> Judged:
    """Documents of 7 to 13 cells with scores that are lower by `sure` standard deviations where the judge is wrong."""
    cluster = np.repeat(np.arange(n), rng.integers(CELLS - 3, CELLS + 4, n))
    wrong = rng.random(cluster.size) < rates(rng, n, error, icc)[cluster]
    score = rng.normal(size=cluster.size) - sure * wrong + 0.5 * rng.normal(size=n)[cluster]
    return Judged.of(wrong, score, cluster + start)


BOUNDS: dict[str, Callable[[Totals, Totals, int], float]] = {
    "design": lambda before, test, _: design_bound(test, DELTA, effect=design_effect(before)),
    "betting": lambda before, test, most: upper_bound(
        test, delta=DELTA, most=most, stake=chosen_stake(before, EPSILON, most=most)
    ),
    "binomial": lambda _, test, __: binomial_bound(float(test.wrong.sum()), float(test.accepted.sum()), DELTA),
}


def false_certificates(n_studies: int) -> list[Figures]:
    print("\ncertified although the error is 5.01 %, one threshold")
    rng, rows = np.random.default_rng(0), []
    for icc in (0.05, 0.2, 0.5, 1.0):
        for n in (20, 60, 200):
            hits = dict.fromkeys(BOUNDS, 0)
            for _ in range(n_studies):
                before, test = counted(rng, DEVELOPMENT, 0.0501, icc), counted(rng, n, 0.0501, icc)
                for name, bound in BOUNDS.items():
                    hits[name] += bound(before, test, CELLS) <= EPSILON
            rows.append({"icc": icc, "documents": n, **{name: count / n_studies for name, count in hits.items()}})
    return table(rows)


def unlike(n_studies: int) -> list[Figures]:
    """A part of the documents is wrong throughout, the other errors are spread evenly; documents are of unequal size;
    or the judge is, of five that are alike, the one with the fewest errors on the development documents."""
    print("\nthe same where a part of the documents is wrong throughout and other errors are independent")
    rng, rows = np.random.default_rng(5), []
    for most in (CELLS, UNEQUAL):
        for bad in (0.0, 0.01, 0.03):
            for n_before, n in ((20, 20), (60, 60), (60, 200)):
                names = (*BOUNDS, "design, best of five")
                hits = dict.fromkeys(names, 0)
                for _ in range(n_studies):
                    before = [throughout(rng, n_before, bad, most) for _judge in range(5)]
                    test = throughout(rng, n, bad, most)
                    best = min(before, key=lambda counts: counts.error or 0.0)
                    found = {name: bound(before[0], test, most) for name, bound in BOUNDS.items()}
                    for name, bound in zip(names, (*found.values(), BOUNDS["design"](best, test, most)), strict=True):
                        hits[name] += bound <= EPSILON
                shares_of = {name: count / n_studies for name, count in hits.items()}
                rows.append({"cells": f"1 to {most}", "bad": bad, "development": n_before, "test": n, **shares_of})
    return table(rows)


def throughout(rng: np.random.Generator, n: int, bad: float, most: int) -> Totals:
    """Documents with an error of 5.01 % over cells; their sizes are even up to ten cells, or of a long tail."""
    even = rng.integers(1, most + 1, n)
    size = even if most == CELLS else np.clip(rng.lognormal(np.log(6), 1, n).astype(int), 1, most)
    rate = np.where(rng.random(n) < bad, 1.0, (0.0501 - bad) / (1 - bad))
    return Totals(rng.binomial(size, rate).astype(np.float64), size.astype(np.float64))


def whole_way(n_studies: int) -> list[Figures]:
    """Threshold on 60 development documents, up to five on 150 for the test; the truth from 20,000 others."""
    print("\nthe whole way: certified, and of all studies certified although the threshold's error is above 5 %")
    rng, rows = np.random.default_rng(1), []
    for error, sure in ((0.15, 2.0), (0.1, 1.0), (0.0501, 0.0), (0.06, 0.3)):
        others = scored(rng, 20_000, error, 0.2, sure)
        for method in ("design", "betting"):
            held, wrong, coverage = 0, 0, 0.0
            for _ in range(n_studies):
                found = certify(
                    scored(rng, DEVELOPMENT, error, 0.2, sure),
                    scored(rng, 150, error, 0.2, sure, DEVELOPMENT),
                    method=method,
                    most=CELLS + 3,
                )
                if found.holds and found.threshold is not None:
                    held += 1
                    coverage += found.coverage
                    wrong += (totals(others, found.threshold).error or 0) > EPSILON
            rows.append(
                {
                    "error": error,
                    "sure": sure,
                    "method": method,
                    "certified": held / n_studies,
                    "coverage": coverage / max(held, 1),
                    "false": wrong / n_studies,
                }
            )
    return table(rows)


def planned(n_studies: int) -> list[Figures]:
    print("\ndocuments of ten cells to certify at 5 % with a power of 80 %, and what they reach")
    rng, rows = np.random.default_rng(2), []
    for error in (0.01, 0.02, 0.03):
        for icc in (0.05, 0.2):
            row: Figures = {"error": error, "icc": icc}
            for method in ("design", "betting"):
                n = documents_needed(error=error, cells=CELLS, icc=icc, method=method).n_documents
                row[method] = n
                if n is not None:
                    row[f"{method} reaches"] = (
                        sum(
                            BOUNDS[method](_full(rng, DEVELOPMENT, error, icc), _full(rng, n, error, icc), CELLS)
                            <= EPSILON
                            for _ in range(n_studies)
                        )
                        / n_studies
                    )
            rows.append(row)
    return table(rows)


def _full(rng: np.random.Generator, n: int, error: float, icc: float) -> Totals:
    return Totals(rng.binomial(CELLS, rates(rng, n, error, icc)).astype(np.float64), np.full(n, float(CELLS)))


def audits(n_studies: int) -> list[Figures]:
    print("\n300 documents with three audited cells each, correlation 0.2: alarm ever, and documents until then")
    rng, rows = np.random.default_rng(3), []
    courses = {
        "steady 0.05": np.full(300, 0.05),
        "steady 0.03": np.full(300, 0.03),
        "0.02, after 100 0.10": np.repeat([0.02, 0.1], [100, 200]),
        "0.02, after 100 0.15": np.repeat([0.02, 0.15], [100, 200]),
        "0.10 from the start": np.full(300, 0.1),
        "0.15 from the start": np.full(300, 0.15),
    }
    for name, errors in courses.items():
        told = []
        for _ in range(n_studies):
            rate = np.array([rates(rng, 1, error, 0.2)[0] for error in errors])
            cluster = np.repeat(np.arange(300), 3)
            told.append(first_alarm(rng.random(900) < rate[cluster], cluster, most=3))
        alarms = [at for at in told if at is not None]
        change = 100 if "after" in name else 0
        median = float(np.median([at - change for at in alarms])) if alarms else None
        rows.append({"error": name, "alarm": len(alarms) / n_studies, "documents": median})
    return table(rows)


def shares(n_studies: int) -> list[Figures]:
    print("\n95 % intervals of a share, 8 cells a document, a judge right in about 0.9 of cells: they hold it in")
    rng, rows = np.random.default_rng(4), []
    for share, (n, n_labelled) in itertools.product((3 / 7, 0.05, 0.01), ((60, 10), (60, 20), (200, 40))):
        held = dict.fromkeys(("powered", "classical", "strata", "judge alone"), 0)
        worth = []
        for _ in range(n_studies):
            cluster = np.repeat(np.arange(n), 8)
            truth = rng.random(cluster.size) < rng.beta(7 * share, 7 * (1 - share), n)[cluster]
            of_judge = rng.random(cluster.size) < rng.beta(8, 2, n)[cluster]
            judge = np.where(of_judge, truth, rng.random(cluster.size) < (0.8 if share > 0.1 else 0.1))
            one = powered_share(truth, judge, cluster < n_labelled, cluster)
            accepted = rng.random(cluster.size) < np.where(truth == judge, 0.8, 0.3)
            known = ~accepted | (rng.random(cluster.size) < n_labelled / n)
            two = powered_share(truth, judge, known, cluster, stratum=accepted)
            alone = powered_share(judge, judge, np.ones(cluster.size), cluster).classical
            estimates = (one.powered, one.classical, two.powered, alone)
            for name, estimate in zip(held, estimates, strict=True):
                held[name] += (estimate.low or 0) <= share <= (1 if estimate.high is None else estimate.high)
            worth.append(one.worth or 1.0)
        rows.append(
            {
                "share": share,
                "documents": n,
                "labelled": n_labelled,
                **{name: count / n_studies for name, count in held.items()},
                "worth": float(np.median(worth)),
            }
        )
    return table(rows)


def crowd(file: Path, n_splits: int) -> Figures:
    """Workers as judges, on texts as clusters: at most 10 % wrong by the gold, half of the texts for development."""
    with file.open(newline="", encoding="utf-8") as lines:
        entries = list(csv.DictReader(lines, delimiter="\t"))
    items = {name: number for number, name in enumerate(sorted({entry["orig_id"] for entry in entries}))}
    texts = {name: number for number, name in enumerate(sorted({name.split("_")[0] for name in items}))}
    workers = {name: number for number, name in enumerate(sorted({entry["!amt_worker_ids"] for entry in entries}))}
    codes = {name: number for number, name in enumerate(sorted({entry["response"] for entry in entries}))}
    text = np.array([texts[name.split("_")[0]] for name in items])
    gold = np.zeros(len(items), dtype=np.int64)
    for entry in entries:
        gold[items[entry["orig_id"]]] = codes[entry["gold"]]
    cell = np.array([items[entry["orig_id"]] for entry in entries])
    rater = np.array([workers[entry["!amt_worker_ids"]] for entry in entries])
    code = np.array([codes[entry["response"]] for entry in entries])

    def of(chosen: np.ndarray) -> Answers:
        return Answers.from_long(
            rater=rater[chosen], cell=cell[chosen], sheet=np.zeros(chosen.sum(), dtype=int),
            document=text[cell[chosen]], code=code[chosen], n_options=len(codes),
        )  # fmt: skip

    everyone = of(np.ones(cell.size, dtype=bool))
    print(f"\n{len(entries)} answers of {len(workers)} workers to {len(items)} items of {len(texts)} texts")
    consensus = table(
        [
            {"rule": name, "right": float((made.code == gold).mean())}
            for name, made in (
                ("majority", majority_vote(everyone, ties="drawn")),
                ("Dawid and Skene", dawid_skene(rater=rater, cell=cell, code=code, n_options=len(codes))),
                ("abilities", abilities(everyone)),
                ("abilities, ease by text", abilities(everyone, by="document")),
            )
        ]
    )
    print("\none worker as the judge to be hired: at most 10 % wrong, by texts; share of splits that certify")
    rows = []
    answered = np.bincount(rater)
    for worker in np.argsort(-answered)[:10].tolist():
        mine = rater == worker
        wrong = code[mine] != gold[cell[mine]]
        judged = Judged.of(wrong, np.ones(wrong.size), text[cell[mine]])
        hits = {"design": 0, "betting": 0, "binomial": 0}
        for seed in range(n_splits):
            mixed = np.random.default_rng(seed).permutation(np.unique(judged.cluster))
            in_test = np.isin(judged.cluster, mixed[: round(mixed.size / 2)])
            development, test = judged.only(~in_test), judged.only(in_test)
            found = certify(development, test, epsilon=0.1)
            for name in hits:
                hits[name] += found.threshold is not None and getattr(found, name) <= 0.1
        apart = [alternative_annotator_test(of(~mine), of(mine), epsilon=0.1, by=by) for by in (None, "document")]
        rows.append(
            {
                "items": int(mine.sum()),
                "error": float(wrong.mean()),
                **{name: count / n_splits for name, count in hits.items()},
                "omega": apart[0].winning_rate,
                "omega by text": apart[1].winning_rate,
            }
        )
    return {"consensus": consensus, "workers": table(rows)}


def table(rows: Sequence[Figures]) -> list[Figures]:
    def text(value: object) -> str:
        return "–" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)

    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "---|" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(text(value) for value in row.values()) + " |", flush=True)
    return list(rows)


if __name__ == "__main__":
    raise SystemExit(main())
