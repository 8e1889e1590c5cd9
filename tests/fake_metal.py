"""A Metal that computes what the kernels' references give, at a pace of its own and with the faults that a test asks for.

The harness of `metal_on_cpu` runs the kernels' source; this stands in for a device where what matters is what a kernel's
result, error or speed leads to.
"""

from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx

from dflash_mlx.kernels.candidates import candidates_reference
from dflash_mlx.kernels.gated_delta import Writes, gated_delta_reference
from dflash_mlx.kernels.inject_kv import inject_kv_reference
from dflash_mlx.kernels.recurrent_inputs import Weights, recurrent_inputs_reference
from dflash_mlx.kernels.verify_attention import verify_attention_reference

TICK = 1e-3  # seconds from one look at the clock to the next


class FakeMetal:
    """Stands for `mx.fast` and for the clock.

    Attributes:
        faults: by kernel, what is done with its outputs, or raises.
        seconds: by kernel, what a call takes beyond what MLX's op does.
        in_cycles: the same while `cycling` only, which a test sets in whole cycles.
        ran: every kernel that was called; forms: each with what it was compiled with.
        rows: of the last call to the recurrence.
    """

    def __init__(self) -> None:
        self.faults: dict[str, Callable[[list[mx.array]], list[mx.array]]] = {}
        self.seconds: dict[str, float] = {}
        self.in_cycles: dict[str, float] = {}
        self.ran: list[str] = []
        self.forms: set[tuple[str, str]] = set()
        self.rows, self.cycling = 0, False
        self._now = 0.0
        self._logits = mx.array(0)

    def perf_counter(self) -> float:
        self._now += TICK
        return self._now

    def metal_kernel(self, name: str, inputs: Sequence[str], outputs: Sequence[str], *_: str) -> Callable[..., list[mx.array]]:
        name = name.removeprefix("dflash_")

        def call(inputs: Sequence[mx.array], template: Sequence[tuple[str, Any]], **call: Any) -> list[mx.array]:
            self.ran.append(name)
            if name == "gated_delta":
                self.rows = inputs[7].shape[1]
            self.forms.add((name, str(template)))
            self._now += self.seconds.get(name, -TICK / 100) + (self.in_cycles.get(name, 0.0) if self.cycling else 0.0)
            results = getattr(self, f"_{name}")(dict(template), call["output_shapes"], *inputs)
            results = [result.astype(dtype) for result, dtype in zip(results, call["output_dtypes"], strict=True)]
            assert [result.shape for result in results] == [tuple(shape) for shape in call["output_shapes"]]
            return self.faults.get(name, lambda results: results)(results)

        return call

    def _verify_matmul(self, template: dict[str, Any], _: Any, x: mx.array, *weights: mx.array) -> list[mx.array]:
        how = {"transpose": True, "group_size": template["GROUP"], "bits": template["BITS"]}
        return [mx.concatenate([mx.quantized_matmul(row, *weights, **how) for row in mx.split(x, len(x))])]

    _verify_matmul_fast = _verify_matmul

    def _verify_attention(
        self, template: dict[str, Any], shapes: Any, queries: mx.array, keys: mx.array, values: mx.array, *rest: mx.array
    ) -> list[mx.array]:
        (position, seen), (heads, rows, chunks, _) = rest, shapes[0]
        ancestors = (mx.right_shift(seen[:, None], mx.arange(rows, dtype=mx.uint32)) & 1) > 0 if template["TREE"] else None
        y = verify_attention_reference(queries, keys, values, position, ancestors)[0].astype(mx.float32)
        sums = mx.concatenate([y[:, :, None], mx.zeros((heads, rows, chunks - 1, y.shape[-1]))], axis=2)
        return [sums, mx.zeros(shapes[1]), mx.zeros(shapes[2])]

    def _verify_attention_combine(self, _: Any, __: Any, sums: mx.array, *___: mx.array) -> list[mx.array]:
        return [sums[:, :, 0].transpose(1, 0, 2)[None]]

    def _gated_delta(
        self, template: dict[str, Any], _: Any, state: mx.array, path: mx.array, parents: mx.array, *rows: mx.array
    ) -> list[mx.array]:
        tree = parents if template["IsTree"] else None
        return list(gated_delta_reference(state, Writes(*rows[:4]), path, rows[4], Writes(*rows[5:]), tree))

    def _recurrent_inputs(
        self, template: dict[str, Any], _: Any, conv_rows: mx.array, before: mx.array, parents: mx.array, *rows: mx.array
    ) -> list[mx.array]:
        channels, heads = rows[3].shape[0], rows[4].size
        parts = [
            part[..., template[start] : template[start] + size]
            for part, start, size in zip(rows, ("QkvStart", "AStart", "BStart"), (channels, heads, heads))
        ]
        tree = parents if template["IsTree"] else None
        made = recurrent_inputs_reference(conv_rows, before, *parts, Weights(*rows[3:]), template["Hk"], template["Dk"], tree)
        return [made.q, *made.writes, made.conv_rows]

    def _inject_kv(self, template: dict[str, Any], shapes: Any, context: mx.array, block: mx.array, *rest: mx.array) -> Any:
        norms, frequencies, eps, position, count, capacities, layer = rest
        given = context if template["CONTEXT"] else None, block if template["BLOCK"] else None
        only = layer.item() if len(norms) > shapes[0][0] else None
        made = inject_kv_reference(*given, norms, frequencies, eps.item(), position, count, capacities, template["HEADS"], only)
        return list(made)

    def _candidates(self, _: Any, shapes: Any, logits: mx.array) -> list[mx.array]:
        self._logits = logits
        return [mx.zeros(shape) for shape in shapes]

    def _candidates_walk(self, template: dict[str, Any], _: Any, *inputs: mx.array) -> list[mx.array]:
        *walk, temperature, luck = inputs[2:]
        drawn = (temperature.item(), luck) if template["SAMPLED"] else ()
        return list(candidates_reference(self._logits, *walk, template["K"], *drawn))
