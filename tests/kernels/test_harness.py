"""Positive controls of tests/metal_on_cpu: each detector fires on a broken kernel and is silent on its twin put right."""

import re
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from metal_on_cpu import (
    CompileError,
    KernelCrash,
    count_barriers,
    last_run,
    lint,
    metal_kernel,
    options,
    recording,
    without_barrier,
)
from metal_on_cpu.kernel import ATTRIBUTES

import dflash_mlx

START = "uint t = thread_position_in_grid.x; uint l = thread_position_in_threadgroup.x;\n"  # so a control's text begins at line 2
X = mx.arange(256).astype(mx.float32)


def dispatch(body, inputs=(X,), outputs=((256,),), dtypes=None, grid=256, threadgroup=64, header="", **more):
    """Inputs x, x1, ...; outputs o, o1, ..."""
    names = [[letter + (str(i) if i else "") for i in range(len(values))] for letter, values in (("x", inputs), ("o", outputs))]
    kernel = metal_kernel("control", *names, START + body, header, atomic_outputs=more.pop("atomic_outputs", False))
    return kernel(
        inputs=list(inputs),
        grid=(grid, 1, 1),
        threadgroup=(threadgroup, 1, 1),
        output_shapes=list(outputs),
        output_dtypes=dtypes or [mx.float32] * len(outputs),
        **more,
    )


SHARED = "threadgroup float s[64]; s[l] = x[t];\n{}\no[t] = s[{}];"
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
THROUGH_DEVICE = "o[t] = x[t];\n{}\nif (l == 0) o[t] = o[t + 1];"

