"""What the README and the other documents show is what there is."""

import re
from pathlib import Path

from typer.main import get_command

from dflash_mlx.cli.app import app

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CLI = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
FILES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "bench").rglob("*.md"), *(ROOT / "tests").rglob("*.md")]
DOCUMENTS = [file.read_text(encoding="utf-8") for file in FILES]
ROOMS = ("dflash_mlx", "cli", "convert", "bench", "tests")


def test_python_example_runs(capsys):
    [example] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(example, {})
    assert capsys.readouterr().out


def test_options_of_generate_are_those_in_the_table():
    described = [name for row in re.findall(r"^\| (`--.*?) \|", CLI, re.MULTILINE) for name in re.findall(r"`(--[a-z-]+)", row)]
    parameters = get_command(app).commands["generate"].params
    assert described and sorted(described) == sorted(
        name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts) if name.startswith("--")
    )


def test_readme_is_short_and_its_links_lead_somewhere():
    assert README.count("\n") <= 150
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        links = re.findall(r"\]\((?!http|#)([^)#\s]+)", text)
        assert not [link for link in links if not (file.parent / link).exists()], file


def test_modules_that_the_documents_run_are_there():
    run = {module for text in DOCUMENTS for module in re.findall(r"python -m (dflash_mlx(?:\.\w+)+)", text)}
    sources = {path.relative_to(ROOT).with_suffix("").as_posix() for path in (ROOT / "bench").rglob("*.py")}
    places = {module: module.removeprefix("dflash_mlx.").replace(".", "/") for module in run}
    assert run and {module for module, place in places.items() if not {place, f"{place}/__main__"} & sources} == set()


def test_files_that_the_documents_name_are_there():
    named = {name for text in DOCUMENTS for name in re.findall(r"`([a-z_0-9/]+\.(?:py|metal))`", text)}
    there = [path.as_posix() for room in ROOMS for path in (ROOT / room).rglob("*.*")]
    assert named and {name for name in named if not any(path.endswith(f"/{name}") for path in there)} == set()
