"""The researcher's pages: the report as it stands, frozen ones, and downloads that take their time."""

from __future__ import annotations

from reports.views.downloads import DOWNLOADS, ask, download
from reports.views.frozen import (
    compare,
    freeze,
    frozen,
    frozen_answers,
    frozen_cells,
    frozen_figure,
    frozen_list,
    frozen_table,
    recompute,
)
from reports.views.live import cells, evidence, figure, labels_csv, labels_wide_csv, report_csv, report_xlsx
