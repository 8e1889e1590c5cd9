"""`dflash-mlx bench`: plain and speculative decoding side by side on this machine."""

import os
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import typer

from dflash_mlx.errors import RequestError

from ..download import ask_to_download
from ..help import CONTEXT, Command, Group
from ..machine import machine_checks
from ..options import Drafter, DrafterBits, Force, Kernels, MaxTokens, Model, Verify, Yes, default_model, tell_of_kernels
from ..render import Progress, note, write
from .options import AsJson, AsMarkdown, BlockSizes, Contexts, CoolDown, Limit, Plot, Prompts, Rounds, Save, Temperatures
from .output import Lines, check_new
from .profile import profile

if TYPE_CHECKING:
    from dflash_mlx import Pair
    from dflash_mlx.bench.run.measure import BlockSize, Engine, Run, Step
    from dflash_mlx.bench.run.prompts import BenchPrompt
    from dflash_mlx.bench.run.questions import Questions
    from dflash_mlx.bench.run.summary import Summary

bench = typer.Typer(cls=Group, invoke_without_command=True, context_settings=CONTEXT)
bench.command(cls=Command)(profile)


@bench.callback()
def measure(
    context: typer.Context,
    model: Model = None,
    drafter: Drafter = "auto",
    drafter_bits: DrafterBits = "auto",
    prompts: Prompts = "",
    limit: Limit = None,
    block_sizes: BlockSizes = "auto",
    temperatures: Temperatures = "0",
    contexts: Contexts = None,
    max_tokens: MaxTokens = 128,
    rounds: Rounds = 1,
    cool_down: CoolDown = None,
    verify: Verify = "fast",
    kernels: Kernels = "auto",
    force: Force = False,
    yes: Yes = False,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    save: Save = None,
    plot: Plot = None,
) -> None:
    """Measure plain and speculative decoding in turn: speed, acceptance, memory, energy, and whether the answers agree.

    Ctrl-C ends it with the results so far.
    """
    if context.invoked_subcommand:
        _refuse_options(context)
        return
    if as_json and as_markdown:
        raise RequestError(
            "--json and --markdown exclude each other.", "Drop one; --save FILE writes the JSON beside any output."
        )
    if drafter == "none":
        raise RequestError("--drafter none leaves nothing to compare plain decoding with.", "Drop it, or name a drafter.")
    if save:
        check_new(save)
    # Here, and not at the top: --help need not wait for MLX.
    import mlx.core as mx

    from dflash_mlx.bench.run.conditions import warnings_now
    from dflash_mlx.bench.run.energy import PowerMeter
    from dflash_mlx.bench.run.measure import engine_of, plan
    from dflash_mlx.bench.run.plots import check_plot
    from dflash_mlx.bench.run.prompts import CATEGORIES, read_prompts
    from dflash_mlx.bench.run.report import markdown, remarks, summary_record
    from dflash_mlx.bench.run.summary import summarise

    if plot:
        check_plot(plot)
    if plot and save and os.path.realpath(plot) == os.path.realpath(save):
        raise RequestError(f"--plot and --save both name {plot}.", "Give one of them another name.")
    asked = read_prompts(prompts, limit)
    warnings = warnings_now()
    for warning in warnings:
        note(f"warning: {warning}")
    name = default_model(quiet=False) if model is None else model
    ask_to_download(name, drafter, yes)
    loading = {"drafter": drafter, "drafter_bits": drafter_bits, "force": force, "kernels": kernels}
    lengths: Any = contexts or (None,)
    pair, questions = _prepare(name, loading, asked, block_sizes, lengths, max_tokens, verify)
    if questions.left_out:
        note(f"prompts left out, because they do not fit with {max_tokens} tokens of answer: {questions.left_out}")
    steps = plan(questions.of_context, temperatures, block_sizes, rounds)
    settings = {
        "prompts": prompts or CATEGORIES,
        "limit": limit,
        "block_sizes": block_sizes,
        "temperatures": temperatures,
        "contexts": contexts,
        "max_tokens": max_tokens,
        "rounds": rounds,
        "cool_down_s": (1.0 if mx.metal.is_available() else 0.0) if cool_down is None else cool_down,
        "verify": verify,
    }
    header = _header(pair, name, drafter, settings, len(steps))
    lines = Lines(as_json, save)
    lines.record(header)
    with PowerMeter() as meter:
        runs = _measure(engine_of(pair, verify, meter.joules), steps, settings, lines, as_json)
    lines.rest()
    summaries = summarise(runs, block_sizes, header["drafter_bytes"])
    for summary in summaries:
        lines.record(summary_record(summary))
    end: dict[str, Any] = {
        "type": "end",
        "complete": len(runs) == len(steps),
        "answers": len(runs),
        "planned": len(steps),
        "warnings": list(dict.fromkeys([*warnings, *warnings_now(idle=False)])),
    }
    lines.record(end)
    for remark in remarks(runs):
        note(remark)
    if as_markdown:
        write(markdown(header, end, summaries, remarks(runs)))
    elif not as_json:
        _print_tables(summaries, end)
    if plot and summaries:
        _plot(plot, pair, name, summaries, runs, end["complete"])
    if not end["complete"]:
        raise typer.Exit(130)
    if lines.failed:
        raise typer.Exit(1)


