"""Proposals out of lost decisions: what the note of the right tool would have had to say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent_reach.evals.interventions.base import Situation
from agent_reach.evals.interventions.enum_aliases import enum_words
from agent_reach.evals.interventions.format_and_example import moved_on, written_form
from agent_reach.evals.interventions.value_in_slot import slot_rules
from agent_reach.evals.tune.proposals import Proposal, hint_patch, note_patch, together
from agent_reach.evals.tune.wording import (
    border,
    language_of_tool,
    summary_line,
    telling_words,
    trigger_phrases,
)
from agent_reach.records.message import Message
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool

_CHOICE = frozenset(
    (
        "rival_chosen",
        "crowded_out",
        "no_call",
        "not_recalled",
        "talked_not_called",
        "context_overload",
        "name_hallucinated",
    )
)


def failure_proposals(situations: Sequence[Situation], tasks: Sequence[Task]) -> list[Proposal]:
    """Proposals for these lost decisions, of which only tasks of the tuning half may be among `situations` and `tasks`."""
    found: list[Proposal] = []
    by_tool: dict[str, list[Situation]] = {}
    for situation in situations:
        if situation.tool is not None:
            by_tool.setdefault(situation.tool.key, []).append(situation)
    requests = _requests(situations, tasks)
    for lost in by_tool.values():
        found += _choice(lost, requests)
        found += _borders(lost)
        found += _arguments(lost)
        found += _aliases(lost)
    found += _slots(situations)
    return found


_KINDS = {
    "triggers": Message("trigger phrases", "触发语"),
    "summary": Message("first lines", "首行"),
    "conflicts": Message("mutual borders", "相互边界"),
    "format": Message("formats and examples", "格式与示例"),
    "values": Message("words for listed values", "取值的说法"),
}


def failure_bundles(proposals: Sequence[Proposal]) -> list[Proposal]:
    """For each kind of wording, everything that failures ask for at once; kinds with one proposal are left out."""
    found = []
    for kind, words in _KINDS.items():
        parts = [proposal for proposal in proposals if proposal.kind == kind]
        tools = {tool for part in parts for tool in part.tools}
        if len(parts) > 1:
            why = Message(
                f"{words.en} of {len(tools)} tools at once", f"一次给 {len(tools)} 个工具加上{words.zh}"
            )
            found.append(together(kind, why, parts))
    return found


def _requests(situations: Sequence[Situation], tasks: Sequence[Task]) -> dict[str, list[str]]:
    """Tool key -> requests whose golden path has it."""
    catalog = situations[0].variant.catalog if situations else None
    found: dict[str, list[str]] = {}
    for task in tasks if catalog is not None else ():
        for path in task.paths:
            for call in path.calls:
                tool = catalog.resolve(call.tool) if catalog is not None else None
                if tool is not None and task.query not in found.setdefault(tool.key, []):
                    found[tool.key].append(task.query)
    return found


def _task_ids(lost: Sequence[Situation]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(situation.task.id for situation in lost))


def _choice(lost: Sequence[Situation], requests: Mapping[str, list[str]]) -> Iterator[Proposal]:
    """Triggers out of the requests that failed, and a first line with their words."""
    missed = [situation for situation in lost if situation.cause in _CHOICE]
    if not missed:
        return
    tool = missed[0].tool
    assert tool is not None
    known = tool.note.triggers if tool.note is not None else ()
    phrases = trigger_phrases([situation.task.query for situation in missed], known)
    count = len(_task_ids(missed))
    if phrases:
        yield Proposal(
            name=f"triggers of {tool.key}",
            kind="triggers",
            why=Message(f"{count} requests for it failed in these words", f"{count} 个这样说的请求失败"),
            patch=note_patch(tool, triggers=list(phrases)),
            tasks=_task_ids(missed),
            tools=(tool.key,),
        )
    others = [text for key, texts in requests.items() if key != tool.key for text in texts]
    told = telling_words([situation.task.query for situation in missed], others)
    line = summary_line(tool, told, language_of_tool(tool))
    if line and not (tool.note is not None and tool.note.summary):
        yield Proposal(
            name=f"first line of {tool.key}",
            kind="summary",
            why=Message(
                f"{count} requests for it failed; their words: {', '.join(told)}",
                f"{count} 个请求失败；其用词：{'、'.join(told)}",
            ),
            patch=note_patch(tool, summary=line),
            tasks=_task_ids(missed),
            tools=(tool.key,),
        )


def _borders(lost: Sequence[Situation]) -> Iterator[Proposal]:
    """What was chosen instead: both tools say what the other is for."""
    rivals: dict[str, list[Situation]] = {}
    for situation in lost:
        for key in situation.chosen[:1]:
            rivals.setdefault(key, []).append(situation)
    for key, chosen in rivals.items():
        tool = chosen[0].tool
        rival = chosen[0].variant.catalog.get(key)
        assert tool is not None
        yield border_proposal(tool, rival, _task_ids(chosen))


def border_proposal(tool: Tool, rival: Tool, tasks: tuple[str, ...]) -> Proposal:
    """Mutual conflict lines of two tools."""
    first = note_patch(tool, conflicts={rival.key: border(rival, language_of_tool(tool))})
    second = note_patch(rival, conflicts={tool.key: border(tool, language_of_tool(rival))})
    return Proposal(
        name=f"border of {tool.key} and {rival.key}",
        kind="conflicts",
        why=Message(f"{rival.key} was called instead", f"误调用了 {rival.key}"),
        patch={"tools": {**first["tools"], **second["tools"]}},
        tasks=tasks,
        tools=(tool.key, rival.key),
    )


def _arguments(lost: Sequence[Situation]) -> Iterator[Proposal]:
    """Formats, aliases of values, names of parameters."""
    tool = lost[0].tool
    assert tool is not None
    formats: dict[str, tuple[Any, list[Situation]]] = {}
    values: dict[str, tuple[dict[str, list[str]], list[Situation]]] = {}
    for situation in lost:
        aliases = enum_words(situation)
        for name, (value, word) in aliases.items():
            kept = values.setdefault(name, ({}, []))
            kept[0].setdefault(value, []).append(word)
            kept[1].append(situation)
        gold = situation.gold
        for name in situation.wrong_arguments:
            spec = gold.args.get(name) if gold is not None else None
            if (
                name not in aliases
                and spec is not None
                and not isinstance(spec, Mapping)
                and name in tool.parameters
            ):
                formats.setdefault(name, (spec, []))[1].append(situation)
    for name, (words, situations) in values.items():
        listed = "; ".join(f"{value}: {', '.join(dict.fromkeys(said))}" for value, said in words.items())
        yield Proposal(
            name=f"values of {tool.key}.{name}",
            kind="values",
            why=Message(
                f"these words were sent instead of the values ({listed})",
                f"发送了这些词而不是合法取值（{listed}）",
            ),
            patch=hint_patch(
                tool, name, values={value: list(dict.fromkeys(said)) for value, said in words.items()}
            ),
            tasks=_task_ids(situations),
            tools=(tool.key,),
        )
    for name, (spec, situations) in formats.items():
        yield Proposal(
            name=f"format of {tool.key}.{name}",
            kind="format",
            why=Message(
                f"{len(_task_ids(situations))} tasks got it wrong or left it out",
                f"{len(_task_ids(situations))} 个任务填错或漏填",
            ),
            patch=hint_patch(tool, name, format=written_form(spec), example=moved_on(spec)),
            tasks=_task_ids(situations),
            tools=(tool.key,),
        )


def _aliases(lost: Sequence[Situation]) -> Iterator[Proposal]:
    """Names that were invented for the tool."""
    tool = lost[0].tool
    assert tool is not None
    invented: dict[str, list[Situation]] = {}
    for situation in lost:
        for extra in situation.attempt.extra_calls:
            if extra.kind == "hallucinated" and situation.cause == "name_hallucinated":
                invented.setdefault(extra.name, []).append(situation)
    names = [name for name in invented if name and name not in situation_names(lost[0])]
    if names:
        situations = [situation for name in names for situation in invented[name]]
        yield Proposal(
            name=f"aliases of {tool.key}",
            kind="aliases",
            why=Message(f"called as {', '.join(names)}", f"被叫作 {'、'.join(names)}"),
            patch={"tools": {tool.key: {"aliases": names}}},
            tasks=_task_ids(situations),
            tools=(tool.key,),
        )


def situation_names(situation: Situation) -> tuple[str, ...]:
    """All names that mean a tool already."""
    return situation.variant.catalog.names


def _slots(situations: Sequence[Situation]) -> Iterator[Proposal]:
    """Slots for values that were lost on the way from an earlier result."""
    rules: dict[tuple[str, str], list[Situation]] = {}
    for situation in situations:
        if situation.cause in ("state_lost", "wrong_entity", "out_of_window"):
            for slot in slot_rules(situation):
                rules.setdefault((slot.name, slot.source), []).append(situation)
    for (name, source), lost in rules.items():
        yield Proposal(
            name=f"state slot {name} from {source}",
            kind="state_slot",
            why=Message(
                f"the value was lost in {len(_task_ids(lost))} tasks",
                f"{len(_task_ids(lost))} 个任务丢失了该值",
            ),
            patch={"state_slots": [{"name": name, "from": source}]},
            tasks=_task_ids(lost),
            tools=(source.split(".")[0],),
        )
