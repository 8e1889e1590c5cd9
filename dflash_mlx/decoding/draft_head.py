"""The part of the target's head that a drafter reads: its first rows, and those of the rarer tokens that the text has.

Byte-pair ids are ordered by frequency: in English and code 99.64% of what Qwen3.8-27B writes has an id below 98,304 of 248,320
(TensorFold), in Thai far less. Which part is enough is learned from the text. The target's own head is never cut.
"""

import copy
from collections.abc import Sequence

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.kernels.verify_matmul import project
from dflash_mlx.targets import Target

CUTS = (32_768, 65_536, 98_304, 131_072)  # rows
MOST = 0.75  # of all rows: a longer part saves too little
ENOUGH, MEMORY = 128, 512  # tokens: before it is cut, and after which evidence has faded to 1/e
MISSED = 0.003  # the share of tokens outside of a part, from which on it is too short
RARER = 32  # tokens beyond a part that are kept, the newest ones


class DraftHead:
    """A target as its drafter sees it in one text: see `drafters.dflash.Head`.

    Attributes:
        rows: of the head, that are read; at first all of them.
    """

    def __init__(self, target: Target) -> None:
        self._target, vocab_size = target, target.config.vocab_size
        self._cuts = [cut for cut in CUTS if cut <= MOST * vocab_size]
        self.rows = vocab_size
        self._outside, self._seen = [0.0] * len(self._cuts), 0.0
        self._rarer: dict[int, None] = {}  # tokens beyond the shortest part, the newest last
        self._parts: dict[tuple[int, ...], nn.Module] = {}

    def add(self, token_ids: Sequence[int]) -> None:
        """Notes tokens that are now part of the text."""
        if not self._cuts:
            return
        fade = (1 - 1 / MEMORY) ** len(token_ids)
        self._seen = self._seen * fade + len(token_ids)
        rare = [token for token in token_ids if token >= self._cuts[0]]
        new = [token for token in rare if token not in self._rarer]  # who was there already is drafted
        for i, cut in enumerate(self._cuts):
            self._outside[i] = self._outside[i] * fade + sum(token >= cut for token in new)
        for token in rare:
            self._rarer.pop(token, None)
            self._rarer[token] = None
        while len(self._rarer) > RARER:
            del self._rarer[next(iter(self._rarer))]
        enough = (cut for cut, outside in zip(self._cuts, self._outside) if outside <= MISSED * self._seen)
        self.rows = next(enough, self._target.config.vocab_size) if self._seen >= ENOUGH else self._target.config.vocab_size

    def embed(self, ids: mx.array) -> mx.array:
        return self._target.embed(ids)

    def lm_head(self, hidden: mx.array) -> mx.array:
        """Logits `[1, rows, vocab]`; -inf where the head is not read."""
        vocab_size = self._target.config.vocab_size
        if self.rows == vocab_size:
            return self._target.lm_head(hidden)
        logits = self._project((0, self.rows), hidden)
        logits = mx.pad(logits, [(0, 0), (0, 0), (0, vocab_size - self.rows)], constant_values=-mx.inf)
        if rarer := [token for token in self._rarer if token >= self.rows]:
            places = mx.broadcast_to(mx.array(rarer), (*logits.shape[:-1], len(rarer)))
            logits = mx.put_along_axis(logits, places, self._project(tuple(rarer), hidden, gathered=True), axis=-1)
        return logits

    def _project(self, rows: tuple[int, ...], hidden: mx.array, gathered: bool = False) -> mx.array:
        """By rows of the head: from one to another, a view of the weights, or `gathered`, each of them."""
        key = (gathered, *rows)
        if key not in self._parts:
            head = copy.copy(self._target.linear_layers[-1])
            head.pop("_unpacked", None)
            index = mx.array(rows) if gathered else slice(*rows)
            head.update({name: weight[index] for name, weight in head.parameters().items()})
            self._parts = {old: part for old, part in self._parts.items() if old[0] != gathered} | {key: head}
        return project(self._parts[key], hidden, self._target.kernels)
