"""What can be said of a kernel by its text alone: its barriers, and missing address spaces."""

import re

BARRIER = re.compile(r"//[^\n]*|/\*.*?\*/|\b(?:threadgroup|simdgroup)_barrier\s*\((?:[^()]|\([^()]*\))*\)\s*;", re.S)


def count_barriers(source: str) -> int:
    return len(_barriers(source))


def without_barrier(source: str, n: int) -> str:
    """`source` without its n-th barrier, from 0 in the order of the text; lines keep their numbers."""
    found = _barriers(source)[n]
    return source[: found.start()] + ";" + "\n" * found[0].count("\n") + source[found.end() :]


def _barriers(source: str) -> list[re.Match[str]]:
    return [match for match in BARRIER.finditer(source) if not match[0].startswith("/")]


SPACE = r"(?:device|constant|threadgroup|thread)\b"
BUILT_IN = (
    r"(?:unsigned\s+)?(?:void|bool|u?char|u?short|u?int|u?long|half|bfloat|float|size_t|u?int(?:8|16|32|64)_t|b?float(?:16|32)_t)[234]?"
    r"|packed_\w+|atomic_\w+|simdgroup_\w+|vec|array|atomic|auto|(?:[A-Z][a-z]\w*)?[TU]\d?"
)
BLANKED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)


def lint(source: str) -> list[str]:
    """Declared pointers and references that name no address space, which Metal refuses and clang for a CPU cannot see.

    A name counts as a type if it is built in, looks like a template's (T, U, InT) or is declared so in the text.
    """
    text = BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)
    types = [BUILT_IN, *re.findall(r"\b(?:struct|class|typename|using)\s+([A-Za-z_]\w*)", text)]
    declared = re.compile(
        rf"(?P<before>[^;{{}}(),<>]*?)\b(?:metal::)?(?:{'|'.join(types)})\b(?:\s*<[^;{{}}()]*?>)?\s*"
        rf"(?P<between>(?:const\s+|volatile\s+|{SPACE}\s*)*)(?P<mark>[*&]+)\s*(?:const\s+|restrict\s+)*(?P<name>[A-Za-z_]\w*)"
    )
    found = []
    for match in declared.finditer(text):
        if not re.search(SPACE, match["before"] + match["between"]):
            line = text.count("\n", 0, match.start("mark")) + 1
            found.append(
                f"line {line}: {match['mark']}{match['name']} names no address space (device, constant, threadgroup, thread)"
            )
    return found
