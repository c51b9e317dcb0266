"""A hand-made run of eight tasks in both languages that holds something of everything a report can say."""

from __future__ import annotations

from typing import Any

from agent_reach.records.context import ContextBlock, DroppedBlock, StateSlot
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.report import (
    CatalogInfo,
    CauseSummary,
    Confusion,
    GroupFigures,
    Report,
    RunInfo,
    SimilarPair,
    ToolSummary,
)
from agent_reach.records.score import (
    ArgumentScore,
    AttemptScore,
    BlockUse,
    Cause,
    Decision,
    ExtraCall,
    Interval,
    Metric,
    Provenance,
    TaskScore,
)
from agent_reach.records.trace import (
    ArgumentChange,
    ArgumentProblem,
    Call,
    CallOutcome,
    CandidateScore,
    Exposure,
    Step,
    Trace,
)

TOOLS = (
    "stock/query_stock",
    "stock/update_stock",
    "stock/adjust_inventory",
    "stock/transfer_stock",
    "orders/create_order",
    "orders/get_order",
    "orders/cancel_order",
    "orders/refund_order",
    "crm/find_customer",
    "crm/list_coupons",
    "docs/search_manual",
    "reports/sales_report",
)
BIG_ID = 612345678901234567

RIVAL_FIX = Message(
    "Say in the description of `update_stock` that it sets the quantity, and in that of `adjust_inventory` that it adds "
    "a difference.",
    "在 `update_stock` 的描述里写明“设置为”，在 `adjust_inventory` 里写明“增减”。",
)
FORMAT_FIX = Message(
    "State the date format in the schema: `format: date` and an example.",
    "在模式中写明日期格式：`format: date`，并给出示例。",
)
WINDOW_FIX = Message("Keep the order number as a state slot.", "把订单号保存为状态槽。")
OVER_FIX = Message("Say when `refund_order` must not be called.", "写明何时不得调用 `refund_order`。")


def metric(
    good: float, total: float, low: float | None = None, high: float | None = None, method: str = "bootstrap"
) -> Metric:
    """A metric from its parts."""
    interval = None if low is None or high is None else Interval(low=low, high=high, method=method)
    if not total:
        return Metric(value=None, reason="no such decision")
    return Metric(value=good / total, numerator=good, denominator=total, interval=interval)


def step(index: int, text: str = "", raw: str = "", *calls: Call, **more: Any) -> Step:
    """A model step."""
    return Step(index=index, text=text, raw=raw or text, calls=calls, latency_ms=812.0, **more)


def call(call_id: str, name: str, arguments: Any, outcome: CallOutcome | None = None, **more: Any) -> Call:
    """A call whose tool is the key that ends in its name, if there is one."""
    key = next((key for key in TOOLS if key.split("/")[-1] == name), None)
    return Call(call_id=call_id, name=name, tool=key, arguments=arguments, outcome=outcome, **more)


def ok(value: Any, text: str, latency_ms: float = 41.0) -> CallOutcome:
    """A call that worked."""
    return CallOutcome(status="ok", value=value, text=text, latency_ms=latency_ms)


