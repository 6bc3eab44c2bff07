"""Judges, their models and prompts."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from annotation.actions import Refused
from judges import labelling, prompting
from judges.backends.base import BackendError
from judges.models import Judge, LanguageModel, Prompt


def store_prompt(*, name: str, text: str) -> Prompt:
    """Store a prompt file, or return the stored one with the same text.

    Raises:
        PromptError: it is no prompt file.
    """
    prompting.load_prompt(text)
    # What comes from a browser has other ends of lines than a file.
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"
    prompt, _created = Prompt.objects.get_or_create(
        digest=prompting.digest(text), defaults={"name": name, "text": text}
    )
    return prompt


@transaction.atomic
def create_judge(
    *,
    name: str,
    method: str,
    normalisation: str = Judge.Normalisation.NONE,
    chat_template: bool = False,
    model: LanguageModel | None = None,
    backend: str = LanguageModel.Backend.TRANSFORMERS,
    location: str = "",
    revision: str = "",
    device: str = LanguageModel.Device.CPU,
    served_name: str = "",
    api_key_env: str = "",
    requests_per_minute: int | None = None,
    prompt: Prompt | None = None,
    prompt_text: str = "",
) -> Judge:
    """Create a judge, with its model when `location` names a new one, and its prompt when only the text is given.

    Raises:
        Refused: its model is on a server, and it could not work there.
        PromptError: the text is no prompt file.
    """
    if location:
        model = _model(
            backend=backend,
            location=location,
            revision=revision,
            device=device,
            served_name=served_name,
            api_key_env=api_key_env,
            requests_per_minute=requests_per_minute,
        )
    if model is not None and model.is_served:
        try:
            labelling.check_server(model, chat_template=chat_template)
        except BackendError as error:
            raise Refused(str(error)) from error
    return Judge.objects.create(
        name=name,
        method=method,
        model=model,
        prompt=prompt or store_prompt(name=name, text=prompt_text),
        normalisation=normalisation,
        chat_template=chat_template,
    )


def _model(**named: Any) -> LanguageModel:
    """The stored model of these fields, or a new one."""
    known = LanguageModel.objects.filter(**named).first()
    if known is not None:
        return known
    made = LanguageModel(**named)
    said = (made.served_name, made.location) if made.is_served else (made.location, made.revision, made.device)
    # The end of a long path says more than its beginning.
    base = " ".join(filter(None, said))[-90:]
    taken = LanguageModel.objects.filter(name__startswith=base).count()
    made.name = f"{base} ({taken + 1})" if taken else base
    made.save()
    return made
