"""Causes in the choice: the model had the tool before it and did not call it, called another, or called out of order."""

from __future__ import annotations

import re

from agent_reach.evals.attribution.evidence import DecisionEvidence
from agent_reach.evals.attribution.found import Detector, Found, found
from agent_reach.evals.scoring.facts import contains, folded
from agent_reach.text.tokens import nearest_names, split_identifier, words

_REPEATS = 3
_CALL_MARKUP = re.compile(
    r"<tool_call>|<function[=_ ]|\[TOOL_CALLS\]|```(?:json|tool_code)|\"(?:name|tool|function)\"\s*:"
)
_CLAIM_EN = re.compile(
    r"\b(?:i'll|i will|i am going to|i'm going to|let me|i have|i've|i am|i'm now|has been|have been|was|were|is now"
    r"|successfully|done|calling|using the|use the)\b"
)
_CLAIM_ZH = re.compile(
    r"已|正在|我来|我将|我会|马上|这就|现在(?:就|为|帮)|帮您|为您|替您|完成|成功|调用|使用"
)
_DENIAL = re.compile(
    r"(?:no|not have|don't have|do not have|lack|without|couldn't find|could not find|can't find|cannot find)"
    r"[^.\n]{0,40}\b(?:tool|function|way|ability|access|capability)|没有[^。\n]{0,12}(?:工具|功能|办法|权限|接口)|找不到[^。\n]{0,12}工具"
)
_UNABLE = re.compile(
    r"\bunable\b|\bcannot\b|\bcan't\b|\bnot able\b|\bnot possible\b|\bunfortunately\b|\bwould you like\b"
    r"|无法|不能|不可以|抱歉|很遗憾|是否需要|要不要"
)
_ASKING = re.compile(
    r"\bcould you\b|\bplease (?:provide|confirm|tell|share)\b|\bwhich \w+\b.*\?|请(?:提供|告知|确认|问|补充)|哪(?:个|一)"
)
_GENERIC = frozenset(
    [
        "get",
        "set",
        "list",
        "find",
        "query",
        "search",
        "do",
        "run",
        "make",
        "the",
        "a",
        "an",
        "of",
        "to",
        "for",
        "in",
        "on",
        "by",
        "and",
        "or",
        "with",
        "all",
        "new",
        "item",
        "data",
        "info",
    ]
)


def unparsable_call(evidence: DecisionEvidence) -> Found | None:
    """The model tried to call, in a form that could not be read."""
    seen = evidence.seen
    if evidence.is_paired:
        if seen is None or seen.call.arguments is not None or evidence.decision.decision_success:
            return None
        codes = sorted({problem.code for problem in seen.call.problems}) or ["unparsable"]
        return _unreadable(codes, seen.call.raw_arguments)
    for _, extra in evidence.extras:
        call = next(item.call for item, other in evidence.extras if other is extra)
        if call.arguments is None and (evidence.attempt.key(call.tool or call.name) == evidence.gold.key):
            return _unreadable(["unparsable"], call.raw_arguments)
    for step in evidence.due_steps:
        if step.problems:
            return _unreadable(sorted({problem.code for problem in step.problems}), step.raw or step.text)
        if not step.calls and _CALL_MARKUP.search(step.text) and _names_tool(evidence, folded(step.text)):
            return _unreadable(["written_as_text"], step.text)
    return None


def _unreadable(codes: list[str], raw: str) -> Found:
    shown = raw[:120].replace("\n", " ")
    return found(
        f"a call could not be read ({', '.join(codes)}): {shown}",
        f"有一次调用无法解析（{'、'.join(codes)}）：{shown}",
        codes=codes,
    )


def name_hallucinated(evidence: DecisionEvidence) -> Found | None:
    """A tool name was emitted that nothing in the catalog has."""
    if not evidence.is_missed:
        return None
    names = [seen.call.name for seen, extra in evidence.extras if extra.kind == "hallucinated"]
    if evidence.seen is not None and evidence.seen.tool is None and evidence.seen.call.name not in names:
        names.insert(0, evidence.seen.call.name)
    if not names:
        return None
    known = [tool.name for tool in evidence.attempt.compiled.catalog.tools]
    near = nearest_names(names[0], known, limit=3)
    return found(
        f"called {names[0]!r}, which does not exist; expected {evidence.gold.key}",
        f"调用了不存在的 {names[0]!r}；应为 {evidence.gold.key}",
        name=names[0],
        nearest=near,
    )


