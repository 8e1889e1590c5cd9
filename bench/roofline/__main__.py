"""What the projection says of machines we do not have, and how far it is from published figures.

python -m dflash_mlx.bench.roofline [--family Qwen3.8-27B] [--rows 4] [--acceptance 3] [--context 1024]
"""

import argparse
from collections.abc import Iterator
from statistics import median

from dflash_mlx.loading.known_pairs import known_pairs

from .projection import CONTEXT, WIDEST, efficiency, pair_traffic, predict, project
from .published import MACHINES, PUBLISHED, SOURCES, Published

TREE_PASS = 53.7 / 49.7  # a pass of 16 rows over one of 8, where rows do not depend on each other
TREE_TOKENS = {"code": (4.35, 5.57), "story": (2.89, 3.73)}  # tokens a pass by a chain and by a tree of 15 nodes
DRAFT_HEAD = 98_304 / 248_320  # holds 99.64% of what it writes in English and code
UNITS = {"plain": "tok/s", "pass": "ms", "matmul": "ms", "ratio": "x", "speculative": "tok/s"}


def _projection_lines(family: str, rows: int, acceptance: float, context: int) -> Iterator[str]:
    cycle, plain = (sum(part.bytes for part in pair_traffic(family, count, context)) / 1e9 for count in (rows, 1))
    yield f"Projection, not a measurement: {family}, target and drafter at 4 bits."
    yield f"Blocks of {rows} that commit {acceptance:g} tokens behind {context}. A plain step moves {plain:.2f} GB,"
    yield f"a cycle {cycle:.2f} GB, at {efficiency():.3f} of the published bandwidth. Whether memory holds the pair is not asked."
    yield ""
    ways = ("MLX's kernels", "a measured kernel (1)", "ours, at best (2)")
    yield f"{'':10}{'':>6}{'plain':>8}" + "".join(f"{way:>25}" for way in ways)
    yield f"{'':10}{'GB/s':>6}{'tok/s':>8}" + f"{'ms':>11}{'tok/s':>8}{'x':>6}" * len(ways)
    for machine in MACHINES:
        projection = project(machine, family, rows, context)
        line = f"{machine.name:10}{machine.bandwidth / 1e9:6.0f}{projection.plain:8.1f}"
        for seconds in projection.cycles.values():
            line += f"{seconds * 1e3:11.1f}{acceptance / seconds:8.1f}{acceptance / seconds / projection.plain:6.2f}"
        yield line
    yield "(1) as one projection was measured on an M4 Pro with mlx-dspark's kernel; assumed for all others"
    yield "(2) an assumption: every weight is read once, whatever the rows, and nothing else takes time"


def _tree_lines(family: str, context: int) -> Iterator[str]:
    """What trees and a smaller draft head change, by figures that TensorFold published for a 27B on an M5 Max."""
    cycle = pair_traffic(family, 8, context)
    whole = sum(part.bytes for part in cycle)
    head = next(part.weights for part in cycle if part.part == "draft head")
    saved = head * (1 - DRAFT_HEAD)
    yield "Trees of 16 rows and a smaller draft head, by figures that TensorFold published for a 27B, M5 Max:"
    yield f"with {DRAFT_HEAD:.0%} of the head for drafts a cycle moves {(whole - saved) / 1e9:.2f} GB, not {whole / 1e9:.2f}."
    ways = ("chain of 8", "tree of 16 (3)", "and a smaller head")
    yield f"{'':10}" + "".join(f"{way:>24}" for way in ways)
    yield f"{'':10}" + (f"{'ms':>8}" + "".join(f"{text:>8}" for text in TREE_TOKENS)) * len(ways)
    for name in ("M4 Pro", "M5 Max"):
        machine = next(machine for machine in MACHINES if machine.name == name)
        chain = project(machine, family, 8, context).cycles["at best"]
        tree = chain * TREE_PASS
        smaller = tree - saved / (efficiency() * machine.bandwidth)
        line = f"{name:10}"
        for place, seconds in ((0, chain), (1, tree), (1, smaller)):
            line += f"{seconds * 1e3:8.1f}" + "".join(f"{tokens[place] / seconds:8.1f}" for tokens in TREE_TOKENS.values())
        yield line
    yield "tokens a second; (3) at best, as (2), 16 rows taking 53.7/49.7 of what 8 rows take"


