"""What sampling should do, in plain numpy and float64; and the statistics that tell whether it does."""

import numpy as np

from dflash_mlx.decoding.sampling import Sampling


def distribution(logits: np.ndarray, text: list[int], sampling: Sampling) -> np.ndarray:
    """The probabilities `[vocab]` of the token after a text, whose logits `[vocab]` are given."""
    x = logits.astype(np.float64)
    for token in set(text):
        x[token] = x[token] / sampling.repetition_penalty if x[token] > 0 else x[token] * sampling.repetition_penalty
        x[token] -= sampling.presence_penalty
    x = (x - x.max()) / sampling.temperature
    p = np.exp(x)
    descending = np.argsort(-x)
    if sampling.top_k:
        p[x < x[descending[: sampling.top_k]].min()] = 0
    p /= p.sum()
    if sampling.top_p < 1:
        enough = np.searchsorted(np.cumsum(p[descending]), sampling.top_p)  # the first place at which top_p is reached
        p[x < x[descending[enough]]] = 0
    p[p < sampling.min_p * p.max()] = 0
    return p / p.sum()


def misfit(counts: np.ndarray, p: np.ndarray) -> float:
    """Pearson's chi-square of counts against probabilities, over its critical value: above 1 they do not fit.

    Infinite where something was counted that has no probability. The critical value lets one fitting sample in 30,000 fail.
    """
    if counts[p == 0].any():
        return np.inf
    observed, wanted = _cells(p * counts.sum(), counts.ravel(), (p * counts.sum()).ravel())
    return float(((observed - wanted) ** 2 / wanted).sum() / _critical(len(wanted) - 1))


def disagreement(a: np.ndarray, b: np.ndarray) -> float:
    """The same for two samples of one size, of which neither is known to be right."""
    a, b = _cells(a + b, a.ravel(), b.ravel())
    return float(((a - b) ** 2 / (a + b)).sum() / _critical(len(a) - 1))


def _cells(size: np.ndarray, *samples: np.ndarray) -> list[np.ndarray]:
    """The samples over cells of a `size` of at least 10: those that are smaller are put together, from the smallest up."""
    order = np.argsort(size.ravel(), kind="stable")
    filled = np.cumsum(size.ravel()[order])
    small = max(np.searchsorted(filled, 10), np.searchsorted(size.ravel()[order], 10) - 1)  # the last that is pooled
    return [np.append(sample[order[small + 1 :]], sample[order[: small + 1]].sum()) for sample in samples]


def _critical(degrees: int) -> float:
    """The chi-square value that is exceeded once in 30,000 times (Wilson and Hilferty's approximation)."""
    spread = 2 / (9 * degrees)
    return degrees * (1 - spread + 4 * spread**0.5) ** 3
