"""What one request has read, for the next one: a prompt that begins with the same tokens is read from where they part.

Attention has a row for every position: rows behind that place are stale, and written over. A recurrent state has no
positions, and a ring keeps none that are old: they go back to the newest checkpoint before that place.
"""

from collections.abc import Sequence

from dflash_mlx.decoding.sequence import Checkpoint, TokenSequence
from dflash_mlx.drafters import DFlash
from dflash_mlx.targets import Target

MOST = 16  # checkpoints: two or three a turn; without a limit, memory would grow with every one


class PrefixCache:
    """One sequence, the tokens that it holds, and its checkpoints.

    Attributes:
        budget: bytes that checkpoints may take together. The oldest ones go first, but for the very first (what comes before
            it, like a system message, is common to most prompts); the newest always stays.
        sequence: None: nothing was read yet.
        token_ids: the tokens that the sequence holds, and maybe others after them.
        checkpoints: places that it can go back to, in their order; none where it can go back to any.
        exact_rows: how many of its first rows have the bits of plain decoding: those behind a block that was verified fast
            may not.
    """

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.sequence: TokenSequence | None = None
        self.token_ids: list[int] = []
        self.checkpoints: list[Checkpoint] = []
        self.exact_rows = 0
        self._prompt, self._entered = 0, 0  # length of the present request's prompt, and what of it was there

    def enter(self, target: Target, drafter: DFlash | None, exact: bool, prompt: list[int]) -> TokenSequence:
        """The sequence, back at the last place where it held nothing but a beginning of the prompt.

        At least the last token of the prompt is left to read.

        Args:
            drafter: None: this request needs none. A sequence without drafter knows nothing that could be drafted from: it
                does not serve one that needs it.
        """
        self._prompt, self._entered = len(prompt), 0
        if self.sequence is None or (drafter and not self.sequence.drafter):
            return self._start(TokenSequence(target, drafter, exact))
        sequence, common = self.sequence, common_length(self.token_ids, prompt[:-1])
        if exact:
            common = min(common, self.exact_rows)
        kept = [checkpoint for checkpoint in self.checkpoints if checkpoint.position <= common]
        if sequence.anywhere:
            sequence.go_back(Checkpoint(common, {}, {}))
        elif kept:
            sequence.go_back(kept[-1])
        else:
            return self._start(TokenSequence(target, sequence.drafter, exact))
        self._entered = sequence.position
        self.exact_rows = min(self.exact_rows, self._entered)
        self.token_ids, self.checkpoints = prompt[: self._entered], kept  # at once: an interrupt leaves what belongs together
        sequence.exact, sequence.device_reads = exact, 0
        return sequence

    def _start(self, sequence: TokenSequence) -> TokenSequence:
        self.sequence, self.token_ids, self.checkpoints, self.exact_rows = sequence, [], [], 0
        return sequence

    def mark(self, text: list[int]) -> None:
        """Makes the sequence's place, so far in a text, one to come back to."""
        assert self.sequence
        position, checkpoints = self.sequence.position, self.checkpoints
        if not self.sequence.anywhere and not (checkpoints and checkpoints[-1].position == position):
            checkpoints = self._thinned([*checkpoints, self.sequence.checkpoint()])
        self.token_ids, self.checkpoints = text[:position], checkpoints  # at once, as in `enter`
        if self.exact_rows >= self._entered:
            self.exact_rows = position if self.sequence.exact else min(position, self._prompt)

    def restore(self, sequence: TokenSequence, token_ids: list[int], checkpoints: list[Checkpoint], exact_rows: int) -> None:
        """Takes over what another cache held, its sequence at the end of the tokens."""
        checkpoints = self._thinned(checkpoints)
        self.sequence, self.token_ids, self.checkpoints, self.exact_rows = sequence, token_ids, checkpoints, exact_rows

    def _thinned(self, checkpoints: list[Checkpoint]) -> list[Checkpoint]:
        while len(checkpoints) > 1 and (nbytes_of(checkpoints) > self.budget or len(checkpoints) > MOST):
            checkpoints = [checkpoints[0], *checkpoints[2:]] if len(checkpoints) > 2 else checkpoints[1:]
        return checkpoints

    def leave(self, text: list[int]) -> None:
        """Ends a request; one that broke off leaves what it had marked.

        Args:
            text: its prompt and all tokens that were handed out: unless it broke off, the sequence holds all but the last.
        """
        if self.sequence and self.sequence.position == len(text) - 1:
            self.mark(text)


def nbytes_of(checkpoints: list[Checkpoint]) -> int:
    """What checkpoints hold beside the sequence itself."""
    return sum({id(array): array.nbytes for checkpoint in checkpoints for array in checkpoint.arrays}.values())


def common_length(a: Sequence[int], b: Sequence[int]) -> int:
    """How many tokens two texts have in common before they part, or before the shorter one ends."""
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def branches(tokens: int) -> list[int]:
    """Where later prompts may part from one of so many tokens, if nothing is known: at its end, in steps that grow.

    One that parts from it n tokens before its end then reads at most 8 n of them again.
    """
    return sorted(tokens - 8**i for i in range(20) if 8**i < tokens)