def _restock() -> TaskScore:
    """Chinese; two decisions, the second lost to a look-alike."""
    blocks = (
        ContextBlock(
            id="request", kind="instruction", text="上海仓的 PDT-1001 补到 50 件", facts=("PDT-1001",)
        ),
        ContextBlock(
            id="rag_doc_2",
            kind="retrieval",
            partition="manual",
            text="仓库编码：上海仓为 WH-SH-01，北京仓为 WH-BJ-01。调整库存前请先查询。",
            facts=("WH-SH-01",),
            score=0.82,
        ),
        ContextBlock(
            id="rag_doc_5",
            kind="retrieval",
            partition="faq",
            text="退货须在 30 天内办理，凭单号 RT-88231。",
            score=0.31,
        ),
        ContextBlock(
            id="res_c1",
            kind="tool_result",
            call_id="c1",
            from_step=0,
            text='{"product_id": "PDT-1001", "warehouse_id": "WH-SH-01", "quantity": 12}',
        ),
    )
    look = call(
        "c1",
        "query_stock",
        {"product_id": "PDT-1001"},
        ok({"product_id": "PDT-1001", "warehouse_id": "WH-SH-01", "quantity": 12}, blocks[3].text),
    )
    wrong = call(
        "c2",
        "adjust_inventory",
        {"product_id": "PDT-1001", "delta": 50, "warehouse_id": "WH-SH-01"},
        ok({"quantity": 62}, '{"quantity": 62}'),
    )
    trace = Trace(
        trace_id="t-restock",
        task_id="restock-001",
        query="上海仓的 PDT-1001 补到 50 件",
        agent="chat",
        model="small-model-0.5b",
        exposure=Exposure(offered=TOOLS, tokens=1840, cut_descriptions={"stock/adjust_inventory": 120}),
        steps=(
            step(
                0,
                "先查询当前库存。",
                '{"tool": "query_stock", "arguments": {"product_id": "PDT-1001"}}',
                look,
            ),
            step(1, "现在补货。", '{"tool": "adjust_inventory", "arguments": {"delta": 50}}', wrong),
            step(2, "已为上海仓补货 50 件。", "已为上海仓补货 50 件。"),
        ),
        blocks=blocks,
        dropped=(DroppedBlock(block_id="rag_doc_9", kind="retrieval", reason="max_passages", tokens=210),),
        state_slots=(
            StateSlot(name="warehouse", source="query_stock.warehouse_id", value="WH-SH-01", filled=True),
        ),
        final_text="已为上海仓补货 50 件。",
    )
    right = Decision(
        task_id="restock-001",
        attempt=0,
        step=0,
        golden_id="look",
        expected_tool="stock/query_stock",
        expected_arguments={"product_id": "PDT-1001"},
        verdict="right",
        selected_tool="stock/query_stock",
        call_id="c1",
        trace_step=0,
        model_raw=trace.steps[0].raw,
        arguments={"product_id": "PDT-1001"},
        tool_right=True,
        first_choice=True,
        argument_scores=(
            ArgumentScore(
                name="product_id", verdict="right", required=True, expected="PDT-1001", actual="PDT-1001"
            ),
        ),
        required_right=1,
        required_total=1,
        legal_emitted=True,
        decision_success=True,
        call_success=True,
        outcome=look.outcome,
        context_blocks=("request", "rag_doc_2", "rag_doc_5"),
        used_blocks=("request",),
    )
    lost = Decision(
        task_id="restock-001",
        attempt=0,
        step=1,
        golden_id="set",
        expected_tool="stock/update_stock",
        expected_arguments={
            "product_id": "PDT-1001",
            "quantity": 50,
            "warehouse_id": {"$from": "look.warehouse_id"},
        },
        optional_arguments={"remark": {"$any": True}},
        verdict="wrong",
        selected_tool="stock/adjust_inventory",
        call_id="c2",
        trace_step=1,
        model_raw=trace.steps[1].raw,
        arguments=wrong.arguments,
        context_blocks=("request", "rag_doc_2", "rag_doc_5", "res_c1"),
        used_blocks=("request", "res_c1"),
        outcome=wrong.outcome,
        error="rival_chosen",
        cause=Cause(
            name="rival_chosen",
            layer="understanding",
            blame="model",
            evidence=Message(
                "Both tools were offered; `adjust_inventory` looks like `update_stock` (0.81).",
                "两个工具都已提供；`adjust_inventory` 与 `update_stock` 相似（0.81）。",
            ),
            fix=RIVAL_FIX,
        ),
        also=(
            Cause(
                name="description_truncated",
                layer="discovery",
                evidence=Message("120 of 412 characters were shown.", "412 个字符只显示了 120 个。"),
                fix=Message("Shorten the description.", "缩短描述。"),
            ),
        ),
    )
    attempt = AttemptScore(
        index=0,
        share=0.5,
        passed=False,
        path_index=0,
        decisions=(right, lost),
        extra_calls=(
            ExtraCall(
                call_id="c2",
                name="adjust_inventory",
                tool="stock/adjust_inventory",
                kind="forbidden",
                trace_step=1,
            ),
        ),
        over_called=True,
        called=True,
        blocks=(
            BlockUse(
                block_id="request", kind="instruction", state="used", fact="PDT-1001", place="c1/product_id"
            ),
            BlockUse(
                block_id="rag_doc_2",
                kind="retrieval",
                partition="manual",
                state="used",
                fact="WH-SH-01",
                place="c2/warehouse_id",
            ),
            BlockUse(
                block_id="rag_doc_5", kind="retrieval", partition="faq", state="unused", fact="RT-88231"
            ),
            BlockUse(block_id="res_c1", kind="tool_result", state="not_identifiable"),
        ),
        provenance=(
            Provenance(call_id="c1", pointer="/product_id", value="PDT-1001", blocks=("request",)),
            Provenance(call_id="c2", pointer="/product_id", value="PDT-1001", blocks=("request", "res_c1")),
            Provenance(call_id="c2", pointer="/delta", value=50, blocks=("request",)),
            Provenance(
                call_id="c2", pointer="/warehouse_id", value="WH-SH-01", blocks=("rag_doc_2", "res_c1")
            ),
        ),
        slots_filled=1,
        slots_used=1,
        legality_emitted=(2, 2),
        executed=(2, 2),
        duration_ms=2430.0,
        trace=trace,
    )
    return TaskScore(
        task_id="restock-001",
        kind="must",
        query="上海仓的 PDT-1001 补到 50 件",
        tags=("confusable", "zh"),
        language="zh",
        content_hash="sha256:aa",
        attempts=(attempt,),
        has_forbid=True,
    )


