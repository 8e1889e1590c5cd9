"""What counts as a right answer of the demo pair."""

import random

import pytest

from dflash_mlx.bench.demo_pair.evaluate import behaviour, is_right
from dflash_mlx.bench.demo_pair.text import ARITHMETIC, Turn, dialogue


@pytest.mark.parametrize("thinking", [False, True])
@pytest.mark.parametrize("kind", [*ARITHMETIC, "units", "code", "about", "else"])
def test_the_generators_own_answers_are_right(kind: str, thinking: bool) -> None:
    made = dialogue(random.Random(1), wording="held-out", kind=kind, thinking=thinking)
    thought = f"{made.last.working}\n</think>\n\n" if thinking else ""
    assert is_right(made.last, thought + made.messages[-1]["content"])
    assert not is_right(made.last, thought)


def test_a_division_needs_its_rest() -> None:
    turn = Turn("div", "", "", "The answer is 4, rest 1.", "4, rest 1")
    assert not is_right(turn, "The answer is 4.") and not is_right(turn, "The answer is 14, rest 1.")


def test_functions_are_judged_by_what_they_return() -> None:
    known = behaviour("```python\ndef add_3(size):\n    return size + 3\n```")
    assert known is not None
    assert behaviour("```python\ndef plus(size):\n    return 3 + size\n```") == known
    assert behaviour("```python\ndef add_3(price):\n    return price + 3\n```") != known  # the prompt's noun was ignored
    assert behaviour("```python\ndef add_3(size):\n    return size +\n```") is None
