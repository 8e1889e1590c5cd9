"""What all commands have in common."""

import subprocess
import sys
from importlib.metadata import version

import pytest

MODULES_OF_HELP = """
import sys
from dflash_mlx.cli import main
try:
    main([sys.argv[1], "--help"])
except SystemExit:
    print(sorted({"mlx", "transformers", "mlx_lm", "torch", "prompt_toolkit"} & sys.modules.keys()))
"""


def test_version_is_the_installed_one(run):
    assert run("--version") == (0, f"dflash-mlx {version('dflash-mlx')}\n", "")


def test_help_names_the_commands(run):
    code, out, _ = run("--help")
    assert code == 0 and "generate" in out


@pytest.mark.parametrize("command", ["chat", "generate"])
def test_help_does_not_wait_for_the_heavy_libraries(command):
    shown = subprocess.run([sys.executable, "-c", MODULES_OF_HELP, command], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1] == "[]"


def test_unknown_options_are_wrong_usage(run):
    code, out, err = run("generate", "hello", "--bogus")
    assert (code, out) == (2, "") and "--bogus" in err and "Usage" in err


def test_installed_command_starts_the_same_program(run):
    command = [sys.executable, "-c", "from dflash_mlx.cli import main; main()", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == run("--version").out
