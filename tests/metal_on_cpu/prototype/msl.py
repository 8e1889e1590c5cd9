"""Run mx.fast.metal_kernel sources on the CPU (prototype)."""
import ctypes as C, hashlib, os, re, subprocess, time, contextlib, collections
import numpy as np, mlx.core as mx
H = os.path.dirname(os.path.abspath(__file__)); CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "metal_on_cpu"); os.makedirs(CACHE, exist_ok=True)
MLXINC = os.path.join(list(mx.__spec__.submodule_search_locations or [])[0] if getattr(mx.__spec__, "submodule_search_locations", None) else os.path.dirname(mx.__file__), "include")
import sys, importlib.util, shutil
CLANG = os.environ["METAL_ON_CPU_CXX"].split() if "METAL_ON_CPU_CXX" in os.environ else [sys.executable, "-m", "ziglang", "c++"] if importlib.util.find_spec("ziglang") else ["clang++-19"]
RT = os.path.join(CACHE, f"libmslrt-{hashlib.sha256((' '.join(CLANG) + open(H + '/rt.cpp').read()).encode()).hexdigest()[:12]}.so")
if not os.path.exists(RT): subprocess.run(CLANG + ["-std=c++17", "-O2", "-g", "-fPIC", "-shared", "-fno-stack-protector", "-w", "-o", RT + f".{os.getpid()}", H + "/rt.cpp"], check=True); os.replace(RT + f".{os.getpid()}", RT)
FLAGS = ["-std=c++17", "-fdeclspec", "-fPIC", "-fno-exceptions", "-fno-rtti", "-fno-stack-protector", "-ffp-contract=off", "-mf16c", "-mfma", "-mavx2",
         "-Xclang", "-ffloat16-excess-precision=none", "-Xclang", "-fbfloat16-excess-precision=none", "-Xclang", "-cl-single-precision-constant", "-Wno-everything", "-gline-tables-only", "-gdwarf-4", "-ftemplate-depth=2000"]
rt = C.CDLL(RT, mode=C.RTLD_GLOBAL)
CT = {mx.bool_: "bool", mx.uint8: "uint8_t", mx.uint16: "uint16_t", mx.uint32: "uint32_t", mx.uint64: "uint64_t", mx.int8: "int8_t", mx.int16: "int16_t",
      mx.int32: "int32_t", mx.int64: "int64_t", mx.float16: "float16_t", mx.float32: "float", mx.bfloat16: "bfloat16_t"}
ATTR3 = "dispatch_threads_per_threadgroup grid_origin grid_size thread_position_in_grid thread_position_in_threadgroup threadgroup_position_in_grid threadgroups_per_grid threads_per_grid threads_per_threadgroup".split()
ATTR1 = "dispatch_quadgroups_per_threadgroup dispatch_simdgroups_per_threadgroup quadgroup_index_in_threadgroup quadgroups_per_threadgroup simdgroup_index_in_threadgroup simdgroups_per_threadgroup thread_execution_width thread_index_in_quadgroup thread_index_in_simdgroup thread_index_in_threadgroup threads_per_simdgroup".split()
ATTRS = sorted([(a, "uint3") for a in ATTR3] + [(a, "uint") for a in ATTR1])
STAT = "tg_barriers sg_barriers collectives divergent mma sgm_load sgm_store tg_read tg_write switches atomics bad_lane tg_mem threads".split()
OPT = dict(check=True, order=0, sched=0, fast="-O2", strict=False, contract="off")
LOG = []            # one record per dispatch
TG = re.compile(r"//[^\n]*|/\*.*?\*/|\bthreadgroup\s+((?:const\s+|volatile\s+|alignas\([^)]*\)\s*)*[A-Za-z_][\w:]*(?:\s*<[^;{}()=]*?>)?)\s+(?=[A-Za-z_]\w*\s*[\[;,=])", re.S)
Err = collections.namedtuple("Err", "kind where count detail")

def np_of(a):
    if a.dtype == mx.bfloat16: return np.array(a.view(mx.uint16))
    return np.array(a)
def rewrite_tg(src): return TG.sub(lambda m: "MSL_TG " + m.group(1) + " " if m.group(1) else m.group(0), re.sub(r"\[\[\s*threadgroup\s*\(\d+\)\s*\]\]", "", src))

