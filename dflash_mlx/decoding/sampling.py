"""How a token is chosen from the target's distribution."""

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import mlx.core as mx

from dflash_mlx.checkpoint import read_json
from dflash_mlx.decoding.acceptance import Verdict, accept_equal, accept_in_tree, accept_sampled, race
from dflash_mlx.drafters import Draft
from dflash_mlx.drafters.dflash import GREEDY
from dflash_mlx.errors import CheckpointError, RequestError
from dflash_mlx.targets.tree import Tree

# mlx-lm's contract: tokens of the text so far, int32 [n], and the logits after them, [1, vocab] -> logits [1, vocab], of
# which at least one must be above -inf
LogitsProcessor = Callable[[mx.array, mx.array], mx.array]


@dataclass(frozen=True)
class Sampling:
    """The settings of a request. As they stand by default: greedy, the most likely token every time.

    They act in the order of penalties, temperature, top-k, top-p, min-p. Tokens that tie with the last one a filter
    keeps are kept too.

    Attributes:
        temperature: 0 is greedy; else logits are divided by it.
        top_p: keep the most likely tokens that together have this probability; 1 keeps all.
        top_k: keep this many of the most likely tokens; 0 keeps all.
        min_p: keep tokens at least this likely relative to the most likely one.
        repetition_penalty: divides the positive logits of tokens already in the text and multiplies the negative
            ones; 1 does nothing.
        presence_penalty: subtracted from the logits of tokens already in the text.
        seed: makes sampled text repeatable: what plain decoding samples with it, whatever drafts.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    seed: int | None = None

    @property
    def penalising(self) -> bool:
        """Whether tokens already in the text are treated differently."""
        return self.repetition_penalty != 1 or self.presence_penalty != 0


def check_sampling(sampling: Sampling) -> None:
    """Raises RequestError for what is not a Sampling, or out of range."""
    if not isinstance(sampling, Sampling):
        raise RequestError(f"sampling {sampling!r} is not a Sampling.", "Give a dflash_mlx.Sampling(...), or leave it out.")
    for name, value in vars(sampling).items():
        kind = int if name in ("top_k", "seed") else int | float
        if (not isinstance(value, kind) or isinstance(value, bool)) and not (name == "seed" and value is None):
            wanted = "whole number" if kind is int else "number"
            raise RequestError(f"{name} {value!r} is not a {wanted}.", f"Give a {wanted}.")
    # beyond these ranges float32 gives no numbers any more
    allowed = {
        "temperature": (0 <= sampling.temperature <= 1e30, "0 or more", "temperature=0.7"),
        "top_p": (0 < sampling.top_p <= 1, "above 0 and at most 1", "top_p=0.9; for the most likely token, temperature=0"),
        "top_k": (sampling.top_k >= 0, "0 or more", "top_k=20"),
        "min_p": (0 <= sampling.min_p <= 1, "from 0 to 1", "min_p=0.05"),
        "repetition_penalty": (0.01 <= sampling.repetition_penalty <= 100, "from 0.01 to 100", "repetition_penalty=1.1"),
        "presence_penalty": (abs(sampling.presence_penalty) <= 1000, "from -1000 to 1000", "presence_penalty=0.5"),
        "seed": (sampling.seed is None or 0 <= sampling.seed < 2**64, "from 0 to 2**64 - 1", "seed=1"),
    }
    for name, (fine, wanted, example) in allowed.items():
        if not fine:
            value = getattr(sampling, name)
            raise RequestError(f"{name} must be {wanted} (got {value!r}).", f"Try {example}.")


def read_default_sampling(folder: Path) -> Sampling:
    """The sampling that a model's generation_config.json asks for: greedy unless its `do_sample` is true.

    Raises:
        CheckpointError: the file is damaged, or asks for something impossible.
    """
    file = folder / "generation_config.json"
    config = read_json(file) if file.is_file() else {}
    sampled = config.get("do_sample") is True
    names = ["repetition_penalty", "presence_penalty", *(["temperature", "top_p", "top_k", "min_p"] if sampled else [])]
    found = ({"temperature": 1.0} if sampled else {}) | {name: config[name] for name in names if config.get(name) is not None}
    if isinstance(found.get("top_k"), int | float) and (found["top_k"] == -1 or found["top_k"] % 1 == 0):
        found["top_k"] = max(0, int(found["top_k"]))  # some write -1 for all, and 20.0
    sampling = Sampling(**found)
    try:
        check_sampling(sampling)
    except RequestError as error:
        raise CheckpointError(
            f"{file} asks for impossible sampling: {error.message}", "Correct the file, or get it again."
        ) from error
    return sampling


class Sampler:
    """Chooses the tokens of one request, the drafter's and the target's, as its `Sampling` says.

    Everything stays on the device. Random numbers belong to (seed, position, token): a drafter's draw and the target's race
    with the same ones, and a draft is kept where it is the target's own draw. So the text is the one that plain decoding
    draws with this seed. Without a seed, chains are judged by rejection sampling instead, which keeps as many or more.

    Attributes:
        key: of `mx.random`, that of the seed.
    """

    def __init__(
        self,
        sampling: Sampling,
        vocab_size: int,
        tokens: Sequence[int] = (),
        logits_processors: Sequence[LogitsProcessor] = (),
    ) -> None:
        """
        Args:
            vocab_size: width of the target's logits.
            tokens: the text so far, which penalties and processors see: the prompt.
            logits_processors: change the target's logits, one after the other, before anything else does.
        """
        self.sampling, self.processors = sampling, tuple(logits_processors)
        seed = secrets.randbits(64) if sampling.seed is None else sampling.seed
        self.key = mx.random.split(mx.random.key(seed))[0]  # hashed: positions are added to it, and seeds may be neighbours
        self._length = 0  # of the text
        self._tokens: list[int] = []
        self._seen = mx.zeros((vocab_size,), mx.bool_)
        self.add(tokens)

    def add(self, token_ids: Sequence[int]) -> None:
        """Notes tokens that are now part of the text; the newest is the anchor."""
        self._length += len(token_ids)
        if self.processors:
            self._tokens += token_ids
        if self.sampling.penalising:
            self._seen[mx.array(list(token_ids), mx.int32)] = True

    @property
    def temperature(self) -> float:
        """That of the request, for a drafter too; see `dflash_mlx.drafters.dflash.Chooser`."""
        return self.sampling.temperature

    def luck(self, positions: mx.array) -> mx.array:
        """Random numbers to draw with; see `Chooser`."""
        low = self.key[1] + positions.astype(mx.uint32)
        keys = mx.stack([mx.broadcast_to(self.key[0], low.shape), low], axis=-1)
        return mx.vmap(lambda key: mx.random.uniform(shape=self._seen.shape, key=key))(keys)

    def draw(self, scores: mx.array, filtered: bool, luck: mx.array | None) -> tuple[mx.array, mx.array | None]:
        """Draws from a drafter's scores; see `Chooser`."""
        if luck is None:
            return GREEDY.draw(scores, filtered, luck)
        q = self.distribution(scores, filtered)
        return race(q, luck), q

    def accept(self, draft: Draft, logits: mx.array, tree: Tree | None = None) -> Verdict:
        """Judges a draft, and draws the target's own token behind the part that is kept.

        Args:
            draft: of `rows` - 1 tokens after the text; none for a token that nothing was drafted for.
            logits: `[rows, vocab]`, the target's, after the text and after each draft.
            tree: which of these follow each other, where they are not a chain; not with logits processors.
        """
        logits = self.adjust(draft.ids, logits, tree)
        if self.temperature == 0:
            tokens = mx.argmax(logits, axis=-1).astype(mx.int32)
        else:
            p = self.distribution(logits)
            if self.sampling.seed is None and tree is None:
                return accept_sampled(draft, p, self._next_key())
            depths = tree.depths if tree else mx.arange(draft.ids.size + 1)
            tokens = race(p, self.luck(self._length + depths))
        return accept_in_tree(draft.ids, tokens, tree) if tree else accept_equal(draft.ids, tokens)

    def adjust(self, drafts: mx.array, logits: mx.array, tree: Tree | None = None) -> mx.array:
        """The logits `[rows, vocab]` after processors and penalties: row i's text ends with `drafts[:i]` (int32 `[rows - 1]`).

        tree: which drafts it ends with, where they are not a chain.
        """
        if self.processors:
            text, rows = mx.array(self._tokens, mx.int32), []
            for i, row in enumerate(mx.split(logits, logits.shape[0])):
                for process in self.processors:
                    row = _checked(process(mx.concatenate([text, drafts[:i]]), row), row.shape)
                rows.append(row)
            logits = mx.concatenate(rows)
        if self.sampling.penalising:
            logits = logits.astype(mx.float32)
            penalty = self.sampling.repetition_penalty
            penalised = mx.where(logits > 0, logits / penalty, logits * penalty) - self.sampling.presence_penalty
            logits = mx.where(self._seen_before(drafts, tree), penalised, logits)
        return logits

    def distribution(self, logits: mx.array, filtered: bool = True) -> mx.array:
        """Probabilities, float32 `[..., vocab]`, of logits `[..., vocab]`: temperature, then the filters if `filtered`."""
        logits = logits.astype(mx.float32)
        best = logits.max(axis=-1, keepdims=True)
        # the best becomes 0, also where a processor made it infinite: no temperature overflows it; 1e-30 stands for those
        # that float32 takes for 0
        logits = mx.where(logits == best, 0, logits - best) / max(self.temperature, 1e-30)
        if filtered:
            logits = mx.where(logits < self._lowest_kept(logits), -mx.inf, logits)
        return mx.softmax(logits, axis=-1)

    def _lowest_kept(self, logits: mx.array) -> mx.array:
        """The logit, `[..., 1]`, below which the filters drop tokens. The best of the `logits` must be 0."""
        top_k, top_p, min_p = self.sampling.top_k, self.sampling.top_p, self.sampling.min_p
        best, lowest = logits, mx.array(-mx.inf)
        if 0 < top_k < logits.shape[-1]:
            best = mx.topk(logits, top_k, axis=-1)
            lowest = best.min(axis=-1, keepdims=True)
        if top_p < 1:
            best = mx.sort(best, axis=-1)
            better = mx.cumsum(mx.exp(best), axis=-1, reverse=True, inclusive=False)  # what the tokens before it weigh together
            kept = mx.where(logits < lowest, 0, mx.exp(logits)).sum(axis=-1, keepdims=True)
            lowest = mx.where(better < top_p * kept, best, 0).min(axis=-1, keepdims=True)
        if min_p:
            lowest = mx.maximum(lowest, math.log(min_p))
        return lowest

    def _seen_before(self, drafts: mx.array, tree: Tree | None) -> mx.array:
        """Which tokens are in the text before each row: bool `[drafts + 1, vocab]`."""
        if tree:
            drafted = drafts[:, None] == mx.arange(self._seen.size)
            on_path = tree.ancestors[:, 1:].astype(mx.float32) @ drafted.astype(mx.float32) > 0
            return mx.logical_or(self._seen, on_path)
        rows = [self._seen]
        for i in range(drafts.size):
            rows.append(mx.logical_or(rows[-1], mx.arange(self._seen.size) == drafts[i]))
        return mx.stack(rows)

    def _next_key(self) -> mx.array:
        self.key, key = mx.random.split(self.key)
        return key


def _checked(logits: object, shape: tuple[int, ...]) -> mx.array:
    """What a logits processor returned, if it can be used: nobody else checks its width."""
    if not isinstance(logits, mx.array) or logits.shape != shape:
        found = list(logits.shape) if isinstance(logits, mx.array) else type(logits).__name__
        raise RequestError(
            f"a logits processor returned {found}, not logits {list(shape)}.",
            "Let it return an array shaped like the one it gets.",
        )
    return logits
