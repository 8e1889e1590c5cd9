"""From a name to a folder: what is downloaded, what is said before, and what is said when it cannot be."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_hub import FakeHub, serving
from fixture_data import DEMO
from huggingface_hub import constants
from huggingface_hub.utils import disable_progress_bars, enable_progress_bars

from dflash_mlx.errors import DFlashError, MemoryBudgetError, ModelNotFoundError
from dflash_mlx.loading.hub import cached, resolve, resolve_pair, to_download
from dflash_mlx.loading.known_pairs import find, known_pairs

NEEDED = {
    "config.json": b"{}",
    "generation_config.json": b"{}",
    "tokenizer.json": b"{}",
    "tokenizer_config.json": b"{}",
    "chat_template.jinja": b"{{ messages }}",
    "chat_template.json": b"{}",
    "additional_chat_templates/tool_use.jinja": b"{{ tools }}",
    "model.safetensors.index.json": b'{"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}',
    "model-1.safetensors": b"1" * 1000,
    "model-2.safetensors": b"2" * 2000,
}
NOT_NEEDED = {
    "modeling_qwen.py": b"import os",
    "pytorch_model.bin": b"pickle",
    "original.pt": b"pickle",
    "model.gguf": b"GGUF",
    "README.md": b"# Model",
    "onnx/config.json": b"{}",
    "model_fp32/model.safetensors": b"3" * 3000,
    "tokenizer/tokenizer.json": b"{}",
    "older/chat_template.jinja": b"{{ messages }}",
    "adapters/chat_template.json": b"{}",
    "awq/chat_template.jinja": b"{{ messages }}",
}
DRAFTER = {"config.json": b"{}", "model.safetensors": b"d" * 500}


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A Hub with owner/model on it, and an empty cache."""
    hub = FakeHub()
    hub.publish("owner/model", NEEDED | NOT_NEEDED)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    disable_progress_bars()
    with serving(hub) as address:
        monkeypatch.setattr(constants, "ENDPOINT", address)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
        yield hub
    enable_progress_bars()


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch):
    """Switches the Hub off, as HF_HUB_OFFLINE=1 does."""
    return lambda: monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


def interrupted(hub: FakeHub) -> None:
    """Downloads owner/model up to its last file, which breaks."""
    hub.broken["model-2.safetensors"] = 503
    with pytest.raises(ModelNotFoundError, match="error 503"):
        resolve("owner/model")
    hub.broken.clear()
    hub.fetched.clear()


def test_only_the_needed_files_are_downloaded(hub):
    folder = resolve("owner/model")
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == NEEDED.keys()
    assert {name: (folder / name).read_bytes() for name in NEEDED} == NEEDED


def test_size_is_stated_before_the_first_file(hub):
    stated = []
    resolve("owner/model", lambda name, size: stated.append((name, size, list(hub.fetched))))
    assert stated == [("owner/model", sum(map(len, NEEDED.values())), [])]


def test_a_revision_follows_the_name(hub):
    hub.publish("owner/model", DRAFTER, revision="v1")
    assert (resolve("owner/model@v1") / "model.safetensors").read_bytes() == DRAFTER["model.safetensors"]
    assert not (resolve("owner/model") / "model.safetensors").exists()


def test_a_download_that_ends_between_files_goes_on_with_the_missing_ones(hub):
    interrupted(hub)
    stated = []
    folder = resolve("owner/model", lambda name, size: stated.append(size))
    assert [name for name, _ in hub.fetched] == ["model-2.safetensors"]
    assert stated == [2000] and (folder / "model-2.safetensors").read_bytes() == NEEDED["model-2.safetensors"]


def test_a_connection_that_ends_within_a_file_goes_on_at_the_byte_it_reached(hub, monkeypatch):
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 500)  # 10 MB otherwise: what is less starts again
    hub.cuts["model-2.safetensors"] = 1500
    folder = resolve("owner/model")
    assert ("model-2.safetensors", 1500) in hub.fetched
    assert (folder / "model-2.safetensors").read_bytes() == NEEDED["model-2.safetensors"]


def test_a_cached_snapshot_is_used_without_asking_the_hub(hub):
    folder = resolve("owner/model")
    hub.asked.clear()
    assert resolve("owner/model") == cached("owner/model") == folder
    assert hub.asked == []


