"""Documents as tables: labels with a line for each answer, and rows with a line for each text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from annotation.answers import AnswerKind, AnswerRefused, Value
from annotation.answers.places import places_in
from annotation.answers.spans import SPANS, refuse_unsaid
from annotation.exchange.json_reading import Json, Record, RecordTable, cell_of_row
from annotation.exchange.marked.documents import NO_TEXT, Document, Given, Source
from annotation.exchange.marked.json_objects import BESIDE, RAW
from annotation.exchange.marked.texts import MarkedText
from annotation.exchange.tables import FileTable, Problems, TableError, check_headings
from annotation.scheme.spec import QuestionSpec
from base.sentences import gettext_noop
from base.text import storable

CHOICES = "choices"


@dataclass(frozen=True)
class MarkedTable(RecordTable):
    """A table of a source's documents."""

    source: Source


@dataclass(frozen=True)
class MarkedLabels(MarkedTable):
    """What was marked and chosen in texts. An answer is a result of Label Studio as JSON, its type and value."""

    @property
    def silent(self) -> frozenset[str]:
        return frozenset({*RAW, "rater"})

    @property
    def raters_of_files(self) -> tuple[str, ...]:
        return self.source.raters_of_files

    @property
    def needs_texts(self) -> bool:
        return True

    def type_of(self, answer: str) -> str:
        return str(json.loads(answer)["type"]) if answer and not isinstance(answer, Json) else ""

    def labels_of(self, answer: str) -> list[str]:
        of = json.loads(answer)["value"] if self.type_of(answer) == SPANS else {"spans": []}
        return [label for span in of["spans"] for label in span["labels"]]

    def text_digest(self, answer: str) -> str:
        return "" if isinstance(answer, Json) else str(json.loads(answer)["value"].get("text", ""))

    def value(self, kind: AnswerKind, spec: QuestionSpec, answer: str, *, by_model: bool = False) -> Value | None:
        if isinstance(answer, Json):  # a column that was named instead
            return kind.from_json(spec, json.loads(answer), by_model=by_model)
        result = json.loads(answer)
        if result["type"] == SPANS:
            refuse_unsaid(spec, result["value"])
        elif not spec.has_options:  # the parts of a text, or records
            return kind.from_json(spec, result["value"]["choices"], by_model=by_model)
        elif len(chosen := result["value"]["choices"]) > 1:
            raise AnswerRefused(
                gettext_noop("“%(name)s” has several answers (%(answers)s), and a question takes one."),
                name=spec.title,
                answers=", ".join(chosen),
            )
        return kind.from_label_studio(spec, result)

    def in_words(self, answer: str) -> str:
        if not answer or isinstance(answer, Json):
            return answer
        result = json.loads(answer)
        of = result["value"]
        said = of["choices"] if result["type"] == CHOICES else [span["text"] for span in of["spans"]]
        return "; ".join(said)

    def records(self, problems: Problems) -> Iterator[Record]:
        for document in self.source.documents(problems):
            known = {"row": storable(document.name), "rater": storable(document.rater), **document.known}
            if not known["rater"]:
                del known["rater"]
            text = MarkedText(document.text, document.starts)
            for given in document.given:
                said = _said(document, given, text, problems)
                if said is not None:
                    question = {"question": storable(given.question)} if given.question else {}
                    yield Record(document.line, {**known, **question, "answer": said})
            if not document.given:
                yield Record(document.line, {**known, "answer": ""})


def _said(document: Document, given: Given, text: MarkedText, problems: Problems) -> str | None:
    """A result as JSON, "" for nothing; None for stretches that are none of the text, which `problems` says."""
    if given.spans is None:
        result = {"type": CHOICES, "value": {"choices": list(given.chosen)}}
        return json.dumps(result, ensure_ascii=False) if given.chosen else ""
    spans, total = [], problems.total
    for span, n in sorted(Counter(given.spans).items()):
        words = text.words(span.start, span.end)[:80] if text.has(span.start, span.end) else ""
        told: dict[str, int | str] = {"start": span.start, "end": span.end, "label": span.label, "words": words}
        if not words:
            problems.add(
                document.line,
                gettext_noop(
                    "“%(label)s” from %(start)s to %(end)s is no stretch of “%(row)s”, whose text has %(n)s characters."
                ),
                **told,
                row=document.name,
                n=len(document.text),
            )
        elif not text.words(span.start, span.end).strip() or not places_in(
            text.extents, *(stretch := (text.stored(span.start), text.stored(span.end)))
        ):
            problems.add(
                document.line,
                gettext_noop("“%(label)s” from %(start)s to %(end)s of “%(row)s” marks white space alone."),
                **told,
                row=document.name,
            )
        elif n > 1:
            problems.add(
                document.line,
                gettext_noop(
                    "“%(words)s”, from %(start)s to %(end)s of “%(row)s”, is marked as “%(label)s” %(n)s times, as "
                    "where several people's work is in one file."
                ),
                **told,
                row=document.name,
                n=n,
            )
        else:
            start, end = stretch
            whole = text.words(span.start, span.end)
            spans.append({"start": start, "end": end, "text": whole, "labels": [storable(span.label)]})
    if problems.total > total:
        return None
    return json.dumps({"type": SPANS, "value": text.result(spans)}, ensure_ascii=False)


@dataclass
class _OfTexts(Problems):
    """The problems of a file of which only the texts are read: `of` is told what is wrong with these."""

    of: Problems = field(kw_only=True)

    def add(self, line: int, template: str, **values: int | str) -> None:
        if template == NO_TEXT:
            self.of.add(line, template, **values)


@dataclass(frozen=True)
class MarkedRows(MarkedTable):
    """The texts, each once, though several people marked words in it."""

    @property
    def silent(self) -> frozenset[str]:
        return BESIDE

    @property
    def plain(self) -> frozenset[str]:
        return frozenset({"text"})

    def records(self, problems: Problems) -> Iterator[Record]:
        seen = set[tuple[str, str, str]]()
        for document in self.source.documents(_OfTexts(self.name, parts=problems.parts, of=problems)):
            about = {storable(key): cell_of_row(said) for key, said in document.about.items()}
            digest = MarkedText(document.text, document.starts).digest
            key = (about.get("sheet", ""), document.name, digest)
            if key not in seen:
                seen.add(key)
                # Its text is first of what the row has to read, so that it begins with the blocks that are marked.
                texts = {"row": storable(document.name), "text": storable(document.text)}
                yield Record(document.line, {**texts, **about})


def opened(source: Source, of: type[MarkedTable], table: FileTable) -> MarkedTable:
    """The documents of a source as a table `of` its kind; `table` has the file.

    Raises:
        TableError: the file is not readable, or says nothing.
    """
    found = of(table.stream, table.name, table.encoding, table.delimiter, (), source)
    problems = Problems(table.name)
    keys: Mapping[str, None] = dict.fromkeys(key for record in found.records(problems) for key in record.values)
    header = tuple(keys)
    if not header and problems.total:
        header = ("rater", "row", "answer")  # so that the problems are read, and told
    if not header:
        raise TableError(gettext_noop("“%(file)s” is empty."), file=table.name)
    check_headings(header, name=table.name)
    return of(table.stream, table.name, table.encoding, table.delimiter, header, source)
