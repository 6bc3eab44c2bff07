"""How often the 95 % intervals of shares by documents hold the true share, where documents have many cells and few.

    python -m benchmarks.share_bounds [--studies 1000] [--json FILE]

Each document has a rate of its own (beta distribution with the given intracluster correlation); a line of the table is
the range over shares of 5, 20 and 50 % and correlations of 0, 0.1, 0.3 and 0.9, by each kind of bounds: how often they
hold the share, and how many times as wide they are as those of the first kind.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from reports.stats.answers import IntArray
from reports.stats.hiring.means import ShareBounds, clustered_mean

SHARES, CORRELATIONS = (0.05, 0.2, 0.5), (0.0, 0.1, 0.3, 0.9)
DOCUMENTS = ((5, 8), (10, 20), (30, 50))
KINDS = (ShareBounds.EVEN, ShareBounds.UNEQUAL, ShareBounds.LATEST)

Sizes = Callable[[np.random.Generator, int], IntArray]
DESIGNS: dict[str, Sizes] = {
    "4 to 12 cells": lambda rng, n: rng.integers(4, 13, n),
    "geometric, 8 in the mean": lambda rng, n: rng.geometric(1 / 8, n),
    "60 in one, 4 in each other": lambda _rng, n: np.array([60] + [4] * (n - 1)),
    "200 in one, 4 in each other": lambda _rng, n: np.array([200] + [4] * (n - 1)),
    "60, in each next 0.6 times as many": lambda _rng, n: np.maximum(1, np.round(60 * 0.6 ** np.arange(n))).astype(int),
}


def held(
    rng: np.random.Generator, sizes: Sizes, n: int, share: float, alike: float, studies: int
) -> list[tuple[float, float]]:
    """Of each kind of bounds: how often they hold the share, and how wide they are in the mean."""
    holds, wide = np.zeros(len(KINDS)), np.zeros(len(KINDS))
    for _study in range(studies):
        document = np.repeat(np.arange(n), sizes(rng, n))
        spread = 1 / alike - 1 if alike else np.inf
        rates = rng.beta(share * spread, (1 - share) * spread, n) if alike else np.full(n, share)
        values = rng.random(document.size) < rates[document]
        for place, kind in enumerate(KINDS):
            found = clustered_mean(values, document, bounds=kind)
            assert found.low is not None
            assert found.high is not None
            holds[place] += found.low <= share <= found.high
            wide[place] += found.high - found.low
    return list(zip((holds / studies).tolist(), (wide / studies).tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=1_000, help="of each share, correlation and number of documents")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    figures = []
    for (name, sizes), documents in itertools.product(DESIGNS.items(), DOCUMENTS):
        made = [
            held(rng, sizes, n, share, alike, options.studies)
            for n, share, alike in itertools.product(documents, SHARES, CORRELATIONS)
        ]
        line: dict[str, object] = {"cells": name, "documents": list(documents)}
        for place, kind in enumerate(KINDS):
            holds = [100 * one[place][0] for one in made]
            wider = [one[place][1] / one[0][1] for one in made]
            line[kind.name.lower()] = {"holds": [min(holds), max(holds)], "wider": [min(wider), max(wider)]}
        figures.append(line)
        print(json.dumps(line), flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
