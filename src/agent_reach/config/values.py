"""Single values of a configuration: how they are shown, what is wrong with a number, which name was meant."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from agent_reach.config.located import Steps
from agent_reach.errors import InputError


def shown(value: Any) -> str:
    """A value as it stands in a message: short, and never a wall of text."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def did_you_mean(name: str, known: Iterable[str], synonyms: Mapping[str, str] | None = None) -> str:
    """`did you mean 'x'?`, or the list of what is known."""
    from agent_reach.text.tokens import nearest_names

    names = sorted(set(known))
    if synonyms and name in synonyms:
        return f"did you mean {synonyms[name]!r}?"
    near = nearest_names(name, names, limit=2)
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"known are {', '.join(names)}" if names else ""


def number_problem(
    value: Any,
    *,
    whole: bool = False,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    allow_null: bool = False,
) -> str:
    """What is wrong with a number, as `must be ...`; empty when nothing is.

    `above` is an exclusive lower bound. Null passes where it is allowed and means unlimited; booleans, text, NaN and
    infinities never pass.
    """
    if value is None and allow_null:
        return ""
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if good and whole:
        good = float(value).is_integer() if isinstance(value, float) else True
    if good and minimum is not None:
        good = value >= minimum
    if good and maximum is not None:
        good = value <= maximum
    if good and above is not None:
        good = value > above
    if good:
        return ""
    kind = "a whole number" if whole else "a number"
    if minimum is not None and maximum is not None:
        span = f" from {minimum:g} to {maximum:g}"
    elif minimum is not None:
        span = f" of {minimum:g} or more"
    elif above is not None:
        span = f" greater than {above:g}"
    else:
        span = ""
    return f"must be {kind}{span}{', or null for unlimited' if allow_null else ''}"


def check_number(
    value: Any,
    field: str,
    *,
    error: type[InputError] = InputError,
    whole: bool = False,
    minimum: float | None = None,
    maximum: float | None = None,
    allow_null: bool = False,
) -> None:
    """Refuse a number given outside a file (a flag, an argument) that is out of range, naming field and range."""
    problem = number_problem(value, whole=whole, minimum=minimum, maximum=maximum, allow_null=allow_null)
    if problem:
        raise error(
            f"{field} {problem}, not {shown(value)}", where=field, next_step=f"give {field} in that range"
        )


def not_finite(value: Any, steps: Steps = ()) -> Iterable[Steps]:
    """The way to every NaN and infinity inside a value."""
    if isinstance(value, float) and not math.isfinite(value):
        yield steps
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from not_finite(item, (*steps, str(name)))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from not_finite(item, (*steps, index))


def is_number(value: Any) -> bool:
    """A number that is no boolean."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def number_step(key: str, default: Any, quoted: bool, limits: Mapping[str, Any]) -> str:
    """The next step for a number that does not fit."""
    if quoted:
        return "remove the quotes"
    floor = limits.get("minimum")
    example = default if default is not None else floor if floor is not None else 1
    return f"for example `{key}: {example}`"


def as_number(text: str) -> float | None:
    """The number that a text stands for; None where it stands for none."""
    try:
        return float(text)
    except ValueError:
        return None