def _prep():
    """mirror MLX's Metal headers with the threadgroup-variable rewrite applied"""
    dst = os.path.join(CACHE, "inc-" + mx.__version__)
    if not os.path.isdir(dst):
        for root, _, fs in os.walk(os.path.join(MLXINC, "mlx/backend/metal/kernels")):
            for f in fs:
                if f.endswith(".h"):
                    o = os.path.join(dst, os.path.relpath(root, MLXINC), f); os.makedirs(os.path.dirname(o), exist_ok=True); open(o, "w").write(rewrite_tg(open(os.path.join(root, f)).read()))
    return dst
class Kernel:
    def __init__(s, name, input_names, output_names, source, header="", ensure_row_contiguous=True, atomic_outputs=False, compile_options=None, **kw):
        s.name, s.ins, s.outs, s.src, s.hdr, s.rowc, s.atomic = name, list(input_names), list(output_names), source, header, ensure_row_contiguous, atomic_outputs
        s.attrs = [(a, t) for a, t in ATTRS if a in source]; s.libs = {}
    def gen(s, inputs, odt, template):
        sig, call, bufs = [], [], []
        for n, a in zip(s.ins, inputs):
            t = CT[a.dtype]; loc = "constant" if a.size < 8 else "device"; i = len(bufs)
            ref = "&" if a.ndim == 0 else "*"
            sig.append(f"  const {loc} {t}{ref} {n} [[buffer({i})]]"); call.append(("*" if a.ndim == 0 else "") + f"(const {t}*)b[{i}]"); bufs.append(("in", n, a))
            if a.ndim:
                for suf, ty, v in (("_shape", "const constant int*", "shape"), ("_strides", "const constant int64_t*", "strides"), ("_ndim", "const constant int&", "ndim")):
                    if n + suf in s.src:
                        i = len(bufs); sig.append(f"  {ty} {n}{suf}"); call.append((f"*(const int*)b[{i}]" if suf == "_ndim" else f"({ty.replace('constant ','')})b[{i}]")); bufs.append((v, n, a))
        for n, d in zip(s.outs, odt):
            t = CT[d]; t = f"atomic<{t}>" if s.atomic else t
            i = len(bufs); sig.append(f"  device {t}* {n} [[buffer({i})]]"); call.append(f"({t}*)b[{i}]"); bufs.append(("out", n, d))
        for a, t in s.attrs: sig.append(f"  {t} {a} [[{a}]]"); call.append(f"t->{a}")
        tp, ta = "", ""
        if template:
            k = lambda v: "bool" if isinstance(v, bool) else "int" if isinstance(v, int) else "typename"
            tp = "template <" + ", ".join(f"{k(v)} {n}" for n, v in template) + ">\n"
            ta = "<" + ", ".join(str(v).lower() if isinstance(v, bool) else str(v) if isinstance(v, int) else CT[v] for n, v in template) + ">"
        fn = "custom_kernel_" + s.name
        code = ('#include "msl.h"\n#include "mlx/backend/metal/kernels/utils.h"\n#line 1 "header"\n' + rewrite_tg(s.hdr) + f'\n{tp}[[kernel]] __attribute__((noinline)) void {fn}(\n' + ",\n".join(sig) + ') {\n#line 1 "source"\n' + rewrite_tg(s.src) + "\n}\n"
                '#line 1 "glue"\nMSL_TG char msl_tg_anchor;\nextern "C" char __start_msl_tg[] __attribute__((visibility("hidden"))), __stop_msl_tg[] __attribute__((visibility("hidden")));\n'
                'extern "C" void msl_tg_range(char** o){ o[0]=__start_msl_tg; o[1]=__stop_msl_tg; }\n'
                f'extern "C" void msl_entry(void** b, const msl_tid* t) {{ {fn}{ta}({", ".join(call)}); }}\n')
        return code, bufs
    def lib(s, code, check):
        fl = FLAGS + (["-O1", "-fno-vectorize", "-fno-slp-vectorize", "-fsanitize=thread", "-mllvm", "-tsan-instrument-func-entry-exit=0", "-mllvm", "-tsan-instrument-read-before-write=1", "-ftrivial-auto-var-init=pattern", "-fsanitize=alignment,array-bounds,shift-exponent,integer-divide-by-zero,signed-integer-overflow"] if check else [OPT["fast"]])
        fl[fl.index("-ffp-contract=off")] = "-ffp-contract=" + OPT["contract"]
        key = hashlib.sha256((code + " ".join(fl) + open(H + "/msl.h").read()).encode()).hexdigest()[:20]
        if key in s.libs: return s.libs[key], 0.0
        so = f"{CACHE}/{s.name[:60]}_{key}.so"; t0 = time.time()
        if not os.path.exists(so):
            cpp = so[:-3] + f".{os.getpid()}.cpp"; open(cpp, "w").write(code)
            base = CLANG + fl + ["-I", H, "-I", H + "/fake", "-I", _prep(), "-I", MLXINC]
            r = subprocess.run(base + ["-c", cpp, "-o", so + ".o"], capture_output=True, text=True)
            if r.returncode: raise RuntimeError("MSL compile failed:\n" + r.stderr[:6000])
            subprocess.run(CLANG + ["-shared", "-o", so + ".new", so + ".o"], check=True); os.replace(so + ".new", so); os.remove(so + ".o"); os.remove(cpp)
        L = C.CDLL(so); L._path = so; s.libs[key] = L
        return L, time.time() - t0
    def __call__(s, inputs, grid, threadgroup, output_shapes, output_dtypes, template=None, init_value=None, verbose=False, stream=None, **kw):
        for nm, got, want in (("inputs", inputs, s.ins), ("output_shapes", output_shapes, s.outs), ("output_dtypes", output_dtypes, s.outs)):
            if len(got) != len(want): raise ValueError(f"[metal_kernel] Expected `{nm}` to have size {len(want)} but got size {len(got)}.")
        ins = [a if isinstance(a, mx.array) else mx.array(a, dtype=mx.bool_ if isinstance(a, bool) else mx.int32 if isinstance(a, int) else mx.float32) for a in inputs]
        if s.rowc: ins = [mx.contiguous(a) if a.ndim else a for a in ins]
        mx.eval(ins); template = list(template or [])
        code, bufs = s.gen(ins, output_dtypes, template)
        if verbose: print(code)
        L, tc = s.lib(code, OPT["check"])
        arrs, isout, oi = [], [], 0
        for kind, n, a in bufs:
            if kind == "in": arrs.append(np.ascontiguousarray(np_of(a)).reshape(-1)); isout.append(0)
            elif kind == "shape": arrs.append(np.array(a.shape, np.int32)); isout.append(0)
            elif kind == "strides":
                st = [1] * a.ndim
                for k in range(a.ndim - 2, -1, -1): st[k] = st[k + 1] * a.shape[k + 1]
                arrs.append(np.array(st, np.int64)); isout.append(0)
            elif kind == "ndim": arrs.append(np.array([a.ndim], np.int32)); isout.append(0)
            else:
                sh = output_shapes[oi]; oi += 1; nd = np.uint16 if a == mx.bfloat16 else np.dtype(str(a).split(".")[-1].replace("bool_", "bool"))
                arrs.append(np.empty(int(np.prod(sh)) if len(sh) else 1, nd)); isout.append(1)
        n = len(arrs); sz = (C.c_size_t * n)(*[a.nbytes for a in arrs]); io = (C.c_int * n)(*isout); pp = (C.c_void_p * n)()
        assert rt.msl_setup(n, sz, io, pp, int(OPT["check"])) == 0
        for i, a in enumerate(arrs):
            if not isout[i]: C.memmove(pp[i], a.ctypes.data, a.nbytes)
            elif init_value is not None:
                v = mx.full((a.size,), init_value, dtype=bufs[i][2]); mx.eval(v); v = np_of(v); C.memmove(pp[i], v.ctypes.data, v.nbytes)
        g = (C.c_uint32 * 3)(*[int(x) for x in grid]); tg = (C.c_uint32 * 3)(*[min(int(a), int(b)) for a, b in zip(threadgroup, grid)])
        assert tg[0] * tg[1] * tg[2] <= 1024, "threadgroup too large"
        rng = (C.c_char_p * 2)(); r2 = (C.c_void_p * 2)(); L.msl_tg_range(r2)
        t0 = time.time(); rc = rt.msl_run(C.cast(L.msl_entry, C.c_void_p), pp, g, tg, C.c_void_p(r2[0]), C.c_void_p(r2[1]), int(OPT["check"]) | (2 if init_value is not None else 0), OPT["order"], OPT["sched"]); dt = time.time() - t0
        st = (C.c_uint64 * 14)(); rt.msl_stats(st); stats = dict(zip(STAT, st)); stats["tg_mem"] = (stats["tg_mem"] - 1) & ~15
        per = {}
        for i, (kind, nme, a) in enumerate(bufs):
            o = (C.c_uint64 * 7)(); rt.msl_bufstats(i, o); per[nme if kind in ("in", "out") else nme + "_" + kind] = dict(zip("rd wr nrd nwr unique tg_lines unwritten".split(), o), size=arrs[i].nbytes)
        eb = C.create_string_buffer(1 << 16); rt.msl_errs(eb, 1 << 16)
        errs = [Err(p[0], int(p[1]), int(p[2]), p[3]) for p in (l.split("\t") for l in eb.value.decode().splitlines()) if len(p) == 4]
        if stats["tg_mem"] > 32768: errs.append(Err("threadgroup-memory-limit", 0, 1, f"{stats['tg_mem']} > 32768"))
        if init_value is None and OPT["check"]:
            for k, v in per.items():
                if v["unwritten"]: errs.append(Err("output-not-fully-written", 0, v["unwritten"], f"{k}: {v['unwritten']} of {v['size']} bytes"))
        errs = [e._replace(detail=e.detail + s.where(L, e.where)) for e in errs]
        LOG.append(dict(name=s.name, compile_s=round(tc, 3), run_s=round(dt, 4), rc=rc, stats=stats, bufs=per, errs=errs, grid=tuple(g), tg=tuple(tg)))
        if OPT["strict"] and errs: raise RuntimeError(f"{s.name}: {errs[0]}")
        outs = []
        oi = 0
        for i, (kind, nme, a) in enumerate(bufs):
            if kind != "out": continue
            C.memmove(arrs[i].ctypes.data, pp[i], arrs[i].nbytes); v = mx.array(arrs[i])
            if a == mx.bfloat16: v = v.view(mx.bfloat16)
            outs.append(v.reshape(output_shapes[oi])); oi += 1
        return outs
    def where(s, L, pc):
        if not pc: return ""
        if pc < (1 << 24): return f" [source line {pc}]"
        try:
            for l in open("/proc/self/maps"):
                if L._path in l:
                    base = int(l.split("-")[0], 16); off = int(l.split()[2], 16)
                    lo, hi = [int(x, 16) for x in l.split()[0].split("-")]
                    if lo <= pc < hi:
                        r = subprocess.run(["addr2line", "-i", "-e", L._path, hex(pc - base + off + 0 - 1)], capture_output=True, text=True).stdout.split("\n")
                        r = [x for x in r if "source:" in x or "header:" in x] or r[:1]
                        return f" [{r[0]}]"
        except Exception as e: return f" [{e}]"
        return ""