CONTROLS = {  # what it is about: the finding, the broken kernel, its twin
    "a read one element too far": ("out-of-bounds read at source:2", "o[t] = x[t + 1];", "o[t] = x[t];"),
    "a read before the start": ("out-of-bounds read at source:2", "o[t] = x[int(t) - 1];", "o[t] = x[int(t)];"),
    "a write one element too far": ("out-of-bounds write at source:2", "o[t] = x[t]; o[t + 1] = x[t];", "o[t] = x[t];"),
    "a read of another world": ("out-of-bounds access", "o[t] = x[t + 100000000];", "o[t] = x[t];"),
    "a threadgroup read too far": (
        "out-of-bounds read at source:2",
        f"threadgroup float s[64]; threadgroup float* p = s; s[l] = x[t]; {BARRIER} o[t] = p[l + 1];",
        f"threadgroup float s[64]; threadgroup float* p = s; s[l] = x[t]; {BARRIER} o[t] = p[63 - l];",
    ),
    "a threadgroup write too far": (
        "out-of-bounds write at source:2",
        "threadgroup float s[64], u[64]; threadgroup float* p = s; p[l + 1] = x[t]; u[l] = x[t]; o[t] = u[l];",
        "threadgroup float s[64], u[64]; threadgroup float* p = s; p[l] = x[t]; u[l] = x[t]; o[t] = u[l];",
    ),
    "an index out of a thread's array": (
        "index out of its array at source:2",
        "float a[4] = {1, 2, 3, 4}; o[t] = a[t % 5];",
        "float a[4] = {1, 2, 3, 4}; o[t] = a[t % 4];",
    ),
    "a row of threadgroup memory overrun": (
        "index out of its array at source:2",
        "threadgroup float s[2][32]; s[0][l] = x[t]; o[t] = s[0][l];",
        "threadgroup float s[2][32]; s[l / 32][l % 32] = x[t]; o[t] = s[l / 32][l % 32];",
    ),
    "a missing barrier": ("race between SIMD groups at source:4", SHARED.format("", "63 - l"), SHARED.format(BARRIER, "63 - l")),
    "a barrier for no memory": (
        "race between SIMD groups at source:4",
        SHARED.format("threadgroup_barrier(mem_flags::mem_none);", "63 - l"),
        SHARED.format(BARRIER, "63 - l"),
    ),
    "a SIMD group's barrier between SIMD groups": (
        "race between SIMD groups at source:4",
        SHARED.format("simdgroup_barrier(mem_flags::mem_threadgroup);", "63 - l"),
        SHARED.format("simdgroup_barrier(mem_flags::mem_threadgroup);", "l ^ 1"),
    ),
    "lanes that share without a barrier": (
        "race within a SIMD group at source:4",
        SHARED.format("", "l ^ 1"),
        SHARED.format("simdgroup_barrier(mem_flags::mem_threadgroup);", "l ^ 1"),
    ),
    "a second round over what is still read": (
        "race between SIMD groups at source:2: write after read",
        f"threadgroup float s[64]; for (int i = 0; i < 2; i++) {{ s[l] = x[t]; {BARRIER} o[t] = s[63 - l]; }}",
        f"threadgroup float s[64]; for (int i = 0; i < 2; i++) {{ s[l] = x[t]; {BARRIER} o[t] = s[63 - l]; {BARRIER} }}",
    ),
    "a reader that overwrites what all read": (
        "race between SIMD groups at source:2: write after read",
        f"threadgroup float s[1]; if (l == 0) s[0] = 1; {BARRIER} o[t] = s[0] * x[t]; if (l == 63) s[0] = 0;",
        f"threadgroup float s[1]; if (l == 0) s[0] = 1; {BARRIER} o[t] = s[0] * x[t]; {BARRIER} if (l == 63) s[0] = 0;",
    ),
    "two that write one element": ("write after write", "if (l < 63) o[t] = x[t]; if (l > 0) o[t - l] = x[t];", "o[t] = x[t];"),
    "device memory behind a threadgroup barrier": (
        "race within a SIMD group",
        THROUGH_DEVICE.format(BARRIER),
        THROUGH_DEVICE.format("threadgroup_barrier(mem_flags::mem_device);"),
    ),
    "threadgroups that write one element": ("race between threadgroups at source:2", "o[l] = x[t]; o[t] = x[t];", "o[t] = x[t];"),
    "a barrier that some do not reach": (
        "divergent barrier at source:2: only 48 of 64 threads",
        f"if (l < 48) {BARRIER} o[t] = x[t];",
        f"if (l < 64) {BARRIER} o[t] = x[t];",
    ),
    "two barriers at once": (
        "divergent barrier",
        f"if (l < 32) {BARRIER}\nelse {BARRIER}\no[t] = x[t];",
        f"if (x[0] < 32) {BARRIER}\nelse {BARRIER}\no[t] = x[t];",
    ),
    "a collective of some lanes": (
        "divergent collective at source:2: simd_sum with lanes 000fffff",
        "float v = x[t]; if (l % 32 < 20) v = simd_sum(v); simdgroup_barrier(mem_flags::mem_none); o[t] = v;",
        "float v = x[t]; if (l < 32) v = simd_sum(v); simdgroup_barrier(mem_flags::mem_none); o[t] = v;",
    ),
    "a matrix loaded by some lanes": (
        "divergent collective at source:2: simdgroup_load",
        "simdgroup_float8x8 m(0); if (l % 32 != 3) simdgroup_load(m, x, 8);\n o[t] = simd_sum(m.thread_elements()[0]);",
        "simdgroup_float8x8 m(0); if (l / 32 != 1) simdgroup_load(m, x, 8);\n o[t] = simd_sum(m.thread_elements()[0]);",
    ),
    "a shuffle from a lane that is not there": (
        "bad lane at source:2: simd_shuffle reads lane 32",
        "o[t] = simd_shuffle(x[t], ushort(l % 32 + 1));",
        "o[t] = simd_shuffle(x[t], ushort((l + 1) % 32));",
    ),
    "threadgroup memory never written": (
        "uninitialised read at source:2",
        f"threadgroup float s[64]; if (l < 32) s[l] = x[t]; {BARRIER} o[t] = s[63 - l];",
        f"threadgroup float s[64]; s[l] = x[t]; {BARRIER} o[t] = s[63 - l];",
    ),
    "threadgroup memory of the threadgroup before": (
        "uninitialised read",
        f"threadgroup float s[64]; if (t < 64) s[l] = x[t]; {BARRIER} o[t] = s[63 - l];",
        f"threadgroup float s[64]; if (t < 256) s[l] = x[t]; {BARRIER} o[t] = s[63 - l];",
    ),
    "an output read before it is written": ("uninitialised read at source:2: of o", "o[t] += x[t];", "o[t] = 0; o[t] += x[t];"),
    "an output with a hole": (
        "unwritten output at ?: o: 1 of 256 elements, from 7",
        "if (t != 7) o[t] = x[t];",
        "o[t] = x[t];",
    ),
    "a write to an input": (
        "write to an input at source:2: x",
        "device float* p = (device float*)x; p[t] = 1; o[t] = x[t];",
        "device float* p = (device float*)o; p[t] = 1; o[t] = x[t];",
    ),
    "a row copied whole is not misaligned, a word is": (
        "misaligned at source:3",
        "struct Row { float a[4]; }; Row r = ((device const Row*)(x + 1))[t % 8];\n"
        "o[t] = r.a[2] + *(device const uint*)((device const uchar*)x + t % 4);",
        "struct Row { float a[4]; }; Row r = ((device const Row*)(x + 1))[t % 8];\n"
        "o[t] = r.a[2] + *(device const uint*)((device const uchar*)x + t * 4);",
    ),
    "a misaligned float4": (
        "misaligned at source:2",
        "device const float4* v = (device const float4*)(x + 1); o[t] = v[t % 8].y;",
        "device const float4* v = (device const float4*)(x + 4); o[t] = v[t % 8].y;",
    ),
    "a misaligned float4 copied": (
        "misaligned at source:2",
        "float4 v = *(device const float4*)(x + t % 8); o[t] = v.y;",
        "float4 v = *(device const float4*)(x + t % 8 * 4); o[t] = v.y;",
    ),
    "a misaligned float4 stored": (
        "misaligned at source:2",
        "if (t < 63) *(device float4*)(o + 4 * t + 2) = float4(x[t]);",
        "if (t < 64) *(device float4*)(o + 4 * t) = float4(x[t]);",
    ),
    "more threadgroup memory than there is": (
        "threadgroup memory at ?: 32784 bytes",
        "threadgroup float s[8192], u[4]; s[l] = x[t]; u[l % 4] = 0; o[t] = s[l];".replace(
            "u[l % 4] = 0;", "if (l == 0) u[0] = 0;"
        ),
        "threadgroup float s[8188], u[4]; s[l] = x[t]; if (l == 0) u[0] = 0; o[t] = s[l];",
    ),
    "a shift by 32": ("shift by too much at source:2", "o[t] = 1u << t % 33;", "o[t] = 1u << t % 32;"),
    "an integer overflow": ("integer overflow", "o[t] = int(t) * 100000000;", "o[t] = int(t) * 1000000;"),
    "more variables than fit": (
        "stack overflow",
        "float a[40000]; for (uint i = 0; i < 40000; i++) a[i] = x[i % 256 ^ l]; o[t] = a[t] + a[39999 - t];",
        "float a[4000]; for (uint i = 0; i < 4000; i++) a[i] = x[i % 256 ^ l]; o[t] = a[t] + a[3999 - t];",
    ),
}


