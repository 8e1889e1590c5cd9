"""Whole or not at all: what is on the disk whenever a conversion stops, and what the next one makes of it."""

import errno
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import pytest
from fixture_data import CHECKPOINTS, FIXTURES
from huggingface_hub.errors import LocalTokenNotFoundError

import dflash_mlx as dm
from dflash_mlx.convert import conversion, convert_drafter, convert_pair, convert_target, upload, weights, write

SOURCE = FIXTURES / "published" / "qwen3"

Content = dict[str, bytes] | None


class Killed(BaseException):
    """Stands for the end of the process."""


class Disk:
    """The functions that change the disk: on demand, after so many calls none works any more."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._left: int | None = None
        for place, names in {
            Path: ("mkdir", "rename", "unlink", "write_text", "write_bytes"),
            shutil: ("rmtree",),
            os: ("fsync",),
            mx: ("save_safetensors",),
            write: ("_exchange",),
        }.items():
            for name in names:
                patch.setattr(place, name, self._counted(getattr(place, name)))

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            if self._left is not None:
                if self._left == 0:
                    raise Killed
                self._left -= 1
            return function(*arguments, **options)

        return counted

    def kills(self, run: Callable[[], Any], after: int) -> bool:
        """Runs something until it has made so many calls. Whether it would have made more."""
        self._left = after
        try:
            run()
        except Killed:
            return True
        finally:
            self._left = None
        return False


def content(folder: Path) -> Content:
    """Everything in a folder; None: there is none."""
    if not folder.exists():
        return None
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def convert(goal: Path, overwrite: bool = False, **options: Any) -> Content:
    convert_target(SOURCE, goal, overwrite=overwrite, check=False, **options or {"group_size": 32})
    return content(goal)


def no_exchange(*_: Path) -> None:
    raise OSError(errno.EINVAL, "not on this file system")


@pytest.mark.parametrize("exchange", [True, False])
@pytest.mark.parametrize("there", [False, True])
def test_killed_at_any_file_operation_the_goal_is_as_before_or_complete(
    there: bool, exchange: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "SHARD", 20_000)  # bytes of a file of weights: there are several, and an index
    if not exchange:
        monkeypatch.setattr(write, "_exchange", no_exchange)
    disk, goal = Disk(monkeypatch), tmp_path / "goal"
    complete, old = convert(tmp_path / "new"), convert(tmp_path / "old", recipe="float")
    before = old if there else None
    ends: list[bool] = []
    killed = True
    while killed:
        shutil.rmtree(goal, ignore_errors=True)
        if there:
            shutil.copytree(tmp_path / "old", goal, copy_function=shutil.copy)
        killed = disk.kills(lambda: convert(goal, overwrite=there), after=len(ends))
        found = content(goal)
        if found is None and there and not exchange:  # the moment between two renames: the old one stands aside
            found = content(tmp_path / ".goal.replaced")
        assert found in (before, complete)
        ends.append(found == complete)
        assert convert(goal, overwrite=there or ends[-1]) == complete
        assert {path.name for path in tmp_path.iterdir()} == {"goal", "new", "old"}
    assert len(ends) > 15 and ends == sorted(ends) and not ends[0]


def test_a_killed_process_leaves_no_goal_and_can_be_started_again(tmp_path: Path) -> None:
    code = f"""
import os, signal
from dflash_mlx.convert import conversion, convert_target
conversion.write_sums = lambda folder: os.kill(os.getpid(), signal.SIGKILL)
convert_target({str(SOURCE)!r}, {str(tmp_path / "goal")!r}, group_size=32, check=False)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    assert {path.name for path in tmp_path.iterdir()} == {".goal.converting", ".goal.lock"}
    assert convert(tmp_path / "goal")
    assert [path.name for path in tmp_path.iterdir()] == ["goal"]


