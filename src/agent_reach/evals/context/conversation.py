"""One conversation as it is sent, step by step: assembled by template, kept inside the budget, losses on record.

Messages have the form of the chat API (`role`, `content`, `tool_calls`, `tool_call_id`), whatever the agent sends in
the end. The budget is an estimate (`text.counting`); what does not fit goes in this order: worst passages, history,
oldest messages of the conversation, oldest tool results, then the text of the newest result is cut.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from agent_reach.calls.message import text_of_content
from agent_reach.evals.context.options import Layout
from agent_reach.evals.context.passages import place_passages, rank_passages
from agent_reach.evals.context.slots import slots_block
from agent_reach.evals.context.template import render_template
from agent_reach.records.context import ContextBlock, DroppedBlock, StateSlot
from agent_reach.records.task import Task
from agent_reach.text.counting import count_json_tokens, count_tokens

REMOVED = "[no longer shown: the conversation is too long]"
CUT_MARK = " [cut]"
MESSAGE_TOKENS = 4
TOOLS_BLOCK = "tools"


@dataclasses.dataclass(slots=True)
class _Sent:
    """One message behind the opening, with the block it belongs to."""

    message: dict[str, Any]
    block_id: str = ""
    kind: str = "history"
    tokens: int = 0
    removed: bool = False


class Conversation:
    """The messages of one attempt.

    `tools_text` is the tool list where the template places it; `definition_tokens` what the provider places weighs.
    """

    def __init__(
        self,
        task: Task,
        layout: Layout,
        *,
        tools_text: str = "",
        definition_tokens: int = 0,
        slots: Sequence[StateSlot] = (),
    ) -> None:
        self._task = task
        self._layout = layout
        self._tools_text = tools_text
        self._definition_tokens = definition_tokens
        self._slots = tuple(slots)
        self._dropped: dict[tuple[str, str], DroppedBlock] = {}
        self._sent: list[_Sent] = []
        self.blocks: list[ContextBlock] = []
        self._sections: dict[str, list[ContextBlock]] = {}
        self._before: list[_Sent] = []
        self._after: list[_Sent] = []
        self._system_texts: list[str] = []
        self._open()

    @property
    def dropped(self) -> tuple[DroppedBlock, ...]:
        """What was cut, never sent, or fell out of the window so far."""
        return tuple(self._dropped.values())

    def _open(self) -> None:
        self._read_messages()
        passages: list[ContextBlock] = []
        for block in self._task.context:
            if block.kind == "retrieval":
                passages.append(block)
            else:
                self._sections.setdefault(block.kind, []).append(block)
                self.blocks.append(block)
        ranked = rank_passages(passages, self._task.query, self._layout.config.rerank)
        limit = len(ranked) if self._layout.config.max_passages is None else self._layout.config.max_passages
        for block in ranked[limit:]:
            self._drop(block, "max_passages")
        kept = ranked[:limit]
        self._sections["retrieval"] = place_passages(kept, self._layout.config.best_passages)
        if self._tools_text or self._definition_tokens:
            self.blocks.append(ContextBlock(id=TOOLS_BLOCK, kind="tools", text=self._tools_text))
        self._fit_opening(kept)
        self.blocks.extend(self._sections["retrieval"])

    def _read_messages(self) -> None:
        """Split a given conversation at its last user message, which the request replaces."""
        messages = list(self._task.messages)
        last = max((index for index, item in enumerate(messages) if item.get("role") == "user"), default=-1)
        for index, item in enumerate(messages):
            role, text = item.get("role"), text_of_content(item.get("content"))
            if index == last:
                continue
            block_id = f"message_{index}"
            if role in ("system", "developer"):
                self._system_texts.append(text)
                self.blocks.append(ContextBlock(id=block_id, kind="instruction", text=text))
                continue
            kind: Literal["tool_result", "history"] = "tool_result" if role == "tool" else "history"
            sent = _Sent(message=dict(item), block_id=block_id, kind=kind, tokens=_weight(item))
            (self._before if index < last else self._after).append(sent)
            if text or role == "tool":
                self.blocks.append(
                    ContextBlock(
                        id=block_id,
                        kind=kind,
                        text=text,
                        call_id=str(item.get("tool_call_id") or ""),
                    )
                )

    def _fit_opening(self, ranked: Sequence[ContextBlock]) -> None:
        """Drop the worst passages, then the oldest history, until the opening fits the budget."""
        for block in reversed(ranked):
            if not self._over():
                return
            self._sections["retrieval"] = [item for item in self._sections["retrieval"] if item is not block]
            self._drop(block, "token_budget")
        for kind in ("history", "tool_result"):
            for block in list(self._sections.get(kind, ())):
                if not self._over():
                    return
                self._sections[kind].remove(block)
                self.blocks.remove(block)
                self._drop(block, "token_budget")

    def _drop(self, block: ContextBlock, reason: Any, **details: Any) -> None:
        self._dropped[block.id, reason] = DroppedBlock(
            block_id=block.id, kind=block.kind, reason=reason, tokens=count_tokens(block.text), **details
        )

    def add_reply(self, message: Mapping[str, Any]) -> None:
        """The model's own message, as it is to be echoed."""
        self._sent.append(_Sent(message=dict(message), kind="history", tokens=_weight(message)))

    def add_user(self, text: str) -> None:
        """A later turn of the user."""
        message = {"role": "user", "content": text}
        self._sent.append(_Sent(message=message, kind="request", tokens=_weight(message)))

    @property
    def shows_slots(self) -> bool:
        """State slots are shown to the model."""
        return self._layout.config.state_slots

    def add_result(self, call_id: str, name: str, text: str, *, block_id: str, role: str = "tool") -> None:
        """The answer to one call; in the role `user` for models that know no role `tool`."""
        if role == "tool":
            message = {"role": "tool", "tool_call_id": call_id, "name": name, "content": text}
        else:
            message = {"role": role, "content": f"Result of {name}:\n{text}"}
        self._sent.append(
            _Sent(message=message, block_id=block_id, kind="tool_result", tokens=_weight(message))
        )

    def _cut_result(self, block_id: str, text: str, limit: int, step: int) -> str:
        kept = _fitting_length(text, limit)
        self._dropped[block_id, "cut"] = DroppedBlock(
            block_id=block_id,
            kind="tool_result",
            reason="cut",
            kept_characters=kept,
            from_step=step,
            tokens=count_tokens(text[kept:]),
        )
        return text[:kept] + CUT_MARK

    def set_slots(self, slots: Sequence[StateSlot]) -> None:
        """The state slots as they are now; the block in the user message changes with them."""
        self._slots = tuple(slots)

    def messages(self, step: int) -> list[dict[str, Any]]:
        """All messages of the next request; what no longer fits is recorded as gone from `step` on."""
        self._shrink(step)
        opening = self._opening()
        middle = [_shown(item) for item in self._before]
        return [
            *([opening[0]] if opening[0] else []),
            *middle,
            opening[1],
            *(_shown(item) for item in self._after),
            *(_shown(item) for item in self._sent),
        ]

    def _opening(self) -> tuple[dict[str, Any], dict[str, Any]]:
        layout = self._layout
        sections = [self._section(name) for name in layout.system]
        own = [layout.system_prompt, *self._system_texts]
        parts = [*sections[:1], *own, *sections[1:]] if layout.tools_in_system else [*own, *sections]
        system = [text for text in parts if text]
        system_message = {"role": "system", "content": "\n\n".join(system)} if system else {}
        return system_message, {"role": "user", "content": self._user_text()}

    def _user_text(self) -> str:
        if self._layout.config.template:
            return render_template(
                self._layout.config.template,
                request=self._task.query,
                blocks=self._sections,
                sections={name: self._section(name) for name in self._layout.user},
            )
        return "\n\n".join(text for text in map(self._section, self._layout.user) if text)

    def _section(self, name: str) -> str:
        if name == "request":
            return self._task.query
        heading = self._layout.headings.get(name, "")
        if name == "tools":
            body = self._tools_text
        elif name == "state_slot":
            given = [block.text for block in self._sections.get("state_slot", ())]
            current = slots_block(self._slots) if self._layout.config.state_slots else None
            body = "\n".join([*given, *([current.text] if current else [])])
        else:
            body = "\n\n".join(_block_text(block) for block in self._sections.get(name, ()))
        return f"{heading}\n{body}" if heading and body else body

    def _over(self) -> int:
        """Estimated tokens over the budget; 0 when it fits."""
        budget = self._layout.config.token_budget
        if budget is None:
            return 0
        opening = sum(_weight(message) for message in self._opening() if message)
        others = sum(item.tokens for item in (*self._before, *self._after, *self._sent))
        return max(0, self._definition_tokens + opening + others - budget)

    def _shrink(self, step: int) -> None:
        everything = [*self._before, *self._after, *self._sent]
        newest = self._newest_results()
        for item in everything:
            if not self._over():
                return
            if item.removed or item.kind == "request" or any(item is kept for kept in newest):
                continue
            if item.kind == "tool_result" or not item.message.get("tool_calls"):
                self._remove(item, step)
        for item in newest:
            over = self._over()
            if not over:
                return
            text = str(item.message.get("content") or "")
            allowed = max(8, count_tokens(text) - over - 4)
            if allowed < count_tokens(text):
                content = self._cut_result(item.block_id, text.removesuffix(CUT_MARK), allowed, step)
                item.message = {**item.message, "content": content}
                item.tokens = _weight(item.message)

    def _newest_results(self) -> list[_Sent]:
        found: list[_Sent] = []
        for item in reversed(self._sent):
            if item.kind != "tool_result":
                break
            found.append(item)
        return found

    def _remove(self, item: _Sent, step: int) -> None:
        before = item.tokens
        item.message = {**item.message, "content": REMOVED}
        item.tokens = _weight(item.message)
        item.removed = True
        if item.block_id:
            self._dropped[item.block_id, "out_of_window"] = DroppedBlock(
                block_id=item.block_id,
                kind="tool_result" if item.kind == "tool_result" else "history",
                reason="out_of_window",
                from_step=step,
                tokens=before,
            )


def _shown(item: _Sent) -> dict[str, Any]:
    return item.message


def _block_text(block: ContextBlock) -> str:
    return f"[{block.id}] {block.text}" if block.kind == "retrieval" else block.text


def _weight(message: Mapping[str, Any]) -> int:
    calls = message.get("tool_calls")
    return (
        MESSAGE_TOKENS
        + count_tokens(text_of_content(message.get("content")))
        + (count_json_tokens(calls) if calls else 0)
    )


def _fitting_length(text: str, tokens: int) -> int:
    """The longest prefix, in characters, that the estimator gives at most that many tokens."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(text[:middle]) <= tokens:
            low = middle
        else:
            high = middle - 1
    return low
