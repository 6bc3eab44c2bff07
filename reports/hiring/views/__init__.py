"""The pages of hiring: the way, choosing, certifying, a certificate, its work, and the panels on other pages."""

from __future__ import annotations

from reports.hiring.views.certificates import (
    certificate,
    certificate_json,
    certify,
    outcome,
    recompute,
    revoke,
)
from reports.hiring.views.experiments import (
    end_suggestions,
    suggestions,
    suggestions_csv,
    suggestions_effects,
    suggestions_panel,
)
from reports.hiring.views.looks import counted
from reports.hiring.views.panels import board_panel, split_panel
from reports.hiring.views.way import choose, draw_split, way
from reports.hiring.views.work import give_back, take_over