@pytest.mark.parametrize("problem", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
def test_between_two_renames_an_error_puts_the_goal_back(
    problem: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, rename = convert(tmp_path / "goal"), Path.rename

    def fail(path: Path, to: Path) -> Path:
        if path.name == ".goal.converting":
            raise problem
        return rename(path, to)

    monkeypatch.setattr(write, "_exchange", no_exchange)
    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(dm.RequestError if isinstance(problem, OSError) else KeyboardInterrupt):
        convert(tmp_path / "goal", overwrite=True, recipe="float")
    assert content(tmp_path / "goal") == old
    assert [path.name for path in tmp_path.iterdir()] == ["goal"]


def test_what_was_moved_aside_is_put_back_before_it_is_asked_about(tmp_path: Path) -> None:
    old = convert(tmp_path / ".goal.replaced")
    with pytest.raises(dm.RequestError, match="goal exists"):
        convert(tmp_path / "goal")
    assert content(tmp_path / "goal") == old


def test_an_existing_goal_needs_overwrite(tmp_path: Path) -> None:
    old = convert(tmp_path / "goal")
    with pytest.raises(dm.RequestError, match="goal exists.* overwrite=True"):
        convert(tmp_path / "goal", bits=8, group_size=32)
    assert content(tmp_path / "goal") == old
    assert convert(tmp_path / "goal", overwrite=True, bits=8, group_size=32) != old


@pytest.mark.parametrize(
    ("there", "foreign"),
    [
        (["to-a-friend.txt"], "to-a-friend.txt"),
        (["config.json", "README.md"], "README.md"),
        (["config.json", "model.safetensors", "thesis.txt"], "thesis.txt"),
        (["config.json", "model.safetensors", ".git/config"], ".git"),
        (["config.json", "model.safetensors", "LICENSES/MIT.txt"], "LICENSES"),
        (["target/config.json", "target/model.safetensors", "drafter/model.safetensors"], "drafter"),
    ],
)
def test_what_no_conversion_made_is_not_overwritten(there: list[str], foreign: str, tmp_path: Path) -> None:
    goal = tmp_path / "goal"
    for name in there:
        (goal / name).parent.mkdir(parents=True, exist_ok=True)
        (goal / name).write_text("mine")
    with pytest.raises(dm.RequestError, match=rf"goal/{foreign} does not belong to a model.* not replaced"):
        convert(goal, overwrite=True)
    assert content(goal) == dict.fromkeys(there, b"mine")


def test_the_working_folder_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dm.RequestError, match="does not belong"):
        convert(Path("."), overwrite=True)


def test_a_pair_is_replaced_by_a_pair_only(tmp_path: Path) -> None:
    pair = CHECKPOINTS / "target_qwen3_5", tmp_path / "pair", CHECKPOINTS / "dflash2_swa"
    for again in (False, True):
        convert_pair(*pair, overwrite=again, check=False)
    (tmp_path / "pair" / "target" / "thesis.txt").write_text("mine")
    with pytest.raises(dm.RequestError, match="pair/target/thesis.txt does not belong"):
        convert_pair(*pair, overwrite=True, check=False)
    convert(tmp_path / "model")
    with pytest.raises(dm.RequestError, match="model/README.md does not belong to a pair's target/ and drafter/"):
        convert_pair(pair[0], tmp_path / "model", pair[2], overwrite=True, check=False)


def test_a_goal_that_holds_its_source_is_refused(tmp_path: Path) -> None:
    source = CHECKPOINTS / "target_qwen3"
    shutil.copytree(source, tmp_path / "model")
    with pytest.raises(dm.RequestError, match="holds .*model, which is needed"):
        convert_target(tmp_path / "model", tmp_path / "model", overwrite=True, group_size=32)
    assert content(tmp_path / "model") == content(source)


@pytest.mark.parametrize("check", [True, False])
def test_a_drafter_does_not_replace_its_target(check: bool, tmp_path: Path) -> None:
    shutil.copytree(CHECKPOINTS / "target_qwen3_5", tmp_path / "target")
    with pytest.raises(dm.RequestError, match="holds .*target, which is needed"):
        drafter = CHECKPOINTS / "dflash2_swa"
        convert_drafter(drafter, tmp_path / "target", target=tmp_path / "target", overwrite=True, check=check)
    assert content(tmp_path / "target") == content(CHECKPOINTS / "target_qwen3_5")


def test_two_conversions_into_one_goal_do_not_mix(tmp_path: Path) -> None:
    tried: list[str] = []

    def try_another(stage: str, done: int, total: int) -> None:
        with pytest.raises(dm.RequestError, match="another conversion is writing"):
            convert(tmp_path / "goal")
        tried.append(stage)

    complete = convert(tmp_path / "goal", group_size=32, progress=try_another)
    assert tried and complete == convert(tmp_path / "other")
    assert {path.name for path in tmp_path.iterdir()} == {"goal", "other"}


@pytest.mark.parametrize("there", [False, True])
def test_what_one_conversion_puts_in_place_no_other_touches_before_it_has_ended(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete, put = convert(tmp_path / "other"), write._put
    if there:
        convert(tmp_path / "goal", recipe="float")

    def put_and_try_another(*folders: Path) -> None:
        put(*folders)
        with pytest.raises(dm.RequestError, match="another conversion is writing"):
            convert(tmp_path / "goal", overwrite=True, recipe="float")

    monkeypatch.setattr(write, "_put", put_and_try_another)
    assert convert(tmp_path / "goal", overwrite=there) == complete
    assert {path.name for path in tmp_path.iterdir()} == {"goal", "other"}


def test_a_lock_that_its_owner_removed_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = fcntl.flock

    def lock_late(file: int, how: int) -> None:
        (tmp_path / ".goal.lock").unlink()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", lock_late)
    with pytest.raises(dm.RequestError, match="another conversion is writing"):
        convert(tmp_path / "goal")
    assert list(tmp_path.iterdir()) == []


def test_what_came_to_the_goal_meanwhile_stays(tmp_path: Path) -> None:
    def come(stage: str, done: int, total: int) -> None:
        (tmp_path / "goal").mkdir(exist_ok=True)

    with pytest.raises(dm.RequestError, match="goal exists"):
        convert(tmp_path / "goal", group_size=32, progress=come)
    assert content(tmp_path / "goal") == {}


def test_too_small_a_disk_is_found_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=1000))
    monkeypatch.setattr(conversion, "write_weights", None)
    with pytest.raises(dm.MemoryBudgetError, match="GB of disk"):
        convert(tmp_path / "goal")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("problem", [errno.EROFS, errno.EACCES])
