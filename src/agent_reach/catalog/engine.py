"""The one place that builds validators: JSON Schema 2020-12, formats asserted, nothing ever fetched."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any


def _refuse(address: str) -> Any:
    raise ValueError(f"references are never fetched: {address}")


_DATE_TIME = re.compile(
    r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt ]([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)([.,]\d+)?)?"
    r"\s?([Zz]|[+-]\d{2}:?\d{2})?$"
)
_TIME = re.compile(r"^([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)([.,]\d+)?)?\s?([Zz]|[+-]\d{2}:?\d{2})?$")


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.match(text) is not None


_FORMATS = {"date-time": _matches(_DATE_TIME), "time": _matches(_TIME)}


def build_validator(schema: dict[str, Any]) -> Any:
    """The validator of a schema with local references only; raises what the engine raises where it cannot compile.

    A date-time may leave its offset out, or stand with a blank for the T, as most servers allow.
    """
    import jsonschema_rs

    if "$schema" in schema:
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    return jsonschema_rs.Draft202012Validator(
        schema, validate_formats=True, formats=_FORMATS, retriever=_refuse
    )


@lru_cache(maxsize=4096)
def pattern_compiles(pattern: str) -> bool:
    """True if the engine that checks arguments can compile the pattern."""
    try:
        build_validator({"pattern": pattern})
    except Exception:
        return False
    return True
