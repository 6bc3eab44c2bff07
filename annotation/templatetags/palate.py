from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol, cast

from django import template
from django.forms import BaseForm
from django.template.defaultfilters import linebreaksbr
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from annotation import doors, queries, scripts
from annotation.crowd import queries as crowd
from annotation.documentation import FOLDER, address_of
from annotation.evidence import kinds
from annotation.evidence import lines as text_lines
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import BlockKind
from annotation.exchange.spreadsheet.hints import hint
from annotation.labels import history
from annotation.models import Assignment, Rater, Role, Sheet, Study, User
from annotation.queries.grid import Cell, GridLine, GridStep, GridTable
from annotation.queries.plan_picture import Crowd, Place
from annotation.scheme import snippets
from annotation.scheme.marking import Piece, compared
from annotation.scheme.rewording import Difference
from annotation.scheme.spec import QuestionSpec
from base.documentation import CONTENTS, pages_in

register = template.Library()

# Characters that have room before the cells: of a document's name for each of its questions, and of a question's; of a
# question's where there are few columns.
LONG_NAME, LONG_QUESTION, LONGER_QUESTION = 16, 11, 18
_DOCUMENTATION_FILE = re.compile(r"(docs/[\w/-]+\.md)")
LONG_WORD = 14  # has no room in a line of a name

# What a screen reader says of the corner of a cell.
NOTE_WORDS = {
    "open": gettext_lazy("you asked about it, not answered yet"),
    "answered": gettext_lazy("the manager has answered"),
    "read": gettext_lazy("the manager has answered"),
}


@register.simple_tag(takes_context=True)
def page_address(context: template.Context, name: str, number: int) -> str:
    """The address of this page with another number of one of its lists; the others stay."""
    asked = context["request"].GET.copy()
    asked[name] = str(number)
    return f"?{asked.urlencode()}"


@register.simple_tag(takes_context=True)
def help_address(context: template.Context) -> str:
    """Where the documentation speaks of this page, else its contents."""
    at = getattr(context.get("request"), "resolver_match", None)
    return documentation(doors.documented(at.view_name) or CONTENTS if at else CONTENTS)


@register.simple_tag
def documentation(place: str) -> str:
    """The address of a place in the documentation, such as "plan" or "plan#the-board"."""
    return address_of(place)


@register.filter
def with_documentation(text: str) -> SafeString:
    """A sentence in which each page of the documentation that it names by its file is a link to it."""
    return format_html_join("", "{}", ((_linked(piece),) for piece in _DOCUMENTATION_FILE.split(text)))


def _linked(piece: str) -> str:
    name = piece.removeprefix("docs/").removesuffix(".md")
    if not _DOCUMENTATION_FILE.fullmatch(piece) or name not in pages_in(FOLDER):
        return piece
    return format_html('<a href="{}" target="palate-help">{}</a>', address_of(name), piece)


@register.simple_tag(takes_context=True)
def error_in_title(context: template.Context) -> str:
    """ "Error: " where the page has a form that was refused: who hears the page hears its title first."""
    # By their types: to ask a lazy value what it is would fetch it.
    forms = [cast(BaseForm, value) for value in context.flatten().values() if issubclass(type(value), BaseForm)]
    error = _("Error:")
    return f"{error} " if any(form.errors for form in forms) else ""


@register.filter
def grouped(blocks: list[Block], declared: list[BlockKind]) -> list[kinds.Group]:
    return kinds.grouped(blocks, declared)


@register.filter
def laid_out(blocks: list[Block]) -> list[text_lines.Line]:
    """The paragraphs of one text, each with how it is laid out."""
    return list(text_lines.laid_out(blocks))


@register.filter
def asks_at_length(table: GridTable) -> bool:
    """Whether some question has more characters than fit before few columns."""
    return any(len(question.title) > LONGER_QUESTION for question in table.questions)


@register.filter
def takes(question: QuestionSpec) -> str:
    """What an answer looks like that is no option."""
    return hint(question)


@register.filter
def kind_name(question: QuestionSpec) -> str:
    return snippets.kind_name(question)


