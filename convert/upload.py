"""A finished folder to the Hub."""

from pathlib import Path

from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, HTTPError, LocalTokenNotFoundError
from huggingface_hub.utils import validate_repo_id

from dflash_mlx.errors import RequestError


def check_repository(name: str) -> None:
    """Raises RequestError where no repository can have this name."""
    try:
        validate_repo_id(name)
        possible = "/" in name
    except HFValidationError:
        possible = False
    if not possible:
        raise RequestError(f"no Hub repository can be named {name!r}.", "Give OWNER/NAME.")


def upload(folder: Path, repository: str) -> None:
    """Uploads a folder, and creates the repository if need be. Raises RequestError where that fails."""
    try:
        HfApi().create_repo(repository, exist_ok=True)
        HfApi().upload_folder(repo_id=repository, folder_path=folder)
    except (HfHubHTTPError, HFValidationError, HTTPError, LocalTokenNotFoundError, OSError) as error:
        raise RequestError(
            f"{folder} is complete, and could not be uploaded to {repository} ({error}).",
            f"See `hf auth login`, then run: hf upload {repository} {folder}.",
        ) from error
