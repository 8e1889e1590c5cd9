"""How a token is chosen from the target's distribution."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sampling:
    """The settings of a request. As they stand by default: greedy, the most likely token every time.

    Attributes:
        temperature: 0 is greedy; else logits are divided by it.
        top_p: keep the most likely tokens that together have this probability; 1 keeps all.
        top_k: keep this many of the most likely tokens; 0 keeps all.
        min_p: keep tokens at least this likely relative to the most likely one.
        repetition_penalty: divides the positive logits of tokens already in the text and multiplies the negative
            ones; 1 does nothing.
        presence_penalty: subtracted from the logits of tokens already in the text.
        seed: makes sampled text repeatable.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    seed: int | None = None

    @property
    def greedy(self) -> bool:
        """Whether every token is simply the target's argmax."""
        return self.temperature == 0 and self.repetition_penalty == 1 and self.presence_penalty == 0
