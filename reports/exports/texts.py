"""The texts that go with a download: README, codebook, dataset card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.answers.spans import ENTRIES, has_places, labels_of
from annotation.scheme.spec import ItemField, Kind, QuestionSpec
from reports import glossary
from reports.contents import Contents
from reports.data.label_table import LabelTable
from reports.exports.labels import control_name, facet_names
from reports.figures.base import Figure
from reports.tables import ReportTable
from reports.tables.rounding import rounded

# What answers a question.
KINDS: dict[str, Promise] = {
    Kind.CHOICE: gettext_lazy("one of its options, which stand in no order"),
    Kind.FLAG: gettext_lazy("one of its options, which stand in no order"),
    Kind.SCALE: gettext_lazy("a number of a scale, each an option"),
    Kind.NUMBER: gettext_lazy("a number"),
    Kind.TEXT: gettext_lazy("a text"),
    Kind.ITEMS: gettext_lazy("a list of records, one a line, their fields separated by “|”"),
    Kind.TRANSITIONS: gettext_lazy("what becomes of what, one change a line"),
}


@dataclass(frozen=True)
class Origin:
    """Where a download comes from; `frozen` is the number of the frozen report, None for numbers as they stand."""

    title: str
    date: str  # ISO; "" where the download must not depend on the day
    frozen: int | None
    data_digest: str
    results_digest: str
    code_version: str
    libraries: dict[str, str]
    seeds: dict[str, int]
    licence: str = ""  # of the labels, as the study says now: an SPDX identifier
    has_texts: bool = False  # whether the texts that were labelled go along
    contact: str = ""  # whom to ask about the study, where its settings say that downloads name somebody
    rewordings: Sequence[str] = ()  # how the wording of what is asked was changed under answers, a sentence each


def readme(contents: Contents, table: LabelTable, origin: Origin) -> str:
    """What is in the ZIP, how to cite it, and how each number is defined."""
    lines = [f"# {origin.title}", "", citation(origin, table), ""]
    if origin.contact:
        lines += [_("Contact: %(contact)s") % {"contact": origin.contact}, ""]
    lines += [_("## What this is of"), "", *(f"- {name}: {text}" for name, text in contents.about), ""]
    lines += [_("## Files"), ""]
    lines += [f"- `{name}`: {text}" for name, text in _files(has_texts=origin.has_texts)]
    lines += ["", _("## How each number is defined"), ""]
    for part in contents.parts:
        everything: list[ReportTable | Figure] = [*part.tables, *part.figures]
        for shown in everything:
            lines.append(f"### {shown.full_title}")
            lines += ["", f"`{shown.key}`", "", shown.how or _("The heads of its columns say what is counted."), ""]
    if entries := glossary.entries_of(_names(contents)):
        lines += [_("## What the figures mean"), ""]
        for entry in entries:
            lines += [f"### {entry.title}", "", str(entry.says), ""]
            lines += [f"    {entry.formula}", ""] if entry.formula != "–" else []
            lines += [_("Source: %(source)s") % {"source": entry.source}, ""]
    lines += [_("## How it was computed"), ""]
    lines += [f"- Palate {origin.code_version}"]
    lines += [f"- {name} {version}" for name, version in origin.libraries.items()]
    lines += ["- " + _("seed %(name)s: %(seed)s") % {"name": name, "seed": seed} for name, seed in origin.seeds.items()]
    lines += ["- " + _("SHA-256 of the label table: %(digest)s") % {"digest": origin.data_digest}]
    lines += ["- " + _("SHA-256 of all texts and numbers: %(digest)s") % {"digest": origin.results_digest}]
    if origin.frozen is not None:
        lines += ["", _("To compute it again, where the report was frozen:"), ""]
        lines += [f"    manage.py recompute_report {origin.frozen}"]
    lines += ["", _("Numbers that are not defined are empty in CSV and null in JSON; a note says why."), ""]
    return "\n".join(lines)


def _names(contents: Contents) -> Iterator[tuple[str, str]]:
    """What the tables call their figures, as `glossary.entries_of` takes it: in headings, or line by line."""
    for table in contents.tables:
        for place, head in enumerate(table.heads):
            yield from ((head.group, ""), (head.title, head.key))
            if place == 0 or head.key == "metric":
                yield from ((value, "") for row in table.rows if isinstance(value := row[place], str))


def citation(origin: Origin, table: LabelTable) -> str:
    if origin.frozen is None:
        return _("Numbers as they stand, not frozen: freeze the report before you cite it.")
    return _(
        "Please cite as: “%(title)s”, frozen report %(number)s of the study “%(study)s”, %(date)s, data %(digest)s."
    ) % {
        "title": origin.title,
        "number": origin.frozen,
        "study": table.title,
        "date": origin.date,
        "digest": origin.data_digest[:12],
    }


def _files(*, has_texts: bool) -> Sequence[tuple[str, str]]:
    of_label_studio = _("the labels for Label Studio, and its labelling configuration")
    if not has_texts:
        of_label_studio += ". " + _(
            "Its tasks show no text: the study's settings do not say that downloads have the texts that were labelled."
        )
    return (
        ("report.json", _("all tables and figures as data")),
        ("report.csv", _("one number a line")),
        ("report.xlsx", _("a sheet a table")),
        ("tables/*.tex", _("LaTeX with booktabs, array and longtable; all.tex shows all of them")),
        ("figures/*.svg, *.pdf", _("figures; -dark for dark pages")),
        (
            "labels/labels.csv, .parquet",
            _("the labels, one a line; codebook.csv says what columns and answers mean"),
        ),
        (
            "labels/labels-wide.csv",
            _("the labels again: a line for each rater and row, a column for each question"),
        ),
        ("labels/labels.jsonl, README.md", _("the labels for Hugging Face, with a dataset card")),
        ("labels/label-studio.json, .xml", of_label_studio),
        ("label-table.json", _("the table that all numbers are computed from")),
        ("rows.csv", _("title, address, language and facets of each row, and what is withdrawn")),
        (
            "labels/texts.jsonl",
            _("the texts that were labelled, a row a line, where the study's settings say that downloads have them"),
        ),
        (
            "judges/*.json",
            _(
                "the prompt of each judge that worked in the study, without examples that were drawn from documents, "
                "and the records of its runs"
            ),
        ),
        ("certificates/*.json", _("the certificates of judges, where the study has any, and why some were revoked")),
    )


CODEBOOK_HEADER = ("column", "value", "meaning")


def codebook(table: LabelTable) -> list[tuple[str, str, str]]:
    """(column, value, meaning): what the columns of the labels are, then what their values mean."""
    words, values = table.scheme.words, any(not question.options for _section, question in table.questions)
    lines = [
        ("sheet", "", words.sheet),
        ("row", "", _("%(row)s: what was looked at") % {"row": words.row}),
        ("rater", "", _("pseudonym of who labelled")),
        ("rater_kind", "", _("person, judge (a program) or gold (the right answer)")),
        ("simulated", "", _("yes: a program made this rater's labels up")),
        ("repeat", "", _("1, or more where a rater labelled the same again")),
        ("section", "", _("what kind of thing was looked for")),
        ("column", "", _("what was looked for, in words; facet_… are its parts")),
        ("column_number", "", _("its place in the section, from 1")),
        ("question", "", _("what was asked about it")),
        ("answer", "", _("key of the option, or the value in its text form") if values else _("key of the option")),
        ("answer_label", "", _("the answer as raters saw it") if values else _("the option as raters saw it")),
        ("preset", "", _("yes: it follows from the column, nobody chose it")),
        ("note", "", _("the rater's remark, or the judge's reason")),
        ("state", "", _("of the rater's work on this row")),
        ("exposed", "", _("yes: given after a look at others' labels of the same sheet")),
        ("drafted_from", "", _("the rater whose answer it began as, where it began as a draft")),
        ("confirmed", "", _("of a draft: yes, its rater has changed or confirmed it")),
        ("skipped", "", _("why the rater could not tell; such a line has no answer (CSV and XLSX only)")),
        ("row_title", "", _("what the row is called, as the study has it now")),
        ("row_url", "", _("the address of its page, as the study has it now")),
        ("scores", "", _("the judge's summed log-probability of each option, in nats (Parquet and JSONL only)")),
    ]
    lines += [(f"facet_{name}", "", name) for name in facet_names(table)]
    lines += [(f"row_facet_{facet.key}", "", facet.name) for facet in table.scheme.row.facets]
    if table.accepted:
        lines.append(("certificate", "", _("the certificate under which a judge's label was accepted")))
    if table.wordings.size:
        said = _("the version of the scheme that stood when the label was given; empty for skipped cells")
        lines.append(("scheme_version", "", said))
    for section, question in table.questions:
        lines.append(("section", section.key, section.title))
        lines.append(("question", f"{section.key}.{question.key}", f"{question.title}: {_kind(question)}"))
        for option in question.options:
            meaning = f"{option.label}: {option.definition}" if option.definition else option.label
            if option.blank:
                meaning += " " + _("(there is nothing to annotate: agreement leaves it out)")
            if (counted := question.for_judges(option.key)) != option.key:
                meaning += " " + _("(counts as %(option)s where judges are held against people)") % {"option": counted}
            lines.append(("answer", f"{section.key}.{question.key}.{option.key}", meaning))
        for field in _closed(question):
            lines.append(("answer", f"{section.key}.{question.key}.{field.key}", _words_of(field)))
    return list(dict.fromkeys(lines))


def _kind(question: QuestionSpec) -> str:
    kind = str(KINDS[question.kind])
    if question.number and question.number.unit:
        kind = _("%(kind)s, in %(unit)s") % {"kind": kind, "unit": question.number.unit}
    return kind


def _closed(question: QuestionSpec) -> list[ItemField]:
    """The fields of a list that take some words only."""
    return [field for field in question.items.fields if field.options] if question.items else []


def _words_of(field: ItemField) -> str:
    return f"{field.name}: {', '.join(field.options)}"


def labelling_config(table: LabelTable, *, has_texts: bool) -> str:
    """Label Studio's configuration, in which `labels.label_studio` is imported there. `has_texts`: the tasks have the
    texts of rows, in which words can be marked."""
    lines = ["<View>", '  <Header value="$sheet · $row"/>']
    if has_texts:
        lines += ['  <Header size="4" value="$column"/>', '  <Text name="row" value="$text"/>']
    else:
        lines.append('  <Text name="row" value="$column"/>')
    for number, (section, question) in enumerate(table.questions):
        lines.append(f'  <Header size="5" value="{_attribute(question.title)}"/>')
        name = control_name(section.key, question.key)
        if has_texts and has_places(question):
            lines.append(f'  <Labels name="{name}" toName="row">')
            values = (json.loads(stored) for stored in table.values_of(number))
            lines += [f'    <Label value="{_attribute(label)}"/>' for label in labels_of(question, values)]
            lines.append("  </Labels>")
            lines.append(f'  <TextArea name="{name}{ENTRIES}" toName="row"/>')
        elif question.options:
            lines.append(f'  <Choices name="{name}" toName="row" choice="single">')
            lines += [f'    <Choice value="{_attribute(option.label)}"/>' for option in question.options]
            lines.append("  </Choices>")
        else:
            control = "Number" if question.kind == Kind.NUMBER else "TextArea"
            lines.append(f'  <{control} name="{name}" toName="row"/>')
    return "\n".join([*lines, "</View>", ""])


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def dataset_card(contents: Contents, table: LabelTable, origin: Origin) -> str:
    """README.md of a Hugging Face dataset: what the study is, by whom it was labelled, how far they agree."""
    n = len(table.labels)
    rater = table.assignments.rater[table.labels[:, 0]]
    labelled = np.bincount(rater, minlength=len(table.raters))
    n_gold = sum(int(n_of) for of, n_of in zip(table.raters, labelled, strict=True) if of.kind == "gold")
    rows = set(table.assignments.row[table.labels[:, 0]].tolist())
    n_sheets = len({table.rows[row].sheet for row in rows})
    worked = [rater for rater, n_of in zip(table.raters, labelled, strict=True) if n_of]
    people = sum(rater.kind == "person" for rater in worked)
    judges = [rater.code for rater in worked if rater.kind == "judge"]
    simulated = [rater.code for rater in table.raters if rater.simulated]
    by_people = any(rater.kind != "judge" and not rater.simulated for rater in worked)
    creators = {"expert-generated": by_people, "machine-generated": bool(judges or simulated)}
    front: dict[str, Any] = {
        "pretty_name": table.title,
        "license": origin.licence.lower() or "unknown",  # as the Hub writes identifiers
        "task_categories": ["text-classification"],
        "annotations_creators": [name for name, true in creators.items() if true] or ["no-annotation"],
        "size_categories": [_size(n)],
        "tags": ["annotation", "inter-rater-agreement"],
        "configs": [{"config_name": "default", "data_files": "labels.jsonl"}],
    }
    if origin.has_texts:
        front["configs"].append({"config_name": "texts", "data_files": "texts.jsonl"})
    scheme = table.scheme
    in_front = yaml.safe_dump(front, sort_keys=False, allow_unicode=True).strip()
    lines = ["---", in_front, "---", "", f"# {table.title}", ""]
    if scheme.description:
        lines += [scheme.description.strip(), ""]
    lines += [citation(origin, table), ""]
    lines += [
        _("%(n)s labels by %(people)s%(judges)s, in %(sheets)s %(word)s with %(rows)s %(words)s.")
        % {
            "n": f"{n:,}",
            "people": ngettext("%(n)s person", "%(n)s people", people) % {"n": people},
            "judges": _(" and the judges %(codes)s") % {"codes": ", ".join(judges)} if judges else "",
            "sheets": n_sheets,
            "word": scheme.words.sheet if n_sheets == 1 else scheme.words.sheets,
            "rows": len(rows),
            "words": scheme.words.row if len(rows) == 1 else scheme.words.rows,
        },
        "",
    ]
    if n_gold:
        said = ngettext("%(n)s of them is gold.", "%(n)s of them are gold.", n_gold) % {"n": f"{n_gold:,}"}
        lines[-2] += f" {said}"
    if simulated:
        made_up = _("Simulated, their labels were made up by a program: %(codes)s.")
        lines += [made_up % {"codes": ", ".join(simulated)}, ""]
    lines += [_("## What was asked"), ""]
    for section, question in table.questions:
        lines += [f"### {scheme.title_of(section.key, question.key)}", ""]
        lines += [f"- `{o.key}`: {o.label}{'. ' + o.definition if o.definition else ''}" for o in question.options]
        if not question.options:
            lines.append(f"- {_kind(question)}")
        lines += [f"- {_words_of(field)}" for field in _closed(question)]
        lines.append("")
    if origin.rewordings:
        lines += [_("The wording was changed while it was labelled:"), "", *(f"- {o}" for o in origin.rewordings), ""]
    if scheme.guideline:
        lines += [_("## Guideline"), "", scheme.guideline.strip(), ""]
    glance = next(iter(contents.tables))
    lines += [_("## How far raters agree"), "", *_markdown(glance.heads, glance.rows), "", glance.how, ""]
    lines += [_("## Columns"), ""]
    lines += [f"- `{name}`: {meaning}" for name, value, meaning in codebook(table) if not value]
    if origin.has_texts:
        lines += [
            "",
            _("The texts that were labelled are in `texts.jsonl`: `sheet` and `row` join them to the labels."),
        ]
    else:
        lines += ["", _("The texts that were labelled are not in here: they belong to those who published them.")]
    if not origin.licence:
        lines[-1] += " " + _("Set the licence above before you publish this, or in the study's settings.")
    if origin.contact:
        lines += ["", _("## Contact"), "", origin.contact]
    lines.append("")
    return "\n".join(lines)


def _markdown(heads: Sequence[object], rows: Sequence[Sequence[object]]) -> list[str]:
    def cell(value: object) -> str:
        text = "" if value is None else f"{rounded(value, 3):f}" if isinstance(value, float) else str(value)
        return text.strip().replace("|", "\\|")

    titles = [getattr(head, "full_title", "") for head in heads]
    lines = [f"| {' | '.join(titles)} |", "|" + "---|" * len(titles)]
    return lines + [f"| {' | '.join(map(cell, row))} |" for row in rows]


def _size(n: int) -> str:
    for limit, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")):
        if n < limit:
            return name
    return "1M<n<10M"
