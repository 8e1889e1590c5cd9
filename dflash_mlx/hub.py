"""From a name to a folder: the embedded pair, a folder on disk, or a repository on the Hub."""

import re
from pathlib import Path
from typing import NamedTuple

from dflash_mlx.errors import ModelNotFoundError

DEMO = "demo"
FILES = ["*.json", "*.jinja", "model*.safetensors"]  # never code, never pickles


class PairFolders(NamedTuple):
    """Where a target and its drafter are. drafter None: decode plainly."""

    target: Path
    drafter: Path | None


def resolve_pair(target: str | Path, drafter: str | Path | None) -> PairFolders:
    """Finds the folders of a pair.

    Args:
        target: "demo", a model's folder, a folder that holds `target/` and `drafter/`, or a Hub id.
        drafter: a folder or a Hub id; "auto": the drafter that stands beside the target; None: none.

    Raises:
        ModelNotFoundError: nothing is there, or no drafter is known for this target.
    """
    folder = _demo() if str(target) == DEMO else resolve(target)
    beside = folder / "drafter"
    if (folder / "target" / "config.json").is_file():
        folder = folder / "target"
    if drafter is None:
        return PairFolders(folder, None)
    if str(drafter) == "auto":
        if not beside.is_dir():
            raise ModelNotFoundError(
                f"no drafter is known for {target}.",
                "Name one (--drafter FOLDER or Hub id), or decode plainly (--drafter none; drafter=None).",
            )
        return PairFolders(folder, beside)
    return PairFolders(folder, _demo() / "drafter" if str(drafter) == DEMO else resolve(drafter))


def resolve(name: str | Path) -> Path:
    """The folder of a model: itself, or its snapshot in the Hub cache, downloaded if need be.

    Raises:
        ModelNotFoundError: no such folder, no such repository, no access, or no connection.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if isinstance(name, Path) or not re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", name):
        raise ModelNotFoundError(
            f"there is no folder {name}.", f'Check the path, or give a Hub id like owner/model, or "{DEMO}".'
        )
    return _download(name)


def _download(repository: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError

    try:
        return Path(snapshot_download(repository, allow_patterns=FILES))
    except GatedRepoError as error:
        raise ModelNotFoundError(
            f"{repository} is gated.", "Accept its terms on its Hub page, then run `hf auth login`."
        ) from error
    except RepositoryNotFoundError as error:
        raise ModelNotFoundError(
            f"the Hub has no repository {repository}, or it is private.",
            "Check the spelling; for a private one run `hf auth login`.",
        ) from error
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise ModelNotFoundError(
            f"{repository} is not in the Hub cache and the Hub cannot be reached.",
            "Check the connection, or give a folder on this machine.",
        ) from error


def _demo() -> Path:
    return Path(__file__).parent / "demo"
