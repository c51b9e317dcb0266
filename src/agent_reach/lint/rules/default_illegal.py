"""AR210 default-illegal: a default that the schema itself refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent_reach.lint.base import Hit, LintContext, Rule, parameters
from agent_reach.records.message import Message

_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
    "null": (type(None),),
}


def illegal_default(schema: Mapping[str, Any]) -> Message | None:
    """Why the default is refused by type or enum; None where it is legal or cannot be judged here."""
    default = schema["default"]
    if any(key in schema for key in ("anyOf", "oneOf", "allOf", "$ref", "not")):
        return None
    enum = schema.get("enum")
    if isinstance(enum, (list, tuple)) and default not in enum:
        return Message("not in the enum", "不在枚举里")
    stated = schema.get("type")
    types = [stated] if isinstance(stated, str) else list(stated) if isinstance(stated, (list, tuple)) else []
    if types and all(name in _KINDS for name in types) and not any(_fits(default, name) for name in types):
        return Message(f"not of type {' or '.join(types)}", f"不是 {'/'.join(types)} 类型")
    return None


def _fits(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _KINDS[name])


def check(context: LintContext) -> Iterator[Hit]:
    """A default outside the parameter's type or enum; clients that send it are refused."""
    for tool in context.tools:
        for parameter in parameters(tool):
            if "default" not in parameter.schema:
                continue
            reason = illegal_default(parameter.schema)
            if reason is not None:
                default = parameter.schema["default"]
                yield Hit(
                    subject=tool.key,
                    pointer=f"{parameter.pointer}/default",
                    message=Message(
                        f"the default {default!r:.40} of {parameter.name!r} is {reason.en}",
                        f"{parameter.name!r} 的默认值 {default!r:.40} {reason.zh}",
                    ),
                    fix=Message("drop the default, or allow it", "去掉默认值，或允许它"),
                )


RULE = Rule(
    code="AR210",
    name="default-illegal",
    severity="warning",
    about="parameter",
    summary=Message("A default is a legal value.", "默认值必须合法。"),
    check=check,
)