@pytest.mark.parametrize("control", CONTROLS)
def test_the_broken_kernel_is_found_out_and_its_twin_is_not(control):
    finding, broken, right = CONTROLS[control]
    dispatch(broken)
    assert any(found.startswith(finding) or finding in found for found in last_run().findings), last_run().findings
    dispatch(right)
    assert last_run().findings == []


def test_a_kernel_that_hangs_is_ended():
    with options(timeout=1), pytest.raises(KernelCrash, match="did not end within 1 s"):
        dispatch("while (x[0] == 0) {} o[t] = 0;")


def test_a_kernel_that_does_not_compile_gets_the_compilers_words():
    with pytest.raises(CompileError, match="source:3.*nonsense"):
        dispatch("\no[t] = nonsense;")


def test_a_variable_never_set_does_not_compile():
    with pytest.raises(CompileError, match="source:2.*uninitialized"):
        dispatch("float a; o[t] = a;")
    with pytest.raises(CompileError, match="not understand.*float s"):
        dispatch("threadgroup float s[64] = {};")


def test_what_a_mac_refuses_is_refused():
    with pytest.raises(ValueError, match="more than 1024 threads"):
        dispatch("o[t] = x[t];", grid=32, threadgroup=1025)
    with pytest.raises(ValueError, match="32 buffers, Metal binds 31"):
        dispatch("o[t] = x[t];", inputs=[X] * 31)
    with pytest.raises(ValueError, match="wants 1 inputs"):
        metal_kernel("control", ["x"], ["o"], "")(
            inputs=[], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)], output_dtypes=[mx.float32]
        )


