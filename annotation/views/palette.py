"""What the scripts of the grid and of the lens are told: questions with their options and settings, and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.utils.html import json_script
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation import queries
from annotation.answers import kind_of
from annotation.exchange.spreadsheet.hints import hint
from annotation.exchange.spreadsheet.layout import skipped
from annotation.scheme import checks
from annotation.scheme.rule_specs import OF_STATES, CheckSpec
from annotation.scheme.spec import Kind, QuestionSpec
from annotation.scheme.values import TextSpec
from annotation.templatetags.palate import NOTE_WORDS


def options_for_script(question: QuestionSpec) -> list[dict[str, object]]:
    return [
        {
            "key": o.key,
            "label": o.label,
            "sign": o.sign,
            "hotkey": o.hotkey,
            "colour": o.colour,
            "blank": o.blank,
            **({"meaning": o.definition} if o.value is not None and o.definition else {}),
        }
        for o in question.options
    ]


def question_for_script(question: QuestionSpec) -> dict[str, Any]:
    """What a question says of its answers: kind, title, options, and the settings of its values."""
    said: dict[str, Any] = {"kind": question.kind, "title": question.title, "options": options_for_script(question)}
    if question.number:
        said["number"] = question.number.model_dump()
    if question.text:
        names = {"longest", "lines", "special", "separator", "patterns"}
        own = question.text.model_dump(mode="json", include=names, by_alias=True)
        said["text"] = {**own, "completions": kind_of(question).choices(question), "from": list(question.text.from_)}
        said["takes"] = hint(question)
    if question.items:
        fields = [
            {
                "key": field.key,
                "name": field.name,
                "list": field.is_list,
                "required": field.required,
                "completions": list(field.completions),
                **({"options": list(field.options)} if field.options else {}),
                **({"place": True} if field.place else {}),
                **(
                    {
                        "carried": True,
                        "into": {text: list(verbs) for text, verbs in field.carried_into.items()},
                        "sums": list(field.sums),
                    }
                    if field.carried
                    else {}
                ),
            }
            for field in question.items.fields
        ]
        said["items"] = {**question.items.model_dump(exclude={"fields"}), "fields": fields}
    if question.transitions:
        said["transitions"] = question.transitions.model_dump(mode="json")
    return said


def value_messages() -> dict[str, str]:
    """Why what was typed is no answer, and what is doubtful about one: the sentences of `annotation.answers`."""
    return {
        "noNumber": _("“{answer}” is no number, which “{question}” asks for."),
        "numberTwoWays": _("“%(answer)s” may be %(point)s or %(whole)s. Write one of the two for “%(question)s”.")
        % {name: f"{{{name}}}" for name in ("answer", "point", "whole", "question")},
        "numberFrom": _("“{question}” takes numbers from {min} on, not {answer}."),
        "numberTo": _("“{question}” takes numbers up to {max}, not {answer}."),
        "numberBetween": _("“{question}” takes numbers from {min} to {max}, not {answer}."),
        "numberSteps": _("“{question}” goes in steps of {step} from {start}; {answer} lies between."),
        "textEmpty": _("“{question}” takes a text, and this is empty."),
        "textTooLong": _("“{question}” takes at most {longest} characters; these are {length}."),
        "itemsCount": _("“{question}” takes from {fewest} to {most} entries; these are {n}."),
        "itemsField": _("Entry {number} of “{question}” has no “{field}”."),
        "itemsOption": _("“%(field)s” of “%(question)s” is one of these, not “%(word)s”: %(options)s.")
        % {name: f"{{{name}}}" for name in ("field", "question", "word", "options")},
        "itemsPlace": _("“{place}” is no place in the document, such as 3:10-24: a block, from and to a character."),
        "tooManyFields": _(
            "“{entry}” has more than the {n} fields of “{question}”: a bar (|) separates them, and \\| is a bar in a "
            "text."
        ),
        "noTransition": _("“{entry}” is no transition, which one arrow (->) makes."),
        "severalOfSeveral": _("“{entry}” makes several of several; say with a line each what becomes what."),
        "transitionsMost": _("“{question}” takes at most {most} transitions; these are {n}."),
        "becomesTwice": _("“%(thing)s” becomes something twice.") % {"thing": "{thing}"},
        "comesTwice": _("“%(thing)s” comes about twice.") % {"thing": "{thing}"},
    }


def check_messages() -> dict[str, str]:
    """What each rule of a check says: the sentences of `annotation.scheme.checks`."""
    gaps = {name: f"{{{name}}}" for name in ("question", "other", "parts")}
    return {f"check-{rule}": _(sentence) % gaps for rule, sentence in checks.SENTENCES.items()}


def checks_for_script(grid: queries.Grid) -> dict[str, dict[str, Any]]:
    """What the script holds the answers of a table against: section -> its checks, and the facets that they name.

    A scheme whose checks name a facet of rows that raters are not shown is refused, so none of these is told here.
    """
    told = {}
    for table in grid.tables:
        if not table.spec.checks and all(question.has_options for question in table.spec.questions):
            continue
        checks = table.spec.checks
        offering = [question.text for question in table.spec.questions if question.text]
        naming: tuple[CheckSpec | TextSpec, ...] = (*checks, *offering)
        in_rows, in_columns = ({name for one in naming for name in one.facets_of(place)} for place in ("row", "column"))
        for check in checks:
            if (own := table.spec.question(check.question).transitions) and check.rule in OF_STATES:
                in_rows |= set(own.start)
        told[table.section.key] = {
            "checks": [check.model_dump(mode="json", by_alias=True) for check in checks],
            "rows": {a.pk: _only(a.row.facets, in_rows) for a in grid.assignments if a.asks(table.section)},
            "columns": {column.pk: _only(column.facets, in_columns) for column in table.columns},
        }
    return told


def _only(facets: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: text for name, text in facets.items() if name in names}


def typing_messages() -> dict[str, str]:
    """What the line below the grid says of cells that are typed into."""
    how = {
        "text": _("Type to answer; F2 or Enter edits."),
        "suggested": _("Space takes what is shown; Enter edits."),
        "number": _("Type a number; F2 or Enter edits."),
        "items": _("Type, F2 or Enter: a table opens below, one entry a line."),
        "transitions": _("Type, F2 or Enter: pick below what changes, and write what it becomes."),
    }
    commands = _("Commands take Alt here: Alt+S submits, Alt+X skips, Alt+M asks.")
    return {
        "draft": _("drafted from somebody else's answer: c takes it as it is, Shift+C all of this document"),
        "draftTyped": _(
            "drafted from somebody else's answer: Alt+C takes it as it is, Alt+Shift+C all of this document"
        ),
        "stillTyped": _("This was typed before the page was left. Enter takes it, Esc throws it away."),
        **{f"typing-{kind}": f"{sentence} {commands}" for kind, sentence in how.items()},
        "takesFrom": _("from {min}"),
        "takesTo": _("up to {max}"),
        "takesBetween": _("{min} to {max}"),
        "takesSteps": _("steps of {step}"),
    }


def composing_messages() -> dict[str, str]:
    """What the editors of records and of transitions say."""
    return {
        "take": _("Take it"),
        "leave": _("Leave it as it was"),
        "asText": _("As text"),
        "keptForLater": _(
            "What was written is no answer yet. It is kept in this browser; F2 on the cell goes on with it."
        ),
        "wasKept": _("This was written before and not taken. Ctrl+Enter takes it, Esc throws it away."),
        "mineBelow": _("What was chosen here stands below."),
        "takeTheirs": _("Show the saved one"),
        "recordKeys": _(
            "Tab: next field · Enter: next entry · Alt+Enter: new entry here · Alt+↑ ↓: move it · Ctrl+Delete: take it "
            "out · Ctrl+Space: offers"
        ),
        "noRecords": _("| alone: there is nothing to list"),
        "tieKeys": _(
            "Words that are marked in the document become those of the entry; Alt+. and Alt+, go to the next word and "
            "the one before, with Shift they take a word more or fewer."
        ),
        "carryKeys": _("→ in an empty field: take what is proposed in grey."),
        "proposed": _("Proposed: {text}. Arrow right takes it."),
        "notTied": _("mark its words"),
        "foundWords": _("Found by its words, and kept so when the list is taken: {words}"),
        "wordsOf": _("{field} of entry {n}"),
        "entry": _("Entry {n}"),
        "entryField": _("{field}, entry {n}"),
        "removeEntry": _("Take entry {n} out"),
        "listField": _("{field}, commas between"),
        "notPasted": _("Left out of what was pasted, there is no field for it: {n}."),
        "stepKeys": _(
            "Letters or ↑ ↓, Enter: pick · once more: a part stays · Enter again: what it becomes (-peel: made and "
            "thrown away) · –: thrown away · Backspace: change the last one"
        ),
        "there": _("What is there"),
        "nothingThere": _("Nothing is there yet. Tab: write what comes about."),
        "pick": _("Find and pick"),
        "picked": _("picked"),
        "partStays": _("a part stays"),
        "usedUp": _("used up in this step"),
        "changes": _("What changes"),
        "becomes": _("becomes"),
        "newThing": _("new"),
        "gone": _("thrown away"),
        "missing": _("not there at this step: {things}"),
        "noChanges": _("Nothing changes in this step"),
        "afterwards": _("There afterwards: {things}"),
        "nothingLeft": _("nothing"),
        "removeChange": _("Take this change out"),
        "addChange": _("Add"),
        "throwAway": _("Throw away"),
        "becomesNothing": _("Write what becomes of {things}; a dash (–) throws it away."),
        "pickFirst": _("Pick what is thrown away first."),
        "noSuchThing": _("“{name}” is not there at this step. Tab: write it as something new."),
        "noneNamed": _("Nothing that is there has this in its name."),
        "nowCalled": _("“{old}” is called “{now}” now"),
        "usedBelow": _("Steps below use the old name: {steps}."),
    }


def evidence_messages() -> dict[str, Any]:
    """What the script says in the panel of the evidence."""
    return {
        "matches": {
            "exact": _("same words"),
            "synonym": _("synonym"),
            "part": _("part"),
            "near": _("near spelling"),
            "tied": _("the words of an entry"),
        },
        "noMatch": _("No match found on this page."),
        "evidenceFailed": _("The document could not be loaded. It is tried again when you come back to it."),
        "statesFailed": _("The drawing could not be loaded. It is tried again with the next answer."),
    }


def palette(grid: queries.Grid) -> dict[int, dict[str, object]]:
    """What the script needs to draw a choice before the server has confirmed it: question -> its options."""
    ids = {(table.section.key, question.key): question.pk for table in grid.tables for question in table.questions}
    return {
        question.pk: {
            "key": question.key,
            "about": table.spec.question(question.key).about,
            "means": _meaning(table.spec.question(question.key)),
            "section": table.section.key,
            "optional": table.spec.question(question.key).optional,
            "askUnless": {
                ids[table.section.key, other]: options
                for other, options in table.spec.question(question.key).ask_unless.items()
            },
            "presets": {
                column.pk: preset
                for column in table.columns
                if (preset := table.spec.presets(column.facets).get(question.key))
            },
            **question_for_script(table.spec.question(question.key)),
        }
        for table in grid.tables
        for question in table.questions
    }


def _meaning(question: QuestionSpec) -> str:
    """What stands beside the numbers of a scale, where none of them says what it means."""
    is_bare = question.kind == Kind.SCALE and not any(option.definition for option in question.options)
    return question.help if is_bare else ""


def grid_messages(*, closed: bool) -> SafeString:
    """The sentences of the grid's scripts, as the page has them; made once a language, since no sheet changes them."""
    return _grid_messages(get_language(), closed)


