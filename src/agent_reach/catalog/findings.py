"""The findings that loading a catalog can make: one table of codes, so that they can be read and documented.

Severities: `error` costs a tool or a server, `warning` changed or dropped something that matters, `info` is worth
knowing.
"""

from __future__ import annotations

from typing import Any

from agent_reach.records.finding import Finding, Severity
from agent_reach.records.message import Message

CODES: dict[str, tuple[Severity, str, str]] = {
    "type_alias": ("warning", "{pointer}: type {found} means {meant}", "{pointer}：类型 {found} 即 {meant}"),
    "type_unknown": (
        "warning",
        "{pointer}: {found} is no type; any value is accepted",
        "{pointer}：{found} 不是类型，按任意值处理",
    ),
    "type_illegal": (
        "error",
        "{pointer}: {found} is no type of JSON Schema",
        "{pointer}：{found} 不是 JSON Schema 的类型",
    ),
    "schema_illegal": ("error", "{pointer}: {detail}", "{pointer}：{detail}"),
    "schema_repaired": ("warning", "{pointer}: {detail}; dropped", "{pointer}：{detail}，已丢弃"),
    "annotation_repaired": ("info", "{pointer}: {detail}", "{pointer}：{detail}"),
    "root_not_object": (
        "error",
        "the schema of the arguments is of type {found}, not object",
        "参数的模式类型是 {found}，不是 object",
    ),
    "misplaced_keyword": (
        "warning",
        "{pointer} is not a schema; probably the keyword {keyword} slipped into properties",
        "{pointer} 不是模式，可能是关键字 {keyword} 误放进了 properties",
    ),
    "draft_dialect": (
        "warning",
        "{pointer}: {detail}, as in an older draft; read as {meant}",
        "{pointer}：{detail}，是旧草案的写法，按 {meant} 理解",
    ),
    "nullable_keyword": (
        "info",
        "{pointer}: nullable is OpenAPI; read as a type that allows null",
        "{pointer}：nullable 是 OpenAPI 写法，按允许 null 理解",
    ),
    "reference_missing": (
        "warning",
        "{pointer} refers to {target}, which does not exist; any value is accepted there",
        "{pointer} 引用了不存在的 {target}，该处接受任意值",
    ),
    "reference_remote": (
        "warning",
        "{pointer} refers to {target} outside the document; it is never fetched, any value is accepted there",
        "{pointer} 引用了文档之外的 {target}，不会去取，该处接受任意值",
    ),
    "reference_cycle": (
        "warning",
        "{pointer}: reference cycle without content",
        "{pointer}：没有内容的引用循环",
    ),
    "reference_explosion": (
        "warning",
        "{pointer}: the references multiply to more than {limit} parts; any value is accepted there",
        "{pointer}：引用展开超过 {limit} 份，该处接受任意值",
    ),
    "schema_too_deep": (
        "warning",
        "{pointer}: nested deeper than the limit of {limit} levels; what lies below accepts any value",
        "{pointer}：嵌套超过 {limit} 层的上限，更深处接受任意值",
    ),
    "schema_too_large": (
        "warning",
        "{pointer}: more than {limit} values in one definition; the rest accepts any value",
        "{pointer}：一个定义超过 {limit} 个值，其余部分接受任意值",
    ),
    "schema_contains_itself": (
        "warning",
        "{pointer}: an object that contains itself; any value is accepted there",
        "{pointer}：对象包含自身，该处接受任意值",
    ),
    "pattern_uncompilable": (
        "warning",
        "{pointer}: the pattern {found} cannot be compiled; it is not checked, everything else is",
        "{pointer}：模式 {found} 无法编译，不检查它，其余照常检查",
    ),
    "schemas_stripped": (
        "error",
        "{count} of {total} schemas carry no type and no properties: the schemas look stripped",
        "{total} 个模式中有 {count} 个既无 type 也无 properties：模式像是被剥掉了",
    ),
    "output_schema_unusable": (
        "warning",
        "the output schema is unusable ({detail}); results are not checked against it",
        "输出模式不可用（{detail}），结果不按它检查",
    ),
    "name_missing": ("error", "entry {index} has no name", "第 {index} 项没有名称"),
    "not_a_tool": ("error", "entry {index} is {found}, not a tool", "第 {index} 项是 {found}，不是工具"),
    "dialect_key": (
        "info",
        "{found} is read as {meant}",
        "{found} 按 {meant} 读取",
    ),
    "parameters_list": (
        "info",
        "the parameters are a list or a plain mapping; read as an object schema",
        "参数是列表或普通映射，按对象模式读取",
    ),
    "duplicate_tool": (
        "warning",
        "the server gives this name more than once with different definitions; the first one is kept",
        "服务器多次给出这个名称而定义不同，保留第一个",
    ),
    "server_failed": ("error", "the server failed: {detail}", "服务器失败：{detail}"),
    "server_empty": ("warning", "connected, 0 tools", "已连接，0 个工具"),
    "source_unreadable": ("error", "{detail}", "{detail}"),
    "overlay_unmatched": (
        "warning",
        "the overlay names {found}, which is no tool of the catalog{near}",
        "覆盖文件提到 {found}，目录中没有这个工具{near}",
    ),
    "overlay_unknown_key": (
        "warning",
        "{pointer}: the overlay does not know {found}{near}",
        "{pointer}：覆盖文件不认识 {found}{near}",
    ),
    "overlay_ambiguous": (
        "warning",
        "the overlay names {found}, a tool of several servers: {candidates}",
        "覆盖文件提到 {found}，多个服务器都有：{candidates}",
    ),
    "overlay_unknown_parameter": (
        "warning",
        "the overlay gives a hint for {found}, which is no parameter{near}",
        "覆盖文件为 {found} 给出提示，但没有这个参数{near}",
    ),
    "snapshot_edited": (
        "warning",
        "the snapshot was changed by hand: it says {written}, its content is {found}",
        "快照被手工改过：写的是 {written}，内容实为 {found}",
    ),
    "operation_skipped": ("warning", "{pointer}: {detail}", "{pointer}：{detail}"),
    "operation_note": ("info", "{pointer}: {detail}", "{pointer}：{detail}"),
    "python_type_unknown": (
        "warning",
        "{pointer}: no schema can be made of {found}; any value is accepted",
        "{pointer}：无法为 {found} 生成模式，接受任意值",
    ),
}


def make_finding(
    code: str,
    subject: str = "",
    pointer: str = "",
    *,
    severity: Severity | None = None,
    source: str = "",
    fix: Message | None = None,
    **facts: Any,
) -> Finding:
    """A finding of the table, its sentence filled with the facts."""
    usual, english, chinese = CODES[code]
    shown = {key: _short(value) for key, value in facts.items()}
    shown["pointer"] = _short_pointer(pointer)
    return Finding(
        code=code,
        severity=severity or usual,
        message=Message(english.format_map(shown), chinese.format_map(shown)),
        subject=subject,
        pointer=pointer,
        source=source,
        fix=fix,
        data=facts,
    )


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else text[:197] + "..."


def _short_pointer(pointer: str) -> str:
    if not pointer:
        return "/"
    return pointer if len(pointer) <= 120 else f"{pointer[:80]}...{pointer[-37:]}"
