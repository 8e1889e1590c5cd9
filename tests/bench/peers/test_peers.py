"""Other engines are asked fairly, judged by their tokens, and cannot stop the run. None has to be installed."""

import json
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dflash_mlx as dm
from dflash_mlx.bench.peers import __main__ as command
from dflash_mlx.bench.peers import process as peer_process
from dflash_mlx.bench.peers import roster, serve
from dflash_mlx.bench.peers.compare import OURS, Answer, Questions, Way, in_turn, rows, table
from dflash_mlx.bench.peers.pair import CommonPair, common_pair
from dflash_mlx.bench.peers.process import EngineFailed, EngineProcess
from dflash_mlx.bench.peers.roster import MLX, PEERS, Peer, peers_named
from dflash_mlx.checkpoint import read_config, read_weights
from dflash_mlx.drafters import load_drafter
from dflash_mlx.errors import RequestError
from dflash_mlx.loading.hub import PairFolders, resolve_pair

CHECKPOINTS = Path(__file__).parents[2] / "fixtures" / "checkpoints"
QUESTIONS = Questions(prompts=[[1, 2], [3]], stop=[0], block_size=4, max_tokens=4)

ADAPTER = """
import os
PACKAGES = ()
print("imported")
class Engine:
    def __init__(self, target, drafter):
        os.write(1, b"a library in C says something")
        self.pair = [target, drafter]
    def folders(self):
        return self.pair
    def answer(self, prompt):
        print("thinking")
        for token in prompt:
            yield [token, token]
        return {"cycles": len(prompt) - 1}
    def fail(self):
        raise ValueError("no\\nsuch layer")
"""
TROUBLE = {
    "crashes": ("import os, sys; print('out of luck', file=sys.stderr, flush=True); os.abort()", "ended (SIGABRT): out of luck"),
    "ends": ("import sys; sys.exit('no such file: weights')", "ended (exit code 1): no such file: weights"),
    "ends silently": ("", "ended (exit code 0): it said nothing"),
    "prints rubbish": ("print('Loading weights ...')", "not of the protocol: Loading weights ..."),
    "answers a list": ("print('[1]')", "not of the protocol: [1]"),
    "hangs": ("import time; time.sleep(60)", "no answer within 0.3 seconds"),
}


def process(script: str, folder: Path) -> EngineProcess:
    """A process with a script in place of an environment's Python."""
    file = folder / "python.py"
    file.write_text(script)
    return EngineProcess([sys.executable, "-S", file], file, folder, folder)


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineProcess]:
    adapter = tmp_path_factory.mktemp("adapters") / "json.py"  # called as a module that serve.py itself needs
    adapter.write_text(ADAPTER)
    with EngineProcess([sys.executable, "-I"], adapter, Path("a"), Path("b")) as process:
        assert process.ready() == {}
        yield process


def test_a_peer_is_given_the_pair_whatever_it_prints(peer: EngineProcess) -> None:
    assert peer("folders") == ["a", "b"]


def test_a_peers_answer_comes_with_its_times(peer: EngineProcess) -> None:
    told = peer("answer", prompt=[4, 5])
    assert (told["tokens"], told["cycles"]) == ([4, 4, 5, 5], 1)
    assert told["first_s"] > 0 and told["seconds"] > 0


