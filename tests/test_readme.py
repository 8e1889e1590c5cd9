"""What the README shows is what there is."""

import re
from pathlib import Path

from typer.main import get_command

from dflash_mlx.cli.app import app

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_python_example_runs(capsys):
    [example] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(example, {})
    assert capsys.readouterr().out


def test_options_of_generate_are_those_in_the_table():
    described = re.findall(r"^\| `(--[a-z-]+)", README, re.MULTILINE)
    parameters = get_command(app).commands["generate"].params
    assert described and sorted(described) == sorted(
        name for parameter in parameters for name in parameter.opts if name.startswith("--")
    )
