"""Attribution on scripted attempts with one planted trouble each, and what a cause carries."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.evals_scoring.building import catalog, failed, gold, path, task, tool, trace
from tests.evals_scoring.planted import DOMAINS, PLANTERS, Planted, all_planted, rival_chosen

from agent_reach.evals.attribution.attribute import DETECTORS
from agent_reach.evals.attribution.table import CAUSE_ORDER, CAUSES
from agent_reach.evals.scoring.score import score_attempt
from agent_reach.records.score import Cause, Decision
from agent_reach.records.trace import CallOutcome

WANTED_SHARE = 0.95
LEAST_PLANTED = 200


def named(planted: Planted) -> Cause | None:
    attempt = score_attempt(planted.task, planted.trace, planted.catalog)
    if planted.extra:
        return next((extra.cause for extra in attempt.extra_calls if extra.cause is not None), None)
    return attempt.decisions[planted.step].cause


def test_planted_troubles_are_named_right() -> None:
    confusion: Counter[tuple[str, str, str]] = Counter()
    total = right = 0
    for planted in all_planted():
        cause = named(planted)
        found = cause.name if cause is not None else "none"
        total += 1
        right += found == planted.cause
        if found != planted.cause:
            confusion[(planted.domain.language, planted.cause, found)] += 1
    print(f"{right} of {total} planted troubles named right; confused: {confusion.most_common()}")
    assert total >= LEAST_PLANTED
    assert right / total >= WANTED_SHARE, confusion.most_common()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("cause", CAUSE_ORDER)
def test_every_cause_is_planted_and_found_in_both_languages(cause: str, language: str) -> None:
    found = [
        named(planter(domain))
        for planter in PLANTERS[cause]
        for domain in DOMAINS
        if domain.language == language
    ]
    names = [item.name if item is not None else "none" for item in found]
    assert names.count(cause) / len(names) >= 0.75, names


def test_table_detectors_and_order_agree() -> None:
    assert set(DETECTORS) == set(CAUSES) == set(CAUSE_ORDER)
    for entry in CAUSES.values():
        assert entry.fix.en
        assert any("\u4e00" <= character <= "\u9fff" for character in entry.fix.zh)


def test_a_cause_carries_evidence_layer_fix_and_blame_in_both_languages() -> None:
    for planted in all_planted():
        cause = named(planted)
        assert cause is not None, planted.cause
        assert cause.layer == CAUSES[cause.name].layer
        assert cause.fix == CAUSES[cause.name].fix
        assert cause.evidence.en
        assert any("\u4e00" <= character <= "\u9fff" for character in cause.evidence.zh)
        assert cause.blame in ("model", "reach_layer", "normaliser", "tool", "undetermined")


def test_untroubled_attempts_have_no_cause() -> None:
    for domain in DOMAINS:
        attempt = score_attempt(
            domain.task(),
            trace(domain.looked, domain.wrote(), task_id="planted", query=domain.query),
            catalog(*domain.tools()),
        )
        assert [decision.cause for decision in attempt.decisions] == [None, None]
        assert attempt.passed


def test_others_that_hold_stand_under_also() -> None:
    planted = rival_chosen(DOMAINS[0])
    wrong = planted.trace
    attempt = score_attempt(planted.task, wrong, planted.catalog)
    assert attempt.decisions[1].cause is not None
    assert attempt.decisions[1].also == ()
    c = catalog(tool("act", {"n": "integer", "day": "string"}, ["n", "day"]))
    decision = score_attempt(
        task(path(gold("act", {"n": 500, "day": "x"}))), trace(("act", {"n": "500"})), c
    ).decisions[0]
    assert decision.cause is not None
    assert decision.cause.name == "missing_required"
    assert [cause.name for cause in decision.also] == ["wrong_type"]


def test_blame() -> None:
    by_cause = {planted.cause: named(planted) for planted in all_planted()}
    blamed = {name: cause.blame for name, cause in by_cause.items() if cause is not None}
    assert blamed["not_recalled"] == blamed["not_offered"] == "reach_layer"
    assert blamed["rival_chosen"] == blamed["no_call"] == blamed["wrong_type"] == "model"
    assert blamed["tool_failed"] == blamed["rate_limited"] == "tool"


def test_an_infrastructure_failure_is_no_wrong_decision() -> None:
    c = catalog(tool("act"))
    attempt = score_attempt(task(path(gold("act"))), trace(("act", {}, failed("rate_limited"))), c)
    decision = attempt.decisions[0]
    assert (decision.verdict, decision.decision_success, decision.call_success) == ("right", True, False)
    assert decision.cause is not None
    assert decision.cause.layer == "infrastructure"
    assert attempt.passed


def test_the_documented_causes_are_those_of_the_table_in_its_order() -> None:
    page = Path(__file__).parents[2] / "docs" / "causes.md"
    rows = [
        line.split("|") for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")
    ]
    told = {row[1].strip(" `"): (row[2].strip(), row[4].strip()) for row in rows if len(row) == 6}
    assert list(told) == list(CAUSE_ORDER)
    for name, (layer, fix) in told.items():
        assert (layer, fix) == (CAUSES[name].layer, CAUSES[name].fix.en)


BRANCH = {"branch": "string", "base": "string", "force": "boolean", "note": "string"}


def refused(
    message: str, arguments: dict[str, object], *, kind: str = "tool_error", **more: object
) -> Decision:
    """The decision of a call of `create` that was answered so; `branch` is what the task asks for."""
    c = catalog(tool("create", BRANCH, ["branch"]))
    outcome = CallOutcome(status="failed", error_kind=kind, message=message)  # type: ignore[arg-type]
    wanted = task(path(gold("create", {"branch": "spring"}, **more)))
    (decision,) = score_attempt(
        wanted, trace(("create", {"branch": "spring", **arguments}, outcome)), c
    ).decisions
    return decision


@pytest.mark.parametrize(
    ("message", "arguments", "optional", "cause"),
    [
        ("no item found with id master", {"base": "master"}, {"base": "main"}, "wrong_value"),
        ("it broke", {"base": "master"}, {"base": "main"}, "wrong_value"),
        ("no item found with id master", {"base": "master"}, {}, "wrong_value"),
        ("malformed object name 'Master'", {"base": "master"}, {}, "wrong_value"),
        ("base and note exclude each other", {"base": "x", "note": "y"}, {}, "wrong_value"),
        ("out of memory in the webmaster", {"base": "master"}, {}, "tool_failed"),
        ("disk full", {"base": "main"}, {"base": "main"}, "tool_failed"),
        ("disk full", {}, {}, "tool_failed"),
        ("the branch spring is there already", {"force": True}, {}, "tool_failed"),
    ],
)
def test_a_refusal_for_an_argument_of_the_models_own_is_not_the_tools_failure(
    message: str, arguments: dict[str, object], optional: dict[str, object], cause: str
) -> None:
    decision = refused(message, arguments, optional=optional)
    assert decision.cause is not None
    assert (decision.cause.name, decision.cause.blame) == (
        cause,
        "tool" if cause == "tool_failed" else "model",
    )


def test_a_lost_connection_is_the_tools_failure_whatever_was_sent() -> None:
    decision = refused("lost while asking for master", {"base": "master"}, kind="transport")
    assert decision.cause is not None
    assert decision.cause.name == "tool_failed"
