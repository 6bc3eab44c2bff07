from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from recipes import packs


class Cooking(packs.Pack):
    name = "recipes.cooking"
    # Of its tables, addresses and permissions: the pack was the whole floor once.
    label = "recipes"

    def register(self) -> None:
        from annotation import doors
        from annotation.models import Role
        from annotation.queries import setup
        from recipes.cooking import actions, exchange, extracting, retrieval_queries, rows, vocabulary
        from recipes.cooking.queries import readers_of, recipe_text, stored_page
        from recipes.cooking.taking_apart import parsers
        from reports import doors as report_doors
        from work import kinds

        searching = ["searches", "new-search", "search-items", "record-results", "hits", "retrieval"]
        doors.register_documentation("recipes", "reading", dict.fromkeys(searching, "retrieving"))
        doors.register_tab(
            position=20,
            label=_("Documents"),
            url_name="recipes:documents",
            roles={Role.MANAGER, Role.RESEARCHER},
            fits=rows.are_pages,
        )
        doors.register_tab(
            position=22,
            label=_("Search"),
            url_name="recipes:searches",
            roles={Role.MANAGER, Role.RESEARCHER},
            fits=rows.are_pages,
        )
        doors.register_way_in(
            doors.WayIn(
                words=_("Web pages of recipes are searched for, fetched and read elsewhere:"),
                ways=[(_("Documents"), "recipes:documents"), (_("Search"), "recipes:searches")],
                fits=rows.may_be_pages,
            )
        )
        doors.register_setup_step(
            doors.SetupStep(
                position=5,
                label=_("Documents"),
                words=_("Add a recipe with its ingredients and tasks, and the web pages that it is looked for in."),
                url_name="recipes:documents",
                is_done=setup.has_rows,
                fits=actions.takes_recipes,
            )
        )
        report_doors.register_item_action(
            label=_("Search for these again"), url_name="recipes:search-items", roles={Role.MANAGER}
        )
        report_doors.register_evidence_reader(readers_of)
        doors.register_rows_apart(retrieval_queries.rows_searched_for)
        doors.register_page_finder(stored_page)
        doors.register_sheet_text(doors.SheetText(label=_("Recipe"), find=recipe_text))
        kinds.register(actions.VISITING)
        exchange.register()
        extracting.register()
        parsers.register()
        vocabulary.register()