def _sales_report() -> TaskScore:
    """English; the right tool with a date in the wrong format, a normaliser that mended another argument; two attempts."""

    def attempt(index: int, start: str, good: bool) -> AttemptScore:
        emitted = {"start": start, "end": "2024-03-31", "region": "north", "limit": "10"}
        sent = {**emitted, "limit": 10}
        outcome = (
            ok({"total": 1234.5}, '{"total": 1234.5}')
            if good
            else CallOutcome(
                status="failed",
                error_kind="argument",
                message="start: not a date: '03/01/2024'",
                latency_ms=12.0,
            )
        )
        made = call(
            "c1",
            "sales_report",
            emitted,
            outcome,
            sent_arguments=sent,
            changes=(
                ArgumentChange(
                    rule="number_from_text", pointer="/limit", before="10", after=10, source="schema"
                ),
            ),
            problems=()
            if good
            else (
                ArgumentProblem(
                    code="wrong_format", pointer="/start", message="expected YYYY-MM-DD", actual=start
                ),
            ),
        )
        block = ContextBlock(
            id="request",
            kind="instruction",
            text="Sales of the north region for March 2024, top 10 <script>alert(1)</script>",
        )
        trace = Trace(
            trace_id=f"t-sales-{index}",
            task_id="sales-001",
            attempt=index,
            query=block.text,
            exposure=Exposure(
                mode="reach",
                offered=TOOLS[-4:],
                tokens=610,
                hidden={"orders/create_order": "not_recalled", "stock/transfer_stock": "permission"},
            ),
            steps=(
                step(
                    0,
                    "",
                    '<tool_call>{"name": "sales_report"}</tool_call>',
                    made,
                    candidates=(
                        CandidateScore(tool="reports/sales_report", score=0.91, why="name: sales, report"),
                        CandidateScore(tool="crm/list_coupons", score=0.2, why="tag: list"),
                    ),
                ),
                step(1, "Here are the sales."),
            ),
            blocks=(block,),
            final_text="Here are the sales.",
        )
        scores = (
            ArgumentScore(
                name="start",
                verdict="right" if good else "wrong",
                required=True,
                expected={"$date": "2024-03-01"},
                actual=start,
                reason="" if good else "not the date 2024-03-01",
            ),
            ArgumentScore(
                name="end", verdict="right", required=True, expected="2024-03-31", actual="2024-03-31"
            ),
            ArgumentScore(name="region", verdict="legal", required=False, actual="north"),
            ArgumentScore(name="currency", verdict="unused", expected="EUR"),
            ArgumentScore(name="limit", verdict="right", expected=10, actual="10", matched="normalised"),
        )
        decision = Decision(
            task_id="sales-001",
            attempt=index,
            step=0,
            golden_id="report",
            expected_tool="reports/sales_report",
            expected_arguments={"start": {"$date": "2024-03-01"}, "end": "2024-03-31"},
            optional_arguments={"currency": "EUR", "limit": 10},
            verdict="right" if good else "deviation",
            selected_tool="reports/sales_report",
            call_id="c1",
            trace_step=0,
            model_raw=trace.steps[0].raw,
            arguments=emitted,
            sent_arguments=sent,
            tool_right=True,
            first_choice=True,
            argument_scores=scores,
            required_right=2 if good else 1,
            required_total=2,
            optional_hit=1,
            optional_used=1,
            optional_expected=2,
            legal_emitted=good,
            legal_sent=good,
            decision_success=good,
            call_success=good,
            outcome=outcome,
            error="" if good else "wrong_format",
            context_blocks=("request",),
            used_blocks=("request",),
            cause=None
            if good
            else Cause(
                name="wrong_format",
                layer="execution",
                blame="tool",
                proof="proved",
                evidence=Message(
                    "`start` was '03/01/2024'; the schema states no format.",
                    "`start` 的值是 '03/01/2024'；模式没有写明格式。",
                ),
                fix=FORMAT_FIX,
            ),
        )
        return AttemptScore(
            index=index,
            share=1.0 if good else 0.0,
            passed=good,
            path_index=0,
            decisions=(decision,),
            called=True,
            blocks=(
                BlockUse(
                    block_id="request", kind="instruction", state="used", fact="north", place="c1/region"
                ),
            ),
            provenance=(
                Provenance(call_id="c1", pointer="/region", value="north", blocks=("request",)),
                Provenance(call_id="c1", pointer="/start", value=start),
            ),
            legality_emitted=(1 if good else 0, 1),
            executed=(1 if good else 0, 1),
            duration_ms=900.0,
            trace=trace,
        )

    return TaskScore(
        task_id="sales-001",
        kind="must",
        query="Sales of the north region for March 2024, top 10 <script>alert(1)</script>",
        tags=("date", "en"),
        language="en",
        content_hash="sha256:bb",
        attempts=(attempt(0, "03/01/2024", False), attempt(1, "2024-03-01", True)),
        pass_hat={"1": 0.5, "2": 0.0},
        flaky=True,
    )


