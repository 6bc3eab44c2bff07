"""A domain pack is added by adding a folder: one is written here, outside the repository, and labelled with.

It runs in a process of its own, as an installation would with PALATE_PACKS; nothing of Palate is changed for it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

PACK = {
    "__init__.py": "",
    "apps.py": """
from recipes import packs


class Contracts(packs.Pack):
    name = "recipes.contracts"

    def register(self):
        from annotation import doors
        from annotation.deriving.making import Deriver
        from annotation.evidence.kinds import BlockKind, Shown
        from annotation.models import Role
        from judges import doors as judge_doors
        from judges.methods.lexicons import Lexicon
        from recipes.contracts import making
        from reports import doors as report_doors

        doors.register_block_kinds(BlockKind("clause", "clause", Shown.NUMBERED))
        doors.register_tab(position=70, label="Contracts", url_name="contracts:page", roles=set(Role))
        doors.register_deriver(
            Deriver("every-row", "Every row again", "", lambda source, scheme, settings: making.again(source))
        )
        judge_doors.register_lexicon(Lexicon("contracts", {"english": "tenant party"}))
        report_doors.register_part(schemes={"clauses"}, tables=making.tables)
""",
    "making.py": """
from annotation.deriving.making import MadeRow, MadeSheet
from reports.tables.base import Head, ReportTable


def again(source):
    for sheet in source.sheets:
        rows = [MadeRow(row.name, evidence=row.evidence, answers=row.answers, of=row.number) for row in sheet.rows]
        yield MadeSheet(sheet.title, rows=rows)


def tables(report, question):
    heads = (Head("what", "What"), Head("n", "Cells", "count"))
    yield ReportTable(f"{question.data.name}.contracts", "", "Of contracts", heads, (("Labels", report.data.n_labels),))
""",
    "urls.py": """
from django.http import HttpResponse
from django.urls import path

app_name = "contracts"
urlpatterns = [path("studies/<slug:slug>/contracts/", lambda request, slug: HttpResponse("contracts"), name="page")]
""",
    "schemes/clauses.yaml": """
key: clauses
version: 1
title: Clauses
words: {sheet: contract, sheets: contracts, row: page, rows: pages}
sections:
  - key: duties
    title: Duties
    column: {title: Duty, facets: [duty]}
    evidence: [clause]
    questions:
      - key: stated
        title: Is it stated?
        about: duty
        options:
          - {key: stated, label: Stated}
          - {key: implied, label: Implied}
          - {key: absent, label: Not stated, sign: "–"}
""",
    "prompts/clauses-lexical.yaml": """
lexicon: contracts
questions:
  duties.stated:
    lexical: {in: [clause], same: stated, part: implied, none: absent}
""",
    "management/__init__.py": "",
    "management/commands/__init__.py": "",
    "management/commands/try_contracts.py": """
import json
import uuid

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from annotation import actions, doors
from annotation.actions import Answer
from annotation.deriving import queries
from annotation.deriving.actions import derive_study
from annotation.evidence.blocks import Block
from annotation.models import Label, Option, Rater, Role, Row, User
from annotation.scheme.spec import load_scheme
from judges import actions as judging
from judges import doors as judge_doors
from judges.models import Judge
from reports import queries as reports
from reports.contents import contents_of
from reports.data.arrays import Filters
from reports.numbers.report import compute


class Command(BaseCommand):
    def handle(self, **options):
        call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)
        call_command("migrate", verbosity=0)
        source = doors.shipped_schemes()["clauses"].read_text()
        scheme = actions.store_scheme(spec=load_scheme(source), source=source)
        mara = User.objects.create_user("mara", password="mara")
        study = actions.create_study(slug="leases", title="Leases", scheme=scheme, by=mara)
        sheet = actions.add_sheet(study=study, title="Lease", columns={"duties": [{"duty": "pay rent"}]})
        blocks = [Block("heading", "Lease"), Block("clause", "The tenant shall pay rent."), Block("clause", "End.")]
        row = actions.add_row(sheet=sheet, name="Page 1", evidence=blocks)

        # a person
        anna = User.objects.create_user("anna", password="anna")
        actions.add_member(study=study, user=anna, role=Role.ANNOTATOR)
        rater = study.raters.get(user=anna)
        (assignment,) = actions.assign(rater=rater, rows=[row])
        column = sheet.columns.get()
        option = Option.objects.get(key="stated")
        actions.record(
            assignment=assignment, answers=[Answer(column, option.question, option)], key=uuid.uuid4()
        )
        actions.submit(assignment=assignment)

        # a judge with the pack's prompt and the pack's words
        prompt = judge_doors.shipped_prompts()["clauses-lexical"]
        judging.create_judge(
            name="lexical",
            method=Judge.Method.LEXICAL,
            prompt=judging.store_prompt(name=prompt.stem, text=prompt.read_text()),
        )
        call_command("judge", "leases", "lexical", stdout=self.stderr)
        judged = Label.objects.get(assignment__rater__kind=Rater.Kind.JUDGE)

        # the pack's page, how its blocks are shown, its table in the report, its deriver
        client = Client()
        client.force_login(mara)
        page = client.get(reverse("annotation:study", args=["leases"])).content.decode()
        contents = contents_of(compute(reports.load(study, Filters()), Filters()))
        shown = render_to_string("annotation/_blocks.html", {"blocks": row.blocks, "declared": []})
        made = derive_study(source=study, deriver="every-row", scheme=scheme, slug="again", title="Again", by=mara)
        self.stdout.write(json.dumps({
            "tab": reverse("contracts:page", args=["leases"]) in page,
            "answered": client.get(reverse("contracts:page", args=["leases"])).content.decode(),
            "judged": judged.option.key,
            "numbered": "<ol" in shown,
            "tables": [table.key for table in contents.tables if table.key.endswith(".contracts")],
            "lineage": [rest.answer for rest in queries.lineage_in(made)],
        }))
""",
}


@pytest.mark.once
@pytest.mark.slow
def test_a_pack_in_a_folder_elsewhere_is_found_and_labelled_with(tmp_path: Path) -> None:
    for name, text in PACK.items():
        file = tmp_path / "packs" / "contracts" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.lstrip("\n"), encoding="utf-8")

    told = _manage(tmp_path, "try_contracts")
    assert told.returncode == 0, told.stderr
    found: dict[str, Any] = json.loads(told.stdout.splitlines()[-1])
    assert found == {
        "tab": True,
        "answered": "contracts",
        "judged": "implied",  # "pay rent" is a part of the entry once “tenant” names nothing
        "numbered": True,
        "tables": ["duties.stated.contracts"],
        "lineage": ["", "Stated"],
    }


@pytest.mark.once
def test_a_folder_of_packs_that_is_not_there_stops_the_start_with_a_sentence(tmp_path: Path) -> None:
    told = _manage(tmp_path, "check")  # the folder was not made
    assert told.returncode != 0
    assert "PALATE_PACKS names a folder that cannot be read" in told.stderr


def _manage(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    own = {
        "PALATE_ENV": "test",
        "PALATE_VAR": str(folder / "var"),
        "PALATE_PACKS": str(folder / "packs"),
        "DATABASE_URL": f"sqlite:///{folder / 'palate.sqlite3'}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(
        [sys.executable, "-W", "ignore", "manage.py", *command],
        cwd=ROOT,
        env=os.environ | own,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
