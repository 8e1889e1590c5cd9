"""The house rules that a program can check: who may import whom, who may print, what nobody may do."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent

# From the top down. A room imports only from rooms of lower lines; rooms of one line do not know each other.
LAYERS = (
    ("__main__",),
    ("cli",),
    ("bench",),
    ("convert",),
    ("loader",),
    ("pair",),
    ("conversation",),
    ("loading", "tuning", "generation", "training"),
    ("decoding",),
    ("targets", "drafters", "text"),
    ("kernels", "checkpoint"),
    ("config",),
    ("errors",),
)
LEVEL = {room: -depth for depth, rooms in enumerate(LAYERS) for room in rooms}
PRINTERS = ("cli", "bench")

SOURCES = [path for top in ("dflash_mlx", "cli", "convert", "bench") for path in (ROOT / top).rglob("*.py")]
TEXTS = [*SOURCES, *(ROOT / "tests").rglob("*.py"), *(ROOT / ".github").rglob("*.yml"), *ROOT.glob("*.md"), *ROOT.glob("*.toml")]
TEXTS += [*(ROOT / "dflash_mlx").rglob("*.md"), *(ROOT / "bench").rglob("*.md"), ROOT / "Makefile", ROOT / ".ci" / "run"]


def module_of(path: Path) -> tuple[str, ...]:
    """("dflash_mlx", "cli", "app") for cli/app.py: the name it has once installed."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts if parts[0] == "dflash_mlx" else ("dflash_mlx", *parts)


def room_of(module: tuple[str, ...]) -> str:
    """The room of a module: the first name below dflash_mlx; "" for dflash_mlx itself."""
    room = module[1] if len(module) > 1 else ""
    return "" if room == "__init__" else room


def imports_of(path: Path) -> Iterator[str]:
    """The rooms that a file imports from; "" where it imports a name of dflash_mlx itself."""
    module = module_of(path)
    for node in ast.walk(tree_of(path)):
        names: list[tuple[str, ...]] = []
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = module[: -node.level] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            # `from dflash_mlx import pair` names a room, `from dflash_mlx import Pair` does not.
            names = [(*base, alias.name) if base == ("dflash_mlx",) else base for alias in node.names]
        for name in names:
            if name[0] == "dflash_mlx":
                yield room_of(name) if len(name) > 2 or room_of(name) in LEVEL else ""


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def calls_of(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """The calls in a file, each with the name of what it calls."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def test_every_room_has_its_place() -> None:
    assert {room_of(module_of(path)) for path in SOURCES} - {""} <= LEVEL.keys()


def test_modules_import_only_from_rooms_below() -> None:
    upward = []
    for path in SOURCES:
        room = room_of(module_of(path))
        for imported in imports_of(path):
            if room == "":  # dflash_mlx/__init__.py takes the public names from everywhere below the command line
                allowed = imported not in PRINTERS
            elif imported == "":  # the public names are for users: the house imports from the module that defines a thing
                allowed = room in PRINTERS
            else:
                allowed = imported == room or LEVEL.get(imported, 0) < LEVEL[room]
            if not allowed:
                upward.append(f"{path.relative_to(ROOT)}: {imported or 'dflash_mlx'}")
    assert upward == []


def test_only_the_command_line_and_bench_print() -> None:
    printing = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in SOURCES
        if room_of(module_of(path)) not in PRINTERS
        for name, call in calls_of(path)
        if name == "print" or name.startswith(("sys.stdout.", "sys.stderr."))
    ]
    assert printing == []


def test_nothing_runs_code_that_comes_with_a_model() -> None:
    dangers = []
    for path in SOURCES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Import | ast.ImportFrom) and "pickle" in ast.unparse(node):
                dangers.append(f"{path.relative_to(ROOT)}:{node.lineno}")
        for name, call in calls_of(path):
            trusting = {f"{keyword.arg}={ast.unparse(keyword.value)}" for keyword in call.keywords}
            if name in ("eval", "exec") or trusting & {"trust_remote_code=True", "allow_pickle=True", "weights_only=False"}:
                dangers.append(f"{path.relative_to(ROOT)}:{call.lineno}")
    assert dangers == []


def test_no_file_names_a_place_on_somebodys_machine() -> None:
    place = re.compile(r"(?<![\w.])/(?:home|Users|root|work|tmp|opt)/\w+")
    assert [path.relative_to(ROOT) for path in TEXTS if place.search(path.read_text(encoding="utf-8"))] == []


def test_every_package_is_listed_in_the_project_file() -> None:
    listed = set(re.findall(r'"(dflash_mlx[\w.]*)",', (ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    there = {".".join(module_of(path)[:-1]) for path in SOURCES if path.name == "__init__.py"}
    # these need more than an installation has: torch, or other engines
    developers = ("dflash_mlx.bench.demo_pair", "dflash_mlx.bench.loop", "dflash_mlx.bench.peers")
    assert listed == {package for package in there if not package.startswith(developers)}
