"""Judges whose prompts have examples drawn from people's labels."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.actions import Refused, refuse_while_shown
from annotation.models import Study
from judges.actions.lineage import made_like, refuse_name
from judges.calibrations import examples as queries
from judges.lineage.models import Origin
from judges.methods import Method, prompting
from judges.models import Judge
from llm.encoders import EncoderError

MOST_EXAMPLES = 8


@transaction.atomic
def create_with_examples(
    *, judge: Judge, study: Study, rows: Collection[int], each: int, name: str, seed: int = 0
) -> Judge:
    """A judge like `judge` whose prompt has examples: cells of `rows` as the prompt asks them, with people's answers;
    of a judge that writes, documents of `rows` with the answers to all that it is asked of them. The prompt has lines
    of the study's documents, so that the judge is known in this study alone.

    Args:
        each: how many of every option at most, or how many documents; up to `MOST_EXAMPLES`.
        seed: by which they are drawn.

    Raises:
        Refused: its cells do not bring their own evidence, nothing of these documents can be an example, an encoder is
            missing, another judge has that name, or an import is being shown.
        PromptError: the judge asks what the scheme of the study has not.
    """
    refuse_while_shown(study.pk)
    if not 1 <= each <= MOST_EXAMPLES:
        if judge.method == Method.WRITING:
            raise Refused(_("Show 1 to %(most)s documents as examples.") % {"most": MOST_EXAMPLES})
        raise Refused(_("Draw 1 to %(most)s examples of each option.") % {"most": MOST_EXAMPLES})
    if not queries.questions_with_examples_of(judge):
        raise Refused(
            _(
                "A cell of another document can be an example only where a cell brings its own evidence: a judge of "
                "the method “cloze” whose prompt has $nearest_KIND in its cells, and no $evidence_KIND beside it."
            )
        )
    refuse_name(name)
    found = _found(judge, study, rows, each=each, seed=seed)
    documents = ", ".join(map(str, found.rows))
    said = f"of documents {documents} of the study {study.slug}, seed {seed}, labels {found.labels_sha256[:12]}"
    text = prompting.rewritten(judge.prompt.text, "examples", found.texts, comment=f"Examples: {said}")
    return made_like(judge=judge, study=study, name=name, prompt_text=text, how=Origin.How.EXAMPLES, rows=found.rows)


def _found(judge: Judge, study: Study, rows: Collection[int], *, each: int, seed: int) -> queries.Drawn:
    if judge.method == Method.WRITING:
        found = queries.demonstrated(judge, study, rows, each=each, seed=seed)
        if not found.texts:
            raise Refused(
                _(
                    "None of these documents has an answer to all that the judge is asked, be it the gold's or that of "
                    "most people."
                )
            )
        return found
    try:
        found = queries.drawn(judge, study, rows, each=each, seed=seed)
    except EncoderError as error:
        raise Refused(str(error)) from error
    if not found.texts:
        raise Refused(_("People agree on no cell of these documents that could be an example."))
    return found
