"""The model card and its twin for programs: where the weights come from, how they are stored, what that cost."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

from .check import Report
from .plan import Row, bits_per_weight
from .recipes import Recipe
from .source import Source
from .write import RECORD, SUMS, write_json

MB = 10**6


def write_card(folder: Path, source: Source, recipe: Recipe, rows: list[Row], report: Report | None) -> None:
    """Writes README.md and conversion.json."""
    versions = {package: version(package) for package in ("dflash-mlx", "mlx", "mlx-lm")}
    origin = {"source": source.name, "revision": source.revision}
    storage = recipe.base._asdict() if recipe.base else None
    record: dict[str, Any] = {**origin, "recipe": recipe.name, "storage": storage, "versions": versions}
    bits = bits_per_weight(rows)
    record |= {"bits_per_weight": bits, "tensors": [row._asdict() for row in rows], "check": report.to_dict() if report else None}
    write_json(folder / RECORD, record)
    of_hub = "/" in source.name
    link = f"[{source.name}](https://huggingface.co/{source.name})" if of_hub else f"`{source.name}`"
    at = f" at revision `{source.revision}`" if source.revision else ""
    groups = f", in groups of {recipe.base.group_size}" if recipe.base else ""
    lines = ["---", "library_name: mlx", *([f"base_model: {source.name}"] if of_hub else []), "tags:", "- mlx", "---", ""]
    lines += [f"# {folder_name(source)}, {recipe.name}", ""]
    lines += [f"Converted from {link}{at} with {', '.join(f'{name} {number}' for name, number in versions.items())}."]
    lines += [f"Recipe: {recipe.name}{groups}; {bits:.2f} bits per weight in all. Checksums: `sha256sum --check {SUMS}`.", ""]
    lines += ["| tensors | count | stored as | MB |", "| --- | ---: | --- | ---: |"]
    lines += [f"| {row.kind} | {row.tensors} | {row.stored} | {row.bytes / MB:.2f} |" for row in rows]
    lines += [f"| all | {sum(row.tensors for row in rows)} | | {sum(row.bytes for row in rows) / MB:.2f} |", ""]
    lines += ["## Against the source", "", report.table() if report else "Not compared."]
    (folder / "README.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def folder_name(source: Source) -> str:
    """The source's name without its owner."""
    return source.name.rpartition("/")[2]