def _cancel_order() -> TaskScore:
    """English; an invented name, then nothing: the order number fell out of the window; a second decision cascaded."""
    invented = Call(
        call_id="c1",
        name="cancelOrderById",
        arguments={"id": BIG_ID},
        outcome=CallOutcome(
            status="failed",
            error_kind="not_found",
            message="no tool is named 'cancelOrderById'",
            reached_backend=False,
        ),
    )
    trace = Trace(
        trace_id="t-cancel",
        task_id="cancel-001",
        query="Cancel the order we talked about & tell me the refund",
        exposure=Exposure(offered=TOOLS, tokens=1840),
        steps=(
            step(0, "", "", invented),
            Step(index=1, kind="user", text="Please do it now."),
            step(2, "I would cancel the order for you."),
        ),
        blocks=(
            ContextBlock(
                id="request", kind="instruction", text="Cancel the order we talked about & tell me the refund"
            ),
            ContextBlock(
                id="history_1",
                kind="history",
                text=f"My order is {BIG_ID}. " + "Small talk about the weather. " * 40,
            ),
        ),
        dropped=(
            DroppedBlock(
                block_id="history_1", kind="history", reason="out_of_window", from_step=2, tokens=320
            ),
        ),
        final_text="I would cancel the order for you.",
    )
    lost = Decision(
        task_id="cancel-001",
        attempt=0,
        step=0,
        golden_id="cancel",
        expected_tool="orders/cancel_order",
        expected_arguments={"order_id": BIG_ID},
        selected_tool=None,
        error="out_of_window",
        model_raw="I would cancel the order for you.",
        context_blocks=("request", "history_1"),
        cause=Cause(
            name="out_of_window",
            layer="retention",
            blame="reach_layer",
            evidence=Message(
                f"The block with {BIG_ID} was gone from step 2 on.", f"含有 {BIG_ID} 的块从第 2 步起消失。"
            ),
            fix=WINDOW_FIX,
        ),
        also=(
            Cause(
                name="talked_not_called",
                layer="understanding",
                evidence=Message("It said so instead.", "只说不调。"),
                fix=Message("Ask for the call.", "要求调用。"),
            ),
        ),
    )
    cascaded = Decision(
        task_id="cancel-001",
        attempt=0,
        step=1,
        golden_id="refund",
        expected_tool="orders/get_order",
        expected_arguments={"order_id": {"$from": "cancel.order_id"}},
        error="cascaded",
        cause=Cause(
            name="cascaded",
            layer="understanding",
            step="cancel",
            evidence=Message("Step `cancel` gave no result.", "步骤 `cancel` 没有结果。"),
            fix=WINDOW_FIX,
        ),
        context_blocks=("request",),
    )
    attempt = AttemptScore(
        index=0,
        share=0.0,
        passed=False,
        path_index=0,
        decisions=(lost, cascaded),
        called=True,
        extra_calls=(
            ExtraCall(call_id="c1", name="cancelOrderById", tool=None, kind="hallucinated", trace_step=0),
        ),
        blocks=(
            BlockUse(block_id="request", kind="instruction", state="not_identifiable"),
            BlockUse(block_id="history_1", kind="history", state="unused", fact=str(BIG_ID)),
        ),
        legality_emitted=(0, 0),
        executed=(0, 0),
        duration_ms=1500.0,
        trace=trace,
    )
    return TaskScore(
        task_id="cancel-001",
        kind="must",
        query=trace.query,
        tags=("multi_turn",),
        language="en",
        attempts=(attempt,),
    )


