"""`dflash-mlx generate`: what goes in, what comes out, what each option does."""

import json
import re
import shutil

import pytest
from command import PROMPT
from fixture_data import CHECKPOINTS, DEMO, SHALLOW

import dflash_mlx
from dflash_mlx.tuning.kernel_choice import Choice

from .conftest import load


def objects(out: str) -> list[dict]:
    return [json.loads(line) for line in out.splitlines()]


def test_answer_is_alone_on_stdout_and_ends_its_line(run, demo):
    code, out, _ = run("generate", PROMPT)
    assert (code, out) == (0, demo.generate(PROMPT).text + "\n")


def test_statistics_are_one_line_on_stderr(run, demo):
    statistics = demo.generate(PROMPT, block_size=4).statistics
    [line] = run("generate", PROMPT, "--block-size", "4").err.splitlines()
    assert line.startswith(f"{statistics.generated_tokens} tokens; ")
    assert f"acceptance length {statistics.acceptance_length:.2f}; block size 4 ({statistics.cycles}x)" in line


def test_quiet_leaves_only_the_text(run, demo):
    assert run("generate", PROMPT, "--quiet") == (0, demo.generate(PROMPT).text + "\n", "")


def test_system_message_stands_before_the_prompt(run, demo):
    messages = [{"role": "system", "content": "Answer briefly."}, {"role": "user", "content": PROMPT}]
    assert run("generate", PROMPT, "--system", "Answer briefly.", "--quiet").out == demo.generate(messages).text + "\n"
    [*_, last] = objects(run("generate", PROMPT, "--system", "Answer briefly.", "--json").out)
    assert last["statistics"]["prompt_tokens"] == demo.generate(messages).statistics.prompt_tokens


def test_raw_skips_the_chat_template(run, demo):
    out = run("generate", "The drafter is", "--raw", "--max-tokens", "12", "--quiet").out
    assert out == demo.generate("The drafter is", raw=True, max_tokens=12).text + "\n"


def test_max_tokens_cuts_the_answer_and_says_so(run, demo):
    code, out, err = run("generate", PROMPT, "--max-tokens", "5")
    assert (code, out) == (0, demo.generate(PROMPT, max_tokens=5).text + "\n")
    assert err.startswith("5 tokens (cut at the limit); ")


def test_a_single_token_is_summed_up_without_rates(run):
    assert re.fullmatch(
        r"1 token \(cut at the limit\); first token after [\d.]+ s\n", run("generate", PROMPT, "--max-tokens", "1").err
    )


def test_stop_ends_the_answer_before_the_first_of_its_texts(run, demo):
    text = demo.generate(PROMPT).text
    late, early = text[-4:], text[4:8]
    assert run("generate", PROMPT, "--quiet", "--stop", late, "--stop", early).out.rstrip("\n") == text[
        : text.index(early)
    ].rstrip("\n")


def test_drafter_none_decodes_plainly_and_says_why(run, demo):
    code, out, err = run("generate", PROMPT, "--drafter", "none")
    assert (code, out) == (0, demo.generate(PROMPT).text + "\n")
    assert "plain: no drafter was loaded" in err and "acceptance" not in err


def test_drafter_may_be_a_folder(run, demo):
    from dflash_mlx.loading.hub import resolve_pair

    folder = str(resolve_pair(SHALLOW, "auto").drafter)
    assert "acceptance length" in run("generate", PROMPT, "--drafter", folder, "--block-size", "4").err


def test_force_does_not_ask_for_memory(run, demo, monkeypatch):
    text = demo.generate(PROMPT).text
    monkeypatch.setattr("dflash_mlx.loading.memory.available", lambda: 1_000_000)
    code, out, err = run("generate", PROMPT)
    assert (code, out) == (2, "") and "GB" in err and "--force" in err
    assert run("generate", PROMPT, "--quiet", "--force").out == text + "\n"


def test_drafter_bits_change_the_drafts_and_not_the_text(run):
    pair = ["--model", str(CHECKPOINTS / "target_qwen3_5"), "--drafter", str(CHECKPOINTS / "dflash2_full")]
    arguments = ["generate", "abc", *pair, "--raw", "--max-tokens", "30", "--block-size", "4", "--json"]
    plain, quantised = (objects(run(*arguments, *bits).out)[:-1] for bits in ([], ["--drafter-bits", "4"]))
    tokens = [[token for chunk in chunks for token in chunk["token_ids"]] for chunks in (plain, quantised)]
    assert tokens[0] == tokens[1]
    assert [chunk["drafted"] for chunk in plain] != [chunk["drafted"] for chunk in quantised]


