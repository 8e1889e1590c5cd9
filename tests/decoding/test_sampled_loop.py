"""The whole loop with sampling: what comes out is distributed as the target's logits say, whatever the widths."""

import copy
import itertools
from types import SimpleNamespace

import mlx.core as mx
import numpy as np
import pytest
from fixture_data import CHECKPOINTS
from sampling_reference import distribution, misfit

from dflash_mlx.decoding.acceptance import draw_by_weight
from dflash_mlx.decoding.loop import Cycle, run
from dflash_mlx.decoding.prefill import prefill
from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.decoding.sequence import Offer, TokenSequence
from dflash_mlx.drafters import Draft
from dflash_mlx.drafters.context import Context
from dflash_mlx.drafters.dflash import Chooser
from dflash_mlx.targets import State, Target, load_target

PROMPT = [5, 9, 200, 17, 9]
LENGTH = 3  # tokens looked at
DRAWS = 800
SAMPLING = Sampling(temperature=1.5, top_k=3, presence_penalty=0.3)


class Scheduled:
    def __init__(self, *block_sizes: int) -> None:
        self.coming = itertools.cycle(block_sizes)

    def next(self, position: int) -> Offer:
        return Offer(next(self.coming))

    def record(self, block_size: int, accepted: int, seconds: float, position: int, copied: bool, chain: object) -> None:
        pass


class MarginalDrafter:
    """Draws each token from how often it stands at its place in the target's texts, whatever stands before it."""

    config = SimpleNamespace(target_layer_ids=(0,), block_size=8)

    def __init__(self, texts: dict[tuple[int, ...], float], vocab_size: int) -> None:
        marginal = np.zeros((LENGTH + 16, vocab_size), np.float32)
        for text, chance in texts.items():
            for place, token in enumerate(text):
                marginal[place, token] += chance
        marginal[LENGTH:] = marginal[:LENGTH].mean(axis=0)
        self.marginal = mx.array(marginal / marginal.sum(axis=1, keepdims=True))
        self.key = mx.random.key(12345)

    def new_context(self) -> Context:
        return Context([])

    def inject(self, features: mx.array, context: Context, position: mx.array) -> None:
        pass

    def draft(
        self, anchor: mx.array, context: Context, position: mx.array, block_size: int, target: Target, chooser: Chooser
    ) -> Draft:
        place = position - (len(PROMPT) - 1) + mx.arange(block_size - 1)  # behind the anchor
        q = self.marginal[place]
        self.key, key = mx.random.split(self.key)
        return Draft(draw_by_weight(q, key), q)


def fork(sequence: TokenSequence) -> TokenSequence:
    """A sequence that goes on from where another one is, which stays as it is."""
    other = copy.copy(sequence)
    other.state = State([copy.copy(layer) for layer in sequence.state.layers])
    assert sequence.context
    other.context = Context([copy.copy(layer) for layer in sequence.context.layers])
    other._waiting = list(sequence._waiting)
    return other


def logits_after(target: Target, text: list[int]) -> np.ndarray:
    state = target.new_state(len(text))
    hidden, _ = target.forward(mx.array([text]), state, mx.array([0], mx.int32), commit=True)
    return np.array(target.lm_head(hidden[:, -1:])[0, 0])


def exact(target: Target, text: list[int]) -> dict[tuple[int, ...], float]:
    """The probability of every continuation of `LENGTH` tokens."""
    continuations: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(LENGTH):
        longer = {}
        for tokens, chance in continuations.items():
            p = distribution(logits_after(target, text + list(tokens)), text + list(tokens), SAMPLING)
            longer |= {(*tokens, int(token)): chance * p[token] for token in np.flatnonzero(p)}
        continuations = longer
    return continuations


@pytest.mark.parametrize(
    ("name", "block_sizes"),
    [
        ("target_qwen3_5", (1, 3, 1, 8)),
        ("target_qwen3", (4,)),
        pytest.param("target_qwen3_5", (4,), marks=pytest.mark.long),
        pytest.param("target_qwen3", (1, 3, 1, 8), marks=pytest.mark.long),
    ],
)
def test_sampled_text_is_distributed_as_plainly_sampled_text(name: str, block_sizes: tuple[int, ...]) -> None:
    target = load_target(CHECKPOINTS / name)
    wanted = exact(target, PROMPT)
    start = TokenSequence(target, MarginalDrafter(wanted, target.config.vocab_size))  # type: ignore[arg-type]
    greedy = Sampler(Sampling(), target.config.vocab_size)
    prefill(start, PROMPT[:-1], greedy)  # the last token of the prompt serves as the first anchor
    counts, cycles = dict.fromkeys(wanted, 0), list[Cycle]()
    for seed in range(DRAWS):
        sampler = Sampler(SAMPLING, target.config.vocab_size, PROMPT)
        sampler.key = mx.random.key(seed)
        anchor, tokens = mx.array(PROMPT[-1:], mx.int32), list[int]()
        for cycle in run(fork(start), anchor, sampler, Scheduled(*block_sizes), LENGTH + 1, len):
            tokens += cycle.token_ids
            cycles.append(cycle)
            if len(tokens) >= LENGTH:
                break
        counts[tuple(tokens[:LENGTH])] += 1
    assert misfit(np.array([counts[text] for text in wanted]), np.array(list(wanted.values()))) < 1
    drafted = [cycle for cycle in cycles if cycle.drafted]
    assert 0.2 < np.mean([cycle.accepted > 0 for cycle in drafted]) < 0.9  # drafts are kept, and drafts fall
    assert {0, 1, 2} <= {cycle.accepted for cycle in drafted}
