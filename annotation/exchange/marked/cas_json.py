"""A document of INCEpTION as “UIMA CAS JSON 0.4”: its text, and spans by layers. Offsets are units of UTF-16."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotation.exchange.json_reading import text_of
from annotation.exchange.marked.documents import Span
from annotation.exchange.marked.layers import Layered, Stretch, is_of_tokens
from annotation.exchange.marked.texts import Utf16
from annotation.exchange.tables import TableError
from base.sentences import gettext_noop

_FIRST = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"%[A-Z_]+"')
_SOFA = "uima.cas.Sofa"
_TITLE = "documentTitle"
# What relations and chains have, which lead to other annotations.
_OF_RELATIONS = frozenset({"@Governor", "@Dependent", "@first", "@next"})
# What is written: layers that every project of INCEpTION has.
_DOCUMENT = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData"
_ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
_WRITTEN = {
    name: {"%NAME": name, "%SUPER_TYPE": above, feature: {"%NAME": feature, "%RANGE": "uima.cas.String"}}
    for name, above, feature in (
        (_DOCUMENT, "uima.tcas.DocumentAnnotation", _TITLE),
        (_ENTITY, "uima.tcas.Annotation", "value"),
    )
}


def is_cas(start: bytes) -> bool:
    return _FIRST.match(start) is not None


def read(data: bytes, name: str) -> Layered:
    """
    Raises:
        TableError: it is no such document.
    """
    try:
        cas = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise TableError(gettext_noop("“%(file)s” is no JSON."), file=name) from error
    structures = list(_structures(cas.get("%FEATURE_STRUCTURES")))
    views = cas.get("%VIEWS")
    view = views.get("_InitialView") if isinstance(views, dict) else None
    first = view.get("%SOFA") if isinstance(view, dict) else None
    sofas = [one for one in structures if one.get("%TYPE") == _SOFA and isinstance(one.get("sofaString"), str)]
    sofa = next((one for one in sofas if one.get("%ID") == first), sofas[0] if sofas else None)
    if sofa is None:
        raise TableError(gettext_noop("“%(file)s” has no text (sofaString), as INCEpTION writes it."), file=name)
    found = Layered(sofa["sofaString"])
    for one in structures:
        kind = str(one.get("%TYPE", ""))
        if title := one.get(_TITLE):
            found.title = text_of(title)
        begin, end = (one.get(f"^{side}", one.get(side)) for side in ("begin", "end"))
        if type(begin) is not int or type(end) is not int or is_of_tokens(kind) or one.get("@sofa") != sofa.get("%ID"):
            continue
        if not _OF_RELATIONS.isdisjoint(one):
            found.passed_over.add(kind)
            continue
        found.passed_over |= {f"{kind}.{key[1:]}" for key in one if key[:1] == "@" and key != "@sofa"}  # slots
        said = {key: text_of(value) for key, value in one.items() if _is_label(key, value)}
        found.layers.setdefault(kind, []).append(Stretch(begin, end, said))
    return found


def written(text: str, spans: Iterable[Span], *, title: str) -> str:
    """A document with named entities, as JSON. It has no tokens and no sentences: INCEpTION makes its own."""
    units = Utf16.of(text)
    sofa = {"sofaNum": 1, "sofaID": "_InitialView", "mimeType": "text", "sofaString": text}
    whole = {"@sofa": 1, "begin": 0, "end": units.length, "language": "x-unspecified", _TITLE: title}
    structures: list[dict[str, Any]] = [{"%ID": 1, "%TYPE": _SOFA, **sofa}, {"%ID": 2, "%TYPE": _DOCUMENT, **whole}]
    for number, (start, end, label) in enumerate(spans, 3):
        place = {"@sofa": 1, "begin": units.unit(start), "end": units.unit(end)}
        structures.append({"%ID": number, "%TYPE": _ENTITY, **place, "value": label})
    members = [of["%ID"] for of in structures[1:]]
    views = {"_InitialView": {"%SOFA": 1, "%MEMBERS": members}}
    cas = {"%TYPES": _WRITTEN, "%FEATURE_STRUCTURES": structures, "%VIEWS": views}
    return json.dumps(cas, ensure_ascii=False)


def _structures(found: Any) -> Iterator[Mapping[str, Any]]:
    """In a list, or by their numbers."""
    if isinstance(found, dict):
        known = ((key, one) for key, one in found.items() if isinstance(one, dict))
        yield from ({"%ID": int(key) if key.isdecimal() and len(key) < 10 else key, **one} for key, one in known)
    elif isinstance(found, list):
        yield from (one for one in found if isinstance(one, dict))


def _is_label(key: str, value: Any) -> bool:
    return key[:1] not in "%@^#" and key not in ("begin", "end", "sofa") and isinstance(value, str | bool | int | float)