@pytest.mark.parametrize("size", ["1", "2", "8"])
def test_block_size_changes_the_work_and_not_the_text(run, demo, size):
    *chunks, last = objects(run("generate", PROMPT, "--block-size", size, "--json").out)
    assert "".join(chunk["text"] for chunk in chunks) == demo.generate(PROMPT).text
    assert set(last["statistics"]["block_sizes"]) >= {size}


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["--temperature", "5", "--seed", "3"], {"temperature": 5.0, "seed": 3}),
        (["--temperature", "5", "--top-k", "5", "--seed", "3"], {"temperature": 5.0, "top_k": 5, "seed": 3}),
        (["--temperature", "5", "--top-p", ".5", "--seed", "3"], {"temperature": 5.0, "top_p": 0.5, "seed": 3}),
        (["--temperature", "9", "--min-p", "0.1", "--seed", "3"], {"temperature": 9.0, "min_p": 0.1, "seed": 3}),
        (["--repetition-penalty", "3"], {"repetition_penalty": 3.0}),
        (["--presence-penalty", "20"], {"presence_penalty": 20.0}),
    ],
)
def test_every_sampling_option_is_that_of_the_library(run, demo, options, settings):
    out = run("generate", PROMPT, "--block-size", "4", "--max-tokens", "16", "--quiet", *options).out
    assert out == demo.generate(PROMPT, sampling=dflash_mlx.Sampling(**settings), block_size=4, max_tokens=16).text + "\n"
    assert out != demo.generate(PROMPT, max_tokens=16).text + "\n"


@pytest.mark.parametrize("option", ["--top-p", "--top-k", "--min-p", "--seed"])
def test_options_without_effect_on_greedy_decoding_are_told(run, option):
    arguments = ["generate", PROMPT, "--max-tokens", "1", option, "1"]
    told = f"{option}: no effect at temperature 0. Add --temperature 0.7, for example.\n"
    assert run(*arguments).err.startswith(told) and run(*arguments, "--temperature", "0").err.startswith(told)
    assert run(*arguments, "--quiet").err == "" and "no effect" not in run(*arguments, "--temperature", "0.7").err


def test_a_top_p_of_zero_gets_the_way_to_greedy_decoding(run):
    code, _, err = run("generate", PROMPT, "--top-p", "0")
    assert (
        code == 2
        and "--top-p must be above 0 and at most 1 (got 0.0)." in err
        and "for the most likely token, --temperature 0" in err
    )


def test_what_an_option_does_not_say_the_checkpoint_says(run, tmp_path):
    folder = shutil.copytree(DEMO / "target", tmp_path / "target")
    config = {"do_sample": True, "temperature": 5.0, "top_k": 4}
    (folder / "generation_config.json").write_text(json.dumps(config))
    model = ["--model", str(folder), "--drafter", "none", "--quiet", "--seed", "5"]
    text = {word: run("generate", PROMPT, *model, *options).out for word, options in OPTIONS.items()}
    assert text["nothing"] == text["the same"] != text["greedy"]
    assert text["greedy"] == run("generate", PROMPT, "--model", str(DEMO / "target"), "--drafter", "none", "--quiet").out
    assert text["top-k"] not in (text["nothing"], text["greedy"])


OPTIONS = {
    "nothing": [],
    "the same": ["--temperature", "5", "--top-k", "4"],
    "top-k": ["--top-k", "0"],
    "greedy": ["--temperature", "0"],
}


def test_exact_verification_gives_the_same_text(run):
    assert run("generate", PROMPT, "--verify", "exact", "--quiet").out == run("generate", PROMPT, "--quiet").out


def test_json_lines_are_the_chunks_and_then_all_of_the_answer(run, demo):
    *chunks, last = objects(run("generate", PROMPT, "--json").out)
    result = demo.generate(PROMPT)
    assert {chunk["type"] for chunk in chunks} == {"chunk"} and last["type"] == "end"
    assert [token for chunk in chunks for token in chunk["token_ids"]] == list(result.token_ids)
    assert "".join(chunk["text"] for chunk in chunks) == result.text
    assert all("".join(chunk["pieces"]) == chunk["thinking"] + chunk["text"] for chunk in chunks)
    assert all(chunk["token_ids"][: chunk["accepted"]] == chunk["drafted"][: chunk["accepted"]] for chunk in chunks)
    assert (last["text"], last["thinking"], last["finish_reason"]) == (result.text, "", "stop")
    assert last["statistics"]["generated_tokens"] == len(result.token_ids)


def test_json_leaves_stderr_empty(run):
    assert run("generate", PROMPT, "--json").err == ""


