"""Causes in the arguments of a right tool: missing, unknown, of the wrong type or format, lost, mistaken, or just wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from agent_reach.evals.attribution.evidence import DecisionEvidence
from agent_reach.evals.attribution.found import Detector, Found, found
from agent_reach.evals.attribution.needed import needed_values, telling_leaves
from agent_reach.evals.attribution.trouble import refused_for
from agent_reach.evals.scoring import schema_view
from agent_reach.evals.scoring.dates import parse_date, parse_moment, same_date
from agent_reach.evals.scoring.facts import folded, leaves, token_fact
from agent_reach.evals.scoring.pairing import Pairing
from agent_reach.evals.scoring.provenance import holders
from agent_reach.evals.scoring.values import has_type, is_matcher, json_type
from agent_reach.records.score import ArgumentScore

_MARKS = re.compile(r"[\s\-_/.:,，。、年月日号]+")
_ENTITY_NAME = re.compile(
    r"(?:^|_)(?:id|ids|code|no|number|key|sku|uuid|name|email|user|customer)$", re.IGNORECASE
)


def missing_required(evidence: DecisionEvidence) -> Found | None:
    """A required argument was left out."""
    names = [score.name for score in evidence.wrong if score.verdict == "missing"]
    if not names or not evidence.decision.tool_right:
        return None
    return found(
        f"{', '.join(names)} left out of {evidence.gold.key}",
        f"调用 {evidence.gold.key} 时缺少 {'、'.join(names)}",
        arguments=names,
    )


def unknown_argument(evidence: DecisionEvidence) -> Found | None:
    """An argument was given that the schema does not know."""
    names = [score.name for score in evidence.wrong if score.verdict == "unknown"]
    if not names or not evidence.decision.tool_right:
        return None
    known = ", ".join(sorted(evidence.gold.known))
    return found(
        f"{evidence.gold.key} has no argument {', '.join(names)}; it knows {known}",
        f"{evidence.gold.key} 没有参数 {'、'.join(names)}；已有参数：{known}",
        arguments=names,
    )


def wrong_type(evidence: DecisionEvidence) -> Found | None:
    """A value of another JSON type than the schema (or the gold) has."""

    def holds(score: ArgumentScore, schema: Mapping[str, Any]) -> bool:
        kinds = schema_view.types(schema)
        if kinds:
            return not any(has_type(score.actual, kind) for kind in kinds)
        return score.reason in ("type", "wrong_type")

    return _first(evidence, _kept(evidence, "wrong_type", holds), "has the wrong type", "类型不对")


def wrong_format(evidence: DecisionEvidence) -> Found | None:
    """The value that was meant, or a value of the kind that was meant, in a notation that the tool does not take."""

    def holds(score: ArgumentScore, schema: Mapping[str, Any]) -> bool:
        if _options(evidence, score, schema):
            return False
        pointer = f"/{score.name}"
        problems = evidence.seen.problems if evidence.seen is not None else ()
        if problems and any(
            problem.code == "wrong_format" and (problem.pointer + "/").startswith(pointer + "/")
            for problem in problems
        ):
            return True
        return any(
            _other_notation(gold, leaf)
            for gold, leaf in _leaf_pairs(score, evidence)
            if isinstance(gold, str) and isinstance(leaf, str)
        )

    return _first(
        evidence, _kept(evidence, "wrong_format", holds), "is written in the wrong format", "格式不对"
    )


def _other_notation(gold: str, actual: str) -> bool:
    if gold == actual:
        return False
    if _MARKS.sub("", folded(gold)) == _MARKS.sub("", folded(actual)):
        return True
    if parse_date(gold) is not None or parse_moment(gold) is not None:
        if same_date(gold, actual):
            return True
        return parse_date(actual) is None and parse_moment(actual) is None and bool(actual.strip())
    return False


def enum_synonym(evidence: DecisionEvidence) -> Found | None:
    """A word of the people's own where the schema lists its values."""

    def holds(score: ArgumentScore, schema: Mapping[str, Any]) -> bool:
        options = _options(evidence, score, schema)
        return bool(options) and any(
            isinstance(leaf, str) and leaf not in options for _, leaf in leaves(score.actual)
        )

    kept = _kept(evidence, "enum_synonym", holds)
    return _first(evidence, kept, "is not one of the listed values", "不在枚举取值之内")