def _order() -> TaskScore:
    """Chinese; the right decision, then the rate limit of the supplier: lost to infrastructure after a right decision."""
    made = call(
        "c1",
        "create_order",
        {"customer_id": "C-2031", "items": [{"sku": "PDT-1001", "quantity": 3}]},
        CallOutcome(
            status="failed",
            error_kind="rate_limited",
            message="429",
            retry_after=30.0,
            attempts=3,
            latency_ms=61_000.0,
        ),
    )
    trace = Trace(
        trace_id="t-order",
        task_id="order-001",
        query="给客户 C-2031 下单 3 件 PDT-1001",
        steps=(step(0, "好的", "", made),),
        blocks=(ContextBlock(id="request", kind="instruction", text="给客户 C-2031 下单 3 件 PDT-1001"),),
        exposure=Exposure(offered=TOOLS, tokens=1840),
    )
    decision = Decision(
        task_id="order-001",
        attempt=0,
        step=0,
        golden_id="order",
        expected_tool="orders/create_order",
        expected_arguments={"customer_id": "C-2031", "items": [{"sku": "PDT-1001", "quantity": 3}]},
        verdict="right",
        selected_tool="orders/create_order",
        call_id="c1",
        trace_step=0,
        arguments=made.arguments,
        tool_right=True,
        first_choice=True,
        required_right=2,
        required_total=2,
        legal_emitted=True,
        decision_success=True,
        call_success=False,
        outcome=made.outcome,
        error="rate_limited",
        context_blocks=("request",),
        used_blocks=("request",),
        cause=Cause(
            name="rate_limited",
            layer="infrastructure",
            evidence=Message("Three tries, all refused with 429.", "三次尝试都被 429 拒绝。"),
            fix=Message("Wait for Retry-After.", "按 Retry-After 等待。"),
        ),
    )
    attempt = AttemptScore(
        index=0,
        share=1.0,
        passed=True,
        decisions=(decision,),
        called=True,
        legality_emitted=(1, 1),
        executed=(0, 1),
        duration_ms=61_900.0,
        trace=trace,
        blocks=(
            BlockUse(
                block_id="request", kind="instruction", state="used", fact="C-2031", place="c1/customer_id"
            ),
        ),
    )
    return TaskScore(
        task_id="order-001", kind="must", query=trace.query, tags=("zh",), language="zh", attempts=(attempt,)
    )


