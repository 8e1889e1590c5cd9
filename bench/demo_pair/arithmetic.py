"""Sums written out column by column, one easy step a line: the form in which a four-million-parameter model can be right.

Each function returns (working, result). Operands have up to four digits, and so has every result.
"""

COLUMNS = ("ones", "tens", "hundreds", "thousands")


def _digits(n: int, width: int) -> list[int]:
    """From the ones up."""
    return [n // 10**i % 10 for i in range(width)]


def _width(*numbers: int) -> int:
    return len(str(max(numbers)))


def add(a: int, b: int) -> tuple[str, int]:
    width, closing = _width(a, b), f"{a} + {b} = {a + b}"
    if width == 1:
        return closing, a + b
    lines, carry = [f"{a:0{width}d} + {b:0{width}d}"], 0
    for name, x, y in zip(COLUMNS, _digits(a, width), _digits(b, width)):
        s = x + y + carry
        lines.append(f"{name}: {x} + {y} + {carry} = {s}")
        carry = s // 10
    return "\n".join([*lines, closing]), a + b


def subtract(a: int, b: int) -> tuple[str, int]:
    """A larger b is what a is taken from; the result is negative."""
    if b > a:
        working, result = subtract(b, a)
        return f"{b} is more than {a}.\n{working}\n{a} - {b} = -{result}", -result
    width, closing = _width(a), f"{a} - {b} = {a - b}"
    if width == 1:
        return closing, a - b
    lines, borrow = [f"{a:0{width}d} - {b:0{width}d}"], 0
    for name, x, y in zip(COLUMNS, _digits(a, width), _digits(b, width)):
        short = x - y - borrow < 0
        lines.append(f"{name}: {'1' * short}{x} - {y} - {borrow} = {x - y - borrow + 10 * short}")
        borrow = int(short)
    return "\n".join([*lines, closing]), a - b


def multiply(a: int, m: int) -> tuple[str, int]:
    """m below 10 in columns; below 100 by its tens and its ones."""
    closing = f"{a} x {m} = {a * m}"
    if m >= 10:
        tens, ones = divmod(m, 10)
        lines = [f"{m} = {tens * 10} + {ones}"] if ones else []
        lines += [multiply(a, tens)[0]] if tens > 1 else []
        lines.append(f"{a * tens} x 10 = {a * tens * 10}")
        lines += [multiply(a, ones)[0], add(a * tens * 10, a * ones)[0]] if ones else []
        return "\n".join(lines if m == 10 else [*lines, closing]), a * m
    if a < 10 or m < 2:
        return closing, a * m
    lines, carry = [f"{a} x {m}"], 0
    for name, x in zip(COLUMNS, _digits(a, _width(a))):
        p = x * m
        lines.append(f"{name}: {x} x {m} = {p}, {p} + {carry} = {p + carry}")
        carry = (p + carry) // 10
    return "\n".join([*lines, closing]), a * m


def divide(a: int, m: int) -> tuple[str, tuple[int, int]]:
    """Long division. Result: (quotient, rest)."""
    lines, rest = [f"{a} / {m}"], 0
    for name, x in reversed(list(zip(COLUMNS, _digits(a, _width(a))))):
        n = 10 * rest + x
        q, rest = divmod(n, m)
        lines.append(f"{name}: {n} / {m} = {q}, {q} x {m} = {q * m}, {n} - {q * m} = {rest}")
    left = f", rest {rest}" if rest else ""
    return "\n".join([*lines, f"{a} / {m} = {a // m}{left}"]), (a // m, rest)
