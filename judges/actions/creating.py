"""Judges, their models and prompts."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.actions import Refused
from judges.methods import WRITES, prompting
from judges.models import Extractor, Judge
from judges.runs import labelling
from judges.runs.evidence import check_evidence
from llm import actions as llm
from llm import registry
from llm.backends.base import BackendError
from llm.models import LanguageModel, Prompt

# Judges that write are asked several times, so that their answers must be able to differ; a verdict and a brief reason
# take a hundred tokens or two.
DEFAULT_TEMPERATURE = 0.7
DEFAULT_MAX_NEW_TOKENS = 256


def store_prompt(*, name: str, text: str) -> Prompt:
    """Store a prompt file, or return the stored one with the same text.

    Raises:
        PromptError: it is no prompt file.
    """
    prompting.load_prompt(text)
    return llm.store_prompt(name=name, text=text)


@transaction.atomic
def create_judge(
    *,
    name: str,
    method: str,
    normalisation: str = Judge.Normalisation.NONE,
    chat_template: bool = False,
    temperature: float | None = None,
    max_new_tokens: int | None = None,
    model: LanguageModel | None = None,
    backend: str = registry.DEFAULT,
    location: str = "",
    revision: str = "",
    gguf_file: str = "",
    dtype: str = "auto",
    device: str = LanguageModel.Device.CPU,
    served_name: str = "",
    api_key_env: str = "",
    requests_per_minute: int | None = None,
    prompt: Prompt | None = None,
    prompt_text: str = "",
    evidence: Extractor | None = None,
) -> Judge:
    """Create a judge, with its model when `location` names a new one, and its prompt when only the text is given.

    `evidence`: the extractor whose items it judges by; None for the documents themselves.
    `temperature` and `max_new_tokens` are for a judge that rates or writes, and have defaults there.

    Raises:
        Refused: it could never work with its model; or it does not write, and is told how to.
        PromptError: the text is no prompt file, or reads evidence that the extractor does not take out.
    """
    if location:
        model = llm.store_model(
            backend=backend,
            location=location,
            revision=revision,
            gguf_file=gguf_file,
            dtype=dtype,
            device=device,
            served_name=served_name,
            api_key_env=api_key_env,
            requests_per_minute=requests_per_minute,
        )
    chat_template = labelling.asks_in_chat_form(model, method=method, chat_template=chat_template)
    if method in WRITES:
        temperature = DEFAULT_TEMPERATURE if temperature is None else temperature
        max_new_tokens = max_new_tokens or DEFAULT_MAX_NEW_TOKENS
    elif temperature is not None or max_new_tokens is not None:
        raise Refused(_("Only a judge that rates or writes has a temperature and a longest answer."))
    if model is not None:
        try:
            labelling.refuse(model, method=method, chat_template=chat_template)
            if prompting.load_prompt(prompt.text if prompt else prompt_text).grammar:
                labelling.refuse_grammar(model)
        except BackendError as error:
            raise Refused(str(error)) from error
    prompt = prompt or store_prompt(name=name, text=prompt_text)
    if evidence is not None:
        check_evidence(evidence, prompting.load_prompt(prompt.text), method)
    return Judge.objects.create(
        name=name,
        method=method,
        model=model,
        evidence=evidence,
        prompt=prompt,
        normalisation=normalisation,
        chat_template=chat_template,
        temperature=temperature,
        max_new_tokens=max_new_tokens,
    )
