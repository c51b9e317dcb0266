"""Build the report of a run from the scores of its tasks: metrics, causes, tools, confusions, groups, blocks.

Everything a reader or a reporter shows is computed here once; reporters only write. Nothing is executed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_reach.evals.attribution.table import CAUSES
from agent_reach.evals.figures import Counts, counted_attempts, counts_decisions, metrics_of, task_counts
from agent_reach.evals.scoring.look_alike import look_alikes
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.report import (
    METRIC_NAMES,
    CatalogInfo,
    CauseSummary,
    Confusion,
    GroupFigures,
    OfferedTools,
    Report,
    RunInfo,
    ToolSummary,
)
from agent_reach.records.score import AttemptScore, Cause, Decision, Metric, TaskScore
from agent_reach.reports.figures import offered_count

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

INFRA_LIMIT = 0.05
"""Largest share of attempts lost to infrastructure with which a run still says something."""
SYSTEMIC_BELOW = 0.8
_VARIANCE_TASKS = 5


def build_report(
    run_info: RunInfo,
    catalog: Catalog,
    task_scores: Sequence[TaskScore],
    *,
    catalog_info: CatalogInfo | None = None,
    findings: Iterable[Finding] = (),
    seed: int = 0,
) -> Report:
    """The report of a run.

    `catalog_info` defaults to what `describe_catalog` says, and what was offered to what the traces say. Metrics without a denominator are null with a reason.
    Deterministic for equal input and seed.
    """
    info = catalog_info or describe_catalog(catalog)
    if info.offered is None:
        info = replace(info, offered=_offered(catalog, task_scores))
    counts = [task_counts(task) for task in task_scores]
    executed = any(entry.get("execution_success", (0, 0))[1] for entry in counts)
    metrics = metrics_of(counts, seed=seed, executed=executed)
    attempts = [attempt for task in task_scores for attempt in task.attempts]
    lost = [
        f"{task.task_id}#{attempt.index}"
        for task in task_scores
        for attempt in task.attempts
        if attempt.state == "infra_error"
    ]
    share = len(lost) / len(attempts) if attempts else 0.0
    decisions = list(_decisions(task_scores))
    return Report(
        run=run_info,
        catalog=info,
        metrics=metrics,
        headline=_headline(metrics, info),
        causes=_causes(task_scores),
        tools=_tools(catalog, task_scores),
        confusions=_confusions(catalog, decisions),
        hallucinated=_hallucinated(task_scores),
        argument_errors=_argument_errors(decisions),
        groups=_groups(task_scores, counts, seed),
        blocks=_block_metrics(task_scores, seed),
        pass_hat=_mean_by_k(task.pass_hat for task in task_scores if task.state == "evaluated"),
        pass_at=_mean_by_k(task.pass_at for task in task_scores if task.state == "evaluated"),
        flaky=tuple(task.task_id for task in task_scores if task.flaky),
        order_modes=Counter(task.order for task in task_scores if task.kind == "must"),
        infra_errors=tuple(lost),
        infra_share=share,
        sufficient=share <= INFRA_LIMIT and bool(counted := len(attempts) - len(lost)) and counted > 0,
        findings=(*findings, *_own_findings(task_scores, counts, metrics, lost, len(attempts))),
        tasks=tuple(task_scores),
        attempts=len(attempts),
    )


def describe_catalog(catalog: Catalog) -> CatalogInfo:
    """What a report says of its catalog: hash, look-alike pairs, weight of the tool list, the frozen list itself."""
    from agent_reach.catalog.similar import similar_pairs
    from agent_reach.catalog.snapshot import snapshot_document
    from agent_reach.text.counting import ESTIMATOR_NAME

    return CatalogInfo(
        hash=catalog.hash,
        tool_count=len(catalog),
        similar_pairs=similar_pairs(catalog),
        tokens=sum(tool_tokens(catalog).values()),
        token_estimator=ESTIMATOR_NAME,
        quarantined=tuple(tool.key for tool in catalog.quarantined),
        snapshot=snapshot_document(catalog),
    )


def _offered(catalog: Catalog, tasks: Sequence[TaskScore]) -> OfferedTools | None:
    """What the attempts were offered, as far as their traces say so."""
    exposures = [
        attempt.trace.exposure
        for task in tasks
        for attempt in counted_attempts(task)
        if attempt.trace is not None
    ]
    known = [exposure for exposure in exposures if exposure.offered or exposure.hidden]
    if not known:
        return None
    numbers = [len(exposure.offered) for exposure in known]
    weights = tool_tokens(catalog)
    tokens = [sum(weights.get(key, 0) for key in exposure.offered) for exposure in known]
    return OfferedTools(
        least=min(numbers),
        most=max(numbers),
        mean=round(sum(numbers) / len(numbers), 2),
        tokens=round(sum(tokens) / len(tokens), 1),
    )


def tool_tokens(catalog: Catalog) -> Mapping[str, int]:
    """Tool key -> estimated tokens of its definition as a model is sent it."""
    from agent_reach.text.counting import count_json_tokens

    return {tool.key: count_json_tokens(catalog.model_view(tool)) for tool in catalog.tools}


def _decisions(tasks: Sequence[TaskScore]) -> Iterator[Decision]:
    """All required decisions that count."""
    for task in tasks:
        if counts_decisions(task):
            for attempt in counted_attempts(task):
                yield from attempt.decisions


def _causes(tasks: Sequence[TaskScore]) -> tuple[CauseSummary, ...]:
    """Causes ranked by lost decisions; calls that should not have been made count once per attempt."""
    lost: dict[str, list[tuple[str, str]]] = {}
    for task in tasks:
        for attempt in counted_attempts(task):
            for name, tool in _attempt_causes(task, attempt):
                lost.setdefault(name, []).append((task.task_id, tool))
    total = sum(len(entries) for entries in lost.values())
    ranked = sorted(lost.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    return tuple(
        CauseSummary(
            name=name,
            layer=CAUSES[name].layer,
            lost=len(entries),
            share=len(entries) / total,
            tasks=tuple(dict.fromkeys(task_id for task_id, _ in entries)),
            tools=tuple(tool for tool, _ in Counter(tool for _, tool in entries if tool).most_common()),
            fix=CAUSES[name].fix,
        )
        for name, entries in ranked
    )


def _attempt_causes(task: TaskScore, attempt: AttemptScore) -> Iterator[tuple[str, str]]:
    if counts_decisions(task):
        for decision in attempt.decisions:
            if decision.cause is not None:
                yield decision.cause.name, decision.expected_tool
    called = [extra for extra in attempt.extra_calls if _is_over_call(extra.cause)]
    if called:
        yield "over_called", called[0].tool or called[0].name


def _is_over_call(cause: Cause | None) -> bool:
    return cause is not None and cause.name == "over_called"


def _tools(catalog: Catalog, tasks: Sequence[TaskScore]) -> tuple[ToolSummary, ...]:
    tokens = tool_tokens(catalog)
    sums: dict[str, Counter[str]] = {tool.key: Counter() for tool in catalog.tools}
    scores: dict[str, list[float]] = {}
    causes: dict[str, Counter[str]] = {}
    for task in tasks:
        for attempt in counted_attempts(task):
            for extra in attempt.extra_calls:
                if extra.tool is not None:
                    own = sums.setdefault(extra.tool, Counter())
                    own["called"] += 1
                    own["over_called"] += extra.kind in ("forbidden", "over_call")
                    own["executed"] += bool(extra.status)
                    own["executed_ok"] += extra.status == "ok"
            for decision in attempt.decisions:
                _add_decision(task, decision, sums, scores, causes)
    return tuple(
        ToolSummary(
            tool=key,
            required=own["required"],
            reached=own["reached"],
            first_choice=own["first_choice"],
            called=own["called"],
            over_called=own["over_called"],
            instead_of=own["instead_of"],
            param_hit_rate=sum(found) / len(found) if (found := scores.get(key)) else None,
            executed=own["executed"],
            executed_ok=own["executed_ok"],
            tokens=tokens.get(key, 0),
            causes=dict(causes.get(key, {})),
        )
        for key, own in sums.items()
    )


def _add_decision(
    task: TaskScore,
    decision: Decision,
    sums: dict[str, Counter[str]],
    scores: dict[str, list[float]],
    causes: dict[str, Counter[str]],
) -> None:
    own = sums.setdefault(decision.expected_tool, Counter())
    made = decision.tool_right or not decision.order_right
    if made:
        outcome = decision.outcome
        reached = outcome is not None and outcome.was_executed
        own["called"] += 1
        own["executed"] += reached
        own["executed_ok"] += reached and outcome is not None and outcome.status == "ok"
    if not counts_decisions(task):
        return
    own["required"] += 1
    own["reached"] += decision.tool_right
    own["first_choice"] += decision.first_choice
    if not made and decision.selected_tool in sums:
        sums[decision.selected_tool]["instead_of"] += 1
    score = decision.argument_score
    if score is not None:
        scores.setdefault(decision.expected_tool, []).append(score)
    if decision.cause is not None:
        causes.setdefault(decision.expected_tool, Counter())[decision.cause.name] += 1


def _confusions(catalog: Catalog, decisions: Sequence[Decision]) -> tuple[Confusion, ...]:
    """What stood in for each expected tool that was not called; an empty name is no call at all."""
    counts = Counter(
        (decision.expected_tool, decision.selected_tool or "")
        for decision in decisions
        if not decision.tool_right and decision.order_right
    )
    rivals = look_alikes(catalog)
    return tuple(
        Confusion(
            expected=expected,
            chosen=chosen,
            count=count,
            predicted=chosen in rivals.get(expected, frozenset()),
        )
        for (expected, chosen), count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    )


def _hallucinated(tasks: Sequence[TaskScore]) -> Mapping[str, int]:
    names = Counter(
        extra.name
        for task in tasks
        for attempt in counted_attempts(task)
        for extra in attempt.extra_calls
        if extra.tool is None
    )
    return dict(names.most_common())


def _argument_errors(decisions: Sequence[Decision]) -> Mapping[str, Mapping[str, int]]:
    """Tool -> argument -> how often it was wrong, missing, illegal or unknown."""
    found: dict[str, Counter[str]] = {}
    for decision in decisions:
        if decision.tool_right:
            for score in decision.argument_scores:
                if score.verdict in ("wrong", "missing", "illegal", "unknown"):
                    found.setdefault(decision.expected_tool, Counter())[score.name] += 1
    return {tool: dict(own.most_common()) for tool, own in sorted(found.items())}


def _groups(tasks: Sequence[TaskScore], counts: Sequence[Counts], seed: int) -> tuple[GroupFigures, ...]:
    members: dict[tuple[str, str], list[int]] = {}
    for number, task in enumerate(tasks):
        members.setdefault(("kind", task.kind), []).append(number)
        if task.language:
            members.setdefault(("language", task.language), []).append(number)
        for tag in dict.fromkeys(task.tags):
            members.setdefault(("tag", tag), []).append(number)
    found = []
    for (by, name), numbers in sorted(members.items()):
        own = [counts[number] for number in numbers]
        executed = any(entry.get("execution_success", (0, 0))[1] for entry in own)
        figures = metrics_of(own, seed=seed, executed=executed)
        kept = {key: metric for key, metric in figures.items() if metric.value is not None}
        found.append(GroupFigures(by=by, name=name, tasks=len(numbers), metrics=kept))
    return tuple(found)


def _block_metrics(tasks: Sequence[TaskScore], seed: int) -> Mapping[str, Metric]:
    """Use of blocks per kind (`retrieval`) and per partition (`partition:manual`)."""
    per_task: list[Counts] = []
    names: dict[str, None] = {}
    unknown: Counter[str] = Counter()
    for task in tasks:
        sums: dict[str, list[float]] = {}
        for attempt in counted_attempts(task):
            for block in attempt.blocks:
                labels = [block.kind, *([f"partition:{block.partition}"] if block.partition else [])]
                for label in labels:
                    names[label] = None
                    if block.state == "not_identifiable":
                        unknown[label] += 1
                        continue
                    held = sums.setdefault(label, [0.0, 0.0])
                    held[0] += block.state == "used"
                    held[1] += 1
        per_task.append({label: (top, bottom) for label, (top, bottom) in sums.items()})
    figures = metrics_of(per_task, seed=seed, names=sorted(names))
    return {
        label: Metric(
            value=metric.value,
            numerator=metric.numerator,
            denominator=metric.denominator,
            interval=metric.interval,
            reason=f"{unknown[label]} blocks without an identifying fact left out" if unknown[label] else "",
        )
        for label, metric in figures.items()
    }


def _mean_by_k(tables: Iterable[Mapping[str, float]]) -> Mapping[str, float]:
    """Mean over tasks for every k that all tasks with attempts have."""
    rows = [table for table in tables if table]
    if not rows:
        return {}
    largest = min(len(table) for table in rows)
    return {str(k): sum(table[str(k)] for table in rows) / len(rows) for k in range(1, largest + 1)}


def _headline(metrics: Mapping[str, Metric], info: CatalogInfo) -> Message:
    reach, over = metrics["tool_reachability"], metrics["over_call_rate"]
    pairs = len(info.similar_pairs)
    pair_text = f"{pairs:,} look-alike {'pair' if pairs == 1 else 'pairs'}"
    over_text = "n/a" if over.value is None else f"{over.value:.1%}"
    tools, tools_zh = _shown_tools(info)
    if reach.value is None:
        return Message(
            f"Tool reachability not evaluated ({reach.reason}); over-call rate {over_text}; {tools} with {pair_text}.",
            f"工具触达率未评估；过度调用率 {over_text}；{tools_zh}，{pairs} 对相近工具。",
        )
    systemic = reach.value < SYSTEMIC_BELOW
    return Message(
        f"Tool reachability {reach.value:.1%} ({reach.numerator}/{reach.denominator}) over {tools} with "
        f"{pair_text}; over-call rate {over_text}."
        + (" The loss is systemic: below 80%." if systemic else ""),
        f"工具触达率 {reach.value:.1%}（{reach.numerator}/{reach.denominator}），{tools_zh}，"
        f"{pairs} 对相近工具；过度调用率 {over_text}。" + ("低于 80%，属于系统性问题。" if systemic else ""),
    )


def _shown_tools(info: CatalogInfo) -> tuple[str, str]:
    """How many tools the figure holds for, and their weight: what was offered where that was not the whole catalog."""
    number, tokens = f"{info.tool_count:,}", f"{info.tokens:,}"
    offered = info.offered
    if offered is None or not info.shows_part:
        return (
            f"{number} tools (about {tokens} tokens of tool list)",
            f"共 {number} 个工具（工具列表约 {tokens} token）",
        )
    some = offered_count(offered)
    if offered.tokens is None:
        return f"{some} of {number} tools offered", f"{number} 个工具中提供了 {some} 个"
    return (
        f"{some} of {number} tools offered (about {offered.tokens:,.0f} of {tokens} tokens of tool list)",
        f"{number} 个工具中提供了 {some} 个（工具列表约 {offered.tokens:,.0f} / {tokens} token）",
    )


def _own_findings(
    tasks: Sequence[TaskScore],
    counts: Sequence[Counts],
    metrics: Mapping[str, Metric],
    lost: Sequence[str],
    attempts: int,
) -> Iterator[Finding]:
    for task in tasks:
        if task.state == "not_evaluated":
            yield Finding(
                code="task_not_evaluated",
                severity="warning",
                subject=task.task_id,
                message=Message(f"not evaluated: {task.reason}", f"未评估：{task.reason}"),
            )
        for attempt in task.attempts:
            yield from attempt.findings
    if lost:
        share = len(lost) / attempts
        yield Finding(
            code="attempts_lost",
            severity="error" if share > INFRA_LIMIT else "warning",
            message=Message(
                f"{len(lost)} of {attempts} attempts ({share:.1%}) were lost to infrastructure and count nowhere",
                f"{attempts} 次尝试中有 {len(lost)} 次（{share:.1%}）因基础设施失败，不计入任何指标",
            ),
            data={"attempts": list(lost)},
        )
    for name in METRIC_NAMES:
        shares = [top / bottom for entry in counts for top, bottom in [entry.get(name, (0, 0))] if bottom]
        if len(shares) >= _VARIANCE_TASKS and len(set(shares)) == 1 and metrics[name].value is not None:
            yield Finding(
                code="metric_without_variance",
                severity="info",
                subject=name,
                message=Message(
                    f"{name} is {shares[0]:.3g} for every one of {len(shares)} tasks: it tells nothing apart here",
                    f"{name} 在全部 {len(shares)} 个任务上都是 {shares[0]:.3g}，在此没有区分力",
                ),
            )
