"""How --help looks: options in groups, flags and positional arguments without a type, -h as well."""

import os
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup

CONTEXT = {"help_option_names": ["-h", "--help"]}
GROUPS = {
    "Model": ("model", "drafter", "drafter_bits", "kernels", "force", "yes"),
    "Prompt": ("system", "thinking", "raw", "prompt_cache", "load", "prompts", "limit", "contexts", "context"),
    "Sampling": ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "presence_penalty", "seed", "temperatures"),
    "Speculation": ("block_size", "block_sizes", "drafts", "verify"),
    "Quantisation": ("bits", "group_size", "mode", "dtype", "recipe"),
    "Result": ("output", "overwrite", "upload_repo", "dry_run", "check", "max_kl"),
    "Measurement": ("rounds", "cool_down"),
    "Output": ("max_tokens", "stop", "json", "as_json", "as_markdown", "quiet", "show_thinking", "show_drafts", "save", "plot"),
}
GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}
ORDER = [None, *GROUPS]


class _Argument(TyperArgument):
    """A positional argument as typer made it, but shown without a type: its name says enough."""

    def __init__(self, made: TyperArgument) -> None:
        vars(self).update(vars(made))

    def display_type_rich(self, ctx: Any) -> None:
        return None


class _Arranged:
    def __init__(self, *arguments: Any, **options: Any) -> None:
        if os.environ.get("TERM", "").lower() in ("dumb", "unknown"):
            options["rich_markup_mode"] = None  # rich takes such terminals for 80 columns wide, whatever they are
        super().__init__(*arguments, **options)

    def get_params(self, ctx: Any) -> list[Any]:
        made: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        params: list[Any] = [_Argument(param) if isinstance(param, TyperArgument) else param for param in made]
        for param in params:
            param.rich_help_panel = GROUP_OF.get(param.name, param.rich_help_panel)
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return sorted(params, key=lambda param: ORDER.index(param.rich_help_panel))


class Command(_Arranged, TyperCommand):
    """A command whose --help is arranged so."""


class Group(_Arranged, TyperGroup):
    """A group of commands likewise."""