def _forbidden_refund() -> TaskScore:
    """English; a question that must not lead to a call, and did."""
    made = call("c1", "refund_order", {"order_id": "SO-77"}, ok({"refunded": True}, '{"refunded": true}'))
    trace = Trace(
        trace_id="t-ask",
        task_id="ask-001",
        query="What is your refund policy?",
        steps=(step(0, "", '{"tool": "refund_order"}', made),),
        exposure=Exposure(offered=TOOLS, tokens=1840),
        blocks=(ContextBlock(id="request", kind="instruction", text="What is your refund policy?"),),
    )
    attempt = AttemptScore(
        index=0,
        passed=False,
        over_called=True,
        called=True,
        extra_calls=(
            ExtraCall(
                call_id="c1",
                name="refund_order",
                tool="orders/refund_order",
                kind="over_call",
                trace_step=0,
                cause=Cause(
                    name="over_called",
                    layer="understanding",
                    blame="model",
                    evidence=Message("The task allows no call.", "该任务不允许任何调用。"),
                    fix=OVER_FIX,
                ),
            ),
        ),
        executed=(1, 1),
        legality_emitted=(1, 1),
        duration_ms=700.0,
        trace=trace,
    )
    return TaskScore(
        task_id="ask-001",
        kind="forbid",
        query=trace.query,
        tags=("en",),
        language="en",
        attempts=(attempt,),
        has_forbid=True,
    )


def _others() -> tuple[TaskScore, ...]:
    """A task lost to infrastructure, one that was not evaluated, one that passed."""
    return (
        TaskScore(
            task_id="infra-001",
            kind="must",
            query="Where is my parcel?",
            language="en",
            attempts=(
                AttemptScore(index=0, state="infra_error", error="model endpoint: connection refused"),
            ),
        ),
        TaskScore(
            task_id="nogold-001",
            kind="must",
            query="Help me",
            language="en",
            state="not_evaluated",
            reason="a task of kind must without a path",
        ),
        TaskScore(
            task_id="smalltalk-001",
            kind="may",
            query="你好",
            tags=("zh",),
            language="zh",
            attempts=(AttemptScore(index=0, passed=True, duration_ms=300.0),),
        ),
    )


def sample_tasks() -> tuple[TaskScore, ...]:
    """The eight tasks."""
    return (
        _restock(),
        _sales_report(),
        _cancel_order(),
        _order(),
        _forbidden_refund(),
        *_others(),
    )


