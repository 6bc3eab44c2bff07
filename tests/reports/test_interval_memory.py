"""Every interval of the report and of hiring works in bounded memory: at 20,000 labels here, at a million in
`benchmarks.intervals`."""

from __future__ import annotations

import tracemalloc

import pytest

from benchmarks.intervals import Made, kinds

N_LABELS, N_RATERS = 20_000, 120
# One dense table of the sums of documents x pairs of raters would be 196 MiB more with ten people a cell.
MOST_MIB = 200

MADE = {people: Made(N_LABELS, N_RATERS, people) for people in (2, 10)}
KINDS = {people: kinds(made) for people, made in MADE.items()}


@pytest.mark.parametrize("people", [2, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", list(KINDS[2]))
@pytest.mark.sample(6)
def test_an_interval_takes_little_memory(name: str, people: int) -> None:
    tracemalloc.start()
    try:
        KINDS[people][name]()
        _left, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak / 2**20 < MOST_MIB
