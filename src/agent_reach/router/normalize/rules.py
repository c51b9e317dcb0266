"""The table of everything the normaliser may do: each rule has a name, a sentence and a switch.

A rule that is off by default needs the user's word because projects disagree about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agent_reach.errors import ConfigError
from agent_reach.records.message import Message
from agent_reach.text.tokens import nearest_names


@dataclass(frozen=True, slots=True)
class Rule:
    """One repair: what it does, and whether it is on without being asked for."""

    name: str
    what: Message
    on: bool = True


def _rules(*rows: tuple[str, str, str] | tuple[str, str, str, bool]) -> dict[str, Rule]:
    return {row[0]: Rule(row[0], Message(row[1], row[2]), row[3] if len(row) > 3 else True) for row in rows}


RULES: Mapping[str, Rule] = _rules(
    ("blank_arguments", "No text or null stands for no arguments", "空文本或 null 视为没有参数"),
    ("code_fence", "A Markdown fence around the arguments is taken off", "去掉参数外的 Markdown 代码围栏"),
    ("surrounding_text", "Words and control tokens around one JSON object are cut", "去掉唯一 JSON 对象前后的文字与控制符"),
    ("json_text", "JSON inside a string becomes its value", "字符串里的 JSON 还原为值"),
    ("relaxed_json", "Python literals, single quotes, trailing commas and comments are read", "读取 Python 字面量、单引号、尾逗号与注释"),
    ("call_text", "`tool(name=value)` is read as arguments", "把 `tool(name=value)` 读作参数"),
    ("closed_truncated_json", "Missing closing brackets are added, for read-only tools", "仅对只读工具补上缺失的括号"),
    ("json_repair", "Broken JSON is repaired by guess, for read-only tools", "仅对只读工具猜测修复损坏的 JSON"),
    ("unwrap", "An undeclared wrapper such as `arguments` is taken off", "去掉未声明的外层，如 `arguments`"),
    ("single_item_list", "A list of one becomes its item where no list is wanted", "不需要列表时，单元素列表取其元素"),
    ("parameter_name", "snake, camel and noted names lead to the declared one", "蛇形、驼峰与备注名称对应到声明的名称"),
    ("null_dropped", "null for an optional parameter that takes none is left out", "可选参数不接受 null 时去掉"),
    ("null_text", "The text null or None becomes null, or is left out", "文本 null/None 视为 null 或去掉"),
    ("blank_text", "An empty text that cannot be valid is left out", "不可能合法的空文本去掉"),
    ("blank_text_lenient", "Other empty texts go too where a call was padded with blanks", "调用被空值填充时，其余空文本一并去掉"),
    ("whole_number", "12.0 becomes 12 for an integer", "整数参数的 12.0 变为 12"),
    ("number_text", "Text that is one certain number becomes the number", "确定的数字文本变为数字"),
    ("number_unit", "A number with a unit becomes the number in the declared unit", "带单位的数字换算为声明的单位"),
    ("chinese_numeral", "Chinese numerals become numbers", "中文数字变为数字"),
    ("calendar_number", "A year, month or quarter in words becomes its number", "用文字写的年、月、季度变为数字"),
    ("boolean_text", "true and false in any case become booleans", "任意大小写的 true/false 变为布尔值"),
    ("boolean_word", "yes, no, 1, 0, 是, 否 become booleans", "yes/no/1/0/是/否 变为布尔值", False),
    ("text_of_value", "A number or boolean becomes text for a string", "字符串参数的数字或布尔值变为文本"),
    ("list_of_one", "A single value becomes a list of one", "单个值变为单元素列表"),
    ("list_text", "Text with separators becomes a list where every part is certainly an item", "每段都确定是元素时，带分隔符的文本变为列表"),
    ("enum_form", "Case, width, blanks and hyphens of an enum value", "枚举值的大小写、全半角、空格与连字符"),
    ("enum_alias", "A noted or declared alias of an enum value", "备注或声明过的枚举别名"),
    ("text_form", "Blanks, width and case where a pattern or format asks for it", "按格式要求修正空白、全半角与大小写"),
    ("identifier", "An incomplete id is completed from the conversation", "用对话内容补全不完整的编号"),
    ("date", "A date in words becomes the stated form", "文字日期变为声明的格式"),
    ("date_range", "A period becomes START~END or the stated form", "时间段变为 START~END 或声明的格式"),
    ("date_pair", "A period is divided over a start and an end parameter", "时间段拆分到开始与结束两个参数"),
    ("date_undescribed", "Relative dates for a parameter named as a date or period that has no description", "参数名是日期或时间段且没有说明时处理相对日期"),
    ("date_by_name", "Relative dates also where a description stands beside such a name and states no form", "参数有说明但未写格式时，也按名称处理相对日期", False),
    ("fill_from_conversation", "A missing required argument is taken from the conversation when it is certain", "缺少的必填参数在确定时从对话取得"),
    ("fill_last_user_event", "A parameter with that note takes the last words of the user", "按备注取用户最后一句话"),
    ("converter", "A registered converter", "已登记的转换器"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalizeOptions:
    """Switches and date rules.

    `disabled` turns rules off for all tools, `disabled_for` for single tools (key -> rules), `enabled` turns on rules that
    are off by default. `week_start`, `date_order` and `timezone` (IANA name or `+08:00`) say how dates are meant;
    nothing of them is guessed.
    """

    disabled: frozenset[str] = frozenset()
    disabled_for: Mapping[str, frozenset[str]] = field(default_factory=dict)
    enabled: frozenset[str] = frozenset()
    week_start: Literal["monday", "sunday"] = "monday"
    date_order: Literal["dmy", "mdy"] | None = None
    timezone: str = ""

    def __post_init__(self) -> None:
        named = set(self.disabled) | set(self.enabled)
        for rules in self.disabled_for.values():
            named |= set(rules)
        for name in sorted(named - set(RULES)):
            near = nearest_names(name, tuple(RULES))
            raise ConfigError(
                f"no rule of the normaliser is named {name!r}",
                where="normalize",
                next_step=f"did you mean {near[0]!r}?" if near else "see docs/normalising.md for the rules",
            )

    def is_on(self, rule: str, tool_key: str) -> bool:
        """Whether that rule may work on that tool."""
        if rule in self.disabled or rule in self.disabled_for.get(tool_key, ()):
            return False
        return RULES[rule].on or rule in self.enabled