@register.simple_tag
def scheme_snippets() -> dict[str, object]:
    """Questions to begin from, and what stands before the first one."""
    return {"all": snippets.snippets(), "beginning": snippets.text_of("beginning")}


@register.simple_tag
def script(page: str) -> str:
    """The address of a page's scripts, which changes when they do; see `annotation.scripts`."""
    return reverse("annotation:script", args=[page, scripts.bundle(page).digest])


@register.simple_tag
def styles(page: str) -> str:
    """The address of a page's style sheets in one, which changes when they do."""
    return reverse("annotation:styles", args=[page, scripts.styles(page).digest])


@register.simple_tag
def grid_dialogs(*, has_text: object, row: str) -> SafeString:
    """The grid's help and its questions, which no sheet changes; made once a language. `has_text`: the sheet has a text
    that its columns come from; `row`: what the scheme calls a row."""
    return _grid_dialogs(get_language(), bool(has_text), row)


@lru_cache
def _grid_dialogs(language: str | None, has_text: bool, row: str) -> SafeString:
    return render_to_string("annotation/_grid_dialogs.html", {"has_text": has_text, "row": row})


@register.simple_tag
def headings(table: GridTable, facet: str, *, first: bool) -> SafeString:
    """What columns say of one facet, drawn by hand as their cells are. `first`: the columns are named here."""
    said = []
    nothing = _("Answer") if table.spec.is_one_form else "—"
    for column in table.columns:
        named = f' id="h-{column.pk}" data-column="{column.pk}" title="{escape(column.name)}"' if first else ""
        text = escape(column.facets.get(facet, ""))
        shown = f'<span class="clamp">{text}</span>' if text else f'<span class="quiet">{escape(nothing)}</span>'
        said.append(f'<th role="columnheader"{named}>{shown}</th>')
    return mark_safe("".join(said))  # noqa: S308


@register.simple_tag
def lines(chunk: Sequence[GridLine], table: GridTable, *, closed: object) -> SafeString:
    """Lines of a table that is read across, drawn by hand as their cells are. `closed`: the sheet takes no answers."""
    questions = len(table.questions)
    return mark_safe("".join([_line(line, questions, closed=closed) for line in chunk]))  # noqa: S308


def _line(line: GridLine, questions: int, *, closed: object) -> str:
    assignment, question, before = line.assignment, "", ""
    if line.first:
        name = escape(assignment.row.name)
        shown = breaking(name)
        long, title = "", ""
        if len(assignment.row.name) > LONG_NAME * questions:
            solid = any(len(word) > LONG_WORD for word in re.split(r"[\s_.-]", assignment.row.name))
            long, title = " long solid" if solid else " long", f' title="{name}"'
        before = (
            f'<th role="rowheader" class="doc" aria-rowspan="{questions}"{title}>'
            f'<span class="name{long}">{shown}</span>'
            f'<span class="mark" data-mark="{assignment.pk}" data-state="{assignment.state}"></span></th>'
        )
    if questions > 1:
        title = line.question.title
        if line.spec.optional:
            title = _("%(question)s (optional)") % {"question": title}
        asked = escape(title)
        if len(title) > LONG_QUESTION:
            question = f'<th role="rowheader" class="q long" title="{asked}"><span>{asked}</span></th>'
        else:
            question = f'<th role="rowheader" class="q" title="{asked}">{asked}</th>'
    locked = " data-locked" if closed or assignment.state == Assignment.State.SUBMITTED else ""
    first = f' class="first"{locked}' if line.first else ""
    tr = f'<tr role="row" data-a="{assignment.pk}" data-q="{line.question.pk}"{first}>'
    return f"{tr}{before}{question}{cells(line)}</tr>\n"


def breaking(name: str) -> str:
    """A name (escaped) that may be broken before a dot and behind a low line: a site's as “site” and “.com”."""
    return re.sub(r"(?<=\w)(?=\.\w)|(?<=\w_)(?=\w)", "<wbr>", name)


