"""Scripted attempts with one planted trouble each: every cause, in both languages, over several catalogs.

Each domain has a look-up and a write that needs its result, a look-alike of the write, and unrelated tools. A planter
returns the attempt and the step whose decision is lost; whatever else is in the attempt is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.evals_scoring.building import catalog, failed, gold, ok, path, task, tool, trace

from agent_reach.catalog.catalog import Catalog
from agent_reach.records.context import ContextBlock, DroppedBlock
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import (
    ArgumentProblem,
    Call,
    CallOutcome,
    CandidateScore,
    Exposure,
    Step,
    Trace,
)


@dataclass(frozen=True)
class Domain:
    """One small world in one language."""

    language: str
    server: str
    look: str
    write: str
    rival: str
    entity: str
    state: str
    look_text: str
    write_text: str
    rival_text: str
    ids: tuple[str, str]
    states: tuple[str, str]
    levels: tuple[str, str, str]
    synonym: str
    request: str
    claim: str
    nothing: str

    def tools(self, extra: int = 0) -> list[Tool]:
        """The tools; `extra` unrelated ones before the real ones, as in a long list."""
        write = {
            self.entity: "string",
            self.state: "string",
            "amount": "integer",
            "day": {"type": "string", "format": "date"},
            "level": {"type": "string", "enum": list(self.levels)},
        }
        noise = [
            tool(
                f"{word}_{number}",
                {"topic": "string"},
                server=self.server,
                description=f"{word} {number}.",
                effects=frozenset({"write"}),
            )
            for number, word in enumerate(_NOISE[:extra])
        ]
        return [
            *noise,
            tool(
                "send_newsletter",
                {"topic": "string"},
                server=self.server,
                description="Send a newsletter." if self.language == "en" else "群发资讯邮件。",
                effects=frozenset({"write"}),
            ),
            tool(
                self.look,
                {self.entity: "string"},
                [self.entity],
                server=self.server,
                description=self.look_text,
                effects=frozenset({"read"}),
            ),
            tool(
                self.write,
                write,
                [self.entity],
                server=self.server,
                description=self.write_text,
                effects=frozenset({"write"}),
            ),
            tool(
                self.rival,
                write,
                [self.entity],
                server=self.server,
                description=self.rival_text,
                effects=frozenset({"write"}),
            ),
        ]

    def found(self) -> dict[str, Any]:
        """What the look-up answers."""
        return {self.entity: self.ids[0], self.state: self.states[0], "other": [{self.state: self.states[1]}]}

    def args(self, **changes: Any) -> dict[str, Any]:
        """The right arguments of the write, with changes; a change to `...` leaves the argument out."""
        right = {
            self.entity: self.ids[0],
            self.state: self.states[0],
            "amount": 250,
            "day": "2031-04-05",
            "level": self.levels[0],
        }
        names = {"entity": self.entity, "state": self.state}
        right.update({names.get(name, name): value for name, value in changes.items()})
        return {name: value for name, value in right.items() if value is not ...}

    def task(self, **more: Any) -> Task:
        """Look up, then write with the value found."""
        wanted = path(
            gold(self.look, {self.entity: self.ids[0]}, id="look", result=self.found()),
            gold(self.write, self.args(state={"$from": f"look.{self.state}"}), id="act"),
        )
        return task(wanted, query=self.query, task_id="planted", language=self.language, **more)

    @property
    def query(self) -> str:
        """The request, with every value that no result gives."""
        return self.request.format(id=self.ids[0], amount=250, day="2031-04-05", level=self.levels[0])

    @property
    def looked(self) -> tuple[Any, ...]:
        """The right look-up."""
        return (self.look, {self.entity: self.ids[0]}, ok(self.found()))

    def wrote(self, outcome: CallOutcome | None = None, **changes: Any) -> tuple[Any, ...]:
        """The write, with changes."""
        return (self.write, self.args(**changes), outcome or ok({"done": True}))


_NOISE = [
    "alpha",
    "bravo",
    "charlie",
    "delta",
    "echo",
    "foxtrot",
    "golf",
    "hotel",
    "india",
    "juliet",
    "kilo",
    "lima",
    "mike",
    "november",
    "oscar",
    "papa",
    "quebec",
    "romeo",
    "sierra",
    "tango",
    "uniform",
    "victor",
    "whiskey",
    "xray",
    "yankee",
    "zulu",
    "amber",
    "basil",
    "cedar",
    "dahlia",
    "elder",
    "fennel",
    "ginger",
    "hazel",
    "iris",
    "jasmine",
    "kale",
    "laurel",
    "maple",
    "nettle",
    "olive",
    "pepper",
    "quince",
    "rosemary",
    "sage",
    "thyme",
]

DOMAINS = (
    Domain("en", "shop", "query_stock", "update_stock", "adjust_stock", "product_id", "warehouse_id",
           "Look up the stock of a product.", "Set the stock of a product to a new count.",
           "Change the stock of a product by a difference.", ("PDT-1001", "PDT-2002"), ("WH-SH-01", "WH-BJ-07"),
           ("high", "medium", "low"), "urgent", "Set {id} to {amount} pieces from {day}, priority {level}.",
           "I have updated the stock of the product.", "Have a nice day."),
    Domain("zh", "shop", "query_stock", "update_stock", "adjust_stock", "product_id", "warehouse_id",
           "查询商品当前库存。", "把商品库存设为新的数量。", "按差值调整商品库存。", ("PDT-1001", "PDT-2002"),
           ("WH-SH-01", "WH-BJ-07"), ("high", "medium", "low"), "紧急",
           "从 {day} 起把 {id} 设为 {amount} 件，优先级 {level}。", "已为您更新商品库存。", "祝您生活愉快。"),
    Domain("en", "", "get_order", "create_refund", "create_return", "order_no", "payment_ref",
           "Get an order with its payment.", "Create a refund for an order.", "Create a return for an order.",
           ("ORD77012", "ORD77555"), ("pay_8841x", "pay_1190k"), ("full", "partial", "credit"), "everything",
           "Refund {id}: {amount} cents on {day}, type {level}.", "I will create the refund for the order now.",
           "Is there anything else?"),
    Domain("zh", "", "get_order", "create_refund", "create_return", "order_no", "payment_ref",
           "查看订单及其支付信息。", "为订单创建退款。", "为订单创建退货。", ("ORD77012", "ORD77555"),
           ("pay_8841x", "pay_1190k"), ("full", "partial", "credit"), "全部",
           "订单 {id} 在 {day} 退款 {amount} 分，类型 {level}。", "我来为订单创建退款。", "很高兴认识您。"),
    Domain("en", "desk", "find_ticket", "assign_ticket", "assign_incident", "ticket_key", "agent_key",
           "Find a support ticket and its team.", "Assign a ticket to an agent.",
           "Assign an incident to an agent.", ("TCK-310", "TCK-911"), ("AGT-55", "AGT-78"),
           ("p1", "p2", "p3"), "critical", "Assign {id} for {amount} minutes on {day}, severity {level}.",
           "The ticket has been assigned to the agent.", "Hello there."),
    Domain("zh", "desk", "find_ticket", "assign_ticket", "assign_incident", "ticket_key", "agent_key",
           "查找工单及其处理组。", "把工单指派给客服。", "把故障指派给客服。", ("TCK-310", "TCK-911"),
           ("AGT-55", "AGT-78"), ("p1", "p2", "p3"), "严重", "{day} 把 {id} 指派 {amount} 分钟，级别 {level}。",
           "工单已经指派给客服。", "您好。"),
    Domain("en", "travel", "read_booking", "change_booking", "change_seat", "booking_code", "flight_no",
           "Read a booking.", "Change the flight of a booking.", "Change the seat of a booking.",
           ("HXDUBJ", "ZFA04Y"), ("HAT136", "HAT039"), ("economy", "business", "first"), "cheap",
           "Move {id} by {amount} minutes to {day} in {level}.", "Let me change the booking for you.",
           "Safe travels!"),
    Domain("zh", "travel", "read_booking", "change_booking", "change_seat", "booking_code", "flight_no",
           "查看预订。", "更改预订的航班。", "更改预订的座位。", ("HXDUBJ", "ZFA04Y"), ("HAT136", "HAT039"),
           ("economy", "business", "first"), "便宜舱", "把 {id} 改到 {day}，顺延 {amount} 分钟，舱位 {level}。",
           "正在为您更改预订的航班。", "旅途愉快。"),
)  # fmt: skip


@dataclass(frozen=True)
class Planted:
    """An attempt with one planted trouble: the decision at `step` is lost for `cause`."""

    cause: str
    domain: Domain
    task: Task
    trace: Trace
    catalog: Catalog
    step: int = 1
    extra: bool = False


Planter = Callable[[Domain], Planted]
PLANTERS: dict[str, list[Planter]] = {}


def plants(cause: str) -> Callable[[Planter], Planter]:
    """Register a planter of that cause."""

    def register(planter: Planter) -> Planter:
        PLANTERS.setdefault(cause, []).append(planter)
        return planter

    return register


def made(cause: str, domain: Domain, *messages: Any, tools: int = 0, step: int = 1, extra: bool = False,
         wanted: Task | None = None, **more: Any) -> Planted:  # fmt: skip
    c = catalog(*domain.tools(tools))
    wanted = wanted or domain.task()
    more.setdefault("exposure", Exposure(offered=tuple(item.key for item in c.tools)))
    attempt = trace(*messages, task_id="planted", query=domain.query, **more)
    return Planted(cause, domain, wanted, attempt, c, step, extra)


def all_planted() -> Iterator[Planted]:
    """Every planter in every domain."""
    for planters in PLANTERS.values():
        for planter in planters:
            for domain in DOMAINS:
                yield planter(domain)


def key(domain: Domain, name: str) -> str:
    return f"{domain.server}/{name}" if domain.server else name


@plants("rate_limited")
def rate_limited(domain: Domain) -> Planted:
    refused = domain.wrote(failed("rate_limited", retry_after=2.0))
    return made("rate_limited", domain, domain.looked, refused, refused)


@plants("timed_out")
def timed_out(domain: Domain) -> Planted:
    outcome = CallOutcome(status="unknown", error_kind="timeout", latency_ms=30000.0)
    return made("timed_out", domain, domain.looked, domain.wrote(outcome))


@plants("tool_failed")
def tool_failed(domain: Domain) -> Planted:
    return made("tool_failed", domain, domain.looked, domain.wrote(failed("tool_error")))


@plants("empty_result")
def empty_result(domain: Domain) -> Planted:
    nothing = (domain.look, {domain.entity: domain.ids[0]}, CallOutcome(status="ok", value=[], text="[]"))
    return made("empty_result", domain, nothing, step=0)


@plants("cascaded")
def cascaded(domain: Domain) -> Planted:
    lost = (domain.look, {domain.entity: domain.ids[0]}, failed("tool_error"))
    return made("cascaded", domain, lost, domain.wrote(state="UNKNOWN-0"))


@plants("cascaded")
def cascaded_by_literal(domain: Domain) -> Planted:
    wanted = task(
        path(
            gold(domain.look, {domain.entity: domain.ids[0]}, id="look", result=domain.found()),
            gold(domain.write, domain.args(), id="act"),
        ),
        query=domain.query,
        task_id="planted",
    )
    lost = (domain.look, {domain.entity: domain.ids[1]}, failed("not_found"))
    return made("cascaded", domain, lost, domain.nothing, wanted=wanted)


@plants("unavailable")
def unavailable(domain: Domain) -> Planted:
    c = catalog(*(item for item in domain.tools() if item.name != domain.write))
    attempt = trace(domain.looked, domain.nothing, task_id="planted", query=domain.query,
                    exposure=Exposure(offered=tuple(item.key for item in c.tools)))  # fmt: skip
    return Planted("unavailable", domain, domain.task(), attempt, c)


@plants("unavailable")
def quarantined(domain: Domain) -> Planted:
    shown = Exposure(offered=(key(domain, domain.look),), hidden={key(domain, domain.write): "unavailable"})
    return made("unavailable", domain, domain.looked, domain.nothing, exposure=shown)


@plants("not_offered")
def not_offered(domain: Domain) -> Planted:
    shown = Exposure(mode="names", offered=(key(domain, domain.look), key(domain, domain.rival)))
    rival = (domain.rival, domain.args(), ok())
    return made("not_offered", domain, domain.looked, rival, exposure=shown)


@plants("not_recalled")
def not_recalled(domain: Domain) -> Planted:
    shown = Exposure(mode="reach", offered=(key(domain, domain.look),))
    step = Step(
        index=1,
        text=domain.nothing,
        offered=(key(domain, domain.look), key(domain, "send_newsletter")),
        candidates=(CandidateScore(tool=key(domain, domain.look), score=0.7),),
    )
    return made("not_recalled", domain, domain.looked, step, exposure=shown)


@plants("permission_denied")
def permission_hidden(domain: Domain) -> Planted:
    shown = Exposure(offered=(key(domain, domain.look),), hidden={key(domain, domain.write): "permission"})
    return made("permission_denied", domain, domain.looked, domain.nothing, exposure=shown,
                permissions_missing={key(domain, domain.write): ("stock:write",)})  # fmt: skip


@plants("permission_denied")
def permission_refused(domain: Domain) -> Planted:
    return made("permission_denied", domain, domain.looked, domain.wrote(failed("permission")))


def with_manual(domain: Domain) -> Task:
    """The state value stands in a passage instead of a result."""
    wanted = path(
        gold(domain.look, {domain.entity: domain.ids[0]}, id="look"),
        gold(domain.write, domain.args(), id="act"),
    )
    block = ContextBlock(id="manual", kind="retrieval", text=f"{domain.entity}: use {domain.states[0]} here.")
    return task(wanted, query=domain.query, task_id="planted", context=(block,))


@plants("out_of_window")
def out_of_window(domain: Domain) -> Planted:
    wanted = with_manual(domain)
    looked = (domain.look, {domain.entity: domain.ids[0]}, ok({"found": True}))
    dropped = DroppedBlock(block_id="manual", kind="retrieval", reason="token_budget", tokens=40)
    return made("out_of_window", domain, looked, domain.wrote(state="X-0"), wanted=wanted, dropped=(dropped,))


@plants("out_of_window")
def result_cut(domain: Domain) -> Planted:
    block = ContextBlock(id="result:c0", kind="tool_result", call_id="c0", from_step=0,
                         text="x" * 200 + f" {domain.states[0]}")  # fmt: skip
    dropped = DroppedBlock(block_id="result:c0", kind="tool_result", reason="cut", kept_characters=100)
    return made("out_of_window", domain, domain.looked, domain.wrote(state="X-0"), blocks=(block,),
                dropped=(dropped,))  # fmt: skip


@plants("description_truncated")
def description_truncated(domain: Domain) -> Planted:
    shown = Exposure(
        offered=tuple(key(domain, name) for name in (domain.look, domain.write, domain.rival)),
        cut_descriptions={key(domain, domain.write): 4},
    )
    return made(
        "description_truncated", domain, domain.looked, (domain.rival, domain.args(), ok()), exposure=shown
    )


@plants("unparsable_call")
def unparsable_call(domain: Domain) -> Planted:
    raw = f'{{"name": "{domain.write}", "arguments": {{"{domain.entity}": "{domain.ids[0]}"'
    step = Step(index=1, raw=raw, problems=(ArgumentProblem(code="truncated", message="ends early"),))
    return made("unparsable_call", domain, domain.looked, step)


@plants("unparsable_call")
def unparsable_arguments(domain: Domain) -> Planted:
    call = Call(call_id="c9", name=domain.write, arguments=None, raw_arguments="{'a':", outcome=failed("argument"),
                problems=(ArgumentProblem(code="unparsable"),))  # fmt: skip
    return made("unparsable_call", domain, domain.looked, Step(index=1, calls=(call,)))


@plants("name_hallucinated")
def name_hallucinated(domain: Domain) -> Planted:
    return made(
        "name_hallucinated",
        domain,
        domain.looked,
        (f"{domain.write}_now", domain.args(), failed("not_found")),
    )


@plants("talked_not_called")
def talked(domain: Domain) -> Planted:
    return made("talked_not_called", domain, domain.looked, domain.claim)


@plants("talked_not_called")
def named_in_text(domain: Domain) -> Planted:
    said = f"{domain.write}({domain.ids[0]})"
    return made("talked_not_called", domain, domain.looked, said, text=said)


@plants("rival_chosen")
def rival_chosen(domain: Domain) -> Planted:
    return made("rival_chosen", domain, domain.looked, (domain.rival, domain.args(), ok()))


@plants("rival_chosen")
def rival_first(domain: Domain) -> Planted:
    return made("rival_chosen", domain, domain.looked, (domain.rival, domain.args(), ok()), domain.wrote())


@plants("context_overload")
def context_overload(domain: Domain) -> Planted:
    text = (
        "Notes on storage of other goods, long and of no use here. "
        if domain.language == "en"
        else "其他说明，与此无关。"
    )
    blocks = tuple(
        ContextBlock(id=f"doc{number}", kind="retrieval", partition="manual", text=text * 8)
        for number in range(10)
    )
    return made("context_overload", domain, domain.looked, domain.nothing, blocks=blocks)


@plants("context_overload")
def heavy_context(domain: Domain) -> Planted:
    text = (
        "lorem ipsum dolor sit amet " * 1200
        if domain.language == "en"
        else "这是一段与任务无关的很长的说明" * 700
    )
    block = ContextBlock(id="log", kind="history", text=text)
    return made(
        "context_overload", domain, domain.looked, ("send_newsletter", {"topic": "x"}), blocks=(block,)
    )


@plants("crowded_out")
def crowded_out(domain: Domain) -> Planted:
    return made("crowded_out", domain, domain.looked, ("bravo_1", {"topic": "x"}), tools=44)


@plants("crowded_out")
def not_found_in_list(domain: Domain) -> Planted:
    said = "There is no suitable tool for that." if domain.language == "en" else "抱歉，没有可用的工具。"
    return made("crowded_out", domain, domain.looked, said, tools=44)


@plants("no_call")
def no_call(domain: Domain) -> Planted:
    return made("no_call", domain, domain.looked, domain.nothing)


@plants("no_call")
def silent(domain: Domain) -> Planted:
    return made("no_call", domain, "", step=0)


@plants("over_called")
def forbidden_call(domain: Domain) -> Planted:
    return made("over_called", domain, domain.looked, domain.wrote(), ("send_newsletter", {"topic": "x"}),
                wanted=domain.task(forbid=("send_newsletter",)), extra=True)  # fmt: skip


@plants("over_called")
def call_in_forbid_task(domain: Domain) -> Planted:
    wanted = task(kind="forbid", query=domain.query, task_id="planted")
    return made("over_called", domain, domain.looked, wanted=wanted, extra=True)


@plants("over_called")
def write_on_the_way(domain: Domain) -> Planted:
    return made(
        "over_called", domain, domain.looked, ("send_newsletter", {"topic": "x"}, ok()), domain.wrote()
    )


@plants("loop")
def loop(domain: Domain) -> Planted:
    return made("loop", domain, *([domain.looked] * 5), domain.nothing)


@plants("wrong_order")
def wrong_order(domain: Domain) -> Planted:
    return made("wrong_order", domain, domain.wrote(), domain.looked)


@plants("missing_required")
def missing_required(domain: Domain) -> Planted:
    return made("missing_required", domain, domain.looked, domain.wrote(amount=...))


@plants("unknown_argument")
def unknown_argument(domain: Domain) -> Planted:
    return made("unknown_argument", domain, domain.looked, domain.wrote(comment="x"))


@plants("wrong_type")
def wrong_type(domain: Domain) -> Planted:
    return made("wrong_type", domain, domain.looked, domain.wrote(amount="250"))


@plants("wrong_format")
def wrong_format(domain: Domain) -> Planted:
    day = "April 5, 2031" if domain.language == "en" else "2031年4月5日"
    return made("wrong_format", domain, domain.looked, domain.wrote(day=day))


@plants("wrong_format")
def separators_lost(domain: Domain) -> Planted:
    bare = domain.ids[0].replace("-", "") if "-" in domain.ids[0] else domain.ids[0].lower()
    return made("wrong_format", domain, domain.looked, domain.wrote(entity=bare))


@plants("enum_synonym")
def enum_synonym(domain: Domain) -> Planted:
    return made("enum_synonym", domain, domain.looked, domain.wrote(level=domain.synonym))


@plants("state_lost")
def state_lost(domain: Domain) -> Planted:
    value = "default" if domain.language == "en" else "默认"
    return made("state_lost", domain, domain.looked, domain.wrote(state=value))


@plants("wrong_entity")
def wrong_entity(domain: Domain) -> Planted:
    return made("wrong_entity", domain, domain.looked, domain.wrote(state=domain.states[1]))


@plants("wrong_entity")
def other_id(domain: Domain) -> Planted:
    return made("wrong_entity", domain, domain.looked, domain.wrote(entity=domain.ids[1]))


@plants("wrong_value")
def wrong_value(domain: Domain) -> Planted:
    return made("wrong_value", domain, domain.looked, domain.wrote(amount=25))


@plants("wrong_value")
def wrong_level(domain: Domain) -> Planted:
    return made("wrong_value", domain, domain.looked, domain.wrote(level=domain.levels[2]))
