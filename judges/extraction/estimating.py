"""What an extraction run would take and cost, before it is started. Writes nothing."""

from __future__ import annotations

from django.db.models import Avg, Count

from annotation.models import Study
from judges.estimating import Estimate, spread
from judges.extraction import extracting, queries
from judges.models import ExtractionItem, Extractor
from judges.runs import evidence
from llm.prices import Spent, tokens_read


def estimate(study: Study, extractor: Extractor) -> Estimate:
    """What a run of the extractor over the study's documents would take: by the mean of those that it has been at here,
    else by the letters of some prompts, and at most the longest answer to each."""
    rows = queries.rows_left(study, extractor)
    left = rows.count()
    done = ExtractionItem.objects.filter(
        run__study=study, run__extractor=extractor, state=ExtractionItem.State.DONE
    ).aggregate(n=Count("pk"), tokens=Avg("tokens"), written=Avg("written"), seconds=Avg("seconds"))
    lists = left * len(evidence.kinds_of(extractor))
    seconds = left * done["seconds"] if done["n"] else None
    if extractor.model is None:
        return Estimate(left, lists, Spent(), seconds, measured=bool(done["n"]))
    if done["tokens"]:
        read = round(left * (done["tokens"] - done["written"]))
        spent = Spent(read, round(left * done["written"]), extractor.model.prices)
        return Estimate(left, lists, spent, seconds, measured=True)
    asked = [list(extracting.asked_of(extractor, row).prompts.values()) for row in spread(rows)]
    share = left / len(asked) if asked else 0.0
    letters = sum(len(prompt) for prompts in asked for prompt in prompts)
    n_prompts = sum(map(len, asked))
    read = tokens_read(letters, chats=n_prompts if extractor.chat_template else 0)
    written = n_prompts * extractor.max_new_tokens
    spent = Spent(round(read * share), round(written * share), extractor.model.prices)
    return Estimate(left, lists, spent, seconds, measured=False)