@register.simple_tag
def cells(line: GridLine | GridStep) -> SafeString:
    """The gridcells of a line, drawn by hand: a page has thousands, and a template would take most of its time.

    The word of the answer is what a screen reader reads; `data-sign` is what stands there to be seen, but of a value,
    which is seen whole and has an element of its own that can be cut.
    """
    empty, off = _("empty"), _("not asked")
    # Every text that comes from a file is escaped.
    return mark_safe("".join([f'<td role="gridcell"{_drawn(cell, empty, off)}</td>' for cell in line.cells]))  # noqa: S308


def _drawn(cell: Cell, empty: str, off: str) -> str:
    """The other attributes of a cell and its word, with the ">" between them."""
    more = ' aria-readonly="true"' if cell.locked else ""
    if cell.note:
        more += f' data-note="{cell.note}" aria-description="{escape(NOTE_WORDS[cell.note])}"'
    if cell.suggested:
        said = escape(_("suggested: %(answer)s") % {"answer": cell.suggested})
        more += f' data-judge="{escape(cell.suggested_sign)}" data-judge-said="{said}"'
        more += "" if cell.note else f' aria-description="{said}"'
    if (option := cell.option) is not None:
        preset = " data-preset" if cell.by_itself else ""
        draft = " data-draft" if cell.draft else ""
        shown = f' class="t-{option.colour}" data-option="{option.key}" data-sign="{escape(option.sign)}"'
        return f"{shown}{preset}{draft}{more}>{escape(option.label)}"
    if cell.code:
        preset = " data-preset" if cell.by_itself else ""
        draft = " data-draft" if cell.draft else ""
        shown = f' class="value" data-option="{escape(cell.code)}" data-sign="{escape(cell.sign)}"'
        return f'{shown}{preset}{draft}{more}><span dir="auto">{escape(cell.shown)}</span>'
    if cell.skip:
        reason = escape(cell.skip)
        word = _("cannot tell: %(reason)s") % {"reason": reason}
        return f' class="cannot-tell" data-skip="{reason}" data-sign="?" title="{reason}"{more}>{word}'
    if not cell.asked:
        return f' class="off" aria-disabled="true"{more}>{off}'
    if cell.preset:
        return f' class="preset" data-sign="{escape(cell.sign)}"{more}>{escape(cell.shown)}'
    return f"{more}>{empty}"


@register.inclusion_tag("annotation/_tabs.html", takes_context=True)
def study_tabs(context: dict[str, Any], study: Study) -> dict[str, Any]:
    path = context["request"].path
    items = [(tab.label, reverse(tab.url_name, args=[study.slug])) for tab in doors.tabs_for(study)]
    current = max((url for _, url in items if path.startswith(url)), key=len, default="")
    follows = doors.next_in(study, context["request"].user) if Role.MANAGER in study.roles else None
    return {
        "items": items,
        "current": current,
        "study": study,
        "follows": follows,
        "may_bring_back": Role.MANAGER in study.roles,
        "csrf_token": context.get("csrf_token"),
    }


class Coded(Protocol):
    """A rater of the study, or one of a report."""

    @property
    def code(self) -> str: ...
    @property
    def simulated(self) -> bool: ...


@register.simple_tag
def rater(rater: Coded | Crowd, repeat: int = 1, *, short: bool = False) -> SafeString:
    """A rater's code as every page shows it: a simulated one is marked. `short`: where there is little room. Of many of
    a crowd how many they are."""
    if isinstance(rater, Crowd):
        return format_html("{}", rater)
    code = format_html("<code>{}</code>", rater.code if repeat == 1 else f"{rater.code} ({repeat})")
    if not rater.simulated:
        return code
    if short:
        return format_html('{} <abbr title="{}">{}</abbr>', code, _("simulated"), _("sim."))
    return format_html('{} <span class="tag">{}</span>', code, _("simulated"))


@register.simple_tag
def places(whose: Rater | Crowd, places: Sequence[Place]) -> SafeString:
    """A line of the matrix of a plan, drawn by hand: a study of 4,000 rows has 80,000 such cells on a page."""
    named = escape(whose)
    return mark_safe("".join([_place(named, place) for place in places]))  # noqa: S308


