"""The engines beside ours, and an environment for each: all want another mlx, and one has our package's name."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dflash_mlx.errors import RequestError

from .pair import CommonPair

MLX = f"mlx{'' if sys.platform == 'darwin' else '[cpu]'}==0.32.4"
MLX_LM, MLX_VLM = "mlx-lm==0.32.2", "mlx-vlm==0.7.10"
ADAPTERS = Path(__file__).parent / "adapters"
READY = "ready.txt"  # in an environment: what was installed into it, written when all of it was


class Peer(NamedTuple):
    """An engine.

    Attributes:
        name: of its environment's folder and in the table.
        requirements: what pip installs, with what these want.
        alone: what pip installs without what it wants: pins of older versions.
        note: what a reader of its row has to know.
        hybrid_only, first_version_only: which pairs it can run: targets with recurrent layers, DFlash 1.
    """

    name: str
    requirements: tuple[str, ...]
    alone: tuple[str, ...] = ()
    note: str = ""
    hybrid_only: bool = False
    first_version_only: bool = False

    @property
    def adapter(self) -> Path:
        """The file that speaks with it."""
        return ADAPTERS / f"{self.name.replace('z-lab', 'zlab').replace('-', '_')}.py"

    def python(self, folder: Path) -> Path:
        """Its environment's Python."""
        return folder / self.name / "bin" / "python"

    def installed(self, folder: Path) -> bool:
        """Whether its environment is complete, with the versions named here."""
        ready = folder / self.name / READY
        return ready.is_file() and ready.read_text() == self._contents()

    def refuses(self, pair: CommonPair) -> str | None:
        """Why it cannot run a pair; None: it can."""
        if self.first_version_only and pair.version != 1:
            return f"runs DFlash 1, this drafter is DFlash {pair.version}"
        if self.hybrid_only and not pair.model_type.startswith("qwen3_5"):
            return f"its {pair.model_type} does not give the hidden states that a drafter needs"
        return None

    def install(self, folder: Path) -> None:
        """Makes its environment, from nothing.

        Raises:
            RequestError: pip fails; its own words are on stderr.
        """
        environment, python = folder / self.name, str(self.python(folder))
        make = [sys.executable, "-m", "venv", "--clear"]
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        try:
            if subprocess.run([*make, str(environment)], stdout=subprocess.DEVNULL).returncode:  # Debian has no ensurepip
                _run([*make, "--without-pip", str(environment)])
                _run([sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "pip"])
            _run([*pip, *self.requirements])
            if self.alone:
                _run([*pip, "--no-deps", *self.alone])
        except subprocess.CalledProcessError as error:
            raise RequestError(f"{self.name} cannot be installed into {environment}.", "See above what pip says.") from error
        (environment / READY).write_text(self._contents())

    def _contents(self) -> str:
        return "\n".join([*self.requirements, *self.alone]) + "\n"


PEERS = (
    Peer("mlx-lm", (MLX_LM, MLX), note="plain decoding; all answers are compared with its"),
    Peer("z-lab", (MLX_LM, MLX), ("dflash==0.1.0",), note="recurrent layers: verifies with other rounding than mlx-lm"),
    Peer("mlx-vlm", (MLX_VLM, MLX), note="block fixed, by default adaptive; skips DFlash 2's selector", hybrid_only=True),
    Peer(
        "mlx-dspark",
        ("mlx-dspark==0.20.3", MLX_VLM, MLX_LM, MLX),
        note="drafts the full block, verifies so much of it; drafter not quantised, by default 4 bits",
    ),
    Peer(
        "bstnxbt",
        ("dflash-mlx==0.1.8", MLX_LM, MLX),
        note="drafts copied n-grams too; blocks above 4 are adaptive",
        first_version_only=True,
    ),
)


def peers_named(names: Sequence[str]) -> list[Peer]:
    """The peers of these names, all where none is given. Raises RequestError for a name that is none."""
    if unknown := set(names) - {peer.name for peer in PEERS}:
        known = ", ".join(peer.name for peer in PEERS)
        raise RequestError(f"no engine is called {', '.join(sorted(unknown))}.", f"Known are {known}.")
    return [peer for peer in PEERS if not names or peer.name in names]


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=sys.stderr)
