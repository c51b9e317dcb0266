"""A tool of an agent loop whose arguments pass through the normaliser first; result, errors and signature stay its own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent_reach.errors import InputError
from agent_reach.records.tool import Tool
from agent_reach.router.reach_shapes import read_shape

if TYPE_CHECKING:
    from agent_reach.router.reach import Reach

_SYNC = ("invoke", "run", "call")
_ASYNC = ("ainvoke", "arun", "acall")


def wrap_tool(reach: Reach, tool: Any, *, now: Any = None) -> Any:
    """A function like the given function, or an object like the given object, with normalised arguments."""
    record = _record(reach, tool)
    prepare = functools.partial(_prepared, reach, record, now)
    if inspect.isroutine(tool) or not any(hasattr(tool, name) for name in (*_SYNC, *_ASYNC)):
        return _function(tool, prepare)
    return WrappedTool(tool, prepare)


class WrappedTool:
    """An object that is the wrapped tool in all but its calls."""

    def __init__(self, tool: Any, prepare: Any) -> None:
        self.__wrapped__ = tool
        self._prepare = prepare

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__wrapped__, name)
        if name in _SYNC or name in _ASYNC:
            return self._method(value)
        return value

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._method(self.__wrapped__)(*arguments, **named)

    def _method(self, method: Any) -> Any:
        """A method that takes one mapping (or a call with `args`), or keywords."""

        @functools.wraps(method)
        def wrapped(*arguments: Any, **named: Any) -> Any:
            if arguments and isinstance(arguments[0], (Mapping, str)):
                first = arguments[0]
                if isinstance(first, Mapping) and isinstance(first.get("args"), Mapping) and "name" in first:
                    first = {**first, "args": self._prepare(first["args"])}
                else:
                    first = self._prepare(first)
                return method(first, *arguments[1:], **named)
            return method(*arguments, **self._prepare(named))

        return wrapped


def _function(function: Any, prepare: Any) -> Any:
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def asynchronous(*arguments: Any, **named: Any) -> Any:
            return await function(**prepare(_by_name(function, arguments, named)))

        return asynchronous

    @functools.wraps(function)
    def synchronous(*arguments: Any, **named: Any) -> Any:
        return function(**prepare(_by_name(function, arguments, named)))

    return synchronous


def _by_name(function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """Positional arguments by the names of the signature."""
    if not arguments:
        return named
    names = [
        one.name for one in inspect.signature(function).parameters.values() if one.kind != one.VAR_KEYWORD
    ]
    if len(arguments) > len(names):
        raise TypeError(f"{getattr(function, '__name__', 'the tool')}() takes {len(names)} arguments")
    return {**dict(zip(names, arguments, strict=False)), **named}


def _prepared(reach: Reach, tool: Tool, now: Any, arguments: Any) -> dict[str, Any]:
    call = reach.normalize(tool, arguments, now=now() if callable(now) else now)
    if call.problems or call.arguments is None:
        told = "; ".join(problem.message or problem.code for problem in call.problems)
        raise InputError(
            f"the arguments of {tool.name!r} are not usable: {told}",
            where=tool.key,
            next_step="give the arguments as the tool's schema says",
        )
    return call.arguments


def _record(reach: Reach, tool: Any) -> Tool:
    """The tool's record: that of the catalog where it has one, else read from the tool itself."""
    from agent_reach.catalog.catalog import Catalog

    read = read_shape(tool)
    if read is None:
        raise InputError(
            f"{type(tool).__name__} is no tool that can be wrapped",
            next_step="give a function or an object with a name",
        )
    known = reach.catalog.from_wire(read.name) or (
        read.name in reach.catalog and reach.catalog.resolve(read.name)
    )
    if known:
        return known
    if inspect.isroutine(tool):
        return Catalog.load([tool]).tools[0]
    return read