@contextlib.contextmanager
def patched(**opt):
    old = (mx.fast.metal_kernel, mx.metal.is_available, dict(OPT)); OPT.update(opt)
    mx.fast.metal_kernel = lambda *a, **k: Kernel(*a, **k); mx.metal.is_available = lambda: True
    mx.disable_compile()
    try: yield
    finally:
        mx.fast.metal_kernel, mx.metal.is_available = old[0], old[1]; OPT.update(old[2])
def install(**opt):
    OPT.update(opt); mx.fast.metal_kernel = lambda *a, **k: Kernel(*a, **k); mx.metal.is_available = lambda: True; mx.disable_compile()
def last(n=1):
    for r in LOG[-n:]:
        s = r["stats"]; print(f"  {r['name'][:44]} grid{r['grid']} tg{r['tg']} compile {r['compile_s']}s run {r['run_s']}s rc{r['rc']} | tgbar {s['tg_barriers']} sgbar {s['sg_barriers']} coll {s['collectives']} mma {s['mma']} tgmem {s['tg_mem']} thr {s['threads']}" + (f" div {s['divergent']}" if s['divergent'] else ""))
        if OPT["check"]: print("    dev rd " + ", ".join(f"{k}:{v['rd']}/{v['size']}(tg {v['tg_lines']})" for k, v in r["bufs"].items() if v["size"] > 64 and v["rd"]) + " | wr " + ", ".join(f"{k}:{v['wr']}/{v['size']}" for k, v in r["bufs"].items() if v["wr"]))
        for e in r["errs"][:6]: print("    !!", e.kind, "x%d" % e.count, e.detail)
