"""Every exception that Agent-Reach raises on purpose, in one tree.

    AgentReachError                what, where and the next step; the command line prints it and exits with 2
    ├── InputError                 a file, a flag or a value that a person gave is wrong
    │   ├── ConfigError            reach.yaml or config.yaml
    │   ├── SuiteError             a task suite
    │   ├── CatalogError           a tool list cannot be read at all (one bad tool is a finding instead)
    │   │   ├── UnknownToolError   no tool has that name; carries the nearest names
    │   │   └── AmbiguousToolError several servers own that name; carries all of them
    │   ├── ReportError            a report file of another form or version
    │   └── TraceError             a trace file or store
    ├── ServerError                an upstream server could not be started or spoken to
    ├── ModelError                 the endpoint or process of a model failed; never a decision of the agent
    │   └── UnusableModelError     it cannot be used at all (wrong key, no such model); in `evals/agents/base.py`
    └── MissingExtraError          an optional dependency is not installed

A call of a tool that fails is no exception: it is a `CallOutcome`. A part of the input that is bad while the
rest is good is no exception either: it is a `Finding`.
"""

from __future__ import annotations

from collections.abc import Sequence


class AgentReachError(Exception):
    """An error that a person can act on: what happened, where, and what to do next."""

    def __init__(self, message: str, *, where: str = "", next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.next_step = next_step

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.message}" if self.where else self.message]
        if self.next_step:
            lines.append(f"  next: {self.next_step}")
        return "\n".join(lines)


class InputError(AgentReachError):
    """A file, a flag or a value that a person gave is wrong."""


class ConfigError(InputError):
    """`reach.yaml` or `config.yaml` is wrong."""


class SuiteError(InputError):
    """A task suite is wrong."""


class CatalogError(InputError):
    """A tool list cannot be read at all."""


class UnknownToolError(CatalogError):
    """No tool of the catalog has that name."""

    def __init__(self, name: str, nearest_names: Sequence[str] = (), *, where: str = "") -> None:
        self.name = name
        self.nearest_names = tuple(nearest_names)
        step = f"did you mean {', '.join(map(repr, self.nearest_names))}?" if self.nearest_names else ""
        super().__init__(f"no tool is named {name!r}", where=where, next_step=step)


class AmbiguousToolError(CatalogError):
    """An unqualified name that several servers own."""

    def __init__(self, name: str, candidates: Sequence[str], *, where: str = "") -> None:
        self.name = name
        self.candidates = tuple(candidates)
        super().__init__(
            f"{name!r} is a tool of several servers: {', '.join(map(repr, self.candidates))}",
            where=where,
            next_step="write the tool as server/name",
        )


class ReportError(InputError):
    """A report file cannot be read, or has another form or version."""


class TraceError(InputError):
    """A trace file or a trace store cannot be read or written."""


class ServerError(AgentReachError):
    """An upstream server could not be started or spoken to."""


class ModelError(AgentReachError):
    """The endpoint or the process of a model failed; this is never a decision of the agent."""


class MissingExtraError(AgentReachError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"this needs the package {package!r}, which is not installed",
            next_step=f"pip install 'agent-reach-toolkit[{extra}]'",
        )