def test_a_disk_that_cannot_be_written_is_named(problem: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(problem, os.strerror(problem))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(dm.RequestError, match=rf"cannot be written \({os.strerror(problem)}\)"):
        convert(tmp_path / "goal")


def test_a_disk_that_fills_up_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill_up(*_: Any) -> None:
        raise RuntimeError("[write] Unable to write 4096 bytes to file.")

    monkeypatch.setattr(mx, "save_safetensors", fill_up)
    with pytest.raises(dm.RequestError, match="Unable to write"):
        convert(tmp_path / "goal")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    def interrupt(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert(tmp_path / "goal", group_size=32, progress=interrupt)
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_callers_progress_stays_what_it_is(tmp_path: Path) -> None:
    def fail(stage: str, done: int, total: int) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    with pytest.raises(BrokenPipeError):
        convert(tmp_path / "goal", group_size=32, progress=fail)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_the_source_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SOURCE, tmp_path / "source")
    (tmp_path / "source" / "LICENSE").touch()
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "LICENSE":
            raise PermissionError(errno.EACCES, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(dm.CheckpointError, match=r"source/LICENSE cannot be read \(Permission denied\)"):
        convert_target(tmp_path / "source", tmp_path / "goal", group_size=32, check=False)


def test_only_files_are_copied(tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "source")
    (tmp_path / "source" / "LICENSES").mkdir()
    (tmp_path / "source" / "LICENSE").write_text("free")
    result = convert_target(tmp_path / "source", tmp_path / "goal", group_size=32, check=False).folder
    assert (result / "LICENSE").read_text() == "free" and not (result / "LICENSES").exists()


def test_a_failed_run_leaves_no_parent_folders(tmp_path: Path) -> None:
    def interrupt(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    (tmp_path / "there").mkdir()
    with pytest.raises(KeyboardInterrupt):
        convert(tmp_path / "there" / "a" / "b" / "goal", group_size=32, progress=interrupt)
    assert list((tmp_path / "there").iterdir()) == []


@pytest.mark.parametrize(("goal", "problem"), [("~nosuchuser/x", "home directory"), ("x" * 300, "File name too long")])
def test_a_goal_that_cannot_be_is_refused(goal: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dm.RequestError, match=rf"{goal} cannot be created \(.*{problem}\)"):
        convert(Path(goal))


def test_progress_counts_the_bytes_of_the_result(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    made = convert_target(SOURCE, tmp_path / "goal", group_size=32, check=False, progress=lambda *now: seen.append(now))
    assert {stage for stage, _, _ in seen} == {"writing"} and seen[-1][1:] == (made.size, made.size)
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)


def test_a_pair_is_whole_or_not_there(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(CHECKPOINTS / "dflash2_swa", broken)
    weights = mx.load(str(broken / "model.safetensors"))
    mx.save_safetensors(str(broken / "model.safetensors"), weights | {"norm.weight": mx.full(64, mx.nan)})
    with pytest.raises(dm.CheckpointError, match="norm.weight holds NaN"):
        convert_pair(CHECKPOINTS / "target_qwen3_5", tmp_path / "pair", broken)
    assert [path.name for path in tmp_path.iterdir()] == ["broken"]


def test_a_finished_folder_is_uploaded_and_stays_where_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uploaded: list[tuple[str, Content]] = []

    class Hub:
        def create_repo(self, repository: str, exist_ok: bool) -> None:
            if repository == "owner/refused":
                raise LocalTokenNotFoundError("no token")

        def upload_folder(self, repo_id: str, folder_path: Path) -> None:
            uploaded.append((repo_id, content(folder_path)))

    monkeypatch.setattr(upload, "HfApi", Hub)
    complete = convert(tmp_path / "goal", group_size=32, upload_repo="owner/model")
    assert uploaded == [("owner/model", complete)] and complete
    with pytest.raises(dm.RequestError, match="is complete, and could not be uploaded.* hf upload owner/refused"):
        convert(tmp_path / "other", group_size=32, upload_repo="owner/refused")
    assert content(tmp_path / "other") == complete


def test_templates_are_copied_wherever_they_stand_and_replaced(tmp_path: Path) -> None:
    files = dict.fromkeys(("chat_template.jinja", "chat_template.json", "additional_chat_templates/tool_use.jinja"), b"{}")
    shutil.copytree(SOURCE, tmp_path / "source")
    for name, text in files.items():
        (tmp_path / "source" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "source" / name).write_bytes(text)
    for again in (False, True):
        convert_target(tmp_path / "source", tmp_path / "goal", group_size=32, check=False, overwrite=again)
        assert files.items() <= (content(tmp_path / "goal") or {}).items()
    (tmp_path / "goal" / "additional_chat_templates" / "thesis.txt").write_text("mine")
    with pytest.raises(dm.RequestError, match="additional_chat_templates does not belong to a model"):
        convert_target(tmp_path / "source", tmp_path / "goal", group_size=32, check=False, overwrite=True)
