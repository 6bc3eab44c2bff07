from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.forms.fields import field_of
from annotation.models import Study
from recipes.ingredient_states.probing.across import TITLES
from recipes.ingredient_states.probing.tasks import Task


class StudiesForm(forms.Form):
    """Of each task, which of its studies is read: the latest, where nothing is said."""

    def __init__(self, *args: Any, studies: Mapping[Task, Sequence[Study]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for task, some in studies.items():
            if some:
                self.fields[task] = forms.ChoiceField(
                    label=str(TITLES[task]), choices=[(one.slug, one.title) for one in some], required=False
                )
        self.data = {name: self.data.get(name) or field.choices[0][0] for name, field in self.fields.items()}  # type: ignore[attr-defined]

    def chosen(self, studies: Mapping[Task, Sequence[Study]]) -> dict[Task, Study]:
        said = self.cleaned_data
        return {task: next(one for one in some if one.slug == said[task]) for task, some in studies.items() if some}


class BaseForm(forms.Form):
    """The model that the others are held against."""

    base = forms.ChoiceField(required=False)

    def __init__(self, *args: Any, names: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["base"] = forms.ChoiceField(
            label=_("Held against"), choices=[("", _("none")), *((name, name) for name in names)], required=False
        )


class WrongForm(forms.Form):
    """Whose wrong answers are shown, and how many of them."""

    rater = forms.ChoiceField(label=gettext_lazy("Wrong by"), required=False)
    n = forms.IntegerField(label=gettext_lazy("How many"), min_value=1, max_value=200, initial=10)
    seed = forms.IntegerField(label=gettext_lazy("Seed"), min_value=0, max_value=2**31 - 1, initial=1)

    def __init__(self, *args: Any, raters: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field_of(self, "rater", forms.ChoiceField).choices = [
            ("", _("any of them")),
            *((code, code) for code in raters),
        ]
