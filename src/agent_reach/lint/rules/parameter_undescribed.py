"""AR201 parameter-undescribed: a parameter that only its name explains."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule, explained_in_tool, hint_proposal, parameters
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """A parameter without description, enum, format or hint whose name does not speak for itself."""
    for tool in context.tools:
        for parameter in parameters(tool):
            if parameter.description or (
                parameter.schema.get("title") and " " in str(parameter.schema["title"]).strip()
            ):
                continue
            if "$ref" in parameter.schema or any(
                "$ref" in branch for branch in parameter.schema.get("allOf", ()) if isinstance(branch, dict)
            ):
                continue
            if explained_in_tool(parameter):
                continue
            hint = parameter.hint
            if hint is not None and (hint.format or hint.values or hint.example is not None):
                continue
            yield Hit(
                subject=tool.key,
                pointer=parameter.pointer,
                message=Message(
                    f"parameter {parameter.name!r} has no description", f"参数 {parameter.name!r} 没有描述"
                ),
                fix=Message("say what it is, its format and one example", "写明含义、格式和一个例子"),
                proposal=hint_proposal(parameter, {"format": "", "example": ""}),
            )


RULE = Rule(
    code="AR201",
    name="parameter-undescribed",
    severity="warning",
    about="parameter",
    summary=Message("Every parameter has a description.", "每个参数都要有描述。"),
    check=check,
)
