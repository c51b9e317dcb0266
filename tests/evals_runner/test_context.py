"""What a model is given: order, passages, budget, slots, and the record of everything lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.config.settings import ContextConfig
from agent_reach.errors import ConfigError
from agent_reach.evals.context.conversation import Conversation
from agent_reach.evals.context.options import Layout
from agent_reach.evals.context.passages import place_passages, rank_passages
from agent_reach.evals.context.slots import fill_slots, slots_block
from agent_reach.records.context import ContextBlock, StateSlot
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool
from agent_reach.text.counting import count_tokens


def block(identifier: str, kind: Any = "retrieval", text: str = "", **fields: Any) -> ContextBlock:
    return ContextBlock(id=identifier, kind=kind, text=text or f"text of {identifier}", **fields)


def conversation(
    blocks: tuple[ContextBlock, ...] = (), *, task: Task | None = None, **config: Any
) -> Conversation:
    layout_fields = {
        name: config.pop(name) for name in ("system_prompt", "tools_in_system") if name in config
    }
    more = {name: config.pop(name) for name in ("tools_text", "definition_tokens", "slots") if name in config}
    task = task or Task(id="t", kind="must", query="the request", context=blocks)
    return Conversation(task, Layout(config=ContextConfig(**config), **layout_fields), **more)


ALL_KINDS = (
    block("i", "instruction"),
    block("r", "retrieval"),
    block("c", "constraint"),
    block("h", "history"),
    block("s", "state_slot"),
    block("o", "tool_result"),
)


def test_the_request_comes_first_and_retrieval_last() -> None:
    system, user = conversation(ALL_KINDS, tools_text="- look()", system_prompt="Be exact.").messages(0)
    assert system == {"role": "system", "content": "Be exact.\n\ntext of i"}
    assert user["content"].split("\n\n") == [
        "the request",
        "Constraints:\ntext of c",
        "Tools:\n- look()",
        "Known values:\ntext of s",
        "Earlier in this conversation:\ntext of h",
        "Earlier results:\ntext of o",
        "Reference passages:\n[r] text of r",
    ]


def test_the_order_is_a_setting() -> None:
    order = (
        "retrieval",
        "state_slot",
        "history",
        "tool_result",
        "constraint",
        "tools",
        "instruction",
        "request",
    )
    user = conversation(ALL_KINDS, order=order).messages(0)[-1]["content"]
    assert user.startswith("Reference passages:")
    assert user.endswith("the request")


def test_a_template_of_ones_own() -> None:
    template = "{{ request }} / {% for block in blocks.retrieval %}{{ block.id }}={{ block.text }};{% endfor %} {{ constraint }}"
    user = conversation(ALL_KINDS, template=template).messages(0)[-1]["content"]
    assert user == "the request / r=text of r; Constraints:\ntext of c"
    for wrong in ("{{ requst }}", "{% if %}", "{{ request.__class__.__mro__ }}"):
        with pytest.raises(ConfigError, match="template is wrong"):
            conversation(ALL_KINDS, template=wrong).messages(0)


def test_the_tool_list_can_be_the_constant_head() -> None:
    given = conversation(ALL_KINDS, tools_text="- look()", system_prompt="Reply so.", tools_in_system=True)
    system = given.messages(0)[0]["content"]
    assert system.startswith("Tools:\n- look()\n\nReply so.")
    assert "look()" not in given.messages(0)[1]["content"]


def test_five_passages_at_most_and_the_rest_on_record() -> None:
    blocks = tuple(block(f"p{number}", score=number / 10) for number in range(8))
    given = conversation(blocks)
    assert [item.id for item in given.blocks] == ["p7", "p6", "p5", "p4", "p3"]
    assert {(item.block_id, item.reason) for item in given.dropped} == {
        ("p0", "max_passages"),
        ("p1", "max_passages"),
        ("p2", "max_passages"),
    }
    assert len(conversation(blocks, max_passages=None).blocks) == 8
    assert conversation(blocks, max_passages=0).blocks == []


@pytest.mark.parametrize(
    ("best", "shown"),
    [
        ("first", "abcde"),
        ("last", "edcba"),
        ("middle", "ecabd"),
    ],
)
def test_where_the_best_passages_stand(best: Any, shown: str) -> None:
    ranked = [block(name) for name in "abcde"]
    assert "".join(item.id for item in place_passages(ranked, best)) == shown


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.sampled_from(["first", "middle", "last"]))
def test_placing_loses_nothing(names: list[str], best: Any) -> None:
    placed = place_passages([block(name) for name in names], best)
    assert sorted(item.id for item in placed) == sorted(names)


def test_reranking_by_shared_words() -> None:
    passages = [
        block("a", text="shipping times"),
        block("b", text="退货 流程 and refund rules"),
        block("c", text="refund"),
    ]
    assert [item.id for item in rank_passages(passages, "refund rules 退货", "lexical")] == ["b", "c", "a"]
    assert [item.id for item in rank_passages(passages, "refund rules", "none")] == ["a", "b", "c"]


def test_a_budget_drops_the_worst_passages_then_history() -> None:
    words = "word " * 60
    blocks = (block("h", "history", words), *(block(f"p{n}", text=words, score=1 - n / 10) for n in range(4)))
    whole = conversation(blocks)
    everything = sum(count_tokens(message["content"]) + 4 for message in whole.messages(0))
    tight = conversation(blocks, token_budget=everything - 70)
    assert [item.block_id for item in tight.dropped] == ["p3", "p2"]
    assert {item.reason for item in tight.dropped} == {"token_budget"}
    assert "p3" not in [item.id for item in tight.blocks]
    least = conversation(blocks, token_budget=20)
    assert {item.block_id for item in least.dropped} == {"h", "p0", "p1", "p2", "p3"}
    assert least.messages(0)[-1]["content"] == "the request"


def test_definitions_of_the_provider_count_against_the_budget() -> None:
    blocks = (block("p", text="word " * 60),)
    assert not conversation(blocks, token_budget=200).dropped
    assert conversation(blocks, token_budget=200, definition_tokens=150).dropped


def long_result(given: Conversation, number: int, size: int = 200) -> None:
    given.add_reply({"role": "assistant", "content": "", "tool_calls": [{"id": f"c{number}"}]})
    given.add_result(f"c{number}", "look", f"result {number} " + "word " * size, block_id=f"result:c{number}")


def test_old_results_fall_out_of_the_window() -> None:
    given = conversation(token_budget=420)
    long_result(given, 1)
    assert not given.dropped
    given.messages(1)
    long_result(given, 2)
    sent = given.messages(2)
    assert [(item.block_id, item.reason, item.from_step) for item in given.dropped] == [
        ("result:c1", "out_of_window", 2)
    ]
    assert "no longer shown" in sent[2]["content"]
    assert sent[2]["tool_call_id"] == "c1"
    assert sent[4]["content"].startswith("result 2")


def test_the_newest_result_is_cut_rather_than_lost() -> None:
    given = conversation(token_budget=120)
    long_result(given, 1, size=500)
    sent = given.messages(1)
    (lost,) = given.dropped
    assert (lost.block_id, lost.reason) == ("result:c1", "cut")
    assert sent[-1]["content"].startswith("result 1")
    assert sent[-1]["content"].endswith("[cut]")
    assert len(sent[-1]["content"]) == lost.kept_characters + len(" [cut]")


@given(st.lists(st.integers(1, 300), min_size=1, max_size=6), st.integers(40, 600))
def test_a_window_fits_or_nothing_more_could_go(sizes: list[int], budget: int) -> None:
    given = conversation((block("p", text="word " * 50),), token_budget=budget)
    for number, size in enumerate(sizes):
        long_result(given, number, size)
        sent = given.messages(number + 1)
        assert [message["role"] for message in sent] == ["user", *["assistant", "tool"] * (number + 1)]
        total = sum(count_tokens(str(message["content"])) + 4 for message in sent)
        if total > budget + 40 * (number + 2):
            older = [message["content"] for message in sent if message["role"] == "tool"][:-1]
            assert all("no longer shown" in content for content in older)


def test_a_whole_conversation_keeps_its_messages() -> None:
    messages = (
        {"role": "system", "content": "rules"},
        {"role": "user", "content": "first"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "found 7781"},
        {"role": "assistant", "content": "found"},
        {"role": "user", "content": "last"},
    )
    task = Task(id="t", kind="must", query="last", messages=messages, context=(block("p"),))
    given = conversation(task=task)
    sent = given.messages(0)
    assert [message["role"] for message in sent] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert sent[0]["content"] == "rules"
    assert sent[-1]["content"] == "last\n\nReference passages:\n[p] text of p"
    assert [(item.id, item.kind) for item in given.blocks] == [
        ("message_0", "instruction"),
        ("message_1", "history"),
        ("message_3", "tool_result"),
        ("message_4", "history"),
        ("p", "retrieval"),
    ]


@pytest.mark.parametrize(
    ("source", "value", "expected"),
    [
        ("create_order.order_id", {"order_id": "O-1"}, "O-1"),
        ("shop/create_order.order.items.0.id", {"order": {"items": [{"id": 5}]}}, 5),
        ("create_order.order.items[1].id", {"order": {"items": [{"id": 5}, {"id": 6}]}}, 6),
        ("create_order", "plain", "plain"),
        ("create_order.order_id", '{"order_id": "from text"}', "from text"),
        ("create_order.missing", {"order_id": "O-1"}, None),
        ("create_order.items.3", {"items": []}, None),
        ("create_order_line.order_id", {"order_id": "O-1"}, None),
        ("create_order.order_id", {"order_id": None}, None),
        ("create_order.flag", {"flag": False}, False),
    ],
)
def test_slots_are_filled_by_rule(source: str, value: Any, expected: Any) -> None:
    tool = Tool(name="create_order", server="shop")
    (slot,) = fill_slots((StateSlot(name="x", source=source),), tool, value)
    assert slot.value == expected
    assert slot.filled == (expected is not None)


def test_a_later_result_replaces_a_slot_and_the_block_follows() -> None:
    tool = Tool(name="create_order")
    slots = (
        StateSlot(name="order", source="create_order.id"),
        StateSlot(name="list", source="create_order.l"),
    )
    assert slots_block(slots) is None
    slots = fill_slots(slots, tool, {"id": "O-1", "l": ["a"]})
    slots = fill_slots(slots, tool, {"id": "O-2"})
    given = conversation()
    given.set_slots(slots)
    assert 'Known values:\norder: O-2\nlist: ["a"]' in given.messages(1)[-1]["content"]
    hidden = conversation(state_slots=False)
    hidden.set_slots(slots)
    assert "O-2" not in hidden.messages(1)[-1]["content"]
