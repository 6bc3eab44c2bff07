"""The demo's judge by sentence embeddings, on the dishes that its thresholds were not fitted to; the real encoder."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import judge_embedding as measured
from judges.methods import embedding, fitting
from judges.methods.lexical import LexicalJudge
from judges.methods.prompting import load_prompt
from recipes.cooking.vocabulary import LEXICON
from recipes.memorization.demo_study import EMBEDDING_BY, ROOT


@pytest.mark.slow
@pytest.mark.once
def test_the_shipped_thresholds_judge_other_dishes_well() -> None:
    spec = load_prompt((ROOT / "prompts" / "memorization-embedding.yaml").read_text("utf-8"))
    rule = spec.questions["ingredients.presence"].embedding
    assert rule is not None
    assert spec.encoder == EMBEDDING_BY
    words = LexicalJudge(lexicon=LEXICON)
    cells = [cell for cell in measured.of_demo() if not cell.fits]
    found = measured.cosines(spec.encoder, cells, lambda line: embedding.forms_of(line, words))
    of_options = [embedding.option_scores(cosine, rule) for cosine in found.tolist()]
    chosen = np.array([[of[key].logprob for key in measured.OPTIONS] for of in of_options]).argmax(axis=1)
    accuracy, macro_f1 = fitting.scored_by(chosen, measured.people(cells))
    assert len(cells) == 132
    assert accuracy > 0.85
    assert macro_f1 > 0.83
