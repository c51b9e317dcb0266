"""A small catalog and strategies that make whole tasks."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from agent_reach.catalog.catalog import Catalog

TOOLS: list[dict[str, Any]] = [
    {
        "name": "query_stock",
        "description": "Query the stock of a product in a warehouse.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "product_id": {"type": "string"},
                "warehouse_id": {"type": "string", "pattern": "^WH-"},
                "at": {"type": "string", "format": "date"},
            },
            "required": ["product_id"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {"quantity": {"type": "integer"}, "warehouse_id": {"type": "string"}},
            "required": ["quantity"],
        },
    },
    {
        "name": "update_stock",
        "description": "Set the stock of a product to a final quantity.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "product_id": {"type": "string"},
                "quantity": {"type": "integer", "minimum": 0},
                "mode": {"type": "string", "enum": ["set", "reserve"], "default": "set"},
                "remark": {"type": ["string", "null"]},
                "labels": {"type": "array", "items": {"type": "string"}},
                "urgent": {"type": "boolean"},
            },
            "required": ["product_id", "quantity"],
        },
    },
    {
        "name": "adjust_inventory",
        "description": "Add to the stock of a product, or take off it.",
        "inputSchema": {
            "type": "object",
            "properties": {"product_id": {"type": "string"}, "delta": {"type": "integer"}},
            "required": ["product_id", "delta"],
        },
    },
]


def catalog(overlay: dict[str, Any] | None = None) -> Catalog:
    return Catalog.load(TOOLS, overlay=overlay)


def task(**fields: Any) -> dict[str, Any]:
    return {"id": "t", "kind": "must", "query": "how many PDT-1001 are left?", **fields}


CHARACTERS = st.characters(exclude_categories=["Cs"])
WORDS = st.one_of(
    st.sampled_from(
        ["no", "on", "12:30", "2024-03-01", "010", "~", "上海仓", "a: b", "- x", "#", "\u2028", " x ", "$any"]
    ),
    st.text(CHARACTERS, min_size=1, max_size=8),
)
NAMES = st.sampled_from(["look", "book", "shop/buy", "get_it", "$odd", "no", "12"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
MAPPINGS = st.dictionaries(WORDS, VALUES, max_size=2)


@st.composite
def calls(draw: st.DrawFn, index: int) -> dict[str, Any]:
    call: dict[str, Any] = {"tool": draw(NAMES)}
    if draw(st.booleans()):
        call["id"] = f"step{index}"
    args = draw(MAPPINGS)
    if args:
        call["args"] = args
    optional = {key: value for key, value in draw(MAPPINGS).items() if key not in args}
    if optional:
        call["optional"] = optional
    answer = draw(st.sampled_from(["none", "result", "error"]))
    if answer == "result":
        call["result"] = draw(VALUES)
    if answer == "error":
        call["error"] = draw(WORDS)
        call["error_kind"] = draw(st.sampled_from(["timeout", "rate_limited", "tool_error"]))
    return call


@st.composite
def paths(draw: st.DrawFn) -> list[Any]:
    stages: list[Any] = []
    for index in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            stages.append(draw(calls(index)))
        else:
            stages.append([draw(calls(100 + index * 10 + inner)) for inner in range(draw(st.integers(1, 2)))])
    return stages


@st.composite
def path_fields(draw: st.DrawFn) -> dict[str, Any]:
    form = draw(st.sampled_from(["none", "path", "paths"]))
    if form == "path":
        return {"path": draw(paths())}
    if form == "paths":
        return {"paths": draw(st.lists(paths(), min_size=1, max_size=3))}
    return {}


@st.composite
def conversations(draw: st.DrawFn) -> dict[str, Any]:
    form = draw(st.sampled_from(["query", "messages", "turns", "query and turns", "messages and turns"]))
    fields: dict[str, Any] = {}
    by_turn = draw(st.booleans())
    if form.startswith("query"):
        fields["query"] = draw(WORDS)
    if form.startswith("messages"):
        fields["messages"] = [
            {"role": "system", "content": draw(WORDS)},
            {
                "role": "user",
                "content": draw(st.one_of(WORDS, WORDS.map(lambda text: [{"type": "text", "text": text}]))),
            },
        ]
    if form.endswith("turns"):
        fields["turns"] = [
            {"user": draw(WORDS), **(draw(path_fields()) if by_turn else {})}
            for _ in range(draw(st.integers(1, 3)))
        ]
        if form == "turns" and by_turn:
            return fields
    return {**fields, **draw(path_fields())}


@st.composite
def tasks(draw: st.DrawFn, task_id: str = "t") -> dict[str, Any]:
    """A task in the written form, with any mixture of its fields."""
    fields: dict[str, Any] = {
        "id": task_id,
        "kind": draw(st.sampled_from(["must", "may", "forbid"])),
        **draw(conversations()),
    }
    extras: dict[str, st.SearchStrategy[Any]] = {
        "tags": st.lists(WORDS, max_size=2),
        "language": st.sampled_from(["en", "zh", "de", ""]),
        "now": st.just("2025-12-10T10:00:00+08:00"),
        "order": st.sampled_from(["in_order", "any_order", "exact"]),
        "forbid": st.lists(NAMES, max_size=2),
        "tools": st.lists(NAMES, max_size=2),
        "max_extra": st.none() | st.integers(0, 9),
        "environment": MAPPINGS,
        "metadata": MAPPINGS,
        "review": st.booleans(),
        "match": st.fixed_dictionaries(
            {},
            optional={
                "strings": st.sampled_from(["nfc", "nfkc", "casefold"]),
                "float_tolerance": st.floats(0, 1),
                "mode": st.sampled_from(["path", "end_state"]),
                "ignore_args": st.lists(NAMES, max_size=2),
            },
        ),
        "context": st.lists(
            st.fixed_dictionaries(
                {"kind": st.sampled_from(["retrieval", "history", "constraint"]), "text": WORDS},
                optional={
                    "partition": WORDS,
                    "facts": st.lists(WORDS, max_size=2),
                    "score": st.floats(0, 1),
                    "from_step": st.integers(-1, 3),
                    "call_id": WORDS,
                    "value": VALUES,
                },
            ),
            max_size=2,
        ),
        "state_slots": st.lists(
            st.fixed_dictionaries(
                {"name": NAMES, "from": NAMES}, optional={"value": VALUES, "metadata": MAPPINGS}
            ),
            max_size=2,
            unique_by=lambda slot: slot["name"],
        ),
        "results": st.lists(
            st.fixed_dictionaries({"tool": NAMES, "result": VALUES}, optional={"args": MAPPINGS}), max_size=2
        ),
    }
    for key in draw(st.sets(st.sampled_from(sorted(extras)), max_size=5)):
        fields[key] = draw(extras[key])
    return fields
