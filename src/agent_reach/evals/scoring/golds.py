"""Golden paths compiled once per task: tools resolved, gold values turned into comparisons, names and defaults known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent_reach.errors import AmbiguousToolError
from agent_reach.evals.scoring import schema_view
from agent_reach.evals.scoring.values import (
    MISSING,
    Compare,
    References,
    compile_value,
    default_of,
    is_matcher,
    references_in,
    same_value,
)
from agent_reach.records.codec import canonical_json
from agent_reach.records.score import ArgumentScore, Cause
from agent_reach.records.task import GoldenCall, GoldenPath, MatchOptions, Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import ArgumentProblem

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog


REMEMBERED = 64
"""Different arguments that a gold, or a tool of a task, remembers its judgement of: models repeat themselves."""
TOOL_WEIGHT = 1_000_000.0
SUCCESS_WEIGHT = 1_000.0


class Evaluation:
    """How arguments compare with one gold, in counts; `weight` is what a pair of the two is worth to the alignment.

    `scores` are the verdicts argument by argument, `unused` counts those of them, and `told` says what is wrong in one
    line, all once somebody asked.
    """

    __slots__ = (
        "_answers",
        "illegal",
        "optional_hit",
        "optional_used",
        "required_right",
        "score",
        "scores",
        "success",
        "told",
        "unused",
        "weight",
    )

    def __init__(
        self, required_right: int, required_total: int, hit: int, used: int, illegal: bool, complete: bool
    ) -> None:
        self.required_right = required_right
        self.optional_hit = hit
        self.optional_used = used
        self.illegal = illegal
        self.success = complete and not illegal
        if required_total and used:
            self.score = required_right / required_total * 0.7 + hit / used * 0.3
        elif required_total:
            self.score = required_right / required_total
        else:
            self.score = hit / used if used else 1.0
        weight = TOOL_WEIGHT + self.score
        self.weight = weight + SUCCESS_WEIGHT if self.success else weight
        self.scores: tuple[ArgumentScore, ...] | None = None
        self.unused = 0
        self.told: str | None = None
        self._answers: dict[tuple[str, str], bool] | None = None

    @property
    def answers(self) -> dict[tuple[str, str], bool]:
        """What has been found out about an argument that is off: (question, argument) -> answer."""
        if self._answers is None:
            self._answers = {}
        return self._answers


class ArgumentGold:
    """One argument with a gold: its comparison, schema default and whether it is ignored."""

    __slots__ = (
        "_choices",
        "compare",
        "default",
        "has_default",
        "matcher",
        "name",
        "needed",
        "options",
        "plain",
        "root",
        "schema",
        "spec",
        "viewed",
    )

    def __init__(self, name: str, spec: Any, schema: Any, root: Any, options: MatchOptions) -> None:
        self.name = name
        self.spec = spec
        self.schema = schema
        self.root = root
        self.options = options
        self.viewed = schema_view.view(schema, root)
        self._choices: list[tuple[Any, Compare]] | None = None
        self.needed: list[Any] | None = None
        self.plain = type(spec) if type(spec) in (str, int, float) else None
        self.matcher = next(iter(spec)) if is_matcher(spec) else ""
        self.compare: Compare = compile_value(spec, schema, root, options, name)
        self.default = default_of(schema, root)
        self.has_default = self.default is not MISSING

    def matched_choice(self, value: Any, references: References | None) -> str:
        """Which of several accepted values (`$one_of`) a value matched."""
        for choice in self.spec["$one_of"]:
            if type(choice) is str and choice == value:
                return choice
        if self._choices is None:
            self._choices = [
                (choice, compile_value(choice, self.schema, self.root, self.options, self.name))
                for choice in self.spec["$one_of"]
            ]
        return next((str(choice) for choice, matches in self._choices if matches(value, references)), "")


class CompiledGold:
    """One golden call, ready to compare with calls of its tool."""

    __slots__ = (
        "by_name",
        "call",
        "depends_on",
        "free_required",
        "id",
        "ignored",
        "index",
        "is_open",
        "key",
        "known",
        "optional",
        "order_key",
        "remembered",
        "required",
        "required_total",
        "stage",
        "tool",
        "wrong_order",
    )

    def __init__(
        self, call: GoldenCall, index: int, stage: int, tool: Tool | None, options: MatchOptions
    ) -> None:
        self.call = call
        self.index = index
        self.stage = stage
        self.tool = tool
        self.key = tool.key if tool is not None else call.tool
        self.id = call.id or f"step{index}"
        root: Mapping[str, Any] = tool.input_schema if tool is not None else {}
        properties = schema_view.property_schemas(root, root)
        prefixes = _prefixes(call, tool)
        local = _local_options(options, prefixes)
        self.ignored = frozenset(name for name in local.ignore_args if "." not in name)
        self.required = [
            ArgumentGold(name, spec, properties.get(name), root, local)
            for name, spec in call.args.items()
            if name not in self.ignored
        ]
        self.optional = [
            ArgumentGold(name, spec, properties.get(name), root, local)
            for name, spec in call.optional.items()
            if name not in self.ignored and name not in call.args
        ]
        self.by_name = {gold.name: gold for gold in (*self.optional, *self.required)}
        named = {gold.name for gold in self.required} | {gold.name for gold in self.optional}
        schema_required = tool.required if tool is not None else ()
        self.free_required = tuple(
            name for name in dict.fromkeys(schema_required) if name not in named and name not in self.ignored
        )
        self.required_total = len(self.required) + len(self.free_required)
        self.is_open = tool is None or schema_view.is_open(root)
        self.known = frozenset(properties) | named | self.ignored
        self.depends_on = frozenset(
            step for spec in (*call.args.values(), *call.optional.values()) for step in references_in(spec)
        )
        self.order_key = (self.key, canonical_text([call.args, call.optional]))
        self.wrong_order: Cause | None = None
        self.remembered: dict[bytes, Evaluation] = {}

    def remember(self, mark: bytes, evaluation: Evaluation) -> None:
        """Keep what these very arguments were worth; only for golds that take no value from other calls."""
        if len(self.remembered) >= REMEMBERED:
            self.remembered.clear()
        self.remembered[mark] = evaluation

    def evaluate(
        self, arguments: Mapping[str, Any], problems: frozenset[str], references: References | None
    ) -> Evaluation:
        """Counts for one call; `problems` are the argument names that the schema refuses."""
        right = 0
        for gold in self.required:
            value = arguments.get(gold.name, MISSING)
            if value is MISSING:
                value = gold.default
            if (type(value) is gold.plain and value == gold.spec) or gold.compare(value, references):
                right += 1
        for name in self.free_required:
            if name in arguments and name not in problems:
                right += 1
        complete = right == self.required_total
        used = hit = 0
        for gold in self.optional:
            value = arguments.get(gold.name, MISSING)
            if value is MISSING or (gold.has_default and same_value(value, gold.default)):
                continue
            used += 1
            if gold.compare(value, references):
                hit += 1
        illegal = False
        if len(arguments) > right or problems:
            illegal = self._has_illegal(arguments, problems)
        return Evaluation(right, self.required_total, hit, used, illegal, complete)

    def _has_illegal(self, arguments: Mapping[str, Any], problems: frozenset[str]) -> bool:
        for name in arguments:
            if name not in self.known:
                if not self.is_open or name in problems:
                    return True
            elif name in problems and not self.has_gold(name) and name not in self.ignored:
                return True
        return False

    def has_gold(self, name: str) -> bool:
        """The argument has a gold value, required or optional."""
        return name in self.call.args or name in self.call.optional


class CompiledPath:
    """One golden path: its golds in written order, by stage, and in an order that does not depend on how they were listed."""

    __slots__ = (
        "by_id",
        "by_key",
        "canonical",
        "golds",
        "has_results",
        "index",
        "is_linear",
        "key_order",
        "keys",
        "stages",
    )

    def __init__(self, path: GoldenPath, index: int, catalog: Catalog, options: MatchOptions) -> None:
        self.index = index
        self.golds: list[CompiledGold] = []
        self.stages: list[list[CompiledGold]] = []
        for stage_number, stage in enumerate(path.stages):
            compiled = []
            for call in stage:
                tool = resolve(catalog, call.tool)
                gold = CompiledGold(call, len(self.golds), stage_number, tool, options)
                self.golds.append(gold)
                compiled.append(gold)
            self.stages.append(sorted(compiled, key=lambda gold: gold.order_key))
        self.canonical = sorted(self.golds, key=lambda gold: gold.order_key)
        self.is_linear = all(len(stage) == 1 for stage in self.stages)
        self.keys = frozenset(gold.key for gold in self.golds)
        self.key_order = [gold.key for gold in self.golds]
        self.by_key: dict[str, list[CompiledGold]] = {}
        for gold in self.canonical:
            self.by_key.setdefault(gold.key, []).append(gold)
        self.by_id = {gold.id: gold for gold in self.golds}
        self.has_results = any(gold.call.has_result for gold in self.golds)


class KnownTool:
    """A tool under a name that was emitted, with the arguments whose legality is known already.

    Arguments are known again by their mark (see `calls.mark_of`): equal marks mean equal values of equal types.
    """

    __slots__ = ("key", "legal", "problems", "tool")

    def __init__(self, tool: Tool | None) -> None:
        self.tool = tool
        self.key = tool.key if tool is not None else ""
        self.legal: dict[bytes, bool] = {}
        self.problems: dict[bytes, tuple[ArgumentProblem, ...]] = {}


class CompiledTask:
    """A task with its paths compiled against a catalog."""

    __slots__ = ("catalog", "forbidden", "known_tools", "listed", "look_alikes", "paths", "task")

    def __init__(self, task: Task, catalog: Catalog) -> None:
        self.task = task
        self.catalog = catalog
        self.paths = [
            CompiledPath(path, index, catalog, task.match)
            for index, path in enumerate(task.paths)
            if path.stages
        ]
        self.forbidden = frozenset(
            tool.key if (tool := resolve(catalog, name)) is not None else name for name in task.forbid
        )
        self.known_tools: dict[str, KnownTool] = {}
        self.listed: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.look_alikes: dict[tuple[str, str], bool] = {}

    def forget(self) -> None:
        """Drop what is remembered of arguments; what was compiled stays."""
        for path in self.paths:
            for gold in path.golds:
                gold.remembered.clear()
        for known in self.known_tools.values():
            known.legal.clear()
            known.problems.clear()

    def known(self, name: str) -> KnownTool:
        """The tool of an emitted name, which holds no tool where there is none or the name is ambiguous."""
        found = self.known_tools.get(name)
        if found is None:
            found = self.known_tools[name] = KnownTool(resolve(self.catalog, name, refuse=False))
        return found

    def tool(self, name: str) -> Tool | None:
        """The catalog's tool of an emitted name, None when there is none or the name is ambiguous."""
        return self.known(name).tool

    def keys_of(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The keys of named tools, a name that is nobody's standing for itself; offered lists repeat, so they are kept."""
        found = self.listed.get(names)
        if found is None:
            if len(self.listed) >= REMEMBERED:
                self.listed.clear()
            found = self.listed[names] = tuple(self.known(name).key or name for name in names)
        return found


def resolve(catalog: Catalog, name: str, *, refuse: bool = True) -> Tool | None:
    """The tool of that key, name, alias or wire name; an ambiguous name raises where `refuse`, else is nobody's."""
    try:
        return catalog.resolve(name)
    except AmbiguousToolError:
        if refuse:
            raise
        return None


def canonical_text(value: Any) -> str:
    """Canonical JSON of a value, or its representation where it is no JSON."""
    try:
        return canonical_json(value)
    except (TypeError, ValueError):
        return repr(value)


def _prefixes(call: GoldenCall, tool: Tool | None) -> tuple[str, ...]:
    names = {call.tool}
    if tool is not None:
        names |= {tool.key, tool.name, *tool.aliases}
    return tuple(f"{name}." for name in names)


def _local_options(options: MatchOptions, prefixes: tuple[str, ...]) -> MatchOptions:
    """The options with `ignore_args` entries for this tool cut to the path inside its arguments."""
    if not options.ignore_args:
        return options
    entries = []
    for entry in options.ignore_args:
        prefix = next((prefix for prefix in prefixes if entry.startswith(prefix)), "")
        entries.append(entry[len(prefix) :])
    return MatchOptions(
        strings=options.strings,
        ignore_args=tuple(entries),
        float_tolerance=options.float_tolerance,
        mode=options.mode,
    )