def _validation_lines() -> Iterator[str]:
    yield f"Validation. Fitted is one number, {efficiency():.3f}: the share of the published bandwidth that plain decoding"
    yield "reaches. Figures marked * were used for it, and count for nothing below."
    yield ""
    yield f"{'':51}{'published':>9}{'predicted':>10}{'':7}{'error':>6}  source"
    errors: dict[str, list[float]] = {}
    needed = []
    for figure in PUBLISHED:
        predicted = predict(figure)
        if figure.kind == "speculative" and figure.acceptance is None:
            needed.append((figure, predicted))
            continue
        error = predicted / figure.value - 1
        if not figure.fits:
            errors.setdefault(figure.kind, []).append(error)
        mark, unit = "*" if figure.fits else " ", UNITS[figure.kind]
        values = f"{_digits(figure.value):>9}{_digits(predicted):>10} {unit:6}"
        yield f"{mark}{_name(figure):50}{values}{error:+6.0%}  {figure.source}"
    yield ""
    for kind, found in errors.items():
        count = f"{len(found)} figure{'' if len(found) == 1 else 's'}"
        yield f"{kind:12} {count:11} errors {min(found):+.0%} to {max(found):+.0%}, median {median(found):+.0%}"
    yield ""
    yield "Where no acceptance length was published: the one that the prediction needs"
    for figure, length in needed:
        yield f" {_name(figure):50}{_digits(figure.value):>9} tok/s, with {length:.2f} a cycle  {figure.source}"
    yield ""
    yield "Not predicted: passes of more than 8 rows, where MLX takes other kernels; what dispatches and the"
    yield "host take, which shows most where a step moves little, as of a mixture of experts; heat."
    yield ""
    yield from (f"{name:14}{address}" for name, address in SOURCES.items())


def _digits(value: float) -> str:
    return f"{value:.{3 if value < 1 else 2 if value < 10 else 1}f}"


def _name(figure: Published) -> str:
    what = {
        "plain": "plain",
        "pass": f"pass of {figure.rows} row{'' if figure.rows == 1 else 's'}",
        "matmul": f"17408 x 5120, {figure.rows} rows",
        "ratio": f"{figure.rows} rows over 1",
        "speculative": f"blocks of {figure.rows}",
    }[figure.kind]
    if figure.acceptance:
        what += f", {figure.acceptance:.2f} a cycle"
    if figure.by != "MLX":
        what += " (1)"
    return f"{figure.machine}{f', {figure.family}' if figure.family else ''}: {what}"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m dflash_mlx.bench.roofline", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    families = [pair.family for pair in known_pairs()]
    parser.add_argument("--family", default=families[0], choices=families)
    parser.add_argument("--rows", type=int, default=4, choices=range(2, WIDEST + 1), help="of a block, the anchor's included")
    parser.add_argument("--acceptance", type=float, default=3.0, help="tokens that a cycle commits")
    parser.add_argument("--context", type=int, default=CONTEXT, help="tokens")
    options = parser.parse_args()
    if not 1 <= options.acceptance <= options.rows:
        parser.error(f"a block of {options.rows} commits 1 to {options.rows} tokens, not {options.acceptance:g}")
    for line in _projection_lines(options.family, options.rows, options.acceptance, options.context):
        print(line)
    print()
    for line in _tree_lines(options.family, options.context):
        print(line)
    print()
    for line in _validation_lines():
        print(line)


if __name__ == "__main__":
    main()