def _options(evidence: DecisionEvidence, score: ArgumentScore, schema: Mapping[str, Any]) -> frozenset[str]:
    """The enum words of a parameter, or of its items; remembered for the decision."""
    known = evidence.enum_words.get(score.name)
    if known is None:
        known = evidence.enum_words[score.name] = _enum_words(evidence, schema)
    return known


def _enum_words(evidence: DecisionEvidence, schema: Mapping[str, Any]) -> frozenset[str]:
    if "enum" not in schema and "items" not in schema and "anyOf" not in schema and "oneOf" not in schema:
        return frozenset()
    tool = evidence.gold.tool
    root = tool.input_schema if tool is not None else {}
    found_words: set[str] = set()
    for node in (schema, schema_view.view(schema.get("items"), root)):
        options = node.get("enum")
        found_words.update(word for word in options or () if isinstance(word, str))
        for branch in (*(node.get("anyOf") or ()), *(node.get("oneOf") or ())):
            viewed = schema_view.view(branch, root)
            found_words.update(
                word for word in [*(viewed.get("enum") or ()), viewed.get("const")] if isinstance(word, str)
            )
    return frozenset(found_words)


def state_lost(evidence: DecisionEvidence) -> Found | None:
    """An earlier result held the value, and what was sent came from nowhere."""

    def holds(score: ArgumentScore, schema: Mapping[str, Any]) -> bool:
        golds = _gold_leaves(score, evidence)
        sources = evidence.visible_sources()
        earlier = [source for source in sources if source.block.kind in ("tool_result", "state_slot")]
        said = [source for source in sources if source.block.kind not in ("tool_result", "state_slot")]
        is_state = _takes_from_step(score.expected) or (
            not _options(evidence, score, schema)  # a word of a short list turns up in results by chance
            and any(holders(leaf, earlier) and not holders(leaf, said) for leaf in golds)
        )
        if not is_state:
            return False
        sent = [leaf for _, leaf in leaves(score.actual)]
        return not any(holders(leaf, sources) for leaf in sent if leaf not in ("", None))

    return _first(evidence, holds, "was lost on the way from an earlier result", "在前面结果到此处之间丢失")


def _takes_from_step(spec: Any) -> bool:
    return is_matcher(spec) and "$from" in spec


def wrong_entity(evidence: DecisionEvidence) -> Found | None:
    """Another thing of the same kind: an id, code or name that the context holds or that has the same shape."""

    def holds(score: ArgumentScore, schema: Mapping[str, Any]) -> bool:
        sources = evidence.visible_sources()
        for gold, leaf in _leaf_pairs(score, evidence):
            if leaf == gold or not _is_entity(score.name, leaf, [gold]):
                continue
            if _takes_from_step(score.expected) or _shape(leaf) == _shape(gold) or holders(leaf, sources):
                return True
        return False

    return _first(evidence, holds, "names another entity", "指向了另一个实体")


def _is_entity(name: str, leaf: Any, golds: list[Any]) -> bool:
    if isinstance(leaf, bool) or leaf is None:
        return False
    if isinstance(leaf, (int, float)):
        return bool(_ENTITY_NAME.search(name))
    text = str(leaf).strip()
    if parse_date(text) is not None or parse_moment(text) is not None or not text:
        return False
    if _ENTITY_NAME.search(name) or token_fact(text) is not None:
        return True
    return bool(golds) and all(isinstance(gold, str) and token_fact(gold) is not None for gold in golds)


_LOCATOR = re.compile(r"[A-Z0-9]{5,}\Z")


def _shape(value: Any) -> str:
    """Letters as A, digits as 0: `PDT-1001` and `PDT-2002` have the same shape; so have locators of one length."""
    return _text_shape(str(value))


@lru_cache(maxsize=4096)
def _text_shape(written: str) -> str:
    if _LOCATOR.match(written):
        return f"locator:{len(written)}"
    text = re.sub(r"[A-Za-z]", "A", written)
    shape = re.sub(r"\d", "0", text)
    return shape if "0" in shape else f"word:{written}"


