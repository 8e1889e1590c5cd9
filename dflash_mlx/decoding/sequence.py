"""A target and its drafter at work on one sequence of tokens: what each remembers of it, kept in step."""

import mlx.core as mx

from dflash_mlx.drafters import DFlash
from dflash_mlx.drafters.context import Context
from dflash_mlx.targets import State, Target


class TokenSequence:
    """The target's state and the drafter's context for one sequence.

    Attributes:
        position: how many rows are committed. Their features are injected, so the context holds as many.
        device_reads: how often the host has waited for the device to tell it something.
    """

    def __init__(self, target: Target, drafter: DFlash | None) -> None:
        self.target, self.drafter = target, drafter
        self.state: State = target.new_state(0)
        self.context: Context | None = drafter.new_context() if drafter else None
        self.position = 0
        self.device_reads = 0

    @property
    def device_position(self) -> mx.array:
        """`position` as int32 `[1]`."""
        return mx.array([self.position], mx.int32)

    def reserve(self, rows: int) -> None:
        """Makes room for `rows` more rows."""
        self.state.reserve(self.position + rows)
        if self.context:
            self.context.reserve(self.position + rows)

    def draft(self, anchor: mx.array, block_size: int) -> mx.array:
        """The drafter's guess at the `block_size` - 1 tokens after the anchor (int32 `[1]`): int32 `[block_size - 1]`."""
        if self.drafter is None or self.context is None or block_size == 1:
            return mx.array([], mx.int32)
        return self.drafter.draft(anchor, self.context, self.device_position, block_size, self.target).ids

    def forward(self, ids: mx.array, commit: bool = False) -> tuple[mx.array, mx.array | None]:
        """The target over int32 `[rows]` at the current position; see `Target.forward`."""
        taps = self.drafter.config.target_layer_ids if self.drafter else ()
        return self.target.forward(ids[None], self.state, self.device_position, taps, commit)

    def commit(self, count: int, features: mx.array | None) -> None:
        """Makes the first `count` rows of the last forward permanent: in the state, and in the drafter's context.

        Args:
            count: rows, the anchor's included.
            features: what the forward returned with them.
        """
        self.state.commit(count)
        if self.drafter and self.context and features is not None:
            self.drafter.inject(features[:, :count], self.context, self.device_position)
        self.position += count

    def read(self, *arrays: mx.array) -> list[list[int]]:
        """Integer arrays `[n]` as lists, fetched from the device in one piece."""
        self.device_reads += 1
        flat: list[int] = mx.concatenate([a.astype(mx.int32) for a in arrays]).tolist()  # type: ignore[assignment]
        lists, start = [], 0
        for array in arrays:
            lists.append(flat[start : start + array.size])
            start += array.size
        return lists

    @property
    def arrays(self) -> list[mx.array]:
        """Every array that is remembered, for `mx.eval`."""
        return self.state.arrays + (self.context.arrays if self.context else [])
