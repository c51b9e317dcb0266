"""Whether each golden value can come from anywhere: the request, a block, an earlier recorded result, an enum, a default.

A value that nothing supplies makes every agent fail. Text is compared after folding, without blanks and punctuation, so
that `555-123-2002` is found in `5551232002`, and may be put together from words and numbers that are given. Words of one's own (free text), small numbers, dates that a clock or a
relative expression can give, and values of a call that was not recorded are given the benefit of the doubt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.schema import allowed_values, resolved_schema
from agent_reach.evals.suite.checks.base import PlacedCall, escape, placed_calls, shown, task_finding
from agent_reach.evals.suite.checks.matchers import is_matcher
from agent_reach.evals.suite.reading import message_text
from agent_reach.records.finding import Finding, Severity
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool
from agent_reach.text.folding import fold
from agent_reach.text.tokens import words

_SMALL_NUMBER = 100
"""Whole numbers below this are counted, computed or said in words too often to be doubted."""
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?|\d{4}-\d{2}|\d{1,2}:\d{2}(:\d{2})?")
_RELATIVE = re.compile(
    r"\b(today|tonight|tomorrow|yesterday|now|this|next|last|past|previous|coming|ago|week|weekend|month|quarter|year|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
    r"|\d{1,4}[/.]\d{1,2}|今|明|昨|后天|前天|本[周月季年]|上[周月个季]|下[周月个季]|去年|前年|周|星期|月|季度|最近|近|过去|未来|年初|年底",
    re.IGNORECASE,
)
_CLOCK_WORD = re.compile(
    r"\b(today|tonight|tomorrow|yesterday|(this|next|last)\s+(week|month|quarter|year|monday|tuesday|wednesday|"
    r"thursday|friday|saturday|sunday)|\d+\s+days?\s+ago)\b|今天|明天|昨天|后天|前天|本周|上周|下周|本月|上个?月|下个?月|去年|本季度|上季度",
    re.IGNORECASE,
)
_PIECE = re.compile(r"[a-z]+|\d+")
_OWN_WORDS = 0.5
"""Free text is taken for supplied when at least this share of its words stands somewhere."""


def check_sources(task: Task, catalog: Catalog) -> Iterator[Finding]:
    """Golden values that nothing can supply, `$from` references that lead nowhere, clocks that are missing."""
    yield from _check_clock(task, catalog)
    given = _given_text(task)
    by_path: dict[int, list[PlacedCall]] = {}
    for placed in placed_calls(task, catalog):
        by_path.setdefault(placed.path, []).append(placed)
    told: set[tuple[str, str]] = set()
    for calls in by_path.values():
        for placed in calls:
            earlier = [other for other in calls if other.stage < placed.stage]
            yield from _check_references(task, placed, earlier, calls)
            if placed.tool is not None:
                for finding in _check_call(task, placed, placed.tool, earlier, given, catalog):
                    key = (finding.code, finding.message.en)
                    if key not in told:
                        told.add(key)
                        yield finding


def _compact(text: str) -> str:
    return re.sub(r"[\W_]+", "", fold(text))


def _texts(value: Any) -> Iterator[str]:
    """Every scalar and key inside a JSON value, as text; a JSON text counts for its content."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value
        if value[:1] in "{[":
            try:
                yield from _texts(json.loads(value))
            except (ValueError, RecursionError):
                return
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _given_text(task: Task) -> list[str]:
    """What the agent is told in words: request, conversation, turns, blocks, slots, clock."""
    texts = [task.query, task.now, *(turn.user for turn in task.turns)]
    for message in task.messages:
        texts.append(message_text(message))
        texts += _texts({key: item for key, item in message.items() if key not in ("role", "content")})
    for block in task.context:
        texts += [block.text, *block.facts, *_texts(block.value)]
    for slot in task.state_slots:
        texts += _texts(slot.value)
    texts += _texts(task.environment)
    return [text for text in texts if text]


def _schema_text(tool: Tool, name: str) -> list[str]:
    """What tool and parameter say themselves: enum, default, examples, descriptions, notes."""
    schema = resolved_schema(tool.parameters.get(name), tool.input_schema)
    texts = [tool.name, tool.description]
    if isinstance(schema, Mapping):
        texts += _texts(allowed_values(schema, tool.input_schema) or ())
        for key in ("default", "examples", "example", "description", "title", "pattern"):
            texts += _texts(schema.get(key))
        texts += _texts(schema.get("properties")) if "properties" in schema else []
        texts += _texts(schema.get("items")) if "items" in schema else []
    hint = tool.note.param_hints.get(name) if tool.note is not None else None
    if hint is not None:
        texts += [
            hint.format,
            *map(str, hint.values),
            *(word for said in hint.values.values() for word in said),
        ]
        texts += _texts(hint.example)
    return texts


