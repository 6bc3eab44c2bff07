"""What a cell without a menu expects, in a few words for whoever selects it."""

from __future__ import annotations

from django.utils.translation import gettext as _

from annotation.answers.codes import plain
from annotation.scheme.spec import ItemsSpec, Kind, NumberSpec, QuestionSpec, TextSpec

LONGEST = 255  # what programs take


def hint(spec: QuestionSpec) -> str:
    """What is expected of an answer that is no option."""
    told = ""
    if spec.number is not None:
        told = _number(spec.number)
    elif spec.text is not None:
        told = _text(spec.text)
    elif spec.items is not None:
        told = _items(spec.items)
    elif spec.kind == Kind.TRANSITIONS:
        told = _("One change a line: flour, water -> dough. Nothing after the arrow: thrown away.")
    return told if len(told) <= LONGEST else f"{told[: LONGEST - 1]}…"


def _number(own: NumberSpec) -> str:
    told = _("A number.")
    if own.min is not None and own.max is not None:
        told = _("A number from %(min)s to %(max)s.") % {"min": _short(own.min), "max": _short(own.max)}
    elif own.min is not None:
        told = _("A number from %(min)s on.") % {"min": _short(own.min)}
    elif own.max is not None:
        told = _("A number up to %(max)s.") % {"max": _short(own.max)}
    steps = _("In steps of %(step)s.") % {"step": _short(own.step)} if own.step is not None else ""
    unit = _("In %(unit)s.") % {"unit": own.unit} if own.unit else ""
    return " ".join(filter(None, (told, steps, unit)))


def _short(number: float) -> str:
    return plain(int(number) if number == int(number) else number)


def _text(own: TextSpec) -> str:
    told = _("A text of at most %(longest)s characters.") % {"longest": own.longest}
    parts = _("Between its parts: %(separator)s") % {"separator": own.separator} if own.separator else ""
    special = _("Or: %(words)s") % {"words": ", ".join(own.special)} if own.special else ""
    return " ".join(filter(None, (told, parts, special)))


def _items(own: ItemsSpec) -> str:
    fields = " | ".join(field.name for field in own.fields)
    told = _("One entry a line: %(fields)s.") % {"fields": fields}
    lists = _("Commas between the texts of a list.") if any(field.is_list for field in own.fields) else ""
    options = " ".join(f"{field.name}: {', '.join(field.options)}." for field in own.fields if field.options)
    none = _("A bar (|) alone: there is nothing to list.") if own.fewest == 0 else ""
    return " ".join(filter(None, (told, lists, options, none)))
