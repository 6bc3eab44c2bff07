from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from django.contrib import admin

        from accounts import signals
        from annotation import doors

        signals.connect()
        doors.register_documentation(
            "accounts",
            "security",
            {
                "owner": "deploy#watching",
                "owner-log": "security#the-audit-log",
                **dict.fromkeys(["my-data", "leave"], "security#personal-data"),
                "api-docs": "api",
            },
        )
        doors.register_documentation("", "security#logging-in")  # passwords, second factors, addresses, sessions
        # The administration has no door of its own: one would lead around the second factor.
        admin.site.login = signals.to_our_login  # type: ignore[method-assign]
