"""AR212 array-without-items: an array that does not say what it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent_reach.lint.base import Hit, LintContext, Rule, parameters
from agent_reach.records.message import Message


def _has_items(schema: Mapping[str, Any]) -> bool:
    if "items" in schema or "prefixItems" in schema or "$ref" in schema:
        return True
    branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    arrays = [branch for branch in branches if isinstance(branch, Mapping) and branch.get("type") == "array"]
    return bool(arrays) and all(_has_items(branch) for branch in arrays)


def check(context: LintContext) -> Iterator[Hit]:
    """An array parameter without `items` and `prefixItems`: a hard error with some providers."""
    for tool in context.tools:
        for parameter in parameters(tool):
            if "array" in parameter.types and not _has_items(parameter.schema):
                yield Hit(
                    subject=tool.key,
                    pointer=parameter.pointer,
                    message=Message(
                        f"array {parameter.name!r} has no items", f"数组参数 {parameter.name!r} 没有 items"
                    ),
                    fix=Message(
                        "add items (items: {} keeps any value legal)", "加上 items（items: {} 表示任意值）"
                    ),
                )


RULE = Rule(
    code="AR212",
    name="array-without-items",
    severity="warning",
    about="contract",
    summary=Message("An array parameter states its items.", "数组参数要写明 items。"),
    check=check,
)
