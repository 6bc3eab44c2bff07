from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.planning import Design, ImpossibleDesign, OverlapRequest, balanced_design

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "12"))
PAPER = OverlapRequest(raters=7, sheets=(18,) * 20, raters_per_sheet=3, share_twice=Fraction(1, 2), seed=1)


def spread(values: object) -> int:
    counts = list(values)  # type: ignore[call-overload]
    return max(counts) - min(counts)


def labelled(design: Design, times: int) -> int:
    return sum(len(raters) == times for raters in design.raters_of.values())


def documents_in_sheet(design: Design) -> Counter[tuple[int, int]]:
    """Documents that each rater labels in each sheet, by (sheet, rater)."""
    return Counter((sheet, rater) for sheet, _, rater in design.assignments)


def shared_in_sheet(design: Design) -> Counter[tuple[int, int, int]]:
    """Documents that two raters of a sheet both label, by (sheet, rater, higher rater)."""
    return Counter(
        (sheet, *pair) for (sheet, _), raters in design.raters_of.items() for pair in combinations(raters, 2)
    )


def sheets_of_rater(design: Design) -> list[int]:
    counts = Counter(rater for _, rater in documents_in_sheet(design))
    return [counts[rater] for rater in range(design.request.raters)]


def pairs_of(design: Design) -> Iterator[tuple[int, int]]:
    return combinations(range(design.request.raters), 2)


def documents_shared(design: Design) -> dict[tuple[int, int], int]:
    """Documents that each pair of raters of the study labels both."""
    shared = Counter(pair for raters in design.raters_of.values() for pair in combinations(raters, 2))
    return {pair: shared[pair] for pair in pairs_of(design)}


def sheets_shared(design: Design) -> dict[tuple[int, int], int]:
    """Sheets on which both raters of each pair label documents, the same ones or not."""
    of_sheet: dict[int, set[int]] = defaultdict(set)
    for sheet, _, rater in design.assignments:
        of_sheet[sheet].add(rater)
    return {(a, b): sum({a, b} <= raters for raters in of_sheet.values()) for a, b in pairs_of(design)}


@pytest.fixture(scope="module", params=range(3), ids=lambda seed: f"seed {seed}")
def paper(request: pytest.FixtureRequest) -> Design:
    return balanced_design(replace(PAPER, seed=request.param))


def test_paper_has_half_of_its_360_documents_labelled_twice(paper: Design) -> None:
    assert (labelled(paper, 1), labelled(paper, 2)) == (180, 180)
    assert paper.notes == ()


def test_paper_gives_each_of_three_raters_a_sheet_nine_documents(paper: Design) -> None:
    # 20 sheets x 3 raters
    assert Counter(documents_in_sheet(paper).values()) == {9: 60}


def test_paper_lets_every_pair_of_a_sheet_share_three_documents(paper: Design) -> None:
    # 20 sheets x 3 pairs, and so 3 x 3 documents alone: 9 - 3 - 3 = 3 each
    assert Counter(shared_in_sheet(paper).values()) == {3: 60}


def test_paper_levels_the_sheets_of_raters_and_of_pairs(paper: Design) -> None:
    # 60 places for 7 raters: 8 or 9. 60 recipe-pairs for 21 pairs of raters: 2 or 3.
    assert Counter(sheets_of_rater(paper)) == {8: 3, 9: 4}
    assert Counter(sheets_shared(paper).values()) == {2: 3, 3: 18}


