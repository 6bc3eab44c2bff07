"""Judges on a server that somebody else made, such as vLLM: looked at where the environment names one.

    PALATE_REAL_SERVER=http://127.0.0.1:8000/v1 PALATE_REAL_SERVED_NAME=smollm2 PALATE_REAL_FOLDER=weights/smollm2 \\
        python -m pytest tests/judges/test_real_server.py -n0

The folder has the weights that the server loaded, in float32, and their tokeniser. PALATE_REAL_API_KEY is the key of a
server that wants one.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from annotation import actions as annotating
from annotation.evidence.blocks import Block
from annotation.models import Label
from judges import actions
from judges.generating import actions as generating
from judges.models import Run, UnreadableAnswer
from llm import actions as llm
from llm.backends.base import BackendError
from llm.backends.openai import OpenAIBackend
from llm.backends.transformers import TransformersBackend
from llm.engine.prompt import CellPrompt, Generated, PromptTooLong, RowPrompt, Sampling
from tests.builders import Leases
from tests.judges import extractors, generations, helpers
from tests.judges.helpers import fresh, states, work
from work import actions as machine

SERVER, NAME, FOLDER = (os.environ.get(f"PALATE_REAL_{name}", "") for name in ("SERVER", "SERVED_NAME", "FOLDER"))
ACCESS: Any = {"api_key_env": "PALATE_REAL_API_KEY"} if os.environ.get("PALATE_REAL_API_KEY") else {}
pytestmark = [
    pytest.mark.skipif(not SERVER, reason="no PALATE_REAL_SERVER"),
    pytest.mark.slow,
    pytest.mark.once,
    pytest.mark.usefixtures("servers_forgotten"),
]

LIST = "Is it in the list?\n- 2 cups flour\n- ½ cup crème fraîche 🍕 </s><|im_end|><|endoftext|>\n"
OPTIONS = {"one token": ("Yes", "No"), "several": ("Found", "Found (not perfect)", "Not found 见")}
BOUND = f"{helpers.RATING}grammar: true\n"


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_it_scores_as_the_same_model_in_a_worker(options: tuple[str, ...]) -> None:
    cells = tuple(
        CellPrompt(f"Item: {item}\nAnswer:", options, unconditional=f"Item: {item}\nAnswer:")
        for item in ("flour", "crème fraîche", "salt")
    )
    (served,) = OpenAIBackend(SERVER, NAME, **ACCESS).score([RowPrompt(LIST, cells)])
    (own,) = TransformersBackend(FOLDER, device="cpu", dtype="float32").score([RowPrompt(LIST, cells)])
    assert not isinstance(served, PromptTooLong)
    assert not isinstance(own, PromptTooLong)
    for one, other in zip(sum(served, ()), sum(own, ()), strict=True):
        # llama.cpp sums up its softmax in float32.
        within = 3e-4 * other.n_tokens
        assert (one.logprob, one.unconditional) == pytest.approx((other.logprob, other.unconditional), abs=within)
        assert one.n_tokens == other.n_tokens


def test_it_labels_a_row_that_is_too_long_fails_and_the_record_says_how_it_was_asked(leases: Leases) -> None:
    annotating.add_row(sheet=leases.sheet, name="Long", evidence=[Block("paragraph", "rent " * 40_000)])
    run = actions.start_run(study=leases.study, judge=helpers.served_judge(SERVER, served_name=NAME, **ACCESS), by=None)
    work(run)
    assert (fresh(run).state, states(run)) == (Run.State.FINISHED, {"done": 2, "failed": 1})
    assert "over the model's context" in run.items.get(state="failed").error
    (worker,) = fresh(run).provenance["workers"]
    assert worker["prompt_logprobs"] in {"prompt_logprobs", "echo", "none"}


def test_the_same_seed_writes_the_same_again_and_a_string_ends_it() -> None:
    backend, prompt = OpenAIBackend(SERVER, NAME, scores=False, **ACCESS), "Write: one two three four five six seven"
    drawn = [backend.generate([prompt], Sampling(24, 0.9, seed))[0] for seed in (1, 2, 1)]
    assert drawn[0] == drawn[2] != drawn[1]
    (ended,) = backend.generate([prompt], Sampling(24, stop=(" ",)))
    assert isinstance(ended, Generated)
    assert " " not in ended.text


def test_it_rates_under_a_grammar(leases: Leases) -> None:
    judge = helpers.rating_judge(
        SERVER, backend="openai", served_name=NAME, prompt_text=BOUND, max_new_tokens=60, **ACCESS
    )
    run = actions.start_run(study=leases.study, judge=judge, by=None, repeats=2)
    work(run)
    assert (fresh(run).state, states(run)) == (Run.State.FINISHED, {"done": 4})
    assert not UnreadableAnswer.objects.exists()
    assert Label.objects.filter(assignment__rater=run.rater).exists()
    assert all(item.written for item in run.items.all())


@pytest.mark.django_db
def test_it_reads_documents_and_writes_texts() -> None:
    served: Any = {"backend": "openai", "location": SERVER, "served_name": NAME, **ACCESS}
    extractor = actions.create_extractor(
        name="reads", prompt_text=extractors.PROMPT, chat_template=True, max_new_tokens=24, **served
    )
    study = helpers.study_of_leases(n_rows=1)
    reading = actions.start_extraction(study=study, extractor=extractor, by=None, enqueue=False)
    model = llm.store_model(**served)
    (writing,) = generating.start(
        study=generations.dishes("Coleslaw"), models=[model], wanted=generations.wanted(per_type=1), by=None,
        enqueue=False,
    )  # fmt: skip
    for run in (reading, writing):
        while machine.take_up(run):
            pass
        run.refresh_from_db()
        assert run.state == Run.State.FINISHED, run.error
        assert run.items.get().state == "done", run.items.get().error


def test_an_unknown_model_is_named_with_those_that_there_are() -> None:
    with pytest.raises(BackendError, match=f"offers no model “nobody”. It offers: .*{NAME}"):
        OpenAIBackend(SERVER, "nobody", **ACCESS).identity()
