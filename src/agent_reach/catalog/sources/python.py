"""Python functions as tools: the `tool` decorator, and modules and packages that hold decorated functions.

The decorator only writes its options onto the function, which stays what it was. The schema is made when a catalog is
loaded.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from agent_reach.catalog.catalog import SourceInfo
from agent_reach.catalog.gather import Gatherer
from agent_reach.catalog.reading import read_schema
from agent_reach.catalog.sources.signatures import read_signature
from agent_reach.errors import CatalogError
from agent_reach.records.finding import Finding
from agent_reach.records.tool import AgentNote, Effect, Needs, ParameterHint, Tool, tool_key

if TYPE_CHECKING:
    from agent_reach.catalog.load import LoadOptions

Function = TypeVar("Function", bound=Callable[..., Any])
_MARK = "__agent_reach_tool__"
_EFFECTS = ("read", "write", "destructive", "idempotent")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """What the decorator says beside the function itself."""

    name: str = ""
    server: str = ""
    title: str = ""
    description: str | None = None
    note: AgentNote | None = None
    needs: Needs = field(default_factory=Needs)
    effects: frozenset[Effect] = frozenset()
    aliases: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    actor: str = "agent"
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None


@overload
def tool(function: Function, /) -> Function: ...
@overload
def tool(
    function: None = None,
    /,
    *,
    name: str = "",
    server: str = "",
    title: str = "",
    description: str | None = None,
    note: AgentNote | Mapping[str, Any] | None = None,
    summary: str = "",
    triggers: Sequence[str] = (),
    param_hints: Mapping[str, ParameterHint | Mapping[str, Any]] | None = None,
    conflicts: Mapping[str, str] | None = None,
    needs: Needs | Mapping[str, Sequence[str]] | None = None,
    effect: str | Iterable[str] = (),
    aliases: Sequence[str] = (),
    partitions: Sequence[str] = (),
    actor: str = "agent",
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
) -> Callable[[Function], Function]: ...


def tool(
    function: Any = None,
    /,
    *,
    name: str = "",
    server: str = "",
    title: str = "",
    description: str | None = None,
    note: AgentNote | Mapping[str, Any] | None = None,
    summary: str = "",
    triggers: Sequence[str] = (),
    param_hints: Mapping[str, ParameterHint | Mapping[str, Any]] | None = None,
    conflicts: Mapping[str, str] | None = None,
    needs: Needs | Mapping[str, Sequence[str]] | None = None,
    effect: str | Iterable[str] = (),
    aliases: Sequence[str] = (),
    partitions: Sequence[str] = (),
    actor: str = "agent",
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
) -> Any:
    """Mark a function as a tool; used bare (`@tool`) or with options (`@tool(name=..., effect="read")`).

    The function stays callable and unchanged. Name, description, parameters and result come from its signature and
    docstring (Google, NumPy or reST) unless given here; `effect` is one or more of read, write, destructive, idempotent.
    """
    from agent_reach.catalog.overlay import read_note

    words = (effect,) if isinstance(effect, str) else tuple(effect)
    for word in words:
        if word not in _EFFECTS:
            raise CatalogError(
                f"{word!r} is no effect", where="@tool(effect=...)", next_step=f"use {', '.join(_EFFECTS)}"
            )
    parts = {"summary": summary, "triggers": triggers, "param_hints": param_hints, "conflicts": conflicts}
    given = {key: value for key, value in parts.items() if value}
    made = (
        note
        if isinstance(note, AgentNote)
        else read_note({**(note or {}), **given})
        if note or given
        else None
    )
    if isinstance(note, AgentNote) and given:
        made = replace(note, **{key: getattr(read_note(given), key) for key in given})
    options = ToolOptions(
        name=name,
        server=server,
        title=title,
        description=description,
        note=made,
        needs=needs
        if isinstance(needs, Needs)
        else Needs(**{key: tuple(value) for key, value in (needs or {}).items()}),
        effects=frozenset(cast(Iterable[Effect], words)),
        aliases=tuple(aliases),
        partitions=tuple(partitions),
        actor=actor,
        input_schema=input_schema,
        output_schema=output_schema,
    )

    def mark(marked: Function) -> Function:
        setattr(marked, _MARK, options)
        return marked

    return mark if function is None else mark(function)


def tool_options(function: Any) -> ToolOptions | None:
    """The options of a decorated function (looked for through bound methods), or None."""
    options = getattr(function, _MARK, None)
    return options if isinstance(options, ToolOptions) else None


def python_tools(
    source: types.ModuleType | str | Callable[..., Any] | Iterable[Any], *, server: str = ""
) -> tuple[tuple[Tool, ...], dict[str, Callable[..., Any]]]:
    """The tools of a module (or import path) or of functions, and the callable behind each key.

    A module gives its decorated functions, those of its submodules included when it is a package; functions in a list
    need no decorator.
    """
    if isinstance(source, str):
        source = import_source(source)
    items: Iterable[Any] = [source] if isinstance(source, types.ModuleType) or callable(source) else source
    tools: dict[str, Tool] = {}
    handlers: dict[str, Callable[..., Any]] = {}
    for function in _functions(items):
        made, _ = tool_of_function(function, server=server)
        if made.key not in tools:
            tools[made.key] = made
            handlers[made.key] = function
    return tuple(tools.values()), handlers


def tool_of_function(function: Any, *, server: str = "", name: str = "") -> tuple[Tool, list[Finding]]:
    """The tool of one callable, decorated or not, and what was found while reading it."""
    if hasattr(function, "args_schema") and hasattr(function, "description"):
        return _tool_of_object(function, server, name)
    options = tool_options(function) or ToolOptions()
    called = name or options.name or _name_of(function)
    owner = options.server or server
    key = tool_key(owner, called)
    signature = read_signature(function, key)
    findings = list(signature.findings)
    description = options.description if options.description is not None else signature.docstring.description
    raw_input = dict(options.input_schema) if options.input_schema is not None else signature.input_schema
    raw_output = dict(options.output_schema) if options.output_schema is not None else signature.output_schema
    original: dict[str, Any] = {"name": called, "description": description, "inputSchema": raw_input}
    if options.title:
        original["title"] = options.title
    if raw_output:
        original["outputSchema"] = raw_output
    read = read_schema(raw_input, key)
    output = read_schema(raw_output, key, arguments=False) if raw_output else None
    findings.extend(read.findings)
    if read.fatal is not None:
        findings.append(read.fatal)
    made = Tool(
        name=called,
        server=owner,
        title=options.title,
        description=description,
        input_schema=read.schema,
        output_schema=output.schema if output is not None and output.fatal is None else None,
        original=original,
        note=options.note,
        needs=options.needs,
        effects=options.effects,
        aliases=options.aliases,
        partitions=options.partitions,
        actor=options.actor,
    )
    return made, findings


def _tool_of_object(item: Any, server: str, name: str) -> tuple[Tool, list[Finding]]:
    """An object in the manner of LangChain: `name`, `description`, `args_schema` (a model class or a schema)."""
    schema = item.args_schema
    if hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    called = name or str(getattr(item, "name", "") or _name_of(item))
    key = tool_key(server, called)
    read = read_schema(schema, key)
    original = {"name": called, "description": str(item.description or ""), "inputSchema": schema}
    made = Tool(
        name=called,
        server=server,
        description=original["description"],
        input_schema=read.schema,
        original=original,
    )
    return made, list(read.findings)


def _name_of(function: Any) -> str:
    plain = getattr(function, "func", function)
    name = getattr(plain, "__name__", "") or type(plain).__name__
    return str(name)


def _functions(items: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if isinstance(item, types.ModuleType):
            found.extend(decorated_functions(item))
        else:
            found.append(item)
    return found


def decorated_functions(module: types.ModuleType) -> list[Callable[..., Any]]:
    """The decorated functions of a module in the order of definition, then those of its submodules."""
    found: dict[int, Any] = {}
    for value in vars(module).values():
        if tool_options(value) is not None:
            found.setdefault(id(value), value)
    for path in (getattr(module, "__path__", None) and [module]) or []:
        for info in pkgutil.walk_packages(path.__path__, module.__name__ + "."):
            if info.name.rsplit(".", 1)[-1].startswith("__main__"):
                continue
            for value in vars(_import(info.name)).values():
                if tool_options(value) is not None:
                    found.setdefault(id(value), value)
    return list(found.values())


def import_source(path: str) -> types.ModuleType:
    """The module at an import path, or in a file or package folder; raises `CatalogError` that tells a missing module from
    one that fails."""
    place = Path(path)
    if place.suffix == ".py" or "/" in path or (place / "__init__.py").is_file():
        return import_file(place / "__init__.py" if place.is_dir() else place)
    return _import(path)


def _import(path: str) -> types.ModuleType:
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        missing = error.name or path
        if path == missing or path.startswith(missing + "."):
            raise CatalogError(
                f"there is no module {missing!r}",
                where=path,
                next_step="give a file, or an import path that Python finds",
            ) from error
        raise CatalogError(f"importing it needs {missing!r}, which is not installed", where=path) from error
    except (Exception, SystemExit) as error:
        raise CatalogError(f"importing it fails: {type(error).__name__}: {error}", where=path) from error


# -- sources of `Catalog.load` -----------------------------------------------------------------------------


def gather_functions(
    items: list[Any], options: LoadOptions, gatherer: Gatherer, *, names: list[str] | None = None
) -> None:
    """Add functions, tool objects and the decorated functions of modules."""
    functions = _functions(items)
    for index, function in enumerate(functions):
        name = names[index] if names is not None else ""
        made, findings = tool_of_function(function, server=options.server or "", name=name)
        for finding in findings:
            gatherer.note(finding)
        gatherer.add_tool(made)


def gather_module(path: str, options: LoadOptions, gatherer: Gatherer) -> None:
    """Add the decorated functions of `package.module` or the one thing of `package.module:name`."""
    module_path, _, attribute = path.partition(":")
    module = import_source(module_path)
    if attribute:
        if not hasattr(module, attribute):
            raise CatalogError(f"the module has no {attribute!r}", where=module_path)
        value = getattr(module, attribute)
        items = list(value) if isinstance(value, (list, tuple)) else [value]
    else:
        items = [module]
    _gather_from(items, path, options, gatherer)


def gather_file(path: Path, options: LoadOptions, gatherer: Gatherer) -> None:
    """Add the decorated functions of a Python file, or of the package whose `__init__.py` it is."""
    if not path.exists():
        raise CatalogError("no such file", where=str(path))
    _gather_from([import_file(path)], str(path), options, gatherer)


def import_file(path: Path) -> types.ModuleType:
    """The module of a Python file, imported once per path under a name of its own."""
    resolved = path.resolve()
    if not resolved.exists():
        raise CatalogError("no such file", where=str(path))
    if resolved.name == "__init__.py":
        return _import_package(resolved.parent)
    name = f"agent_reach_source_{resolved.stem}_{abs(hash(str(resolved))):x}"
    known = sys.modules.get(name)
    if known is not None:
        return known
    spec = importlib.util.spec_from_file_location(name, resolved)
    if spec is None or spec.loader is None:
        raise CatalogError("this is no Python file", where=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(resolved.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise CatalogError(f"importing it fails: {type(error).__name__}: {error}", where=str(path)) from error
    finally:
        sys.path.remove(str(resolved.parent))
    return module


def _import_package(folder: Path) -> types.ModuleType:
    """A package by its folder, under its own name, so that its modules can import one another absolutely; the folder above it
    stays on the path for imports that happen later."""
    root = folder
    while (root.parent / "__init__.py").exists():
        root = root.parent
    if str(root.parent) not in sys.path:
        sys.path.insert(0, str(root.parent))
    module = _import(".".join(folder.relative_to(root.parent).parts))
    found = Path(module.__file__ or "").resolve().parent
    if found != folder:
        raise CatalogError(
            f"another package {module.__name__!r} is imported already, from {found}",
            where=str(folder),
            next_step="rename one of the two packages",
        )
    return module


def _gather_from(items: list[Any], where: str, options: LoadOptions, gatherer: Gatherer) -> None:
    before = len(gatherer.tools)
    gather_functions(items, options, gatherer)
    count = len(gatherer.tools) - before
    if not count:
        raise CatalogError(
            "no function here is marked as a tool",
            where=where,
            next_step="put @tool (from agent_reach import tool) on the functions that are tools",
        )
    gatherer.source(SourceInfo(kind="python", location=where, server=options.server or "", tools=count))


__all__ = ["ToolOptions", "python_tools", "tool", "tool_of_function", "tool_options"]
