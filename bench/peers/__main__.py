"""Other engines beside ours, on the same checkpoints and prompts. See README.md beside this file.

python -m dflash_mlx.bench.peers install [NAME ...]
python -m dflash_mlx.bench.peers run [--model demo] [--prompts code math] [--limit 2] [--json]
"""

import argparse
import json
import shlex
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from dflash_mlx.errors import DFlashError, RequestError
from dflash_mlx.loading.hub import resolve_pair

from ..loop.workbench import machine, show
from ..run.prompts import read_prompts
from .compare import OURS, Questions, in_turn, rows, table
from .pair import common_pair
from .process import EngineFailed, EngineProcess
from .roster import ADAPTERS, PEERS, peers_named

FOLDER = Path("build/peers")  # of the environments
MODULE = "python -m dflash_mlx.bench.peers"


def install(options: argparse.Namespace) -> None:
    """Makes the environments that are not there yet."""
    for peer in peers_named(options.names):
        if peer.installed(FOLDER):
            print(f"{peer.name}: installed already.")
            continue
        print(f"{peer.name}: {', '.join([*peer.requirements, *peer.alone])} ...", flush=True)
        peer.install(FOLDER)


def run(options: argparse.Namespace) -> None:
    """Asks everybody, and prints the table."""
    for name, least in (("limit", 1), ("max_tokens", 2), ("rounds", 1), ("block_size", 2)):
        if (number := getattr(options, name)) is not None and number < least:
            raise RequestError(f"--{name.replace('_', '-')} {number} is too small.", f"Give {least} or more.")
    chosen, prompts = peers_named(options.peers), read_prompts(options.prompts, options.limit)
    command = shlex.join([*MODULE.split(), *sys.argv[1:]])
    show({"command": command, **machine()}, options.json)

    def left_out(name: str, why: str) -> None:
        print(json.dumps({"engine": name, "left_out": why}) if options.json else f"{name}: {why}", flush=True)

    def failed(name: str, why: str) -> None:
        if name == OURS:
            raise RequestError(f"our own engine failed: {why}", "Nothing can be compared.")
        left_out(name, f"failed: {why}")

    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        folders = resolve_pair(options.model, options.drafter)
        if folders.drafter is None:
            raise RequestError(f"no drafter is known for {options.model}.", "Name one with --drafter.")
        pair = common_pair(folders, Path(temporary))

        def start(python: list[str | Path], adapter: Path) -> EngineProcess:
            return stack.enter_context(EngineProcess(python, adapter, pair.target, pair.drafter))

        # our own environment may know dflash_mlx by PYTHONPATH, the others' must not
        processes = {OURS: start([sys.executable, "-P"], ADAPTERS / "ours.py")}
        for peer in chosen:
            if not peer.installed(FOLDER):
                left_out(peer.name, f"not installed here ({MODULE} install {peer.name})")
            elif why := peer.refuses(pair):
                left_out(peer.name, f"cannot run this pair: {why}")
            else:
                processes[peer.name] = start([peer.python(FOLDER), "-I"], peer.adapter)
        engines, versions = dict[str, EngineProcess](), dict[str, str]()
        for name, process in processes.items():
            try:
                told = process.ready()
            except EngineFailed as error:
                failed(name, str(error))
            else:
                package = next(iter(told))
                engines[name], versions[name] = process, f"{package} {told[package]}"
        try:
            asked = engines[OURS]("questions", conversations=[prompt.messages for prompt in prompts])
        except EngineFailed as error:
            failed(OURS, str(error))
        block = asked["block_size"] if options.block_size is None else options.block_size
        questions = Questions(asked["prompts"], asked["stop"], block, options.max_tokens)
        results = in_turn(engines, questions, options.rounds, failed)
    found = list(rows(results, versions, {peer.name: peer.note for peer in PEERS}))
    if options.json:
        print(*map(json.dumps, found), sep="\n")
    else:
        print("", *table(found), sep="\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog=MODULE, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    installing = commands.add_parser("install", help="make an environment for each of them")
    installing.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(peer.name for peer in PEERS)}; none: all")
    running = commands.add_parser("run", help="measure, compare answers, print a table")
    running.add_argument("--model", default="demo", help='"demo", or a folder')
    running.add_argument("--drafter", default="auto", help="a folder; by default the one in the model's folder")
    running.add_argument("--peers", nargs="*", default=[], metavar="NAME", help="beside ours only these; none: all")
    running.add_argument("--prompts", nargs="*", default=[], help="categories, public sets, .jsonl files; none: all categories")
    running.add_argument("--limit", type=int, default=2, help="prompts of each category")
    running.add_argument("--max-tokens", type=int, default=128, help="the longest answer")
    running.add_argument("--block-size", type=int, help="rows a cycle; by default the drafter's own")
    running.add_argument("--rounds", type=int, default=3, help="how often each prompt is answered")
    running.add_argument("--json", action="store_true", help="a JSON object a line")
    for command, function in ((installing, install), (running, run)):
        command.set_defaults(function=function)
    options = parser.parse_args()
    try:
        options.function(options)
    except DFlashError as error:
        print(f"{error.message} {error.hint}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