@pytest.mark.parametrize("ending", [{"cycles": 2}, {"cycles": 2, "seconds": 0.5}])
def test_an_answer_is_timed_from_its_first_tokens(ending: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def answer() -> Generator[list[int], None, dict[str, Any]]:
        yield from ([4], [5, 6], [7])
        return ending

    clock = SimpleNamespace(perf_counter=iter([10.0, 13.0, 14.0, 18.0]).__next__)
    monkeypatch.setattr(serve, "time", clock)
    told = serve.timed(answer())
    assert told == {"tokens": [4, 5, 6, 7], "first_s": 3.0, "seconds": 5.0} | ending  # an engine may know better


def test_a_peers_error_is_one_line(tmp_path: Path) -> None:
    (adapter := tmp_path / "adapter.py").write_text(ADAPTER)
    with EngineProcess([sys.executable, "-I"], adapter, tmp_path, tmp_path) as peer:
        peer.ready()
        with pytest.raises(EngineFailed, match="^ValueError: no such layer$"):
            peer("fail")


@pytest.mark.parametrize("trouble", TROUBLE)
def test_a_peer_in_trouble_is_told_of_in_its_own_words(trouble: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, words = TROUBLE[trouble]
    monkeypatch.setattr(peer_process, "LIMIT", 0.3 if trouble == "hangs" else 30.0)
    with process(script, tmp_path) as peer:
        with pytest.raises(EngineFailed) as caught:
            peer.ready()
    assert str(caught.value).endswith(words)


def test_a_peer_that_has_ended_answers_no_more(tmp_path: Path) -> None:
    with process("print('{\"result\": {}}')", tmp_path) as peer:
        assert peer.ready() == {}
        peer._process.wait()
        with pytest.raises(EngineFailed, match="ended"):
            peer("answer", prompt=[1])


def told(tokens: list[int], seconds: float = 1.0, cycles: int | None = None) -> dict[str, Any]:
    return {"tokens": tokens, "seconds": seconds, "cycles": cycles}


@pytest.mark.parametrize(
    "tokens, text, decoded",
    [
        ([5, 6, 7, 8], (5, 6, 7, 8), 4),
        ([5, 6, 0], (5, 6), 3),  # the stop token is no text, but was computed
        ([5, 6, 0, 9], (5, 6), 3),
        ([5, 6, 7, 8, 9, 9], (5, 6, 7, 8), 6),  # a last block that was not shortened
    ],
)
def test_answers_are_comparable_wherever_an_engine_ends(tokens: list[int], text: tuple[int, ...], decoded: int) -> None:
    assert Answer.of(told(tokens), QUESTIONS) == Answer(text, decoded, 1.0, None)


def test_engines_take_turns_and_one_that_fails_leaves_the_others() -> None:
    asked: list[tuple[str, int]] = []
    failures: list[tuple[str, str]] = []

    def engine(name: str, failing_at: int = 99) -> Any:
        def call(call: str, **arguments: Any) -> dict[str, Any]:
            assert call == "answer" and (arguments["stop"], arguments["max_tokens"]) == ([0], 4)
            asked.append((name, arguments["block_size"]))
            if sum(other == name for other, _ in asked) > failing_at:
                raise EngineFailed("out of memory")
            return told(arguments["prompt"], seconds=len(asked))

        return call

    engines = {OURS: engine(OURS), "mlx-lm": engine("mlx-lm"), "z-lab": engine("z-lab", failing_at=4)}
    results = in_turn(engines, QUESTIONS, rounds=2, failed=lambda *failure: failures.append(failure))
    assert failures == [("z-lab", "out of memory")]
    assert set(results) == {Way(OURS, 1), Way(OURS, 4), Way("mlx-lm", 1)}
    for found in results.values():
        assert [[each.tokens for each in round_] for round_ in found] == 2 * [[(1, 2), (3,)]]
        assert found[0][0].seconds > 8  # four ways have answered two prompts to warm up
    everyone = [(OURS, 1), (OURS, 4), ("mlx-lm", 1), ("z-lab", 4)]
    assert asked[:4] == everyone
    assert asked[4:8] == everyone[1:] + everyone[:1]
    assert asked.count(("z-lab", 4)) == 5 and asked.count((OURS, 4)) == 6  # in a round more, to warm up


def test_rows_tell_speeds_of_rounds_and_whose_tokens_differ() -> None:
    def round_(seconds: float, cycles: int | None, *answers: list[int]) -> list[Answer]:
        return [Answer.of(told(tokens, seconds, cycles), QUESTIONS) for tokens in answers]

    right = [[5, 6, 7, 8], [9, 0]]
    results = {
        Way(OURS, 1): [round_(1.0, None, *right), round_(2.0, None, *right), round_(4.0, None, *right)],
        Way("mlx-lm", 1): [round_(2.0, None, *right)] * 3,
        Way("z-lab", 4): [
            round_(0.5, 2, *right),
            round_(0.5, 2, [5, 6, 1, 8], [9, 0]),
            round_(4.0, 2, [5, 6, 7, 8], [9, 4, 0]),  # only in the last round, and longer than right
        ],
    }
    versions = {name: f"{name} 1.0" for name in (OURS, "mlx-lm", "z-lab")}
    ours, reference, peer = rows(results, versions, {"z-lab": "a note"})
    assert ours["tokens_per_second"] == 1.0  # (3 + 1) tokens in 2, 4 and 8 seconds
    assert ours["of_plain"] == 1.0 and (ours["same"], ours["first_difference"]) == (2, None)
    assert reference["of_plain"] == 1.0  # of 2/4, 4/4, 8/4
    assert peer["tokens_per_second"] == 4.0  # of 4/1, 4/1, 5/8
    assert peer["of_plain"] == 2.0  # of 2, 4, 1.25
    assert peer["tokens_a_cycle"] == round(13 / 12, 2)
    assert (peer["same"], peer["prompts"], peer["first_difference"]) == (0, 2, (0, 2))
    assert peer["note"] == "a note" and reference["tokens_a_cycle"] is None
    lines = table([ours, reference, peer])
    assert len({len(line) for line in lines}) == 1
    cells = [cell.strip() for cell in lines[-1].strip("| ").split(" | ")]
    assert cells == ["z-lab", "z-lab 1.0", "4", "4.0", "2.00", "1.08", "0/2", "prompt 0, token 2", "a note"]


def test_our_plain_decoding_is_the_reference_where_mlx_lm_is_missing() -> None:
    results = {Way(OURS, 1): [[Answer((5,), 2, 1.0, None)]], Way("z-lab", 4): [[Answer((6,), 2, 1.0, 1)]]}
    ours, peer = rows(results, {OURS: "", "z-lab": ""}, {})
    assert (ours["same"], peer["same"], peer["first_difference"]) == (1, 0, (0, 0))


def test_every_peer_is_pinned_and_has_an_adapter() -> None:
    for peer in PEERS:
        assert peer.adapter.is_file()
        assert MLX in peer.requirements and all("==" in each for each in (*peer.requirements, *peer.alone))
    with pytest.raises(RequestError, match="no engine is called vllm"):
        peers_named(["z-lab", "vllm"])


def test_an_environment_is_made_where_python_comes_without_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], check: bool = False, **_: Any) -> Any:
        commands.append(command)
        (tmp_path / "z-lab").mkdir(exist_ok=True)
        return subprocess.CompletedProcess(command, "venv" in command and "--without-pip" not in command)

    monkeypatch.setattr(roster.subprocess, "run", run)
    [peer] = peers_named(["z-lab"])
    peer.install(tmp_path)
    assert [command[-1] for command in commands] == 2 * [str(tmp_path / "z-lab")] + ["pip", MLX, "dflash==0.1.0"]
    assert "--no-deps" in commands[-1] and commands[-1][0] == str(tmp_path / "z-lab" / "bin" / "python")
    assert peer.installed(tmp_path)
    assert not peer._replace(alone=("dflash==0.2.0",)).installed(tmp_path)  # made for an older list


