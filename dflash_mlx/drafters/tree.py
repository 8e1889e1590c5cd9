"""A tree of drafts: of all paths through the candidates, the most probable nodes.

Level by level the best few partial paths are kept; of all that were, the best nodes make the tree. A path is at most as probable
as what it begins with, so with every node its parent is there.
"""

from collections.abc import Callable

import mlx.core as mx

BEAM = 8  # partial paths that are kept a level


def grow(
    candidates: mx.array, scores: Callable[[int, mx.array], mx.array], anchor: mx.array, nodes: int
) -> tuple[mx.array, mx.array]:
    """The tokens and parents of a tree's nodes.

    Args:
        candidates: int32 `[levels, n]`, the tokens that may stand at each level.
        scores: given a level and the tokens before it, int32 `[paths]`, the logarithms of the candidates' probabilities there,
            float32 `[paths, n]`.
        anchor: int32 `[1]`, the token before the first level.
        nodes: how many; fewer where the levels do not hold so many.

    Returns:
        ids, parents: int32 `[nodes]`, level by level and the best first; a parent is 0, the anchor, or 1 + the place of a node.
    """
    levels, n = candidates.shape
    tokens, totals, parents, start = [], [], [], 0  # start: of the level above, among all kept paths
    before, total = anchor, mx.zeros((1,))
    for level in range(levels):
        sums = (total[:, None] + scores(level, before)).reshape(-1)
        best = mx.argsort(-sums)[:BEAM]
        total, before = sums[best], candidates[level][best % n]
        tokens.append(before)
        # at most as probable as its parent: a little less, so that no rounding and no certainty takes the child alone
        totals.append(total - 1e-5 * level)
        parents.append(best // n + start)
        start = 1 + sum(part.size for part in tokens[:-1])
    kept = sum(part.size for part in tokens)
    nodes = min(nodes, kept)
    chosen = mx.sort(mx.argpartition(-mx.concatenate(totals), nodes - 1)[:nodes])
    places = mx.zeros((kept + 1,), mx.int32)
    places[chosen + 1] = mx.arange(1, nodes + 1)  # by what it was among all kept paths; the anchor stays 0
    return mx.concatenate(tokens)[chosen].astype(mx.int32), places[mx.concatenate(parents)[chosen]]


def log_probabilities(scores: mx.array, temperature: float, luck: mx.array | None) -> mx.array:
    """How likely each candidate is the target's choice, by the drafter's scores, float32 `[..., n]`.

    luck: `[..., n]`, the numbers that the target draws with: who has a good one is more likely drawn.
    """
    scores = scores.astype(mx.float32)
    if luck is not None:  # as in `decoding.acceptance.race`
        scores = scores / temperature - mx.log(-mx.log1p(-luck))
    return scores - mx.logsumexp(scores, axis=-1, keepdims=True)
