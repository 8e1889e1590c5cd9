"""Sums written out column by column, one easy step a line: the form in which a two-million-parameter model can be right.

Each function returns (working, result); numbers have up to three digits, and so has every result.
"""

COLUMNS = ("ones", "tens", "hundreds")


def _digits(n: int) -> list[int]:
    return [n // 10**i % 10 for i in range(3)]


def add(a: int, b: int) -> tuple[str, int]:
    lines, carry = [f"{a:03d} + {b:03d}"], 0
    for name, x, y in zip(COLUMNS, _digits(a), _digits(b)):
        s = x + y + carry
        lines.append(f"{name}: {x} + {y} + {carry} = {s}, write {s % 10}, carry {s // 10}")
        carry = s // 10
    return "\n".join([*lines, f"{a} + {b} = {a + b}"]), a + b


def subtract(a: int, b: int) -> tuple[str, int]:
    lines, borrow = [f"{a:03d} - {b:03d}"], 0
    for name, x, y in zip(COLUMNS, _digits(a), _digits(b)):
        short = x - y - borrow < 0
        d = x - y - borrow + 10 * short
        lines.append(f"{name}: {'1' * short}{x} - {y} - {borrow} = {d}, write {d}, borrow {short:d}")
        borrow = int(short)
    return "\n".join([*lines, f"{a} - {b} = {a - b}"]), a - b


def multiply(a: int, m: int) -> tuple[str, int]:
    lines, carry = [f"{a:03d} x {m}"], 0
    for name, x in zip(COLUMNS, _digits(a)):
        p = x * m
        s = p + carry
        lines.append(f"{name}: {x} x {m} = {p}, {p} + {carry} = {s}, write {s % 10}, carry {s // 10}")
        carry = s // 10
    return "\n".join([*lines, f"{a} x {m} = {a * m}"]), a * m


def divide(a: int, m: int) -> tuple[str, tuple[int, int]]:
    """Long division; the rest of each column is subtracted out, also when it is 0. Result: (quotient, rest)."""
    lines, rest = [f"{a:03d} / {m}"], 0
    for name, x in zip(reversed(COLUMNS), reversed(_digits(a))):
        n = 10 * rest + x
        q, rest = divmod(n, m)
        lines.append(f"{name}: {n:02d} / {m} = {q}, {q} x {m} = {q * m}, {n} - {q * m} = {rest}, write {q}, rest {rest}")
    return "\n".join([*lines, f"{a} / {m} = {a // m}, rest {rest}"]), (a // m, rest)
