"""The judge that compares embeddings, at one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from annotation.actions import Answer
from annotation.evidence.blocks import LANGUAGES
from judges.methods import cloze, embedding, prompting
from judges.methods.embedding import Scores
from judges.methods.lexical import LexicalJudge
from judges.runs.asking import Asked, AtRow, Labelled
from judges.runs.by_words import lexicon_of
from llm import encoders
from llm.backends.base import BackendError
from llm.encoders import EncoderError
from llm.engine.normalisation import Normalisation

if TYPE_CHECKING:
    from llm.encoders import Vectors


def label(row: AtRow) -> Labelled:
    """The option that the line nearest to each item makes of it; that line is the label's note.

    Raises:
        RowFailed: no pack has the lexicon that the prompt names.
        BackendError: the encoder is not here.
    """
    document = row.assignment.row
    language = LANGUAGES.get((document.language or "en").split("-")[0].lower(), "english")
    words = LexicalJudge(language, lexicon_of(row.judge))
    lines: dict[str, list[str]] = {}
    for block in row.blocks:
        lines.setdefault(block.kind, []).append(block.text)
    forms = {kind: [embedding.forms_of(line, words) for line in of_kind] for kind, of_kind in lines.items()}

    items = [_item(cell) for cell in row.asked]
    known = list(dict.fromkeys([*items, *(form for kind in forms.values() for line in kind for form in line)]))
    vectors = encode(row.judge.prompt_spec.encoder, known)
    place = {text: at for at, text in enumerate(known)}

    answers = []
    for cell, item in zip(row.asked, items, strict=True):
        rule = cell.prompt.embedding
        assert rule is not None
        of_cell = [line for kind in rule.kinds for line in lines.get(kind, [])]
        compared = embedding.spans([line for kind in rule.kinds for line in forms.get(kind, [])])
        best = embedding.Nearest(0.0, None)
        if compared and item.strip():
            cosines = vectors[[place[form] for _line, form in compared]] @ vectors[[place[item]]].T
            flat = (cosines.toarray() if hasattr(cosines, "toarray") else cosines).ravel().tolist()
            best = embedding.nearest((line, value) for (line, _form), value in zip(compared, flat, strict=True))
        note = of_cell[best.line] if best.line is not None else ""
        answers.append(_chosen(cell, row.judge.normalisation, best.cosine, note))
    return Labelled(answers, tokens=0)


def encode(name: str, texts: list[str]) -> Vectors:
    """The vectors of texts by the encoder of a name.

    Raises:
        BackendError: it is not here, or cannot be loaded.
    """
    try:
        return encoders.encoder(name).encode(texts)
    except EncoderError as error:
        raise BackendError(str(error), permanent=True) from error


def identity(name: str) -> dict[str, str]:
    """What an encoder says of itself, for the record of a run. Raises as `encode`."""
    try:
        return encoders.encoder(name).identity()
    except EncoderError as error:
        raise BackendError(str(error), permanent=True) from error


def check(name: str) -> None:
    """Refuse an encoder that this installation has not, or whose weights are not here. Raises as `encode`."""
    try:
        encoders.check(name)
    except EncoderError as error:
        raise BackendError(str(error), permanent=True) from error


def _item(cell: Asked) -> str:
    return prompting.item_text(
        cell.prompt, cell.spec, cell.section.column.told(cell.column.facets), order=cell.section.column.facets
    )


def _chosen(cell: Asked, normalisation: str, cosine: float, note: str) -> Answer:
    assert cell.prompt.embedding is not None
    by = cast(Normalisation, normalisation)
    of_options = embedding.option_scores(cosine, cell.prompt.embedding)
    # In the scheme's order, as all judges with scores have them.
    keys = [option.key for option in cell.spec.options if option.key in of_options]
    scores = [of_options[key] for key in keys]
    choice = cloze.chosen(keys, scores, by, cell.calibration)
    return Answer(
        cell.column,
        cell.question,
        cell.options[keys[choice.index]],
        scores=Scores.of(keys, scores, choice, by, cell.calibration, cosine=cosine),
        note=note[:500],
    )