def _place(whose: str, place: Place) -> str:
    title = f'<td title="{whose} · {escape(place.row)}"'
    if not place.people:
        return f"{title}></td>"
    times = "once" if place.people == 1 else "twice" if place.people == 2 else "thrice"
    return f'{title} class="place {times}{" new" * place.new}{" began" * place.began}">{place.people}</td>'


@register.filter
def duration(seconds: float) -> str:
    """Seconds of active time: below an hour to the second, as one document takes few minutes and lines add up."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        hours, minutes = divmod(round(seconds / 60), 60)
        return _("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": minutes}
    if minutes:
        return _("%(minutes)s min %(seconds)s s") % {"minutes": minutes, "seconds": rest}
    return _("%(n)s s") % {"n": rest}


@register.filter
def facet(facets: dict[str, str], name: str) -> str:
    return facets.get(name, "")


@register.simple_tag
def contact(study: Study) -> SafeString:
    """Whom people of a study write to: a name, an address that is a link, or both; empty where neither is set."""
    parts = [format_html("<bdi>{}</bdi>", study.contact)] if study.contact else []
    if study.contact_address:
        # A page beside this one: answers on their way to the server stay in theirs.
        link = (
            '<a href="{}" target="_blank" rel="noreferrer">{}</a>' if study.contact_is_page else '<a href="{}">{}</a>'
        )
        parts.append(format_html(link, study.contact_link, study.contact_address))
    return format_html_join(", ", "{}", ((part,) for part in parts))


@register.inclusion_tag("annotation/_paused.html")
def paused(user: User, study: Study | None = None) -> dict[str, Any]:
    """Tells a person in which studies they are paused. One query."""
    raters = Rater.objects.filter(user=user.pk, active=True, paused_at__isnull=False).select_related("study")
    return {"raters": raters if study is None else raters.filter(study=study)}


# So much is compared for all differences of a table together, which takes a second at most.
_COMPARED = 20_000_000


@register.simple_tag
def side_by_side(differences: Sequence[Difference]) -> list[tuple[Difference, SafeString, SafeString]]:
    """Each difference with its two texts, in which the words are marked that the other one has not."""
    left, lines = _COMPARED, []
    for one in differences:
        found = compared(one.before, one.after, most=left)
        left -= found.steps
        lines.append((one, _marked(found.before, "del"), _marked(found.after, "ins")))
    return lines


def _marked(pieces: Sequence[Piece], tag: str) -> SafeString:
    drawn = [format_html(f"<{tag}>{{}}</{tag}>", text) if is_marked else escape(text) for text, is_marked in pieces]
    return linebreaksbr(mark_safe("".join(drawn)))  # noqa: S308 - of escaped pieces


@register.inclusion_tag("annotation/_reworded.html", takes_context=True)
def reworded(context: dict[str, Any], sheet: Sheet) -> dict[str, Any]:
    """Tells a person how what is asked is worded since they began, until they have read it. One query."""
    unread = queries.unread(sheet.study, context["request"].user)
    return {"unread": unread, "sheet": sheet, "csrf_token": context.get("csrf_token")}


@register.inclusion_tag("annotation/_crowd_places.html")
def crowd_places(user: User) -> dict[str, Any]:
    """Leads who came by a link for a crowd to its end. One query, another one for them."""
    return {"places": crowd.of_user(user)}


@register.inclusion_tag("annotation/_restored.html", takes_context=True)
def restored(context: dict[str, Any], sheet: Sheet | None = None) -> dict[str, Any]:
    """Tells a person whose labels somebody else brought back to a moment, until they have read it. One query."""
    request = context["request"]
    seen = request.session.get("restores_seen", {})
    restores = history.last_restores(request.user, sheet=sheet)
    return {
        "restores": [one for one in restores if seen.get(str(one.sheet_id)) != one.key],
        "on_sheet": sheet is not None,
        "csrf_token": context.get("csrf_token"),
    }
