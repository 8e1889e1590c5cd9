"""What all commands have in common."""

import json
import shutil
import subprocess
import sys
from importlib.metadata import version

import pytest
from fixture_data import DEMO

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


REMARKS = """
import logging, sys, warnings
import dflash_mlx
from dflash_mlx.cli import main

def load(*arguments, **options):
    warnings.warn("`rope_scaling` is deprecated", FutureWarning)
    logging.getLogger("transformers").warning("PyTorch was not found.")
    raise KeyboardInterrupt

dflash_mlx.load = load
try:
    main([*sys.argv[1:], "--model", "demo"])
except SystemExit as end:
    print(end.code)
warnings.warn("my own", UserWarning)
logging.getLogger("mine").warning("mine too")
"""


@pytest.mark.parametrize("command", ["generate hi", "chat", "doctor --parity", "bench", "bench profile"])
def test_what_libraries_remark_is_kept_from_users_of_the_command_and_from_nobody_else(command):
    arguments = [sys.executable, "-c", REMARKS, *command.split()]
    result = subprocess.run(arguments, input="hi\n", capture_output=True, text=True, check=True)
    assert result.stdout.endswith("130\n")
    assert "rope_scaling" not in result.stderr and "PyTorch" not in result.stderr
    assert "my own" in result.stderr and "mine too" in result.stderr


def test_a_config_with_the_former_name_of_rope_parameters_is_loaded_without_a_word(tmp_path):
    shutil.copytree(DEMO, tmp_path / "demo")
    config = json.loads((tmp_path / "demo/target/config.json").read_text())
    (tmp_path / "demo/target/config.json").write_text(json.dumps(config | {"rope_scaling": None}))
    arguments = ["generate", "hi", "--model", str(tmp_path / "demo"), "--max-tokens", "1", "--block-size", "1"]
    command = [sys.executable, "-c", "from dflash_mlx.cli import main; main()", *arguments]
    [line] = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stderr.splitlines()
    assert line.startswith("1 token")
