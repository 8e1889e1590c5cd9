"""What a picture can say with the fonts that are there: users may call a category anything, in any script."""

from collections.abc import Callable, Sequence

LONGEST_NAME = 24  # characters
# Fonts of systems that have Chinese glyphs, which matplotlib's own font has not; the first one that is there serves.
CHINESE_FONTS = (
    "PingFang SC",
    "Hiragino Sans GB",
    "Arial Unicode MS",
    "Heiti TC",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
)


def available_fonts() -> list[str]:
    """matplotlib's own font, and one with Chinese glyphs where the system has one: asked for others, matplotlib complains."""
    from matplotlib.font_manager import fontManager

    there = set(fontManager.get_font_names())
    return ["DejaVu Sans", *[name for name in CHINESE_FONTS if name in there][:1]]


def legible_in(fonts: Sequence[str]) -> Callable[[str], str]:
    """Makes a text one that the fonts can show: a character that none of them has becomes a question mark."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    glyphs: set[int] = set()
    for name in fonts:
        glyphs |= get_font(findfont(FontProperties(family=[name]))).get_charmap().keys()
    return lambda text: "".join(c if c.isprintable() and ord(c) in glyphs else "?" for c in text)


def category_names(categories: Sequence[str], legible: Callable[[str], str]) -> dict[str, str]:
    """How the picture names each category; by its number where the fonts have hardly a glyph of it."""
    names = {}
    for number, category in enumerate(dict.fromkeys(categories), start=1):
        name = legible(shorter(category, LONGEST_NAME))
        lost = name.count("?") - category.count("?")
        names[category] = f"category {number}" if 2 * lost > len(name) or not name.strip() else name
    return names


def shorter(text: str, length: int) -> str:
    """In one line, cut where it is longer than `length` characters."""
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"
