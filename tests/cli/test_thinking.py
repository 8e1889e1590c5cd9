"""Where `dflash-mlx generate` puts what the model thinks before it answers."""

import json

import pytest

from dflash_mlx import Chunk, Statistics
from dflash_mlx.cli.answer import Text

QUESTION = "What is 13 + 4?"  # before its answer the demo pair calculates, if it thinks


@pytest.fixture(scope="module")
def said(demo) -> tuple[str, str]:
    """What the model thinks, and what it answers then, as the library tells them apart."""
    chunks = list(demo.session(thinking=True).send(QUESTION))
    return "".join(chunk.thinking for chunk in chunks), "".join(chunk.text for chunk in chunks)


def test_thinking_goes_to_stderr_and_only_the_answer_to_stdout(run, said):
    thinking, answer = said
    code, out, err = run("generate", QUESTION, "--think")
    assert thinking.endswith("</think>\n\n") and answer == "The answer is 17."
    assert (code, out) == (0, f"{answer}\n") and err.startswith(f"<think>\n{thinking}96 tokens; ")


def test_show_thinking_puts_it_before_the_answer(run, said):
    thinking, answer = said
    code, out, err = run("generate", QUESTION, "--think", "--show-thinking")
    assert (code, out) == (0, f"<think>\n{thinking}{answer}\n") and "think" not in err


def test_quiet_leaves_only_the_answer(run, said):
    assert run("generate", QUESTION, "--think", "--quiet") == (0, said[1] + "\n", "")


def test_an_opening_marker_that_the_model_writes_itself_is_not_doubled(capsys):
    text = Text(show_drafts=False, show_thinking=False, quiet=False)
    text.chunk(Chunk("Yes.", "<think>\nHm.\n</think>", ("<think>\nHm.\n</think>Yes.",), (1,), (), 0, "stop", Statistics()))
    text.finish("stop", None)
    assert capsys.readouterr() == ("Yes.\n", "<think>\nHm.\n</think>\n")


def test_no_think_answers_at_once_and_keeps_every_character(run, demo):
    [*chunks] = demo.session(thinking=False).send(QUESTION)
    assert run("generate", QUESTION, "--no-think", "--quiet").out == "".join(chunk.text for chunk in chunks) + "\n"


def test_think_takes_a_system_message_too(run, demo):
    [*chunks] = demo.session(system="Be brief.", thinking=True).send(QUESTION)
    out = run("generate", QUESTION, "--system", "Be brief.", "--think", "--show-thinking", "--quiet").out
    assert out == "<think>\n" + "".join(chunk.thinking + chunk.text for chunk in chunks) + "\n"


@pytest.mark.parametrize("options", [[], ["--quiet"]], ids=str)
def test_thinking_that_used_up_the_tokens_is_told(run, said, options):
    code, out, err = run("generate", QUESTION, "--think", "--max-tokens", "6", *options)
    assert (code, out) == (0, "") and "there is no answer: thinking used up all 6 tokens. Raise --max-tokens" in err
    assert "there is no answer" not in run("generate", QUESTION, "--no-think", "--max-tokens", "6").err
    assert "there is no answer" not in run("generate", QUESTION, "--think", "--max-tokens", "95").err, "one of 96 is lacking"


def test_the_picture_of_drafts_is_drawn_on_both_sides_of_the_marker(run, demo, said):
    out, err = run("generate", QUESTION, "--think", "--show-drafts", "--block-size", "4")[1:]
    together = run("generate", QUESTION, "--think", "--show-drafts", "--show-thinking", "--block-size", "4").out
    pictures = [text.replace("[", "").replace("]", "") for text in (err, out, together)]
    assert said[0] in pictures[0] and pictures[1:] == [said[1] + "\n", f"<think>\n{''.join(said)}\n"]
    chunks = demo.session(thinking=True).send(QUESTION, block_size=4)
    drafted = sum(len(piece.replace("\n", "")) for chunk in chunks for piece in chunk.pieces[: chunk.accepted])
    between = together.replace("]", "[").split("[")[1::2]
    assert sum(map(len, between)) == drafted


def test_json_tells_thinking_and_answer_apart(run, said):
    *chunks, last = map(json.loads, run("generate", QUESTION, "--think", "--json").out.splitlines())
    assert tuple("".join(chunk[name] for chunk in chunks) for name in ("thinking", "text")) == said
    assert (last["thinking"], last["text"]) == said


def test_a_template_without_the_choice_of_thinking_is_named(run, demo, monkeypatch):
    monkeypatch.setattr(type(demo.tokenizer), "knows", lambda self, variable: False)
    assert "has no choice of thinking" in run("generate", QUESTION, "--think").err
