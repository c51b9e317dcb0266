"""Files that appear whole or not at all: written beside their place under another name, then renamed.

A link is followed, so that the file it names is replaced and the link stays; a device or a pipe is written as it is, for
renaming over it would replace it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from agent_reach.errors import InputError


def write_whole_file(
    path: str | os.PathLike[str],
    pieces: Iterable[str],
    *,
    errors: str = "backslashreplace",
    private: bool = False,
) -> None:
    """Write text pieces in UTF-8 with plain line feeds; `errors` says what becomes of lone surrogates.

    A new file may be read by everyone, a `private` one by its owner alone. Raises `InputError` when it cannot be written;
    then nothing is left behind and an earlier file stays.
    """
    target = Path(path)
    try:
        target = target.resolve()
        if target.is_dir():
            raise InputError(
                "cannot write: this is a folder, a file is wanted",
                where=str(path),
                next_step="name a file in it",
            )
        if target.exists() and not target.is_file():
            with open(target, "w", encoding="utf-8", errors=errors, newline="\n") as file:
                file.writelines(pieces)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}."[:100])
    except (OSError, ValueError, RuntimeError) as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors=errors, newline="\n") as file:
            file.writelines(pieces)
        if not private:  # the temporary file was made for its owner alone
            os.chmod(name, 0o644)
        os.replace(name, target)
    except BaseException as error:
        os.unlink(name)
        if isinstance(error, OSError):
            raise _unwritable(path, error) from error
        raise


def _unwritable(path: str | os.PathLike[str], error: Exception) -> InputError:
    told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(
        f"cannot write: {told}", where=str(path), next_step="is the place there, writable, and not full?"
    )
