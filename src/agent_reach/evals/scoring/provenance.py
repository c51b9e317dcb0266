"""Where every argument value came from: the blocks that held it before the call, or nothing (unsourced).

Values are looked up by their facts, and as whole text. A value that the schema itself offers (an enum word, a constant, a
default) comes from the tool list (`tools`). What a model worked out from a block (a sum, "tomorrow") is unsourced.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from agent_reach.evals.scoring import schema_view
from agent_reach.evals.scoring.blocks import QUERY_BLOCK
from agent_reach.evals.scoring.calls import SeenCall
from agent_reach.evals.scoring.facts import contains, folded, leaf_facts, leaves, text_facts, value_facts
from agent_reach.evals.scoring.making import make_provenance
from agent_reach.evals.scoring.values import same_value
from agent_reach.records.context import ContextBlock
from agent_reach.records.score import Provenance
from agent_reach.records.tool import Tool
from agent_reach.records.trace import Trace
from agent_reach.text.pointers import unescape_pointer

TOOLS_BLOCK = "tools"


class Source:
    """A block as a place to look values up in."""

    __slots__ = ("block", "facts", "text")

    def __init__(self, block: ContextBlock) -> None:
        self.block = block
        self.text = folded(block.text) if block.text else folded(str(block.value))
        self.facts = text_facts(block.text) if block.value is None else frozenset(value_facts(block.value))


def sources_of(trace: Trace, query: str, blocks: Sequence[ContextBlock]) -> list[Source]:
    """All places where a value can come from: the request, later user turns, blocks."""
    found = [Source(block) for block in blocks if block.kind != "tools"]
    text = trace.query or query
    if text and not any(text in block.text for block in blocks):
        found.insert(0, _query_source(text))
    for step in trace.steps:
        if step.kind == "user" and step.text and not any(step.text in block.text for block in blocks):
            found.append(
                Source(
                    ContextBlock(
                        id=f"user:{step.index}", kind="history", text=step.text, from_step=step.index - 1
                    )
                )
            )
    return found


@lru_cache(maxsize=1024)
def _query_source(text: str) -> Source:
    """The request as a source, remembered because every attempt of a task has the same."""
    return Source(ContextBlock(id=QUERY_BLOCK, kind="instruction", text=text))


def provenance_of(calls: Sequence[SeenCall], sources: Sequence[Source]) -> tuple[Provenance, ...]:
    """One entry per argument leaf of every call."""
    found = []
    for seen in calls:
        visible = [source for source in sources if source.block.from_step < seen.step]
        for pointer, leaf in leaves(seen.arguments):
            blocks = holders(leaf, visible)
            if not blocks and seen.tool is not None and offered_by_schema(seen.tool, pointer, leaf):
                blocks = (TOOLS_BLOCK,)
            found.append(
                make_provenance(call_id=seen.call.call_id, pointer=pointer, value=leaf, blocks=blocks)
            )
    return tuple(found)


def holders(leaf: Any, sources: Sequence[Source]) -> tuple[str, ...]:
    """Ids of the blocks that hold a value."""
    facts = leaf_facts(leaf)
    if isinstance(leaf, bool):
        text = "true" if leaf else "false"
    elif isinstance(leaf, float) and leaf.is_integer():
        text = str(int(leaf))
    else:
        text = folded(str(leaf)).strip() if leaf is not None else ""
    found = []
    for source in sources:
        if (facts and facts <= source.facts) or (text and contains(source.text, text)):
            found.append(source.block.id)
    return tuple(found)


def offered_by_schema(tool: Tool, pointer: str, leaf: Any) -> bool:
    """The schema of the argument lists the value: as an enum word, a constant or the default."""
    root = tool.input_schema
    schema: Any = root
    for part in pointer.split("/")[1:]:
        viewed = schema_view.view(schema, root)
        if part.isdigit() and "items" in viewed:
            schema = viewed["items"]
        else:
            schema = schema_view.property_schemas(viewed, root).get(unescape_pointer(part))
    viewed = schema_view.view(schema, root)
    options = [*(viewed.get("enum") or ())]
    options.extend(viewed[word] for word in ("const", "default") if word in viewed)
    return any(same_value(leaf, option) for option in options)