def talked_not_called(evidence: DecisionEvidence) -> Found | None:
    """The model said that it would act, or had acted, and called nothing."""
    if not evidence.is_missed or _calls_made(evidence):
        return None
    text = evidence.text
    if not text or _DENIAL.search(text):
        return None
    claims = bool(_CLAIM_EN.search(text) or _CLAIM_ZH.search(text))
    named = _names_tool(evidence, text)
    if not named and not (claims and _speaks_of_the_deed(evidence, text)):
        return None
    if not named and (_ASKING.search(text) or _UNABLE.search(text)):
        return None
    shown = evidence.text[:120].replace("\n", " ")
    return found(
        f"spoke of {evidence.gold.key} instead of calling it: {shown}",
        f"只是口头提到 {evidence.gold.key}，没有调用：{shown}",
    )


def _calls_made(evidence: DecisionEvidence) -> bool:
    """Anything but look-ups was called where the call was due."""
    return any(
        seen.tool is None or not seen.tool.is_read_only or evidence.wrong_choice is seen
        for seen, _ in evidence.extras
    )


def _names_tool(evidence: DecisionEvidence, text: str) -> bool:
    tool = evidence.gold.tool
    names = {evidence.gold.key.rpartition("/")[2]}
    if tool is not None:
        names |= {tool.name, tool.title, *tool.aliases}
    return any(len(name) >= 3 and contains(text, folded(name)) for name in names if name)


def _speaks_of_the_deed(evidence: DecisionEvidence, text: str) -> bool:
    """The words of the tool or the values of its call are in what was said."""
    if any(contains(text, folded(str(leaf))) for leaf in evidence.expected_leaves()):
        return True
    tool = evidence.gold.tool
    names = set(split_identifier(evidence.gold.key.rpartition("/")[2])) - _GENERIC
    said = set(words(text))
    if names & said or any(name[:4] == word[:4] for name in names for word in said if len(name) > 4):
        return True
    if tool is None:
        return False
    described = {word for word in words(f"{tool.title} {tool.description}") if not word.isascii()}
    return len(described & said) >= 2


def rival_chosen(evidence: DecisionEvidence) -> Found | None:
    """A look-alike was called instead, or on the way."""
    decision = evidence.decision
    seen = evidence.wrong_choice
    if seen is not None and seen.tool is not None and evidence.is_look_alike(seen.key):
        return found(
            f"{seen.key} was called instead of its look-alike {evidence.gold.key}",
            f"调用了相近的 {seen.key}，而不是 {evidence.gold.key}",
            chosen=seen.key,
        )
    if evidence.is_missed or decision.detour:
        for other, _ in evidence.extras:
            if (
                other.tool is not None
                and other.key != evidence.gold.key
                and evidence.is_look_alike(other.key)
            ):
                if evidence.is_missed and other.tool.is_read_only and evidence.wrong_choice is not other:
                    continue
                return found(
                    f"{other.key}, a look-alike, was called before {evidence.gold.key}"
                    if decision.tool_right
                    else f"{other.key} was called instead of its look-alike {evidence.gold.key}",
                    f"在 {evidence.gold.key} 之前调用了相近的 {other.key}"
                    if decision.tool_right
                    else f"调用了相近的 {other.key}，而不是 {evidence.gold.key}",
                    chosen=other.key,
                )
    return None


def chosen_instead(evidence: DecisionEvidence) -> Found | None:
    """Another tool, no look-alike, was called instead and nothing else explains it."""
    seen = evidence.wrong_choice or (evidence.seen if evidence.is_missed else None)
    if seen is None or seen.tool is None:
        return None
    return found(
        f"{seen.key} was called instead of {evidence.gold.key}",
        f"调用了 {seen.key}，而不是 {evidence.gold.key}",
        chosen=seen.key,
    )


def context_overload(evidence: DecisionEvidence) -> Found | None:
    """The choice was lost in a context with too many passages or too many tokens."""
    if not evidence.is_missed or _is_rival(evidence) or _repeated(evidence):
        return None
    attempt = evidence.attempt
    options = attempt.options
    if attempt.passages < options.many_passages and (
        attempt.context_characters < options.heavy_context_tokens  # a token has at least one character
        or attempt.context_tokens < options.heavy_context_tokens
    ):
        return None
    return found(
        f"the context held {attempt.passages} passages, about {attempt.context_tokens} tokens",
        f"上下文包含 {attempt.passages} 个检索段落，约 {attempt.context_tokens} 个 token",
        passages=attempt.passages,
        tokens=attempt.context_tokens,
    )


