from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from django.contrib import admin

        from accounts import signals

        signals.connect()
        # The administration has no door of its own: one would lead around the second factor.
        admin.site.login = signals.to_our_login  # type: ignore[method-assign]
