"""Copies: which place a draft is copied from, against a search of the whole text, and what is learned of them."""

import random

import pytest

from dflash_mlx.decoding.copies import KINDS, LONGEST, SHORTEST, Copies, Match


def longest_before(text: list[int]) -> Match | None:
    """The longest match of the text's end, the newest of equals, by looking everywhere."""
    best = None
    for place in range(len(text) - 1, 0, -1):
        length = 0
        while length < min(place, LONGEST) and text[place - 1 - length] == text[-1 - length]:
            length += 1
        if length >= SHORTEST and (best is None or length > best.length):
            best = Match(place, length)
    return best


@pytest.mark.parametrize("seed", range(20))
def test_the_longest_match_is_found_and_of_equals_the_newest(seed: int) -> None:
    rng = random.Random(seed)
    text = [rng.randrange(rng.choice((2, 4, 9))) for _ in range(rng.randrange(12))]
    copies = Copies(text)
    for _ in range(30):  # few enough for all places to be looked at
        new = [rng.randrange(9) for _ in range(rng.randint(1, 3))]
        if text and rng.random() < 0.3:
            start = rng.randrange(len(text))
            new = text[start : start + 5]
        copies.add(new)
        text += new
        assert copies.match == longest_before(text)


def test_a_copy_goes_on_where_the_text_ends() -> None:
    copies = Copies([7, 1, 2, 3, 1, 2, 3])
    assert copies.match == Match(4, 3) and copies.tokens(8) == [1, 2, 3, 1, 2, 3, 1, 2]
    assert Copies([5, 5, 5, 5]).tokens(3) == [5, 5, 5]


@pytest.mark.parametrize("text", [[], [1], [1, 1], [1, 2, 3, 4, 5, 6]])
def test_a_text_without_repetition_has_no_match(text: list[int]) -> None:
    assert Copies(text).match is None


def test_only_the_newest_places_are_looked_at_however_many_there_are() -> None:
    copies = Copies([9, 1, 2, 3, *([8, 1, 2, 3] * 5000), 9, 1, 2, 3])
    assert copies.match is not None and copies.match.length == SHORTEST  # the longer one is the oldest


def repeated(text: list[int], times: int, change: float, seed: int = 0) -> Copies:
    """A text that comes again and again, each token changed with some probability, a token a cycle."""
    rng, copies = random.Random(seed), Copies(text)
    for _ in range(times):
        for token in text:
            copies.add([rng.randrange(1000, 2000) if rng.random() < change else token])
    return copies


@pytest.mark.parametrize("change", [0.1, 0.2, 0.4])
def test_the_rate_is_how_often_copies_were_right(change: float) -> None:
    copies = repeated(list(range(100)), 30, change)
    copies.add([5000, 10, 11, 12, 13])
    assert copies.match is not None and copies.match.length == 4
    assert copies.rate == pytest.approx((1 - change) ** 2, abs=0.1)  # what is copied may be a change, or become one


def test_matches_of_each_length_have_a_rate_of_their_own() -> None:
    rng, copies = random.Random(1), Copies(list(range(50)))
    for _ in range(200):  # three tokens that recur, and then always something new
        copies.add([0, 1, 2])
        copies.add([rng.randrange(1000, 10**6)])
    copies.add([0, 1, 2])
    assert copies.rate < 0.1
    copies.add(list(range(3, 40)))
    assert copies.rate == pytest.approx(list(KINDS.values())[-1]), "nothing was learned of long ones"


def test_tokens_that_were_not_decided_say_nothing() -> None:
    """A cycle that ends while the copy is still right tells only so far."""
    copies = Copies([*range(20), *range(10)])
    before = copies.rate
    copies.add([10])
    assert copies.rate > before
