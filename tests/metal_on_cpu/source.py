"""What is done with a kernel's text: its threadgroup memory for the runtime, barriers dropped, address spaces checked."""

import re

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
BARRIER = re.compile(rf"{COMMENT.pattern}|\b(?:threadgroup|simdgroup)_barrier\s*\((?:[^()]|\([^()]*\))*\)\s*;", re.S)
# Threadgroup memory as it is declared in a kernel.
TYPE = r"(?:typename\s+)?[A-Za-z_][\w:]*(?:<[^;(){}]*?>)?"
NAME = r"[A-Za-z_]\w*(?:\s*\[[^\];]*\])*"
DECLARATION = re.compile(
    rf"{COMMENT.pattern}|\bthreadgroup\s+(?:alignas\s*\(.*?\)\s*)?(?P<type>{TYPE})\s+(?P<names>{NAME}(?:\s*,\s*{NAME})*)\s*;",
    re.S,
)
NOT_UNDERSTOOD = re.compile(rf"\bthreadgroup\s+{TYPE}\s+[A-Za-z_]\w*\s*[\[;,={{][^;]*")
# What lint takes for an address space and for a type.
SPACE = r"(?:device|constant|threadgroup|thread)\b"
BUILT_IN = (
    r"(?:unsigned\s+)?(?:void|bool|u?char|u?short|u?int|u?long|half|bfloat|float|size_t|u?int(?:8|16|32|64)_t|b?float(?:16|32)_t)[234]?"
    r"|packed_\w+|atomic_\w+|simdgroup_\w+|vec|array|atomic|auto|(?:[A-Z][a-z]\w*)?[TU]\d?"
)
BLANKED = re.compile(rf'{COMMENT.pattern}|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)


class CompileError(Exception):
    """The kernel did not compile; the message is the compiler's."""


def with_threadgroup_memory(source: str) -> str:
    """`threadgroup T a[n], b;` as references to memory of the runtime: the one change to a kernel's text, but for attributes."""

    def declare(match: re.Match[str]) -> str:
        if not (kind := match["type"]):
            return match[0]
        return "\n" * match[0].count("\n") + " ".join(
            f"{kind} (&{name}){dims} = *({kind}(*){dims})({{ static void* msl_key; "
            f"msl_threadgroup(&msl_key, sizeof({kind}{dims}), msl_site()); }});"
            for name, dims in re.findall(r"([A-Za-z_]\w*)((?:\s*\[[^\];]*\])*)\s*(?:,|$)", match["names"])
        )

    source = DECLARATION.sub(declare, re.sub(r"\[\[\s*threadgroup\s*\(\d+\)\s*\]\]", "", source))
    if left := NOT_UNDERSTOOD.search(COMMENT.sub("", source)):
        raise CompileError(f"the harness does not understand this declaration of threadgroup memory: {left[0]}")
    return source


def count_barriers(source: str) -> int:
    return len(_barriers(source))


def without_barrier(source: str, n: int) -> str:
    """`source` without its n-th barrier, from 0 in the order of the text; lines keep their numbers."""
    found = _barriers(source)[n]
    return source[: found.start()] + ";" + "\n" * found[0].count("\n") + source[found.end() :]


def lint(source: str) -> list[str]:
    """Declared pointers and references that name no address space, which Metal refuses and clang for a CPU cannot see.

    A name counts as a type if it is built in, looks like a template's (T, U, InT) or is declared so in the text.
    """
    text = BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)
    types = [BUILT_IN, *re.findall(r"\b(?:struct|class|typename|using)\s+([A-Za-z_]\w*)", text)]
    declared = re.compile(
        rf"(?:^|[;{{}}(),>])\s*(?P<before>(?:(?!return\b)\w+\s+)*?)(?:metal::)?(?:{'|'.join(types)})\b(?:\s*<[^;{{}}()]*?>)?\s*"
        rf"(?P<between>(?:const\s+|volatile\s+|{SPACE}\s*)*)(?P<mark>[*&]+)\s*(?:const\s+|restrict\s+)*(?P<name>[A-Za-z_]\w*)",
        re.M,
    )
    found = []
    for match in declared.finditer(text):
        if not re.search(SPACE, match["before"] + match["between"]):
            line = text.count("\n", 0, match.start("mark")) + 1
            found.append(
                f"line {line}: {match['mark']}{match['name']} names no address space (device, constant, threadgroup, thread)"
            )
    return found


def _barriers(source: str) -> list[re.Match[str]]:
    return [match for match in BARRIER.finditer(source) if not match[0].startswith("/")]
