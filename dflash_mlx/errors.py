"""What can go wrong for a user: one sentence says what, one says what to do."""

from textwrap import shorten


class DFlashError(Exception):
    """Base of every error a user can meet.

    Attributes:
        message: one sentence, what is wrong, with the offending value.
        hint: one sentence, what to do about it.
    """

    def __init__(self, message: str, hint: str) -> None:
        message = shorten(message, 400, placeholder=" ...")  # one line, whatever a library's own text looks like
        super().__init__(message, hint)  # what it is made of again where it is copied or pickled
        self.message, self.hint = message, hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}"


class ModelNotFoundError(DFlashError):
    """No model stands where the given name points."""


class UnsupportedModelError(DFlashError):
    """The checkpoint is of a kind that this runtime does not run."""


class CheckpointError(DFlashError):
    """The checkpoint's files are damaged, incomplete or contradict its configuration."""


class PairMismatchError(DFlashError):
    """Target and drafter were not made for each other."""


class MemoryBudgetError(DFlashError):
    """The request does not fit into this machine's memory."""


class RequestError(DFlashError):
    """The request itself makes no sense, or asks for more than the model can do."""