def test_a_prompt_cache_is_written_and_then_used(run, demo, tmp_path):
    file = str(tmp_path / "cache")
    answer = demo.generate(PROMPT).text + "\n"
    tokens = demo.generate(PROMPT).statistics.prompt_tokens
    code, out, err = run("generate", PROMPT, "--prompt-cache", file)
    assert (code, out) == (0, answer) and err.startswith(f"prompt cache: {file} was written.\n")
    written = (tmp_path / "cache").read_bytes()
    code, out, err = run("generate", PROMPT, "--prompt-cache", file)
    assert (code, out) == (0, answer) and err.startswith(
        f"prompt cache: {file} has {tokens - 1} of the prompt's {tokens} tokens.\n"
    )
    err = run("generate", "Leo buys 12 apples and eats 5.", "--prompt-cache", file).err
    assert "prompt cache: " in err and "delete it first" in err.splitlines()[0]
    assert (tmp_path / "cache").read_bytes() == written
    assert run("generate", PROMPT, "--prompt-cache", file, "--quiet") == (0, answer, "")
    code, out, err = run("generate", PROMPT, "--prompt-cache", file, "--json")
    assert err == "" and objects(out)[-1]["statistics"]["cached_prompt_tokens"] == tokens - 1


def test_a_prompt_cache_of_another_pair_is_refused(run, tmp_path):
    file = str(tmp_path / "cache")
    run("generate", PROMPT, "--prompt-cache", file)
    code, out, err = run("generate", PROMPT, "--prompt-cache", file, "--drafter", "none")
    assert (code, out) == (2, "") and "saved with a different drafter" in err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--max-tokens", "0"], "--max-tokens 0"),
        (["--max-tokens", "-5"], "--max-tokens -5"),
        (["--max-tokens", "abc"], "--max-tokens abc"),
        (["--max-tokens", "2.5"], "--max-tokens 2.5"),
        (["--drafter-bits", "x"], "--drafter-bits x"),
        (["--drafter-bits", "7"], "--drafter-bits 7"),
        (["--block-size", "0"], "--block-size 0"),
        (["--block-size", "x"], "--block-size x"),
        (["--block-size", "99"], "--block-size 99"),
        (["--drafter", "none", "--block-size", "4"], "--block-size 4"),
        (["--temperature", "hot"], "--temperature hot"),
        (["--temperature", "-1"], "--temperature must be 0 or more (got -1.0)"),
        (["--top-p", "1.5"], "--top-p must be above 0 and at most 1 (got 1.5)"),
        (["--top-k", "2.5"], "--top-k 2.5"),
        (["--min-p", "nan"], "--min-p must be from 0 to 1 (got nan)"),
        (["--repetition-penalty", "0"], "--repetition-penalty must be from 0.01 to 100 (got 0.0)"),
        (["--presence-penalty", "inf"], "--presence-penalty must be from -1000 to 1000 (got inf)"),
        (["--seed", "-3"], "--seed must be from 0 to 2**64 - 1 (got -3)"),
        (["--verify", "odd"], "--verify odd"),
        (["--stop", ""], '--stop ""'),
        (["--json", "--show-drafts"], "--json and --show-drafts"),
        (["--json", "--show-thinking"], "--json and --show-thinking"),
        (["--raw", "--system", "Answer briefly."], "--system"),
        (["--raw", "--no-think"], "--no-think"),
        (["--prompt-cache", "no/folder/cache"], "no/folder"),
        (["--prompt-cache", "."], "is not a file"),
        (["--prompt-cache", __file__], "test_generate.py is damaged, or was not saved by dflash-mlx"),
        (["--model", "no/where/to/be/found"], "no/where/to/be/found"),
        (["--model", "owner/model"], "owner/model"),
        (["--drafter", "no/where/to/be/found"], "no/where/to/be/found"),
    ],
    ids=" ".join,
)
def test_nonsense_gets_one_sentence_and_a_hint(run, arguments, named):
    code, out, err = run("generate", PROMPT, *arguments)
    sentence, hint = err.splitlines()
    assert (code, out) == (2, "")
    assert sentence.startswith("error: ") and named in sentence and sentence.endswith(".")
    assert hint[0].isupper() and hint.endswith(".")


@pytest.mark.metal
def test_demo_pair_calculates_on_the_gpu(run):
    import mlx.core as mx

    assert mx.default_device() == mx.gpu
    assert "633" in run("generate", "Mia has 247 books. Then Leo brings 386 more. How many books are there now?", "--quiet").out


def test_a_kernel_that_was_just_found_failing_is_told_with_the_compilers_message(run, monkeypatch):
    choice = Choice(news={"gated_delta": "does not run: RuntimeError: program_source:7: error: no 'simd_summ'"})
    monkeypatch.setattr(load("demo", drafter="auto", drafter_bits="auto", force=False, kernels="auto"), "kernels", choice)
    _, out, err = run("generate", PROMPT, "--max-tokens", "5")
    assert "kernel gated_delta is not used: does not run: RuntimeError: program_source:7: error: no 'simd_summ'" in err
    assert run("generate", PROMPT, "--max-tokens", "5", "--quiet") == (0, out, "")


@pytest.mark.parametrize("kernels", ["auto", "mlx"])
def test_kernels_may_be_left_to_the_machine_or_to_mlx(run, demo, kernels):
    assert run("generate", PROMPT, "--quiet", "--kernels", kernels).out == demo.generate(PROMPT).text + "\n"
