"""Shared by all tests: where the real data lies, said aloud when it is missing."""

from __future__ import annotations

import os
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