def test_a_cached_snapshot_serves_offline(hub, offline):
    folder = resolve("owner/model")
    offline()
    assert resolve("owner/model") == folder


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "unlisted"])
def test_a_partial_snapshot_offline_names_what_is_missing(hub, offline, listed, tmp_path, monkeypatch):
    interrupted(hub)
    if not listed:  # as older versions of huggingface_hub leave it; copied, for this one remembers what it listed
        shutil.copytree(tmp_path / "cache", tmp_path / "older", symlinks=True, ignore=shutil.ignore_patterns("trees"))
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "older"))
    offline()
    assert cached("owner/model") is None
    with pytest.raises(
        ModelNotFoundError, match="only in part, it lacks model-2.safetensors, and the Hub is switched off"
    ) as caught:
        resolve("owner/model")
    assert "continues" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "sentence", "hint"),
    [
        ("owner/typo", "the Hub has no repository owner/typo", "spelling"),
        ("owner/model@typo", "owner/model has no revision typo", "after the @"),
        ("owner/gated", "owner/gated is gated", "Accept its terms"),
        ("owner/gguf", "owner/gguf has no config.json with model*.safetensors", "safetensors format"),
        ("owner/a--b", "the Hub has no repository owner/a--b", "spelling"),
        ("no/such/folder", "there is no folder no/such/folder", "Hub id like owner/model"),
        ("dmeo", "there is no folder dmeo", "Did you mean demo?"),
        ("Demo", "there is no folder Demo", "Did you mean demo?"),
        ("owner/model@", "there is no folder owner/model@", "Hub id like owner/model"),
    ],
)
def test_what_the_hub_refuses_is_explained(hub, name, sentence, hint):
    hub.publish("owner/gated", DRAFTER)
    hub.gated.add("owner/gated")
    hub.publish("owner/gguf", {"config.json": b"{}", "model.gguf": b"GGUF"})
    with pytest.raises(ModelNotFoundError) as caught:
        resolve(name)
    assert caught.value.message.startswith(sentence) and hint in caught.value.hint


def test_a_hub_that_is_not_there_is_explained(hub, monkeypatch):
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")  # nobody listens
    with pytest.raises(ModelNotFoundError, match="owner/model is not in the Hub cache and the Hub cannot be reached"):
        resolve("owner/model")


def test_a_hub_that_is_switched_off_is_explained(hub, offline):
    offline()
    with pytest.raises(ModelNotFoundError, match="owner/model is not in the Hub cache and the Hub is switched off"):
        resolve("owner/model")


def test_an_error_of_the_hub_itself_is_explained(hub):
    hub.broken["config.json"] = 401
    with pytest.raises(ModelNotFoundError, match="the Hub answers with error 401") as caught:
        resolve("owner/model")
    assert "config.json" in caught.value.message


def test_a_full_disk_is_found_before_the_download(hub, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=2_900_000_000))
    hub.publish("owner/model", DRAFTER)
    monkeypatch.setattr("dflash_mlx.loading.hub._missing_bytes", lambda *name: 16_050_000_000)
    with pytest.raises(MemoryBudgetError, match=r"needs 16.1 GB of disk, .* has 2.9 GB free") as caught:
        resolve("owner/model", lambda *stated: pytest.fail("a download was announced"))
    assert "smaller quantisation" in caught.value.hint and hub.fetched == []