def wrong_value(evidence: DecisionEvidence) -> Found | None:
    """Any other value than the gold, or one that nobody asked for and that the tool refused the call for."""
    unlike = _first(evidence, lambda score, schema: True, "has the wrong value", "取值不对")
    unasked = [] if unlike is not None else refused_for(evidence)
    if not unasked:
        return unlike
    score = unasked[0]
    return found(
        f"{score.name} = {score.actual!r} was not asked for, and the call was refused for it",
        f"没有要求 {score.name} = {score.actual!r}，调用因此被拒绝",
        arguments=[hit.name for hit in unasked],
        actual=score.actual,
        type=json_type(score.actual),
    )


Holds = Callable[[ArgumentScore, Mapping[str, Any]], bool]


def _kept(evidence: DecisionEvidence, cause: str, holds: Holds) -> Holds:
    """`holds`, asked once for the same arguments: for causes that gold, schema and arguments alone decide."""
    pairing = evidence.attempt.pairing
    evaluation = pairing.evaluations[evidence.gold.index] if pairing is not None else None
    if evaluation is None:
        return holds
    answers = evaluation.answers

    def ask(score: ArgumentScore, schema: Mapping[str, Any]) -> bool:
        key = (cause, score.name)
        known = answers.get(key)
        if known is None:
            known = answers[key] = holds(score, schema)
        return known

    return ask


def _first(evidence: DecisionEvidence, holds: Holds, en: str, zh: str) -> Found | None:
    """The cause for the first argument for which it holds, required ones first; all their names are listed."""
    if not evidence.decision.tool_right:
        return None
    explained = evidence.explained
    hits = [
        score
        for score in evidence.wrong
        if score.verdict in ("wrong", "illegal")
        and score.name not in explained
        and holds(score, _schema(evidence, score.name))
    ]
    if not hits:
        return None
    hits.sort(key=lambda score: not score.required)
    score = hits[0]
    expected = _expected_text(score, evidence)
    return found(
        f"{score.name} {en}: {score.actual!r} instead of {expected}",
        f"{score.name} {zh}：是 {score.actual!r}，应为 {expected}",
        arguments=[hit.name for hit in hits],
        expected=score.expected,
        actual=score.actual,
        type=json_type(score.actual),
    )


def _expected_text(score: ArgumentScore, evidence: DecisionEvidence) -> str:
    if _takes_from_step(score.expected):
        values = _gold_leaves(score, evidence)
        return f"{score.expected['$from']}" + (f" = {values[0]!r}" if values else "")
    return repr(score.expected)


def _leaf_pairs(score: ArgumentScore, evidence: DecisionEvidence) -> list[tuple[Any, Any]]:
    """(gold leaf, actual leaf) that belong together: at the same place, or any with any where places say nothing."""
    actual = list(leaves(score.actual))
    if not is_matcher(score.expected) and isinstance(score.expected, (Mapping, list, tuple)):
        golds = dict(leaves(score.expected))
        return [(golds[pointer], leaf) for pointer, leaf in actual if pointer in golds]
    return [(gold, leaf) for gold in _gold_leaves(score, evidence) for _, leaf in actual]


def _gold_leaves(score: ArgumentScore, evidence: DecisionEvidence) -> list[Any]:
    pairing = evidence.attempt.pairing
    assert pairing is not None
    item = evidence.gold.by_name.get(score.name)
    if item is None or item.spec is not score.expected:
        return _spec_leaves(score.expected, pairing)
    if item.matcher and "$from" in item.spec:
        return needed_values(item.spec, pairing)
    if item.needed is None:
        item.needed = _spec_leaves(item.spec, pairing)
    return item.needed


def _spec_leaves(spec: Any, pairing: Pairing) -> list[Any]:
    if is_matcher(spec):
        return needed_values(spec, pairing)
    return telling_leaves(spec) or [leaf for _, leaf in leaves(spec)]


def _schema(evidence: DecisionEvidence, name: str) -> Mapping[str, Any]:
    item = evidence.gold.by_name.get(name)
    if item is not None:
        return item.viewed
    tool = evidence.gold.tool
    if tool is None:
        return {}
    properties = schema_view.property_schemas(tool.input_schema, tool.input_schema)
    return schema_view.view(properties.get(name), tool.input_schema)


ARGUMENT_DETECTORS: dict[str, Detector] = {
    "missing_required": missing_required,
    "unknown_argument": unknown_argument,
    "wrong_type": wrong_type,
    "wrong_format": wrong_format,
    "enum_synonym": enum_synonym,
    "state_lost": state_lost,
    "wrong_entity": wrong_entity,
    "wrong_value": wrong_value,
}
