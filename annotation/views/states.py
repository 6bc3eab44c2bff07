"""The graph of states drawn: of one's own answers beside the grid, and of everybody's side by side in the lens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation import actions, queries
from annotation.answers.states import Fault, Problem, StateGraph
from annotation.answers.states_drawing import Line, drawn
from annotation.models import Assignment, Rater, Row
from annotation.people.access import AppRequest, sheet_for
from annotation.queries.states import RaterGraph
from annotation.views.lens import READERS
from annotation.views.saving import refusal
from base.step_references import referred

BESIDE, WIDE = 330, 400  # pixels of a drawing among others, and of one alone


@require_GET
def of_assignment(request: AppRequest, pk: int) -> HttpResponse:
    """The graph of one's own answers, as they are saved."""
    mine = Assignment.objects.of_user(request.user).select_related("row__sheet__study__scheme", "rater")
    assignment = get_object_or_404(mine, pk=pk)
    if owed := actions.owed_in_study(study=assignment.row.sheet.study, user=request.user):
        return refusal(owed)
    graphs = queries.state_graphs(assignment.row.sheet.study, [assignment])
    return render(request, "annotation/_states.html", {"graphs": [picture(one, width=WIDE) for one in graphs]})


@require_GET
def of_row(request: AppRequest, pk: int) -> HttpResponse:
    """The graphs of everybody who has a row, side by side, the gold last; what others do not have is marked."""
    row = get_object_or_404(Row.objects.select_related("sheet__study__scheme"), pk=pk)
    sheet = sheet_for(request.user, row.sheet_id, *READERS)
    row.sheet = sheet
    actions.note_look(sheet=sheet, user=request.user)
    assignments = list(
        Assignment.objects.filter(row=row).exclude(state=Assignment.State.WITHDRAWN).select_related("rater", "row")
    )
    for assignment in assignments:
        assignment.row = row
    order = {Rater.Kind.PERSON: 0, Rater.Kind.JUDGE: 1, Rater.Kind.GOLD: 2}
    assignments.sort(key=lambda one: (order[Rater.Kind(one.rater.kind)], one.rater.code, one.repeat))
    graphs = [one for one in queries.state_graphs(sheet.study, assignments) if any(a is not None for a in one.answers)]
    told = [picture(one, width=BESIDE, others=_others(one, graphs), of_row=True) for one in graphs]
    return render(request, "annotation/_states.html", {"graphs": told, "several": True, "row": row})


def _others(one: RaterGraph, graphs: Sequence[RaterGraph]) -> list[StateGraph]:
    return [
        other.graph
        for other in graphs
        if other is not one and other.table == one.table and other.assignment.rater.kind != Rater.Kind.GOLD
    ]


def picture(one: RaterGraph, *, width: int, others: Iterable[StateGraph] = (), of_row: bool = False) -> dict[str, Any]:
    """What the template draws: the drawing, its twin in a table, and what cannot be, in words.

    Args:
        others: graphs of the same table; what one of them has not is marked in this one.
        of_row: its cells have the row's number, as in the lens, instead of the assignment's.
    """
    graph, columns, question = one.graph, one.table.columns, one.table.question
    drawing = drawn(graph, width=width)
    names = graph.by_id
    whose = one.assignment.row_id if of_row else one.assignment.pk
    cells = [f"c-{whose}-{column.pk}-{question.pk}" for column in columns]
    differing = _differing(graph, others)
    steps = []
    for number, (column, answer) in enumerate(zip(columns, one.answers, strict=True), start=1):
        changes = [edge for edge in graph.edges if edge.step == number]
        steps.append(
            {
                "number": number,
                "column": column,
                "cell": cells[number - 1],
                "answered": answer is not None,
                "referred": referred(" ".join(column.facets.values()), number),
                "used": _distinct(names[edge.source].name for edge in changes)
                + [names[of].name for of, at in graph.thrown.items() if at == number],
                "made": [state.name for state in graph.made_at(number)],
                "thrown": [names[of].name for of, at in graph.thrown.items() if at == number],
                "world": [state.name for state in graph.world(number)],
            }
        )
    return {
        "of": one,
        "graph": graph,
        "drawing": drawing,
        "cells": cells,
        "places": [
            {
                "at": place,
                "cell": cells[place.step - 1],
                "differs": place.id in differing,
                "says": _says(graph, place.id, place.name),
                "title": columns[place.step - 1].name,
                "referred": steps[place.step - 1]["referred"] if place.kind == Line.STEP else (),
            }
            for place in drawing.places
        ],
        "steps": steps,
        "problems": [(cells[max(problem.step, 1) - 1], problem.step, sentence(problem)) for problem in graph.problems],
        "differing": len(differing),
        "title": _("States of %(row)s by %(rater)s")
        % {"row": one.assignment.row.title or one.assignment.row.name, "rater": one.assignment.rater.code},
    }


def _differing(graph: StateGraph, others: Iterable[StateGraph]) -> set[str]:
    """The ids of the states that another graph has not, or makes of something else. Steps not answered there are left
    out."""
    own = _edges(graph)
    found = set()
    for other in others:
        there = {(state.step, state.name.casefold()) for state in other.states}
        edges = _edges(other)
        for state in graph.states:
            named = (state.step, state.name.casefold())
            if not state.step or state.step in other.unanswered:
                continue
            if named not in there or not {pair for pair in own if pair[1] == named} <= edges:
                found.add(state.id)
    return found


def sentence(problem: Problem) -> str:
    """What cannot be, for whoever reads."""
    told = {"thing": problem.name, "n": problem.other}
    match problem.fault:
        case Fault.UNKNOWN:
            return _("“%(thing)s” is used, and there is no such thing.") % told
        case Fault.EARLY:
            return _("“%(thing)s” is used before step %(n)s makes it.") % told
        case Fault.SAME_STEP:
            return _("“%(thing)s” is used in the step that makes it.") % told
        case Fault.CONSUMED:
            return _("“%(thing)s” is used after step %(n)s used it up.") % told
        case Fault.ALIKE:
            return _("“%(thing)s” cannot be told from another thing of that name.") % told
        case Fault.UNREACHED:
            return _("“%(thing)s” is used by no step.") % told
        case Fault.CREATED:
            return _("“%(thing)s” is made of nothing.") % told
        case Fault.CYCLE:
            return _("“%(thing)s” becomes itself by a detour.") % told


def _says(graph: StateGraph, of: str, name: str) -> str:
    """A state in full: what it was made of, and what becomes of it."""
    if of not in graph.by_id:
        return name
    names = graph.by_id
    sources = [names[edge.source].name for edge in graph.edges if edge.target == of]
    targets = [names[edge.target].name for edge in graph.edges if edge.source == of]
    said = f"{', '.join(sources)} → {name}" if sources else name
    return f"{said} → {', '.join(targets)}" if targets else said


def _edges(graph: StateGraph) -> set[tuple[tuple[int, str], tuple[int, str]]]:
    names = {state.id: (state.step, state.name.casefold()) for state in graph.states}
    return {(names[edge.source], names[edge.target]) for edge in graph.edges}


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
