"""What holds of all answers of all kinds."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from annotation.answers import AnswerRefused, bare, canonical_code, kind_of, wire
from annotation.scheme.spec import Kind, QuestionSpec
from tests.annotation.answers.specs import ALL

# Signs that text forms use, and letters that are written in two ways.
TEXTS = st.text(st.sampled_from("ab 1;,|->→\\\n\t\u0301\u00e9é=~!:\"'\x85\u2028\x00"), max_size=12) | st.text(
    max_size=12
)
RAW = {
    "choice": st.sampled_from(["found", "Not found", "no"]),
    "scale": st.integers(-1, 3),
    "flag": st.booleans(),
    "number": st.integers(0, 1000).map(lambda n: n / 2),
    "any number": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**15), 10**15),
    "text": TEXTS,
    "plain text": TEXTS,
    "long text": TEXTS,
    "items": st.lists(
        st.fixed_dictionaries({}, optional={"task": TEXTS, "tool": TEXTS, "ingredients": st.lists(TEXTS, max_size=3)}),
        max_size=4,
    ),
    "named items": st.lists(st.fixed_dictionaries({"name": TEXTS}, optional={"why": TEXTS}), max_size=3),
    "transitions": st.lists(
        st.fixed_dictionaries({"from": st.lists(TEXTS, max_size=2), "to": st.lists(TEXTS, max_size=2)}), max_size=4
    ),
}

every_kind = pytest.mark.parametrize(("name", "spec"), ALL.items(), ids=ALL.keys())


def value_of(spec: QuestionSpec, raw: Any) -> Any:
    try:
        return kind_of(spec).canonical(spec, raw)
    except AnswerRefused as refused:
        said = str(refused)
    assert said
    return assume(False)


@every_kind
@given(data=st.data())
def test_canonical_is_idempotent_and_has_one_code(name: str, spec: QuestionSpec, data: st.DataObject) -> None:
    kind, value = kind_of(spec), value_of(spec, data.draw(RAW[name]))

    code = kind.code(spec, value)

    assert kind.canonical(spec, value) == value
    assert kind.code(spec, kind.canonical(spec, value)) == code
    assert kind.value(spec, code) == value
    assert canonical_code(spec, code) == code
    for prefix in ("", "=", "~"):
        assert wire(prefix + code).code == bare(prefix + code) == code


@every_kind
@given(data=st.data())
def test_the_text_form_is_read_back(name: str, spec: QuestionSpec, data: st.DataObject) -> None:
    kind, value = kind_of(spec), value_of(spec, data.draw(RAW[name]))

    assert kind.read(spec, kind.written(spec, value)) == value


@every_kind
@given(data=st.data())
def test_what_is_shown_is_one_line_and_a_sign_is_short(name: str, spec: QuestionSpec, data: st.DataObject) -> None:
    kind, value = kind_of(spec), value_of(spec, data.draw(RAW[name]))

    assert kind.shown(spec, value)
    assert len(kind.shown(spec, value).splitlines()) == 1
    assert 1 <= len(kind.sign(spec, value)) <= (8 if spec.kind == Kind.NUMBER else 3)


@every_kind
@given(data=st.data())
def test_distance_is_symmetric_and_nothing_between_the_same(name: str, spec: QuestionSpec, data: st.DataObject) -> None:
    kind = kind_of(spec)
    a, b = (value_of(spec, data.draw(RAW[name])) for _ in range(2))

    assert kind.same(spec, a, a)
    assert kind.distance(spec, a, a) == 0
    assert kind.distance(spec, a, b) == pytest.approx(kind.distance(spec, b, a))
    assert 0 <= kind.distance(spec, a, b) <= 1
    assert kind.same(spec, a, b) == (kind.key(spec, a) == kind.key(spec, b))


@every_kind
@given(data=st.data())
def test_label_studio_gives_back_what_it_was_given(name: str, spec: QuestionSpec, data: st.DataObject) -> None:
    kind, value = kind_of(spec), value_of(spec, data.draw(RAW[name]))

    assert kind.from_label_studio(spec, kind.to_label_studio(spec, value)) == value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@every_kind
@given(raw=JSON)
def test_anything_is_an_answer_or_refused_with_a_sentence(name: str, spec: QuestionSpec, raw: Any) -> None:
    kind = kind_of(spec)
    with suppress(AnswerRefused):
        value = kind.canonical(spec, raw)
        assert kind.canonical(spec, value) == value


@every_kind
@given(text=st.text())
def test_a_judge_may_write_anything(name: str, spec: QuestionSpec, text: str) -> None:
    kind = kind_of(spec)
    with suppress(AnswerRefused):
        value = kind.from_judge(spec, text)
        assert kind.canonical(spec, value) == value