def test_an_environment_that_pip_could_not_fill_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], check: bool = False, **_: Any) -> Any:
        if check:
            raise subprocess.CalledProcessError(1, command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(roster.subprocess, "run", run)
    with pytest.raises(RequestError, match="mlx-lm cannot be installed"):
        PEERS[0].install(tmp_path)
    assert not PEERS[0].installed(tmp_path)


@pytest.mark.parametrize(
    "name, model_type, version, refused",
    [
        ("bstnxbt", "qwen3", 1, False),
        ("bstnxbt", "qwen3", 2, True),
        ("mlx-vlm", "qwen3", 1, True),
        ("mlx-vlm", "qwen3_5_moe", 2, False),
    ],
)
def test_a_pair_that_a_peer_cannot_run_is_known_before(name: str, model_type: str, version: int, refused: bool) -> None:
    [peer] = peers_named([name])
    assert (peer.refuses(CommonPair(Path(), Path(), model_type, version)) is not None) == refused


def test_the_pair_that_all_can_read_holds_the_same_numbers(tmp_path: Path) -> None:
    demo = resolve_pair("demo", "auto")
    common = common_pair(demo, tmp_path)
    prompt = [9, 200, 31, 44, 7]
    says = [dm.load(folder, None).generate(prompt, max_tokens=12).token_ids for folder in (demo.target, common.target)]
    assert says[0] == says[1]
    assert read_config(common.target)["text_config"]["rope_parameters"]["mrope_section"] == [6, 5, 5]  # half of 64 in pairs
    assert (common.model_type, common.version) == ("qwen3_5", 2)
    packed, scales, biases = (read_weights(demo.drafter)[f"fc.{part}"] for part in ("weight", "scales", "biases"))  # type: ignore[arg-type]
    digits = np.array(packed)[:, :, None] >> np.arange(0, 32, 4, dtype=np.uint32) & 15
    grouped = (
        digits.reshape(*scales.shape, 64) * np.array(scales, np.float32)[..., None] + np.array(biases, np.float32)[..., None]
    )
    load_drafter(common.drafter)
    np.testing.assert_allclose(
        np.array(read_weights(common.drafter)["fc.weight"], np.float32), grouped.reshape(len(packed), -1), 1e-5, 1e-7
    )
    config = read_config(common.drafter)
    assert (config["block_size"], config["rope_theta"]) == (8, 1e4) and "quantization" not in config


def test_a_pair_that_all_can_read_already_stays_where_it_is(tmp_path: Path) -> None:
    pair = PairFolders(CHECKPOINTS / "target_qwen3", CHECKPOINTS / "dflash1_full")
    common = common_pair(pair, tmp_path)
    assert common.target == pair.target and common[2:] == ("qwen3", 1)
    assert {key: read_config(common.drafter)[key] for key in ("block_size", "rope_theta")} == {"block_size": 8, "rope_theta": 1e4}


def test_a_run_compares_who_is_there_and_says_who_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def install(peer: Peer, script: str) -> None:
        python = peer.python(tmp_path)
        python.parent.mkdir(parents=True)
        (python.parent / "peer.py").write_text(script)
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{python.parent / "peer.py"}"\n')
        python.chmod(0o755)
        (tmp_path / peer.name / roster.READY).write_text(peer._contents())

    answering = """if 1:
        import json, sys
        print(json.dumps({"result": {"mlx-lm": "7.7", "mlx": "0"}}), flush=True)
        for line in sys.stdin:
            result = {"tokens": [1022, 1023], "first_s": 0.1, "seconds": 0.5, "cycles": None}
            print(json.dumps({"result": result}), flush=True)
    """
    reference, crashing = peers_named(["mlx-lm", "z-lab"])
    install(reference, answering)
    install(crashing, TROUBLE["ends"][0])
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text(json.dumps({"prompt": "What is 2 + 3?"}) + "\n")
    arguments = [
        "run",
        "--prompts",
        str(prompts),
        "--rounds",
        "1",
        "--max-tokens",
        "8",
        "--block-size",
        "4",
    ]
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    monkeypatch.setattr(sys, "argv", ["peers", *arguments, "--json"])
    assert command.main() == 0
    head, *lines = map(json.loads, capsys.readouterr().out.splitlines())
    assert "machine" in head and "run --prompts" in head["command"]
    left_out = {line["engine"]: line["left_out"] for line in lines if "left_out" in line}
    assert left_out["z-lab"] == "failed: its process ended (exit code 1): no such file: weights"
    assert left_out["mlx-vlm"] == "not installed here (python -m dflash_mlx.bench.peers install mlx-vlm)"
    plain, ours, other = (line for line in lines if "version" in line)
    assert (plain["block_size"], ours["block_size"], other["version"]) == (1, 4, "mlx-lm 7.7")
    assert other["tokens_per_second"] == 2.0 and other["same"] == 1
    assert (plain["same"], ours["same"], ours["first_difference"]) == (0, 0, [0, 0]) and ours["tokens_a_cycle"] >= 1