class _Corpus:
    """Texts to look values up in."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.plain = "\n".join(texts)
        self.compact = _compact(self.plain)
        self.words = set(words(self.plain))
        self.pieces = set(_PIECE.findall(fold(self.plain)))
        self.numbers = {_number(found) for found in re.findall(r"\d[\d,]*(?:\.\d+)?", self.plain)}

    def holds(self, value: Any) -> bool:
        if isinstance(value, bool) or value is None:
            return True
        if isinstance(value, (int, float)):
            return float(abs(value)) in self.numbers or (
                float(value).is_integer() and abs(value) < _SMALL_NUMBER
            )
        text = str(value)
        compact = _compact(text)
        if not compact or compact in self.compact:
            return True
        if self.pieces.issuperset(_PIECE.findall(fold(text))) and _PIECE.search(fold(text)):
            return True  # put together from words and numbers that are given ("P followed by 12345678")
        if _ISO_DATE.fullmatch(text.strip()) and (_RELATIVE.search(self.plain) or text[:10] in self.plain):
            return True
        own = words(text)
        if len(own) < 3 and not any(character.isspace() for character in text.strip()):
            return False
        return sum(word in self.words for word in own) / max(1, len(own)) >= _OWN_WORDS


class _Corpora:
    """The texts of the task, and those of one parameter."""

    def __init__(self, task: _Corpus, parameter: _Corpus) -> None:
        self._parts = (task, parameter)

    def holds(self, value: Any) -> bool:
        """One of the two holds the value."""
        return any(part.holds(value) for part in self._parts)


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _check_call(
    task: Task, placed: PlacedCall, tool: Tool, earlier: list[PlacedCall], given: list[str], catalog: Catalog
) -> Iterator[Finding]:
    texts = list(given)
    for other in earlier:
        texts += _texts(other.call.result)
        texts += _texts(other.call.args)
        texts.append(other.call.error)
    for recorded in task.results:
        texts += _texts(recorded.result)
    corpus = _Corpus(texts)
    open_call = any(not other.call.has_result and not other.call.error for other in earlier)
    for part, values in (("args", placed.call.args), ("optional", placed.call.optional)):
        for name, value in values.items():
            if _is_ignored(task, tool, name):
                continue
            for leaf in _unsupplied(value, _Corpora(corpus, _Corpus(_schema_text(tool, name)))):
                severity = _severity(task, leaf, open_call, tool, catalog)
                if severity is not None:
                    pointer = f"{placed.pointer}/{part}/{escape(name)}"
                    yield _unsourced(task, tool, name, leaf, pointer, severity)


def _is_ignored(task: Task, tool: Tool, name: str) -> bool:
    places = {name, f"{tool.name}.{name}", f"{tool.key}.{name}"}
    return bool(places & set(task.match.ignore_args))


def _unsupplied(value: Any, corpus: _Corpora) -> list[Any]:
    """The literal parts of a golden value that the corpus does not hold; an alternative that it holds suffices."""
    if isinstance(value, Mapping):
        if "$one_of" in value and isinstance(value["$one_of"], (list, tuple)):
            per_item = [_unsupplied(item, corpus) for item in value["$one_of"]]
            return min(per_item, key=len) if per_item else []
        if "$approx" in value:
            return _unsupplied(value["$approx"], corpus)
        if "$date" in value:
            return _unsupplied(value["$date"], corpus)
        if "$unordered" in value:
            return _unsupplied(value["$unordered"], corpus)
        if is_matcher(value):
            return []
        return [leaf for item in value.values() for leaf in _unsupplied(item, corpus)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _unsupplied(item, corpus)]
    return [] if corpus.holds(value) else [value]


def _is_identifier(value: Any) -> bool:
    """A value nobody could make up: a long number, or text with a digit and without blanks."""
    if isinstance(value, (int, float)):
        return True
    return any(character.isdigit() for character in value) and not any(
        character.isspace() for character in value
    )


def _severity(task: Task, value: Any, open_call: bool, tool: Tool, catalog: Catalog) -> Severity | None:
    if open_call:
        return None
    if not _is_identifier(value):
        return "info"
    if isinstance(value, str) and _ISO_DATE.fullmatch(value):
        return "warning"
    # numbers may be computed; an identifier may still come from a call that nobody recorded
    if isinstance(value, (int, float)):
        return "warning"
    offered = task.tools or [other.key for other in catalog]
    others = [name for name in offered if name not in (tool.key, tool.name)]
    return "error" if task.environment or not others else "warning"


def _unsourced(task: Task, tool: Tool, name: str, value: Any, pointer: str, severity: Severity) -> Finding:
    return task_finding(
        task,
        "gold_unsourced_value",
        severity,
        f"{name!r} of {tool.key!r}: the gold {shown(value)} is in no block, request, earlier recorded result, "
        "default or enum",
        f"{tool.key!r} 的 {name!r}：标准值 {shown(value)} 不在任何上下文块、请求、先前的录制结果、默认值或枚举中",
        pointer=pointer,
        fix=(
            "say it in the request or a block, record the call that returns it, or match it with $from, $pattern or $any",
            "在请求或上下文块中给出它，录制返回它的调用，或改用 $from、$pattern、$any",
        ),
        data={"argument": name, "value": value},
    )


# --- references to earlier steps


def _check_references(
    task: Task, placed: PlacedCall, earlier: list[PlacedCall], calls: list[PlacedCall]
) -> Iterator[Finding]:
    from agent_reach.evals.suite.checks.matchers import matcher_problem, matchers_in

    known = {other.call.id: other for other in earlier if other.call.id}
    for part, values in (("args", placed.call.args), ("optional", placed.call.optional)):
        for pointer, matcher in matchers_in(values, f"{placed.pointer}/{part}"):
            if "$from" not in matcher or matcher_problem(matcher):
                continue
            step, rest = split_reference(matcher["$from"])
            if step not in known:
                yield _unknown_step(task, pointer, step, known, calls)
            elif known[step].call.has_result and not _reaches(known[step].call.result, rest):
                yield task_finding(
                    task,
                    "from_leads_nowhere",
                    "error",
                    f"$from {matcher['$from']!r}: the recorded result of {step!r} has no {rest!r}",
                    f"$from {matcher['$from']!r}：{step!r} 的录制结果中没有 {rest!r}",
                    pointer=pointer,
                    fix=("mend the path or the recorded result", "改正路径或录制结果"),
                )


def _unknown_step(
    task: Task, pointer: str, step: str, known: Mapping[str, PlacedCall], calls: list[PlacedCall]
) -> Finding:
    later = any(call.call.id == step for call in calls)
    listed = ", ".join(known) or "none"
    return task_finding(
        task,
        "from_unknown_step",
        "error",
        f"$from names the step {step!r}, which {'is not earlier' if later else 'does not exist'} in this path",
        f"$from 引用了步骤 {step!r}，它在该路径中{'不在之前' if later else '不存在'}",
        pointer=pointer,
        fix=(f"earlier steps with an id: {listed}", f"之前带 id 的步骤：{listed}"),
    )


def split_reference(reference: str) -> tuple[str, str]:
    """Step id and path of a `$from`: `look.items[0].id` -> look, items[0].id; `look[0].id` -> look, [0].id."""
    match = re.match(r"[^.\[]+", reference)
    step = match.group() if match else reference
    return step, reference[len(step) :].removeprefix(".")


def _reaches(value: Any, path: str) -> bool:
    """The dotted path (with `[0]` or `.0` for items) leads to a value."""
    for step in (part for part in re.split(r"[.\[\]]+", path) if part):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, (list, tuple)) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False
    return True


def _check_clock(task: Task, catalog: Catalog) -> Iterator[Finding]:
    if task.now or not any(path.calls for path in task.paths):
        return
    said = [task.query, *(turn.user for turn in task.turns)]
    match = next((found for text in said if (found := _CLOCK_WORD.search(text))), None)
    if match is None:
        return
    for placed in placed_calls(task, catalog):
        for part in (placed.call.args, placed.call.optional):
            for value in _texts(_plain_or_date(part)):
                if _ISO_DATE.fullmatch(value.strip()):
                    yield task_finding(
                        task,
                        "relative_date_without_now",
                        "warning",
                        f"the request says {match.group(0)!r} and a gold fixes {value!r}, but the task has no clock: "
                        "it turns red when the day passes",
                        f"请求中有 {match.group(0)!r}，标准值固定为 {value!r}，但任务没有时钟：过了这天就会变红",
                        pointer="/now",
                        fix=("add `now` with a zone", "补上带时区的 now"),
                    )
                    return


def _plain_or_date(value: Any) -> Any:
    if isinstance(value, Mapping):
        return [value["$date"]] if "$date" in value else [_plain_or_date(item) for item in value.values()]
    return [_plain_or_date(item) for item in value] if isinstance(value, (list, tuple)) else value
