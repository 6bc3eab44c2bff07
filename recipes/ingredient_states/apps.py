from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from recipes import packs


class IngredientStates(packs.Pack):
    name = "recipes.ingredient_states"

    def register(self) -> None:
        from annotation import doors
        from annotation.models import Role
        from annotation.queries import setup
        from judges import doors as judging
        from recipes.cooking import rows
        from recipes.ingredient_states import demo_study, exchange
        from recipes.ingredient_states.probing import derivers, registering
        from recipes.ingredient_states.queries import SCHEME, picture_address, picture_of, place_of

        registering.register()
        exchange.register()
        rows.register_other_rows(SCHEME, *derivers.FORMS)
        probing = ["probing", "probing-instances"]
        doors.register_documentation("ingredient_states", "states", dict.fromkeys(probing, "probing"))
        doors.register_tab(
            position=24,
            label=_("Graphs"),
            url_name="ingredient_states:graphs",
            roles={Role.MANAGER, Role.RESEARCHER},
            fits=lambda study: place_of(study.scheme.parsed) is not None,
        )
        doors.register_setup_step(
            doors.SetupStep(
                position=5,
                label=_("Graphs"),
                words=_(
                    "Bring in the recipes, as saved web pages or as JSON; graphs come with them where there are any."
                ),
                url_name="ingredient_states:graphs",
                is_done=setup.has_rows,
                fits=lambda study: place_of(study.scheme.parsed) is not None,
            )
        )
        doors.register_picture_finder(
            lambda row: reverse("ingredient_states:picture", args=[row.pk]) if picture_of(row) else None
        )
        judging.register_picture_reader(picture_address)
        doors.register_demo(demo_study.DEMO)
