from __future__ import annotations

from django.urls import path, register_converter

from reports.hiring import views


class CertificateName:
    """The first letters of a certificate's digest."""

    regex = "[0-9a-f]{12}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(CertificateName, "certificate")

_CERTIFICATE = "studies/<slug:slug>/hiring/certificates/<certificate:name>"

urlpatterns = [
    path("studies/<slug:slug>/hiring/", views.way, name="hiring"),
    path("studies/<slug:slug>/hiring/board/", views.board_panel, name="hiring-board"),
    path("studies/<slug:slug>/hiring/parts/", views.split_panel, name="hiring-split"),
    path("studies/<slug:slug>/hiring/split/", views.draw_split, name="draw-split"),
    path("studies/<slug:slug>/hiring/choose/", views.choose, name="choose-judge"),
    path("studies/<slug:slug>/hiring/choose.csv", views.choose, {"form": "csv"}, name="choose-judge-csv"),
    path("studies/<slug:slug>/hiring/suggestions/", views.suggestions, name="suggestions"),
    path("studies/<slug:slug>/hiring/suggestions/panel/", views.suggestions_panel, name="suggestions-panel"),
    path("studies/<slug:slug>/hiring/suggestions/effects/", views.suggestions_effects, name="suggestions-effects"),
    path("studies/<slug:slug>/hiring/suggestions/<int:pk>.csv", views.suggestions_csv, name="suggestions-csv"),
    path("studies/<slug:slug>/hiring/suggestions/<int:pk>/end/", views.end_suggestions, name="end-suggestions"),
    path("studies/<slug:slug>/hiring/certify/", views.certify, name="certify"),
    path("studies/<slug:slug>/hiring/tests/<int:pk>/", views.outcome, name="test-outcome"),
    path(f"{_CERTIFICATE}/", views.certificate, name="certificate"),
    path(f"{_CERTIFICATE}.json", views.certificate_json, name="certificate-json"),
    path(f"{_CERTIFICATE}/recompute/", views.recompute, name="recompute-certificate"),
    path(f"{_CERTIFICATE}/revoke/", views.revoke, name="revoke-certificate"),
    path(f"{_CERTIFICATE}/work/", views.take_over, name="take-over"),
    path(f"{_CERTIFICATE}/give-back/", views.give_back, name="give-back"),
]
