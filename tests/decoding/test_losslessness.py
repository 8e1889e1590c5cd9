"""Losslessness: text that was drafted and verified is distributed exactly as text that was not.

Over a target of 8 tokens the exact joint distribution of the next 3 tokens can be written down: 512 numbers, from the
target's logits after every text of up to 2 tokens. Draws by `DFlash.draft` and `Sampler.accept`, real ones of both
generations, are counted against it and against plain draws. Rules with a small mistake must not pass the same test.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product

import mlx.core as mx
import numpy as np
import pytest
from mlx_lm.models import qwen3
from sampling_reference import disagreement, distribution, misfit

from dflash_mlx.decoding.acceptance import Verdict, accept_sampled, draw_by_weight
from dflash_mlx.decoding.sampling import LogitsProcessor, Sampler, Sampling
from dflash_mlx.drafters import Draft, DrafterConfig, new_drafter
from dflash_mlx.targets import tree
from dflash_mlx.targets.tree import Tree

VOCAB, HIDDEN = 8, 16
PROMPT = [3, 1, 4, 1, 5]
LENGTH = 3  # tokens looked at
DRAFTS = 3  # tokens drafted a cycle
DRAWS = 100_000
SIZES = {
    "hidden_size": HIDDEN,
    "num_hidden_layers": 2,
    "intermediate_size": 32,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "rms_norm_eps": 1e-6,
    "vocab_size": VOCAB,
    "rope_theta": 10000.0,
    "max_position_embeddings": 64,
}
DRAFTER = SIZES | {"block_size": 4, "dflash_config": {"mask_token_id": VOCAB - 1, "target_layer_ids": [0, 1]}}
SELECTOR = {"selector_rank": 4, "selector_top_k": 5, "conv_kernel_size": 2, "conv_group_size": 4}


class TinyTarget:
    """A random Qwen3 by mlx-lm, and all it can say in the texts that occur.

    Attributes:
        logits: `[VOCAB ** n, VOCAB]` for n tokens behind the prompt, in order: those after each text.
        features: `[VOCAB ** n, rows, 2 * HIDDEN]` of all texts of 2 tokens, prompt included.
    """

    def __init__(self) -> None:
        args = SIZES | {"model_type": "qwen3", "tie_word_embeddings": False}
        self.module = qwen3.Model(qwen3.ModelArgs.from_dict(args))
        self.module.lm_head.weight = self.module.lm_head.weight * 1.5  # decided, but not too much
        deepest = LENGTH - 1 + DRAFTS
        texts = mx.array([PROMPT + list(text) for text in product(range(VOCAB), repeat=deepest)])
        x, taps = self.module.model.embed_tokens(texts), []
        for layer in self.module.model.layers:
            x = layer(x, "causal")
            taps.append(x)
        logits = self.lm_head(self.module.model.norm(x))
        self.logits = [logits[:: VOCAB ** (deepest - n), len(PROMPT) - 1 + n] for n in range(deepest + 1)]
        self.features = mx.concatenate(taps, axis=-1)[:: VOCAB ** (deepest - LENGTH + 1)]
        mx.eval(self.logits, self.features)

    def embed(self, ids: mx.array) -> mx.array:
        return self.module.model.embed_tokens(ids)

    def lm_head(self, hidden: mx.array) -> mx.array:
        return self.module.lm_head(hidden)

    def verify(self, text: tuple[int, ...], draft: Draft, tree: Tree | None = None) -> mx.array:
        """The logits `[drafts + 1, VOCAB]` after the text and after each draft."""
        places, drafts = [mx.array(number(text))], draft.ids.size
        for i in range(drafts):
            above = places[-1] if tree is None else mx.take(mx.stack(places), tree.parents[i + 1])
            places.append(above * VOCAB + draft.ids[i])
        lengths = len(text) + (mx.arange(drafts + 1) if tree is None else tree.depths)
        before = mx.array([(VOCAB**n - 1) // (VOCAB - 1) for n in range(len(self.logits))])  # texts that are shorter
        return mx.concatenate(self.logits)[mx.take(before, lengths) + mx.stack(places)]


def number(text: tuple[int, ...]) -> int:
    """A text's place among all texts of its length."""
    return int("0" + "".join(map(str, text)), VOCAB)


class Pair:
    def __init__(self, target: TinyTarget, version: int) -> None:
        config = DRAFTER if version == 1 else DRAFTER | {"dflash_config": DRAFTER["dflash_config"] | SELECTOR}
        self.target, self.drafter = target, new_drafter(DrafterConfig.from_dict(config))
        self.drafter.fuse()
        self.drafter._compiled_grow = self.drafter.grow

    def draft(self, text: tuple[int, ...], sampler: Sampler, nodes: int = 0) -> Draft:
        """What the drafter proposes after the prompt and `text`, of which the newest token is the anchor."""
        anchor, rows = (PROMPT + list(text))[-1], len(PROMPT) + len(text) - 1
        context = self.drafter.new_context(rows + DRAFTS + 1)
        features = self.target.features[number(text) * VOCAB ** (LENGTH - 1 - len(text)), :rows]
        self.drafter.inject(features[None], context, mx.array([0], mx.int32))
        position = mx.array([rows], mx.int32)
        return self.drafter.draft(mx.array([anchor], mx.int32), context, position, DRAFTS + 1, self.target, sampler, nodes)


