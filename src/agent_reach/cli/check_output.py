"""A first look as plain lines for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.evals.check.first_look import FirstLook, Fix
from agent_reach.records.message import Language, Message
from agent_reach.reports.figures import fit, plural, wrap

_WIDTH = 80


def first_look_lines(look: FirstLook, language: Language) -> list[str]:
    """Servers and weight, what failed, look-alikes, what breaks clients, dead tools, and the fixes that pay most."""
    return [
        line
        for part in (_head, _servers, _failures, _alike, _breaking, _dead, _fixes)
        for line in part(look, language)
    ]


def _say(language: Language, en: str, zh: str) -> str:
    return Message(en, zh).text(language)


def _head(look: FirstLook, language: Language) -> Iterator[str]:
    over = ", ".join(map(str, look.limits_passed))
    on = f" on {len(look.servers)} servers" if len(look.servers) > 1 else ""
    text = _say(
        language,
        f"{plural(look.tools, 'tool')}{on}, about {look.tokens:,} tokens in every prompt"
        + (f"; more than the {over} tools that hosts show" if over else ""),
        f"{len(look.servers)} 个服务器上有 {look.tools} 个工具，每次提示约占 {look.tokens} 个 token"
        + (f"；超过宿主可展示的 {over} 个工具" if over else ""),
    )
    yield from wrap(text, _WIDTH)
    yield ""


def _servers(look: FirstLook, language: Language) -> Iterator[str]:
    yield f"  {fit(_say(language, 'server', '服务器'), 26)} {fit(_say(language, 'tools', '工具'), 8)}{fit('token', 9)}{_say(language, 'protocol', '协议')}"
    for server in look.servers:
        if server.failed is not None:
            yield f"x {fit(server.name or '-', 26)} {_say(language, 'failed', '失败')}"
            yield from wrap(server.failed.text(language), _WIDTH, first="    ", indent="    ")
            if server.fix is not None:
                yield from wrap(f"-> {server.fix.text(language)}", _WIDTH, first="    ", indent="       ")
            continue
        extra = (
            _say(language, f" ({server.quarantined} unusable)", f"（{server.quarantined} 个不可用）")
            if server.quarantined
            else ""
        )
        yield f"+ {fit(server.name or '-', 26)} {server.tools:<8}{server.tokens:<9}{server.protocol}{extra}".rstrip()
    yield ""


def _failures(look: FirstLook, language: Language) -> Iterator[str]:
    shown = [finding for finding in look.load_findings if finding.code != "server_failed"]
    if not shown:
        return
    yield _say(language, f"Loading said {len(shown)} things", f"加载时有 {len(shown)} 条发现")
    for finding in shown[:8]:
        mark = "x" if finding.severity == "error" else "!"
        yield from wrap(
            f"{mark} {finding.subject} {finding.pointer}: {finding.message.text(language)}",
            _WIDTH,
            first="  ",
            indent="    ",
        )
    if len(shown) > 8:
        yield _say(language, f"  ... and {len(shown) - 8} more", f"  ……另有 {len(shown) - 8} 条")
    yield ""


def _alike(look: FirstLook, language: Language) -> Iterator[str]:
    pairs = look.look_alikes
    if not pairs:
        return
    yield _say(language, f"Look-alikes: {len(pairs)} pairs", f"相似工具：{len(pairs)} 对")
    for pair in pairs[:6]:
        apart = ", ".join([*pair.left_only[:3], *pair.right_only[:3]]) or "-"
        text = _say(
            language,
            f"{pair.left} ~ {pair.right} ({pair.score:.2f}); apart: {apart}",
            f"{pair.left} ~ {pair.right}（{pair.score:.2f}）；区别：{apart}",
        )
        yield from wrap(text, _WIDTH, first="  ", indent="    ")
    if len(pairs) > 6:
        yield _say(
            language, f"  ... and {len(pairs) - 6} more (--json)", f"  ……另有 {len(pairs) - 6} 对（--json）"
        )
    yield ""


def _breaking(look: FirstLook, language: Language) -> Iterator[str]:
    if not look.breaking:
        return
    codes: dict[str, list[str]] = {}
    for finding in look.breaking:
        codes.setdefault(finding.code, []).append(finding.subject)
    yield _say(language, "What strict clients or model interfaces refuse", "严格的客户端或模型接口会拒绝的")
    from agent_reach.lint.table import RULES

    for code, subjects in sorted(codes.items()):
        names = list(dict.fromkeys(subjects))
        yield from wrap(
            f"{code} {RULES[code].summary.text(language)} {len(subjects)}: {', '.join(names[:4])}",
            _WIDTH,
            first="  ",
            indent="    ",
        )
    yield ""


def _dead(look: FirstLook, language: Language) -> Iterator[str]:
    usage = look.usage
    if not usage.traces:
        return
    yield _say(
        language,
        f"{sum(usage.calls.values())} calls in {usage.traces} traces: {len(usage.calls)} tools called, {len(usage.never_called)} never called, {len(usage.never_offered)} never offered",
        f"{usage.traces} 条轨迹共 {sum(usage.calls.values())} 次调用：{len(usage.calls)} 个工具被调用，{len(usage.never_called)} 个从未被调用，{len(usage.never_offered)} 个从未被提供",
    )
    for told, keys in (
        (_say(language, "never called", "从未被调用"), usage.never_called),
        (_say(language, "never offered", "从未被提供"), usage.never_offered),
    ):
        if keys:
            yield from wrap(
                f"{told}: {', '.join(keys[:12])}{' ...' if len(keys) > 12 else ''}",
                _WIDTH,
                first="  ",
                indent="    ",
            )
    if usage.unknown_names:
        names = ", ".join(f"{name} ({count})" for name, count in list(usage.unknown_names.items())[:6])
        yield from wrap(
            f"{_say(language, 'called, but no such tool', '被调用但不存在的名称')}: {names}",
            _WIDTH,
            first="  ",
            indent="    ",
        )
    yield ""


def _touched(fix: Fix, calls: str, language: Language) -> str:
    if fix.servers or not (fix.tools or calls):
        return ""
    return _say(language, f" ({plural(fix.tools, 'tool')}{calls})", f"（{fix.tools} 个工具{calls}）")


def _fixes(look: FirstLook, language: Language) -> Iterator[str]:
    if not look.fixes:
        yield _say(language, "Nothing to mend was found.", "没有发现需要修改的地方。")
        return
    yield _say(language, "First fixes, by what they touch", "首要修改，按影响排序")
    for number, fix in enumerate(look.fixes, 1):
        calls = _say(language, f", {fix.calls} calls", f"，{fix.calls} 次调用") if fix.calls else ""
        touched = _touched(fix, calls, language)
        yield from wrap(f"{number:>2}. {fix.action.text(language)}", _WIDTH, first="", indent="    ")
        yield from wrap(
            f"{fix.code} {fix.title.text(language)}{touched}", _WIDTH, first="    ", indent="      "
        )
        if fix.places:
            yield from wrap(", ".join(fix.places), _WIDTH, first="    ", indent="      ")