@lru_cache
def _grid_messages(language: str | None, closed: bool) -> SafeString:
    return json_script(messages_for_script(closed=closed), "messages-data")


def messages_for_script(*, closed: bool) -> dict[str, Any]:
    is_closed = _("This sheet is closed: its work is finished. The manager can open it again.")
    not_yours = _("Not yours any more: it was withdrawn, or given to somebody else.")
    log_in = _("Log in again in another tab")
    return {
        "saved": _("Saved"),
        "saving": _("Saving…"),
        "retrying": _("Not saved yet: retrying"),
        "held": _("Kept in this browser, not saved: {n}"),
        "conflicts": _("Two answers: {n}"),
        "conflict": _("Two answers: “{theirs}” was saved elsewhere meanwhile, “{mine}” was chosen here. Choose one."),
        "conflictOfValues": _(
            "Two answers. Alt+C keeps the one that was saved elsewhere meanwhile, Enter edits the one that was chosen "
            "here."
        ),
        "conflictTheirs": _("saved elsewhere meanwhile: "),
        "conflictMine": _("chosen here: "),
        "decideFirst": _("Some cells have two answers. Choose one in each of them, then submit."),
        "waiting": _("Some choices are still on their way to the server. Submit when they are saved."),
        "notSubmitted": _("The server did not answer. Nothing was submitted; your labels are safe. Try again."),
        "loggedOut": _("You are logged out. %(log_in)s; your last choices are kept here.") % {"log_in": log_in},
        "anotherLogin": _(
            "Somebody else is logged in in this browser now. Your last choices are kept here, and are saved once you "
            "are logged in again."
        ),
        "logIn": log_in,
        "clear": _("clear"),
        "notAsked": _("Not asked: the answer above switches this off."),
        "locked": is_closed if closed else not_yours,
        "notYours": not_yours,
        "closed": is_closed,
        "corrects": _("submitted: a change opens it again"),
        "corrected": _("“{row}” is open again. It is submitted again as soon as you leave it, or with s."),
        "correctedTyped": _("“{row}” is open again. It is submitted again as soon as you leave it, or with Alt+S."),
        "submittedAgain": _("“{row}” is submitted again."),
        "discard": _("Throw away what is kept in this browser and not saved? It cannot be brought back."),
        "skipped": _("cannot tell: {reason}"),
        "skippedWord": skipped("{reason}"),
        "skipRange": _("The open cells of the range: {n}"),
        "skipRest": _("All that is still open in “{row}”: {n} cells"),
        "stillOpen": _("Still open in “{row}”: {n}"),
        "noteOpen": _("You asked: “{asked}” · not answered yet"),
        "noteAnswered": _("The manager: “{answer}”"),
        "noteStates": {state: str(words) for state, words in NOTE_WORDS.items()},
        "noAnswer": _("The server did not answer. Your words stand here still; try again."),
        "timeTitle": _("Active on {row}: {one}. On the whole sheet: {all}. Pauses over a minute are left out."),
        "underAMinute": _("under 1 min"),
        "minutes": _("{min} min"),
        "hours": _("{h} h {min} min"),
        "selected": _("Cells selected: {n} (Esc lets go)"),
        "filled": _("Cells filled: {n}."),
        "replaced": _("Answers replaced: {n}."),
        "cleared": _("Cells cleared: {n}."),
        "leftOff": _("Left out, not asked: {n}."),
        "leftLocked": _("Left out, submitted: {n}."),
        "leftForeign": _("Left out, “{option}” is no answer there: {n}."),
        "leftOutside": _("Left out, beyond the end of the table: {n}."),
        "unknownWord": _("“{word}” is no answer here"),
        "noOption": _("The key {key} is no answer here."),
        "cellFailed": _("not saved yet"),
        "cellTyped": _("begun and not taken: F2 goes on with it"),
        "undone": _("Undone: {what}"),
        "redone": _("Done again: {what}"),
        "andMore": _("{what}; more cells: {n}"),
        "nowSubmitted": _("“{row}” is submitted."),
        "nothingToUndo": _("There is nothing to undo."),
        "nothingToRedo": _("There is nothing to redo."),
        "stepIsGone": _("That step was left as it is: its cells were changed elsewhere since."),
        "stepWaits": _("That step waits: “{row}” is submitted. Take it back first."),
        "stepWaitsOnSheet": _("That step waits: this sheet is closed. The manager can open it again."),
        "found": _("{n} of {all}"),
        "notFound": _("not found"),
        "seek": _("To the next cell with: {options}"),
        "seekNone": _("No other cell of this question has “{option}”."),
        "left": _("{open} of {all} cells left"),
        "toSubmit": _("all cells answered, to submit: {n}"),
        "ready": _("complete, not submitted"),
        "optional": _("optional"),
        "complete": _("complete: s submits it, Ctrl+→ goes on"),
        "completeTyped": _("complete: Alt+S submits it, Ctrl+→ goes on"),
        "submitted": _("submitted"),
        "withdrawn": _("not yours any more: withdrawn, or given to somebody else"),
        "started": _("started"),
        "open": _("not started"),
        "empty": _("empty"),
        "off": _("not asked"),
        **value_messages(),
        **check_messages(),
        **typing_messages(),
        **composing_messages(),
        **evidence_messages(),
    }
