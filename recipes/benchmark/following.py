"""What comes next in a study of instructions, in which nobody labels: texts are written, and rated in another study."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.deriving.queries import derived_studies
from annotation.doors import Next
from annotation.models import Row, Study, User
from recipes.benchmark import deriver, queries
from work.states import ItemState, RunState


def next_in(study: Study, user: User) -> Next | None:
    """None where texts are rated. Up to five queries."""
    if not queries.has_instructions(study):
        return None
    if not Row.objects.filter(sheet__study=study).exists():
        return Next(
            _(
                "First the instructions: what models are asked to write about. Then models write a text for each, and "
                "people and judges rate the texts in a study that is made of this one."
            ),
            [
                (_("Add the instructions"), _url("benchmark:instructions", study)),
                (_("Import texts that were written elsewhere"), _url("annotation:import", study)),
            ],
        )
    if made := derived_studies(study, user):
        ways = [(one.title, _url("annotation:study", one)) for one in made if one.archived_at is None]
        return Next(_("The next step has its own study."), ways)
    runs = study.generation_runs.all()
    if runs.filter(state=RunState.RUNNING).exists():
        return Next(_("Texts are being written."), [(_("Texts"), _url("judges:generations", study))], waits=True)
    write = (_("Have texts written by models"), _url("judges:new-generation", study))
    if not runs.filter(items__state=ItemState.DONE).exists():
        return Next(_("Each instruction needs a text, or several."), [write])
    form = f"{_url('annotation:derive', study)}?deriver={deriver.KEY}&scheme={study.scheme.slug}"
    made_so = [(_("Make it"), form)] if user.has_perm("annotation.add_study") else []
    return Next(_("The texts are rated in a study of their own."), [*made_so, write])


def _url(name: str, study: Study) -> str:
    return reverse(name, args=[study.slug])