def _metrics() -> dict[str, Metric]:
    return {
        "tool_reachability": metric(4, 7, 0.286, 0.857),
        "first_choice_rate": metric(4, 7, 0.286, 0.857),
        "param_hit_rate": metric(3.65, 4, 0.74, 1.0),
        "param_pass_rate": metric(3, 4, 0.3, 0.954),
        "param_legality": metric(5, 6, 0.436, 0.97, "wilson"),
        "param_legality_sent": metric(5, 6, 0.436, 0.97, "wilson"),
        "optional_unused_rate": metric(2, 4, 0.15, 0.85),
        "context_utilization": metric(5, 7, 0.359, 0.918),
        "state_slot_use": metric(1, 1),
        "over_call_rate": metric(2, 2, 0.342, 1.0, "wilson"),
        "may_call_rate": metric(0, 1, 0.0, 0.793, "wilson"),
        "extra_calls": metric(1, 7, 0.0, 0.4),
        "decision_success": metric(3, 7, 0.158, 0.75),
        "execution_success": metric(4, 6, 0.3, 0.903),
        "call_success": metric(2, 7, 0.082, 0.641),
    }


def _tools() -> tuple[ToolSummary, ...]:
    figures = {
        "stock/query_stock": (1, 1, 1, 1, 0, 0, 1, 1),
        "stock/update_stock": (1, 0, 0, 0, 0, 0, 0, 0),
        "stock/adjust_inventory": (0, 0, 0, 1, 1, 1, 1, 1),
        "orders/create_order": (1, 1, 1, 1, 0, 0, 1, 0),
        "orders/cancel_order": (1, 0, 0, 0, 0, 0, 0, 0),
        "orders/get_order": (1, 0, 0, 0, 0, 0, 0, 0),
        "orders/refund_order": (0, 0, 0, 1, 1, 0, 1, 1),
        "reports/sales_report": (2, 2, 2, 2, 0, 0, 2, 1),
    }
    names = (
        "required",
        "reached",
        "first_choice",
        "called",
        "over_called",
        "instead_of",
        "executed",
        "executed_ok",
    )
    made = []
    for index, tool in enumerate(TOOLS):
        values = dict(zip(names, figures.get(tool, (0,) * 8), strict=True))
        hit = {"stock/query_stock": 1.0, "orders/create_order": 1.0, "reports/sales_report": 0.825}.get(tool)
        causes = {
            "stock/update_stock": {"rival_chosen": 1},
            "reports/sales_report": {"wrong_format": 1},
            "orders/cancel_order": {"out_of_window": 1},
        }.get(tool, {})
        made.append(
            ToolSummary(tool=tool, param_hit_rate=hit, tokens=90 + 17 * index, causes=causes, **values)
        )
    return tuple(made)


