"""How replies went, in one line and as a picture, and what could be changed about it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dflash_mlx import Statistics

GB = 10**9
EIGHTHS = " ▏▎▍▌▋▊▉█"
LAST = 8  # replies in the picture of speeds


def status_line(statistics: "Statistics", rows: int, capacity: int, columns: int, ending: str = "") -> str:
    """A reply's figures so far, in so many columns: in words where there is room, else shortened, the last ones left out.

    Args:
        rows: of its newest cycle.
        capacity: how many tokens the context can have.
        ending: how the reply ended, if that was not by itself.
    """
    used = f"{short(statistics.prompt_tokens + statistics.generated_tokens)}/{short(capacity)}"
    speed, length = f"{statistics.tokens_per_second:.1f}", f"{statistics.acceptance_length:.2f}"
    gigabytes = statistics.peak_memory_bytes / GB
    memory = f"{gigabytes:.1f} GB" if gigabytes >= 1 else f"{1000 * gigabytes:.0f} MB"
    mode = "spec" if statistics.mode == "speculative" else statistics.mode
    parts = [f"{speed} tok/s", f"acceptance length {length}", f"block size {rows}", statistics.mode, f"context {used}", memory]
    brief = [f"{speed} t/s", f"τ{length}", f"b{rows}", mode, used, memory.replace(" ", "")]
    if ending:
        parts, brief = [ending, *parts], [ending, *brief]
    for i in reversed(range(len(parts))):
        if len(" · ".join(parts)) > columns:
            parts[i] = brief[i]
    while len(parts) > 1 and len(" ".join(parts)) > columns:
        parts.pop()
    line = " · ".join(parts)
    return line if len(line) <= columns else " ".join(parts)[:columns]


def short(count: int) -> str:
    """1234567 as 1.2M."""
    for size, letter in ((10**6, "M"), (10**3, "k")):
        if count >= size:
            return f"{count / size:.1f}".removesuffix(".0") + letter
    return str(count)


def picture(replies: "Sequence[Statistics]", columns: int, ascii_only: bool = False) -> str:
    """What speculation did in these replies, as bars.

    Args:
        replies: at least one.
        columns: of the terminal.
        ascii_only: where it cannot show blocks.
    """

    def bars(title: str, rows: list[tuple[str, float, str]], most: float = 0) -> list[str]:
        if not rows:
            return []
        labels, ends = max(len(label) for label, _, _ in rows), max(len(end) for _, _, end in rows)
        room, most = max(4, min(40, columns - labels - ends - 4)), most or max(value for _, value, _ in rows) or 1
        return ["", title, *(f"{label:>{labels}} {_bar(value / most, room, ascii_only)} {end}" for label, value, end in rows)]

    timed = [(str(n), reply) for n, reply in enumerate(replies, 1) if reply.cycles][-LAST:]
    speeds = [(name, reply.tokens_per_second) for name, reply in timed]
    # beside a reply that was decoded plainly, an estimate of the same says nothing
    drafted = [reply for _, reply in timed if max(reply.block_sizes, default=1) > 1]
    plain = next((reply.plain_tokens_per_second for reply in reversed(drafted) if reply.plain_tokens_per_second), None)
    if plain:
        speeds.append(("plain", plain))
    widths = block_sizes(replies)
    lines = bars(
        "drafts accepted, by their place in the block",
        [(str(place), rate, f"{rate:.0%}") for place, rate in enumerate(acceptance(replies), 1)],
        most=1,
    )
    lines += bars("block sizes used", [(str(size), count, f"{count}x") for size, count in widths.items()])
    lines += bars(
        "tokens a second, by reply" + (", and plain decoding as estimated" if plain else ""),
        [(name, speed, f"{speed:.1f}") for name, speed in speeds],
    )
    prompt = sum(reply.prompt_tokens for reply in replies)
    known = sum(reply.cached_prompt_tokens for reply in replies)
    lines += ["", f"prompts: {prompt} tokens, {known} of them read before"]
    return "\n".join(lines).lstrip("\n")


def advice(replies: "Sequence[Statistics]", temperature: float, thought: float, drafter: bool) -> list[str]:
    """What the user could change, in sentences, from the figures of these replies.

    Args:
        temperature: of the next reply.
        thought: which part of the replies' tokens was thinking.
        drafter: whether one is loaded.
    """
    newest, rates = replies[-1], acceptance(replies)
    said = []
    if newest.cycles and newest.mode_reason:
        how = " was decoded plainly" if newest.mode == "plain" else ""
        said.append(f"The newest reply{how}: {newest.mode_reason}.")
    if not drafter:
        said.append("Without a drafter nothing gets faster: /model NAME DRAFTER loads one.")
    elif rates and rates[0] < 0.5 and temperature > 0:
        said.append(f"At temperature {temperature:g} drafts are hard to get right: try a lower one, as in /set temperature 0.")
    elif rates and rates[0] < 0.3:
        said.append(
            "Drafts are hardly ever right: another drafter may fit this model or these texts better (/model NAME DRAFTER)."
        )
    plain = newest.plain_tokens_per_second
    if plain and newest.cycles and newest.mode == "speculative":
        gain = newest.tokens_per_second / plain
        said.append(f"The newest reply came {gain:.1f} times as fast as plain decoding would have.")
    if thought > 0.5:
        said.append(f"{thought:.0%} of what was generated is thinking: /think off gets to the answer sooner.")
    return said


def acceptance(replies: "Sequence[Statistics]") -> list[float]:
    """How often the draft at each place of a block was accepted, over all replies."""
    places = max((len(reply.acceptance_by_position) for reply in replies), default=0)
    rates = []
    for place in range(places):
        reached = [reply for reply in replies if place < len(reply.acceptance_by_position)]
        weights = [sum(count for size, count in reply.block_sizes.items() if size > place + 1) for reply in reached]
        kept = sum(weight * reply.acceptance_by_position[place] for weight, reply in zip(weights, reached))
        rates.append(kept / max(1, sum(weights)))
    return rates


def block_sizes(replies: "Sequence[Statistics]") -> dict[int, int]:
    """How many cycles had how many rows, over all replies."""
    sizes = sorted({size for reply in replies for size in reply.block_sizes})
    return {size: sum(reply.block_sizes.get(size, 0) for reply in replies) for size in sizes}


def _bar(part: float, columns: int, ascii_only: bool) -> str:
    if ascii_only:
        return f"{'#' * round(part * columns):<{columns}}"
    full, rest = divmod(round(part * columns * 8), 8)
    return f"{'█' * full + EIGHTHS[rest] * (rest > 0):<{columns}}"
