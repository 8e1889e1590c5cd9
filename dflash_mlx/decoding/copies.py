"""Drafts copied from the text: where its end occurred before, what followed it there may follow again.

A copy costs no drafter pass. Whether one is worth its rows is learned from all of them, used or not: what followed is
known a cycle later anyway.
"""

from collections.abc import Sequence
from typing import NamedTuple

SHORTEST = 3  # tokens that have to match
LONGEST = 64  # beyond which matches are alike
LOOKED_AT = 16  # places, the newest ones
# Kinds of matches, by their length from here on, and the rate that is believed of each before the first token. Published: 0.94
# from 8 tokens on (TensorFold). A low one costs little: it is learned without a try.
KINDS = {SHORTEST: 0.2, 4: 0.3, 6: 0.5, 9: 0.8, 16: 0.9, 32: 0.9}
WEIGHT = 4.0  # for how many tokens that counts
MEMORY = 64  # tokens after which evidence has faded to 1/e


class Match(NamedTuple):
    """Where the text's end occurred before: `source` is the position behind it, `length` the tokens that are alike."""

    source: int
    length: int


class Copies:
    """The text of a request, and what its end has in common with what stands before.

    Places are found by their last `SHORTEST` tokens, the newest first, as in LZ77: the longest match wins, of equals the newest.
    It takes a few microseconds a token and some 100 bytes, far less than the K and V of one.

    Attributes:
        match: of the present end; None: it is new.
    """

    def __init__(self, tokens: Sequence[int]) -> None:
        self._text: list[int] = []
        self._newest: dict[tuple[int, ...], int] = {}  # the position behind the newest place with these tokens
        self._older: list[int] = []  # by position: that of the place before with the same tokens, 0: there is none
        self._kept, self._tried = [WEIGHT * prior for prior in KINDS.values()], [WEIGHT] * len(KINDS)
        self.match: Match | None = None
        self._append(tokens)
        self.match = self._find()

    def add(self, tokens: Sequence[int]) -> None:
        """Tokens that the text goes on with."""
        if self.match:
            self._learn(self.match, tokens)
        self._append(tokens)
        self.match = self._find()

    def tokens(self, count: int) -> list[int]:
        """What followed the match: `count` tokens, the copy itself where the text ends before."""
        assert self.match
        start, copied = self.match.source, list[int]()
        for i in range(start, start + count):
            copied.append(self._text[i] if i < len(self._text) else copied[i - len(self._text)])
        return copied

    @property
    def rate(self) -> float:
        """How likely each token of a copy is right, if those before it are: as lately with matches of this length."""
        kind = self._kind
        return self._kept[kind] / self._tried[kind]

    @property
    def _kind(self) -> int:
        assert self.match
        return sum(self.match.length >= length for length in KINDS) - 1

    def _learn(self, match: Match, tokens: Sequence[int]) -> None:
        copied, kind = self.tokens(len(tokens)), self._kind
        right = next((i for i, (a, b) in enumerate(zip(copied, tokens)) if a != b), len(tokens))
        tried = min(right + 1, len(tokens))
        fade = (1 - 1 / MEMORY) ** tried
        self._kept[kind] = self._kept[kind] * fade + right
        self._tried[kind] = self._tried[kind] * fade + tried

    def _append(self, tokens: Sequence[int]) -> None:
        text, newest, older = self._text, self._newest, self._older
        text.extend(tokens)
        for end in range(len(older), len(text)):  # the newest end is entered when more follows it
            key = tuple(text[end - SHORTEST : end]) if end >= SHORTEST else ()
            older.append(newest.get(key, 0))
            newest[key] = end

    def _find(self) -> Match | None:
        text, end = self._text, len(self._text)
        best, place = None, self._newest.get(tuple(text[end - SHORTEST :]), 0) if end >= SHORTEST else 0
        for _ in range(LOOKED_AT):
            if not place:
                break
            length = SHORTEST
            while length < min(place, LONGEST) and text[place - 1 - length] == text[end - 1 - length]:
                length += 1
            if best is None or length > best.length:
                best = Match(place, length)
            place = self._older[place]
        return best
