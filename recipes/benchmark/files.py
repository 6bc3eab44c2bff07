"""The file that says what a benchmark is made of and by whom: instructions, generators, judges. Pure.

    benchmark: ash                      # the address of the study; its instructions are in ash-instructions
    scheme: cuisine-transfer-ash        # a shipped scheme, or a file beside this one
    generators:
      - {name: qwen-1.5b, location: /models/qwen.gguf}
    judges:
      - {name: qwen-rates, model: qwen-1.5b, prompt: ash-together, repeats: 3}

docs/benchmarks-of-your-own.md has all keys.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from annotation.scheme import problems
from base import yaml_reading
from base.sentences import gettext as _
from base.yaml_reading import YamlRefused
from recipes.benchmark.instructions import Instruction

_Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=45)]
_Name = Annotated[str, Field(min_length=1, max_length=60)]


class FileRefused(ValueError):
    """The file cannot be read; `str()` says where."""


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSpec(_Spec):
    """Where a model is, as `llm.models.LanguageModel` has it."""

    name: _Name
    location: str = ""
    backend: str = "transformers"
    revision: str = ""
    gguf_file: str = ""
    dtype: str = "auto"
    device: str = "cpu"
    served_name: str = ""
    api_key_env: str = ""
    requests_per_minute: int | None = None
    chat: bool = True
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.7

    @property
    def place(self) -> dict[str, object]:
        named = ("backend", "location", "revision", "gguf_file", "dtype", "device", "served_name", "api_key_env")
        return {**{name: getattr(self, name) for name in named}, "requests_per_minute": self.requests_per_minute}


class GeneratorSpec(ModelSpec):
    """`together`: texts are written in batches, as `judges.generating.planning.Wanted` has it."""

    location: Annotated[str, Field(min_length=1)]
    longest: Annotated[int, Field(ge=16, le=32_768)] = 600
    together: bool = False


class JudgeSpec(ModelSpec):
    """`model`: the name of a generator that rates, in place of a location of its own."""

    model: str = ""
    prompt: str = ""
    method: str = "rating"
    longest: Annotated[int, Field(ge=1, le=32_768)] = 256
    repeats: Annotated[int, Field(ge=1, le=20)] = 1

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        if bool(self.model) == bool(self.location):
            raise ValueError(_("a judge has a “location”, or a “model”, which is the name of a generator"))
        if self.repeats > 1 and self.temperature == 0:
            raise ValueError(_("at temperature 0 all repeats would be equal: raise it, or ask once"))
        return self


class SampleSpec(_Spec):
    """A part of the instructions: `size` of them, from each of the strata that `by` makes in turn."""

    size: Annotated[int, Field(ge=1)]
    by: tuple[str, ...] = ()
    seed: int = 1


class BenchmarkFile(_Spec):
    benchmark: _Slug
    title: Annotated[str, Field(max_length=200)] = ""
    scheme: Annotated[str, Field(min_length=1)]
    instructions: str = ""
    sample: SampleSpec | None = None
    ask: str = ""
    prompt: str = ""
    texts: Annotated[str, Field(pattern="^(all|sound)$")] = "all"
    seed: Annotated[int, Field(ge=0)] = 1
    manager: str = ""
    generators: Annotated[tuple[GeneratorSpec, ...], Field(min_length=1)]
    judges: tuple[JudgeSpec, ...] = ()

    @model_validator(mode="after")
    def _names(self) -> Self:
        generators, judges = [one.name for one in self.generators], [one.name for one in self.judges]
        for names in (generators, judges):
            if twice := next((name for name in names if names.count(name) > 1), None):
                raise ValueError(_("two have the name “%(name)s”") % {"name": twice})
        for judge in self.judges:
            if judge.model and judge.model not in generators:
                raise ValueError(
                    _("the judge “%(judge)s” names “%(model)s”, which is no generator here")
                    % {"judge": judge.name, "model": judge.model}
                )
        return self


def read_benchmark(text: str) -> BenchmarkFile:
    """
    Raises:
        FileRefused: with the lines and keys that are wrong.
    """
    try:
        data = yaml_reading.load(text)
        if not isinstance(data, dict):
            raise FileRefused(_("The file should be a mapping that begins with “benchmark:”."))
        return BenchmarkFile.model_validate(data)
    except YamlRefused as refused:
        raise FileRefused(
            _("The file cannot be read, line %(line)s: %(reason)s") % {"line": refused.line, "reason": refused.reason}
        ) from refused
    except ValidationError as error:
        root = yaml_reading.compose(text)
        assert root is not None
        raise FileRefused("\n".join(map(str, problems.told(root, error)))) from error


def sampled(instructions: Sequence[Instruction], sample: SampleSpec | None) -> list[Instruction]:
    """Of each stratum in turn the next one, in an order drawn by the seed, until there are enough; in the list's order.
    A larger sample holds the smaller one.

    Raises:
        FileRefused: no instruction has a facet that makes the strata.
    """
    if sample is None:
        return list(instructions)
    for facet in sample.by:
        if not any(facet in one.facets for one in instructions):
            raise FileRefused(_("sample.by: no instruction has the facet “%(facet)s”") % {"facet": facet})

    def rank(one: Instruction) -> bytes:
        return hashlib.sha256(f"{sample.seed}:{one.sheet}:{one.name}".encode()).digest()

    strata: dict[tuple[str, ...], list[Instruction]] = defaultdict(list)
    for one in sorted(instructions, key=rank):
        strata[tuple(one.facets.get(facet, "") for facet in sample.by)].append(one)
    turns = sorted(
        ((turn, rank(one), one) for of in strata.values() for turn, one in enumerate(of)), key=lambda each: each[:2]
    )
    drawn = {id(one) for _turn, _rank, one in turns[: sample.size]}
    return [one for one in instructions if id(one) in drawn]
