"""Reading the keys of a mapping with their types, limits and choices, and saying exactly what does not fit.

A `Section` is one mapping of a document. Each reader returns a good value or the default and notes a problem with file,
line, field, offending value and the next step; `finish` refuses the keys nobody asked for. It knows nothing of what the
fields mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_reach.config.documents import Document, Steps
from agent_reach.config.environment import expand
from agent_reach.config.problems import Problems
from agent_reach.config.values import (
    as_number,
    check_number,
    did_you_mean,
    is_number,
    not_finite,
    number_problem,
    number_step,
    shown,
)

__all__ = ["Section", "check_number", "did_you_mean", "number_problem", "shown"]


class Section:
    """One mapping of a document whose keys are read one by one.

    `title` stands before the field in messages (`task 't7'`); `base` is the number of leading steps of `path` that the
    field name leaves out; `environment` resolves `${NAME}` in texts (None: texts are taken as they stand).
    """

    def __init__(
        self,
        document: Document,
        value: Any,
        path: Steps = (),
        *,
        problems: Problems,
        title: str = "",
        base: int = 0,
        environment: Mapping[str, str] | None = None,
        synonyms: Mapping[str, str] | None = None,
    ) -> None:
        self.document = document
        self.path = path
        self.problems = problems
        self.title = title
        self.base = base
        self.environment = environment
        self.synonyms = synonyms or {}
        self.used: set[str] = set()
        self.values: Mapping[str, Any] = {}
        if isinstance(value, Mapping):
            self.values = value
        elif value is not None:
            self._note(
                path, f"must be a mapping of keys to values, not {shown(value)}", "write `key: value` pairs"
            )

    # --- places and problems

    def field(self, *steps: str | int) -> str:
        """The field's name for a person: `execution.faults[2].kind`."""
        text = ""
        for step in (*self.path, *steps)[self.base :]:
            text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
        return text

    def refuse(self, key: str | int, message: str, next_step: str = "", *more: str | int) -> None:
        """Note that the value under `key` (or a part of it) is wrong."""
        self._note((*self.path, key, *more), message, next_step)

    def _note(self, path: Steps, message: str, next_step: str = "") -> None:
        name = self.field(*path[len(self.path) :])
        place = ": ".join(part for part in (self.title, name) if part)
        self.problems.add(self.document.where(path), f"{place}: {message}" if place else message, next_step)

    def finish(self, *known: str) -> None:
        """Refuse every key that was not read (nor is in `known`), with the name that may have been meant."""
        allowed = self.used | set(known)
        for key in self.values:
            if key not in allowed:
                self.refuse(key, "unknown key", did_you_mean(str(key), allowed, self.synonyms))

    def has(self, key: str) -> bool:
        """The key is written, whatever its value."""
        self.used.add(key)
        return key in self.values

    def raw(self, key: str, default: Any = None) -> Any:
        """The value as it stands."""
        self.used.add(key)
        return self.values.get(key, default)

    def child(self, key: str | int, value: Any, *, synonyms: Mapping[str, str] | None = None) -> Section:
        """The mapping under `key` as a section of its own."""
        if isinstance(key, str):
            self.used.add(key)
        return Section(
            self.document,
            value,
            (*self.path, key),
            problems=self.problems,
            title=self.title,
            base=self.base,
            environment=self.environment,
            synonyms=synonyms,
        )

    # --- readers

    def text(self, key: str, default: str = "", *, required: bool = False, allow_number: bool = False) -> str:
        """Text, with `${NAME}` resolved; null counts as not given; `allow_number` takes a number for its digits."""
        value = self.raw(key)
        if value is None or (required and value == ""):
            if required:
                self.refuse(
                    key, "is missing or empty" if key in self.values else "is missing", f"add `{key}: ...`"
                )
            return default
        if allow_number and isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str):
            self.refuse(key, f"must be text, not {shown(value)}", "put it in quotes")
            return default
        return self._expanded(key, value, default)

    def _expanded(self, key: str, value: str, default: str, *more: str | int) -> str:
        if self.environment is None:
            return value
        result = expand(value, self.environment)
        if result.missing:
            names = ", ".join(result.missing)
            self.refuse(
                key, f"the environment variable {names} is not set", f"export {result.missing[0]}=...", *more
            )
            return default
        return result.text

    def choice(
        self, key: str, options: Sequence[str], default: str, synonyms: Mapping[str, str] | None = None
    ) -> str:
        """One of a few words."""
        value = self.raw(key)
        if value is None:
            return default
        if not isinstance(value, str) or value not in options:
            near = did_you_mean(str(value), options, synonyms)
            step = near if near.startswith("did") else f"for example `{key}: {default or options[0]}`"
            self.refuse(key, f"must be one of {', '.join(options)}, not {shown(value)}", step)
            return default
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.raw(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.refuse(key, f"must be true or false, not {shown(value)}", "write true or false")
            return default
        return value

    def whole(self, key: str, default: Any, *, minimum: int | None = None, allow_null: bool = False) -> Any:
        """A whole number; an absent key gives the default, a null that is allowed gives None."""
        return self._number(key, default, whole=True, minimum=minimum, allow_null=allow_null)

    def number(
        self,
        key: str,
        default: Any,
        *,
        minimum: float | None = None,
        maximum: float | None = None,
        above: float | None = None,
        allow_null: bool = False,
    ) -> Any:
        """A finite number; an absent key gives the default, a null that is allowed gives None."""
        return self._number(
            key, default, minimum=minimum, maximum=maximum, above=above, allow_null=allow_null
        )

    def _number(self, key: str, default: Any, *, allow_null: bool, **limits: Any) -> Any:
        if not self.has(key):
            return default
        value = self.values[key]
        problem = number_problem(value, allow_null=allow_null, **limits)
        if problem:
            quoted = isinstance(value, str) and not number_problem(as_number(value), **limits)
            self.refuse(key, f"{problem}, not {shown(value)}", number_step(key, default, quoted, limits))
            return default
        if value is None:
            return None
        return int(value) if limits.get("whole") else float(value)

    def texts(
        self, key: str, default: tuple[str, ...] = (), *, one: bool = True, numbers: bool = False
    ) -> tuple[str, ...]:
        """A list of texts; a single text counts as a list of one where `one`; `numbers` takes numbers for their digits."""
        value = self.raw(key)
        if value is None:
            return default
        items = [value] if one and (isinstance(value, str) or (numbers and is_number(value))) else value
        if not isinstance(items, (list, tuple)):
            self.refuse(key, f"must be a list of texts, not {shown(value)}", f"write `{key}: [one, two]`")
            return default
        out: list[str] = []
        for index, item in enumerate(items):
            if isinstance(item, str) and item:
                out.append(self._expanded(key, item, item, index))
            elif numbers and is_number(item):
                out.append(str(item))
            else:
                self.refuse(key, f"must be text, not {shown(item)}", "put it in quotes", index)
        return tuple(out)

    def mapping(self, key: str) -> dict[str, Any]:
        """A free mapping of JSON values (finite numbers only)."""
        value = self.raw(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self.refuse(key, f"must be a mapping, not {shown(value)}", "write `key: value` pairs")
            return {}
        self.check_finite(key, value)
        return dict(value)

    def text_mapping(self, key: str) -> dict[str, str]:
        """A mapping of texts to texts, `${NAME}` resolved; numbers are taken for their digits."""
        out: dict[str, str] = {}
        for name, value in self.mapping(key).items():
            if isinstance(value, str):
                out[name] = self._expanded(key, value, value, name)
            elif is_number(value):
                out[name] = str(value)
            else:
                self.refuse(key, f"must be text, not {shown(value)}", "put it in quotes", name)
        return out

    def sections(self, key: str, *, synonyms: Mapping[str, str] | None = None) -> list[Section]:
        """A list of mappings."""
        value = self.raw(key)
        if value is None:
            return []
        if not isinstance(value, (list, tuple)):
            self.refuse(key, f"must be a list, not {shown(value)}", "start each item with '- '")
            return []
        parent = self.child(key, {})
        return [parent.child(index, item, synonyms=synonyms) for index, item in enumerate(value)]

    def section(self, key: str, *, synonyms: Mapping[str, str] | None = None) -> Section:
        """The mapping under `key`; empty when absent."""
        return self.child(key, self.raw(key), synonyms=synonyms)

    def check_finite(self, key: str, value: Any) -> None:
        """Refuse NaN and infinities anywhere inside a free value."""
        for steps in not_finite(value):
            self.refuse(key, "must be a finite number (NaN and infinity are not JSON)", "", *steps)