def test_a_cache_that_cannot_be_written_is_named(hub, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(ModelNotFoundError, match="cannot be downloaded into .*cache") as caught:
        resolve("owner/model")
    assert "HF_HOME" in caught.value.hint


def publish_known_pair(hub: FakeHub) -> str:
    """Puts a known pair on the Hub; returns its target's name."""
    pair = known_pairs()[0]
    repository, _, revision = pair.drafter.partition("@")
    hub.publish(repository, DRAFTER | {"config.json": b'{"known": true}'}, revision)
    hub.publish(pair.target, NEEDED)
    return pair.target


def test_auto_downloads_the_known_drafter_and_before_the_target(hub):
    folders = resolve_pair(publish_known_pair(hub), "auto")
    assert (folders.drafter / "config.json").read_bytes() == b'{"known": true}'
    assert (folders.target / "tokenizer.json").is_file()
    names = [name for name, _ in hub.fetched]
    assert names.index("model.safetensors") < names.index("model-1.safetensors")


def test_a_drafter_that_cannot_be_had_costs_no_download_of_the_target(hub):
    target = publish_known_pair(hub)
    hub.gated.add(known_pairs()[0].drafter.partition("@")[0])
    with pytest.raises(ModelNotFoundError, match="is gated") as caught:
        resolve_pair(target, "auto")
    assert caught.value.message.startswith(f"the drafter for {target} is not available: {known_pairs()[0].drafter} is gated.")
    assert "hf auth login" in caught.value.hint and "decode plainly with drafter=None" in caught.value.hint
    assert hub.fetched == []


def test_a_drafter_that_was_named_is_not_said_to_be_a_targets(hub):
    with pytest.raises(ModelNotFoundError, match="the Hub has no repository owner/drafter") as caught:
        resolve_pair(publish_known_pair(hub), "owner/drafter")
    assert "plainly" not in caught.value.hint


def test_an_unknown_target_comes_without_a_drafter(hub):
    folders = resolve_pair("owner/model", "auto")
    assert folders.drafter is None and (folders.target / "model-1.safetensors").is_file()


def test_a_known_pair_goes_by_the_name_that_models_lists(hub):
    target = publish_known_pair(hub)
    family = find(target).family
    assert resolve_pair(family, "auto") == resolve_pair(target, "auto")
    assert resolve_pair(family.lower(), family) == resolve_pair(target, "auto")


def test_what_would_be_downloaded_is_counted_by_repository(hub):
    target = publish_known_pair(hub)
    pair = find(target)
    sizes = to_download(pair.family, "auto")
    assert sizes.keys() == {pair.target, pair.drafter} and min(sizes.values()) > 0
    assert to_download(target, None) == {pair.target: sizes[pair.target]}
    assert to_download(None, pair.family) == {pair.drafter: sizes[pair.drafter]}
    resolve_pair(target, "auto")
    assert to_download(target, "auto") == {}


def test_without_a_drafter_none_is_looked_for(hub):
    folders = resolve_pair(publish_known_pair(hub), None)
    assert folders.drafter is None and "model.safetensors" not in dict(hub.fetched)


def test_an_explicit_drafter_is_never_overridden(hub, tmp_path):
    (tmp_path / "mine").mkdir()
    folders = resolve_pair(publish_known_pair(hub), tmp_path / "mine")
    assert folders.drafter == tmp_path / "mine" and "model.safetensors" not in dict(hub.fetched)


def test_the_drafter_beside_the_target_comes_before_the_known_one(hub, tmp_path):
    pair = tmp_path / known_pairs()[0].family
    for part in ("target", "drafter"):
        (pair / part).mkdir(parents=True)
        (pair / part / "config.json").write_text("{}")
    assert resolve_pair(pair, "auto") == (pair / "target", pair / "drafter")
    assert to_download(pair, "auto") == {} and hub.asked == []


@pytest.mark.parametrize("name", ["demo", str(DEMO)])
def test_a_pairs_name_stands_for_either_part_of_it_wherever_one_is_wanted(hub, name):
    target, drafter = DEMO / "target", DEMO / "drafter"
    assert (resolve(name), resolve(name, part="drafter")) == (target, drafter)
    assert resolve_pair(name, "auto") == resolve_pair(target, name) == resolve_pair(name, drafter) == (target, drafter)
    assert resolve(target, part="drafter") == target, "a model's folder is what it is"
    assert hub.asked == []


def test_a_local_target_finds_its_drafter_by_the_name_of_its_folder(hub, tmp_path):
    publish_known_pair(hub)
    target = tmp_path / f"{known_pairs()[0].family}-MLX-8bit"
    target.mkdir()
    (target / "config.json").write_text('{"model_type": "qwen3_5"}')
    folders = resolve_pair(str(target), "auto")
    assert folders.target == target and (folders.drafter / "config.json").read_bytes() == b'{"known": true}'


def test_the_demo_pair_needs_no_hub(hub):
    assert "demo" in resolve_pair("demo", None).target.parts and hub.asked == []


def test_every_error_says_what_to_do(hub):
    with pytest.raises(DFlashError) as caught:
        resolve(Path("nowhere"))
    assert caught.value.message == "there is no folder nowhere." and caught.value.hint