def sample_report(tasks: tuple[TaskScore, ...] | None = None) -> Report:
    """The report of those tasks."""
    over = metric(2, 2, 0.342, 1.0, "wilson")
    return Report(
        run=RunInfo(
            id="20261130-101500-demo",
            time="2026-11-30T10:15:00+00:00",
            agent="chat",
            model="small-model-0.5b",
            model_settings={"temperature": 0, "seed": 7},
            prompt_hash="sha256:9f2c",
            template={"order": ["instruction", "constraint", "tools", "retrieval"], "max_passages": 5},
            exposure={"mode": "all"},
            execution={"backend": "recorded"},
            suites={"core-suite": "sha256:77aa01"},
            git_commit="0123456789abcdef0123456789abcdef01234567",
            package_version="0.1.0",
            repeats=2,
            seed=7,
            duration_s=74.3,
        ),
        catalog=CatalogInfo(
            hash="sha256:5e1f0c2d",
            tool_count=len(TOOLS),
            similar_pairs=(
                SimilarPair(
                    left="stock/update_stock",
                    right="stock/adjust_inventory",
                    score=0.81,
                    left_only=("set",),
                    right_only=("delta",),
                ),
                SimilarPair(left="orders/cancel_order", right="orders/refund_order", score=0.74),
            ),
            tokens=1840,
            token_estimator="agent-reach-estimate-1",
            quarantined=("legacy/broken_tool",),
            sources=("examples/store/tools.py",),
            snapshot={"tools": [{"name": name} for name in TOOLS]},
        ),
        metrics=_metrics(),
        headline=Message(
            "The agent chose the right tool in 4 of 7 decisions (57.1%): a systemic loss of reach, mostly to look-alike "
            "tools among 12 tools and 1,840 tokens of tool list.",
            "7 个决策中有 4 个选对了工具（57.1%）：触达存在系统性损失，主要输给 12 个工具、1,840 token 工具列表中的相似工具。",
        ),
        causes=(
            CauseSummary(
                name="rival_chosen",
                layer="understanding",
                lost=1,
                share=0.2,
                tasks=("restock-001",),
                tools=("stock/update_stock",),
                fix=RIVAL_FIX,
            ),
            CauseSummary(
                name="wrong_format",
                layer="execution",
                lost=1,
                share=0.2,
                tasks=("sales-001",),
                tools=("reports/sales_report",),
                fix=FORMAT_FIX,
            ),
            CauseSummary(
                name="out_of_window",
                layer="retention",
                lost=1,
                share=0.2,
                tasks=("cancel-001",),
                tools=("orders/cancel_order",),
                fix=WINDOW_FIX,
            ),
            CauseSummary(
                name="cascaded",
                layer="understanding",
                lost=1,
                share=0.2,
                tasks=("cancel-001",),
                tools=("orders/get_order",),
                fix=WINDOW_FIX,
            ),
            CauseSummary(
                name="rate_limited",
                layer="infrastructure",
                lost=1,
                share=0.2,
                tasks=("order-001",),
                tools=("orders/create_order",),
            ),
        ),
        tools=_tools(),
        confusions=(
            Confusion(
                expected="stock/update_stock", chosen="stock/adjust_inventory", count=1, predicted=True
            ),
            Confusion(expected="orders/cancel_order", chosen="cancelOrderById", count=1),
            Confusion(expected="orders/get_order", chosen="", count=1),
            Confusion(expected="stock/query_stock", chosen="stock/query_stock", count=1),
            Confusion(expected="reports/sales_report", chosen="reports/sales_report", count=2),
            Confusion(expected="orders/create_order", chosen="orders/create_order", count=1),
        ),
        hallucinated={"cancelOrderById": 1},
        argument_errors={"reports/sales_report": {"start: wrong_format": 1, "currency: unused": 2}},
        groups=(
            GroupFigures(
                by="tag", name="confusable", tasks=1, metrics={"tool_reachability": metric(1, 2, 0.01, 0.98)}
            ),
            GroupFigures(
                by="kind",
                name="must",
                tasks=5,
                metrics={"tool_reachability": metric(4, 7, 0.286, 0.857), "decision_success": metric(3, 7)},
            ),
            GroupFigures(by="kind", name="forbid", tasks=1, metrics={"over_call_rate": over}),
            GroupFigures(
                by="language", name="zh", tasks=3, metrics={"tool_reachability": metric(2, 3, 0.2, 0.93)}
            ),
            GroupFigures(
                by="language", name="en", tasks=5, metrics={"tool_reachability": metric(2, 4, 0.15, 0.85)}
            ),
        ),
        blocks={
            "retrieval": metric(1, 2, 0.09, 0.9),
            "retrieval/manual": metric(1, 1),
            "retrieval/faq": metric(0, 1),
            "history": metric(0, 1),
            "instruction": metric(4, 4, 0.51, 1.0),
        },
        pass_hat={"1": 0.4, "2": 0.25},
        order_modes={"in_order": 7, "any_order": 1},
        infra_errors=("infra-001#0: model endpoint: connection refused",),
        sufficient=False,
        findings=(
            Finding(
                code="small_suite",
                severity="warning",
                message=Message("Only 8 tasks: intervals are wide.", "只有 8 个任务：区间很宽。"),
                subject="core-suite",
                fix=Message("Write at least 20 tasks.", "至少写 20 个任务。"),
            ),
        ),
        tasks=sample_tasks() if tasks is None else tasks,
    )