def test_lanes_that_have_ended_are_out_of_a_reduction():
    [out] = dispatch("if (l % 32 >= 20) return; o[t] = simd_sum(1.0f);", init_value=-1)
    assert last_run().findings == []
    assert out[:32].tolist() == [20.0] * 20 + [-1.0] * 12


def test_a_grid_need_not_be_whole_threadgroups():
    [out] = dispatch("o[t] = threads_per_threadgroup.x + 1000 * simd_sum(1u) + 0 * x[t];", outputs=[(100,)], grid=100)
    assert last_run().findings == []
    assert out.tolist() == [32064.0] * 64 + [32036.0] * 32 + [4036.0] * 4


def test_atomics_are_no_race_but_a_plain_access_beside_them_is():
    add = "atomic_fetch_add_explicit(&o[0], x[t], memory_order_relaxed);"
    [out] = dispatch(add, outputs=[(1,)], init_value=0, atomic_outputs=True)
    assert last_run().findings == []
    assert out.item() == 255 * 128
    dispatch(add + "if (t == 200) *(device float*)o = 1;", outputs=[(1,)], init_value=0, atomic_outputs=True)
    assert any(found.startswith("race") for found in last_run().findings)


def test_bytes_and_barriers_are_counted():
    body = f"threadgroup float s[64]; s[l] = x[t] + x[0];\n{BARRIER} simdgroup_barrier(mem_flags::mem_none);"
    dispatch(body + "o[t] = simd_sum(s[63 - l]);")
    run = last_run()
    assert run.findings == []
    assert (run.barriers, run.simd_barriers, run.collectives, run.threadgroup_memory) == (4, 8, 8, 256)
    x, o = run.buffers["x"], run.buffers["o"]
    assert (x.size, x.read, x.written, x.unique) == (1024, 2048, 0, 1024)
    assert x.lines == 1024 + 3 * 128  # the first line once more for each threadgroup but the first
    assert (o.size, o.read, o.written, o.unique, o.lines) == (1024, 0, 1024, 1024, 1024)


def test_every_run_is_recorded():
    with recording() as runs:
        dispatch("o[t] = x[t];")
        dispatch("o[t] = x[t + 1];")
    assert [len(run.findings) for run in runs] == [0, 1]


def test_without_checks_results_are_the_same():
    body = f"threadgroup float s[64]; s[l] = x[t];\n{BARRIER} o[t] = simd_sum(s[63 - l] * 0.1f);"
    [checked] = dispatch(body)
    with options(checks=False):
        assert mx.array_equal(checked, dispatch(body)[0])


def test_half_and_bfloat_round_after_each_operation():
    body = "bfloat a = bfloat(x[t]); half h = half(x[t]) * 0.37h; o[t] = float(a * a + a); o1[t] = float(h * h + h);"
    with options(contract=False):
        b, h = dispatch(body, outputs=[(256,), (256,)])
    xb, xh = X.astype(mx.bfloat16), X.astype(mx.float16) * mx.array(0.37, mx.float16)
    assert mx.array_equal(b, (xb * xb + xb).astype(mx.float32))
    assert mx.array_equal(h, (xh * xh + xh).astype(mx.float32))


