"""What one request has read, for the next one: a prompt that begins with the same tokens is read from where they part.

Attention has a row for every position: rows behind that place are stale, and written over. A recurrent state has no
positions, and a ring keeps none that are old: they go back to the newest checkpoint before that place.
"""

from dflash_mlx.decoding.sequence import Checkpoint, TokenSequence
from dflash_mlx.drafters import DFlash
from dflash_mlx.targets import Target


class PrefixCache:
    """One sequence, the tokens that it holds, and its checkpoints.

    Attributes:
        sequence: None: nothing was read yet.
        token_ids: the tokens that the sequence holds, and maybe others after them.
        checkpoints: places that it can go back to, in their order; none where it can go back to any.
    """

    def __init__(self, budget: int) -> None:
        """budget: bytes that checkpoints may take together; the oldest ones go first, the newest always stays."""
        self.sequence: TokenSequence | None = None
        self.token_ids: list[int] = []
        self._budget = budget
        self.checkpoints: list[Checkpoint] = []

    def enter(self, target: Target, drafter: DFlash | None, exact: bool, prompt: list[int]) -> TokenSequence:
        """The sequence, back at the last place where it held nothing but a beginning of the prompt.

        At least the last token of the prompt is left to read.

        Args:
            drafter: None: this request needs none. A sequence without drafter knows nothing that could be drafted from: it
                does not serve one that needs it.
        """
        if self.sequence is None or (drafter and not self.sequence.drafter):
            return self._start(TokenSequence(target, drafter, exact))
        sequence, common = self.sequence, common_length(self.token_ids, prompt[:-1])
        self.checkpoints = [checkpoint for checkpoint in self.checkpoints if checkpoint.position <= common]
        if sequence.anywhere:
            sequence.go_back(Checkpoint(common, {}, {}))
        elif self.checkpoints:
            sequence.go_back(self.checkpoints[-1])
        else:
            return self._start(TokenSequence(target, sequence.drafter, exact))
        self.token_ids = prompt[: sequence.position]
        sequence.exact, sequence.device_reads = exact, 0
        return sequence

    def _start(self, sequence: TokenSequence) -> TokenSequence:
        self.sequence, self.token_ids, self.checkpoints = sequence, [], []
        return sequence

    def mark(self, text: list[int]) -> None:
        """Makes the sequence's place, so far in a text, one to come back to."""
        assert self.sequence
        self.token_ids = text[: self.sequence.position]
        if self.sequence.anywhere or (self.checkpoints and self.checkpoints[-1].position == self.sequence.position):
            return
        self.checkpoints.append(self.sequence.checkpoint())
        self._keep_budget()

    def restore(self, sequence: TokenSequence, token_ids: list[int], checkpoints: list[Checkpoint]) -> None:
        """Takes over what another cache held, its sequence at the end of the tokens."""
        self.sequence, self.token_ids, self.checkpoints = sequence, token_ids, checkpoints
        self._keep_budget()

    def _keep_budget(self) -> None:
        while len(self.checkpoints) > 1 and self.nbytes > self._budget:
            del self.checkpoints[0]

    def leave(self, text: list[int]) -> None:
        """Ends a request; one that broke off leaves what it had marked.

        Args:
            text: its prompt and all tokens that were handed out: unless it broke off, the sequence holds all but the last.
        """
        if self.sequence and self.sequence.position == len(text) - 1:
            self.mark(text)

    @property
    def nbytes(self) -> int:
        """What the checkpoints hold beside the sequence itself."""
        arrays = {id(array): array.nbytes for checkpoint in self.checkpoints for array in checkpoint.arrays}
        return sum(arrays.values())


def common_length(a: list[int], b: list[int]) -> int:
    """How many tokens two lists have in common before they part."""
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def branches(tokens: int) -> list[int]:
    """Where later prompts may part from one of so many tokens, if nothing is known: at its end, in steps that grow.

    One that parts from it n tokens before its end then reads at most 8 n of them again.
    """
    return sorted(tokens - 8**i for i in range(20) if 8**i < tokens)