def _refuse_options(context: typer.Context) -> None:
    """What stands before a subcommand would have no effect there."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source and source.name == "COMMANDLINE":
            option, command = parameter.opts[0], context.invoked_subcommand
            raise RequestError(f"{option} has no effect before {command}.", f"See dflash-mlx bench {command} --help for its own.")


def _prepare(
    name: str,
    loading: dict[str, Any],
    asked: "Sequence[BenchPrompt]",
    block_sizes: "Sequence[BlockSize]",
    contexts: Sequence[int | None],
    max_tokens: int,
    verify: Any,
) -> "tuple[Pair, Questions]":
    """Loads the pair and has it read the prompts: what cannot be measured is found now."""
    import dflash_mlx
    from dflash_mlx.bench.run.questions import read_questions
    from dflash_mlx.generation import check_block_size

    with Progress(quiet=False, time_left=True) as progress:
        pair = dflash_mlx.load(name, **loading, progress=progress.loading)
        if pair.drafter is None:
            raise RequestError(f"{pair.without_drafter}.", "Name a drafter: there is nothing to compare plain decoding with.")
        tell_of_kernels(pair)
        for size in block_sizes:
            if size != "auto":
                check_block_size(size, pair.drafter)
        questions = read_questions(pair, asked, contexts, max_tokens, partial(progress.benching, "encoding prompts"))
        if "auto" in block_sizes:
            pair.calibrate(verify, progress.measuring)
    return pair, questions


def _header(pair: "Pair", name: str, drafter: str, settings: dict[str, Any], planned: int) -> dict[str, Any]:
    """What has to be known of a measurement."""
    from dflash_mlx.bench.run.report import SCHEMA
    from dflash_mlx.checkpoint import size_in_memory

    assert pair.drafter
    checks = {}
    for check in machine_checks():
        checks[check.name] = check
        if check.name == "memory":  # what comes next measures, for a second
            break
    return {
        "type": "bench",
        "schema": SCHEMA,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join(["dflash-mlx", *sys.argv[1:]]),
        "versions": {package: checks[package].value for package in ("dflash-mlx", "mlx", "mlx-lm", "Python")},
        "machine": {
            "system": checks["system"].value,
            "device": checks["device"].value,
            **(checks["memory"].figures or {}),
        },
        "target": name,
        "drafter": drafter,
        "target_bytes": size_in_memory(pair.target.module),
        "drafter_bytes": size_in_memory(pair.drafter),
        "trained_block_size": pair.drafter.config.block_size,
        "kernels": {kernel: sorted(rows) for kernel, rows in pair.target.kernels.rows.items()},
        "settings": settings,
        "planned": planned,
    }


def _measure(engine: "Engine", steps: "Sequence[Step]", settings: dict[str, Any], lines: Lines, as_json: bool) -> "list[Run]":
    """All runs, or those until Ctrl-C."""
    from dflash_mlx.bench.run.measure import measure

    runs: list[Run] = []
    with Progress(quiet=as_json and sys.stdout.isatty(), time_left=True) as progress:
        progress.benching("measuring answers", 0, len(steps))
        try:
            for run in measure(engine, steps, settings["max_tokens"], settings["cool_down_s"]):
                runs.append(run)
                lines.run(run)
                progress.benching("measuring answers", len(runs), len(steps))
        except KeyboardInterrupt:
            pass
    return runs


def _print_tables(summaries: "Sequence[Summary]", end: dict[str, Any]) -> None:
    from dflash_mlx.bench.run.report import legend, tables, text

    if not end["complete"]:
        write(f"interrupted: {end['answers']} of {end['planned']} answers\n")
    if not summaries:
        note("there is nothing to compare yet." if not end["complete"] else "no answer has a second token: there are no speeds.")
        return
    write(text(tables(summaries)))
    for line in legend(summaries):
        note(line)


def _plot(path: Path, pair: "Pair", name: str, summaries: "Sequence[Summary]", runs: "Sequence[Run]", complete: bool) -> None:
    """Draws the results; of a whole measurement, with what passes and a cycle cost behind as much text as prompts have."""
    from dflash_mlx.bench.run.plots import plot
    from dflash_mlx.bench.run.profile import longest_context, pass_seconds
    from dflash_mlx.bench.run.profile import profile as profile_cycle

    passes, cycle = {}, None
    if complete:
        sizes = [s.way.block_size for s in summaries if s.way.block_size not in ("auto", 1)]
        assert pair.drafter
        trained = pair.drafter.config.block_size
        rows = max(sizes, default=trained)
        context = min(round(median(run.prompt_tokens for run in runs)), longest_context(pair, rows))
        with Progress(quiet=False) as progress:
            progress.benching("measuring passes", 0, 1)
            passes = pass_seconds(pair.target, range(1, trained + 1), context)
            cycle = profile_cycle(pair, rows, context, partial(progress.benching, "measuring a cycle's parts"))
    plot(path, f"{name}: speculative decoding", summaries, passes, cycle)
