"""Shared by all tests: where the real data lies, and a PostgreSQL of their own; said aloud when they are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A check that fails by the luck of a draw says nothing of the change it stands before: the usual profile draws the same
# examples each time. `HYPOTHESIS_PROFILE=explore` draws others; what it finds becomes an `@example`.
for name, drawn in (("project", {"derandomize": True}), ("explore", {})):
    settings.register_profile(
        name,
        deadline=None,
        max_examples=60,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
        **drawn,
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "project"))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real tool lists, traces and retrieval sets: AGENT_REACH_DATA, else `../shared/data`."""
    named = os.environ.get("AGENT_REACH_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("real data is not here: set AGENT_REACH_DATA to its folder")
    return folder


def postgres_binaries() -> Path | None:
    found = (
        sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if Path("/usr/lib/postgresql").exists()
        else []
    )
    if found:
        return found[-1].parent
    named = shutil.which("initdb")
    return Path(named).parent if named else None


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a PostgreSQL server that is started for the tests; as root its folder goes to the user `postgres`."""
    binaries = postgres_binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed: no initdb")
    pytest.importorskip("psycopg")
    folder = Path(tempfile.mkdtemp(prefix="reach-pg-"))
    as_user: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
        os.chmod(folder, 0o700)
        as_user = ["runuser", "-u", "postgres", "--"]
    data = folder / "data"
    subprocess.run(
        [*as_user, str(binaries / "initdb"), "-D", str(data), "-U", "reach", "-A", "trust", "-E", "UTF8"],
        check=True,
        capture_output=True,
        cwd=folder,
    )
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    control = [*as_user, str(binaries / "pg_ctl"), "-D", str(data), "-w"]
    subprocess.run(
        [*control, "-o", options, "-l", str(folder / "log"), "start"],
        check=True,
        capture_output=True,
        cwd=folder,
    )
    try:
        yield f"postgresql://reach@/postgres?host={folder}"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=False, capture_output=True, cwd=folder)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def empty_postgres(postgres_url: str) -> str:
    """That address, with an empty database."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return postgres_url