class Outcome:
    """Counts `[VOCAB] * 3` of the texts that came out, and how often a cycle kept 0, 1, 2 and 3 drafts."""

    def __init__(self) -> None:
        self.reached = [np.zeros((VOCAB,) * n, int) for n in range(LENGTH + 1)]  # texts of each length, where cycles ended
        self.kept = np.zeros(DRAFTS + 1, int)

    @property
    def counts(self) -> np.ndarray:
        return self.reached[LENGTH]


def cycle(
    target: TinyTarget, pair: Pair | None, text: tuple[int, ...], sampler: Sampler, nodes: int, key: mx.array
) -> tuple[mx.array, mx.array]:
    """One cycle after the prompt and `text`: the verdict's tokens and count. Plain without a pair."""
    sampler.key = key
    draft = pair.draft(text, sampler, nodes) if pair else Draft(mx.array([], mx.int32))
    tree = None if draft.parents is None else Tree.of(mx.concatenate([mx.array([-1]), draft.parents]))
    verdict = sampler.accept(draft, target.verify(text, draft, tree), *([tree] if tree else []))
    return verdict.tokens, verdict.accepted


def decode(
    target: TinyTarget,
    pair: Pair | None,
    sampling: Sampling,
    sampler_class: type[Sampler] = Sampler,
    processors: tuple[LogitsProcessor, ...] = (),
    nodes: int = 0,
) -> Outcome:
    """Decodes `DRAWS` times until 3 tokens are there; plainly without a pair. nodes: of trees, instead of chains.

    All runs that have come to the same text do their next cycle together, each with a random key of its own.
    """
    outcome = Outcome()
    outcome.reached[0][()] = DRAWS
    for length in range(LENGTH):
        for text in product(range(VOCAB), repeat=length):
            runs = int(outcome.reached[length][text])
            if not runs:
                continue
            sampler = sampler_class(sampling, VOCAB, PROMPT + list(text), processors)
            keys = mx.random.split(mx.random.key(number((1, *text))), runs)  # another seed for each text
            together = mx.vmap(partial(cycle, target, pair, text, sampler, nodes))
            tokens, accepted = map(np.array, together(keys))
            outcome.kept += np.bincount(accepted[:, 0], minlength=DRAFTS + 1)
            added = np.minimum(accepted[:, 0] + 1, LENGTH - length)
            for n in range(1, LENGTH - length + 1):
                np.add.at(outcome.reached[length + n], (*text, *tokens[added == n, :n].T), 1)
    return outcome


def exact(target: TinyTarget, sampling: Sampling, fewer_repeats: bool = False) -> np.ndarray:
    """The joint distribution of the next 3 tokens, `[VOCAB] * 3`."""
    joint = np.ones(())
    for length in range(LENGTH):
        rows = []
        for text in product(range(VOCAB), repeat=length):
            logits = np.array(target.logits[length][number(text)], np.float64)
            if fewer_repeats:
                logits[(PROMPT + list(text))[-1]] -= 1.5
            rows.append(distribution(logits, PROMPT + list(text), sampling))
        joint = joint[..., None] * np.reshape(rows, (VOCAB,) * (length + 1))
    return joint


@pytest.fixture(scope="module")
def target() -> TinyTarget:
    mx.random.seed(2)
    return TinyTarget()