def crowded_out(evidence: DecisionEvidence) -> Found | None:
    """The tool stood in a long list, and an unrelated one was taken or none was found."""
    if not evidence.is_missed or _is_rival(evidence) or _repeated(evidence):
        return None
    count = len(evidence.offered)
    if count < evidence.attempt.options.long_list or evidence.gold.key not in evidence.offered:
        return None
    if evidence.wrong_choice is None and not _DENIAL.search(evidence.text):
        return None
    place = evidence.offered.index(evidence.gold.key) + 1
    return found(
        f"{evidence.gold.key} stood at place {place} of {count} offered tools",
        f"{evidence.gold.key} 位于 {count} 个工具中的第 {place} 位",
        offered=count,
        place=place,
    )


def _is_rival(evidence: DecisionEvidence) -> bool:
    seen = evidence.wrong_choice
    return seen is not None and (seen.tool is None or evidence.is_look_alike(seen.key))


def no_call(evidence: DecisionEvidence) -> Found | None:
    """Nothing was called where the call was due."""
    if not evidence.is_missed or _calls_made(evidence) or _repeated(evidence):
        return None
    said = evidence.last_words[:120].replace("\n", " ")
    ended = evidence.attempt.state == "agent_timeout"
    return found(
        f"no call was made{'; the time limit ended the attempt' if ended else ''}"
        + (f"; the model said: {said}" if said else ""),
        f"没有发起调用{'；到达时限' if ended else ''}" + (f"；模型说：{said}" if said else ""),
    )


def left_out(evidence: DecisionEvidence) -> Found:
    """The call was not made; those made where it was due stand in for other steps, or repeat what answers one."""
    names = list(dict.fromkeys(seen.key or seen.call.name for seen, _ in evidence.extras))
    shown = ", ".join(names[:5])
    return found(
        f"{evidence.gold.key} was not called"
        + (f"; the calls made there belong to other steps: {shown}" if shown else ""),
        f"没有调用 {evidence.gold.key}" + (f"；当时的调用属于其他步骤：{shown}" if shown else ""),
        called=names,
    )


def over_called(evidence: DecisionEvidence) -> Found | None:
    """The tool was reached over a call that should not have been made: a forbidden tool, or a write."""
    if not evidence.decision.detour:
        return None
    for seen, extra in evidence.extras:
        writes = seen.tool is not None and bool(seen.tool.effects & {"write", "destructive"})
        if extra.kind == "forbidden" or writes:
            return found(
                f"{seen.key or seen.call.name} was called too, and should not have been",
                f"多余地调用了 {seen.key or seen.call.name}",
                tool=seen.key,
            )
    return None


def loop(evidence: DecisionEvidence) -> Found | None:
    """The same call was made again and again."""
    repeated = _repeated(evidence) if not evidence.decision.decision_success else None
    if repeated is None:
        return None
    name, count = repeated
    return found(
        f"{name} was called {count} times with the same arguments",
        f"以相同参数调用 {name} 共 {count} 次",
        tool=name,
        count=count,
    )


def _repeated(evidence: DecisionEvidence) -> tuple[str, int] | None:
    name, count = evidence.attempt.most_repeated
    return (name, count) if count >= _REPEATS else None


def wrong_order(evidence: DecisionEvidence) -> Found | None:
    """The tool was called, at another place than the path wants."""
    decision = evidence.decision
    if decision.order_right:
        return None
    return found(
        f"{evidence.gold.key} was called out of order",
        f"{evidence.gold.key} 的调用顺序不对",
        step=str(decision.step),
    )


CHOICE_DETECTORS: dict[str, Detector] = {
    "unparsable_call": unparsable_call,
    "name_hallucinated": name_hallucinated,
    "talked_not_called": talked_not_called,
    "rival_chosen": rival_chosen,
    "context_overload": context_overload,
    "crowded_out": crowded_out,
    "no_call": no_call,
    "over_called": over_called,
    "loop": loop,
    "wrong_order": wrong_order,
}