def test_contraction_is_an_option():
    body = "float a = x[t] * 0.1f; o[t] = a * a - x[t] * 0.01f * x[t];"
    [apart] = dispatch(body)
    with options(contract=True):
        assert not mx.array_equal(apart, dispatch(body)[0])


def test_literals_are_single_precision():
    [out] = dispatch("o[t] = x[t] * 0.1 + 0.7;")
    assert mx.array_equal(out, X * mx.array(0.1, mx.float32) + mx.array(0.7, mx.float32))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_order_of_a_sum_is_an_option(order):
    x = mx.random.normal((256,), key=mx.random.key(0)) * 1000
    lanes = np.array(x).reshape(8, 32)
    if order == 1:
        want = [np.float32(0)] * 8
        for lane in range(32):
            want = want + lanes[:, lane]
    else:
        want = lanes
        while want.shape[1] > 1:
            half = want.shape[1] // 2
            want = want[:, ::2] + want[:, 1::2] if order == 0 else want[:, :half] + want[:, half:]
        want = want[:, 0]
    with options(simd_order=order):
        [out] = dispatch("o[t] = simd_sum(x[t]);", inputs=[x])
    assert out[::32].tolist() == want.tolist()


def test_schedules_agree_where_a_kernel_is_right():
    with options(reverse=True):
        [out] = dispatch(SHARED.format(BARRIER, "63 - l"))
    assert last_run().findings == []
    assert mx.array_equal(out.reshape(4, 64), X.reshape(4, 64)[:, ::-1])


def test_matrices_multiply():
    a, b = (mx.random.normal((8, 8), key=mx.random.key(i)) for i in range(2))
    body = """
      simdgroup_float8x8 a, b, c = simdgroup_float8x8(0);
      simdgroup_load(a, x, 8); simdgroup_load(b, x1, 8, ulong2(0, 0), true);
      simdgroup_multiply_accumulate(c, a, b, c); simdgroup_store(c, o, 8);"""
    [out] = dispatch(body, inputs=[a, b], outputs=[(8, 8)], grid=32, threadgroup=32)
    assert last_run().findings == []
    assert np.allclose(np.array(out), np.array(a, np.float64) @ np.array(b, np.float64).T, atol=1e-5)


def test_shuffles_and_vectors_do_as_metal_does():
    lines = [
        "simd_shuffle_xor(x[t], 5)",
        "simd_shuffle_down(x[t], 3)",
        "simd_shuffle_up(x[t], 3)",
        "simd_broadcast(x[t], 7)",
        "simd_prefix_inclusive_sum(x[t])",
        "float4(x[t], 1, 2, 3).x + float3(float2(x[t], 5), 7)[0]",
        "float(uchar4(1, 2, 3, 4).z) + float(as_type<uint>(1.0f) >> 23)",
        "max(x[t], 100.0f) + select(1.0f, 2.0f, t > 50)",
    ]
    body = "\n".join(f"o{i or ''}[t] = {line};" for i, line in enumerate(lines))
    out = dispatch(body, outputs=[(256,)] * len(lines))
    assert last_run().findings == []
    x, lane = np.arange(256.0), np.arange(256) % 32
    first = x - lane
    want = [
        first + (lane ^ 5),
        np.where(lane + 3 > 31, x, x + 3),
        np.where(lane < 3, x, x - 3),
        first + 7,
        first * (lane + 1) + lane * (lane + 1) / 2,
        2 * x,
        np.full(256, 3 + 127),
        np.maximum(x, 100) + np.where(x > 50, 2, 1),
    ]
    for line, got, expected in zip(lines, out, want):
        assert got.tolist() == list(expected), line


# ---- as MLX does it ----


