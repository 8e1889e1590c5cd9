"""A finished folder to the Hub."""

from pathlib import Path

from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, HTTPError, LocalTokenNotFoundError

from dflash_mlx.errors import RequestError


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
