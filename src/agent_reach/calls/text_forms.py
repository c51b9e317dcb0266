"""Calls that a model wrote into its text, form by form.

Each form is one function: text -> found spans. The table is tried in order and a later form sees only what earlier forms
left. Forms with marks of their own count whatever they name; loose forms count only when they name a known tool.
"""

from __future__ import annotations

from agent_reach.calls.loose_forms import action_lines, bare_object, fences, python_list
from agent_reach.calls.marked_forms import (
    begin_marks,
    bracket_mark,
    channel,
    function_tags,
    python_tag,
    tags,
)
from agent_reach.calls.written import Form

FORMS: dict[str, Form] = {
    "tags": tags,
    "function tags": function_tags,
    "[TOOL_CALLS]": bracket_mark,
    "<|channel|>": channel,
    "<|tool_call_begin|>": begin_marks,
    "<|python_tag|>": python_tag,
    "action lines": action_lines,
    "fences": fences,
    "python list": python_list,
    "bare object": bare_object,
}
