"""From a name to a folder: the embedded pair, a folder on disk, or a repository on the Hub."""

import re
import shutil
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, NamedTuple

from huggingface_hub import HfApi, constants, get_cached_repo_tree, snapshot_download, try_to_load_from_cache
from huggingface_hub.errors import (
    CachedRepoTreeNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    HTTPError,  # of the library that huggingface_hub speaks HTTP with: httpx before its version 2, httpx2 since
    IncompleteSnapshotError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import filter_repo_objects

from dflash_mlx.checkpoint import read_json
from dflash_mlx.errors import DFlashError, MemoryBudgetError, ModelNotFoundError
from dflash_mlx.loading.known_pairs import find, named
from dflash_mlx.targets import check_target

DEMO = "demo"
# Never code, never pickles, never another format's folder: a * of huggingface_hub matches a / too.
FILES = ["config.json", "generation_config.json", "tokenizer*.json", "special_tokens_map.json", "*.jinja"]
FILES += ["chat_template.json", "model*.safetensors", "model.safetensors.index.json"]
FOLDERS = ["[!a]*/*", "a[!d]*/*"]  # all but additional_chat_templates
GB = 10**9

Downloading = Callable[[str, int], None]


class PairFolders(NamedTuple):
    """Where a target and its drafter are. drafter None: decode plainly."""

    target: Path
    drafter: Path | None


def resolve_pair(target: str | Path, drafter: str | Path | None, downloading: Downloading | None = None) -> PairFolders:
    """Finds the folders of a pair, downloading what is not on this machine.

    Args:
        target: as in `resolve`.
        drafter: as in `resolve`; "auto": the one in the target's own folder `drafter/`, else the one known to be made for it,
            or none where none is known; None: none.
        downloading: as in `resolve`.

    Raises:
        ModelNotFoundError: nothing is there.
        MemoryBudgetError: the disk has no room for a download.
    """
    folder = _folder(target)
    own = folder / "drafter" if folder else None
    # The drafter first: if it cannot be had, that shows before the many gigabytes of the target arrive.
    if drafter is None:
        drafter_folder = None
    elif str(drafter) != "auto":
        drafter_folder = resolve(drafter, downloading, "drafter")
    elif own and own.is_dir():
        drafter_folder = own
    else:
        if folder:  # what is wrong with the target itself comes first
            check_target(resolve(folder))
        drafter_folder = _known_drafter(target, downloading)
    return PairFolders(resolve(target, downloading), drafter_folder)


def to_download(target: str | Path | None, drafter: str | Path | None) -> dict[str, int]:
    """Bytes that `resolve_pair` would download, by Hub id. Empty where the Hub cannot be asked: resolving says why.

    target: None: only the drafter is wanted.
    """
    folder = None if target is None else _folder(target)
    names = [] if target is None or folder else [_hub_id(target, "target")]
    if target is not None and drafter == "auto":
        pair = None if folder and (folder / "drafter").is_dir() else find(target)
        names += [pair.drafter] if pair else []
    elif drafter is not None and not _folder(drafter):
        names.append(_hub_id(drafter, "drafter"))
    try:
        missing = {name: _missing_bytes(name, *_repository(name)) for name in names if name and not cached(name)}
    except (DFlashError, OSError, RuntimeError, HTTPError, HFValidationError):
        return {}
    return {name: size for name, size in missing.items() if size}


def _known_drafter(target: str | Path, downloading: Downloading | None) -> Path | None:
    """The drafter known to be made for a target: errors name the target too, as nobody typed the drafter's name."""
    pair = find(target)
    if pair is None:
        return None
    try:
        return resolve(pair.drafter, downloading)
    except DFlashError as error:
        hint = f"{error.hint[:-1]}; or decode plainly with drafter=None."
        raise type(error)(f"the drafter for {target} is not available: {error.message}", hint) from error


def resolve(name: str | Path, downloading: Downloading | None = None, part: Literal["target", "drafter"] = "target") -> Path:
    """The folder of a model: itself, or its snapshot in the Hub cache, downloaded if need be.

    A complete snapshot in the cache is used as it is, without asking the Hub. An interrupted download goes on with the
    files that are missing.

    Args:
        name: a folder, one that holds `target/` and `drafter/`, "demo", the embedded one of these, the name of a known pair
            as `dflash-mlx models` lists it, or a Hub id: "owner/model", or "owner/model@revision" with a branch, a tag or a
            commit.
        downloading: called before a download with the Hub id and the bytes to come. huggingface_hub shows its own
            progress meanwhile.
        part: which of the two is wanted.

    Raises:
        ModelNotFoundError: no such folder, no such repository, no access, or no connection.
        MemoryBudgetError: the disk has no room for it.
    """
    folder = _folder(name)
    if folder and (folder / part / "config.json").is_file():
        return folder / part
    if folder:
        return folder
    repository = _hub_id(name, part)
    return cached(repository) or _download(repository, downloading)


def _hub_id(name: str | Path, part: str) -> str:
    known = named(name)
    return str(name) if known is None else known.target if part == "target" else known.drafter


def cached(name: str) -> Path | None:
    """The snapshot of a Hub id in the cache, if it is complete. Asks no network.

    Raises:
        ModelNotFoundError: the name is no Hub id.
    """
    folder, lacking = _snapshot(*_repository(name))
    return None if lacking else folder


def _folder(name: str | Path) -> Path | None:
    """The folder that a name means on this machine; None: it is a Hub id."""
    if str(name) == DEMO:
        return _demo()
    try:
        folder = Path(name).expanduser()
        if str(name) and folder.is_dir():
            return folder
    except (OSError, RuntimeError, ValueError) as error:  # no such user, a name longer than names can be
        raise _no_folder(name) from error
    if isinstance(name, Path):
        raise _no_folder(name)
    if named(name) is None:
        _repository(name)
    return None


def _repository(name: str) -> tuple[str, str | None]:
    """Repository and revision of a Hub id."""
    parts = re.fullmatch(r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([\w./-]+))?", name)
    if not parts:
        raise _no_folder(name)
    return parts[1], parts[2]


def _snapshot(repository: str, revision: str | None) -> tuple[Path | None, list[str]]:
    """The snapshot in the cache and the files it lacks; None: there is no snapshot."""
    try:
        folder = Path(_fetch(repository, revision, local_files_only=True))
    except IncompleteSnapshotError as error:
        folder = Path(error.snapshot_path)
    except (LocalEntryNotFoundError, HFValidationError):
        return None, []
    try:
        names = [file.path for file in get_cached_repo_tree(repository, revision=revision)]
        wanted = list(filter_repo_objects(names, allow_patterns=FILES, ignore_patterns=FOLDERS))
    except CachedRepoTreeNotFoundError:  # downloaded by a version of huggingface_hub that kept no list
        wanted = ["config.json", *_weights(folder)]
    return folder, [name for name in wanted if not (folder / name).is_file()]


def _weights(folder: Path) -> list[str]:
    """The weights that a snapshot must hold, as far as its own files tell."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        names = read_json(index).get("weight_map")
        return sorted({str(name) for name in names.values()}) if isinstance(names, dict) else ["model.safetensors"]
    return [] if any(folder.glob("model*.safetensors")) else ["model.safetensors"]


def _download(name: str, downloading: Downloading | None) -> Path:
    repository, revision = _repository(name)
    try:
        size = _missing_bytes(name, repository, revision)
        _check_disk(name, size)
        if downloading and size:
            downloading(name, size)
        _fetch(repository, revision)
    except (GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError, HFValidationError) as error:
        raise _refused(name, repository, revision, error) from error
    except (ConnectionError, TimeoutError, LocalEntryNotFoundError, HTTPError) as error:
        raise _unreachable(name, error) from error
    except (OSError, RuntimeError) as error:  # RuntimeError: hf_xet's, whatever went wrong in it
        raise ModelNotFoundError(
            f"{name} cannot be downloaded into {constants.HF_HUB_CACHE} ({error}).",
            "Make room or fix the permissions there, or point HF_HOME to another disk; whole files that arrived are kept.",
        ) from error
    folder, lacking = _snapshot(repository, revision)
    if folder is None or lacking:  # huggingface_hub does not say so where the connection ends between two of its requests
        raise _unreachable(name, None)
    return folder


def _fetch(repository: str, revision: str | None, local_files_only: bool = False) -> str:
    return snapshot_download(
        repository, revision=revision, allow_patterns=FILES, ignore_patterns=FOLDERS, local_files_only=local_files_only
    )


def _missing_bytes(name: str, repository: str, revision: str | None) -> int:
    """Bytes that the Hub would send: of the files that are wanted and not in the cache yet."""
    model = HfApi().model_info(repository, revision=revision, files_metadata=True)
    files = {file.rfilename: file.size or 0 for file in model.siblings or []}
    wanted = list(filter_repo_objects(files, allow_patterns=FILES, ignore_patterns=FOLDERS))
    if "config.json" not in wanted or not any(file.endswith(".safetensors") for file in wanted):
        raise ModelNotFoundError(
            f"{name} has no config.json with model*.safetensors beside it.",
            "Choose a repository with the model in MLX or safetensors format.",
        )
    absent = [file for file in wanted if not isinstance(try_to_load_from_cache(repository, file, revision=model.sha), str)]
    return sum(files[file] for file in absent)


def _check_disk(name: str, size: int) -> None:
    """Raises MemoryBudgetError where the disk of the Hub cache has no room for `size` bytes.

    That error, as what a caller can do about it is the same as for memory: less of a model, or more room.
    """
    cache = Path(constants.HF_HUB_CACHE)
    free = shutil.disk_usage(next(place for place in (cache, *cache.absolute().parents) if place.is_dir())).free
    if size > free:
        raise MemoryBudgetError(
            f"{name} needs {size / GB:.1f} GB of disk, {cache} has {free / GB:.1f} GB free.",
            "Make room, choose a smaller quantisation, or point HF_HOME to another disk.",
        )


def _refused(name: str, repository: str, revision: str | None, error: Exception) -> DFlashError:
    if isinstance(error, GatedRepoError):
        return ModelNotFoundError(f"{name} is gated.", "Accept its terms on its Hub page, then run `hf auth login`.")
    if isinstance(error, RevisionNotFoundError):
        return ModelNotFoundError(
            f"{repository} has no revision {revision}.", "Check the part after the @, or leave it out for the newest."
        )
    return ModelNotFoundError(
        f"the Hub has no repository {repository}, or it is private.",
        "Check the spelling; for a private one run `hf auth login`.",
    )


def _unreachable(name: str, error: Exception | None) -> DFlashError:
    why, way_out = "the Hub cannot be reached", "Check the connection, or give a folder on this machine."
    if isinstance(error, OfflineModeIsEnabled):
        why, way_out = "the Hub is switched off (HF_HUB_OFFLINE)", "Switch it on, or give a folder on this machine."
    elif isinstance(error, HfHubHTTPError):
        why = f"the Hub answers with error {error.response.status_code}"
        way_out = "Try again later; after 401 or 403 run `hf auth login` first."
    _, lacking = _snapshot(*_repository(name))
    if lacking:
        names = ", ".join(lacking[:3]) + (f" and {len(lacking) - 3} more" if len(lacking) > 3 else "")
        return ModelNotFoundError(
            f"{name} is in the Hub cache only in part, it lacks {names}, and {why}.",
            f"{way_out[:-1]}; the download then continues with the missing files.",
        )
    return ModelNotFoundError(f"{name} is not in the Hub cache and {why}.", way_out)


def _no_folder(name: str | Path) -> ModelNotFoundError:
    pair = find(name)
    near = pair.target if pair else next(iter(get_close_matches(str(name).lower(), [DEMO])), None)
    hint = f"Did you mean {near}?" if near else f'Check the path, or give a Hub id like owner/model, or "{DEMO}".'
    return ModelNotFoundError(f"there is no folder {name}.", hint)


def _demo() -> Path:
    return Path(__file__).parents[1] / "demo"