def test_paper_labels_as_much_twice_from_each_search_engine(paper: Design) -> None:
    # Documents 0-5, 6-11 and 12-17 come from one engine each: 3 of 6 twice, and 3 of each rater's 9 from each engine.
    twice = Counter((sheet, document // 6) for (sheet, document), raters in paper.raters_of.items() if len(raters) == 2)
    each = Counter((sheet, document // 6, rater) for sheet, document, rater in paper.assignments)

    assert set(twice.values()) == {3}
    assert set(each.values()) <= {2, 3, 4}


@pytest.mark.parametrize(
    ("raters", "sheets", "raters_per_sheet"),
    [
        (5, 10, 4),
        (6, 10, 3),  # every pair in exactly 2 sheets
        (7, 7, 3),  # the Fano plane
        (7, 21, 3),
        (9, 12, 3),  # the affine plane of order 3
        (13, 13, 4),  # the projective plane of order 3
        (16, 20, 4),  # the affine plane of order 4
    ],
)
def test_block_designs_are_found_where_every_pair_can_meet_equally_often(
    raters: int, sheets: int, raters_per_sheet: int
) -> None:
    design = balanced_design(OverlapRequest(raters, (12,) * sheets, raters_per_sheet, 0.5, seed=3))

    assert spread(sheets_of_rater(design)) == 0
    assert spread(sheets_shared(design).values()) == 0


@pytest.mark.parametrize(
    ("raters", "sheets", "raters_per_sheet"),
    [(5, 9, 2), (8, 17, 3), (10, 30, 4), (11, 31, 4), (12, 25, 5), (15, 20, 3), (20, 200, 3)],
)
def test_pairs_meet_as_equally_as_can_be_where_it_does_not_divide(
    raters: int, sheets: int, raters_per_sheet: int
) -> None:
    design = balanced_design(OverlapRequest(raters, (10,) * sheets, raters_per_sheet, 0.6, seed=3))

    assert spread(sheets_of_rater(design)) <= 1
    assert spread(sheets_shared(design).values()) <= 1


def test_documents_that_do_not_divide_go_to_who_has_fewer() -> None:
    # 10 + 5 labels for 4 raters a sheet: three get 4 and one gets 3. 40 sheets x 15 labels / 10 raters = 60 each.
    design = balanced_design(OverlapRequest(10, (10,) * 40, 4, 0.5, seed=1))

    assert spread(design.documents_of_rater) <= 1
    assert set(documents_in_sheet(design).values()) == {3, 4}


def test_sheets_of_different_sizes_are_dealt_out_so_that_documents_are_level() -> None:
    sizes = tuple(range(4, 44))

    design = balanced_design(OverlapRequest(8, sizes, 3, 0.5, seed=1))

    # Sum of 4..43 = 940 documents, 470 twice: 1410 labels / 8 raters = 176.25
    assert sum(design.documents_of_rater) == 1410
    assert spread(design.documents_of_rater) <= 6
    assert spread(sheets_of_rater(design)) <= 1


def test_share_that_does_not_divide_is_rounded_and_noted() -> None:
    design = balanced_design(OverlapRequest(4, (7, 7, 7), 2, 1 / 3, seed=1))

    # A third of 21 is 7; no sheet can have 2 1/3 documents twice.
    assert labelled(design, 2) == 7
    assert [str(note) for note in design.notes] == [
        "The share does not give a whole number of documents in every sheet; it was rounded: "
        "7 of 21 will be labelled twice."
    ]


def test_one_rater_a_sheet_without_overlap_is_possible_and_noted() -> None:
    design = balanced_design(OverlapRequest(2, (3, 3), 1, 0, seed=1))

    assert design.documents_of_rater == [3, 3]
    assert str(design.notes[0]) == "No document is labelled twice, so agreement between people cannot be measured."


def test_everything_can_be_labelled_twice() -> None:
    design = balanced_design(OverlapRequest(5, (6,) * 5, 4, 1, seed=1))

    assert (labelled(design, 1), labelled(design, 2)) == (0, 30)
    # 12 labels for 4 raters and 6 pairs
    assert set(documents_in_sheet(design).values()) == {3}
    assert set(shared_in_sheet(design).values()) == {1}


def test_sheet_too_small_for_its_raters_gets_fewer_of_them() -> None:
    design = balanced_design(OverlapRequest(4, (1, 12), 3, 0, seed=1))

    assert len({rater for sheet, _, rater in design.assignments if sheet == 0}) == 1
    assert "Too few documents to give each of 3 raters one; sheets where that is so: 1." in map(str, design.notes)


def test_sheet_without_documents_is_noted() -> None:
    design = balanced_design(OverlapRequest(3, (0, 6), 2, 0.5, seed=1))

    assert {sheet for sheet, _, _ in design.assignments} == {1}
    assert "No document is given out of sheets that have none free, or none drawn: 1." in map(str, design.notes)


def test_raters_without_work_are_noted() -> None:
    design = balanced_design(OverlapRequest(9, (2, 2), 3, 0.5, seed=1))

    assert sorted(sheets_of_rater(design)) == [0, 0, 0, 1, 1, 1, 1, 1, 1]
    assert str(design.notes[-1]) == "Raters who get nothing, because there is not enough work for all 9: 3."


def test_raters_without_work_where_sheets_could_go_to_more_are_noted() -> None:
    """It said that there was not enough work for all nine, of which there are 24 rows."""
    design = balanced_design(OverlapRequest(9, (8, 8), 3, 0.5, seed=1))

    assert sorted(sheets_of_rater(design)) == [0, 0, 0, 1, 1, 1, 1, 1, 1]
    assert [str(note) for note in design.notes] == [
        "Raters who get nothing: 3. They get some with more raters per sheet."
    ]


def test_pairs_that_share_nothing_in_a_sheet_are_noted() -> None:
    # 5 of 10 documents twice, and 6 pairs of 4 raters
    design = balanced_design(OverlapRequest(4, (10,), 4, 0.5, seed=1))

    assert [str(note) for note in design.notes] == [
        "Some two raters of one sheet share no document, because fewer documents are labelled twice than there are "
        "pairs of raters; sheets where that is so: 1."
    ]


def test_a_sample_is_labelled_three_times_by_level_groups() -> None:
    # 360 documents: 30 % twice = 108, 20 % three times = 72, 180 once. 180 + 2 × 108 + 3 × 72 = 612 seats for 7.
    design = balanced_design(replace(PAPER, raters_per_sheet=4, share_twice=0.3, share_thrice=0.2))

    assert (labelled(design, 1), labelled(design, 2), labelled(design, 3)) == (180, 108, 72)
    assert spread(design.documents_of_rater) <= 1
    assert spread(shared_in_sheet(design).values()) <= 1
    # 108 + 3 × 72 = 324 pairs of seats for 21 pairs of raters: 15.4 each
    assert spread(documents_shared(design).values()) <= 6


def test_every_document_three_times_in_a_block_of_three_is_everybody() -> None:
    design = balanced_design(OverlapRequest(3, (5, 4), 3, 0, seed=1, share_thrice=1))

    assert set(design.raters_of.values()) == {(0, 1, 2)}


def test_five_people_rate_each_document_of_two_cuisines() -> None:
    design = balanced_design(OverlapRequest(5, (4, 3), 5, 0, seed=1, raters_per_row=5))

    assert set(design.raters_of.values()) == {(0, 1, 2, 3, 4)}
    assert design.notes == ()


def test_four_of_seven_rate_each_document() -> None:
    # 14 documents by 4 of 7: 8 each, and 14 × 6 / 21 = 4 for each pair.
    design = balanced_design(OverlapRequest(7, (14,), 7, Fraction(1, 2), seed=1, raters_per_row=4))

    assert {len(set(raters)) for raters in design.raters_of.values()} == {4}
    assert set(design.documents_of_rater) == {8}
    assert spread(documents_shared(design).values()) <= 2
    assert design.notes == ()


@pytest.mark.parametrize(("raters_per_row", "twice", "thrice"), [(1, 0, 0), (2, 1, 0), (3, 0, 1)])
def test_up_to_three_are_the_whole_of_a_share(raters_per_row: int, twice: int, thrice: int) -> None:
    asked = replace(PAPER, share_twice=twice, share_thrice=thrice)

    design = balanced_design(replace(PAPER, raters_per_row=raters_per_row))

    assert design.assignments == balanced_design(asked).assignments


def test_shares_that_do_not_divide_are_rounded_and_noted_together() -> None:
    design = balanced_design(OverlapRequest(4, (7, 7), 3, 0.25, seed=1, share_thrice=0.25))

    # Half of 7 is 3.5: four documents of the first sheet are shared, three of the second.
    assert (labelled(design, 2), labelled(design, 3)) == (3, 4)
    assert str(design.notes[0]) == (
        "The shares do not give a whole number of documents in every sheet; they were rounded: 3 of 14 will be "
        "labelled twice, 4 three times."
    )


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (replace(PAPER, raters=2), "3 raters per sheet are asked for, but the study has only 2."),
        (replace(PAPER, raters=0), "0 raters are in the study, and somebody has to label."),
        (replace(PAPER, raters_per_sheet=0), "0 raters per sheet are asked for, but each needs at least 1."),
        (
            replace(PAPER, share_twice=1.5),
            "The share of documents labelled twice is 150 %, but it must lie between 0 and 100 %.",
        ),
        (
            replace(PAPER, share_twice=float("nan")),
            "The share of documents labelled twice is nan %, but it must lie between 0 and 100 %.",
        ),
        (
            replace(PAPER, raters_per_sheet=1),
            "Any document labelled twice needs two different raters, but only 1 rater per sheet is asked for: "
            "ask for at least 2, or for a share of 0.",
        ),
        (
            replace(PAPER, share_thrice=-0.1),
            "The share of documents labelled three times is -10 %, but it must lie between 0 and 100 %.",
        ),
        (
            replace(PAPER, share_thrice=0.75),
            "The shares of documents labelled twice and three times are 125 % together, and there is no more than "
            "100 %.",
        ),
        (
            replace(PAPER, raters_per_sheet=2, share_thrice=0.1),
            "Any document labelled three times needs three different raters, but only 2 raters per sheet are asked "
            "for: ask for at least 3, or for a share of 0.",
        ),
        (
            replace(PAPER, raters_per_row=4),
            "Any document labelled by 4 raters needs as many different ones, but only 3 per sheet are asked for.",
        ),
        (replace(PAPER, sheets=()), "There is nothing to plan: the study has 0 sheets."),
        (replace(PAPER, sheets=(0, 0)), "There is nothing to plan: the sheets have 0 documents."),
        (replace(PAPER, sheets=(3, -1)), "No sheet can have -1 documents."),
    ],
    ids=lambda value: None if isinstance(value, OverlapRequest) else value,
)
def test_impossible_request_is_refused_with_the_number_in_the_way(request_: OverlapRequest, sentence: str) -> None:
    with pytest.raises(ImpossibleDesign) as refusal:
        balanced_design(request_)

    assert str(refusal.value) == sentence


def test_refusal_can_be_translated() -> None:
    with pytest.raises(ImpossibleDesign) as refusal:
        balanced_design(replace(PAPER, raters=2))

    sentence = refusal.value.sentence
    assert sentence.template == "%(asked)s raters per %(sheet)s are asked for, but the study has only %(present)s."
    assert dict(sentence.numbers) == {"asked": 3, "present": 2}


def test_same_request_gives_the_same_design_and_another_seed_another() -> None:
    assert balanced_design(PAPER) == balanced_design(PAPER)
    assert balanced_design(PAPER).assignments != balanced_design(replace(PAPER, seed=2)).assignments


@pytest.mark.no_cover
def test_large_study_is_planned_in_two_seconds() -> None:
    start = time.process_time()
    design = balanced_design(OverlapRequest(20, (80,) * 200, 3, 0.5, seed=1))

    assert time.process_time() - start < 2
    assert set(design.documents_of_rater) == {1200}  # 200 x (80 + 40) / 20


@st.composite
def requests(draw: st.DrawFn) -> OverlapRequest:
    raters = draw(st.integers(1, 8))
    size = draw(st.integers(1, raters))
    return OverlapRequest(
        raters=raters,
        sheets=tuple(draw(st.lists(st.integers(1, 15), min_size=1, max_size=6))),
        raters_per_sheet=size,
        share_twice=draw(st.fractions(0, 1, max_denominator=12)) if size > 1 else 0,
        seed=draw(st.integers(0, 3)),
    )


@st.composite
def requests_with_triples(draw: st.DrawFn) -> OverlapRequest:
    request = draw(requests().filter(lambda request: request.raters_per_sheet > 2))
    share = draw(st.fractions(0, 1 - Fraction(request.share_twice), max_denominator=12))
    return replace(request, share_thrice=share)


@settings(max_examples=EXAMPLES, deadline=None)
@given(requests_with_triples())
def test_three_times_is_by_three_different_raters_and_as_often_as_asked(request: OverlapRequest) -> None:
    design = balanced_design(request)

    documents = sum(request.sheets)
    assert set(design.raters_of) == {(s, d) for s, size in enumerate(request.sheets) for d in range(size)}
    assert all(1 <= len(raters) <= 3 and len(set(raters)) == len(raters) for raters in design.raters_of.values())
    several = labelled(design, 2) + labelled(design, 3)
    assert abs(several - (Fraction(request.share_twice) + Fraction(request.share_thrice)) * documents) <= Fraction(1, 2)
    assert abs(labelled(design, 3) - Fraction(request.share_thrice) * documents) <= 1
    for sheet in range(len(request.sheets)):
        assert spread([n for (s, _rater), n in documents_in_sheet(design).items() if s == sheet]) <= 2


@settings(max_examples=EXAMPLES, deadline=None)
@given(requests(), st.integers(1, 8))
def test_every_document_has_as_many_different_raters_as_are_asked_for(request: OverlapRequest, per_row: int) -> None:
    design = balanced_design(replace(request, raters_per_row=min(per_row, request.raters_per_sheet)))

    assert set(design.raters_of) == {(s, d) for s, size in enumerate(request.sheets) for d in range(size)}
    assert {len(set(raters)) for raters in design.raters_of.values()} == {design.request.raters_per_row}
    for sheet, size in enumerate(request.sheets):
        block = {rater for s, rater in documents_in_sheet(design) if s == sheet}
        assert len(block) == min(request.raters_per_sheet, size * design.request.raters_per_row)
        assert spread(documents_in_sheet(design)[sheet, rater] for rater in block) <= 2


@settings(max_examples=EXAMPLES, deadline=None)
@given(requests())
def test_every_document_is_labelled_once_or_twice_by_different_raters(request: OverlapRequest) -> None:
    design = balanced_design(request)

    assert set(design.raters_of) == {(s, d) for s, size in enumerate(request.sheets) for d in range(size)}
    assert all(len(raters) in (1, 2) and len(set(raters)) == len(raters) for raters in design.raters_of.values())
    assert {rater for _, _, rater in design.assignments} <= set(range(request.raters))


@settings(max_examples=EXAMPLES, deadline=None)
@given(requests())
def test_share_labelled_twice_is_as_near_as_whole_documents_allow(request: OverlapRequest) -> None:
    design = balanced_design(request)

    documents = sum(request.sheets)
    assert abs(labelled(design, 2) - Fraction(request.share_twice) * documents) <= Fraction(1, 2)
    for sheet, size in enumerate(request.sheets):
        twice = sum(len(design.raters_of[sheet, document]) == 2 for document in range(size))
        assert abs(twice - Fraction(request.share_twice) * size) < 1


@settings(max_examples=EXAMPLES, deadline=None)
@given(requests())
def test_work_is_level_within_every_sheet_and_over_the_sheets(request: OverlapRequest) -> None:
    design = balanced_design(request)

    assert spread(sheets_of_rater(design)) <= 1
    for sheet, size in enumerate(request.sheets):
        raters = sorted(rater for s, rater in documents_in_sheet(design) if s == sheet)
        labels = sum(documents_in_sheet(design)[sheet, rater] for rater in raters)
        assert len(raters) == min(request.raters_per_sheet, labels)
        assert size <= labels <= 2 * size
        assert spread(documents_in_sheet(design)[sheet, rater] for rater in raters) <= 1
        if len(raters) > 1:
            assert spread(shared_in_sheet(design)[sheet, a, b] for a, b in combinations(raters, 2)) <= 1


# --- raters who have work already -----------------------------------------------------------------------------------


def totals(design: Design) -> list[int]:
    return [have + new for have, new in zip(design.request.standing, design.documents_of_rater, strict=True)]


def test_what_raters_have_already_is_made_up_for() -> None:
    # 9 documents twice: 18 and the 9 of the first rater are 9 for each of three.
    design = balanced_design(OverlapRequest(3, (6, 3), 3, 1, seed=1, standing=(9, 0, 0)))

    assert (design.documents_of_rater, totals(design)) == ([0, 9, 9], [9, 9, 9])
    assert [str(note) for note in design.notes] == [
        "Raters who get nothing new, because the others catch up with what they have: 1."
    ]


def test_what_cannot_be_made_up_for_is_level_among_the_others() -> None:
    design = balanced_design(OverlapRequest(4, (10,), 4, 0, seed=1, standing=(50, 2, 0, 0)))

    assert totals(design) == [50, 4, 4, 4]


def test_raters_join_other_blocks_to_make_up_for_it() -> None:
    """20 sheets of 18 for 7 raters, three a sheet: 540 labels and 45 standing ones are 83 or 84 each."""
    design = balanced_design(replace(PAPER, standing=(30, 0, 0, 10, 0, 0, 5)))

    assert (labelled(design, 1), labelled(design, 2)) == (180, 180)
    assert sorted(totals(design)) == [83, 83, 83, 84, 84, 84, 84]
    assert {len({rater for s, rater in documents_in_sheet(design) if s == sheet}) for sheet in range(20)} == {3}
    # Nobody has next to nothing of a sheet that they have to learn.
    assert min(documents_in_sheet(design).values()) >= 4
    assert min(documents_shared(design).values()) > 0


def test_standing_work_that_is_level_changes_nothing() -> None:
    assert balanced_design(replace(PAPER, standing=(5,) * 7)).assignments == balanced_design(PAPER).assignments


@pytest.mark.no_cover
def test_large_study_with_standing_work_is_planned_in_a_few_seconds() -> None:
    standing = tuple(range(0, 2000, 100))
    start = time.process_time()
    design = balanced_design(OverlapRequest(20, (80,) * 200, 3, 0.5, seed=1, standing=standing))

    assert time.process_time() - start < 4
    assert set(totals(design)) == {2150}  # 24 000 labels and 19 000 standing ones for 20


@st.composite
def requests_with_standing(draw: st.DrawFn) -> OverlapRequest:
    request = draw(st.one_of(requests(), requests_with_triples()))
    standing = st.lists(st.integers(0, 30), min_size=request.raters, max_size=request.raters)
    return replace(request, standing=tuple(draw(standing)))


@settings(max_examples=EXAMPLES, deadline=None)
@given(requests_with_standing())
def test_with_standing_work_no_hand_over_inside_a_sheet_would_level_more(request: OverlapRequest) -> None:
    design = balanced_design(request)

    plain = balanced_design(replace(request, standing=()))
    assert Counter(map(len, design.raters_of.values())) == Counter(map(len, plain.raters_of.values()))
    assert all(len(set(raters)) == len(raters) for raters in design.raters_of.values())
    for sheet in range(len(request.sheets)):
        assert len({rater for s, rater in documents_in_sheet(design) if s == sheet}) <= request.raters_per_sheet
    load = totals(design)
    for (sheet, _document), raters in design.raters_of.items():
        here = {rater for s, rater in documents_in_sheet(design) if s == sheet}
        assert all(load[giver] - load[taker] <= 1 for giver in raters for taker in here - set(raters))
