"""`metal_kernel`, a drop-in for `mx.fast.metal_kernel` that compiles the kernel for the CPU and runs it at once, checked."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import mlx.core as mx
import numpy as np

from .build import build
from .run import Buffer, Options, Run, run
from .source import with_threadgroup_memory

VECTORS = "threads_per_threadgroup grid_origin grid_size position threadgroups_per_grid threads_per_grid".split()
ATTRIBUTES = {  # in MLX's order
    name: "uint3" if any(part in name for part in VECTORS) else "uint"
    for name in (
        "dispatch_quadgroups_per_threadgroup dispatch_simdgroups_per_threadgroup dispatch_threads_per_threadgroup grid_origin "
        "grid_size quadgroup_index_in_threadgroup quadgroups_per_threadgroup simdgroup_index_in_threadgroup "
        "simdgroups_per_threadgroup thread_execution_width thread_index_in_quadgroup thread_index_in_simdgroup "
        "thread_index_in_threadgroup thread_position_in_grid thread_position_in_threadgroup threadgroup_position_in_grid "
        "threadgroups_per_grid threads_per_grid threads_per_simdgroup threads_per_threadgroup"
    ).split()
}
CONSTANT_BELOW = 8  # elements: MLX passes smaller inputs in the constant address space
MAX_BUFFERS = 31  # of a Metal function, shapes and strides among them

_options = Options()
_last: Run | None = None
_recordings: list[list[Run]] = []


@contextlib.contextmanager
def options(**changes: Any) -> Iterator[None]:
    """Inside, dispatches have other Options."""
    global _options
    before = _options
    _options = replace(before, **changes)
    try:
        yield
    finally:
        _options = before


@contextlib.contextmanager
def recording() -> Iterator[list[Run]]:
    """A list that gets the Run of every dispatch inside."""
    runs: list[Run] = []
    _recordings.append(runs)
    try:
        yield runs
    finally:
        _recordings.remove(runs)


def last_run() -> Run:
    """What the last dispatch of this process did."""
    if _last is None:
        raise LookupError("no kernel has run yet")
    return _last


class Parameter(NamedTuple):
    """Of the Metal function; `value` is None for outputs."""

    kind: str
    name: str
    value: mx.array | None


class Template(NamedTuple):
    kind: str
    name: str
    value: str


class metal_kernel:
    """As `mx.fast.metal_kernel`. Inputs are made row-contiguous in any case: Python cannot see an array's strides."""

    def __init__(
        self,
        name: str,
        input_names: Sequence[str],
        output_names: Sequence[str],
        source: str,
        header: str = "",
        ensure_row_contiguous: bool = True,
        atomic_outputs: bool = False,
        compile_options: dict[str, Any] | None = None,
    ) -> None:
        self.name, self.input_names, self.output_names = name, list(input_names), list(output_names)
        self.source, self.header, self.atomic_outputs = source, header, atomic_outputs
        self.attributes = {name: kind for name, kind in ATTRIBUTES.items() if name in source}

    def __call__(
        self,
        *,
        inputs: Sequence[Any],
        grid: Sequence[int],
        threadgroup: Sequence[int],
        output_shapes: Sequence[Sequence[int]],
        output_dtypes: Sequence[mx.Dtype],
        template: Sequence[tuple[str, Any]] | None = None,
        init_value: float | None = None,
        verbose: bool = False,
        stream: Any = None,
    ) -> list[mx.array]:
        global _last
        for what, values, names in (
            ("inputs", inputs, self.input_names),
            ("output_shapes", output_shapes, self.output_names),
            ("output_dtypes", output_dtypes, self.output_names),
        ):
            if len(values) != len(names):
                raise ValueError(f"kernel {self.name} wants {len(names)} {what} ({', '.join(names)}), got {len(values)}")
        if len(grid) != 3 or len(threadgroup) != 3 or min(*grid, *threadgroup) < 1:
            raise ValueError(
                f"kernel {self.name} wants three numbers from 1: grid {tuple(grid)}, threadgroup {tuple(threadgroup)}"
            )
        if math.prod(threadgroup) > 1024:
            raise ValueError(f"kernel {self.name}: a threadgroup of {tuple(threadgroup)} has more than 1024 threads")
        arrays = [mx.contiguous(value if isinstance(value, mx.array) else mx.array(value)) for value in inputs]
        parameters = self._parameters(arrays, output_dtypes)
        if len(parameters) > MAX_BUFFERS:
            raise ValueError(f"kernel {self.name} has {len(parameters)} buffers, Metal binds {MAX_BUFFERS}")
        templates = [_template(name, value) for name, value in template or []]
        if verbose:
            print(self.metal_source(parameters, templates, self.header, self.source))
        program = build(self.name, self._program(parameters, templates), _options.checks, _options.contract)
        buffers = [Buffer(p.name, _to_bytes(p.value), p.value.itemsize) for p in parameters if p.value is not None]
        for name, shape, dtype in zip(self.output_names, output_shapes, output_dtypes):
            initial = None if init_value is None else _to_bytes(mx.full(shape, init_value, dtype))
            buffers.append(Buffer(name, initial, dtype.size, output_bytes=math.prod(shape) * dtype.size))
        group = [min(t, g) for t, g in zip(threadgroup, grid)]
        _last, outputs = run(program, self.name, buffers, grid, group, _options)
        for runs in _recordings:
            runs.append(_last)
        return [_from_bytes(data, shape, dtype) for data, shape, dtype in zip(outputs, output_shapes, output_dtypes)]

    def metal_source(self, parameters: list[Parameter], templates: list[Template], header: str, body: str) -> str:
        """The text that MLX gives to Metal's compiler, but for the name of the function and its instantiation."""
        lines = [f"  {p.kind} {p.name} [[buffer({i})]]" for i, p in enumerate(parameters)]
        lines += [f"  {kind} {name} [[{name}]]" for name, kind in self.attributes.items()]
        template = f"template <{', '.join(f'{t.kind} {t.name}' for t in templates)}>\n" if templates else ""
        return f"{header}{template}[[kernel]] void custom_kernel_{self.name}(\n" + ",\n".join(lines) + f") {{\n{body}\n}}\n"

    def _parameters(self, arrays: list[mx.array], output_dtypes: Sequence[mx.Dtype]) -> list[Parameter]:
        parameters = []
        for name, array in zip(self.input_names, arrays):
            space = "constant" if array.size < CONSTANT_BELOW else "device"
            parameters.append(Parameter(f"const {space} {_type(array.dtype)}{'*' if array.ndim else '&'}", name, array))
            strides = [math.prod(array.shape[i + 1 :]) for i in range(array.ndim)]
            for suffix, kind, value in (
                ("shape", "const constant int*", mx.array(array.shape, mx.int32)),
                ("strides", "const constant int64_t*", mx.array(strides, mx.int64)),
                ("ndim", "const constant int&", mx.array(array.ndim, mx.int32)),
            ):
                if array.ndim and f"{name}_{suffix}" in self.source:
                    parameters.append(Parameter(kind, f"{name}_{suffix}", value))
        for name, dtype in zip(self.output_names, output_dtypes):
            kind = f"atomic<{_type(dtype)}>" if self.atomic_outputs else _type(dtype)
            parameters.append(Parameter(f"device {kind}*", name, None))
        return parameters

    def _program(self, parameters: list[Parameter], templates: list[Template]) -> str:
        """What clang compiles: metal_source, with threadgroup memory as the runtime has it, and a call of it."""
        values = [
            f"*({p.kind.replace('&', '*')})buffers[{i}]" if "&" in p.kind else f"({p.kind})buffers[{i}]"
            for i, p in enumerate(parameters)
        ]
        values += [
            f"at->{name}" if kind == "uint" else f"uint3(at->{name}.x, at->{name}.y, at->{name}.z)"
            for name, kind in self.attributes.items()
        ]
        header = f'#line 1 "header"\n{with_threadgroup_memory(self.header)}\n' if self.header else ""
        body = f'#line 1 "source"\n{with_threadgroup_memory(self.source)}'
        arguments = f"<{', '.join(t.value for t in templates)}>" if templates else ""
        return (
            '#include "metal.h"\n#include "mlx/backend/metal/kernels/utils.h"\n'
            + self.metal_source(parameters, templates, header, body)
            + f'#line 1 "call"\nvoid msl_entry(void** buffers, const msl_thread* at) {{\n'
            f"  custom_kernel_{self.name}{arguments}({', '.join(values)});\n}}\n"
        )


def _type(dtype: mx.Dtype) -> str:
    name = str(dtype).removeprefix("mlx.core.")
    return {"bool": "bool", "float32": "float"}.get(name, f"{name}_t")


def _template(name: str, value: Any) -> Template:
    if isinstance(value, mx.Dtype):
        return Template("typename", name, _type(value))
    if isinstance(value, int):
        return Template("bool" if isinstance(value, bool) else "int", name, str(int(value)))
    raise ValueError(f"template argument {name} is {value!r}: a dtype, an int or a bool is wanted")


def _to_bytes(array: mx.array) -> bytes:
    return np.array(array.view(mx.uint16) if array.dtype == mx.bfloat16 else array).tobytes()


def _from_bytes(data: bytes, shape: Sequence[int], dtype: mx.Dtype) -> mx.array:
    stored = mx.uint16 if dtype == mx.bfloat16 else dtype
    array = mx.array(np.frombuffer(data, np.dtype(str(stored).removeprefix("mlx.core."))))
    return (array.view(dtype) if dtype == mx.bfloat16 else array).reshape(shape)
