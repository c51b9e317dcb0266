"""AR208 free-form-object: an object whose keys nothing states."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule, parameters
from agent_reach.records.message import Message

_SHOWN = re.compile(r"\{[^}]*[:：]|['\"`]\w+['\"`]\s*[:：]|(?i:e\.g\.|example|such as|keys?\b)|例如|键")


def check(context: LintContext) -> Iterator[Hit]:
    """An object parameter without properties, without a schema for its values, and without an example."""
    for tool in context.tools:
        for parameter in parameters(tool):
            schema = parameter.schema
            if "object" not in parameter.types or parameter.types - {"object"} or "$ref" in schema:
                continue
            if (
                schema.get("properties")
                or schema.get("patternProperties")
                or (isinstance(schema.get("additionalProperties"), dict) and schema["additionalProperties"])
            ):
                continue
            if (
                any(key in schema for key in ("anyOf", "oneOf", "allOf"))
                or parameter.has_example
                or _SHOWN.search(parameter.description)
            ):
                continue
            yield Hit(
                subject=tool.key,
                pointer=parameter.pointer,
                message=Message(
                    f"object {parameter.name!r} states no keys", f"对象参数 {parameter.name!r} 没有写明键"
                ),
                fix=Message("declare its properties, or show an example", "声明属性，或给出例子"),
            )


RULE = Rule(
    code="AR208",
    name="free-form-object",
    severity="info",
    about="parameter",
    summary=Message("An object parameter states its keys.", "对象参数要写明键。"),
    check=check,
)
