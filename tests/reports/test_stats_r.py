"""Kappas against R's package psy, where R and the package are installed (Debian: r-base-core, r-cran-psy)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from reports.stats.among import agreement_among
from reports.stats.answers import MISSING
from tests.reports.matrices import answers_of

# Kappa, linear and quadratic kappa of the first two raters, and Light's kappa of all, one number a line.
SCRIPT = """
suppressMessages(library(psy))
options(digits = 15)
ratings <- as.matrix(read.csv(commandArgs(trailingOnly = TRUE)[1], header = FALSE))
two <- ratings[, 1:2]
write(c(
  ckappa(two)$kappa, wkappa(two, weights = "absolute")$kappa, wkappa(two, weights = "squared")$kappa,
  lkappa(ratings, type = "Cohen")
), stdout(), ncolumns = 1)
"""


@pytest.mark.parametrize("seed", range(2))
def test_kappas_equal_r(seed: int, tmp_path: Path) -> None:
    rscript = shutil.which("Rscript")
    if rscript is None or subprocess.run([rscript, "-e", "library(psy)"], capture_output=True).returncode:
        pytest.skip("R with the package psy is not installed")
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 60)
    codes = np.where(rng.random((3, 60)) < 0.4, rng.integers(0, 4, (3, 60)), truth)
    codes = np.where(rng.random(codes.shape) < 0.2, MISSING, codes)
    table = tmp_path / "ratings.csv"
    table.write_text("\n".join(",".join("NA" if c == MISSING else str(c + 1) for c in cell) for cell in codes.T))
    script = tmp_path / "kappas.R"
    script.write_text(SCRIPT)

    said = subprocess.run([rscript, str(script), str(table)], capture_output=True, text=True, check=True).stdout
    plain, linear, quadratic, light = (float(line) for line in said.split())

    found = agreement_among(answers_of(codes, n_options=4), level="ordinal")
    first = found.pairs[0]
    assert (first.cohen, first.cohen_linear, first.cohen_quadratic) == pytest.approx(
        (plain, linear, quadratic), rel=1e-9
    )
    assert found.cohen.value == pytest.approx(light, rel=1e-9)
