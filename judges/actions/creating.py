"""Judges, their models and prompts."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.actions import Refused
from annotation.models import Rater, Study, User
from judges.actions.keeping import hold_model
from judges.methods import WRITES, prompting
from judges.methods.prompting import PromptSpec
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


def refuse_elsewhere(judge: Judge, study: Study) -> None:
    """
    Raises:
        Refused: the judge is known in another study alone.
    """
    if judge.study_id not in (None, study.pk):
        raise Refused(
            _("The prompt of “%(judge)s” has lines of another study's documents. It works in that study alone.")
            % {"judge": judge.name}
        )


def refuse_taken(name: str, study: Study) -> None:
    """
    Raises:
        Refused: a rater of the study that is no judge has this name as its code, so that no judge of it can work there.
    """
    if study.raters.exclude(kind=Rater.Kind.JUDGE).filter(code=name).exists():
        raise Refused(_("Another rater of this study has the code “%(code)s”.") % {"code": name})


def keep_with(judge: Judge, codes: Iterable[str], study: Study) -> None:
    """Have a judge that weighs others known in this study alone, where one of them is."""
    if Judge.objects.filter(name__in=list(codes), study=study).exists():
        judge.study = study
        judge.save(update_fields=["study"])


def _refuse_thinking(asks: PromptSpec, *, method: str, chat_template: bool) -> None:
    if asks.thinking and method != Judge.Method.WRITING:
        raise Refused(_("Only a judge that writes is asked to think first. Take “thinking” out of the prompt."))
    if asks.thinking and not chat_template:
        raise Refused(
            _(
                "To think first takes the chat form: a plain prompt ends where the answer begins. Choose that form, or "
                "take “thinking” out of the prompt."
            )
        )


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
    price_read: Decimal | None = None,
    price_written: Decimal | None = None,
    prompt: Prompt | None = None,
    prompt_text: str = "",
    evidence: Extractor | None = None,
    study: Study | None = None,
    by: User | None = None,
) -> Judge:
    """Create a judge, with its model when `location` names a new one, and its prompt when only the text is given.

    `evidence`: the extractor whose items it judges by; None for the documents themselves.
    `study`: in which it is made, so that its name is no rater's there; a prompt with examples, which are lines of
    documents, keeps it there. `by`: who makes it, for the audit log, where a stored model gets another price by that.
    `temperature` and `max_new_tokens` are for a judge that rates or writes, and have defaults there.

    Raises:
        Refused: it could never work with its model, or in the study; its model is deleted; or it does not write, and
            is told how to.
        PromptError: the text is no prompt file, or reads evidence that the extractor does not take out.
    """
    if study is not None:
        refuse_taken(name, study)
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
            price_read=price_read,
            price_written=price_written,
            by=by,
            study=study,
        )
    chat_template = labelling.asks_in_chat_form(model, method=method, chat_template=chat_template)
    if method in WRITES:
        temperature = DEFAULT_TEMPERATURE if temperature is None else temperature
        max_new_tokens = max_new_tokens or DEFAULT_MAX_NEW_TOKENS
    elif temperature is not None or max_new_tokens is not None:
        raise Refused(_("Only a judge that rates or writes has a temperature and a longest answer."))
    if model is not None:
        hold_model(model)
        try:
            labelling.refuse(model, method=method, chat_template=chat_template)
            asks = prompting.load_prompt(prompt.text if prompt else prompt_text)
            if asks.grammar:
                labelling.refuse_grammar(model)
            if asks.picture and method not in WRITES:
                raise Refused(
                    _("Only a judge that rates or writes is shown pictures. Take “picture” out of the prompt.")
                )
            if asks.picture:
                labelling.refuse_picture(model)
            _refuse_thinking(asks, method=method, chat_template=chat_template)
        except BackendError as error:
            raise Refused(str(error)) from error
    prompt = prompt or store_prompt(name=name, text=prompt_text)
    asked = prompting.load_prompt(prompt.text)
    if evidence is not None:
        check_evidence(evidence, asked, method)
    return Judge.objects.create(
        name=name,
        method=method,
        model=model,
        evidence=evidence,
        study=study if asked.examples else None,
        prompt=prompt,
        normalisation=normalisation,
        chat_template=chat_template,
        temperature=temperature,
        max_new_tokens=max_new_tokens,
    )
