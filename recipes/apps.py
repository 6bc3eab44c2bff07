from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RecipesConfig(AppConfig):
    name = "recipes"

    def ready(self) -> None:
        from annotation import originals, tabs
        from annotation.models import Role
        from recipes import extracting
        from recipes.queries import stored_page

        tabs.register(
            position=20, label=_("Documents"), url_name="recipes:documents", roles={Role.MANAGER, Role.RESEARCHER}
        )
        extracting.register()
        originals.register(stored_page)
