"""Ctrl-C, closed pipes and full disks: the command ends as a program on a pipe should."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import ENDLESS, PROMPT

LOADING = """
import dflash_mlx
from dflash_mlx.cli import main

def load(*arguments, **options):
    raise KeyboardInterrupt

dflash_mlx.load = load
main()
"""


def generate(script: str, *arguments: str, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, "generate", PROMPT, "--model", "demo", "--max-tokens", "40", *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, text=True, **options)


def test_ctrl_c_keeps_the_text_so_far_and_sums_up(start):
    process = start()
    first = os.read(process.stdout.fileno(), 1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130
    assert (first + out).endswith(b"\n")
    assert " (interrupted); " in err.decode().splitlines()[-1]


def test_ctrl_c_gives_json_a_last_object(start):
    process = start("--json")
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, err) == (130, b"")
    *chunks, last = [json.loads(line) for line in (first + out).splitlines()]
    assert last["finish_reason"] == "cancelled" and last["text"] == "".join(chunk["text"] for chunk in chunks)
    assert last["statistics"]["generated_tokens"] >= len(chunks) > 0


CANCELLED = '{"type": "end", "text": "", "thinking": "", "finish_reason": "cancelled", "statistics": null}\n'


@pytest.mark.parametrize(("arguments", "out"), [([], ""), (["--json"], CANCELLED)])
def test_ctrl_c_while_loading_is_quiet(arguments, out):
    result = generate(LOADING, *arguments, capture_output=True)
    assert (result.returncode, result.stdout, result.stderr) == (130, out, "")


@pytest.mark.parametrize("arguments", [[], ["--json"], ["--show-drafts", "--quiet"]], ids=str)
def test_closed_pipe_ends_quietly(start, arguments):
    process = start(*arguments)
    os.read(process.stdout.fileno(), 1)
    process.stdout.close()
    told = process.stderr.read().decode().splitlines()
    assert all(line.startswith("measuring what passes cost") for line in told)  # if nobody has before
    assert process.wait() == 0


def test_nobody_listening_on_stderr_does_not_stop_the_answer():
    read, write = os.pipe()
    os.close(read)
    result = generate(ENDLESS, stdout=subprocess.PIPE, stderr=write)
    os.close(write)
    assert result.returncode == 0 and result.stdout.endswith("\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's always full device")
def test_full_disk_is_told_in_one_sentence():
    with open("/dev/full", "w") as full:
        result = generate(ENDLESS, stdout=full, stderr=subprocess.PIPE)
    assert result.returncode == 1
    assert result.stderr.startswith("error: stdout cannot be written (No space left on device).\n")


@pytest.mark.parametrize(("closed", "code"), [("2>&-", 0), (">&- 2>&-", 1), ("<&- >&- 2>&-", 1)])
def test_a_closed_stderr_is_no_trouble_and_a_closed_stdout_a_failure(closed, code):
    command = f'exec "$0" -c "$1" generate "$2" --model demo --max-tokens 8 {closed}'
    run = subprocess.run(["sh", "-c", command, sys.executable, ENDLESS, PROMPT], stdin=subprocess.DEVNULL, capture_output=True)
    assert (run.returncode, run.stderr) == (code, b"") and run.stdout.endswith(b"\n") == (code == 0)


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ('generate --model demo --quiet --max-tokens 3 "What is the anchor?" <&-', 0, "The anchor"),
        ("generate --model demo <&-", 2, "prompt is empty"),
        ("generate --model demo - <&-", 2, "prompt is empty"),
        ("models >/dev/full", 1, "stdout cannot be written"),
        ("--help >/dev/full", 1, "No space left"),
    ],
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's always full device")
def test_closed_and_full_streams_give_a_sentence_and_no_traceback(command: str, code: int, words: str) -> None:
    script = f"PYTHONUNBUFFERED=1 exec \"$0\" -c 'from dflash_mlx.cli import main; main()' {command}"
    result = subprocess.run(["sh", "-c", script, sys.executable], capture_output=True, text=True)
    assert result.returncode == code and words in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["--help", "models --json", "doctor", "generate --model demo --json -", "chat --model demo"])
def test_nothing_is_done_in_vain_without_a_word_where_stdout_is_closed(command: str) -> None:
    script = f"exec \"$0\" -c 'from dflash_mlx.cli import main; main()' {command} >&-"
    result = subprocess.run(["sh", "-c", script, sys.executable], input="hi\n", capture_output=True, text=True)
    told = "error: stdout cannot be written (it is closed).\nMake room, or send the text elsewhere.\n"
    assert (result.returncode, result.stderr) == (1, told)
