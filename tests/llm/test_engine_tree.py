from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from llm.engine.prompt import common_prefix_length
from llm.engine.tree import TokenSequence, build, visible

# 1 ─ 2 ─┬─ 3 ─ (4)      nodes, depth first:  0  1  2  3  4
#        └─ 5 ─ 6 ─ (7)  tokens:              1  2  3  5  6
A = TokenSequence(ids=(1, 2, 3, 4), start=2)
B = TokenSequence(ids=(1, 2, 5, 6, 7), start=2)


def test_a_shared_prefix_is_one_path_and_last_tokens_are_not_fed() -> None:
    tree = build([B, A])
    assert tree.tokens.tolist() == [1, 2, 3, 5, 6]
    assert tree.positions.tolist() == [0, 1, 2, 2, 3]
    assert tree.ends.tolist() == [5, 5, 3, 5, 5]


def test_scored_tokens_hang_on_the_node_before_them() -> None:
    tree = build([B, A])
    scored = zip(tree.scored_at.tolist(), tree.scored_token.tolist(), tree.scored_for.tolist(), strict=True)
    assert list(scored) == [(1, 3, 1), (1, 5, 0), (2, 4, 1), (3, 6, 0), (4, 7, 0)]
    assert tree.finished_at.tolist() == [4, 2]


def test_a_node_sees_its_ancestors_and_itself() -> None:
    tree = build([A, B])
    everyone = torch.arange(5)
    assert visible(tree, everyone, everyone, None).int().tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 0, 1, 0],
        [1, 1, 0, 1, 1],
    ]


def test_a_window_counts_positions_and_not_nodes() -> None:
    tree = build([A, B])
    # Node 3 stands at position 2: a window of two positions is itself and position 1, which is node 1.
    assert visible(tree, torch.tensor([3]), torch.arange(5), 2).int().tolist() == [[0, 1, 0, 1, 0]]


def test_a_sequence_that_begins_another_is_fed_within_it() -> None:
    tree = build([TokenSequence((1, 2, 3), start=1), TokenSequence((1, 2, 3, 4), start=1)])
    assert tree.tokens.tolist() == [1, 2, 3]
    assert tree.finished_at.tolist() == [1, 2]


def test_common_prefix_length_of_equal_and_empty_sequences() -> None:
    assert common_prefix_length((1, 2), (1, 2, 3)) == 2
    assert common_prefix_length((), (1,)) == 0
    assert common_prefix_length((1, 9, 3), (1, 2, 3)) == 1


@given(st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=7).map(tuple), min_size=1, max_size=12))
def test_each_distinct_prefix_is_one_node(sequences: list[tuple[int, ...]]) -> None:
    tree = build([TokenSequence(ids=ids, start=1) for ids in sequences])
    nodes = torch.arange(len(tree.tokens))
    paths = [tuple(tree.tokens[row].tolist()) for row in visible(tree, nodes, nodes, None)]
    prefixes = {ids[:length] for ids in sequences for length in range(1, len(ids))}
    assert sorted(paths) == sorted(prefixes)
    assert tree.positions.tolist() == [len(path) - 1 for path in paths]
    for index, ids in enumerate(sequences):
        mine = tree.scored_for == index
        assert sorted(
            (*paths[at], token)
            for at, token in zip(tree.scored_at[mine], tree.scored_token[mine].tolist(), strict=True)
        ) == sorted(ids[:length] for length in range(2, len(ids) + 1))