@pytest.fixture(scope="module", autouse=True)
def not_compiled() -> Iterator[None]:
    """What depends on the key: `mx.vmap` does not see through `mx.compile`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "_compiled_reach", tree._reach)
        yield


@pytest.fixture(scope="module", params=[1, 2], ids=["dflash", "dflash2"])
def pair(request: pytest.FixtureRequest, target: TinyTarget) -> Pair:
    mx.random.seed({1: 10, 2: 18}[request.param])  # of 30 seeds those whose drafters agree most with the target
    return Pair(target, request.param)


SETTINGS = {
    "temperature": Sampling(temperature=0.8),
    "hot": Sampling(temperature=1.5),
    "top_p": Sampling(temperature=1.0, top_p=0.8),
    "top_k": Sampling(temperature=1.0, top_k=4),
    "min_p": Sampling(temperature=1.0, min_p=0.15),
    "penalties": Sampling(temperature=1.0, repetition_penalty=1.5, presence_penalty=0.8),
    "all": Sampling(1.2, top_p=0.95, top_k=6, min_p=0.03, repetition_penalty=1.2, presence_penalty=-0.5),
    # drafts that are kept where they are the target's own draw
    "seed": Sampling(temperature=0.8, seed=0),
    "all with a seed": Sampling(1.2, top_p=0.95, top_k=6, min_p=0.03, repetition_penalty=1.2, presence_penalty=-0.5, seed=0),
}


@pytest.fixture(scope="module", params=SETTINGS)
def setting(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def plain(target: TinyTarget, setting: str) -> np.ndarray:
    return decode(target, None, SETTINGS[setting]).counts


def test_plain_text_is_distributed_as_the_logits_say(target: TinyTarget, setting: str, plain: np.ndarray) -> None:
    assert plain.sum() == DRAWS
    assert misfit(plain, exact(target, SETTINGS[setting])) < 1


def test_drafted_text_is_distributed_as_plain_text(target: TinyTarget, pair: Pair, setting: str, plain: np.ndarray) -> None:
    outcome = decode(target, pair, SETTINGS[setting])
    assert outcome.counts.sum() == DRAWS
    assert (outcome.kept > 0.03 * outcome.kept.sum()).all(), "all of accepting and rejecting must be at work"
    assert misfit(outcome.counts, exact(target, SETTINGS[setting])) < 1
    assert disagreement(outcome.counts, plain) < 1


@pytest.mark.parametrize("name", ["temperature", "all", "seed"])
def test_text_from_trees_is_distributed_as_plain_text(target: TinyTarget, pair: Pair, name: str) -> None:
    outcome = decode(target, pair, SETTINGS[name], nodes=5)
    assert (outcome.kept > 0.02 * outcome.kept.sum()).all(), "all of accepting and rejecting must be at work"
    assert misfit(outcome.counts, exact(target, SETTINGS[name])) < 1


def fewer_repeats(tokens: mx.array, logits: mx.array) -> mx.array:
    """A user's logits processor: the newest token is less likely to come again."""
    return mx.where(mx.arange(VOCAB) == tokens[-1], logits - 1.5, logits)


def test_drafted_text_follows_the_users_logits_processors(target: TinyTarget, pair: Pair) -> None:
    outcome = decode(target, pair, SETTINGS["temperature"], processors=(fewer_repeats,))
    assert misfit(outcome.counts, exact(target, SETTINGS["temperature"], fewer_repeats=True)) < 1
    assert misfit(outcome.counts, exact(target, SETTINGS["temperature"])) > 1


class RedrawsFromTheTarget(Sampler):
    """After a rejection it draws from p, not from what q has left of it."""

    def accept(self, draft: Draft, logits: mx.array, tree: None = None) -> Verdict:
        p = self.distribution(self.adjust(draft.ids, logits))
        tokens, accepted, _ = accept_sampled(draft, p, self._next_key())
        again = draw_by_weight(mx.take(p, accepted, axis=0), self._next_key())
        return Verdict(mx.where(mx.arange(p.shape[0]) == accepted, again, tokens), accepted)


class RecordsQTooEarly(Sampler):
    """Its q is the drafter's softmax before temperature and filters, from which nothing was drawn."""

    def draw(self, scores: mx.array, filtered: bool, luck: mx.array | None) -> tuple[mx.array, mx.array | None]:
        return super().draw(scores, filtered, luck)[0], mx.softmax(scores, axis=-1)


class AcceptsALittleMore(Sampler):
    """It accepts as if each draft had been a tenth less likely."""

    def draw(self, scores: mx.array, filtered: bool, luck: mx.array | None) -> tuple[mx.array, mx.array | None]:
        index, q = super().draw(scores, filtered, luck)
        return index, q * 0.9


class PenalisesTheTextOnly(Sampler):
    """Its penalties do not see the drafts before a row."""

    def adjust(self, drafts: mx.array, logits: mx.array, tree: None = None) -> mx.array:
        return mx.concatenate(
            [super(PenalisesTheTextOnly, self).adjust(drafts[:0], row) for row in mx.split(logits, drafts.size + 1)]
        )


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (RedrawsFromTheTarget, "temperature"),
        (RedrawsFromTheTarget, "top_p"),
        (RecordsQTooEarly, "hot"),
        (RecordsQTooEarly, "all"),
        (AcceptsALittleMore, "temperature"),
        (PenalisesTheTextOnly, "penalties"),
    ],
)
def test_a_rule_with_a_mistake_does_not_pass(target: TinyTarget, pair: Pair, rule: type[Sampler], name: str) -> None:
    sampling = SETTINGS[name]
    counts = decode(target, pair, sampling, rule).counts
    assert misfit(counts, exact(target, sampling)) > 1
    assert disagreement(counts, decode(target, None, sampling).counts) > 1


def test_runs_together_draw_what_each_would_draw_alone(target: TinyTarget, pair: Pair) -> None:
    sampler = Sampler(SETTINGS["all"], VOCAB, [*PROMPT, 2], (fewer_repeats,))
    run, keys = partial(cycle, target, pair, (2,), sampler, 0), mx.random.split(mx.random.key(5), 50)
    for together, alone in zip(mx.vmap(run)(keys), zip(*(run(key) for key in keys))):
        assert mx.array_equal(together, mx.stack(alone))