def test_the_signature_is_mlxs(capfd, tmp_path):
    """Exporting makes MLX print the text that it would compile."""
    body = "\n".join(["o[0] = x_shape[0] + x_strides[0] + x_ndim + s + small[0];", *(f"// {name}" for name in ATTRIBUTES)])
    inputs = [mx.zeros((4, 5), mx.bfloat16), mx.array(2.0), mx.zeros(3), mx.zeros(8, mx.uint32), mx.zeros((2, 2), mx.int64)]
    names = ["x", "s", "small", "eight", "long_"], ["o", "o1"]
    arguments = dict(
        template=[("T", mx.float16), ("N", 3), ("B", True)],
        grid=(4, 1, 1),
        threadgroup=(4, 1, 1),
        output_shapes=[(4,), (1,)],
        output_dtypes=[mx.float32, mx.int32],
        verbose=True,
    )

    def text(printed):
        printed = re.sub(r"custom_kernel_\w+", "NAME", printed.replace("```", ""))
        return re.sub(r"template \[\[host_name.*", "", printed[printed.index("// header") :], flags=re.S).strip()

    theirs = mx.fast.metal_kernel("sig", *names, body, "// header\n", atomic_outputs=False)
    mx.export_function(str(tmp_path / "f"), lambda *a: theirs(inputs=list(a), **arguments), *inputs)
    mlx = text(capfd.readouterr().out)
    metal_kernel("sig", *names, body, "// header\n")(inputs=inputs, **arguments)
    assert text(capfd.readouterr().out) == mlx


# ---- what the text alone tells ----


def test_a_barrier_can_be_dropped():
    source = "a;\n// threadgroup_barrier(none);\nthreadgroup_barrier(mem_flags(1));\n"
    source += "b; simdgroup_barrier(\n  mem_flags::mem_none);\nc;\n"
    assert count_barriers(source) == 2
    assert "mem_flags(1)" not in without_barrier(source, 0) and "mem_none" in without_barrier(source, 0)
    assert without_barrier(source, 1).splitlines()[5] == "c;"


def test_a_dropped_barrier_is_found_out():
    body = SHARED.format(BARRIER, "63 - l")
    dispatch(without_barrier(body, 0))
    assert any("race" in found for found in last_run().findings)


LINT = {  # declarations without an address space, and none of them
    "float* p = x;": True,
    "device float* p = x;": False,
    "const device float* p = x;": False,
    "device const float4* p = (device const float4*)x;": False,
    "threadgroup_barrier(mem_flags::mem_none); const float* p = x;": True,
    "inline float f(const T& v, int n) { return v * n; }": True,
    "inline float f(thread const T& v, int n) { return v * n; }": False,
    "inline float f(device const T* v,\n  int& n) { return *v; }": True,
    "template <typename Thing> void f(Thing* v) {}": True,
    "template <typename Thing> void f(constant Thing* v) {}": False,
    "struct Pair { int a; }; void f(Pair& p) {}": True,
    "float a = b * c; int m = n & mask; o[t] = float(x) * y; f(a * b, c & d);": False,
    "auto* p = x;": True,
    "// float* p\nfloat a;": False,
    "threadgroup float* p = s; (threadgroup float*)s;": False,
    "float4 v = *(device const float4*)(x + 4);": False,
    "for (const device bfloat16_t* p = x; p < end; p++) {}": False,
    "float const thread* p = &a;": False,
    "vec<float, 4>* v = y;": True,
    "auto g = h + b * T * Hv; return T * y; f(x, a * T * y);": False,
    "constexpr static float f(\n    float& x) {}": True,
}


@pytest.mark.parametrize("text", LINT)
def test_lint_sees_pointers_without_an_address_space(text):
    assert bool(lint(text)) == LINT[text], lint(text)


@pytest.mark.parametrize("path", sorted(Path(dflash_mlx.__file__).parent.glob("kernels/*.metal")), ids=lambda path: path.stem)
def test_our_kernels_name_their_address_spaces(path):
    assert lint(path.read_text(encoding="utf-8")) == []


def test_lint_says_where():
    assert lint("int a;\n  float* p = x;") == ["line 2: *p names no address space (device, constant, threadgroup, thread)"]
