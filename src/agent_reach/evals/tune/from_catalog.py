"""Proposals out of lint findings and of the exposure: pieces of overlay, tools to hide, the number of candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent_reach.config.settings import RunConfig
from agent_reach.evals.interventions.base import Situation
from agent_reach.evals.tune.from_failures import border_proposal
from agent_reach.evals.tune.proposals import Proposal, merged
from agent_reach.lint.catalog import lint_catalog
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.report import SimilarPair
from agent_reach.records.task import Task

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

_EMPTY: tuple[Any, ...] = (None, "", [], {}, ())


def lint_proposals(
    catalog: Catalog, pairs: tuple[SimilarPair, ...], concerned: Collection[str]
) -> Iterator[Proposal]:
    """What lint would write: each kind of mend for the whole catalog, then each place of a tool that took part in failures.

    `pairs` are the look-alike pairs of the catalog. Places that lint leaves to a person are passed over.
    """
    findings = lint_catalog(catalog, pairs=pairs).findings
    yield from _bundles(catalog, pairs, findings)
    for finding in findings:
        written = finding.data.get("proposal")
        if finding.subject not in concerned or not isinstance(written, Mapping):
            continue
        patch = _filled(written)
        if patch:
            yield Proposal(
                name=f"{finding.code} {finding.subject} {finding.pointer}".strip(),
                kind="lint",
                why=finding.message,
                patch=patch,
                tools=(finding.subject,),
            )


def _bundles(
    catalog: Catalog, pairs: Sequence[SimilarPair], findings: Sequence[Finding]
) -> Iterator[Proposal]:
    """One proposal per kind of mend for the whole catalog: only these can be confirmed on tools that no tuning task needs."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for finding in findings:
        patch = _filled(finding.data.get("proposal"))
        if patch:
            groups.setdefault(finding.code, []).append(patch)
    borders = [border_proposal(catalog.get(pair.left), catalog.get(pair.right), ()).patch for pair in pairs]
    if borders:
        groups["borders"] = borders
    for code, patches in groups.items():
        patch = merged(patches)
        tools = tuple(patch.get("tools", ()))
        if len(tools) > 1:
            words = Message("mutual borders", "相互边界") if code == "borders" else Message(code, code)
            yield Proposal(
                name=f"{code} everywhere",
                kind="bundle",
                why=Message(f"{words.en} for {len(tools)} tools", f"{len(tools)} 个工具的{words.zh}"),
                patch=patch,
                tools=tools,
            )


def _filled(value: Any) -> Any:
    """The value without its empty places."""
    if isinstance(value, Mapping):
        kept = {key: inner for key, item in value.items() if (inner := _filled(item)) not in _EMPTY}
        return kept or None
    if isinstance(value, (list, tuple)):
        return [inner for item in value if (inner := _filled(item)) not in _EMPTY]
    return value


def exposure_proposals(
    catalog: Catalog,
    pairs: Sequence[SimilarPair],
    config: RunConfig,
    situations: Sequence[Situation],
    tasks: Sequence[Task],
) -> Iterator[Proposal]:
    """Tools that no task needs and that stood in for right ones, or that another wholly covers; more or fewer candidates.

    `pairs` are the look-alike pairs of the catalog.
    """
    needed = {
        tool.key
        for task in tasks
        for name in (*(call.tool for path in task.paths for call in path.calls), *task.forbid)
        if (tool := catalog.resolve(name)) is not None
    }
    wrongly = Counter(key for situation in situations for key in situation.chosen)
    covered = _covered(catalog, pairs, needed)
    for key, count in wrongly.most_common():
        if key not in needed:
            by = covered.get(key)
            tasks_hit = tuple(dict.fromkeys(s.task.id for s in situations if key in s.chosen))
            yield Proposal(
                name=f"hide {key}",
                kind="merged" if by else "hidden",
                why=Message(
                    f"no task needs it, and it was called {count} times instead of a right tool"
                    + (f"; {by} covers it" if by else ""),
                    f"没有任务需要它，却有 {count} 次被误用" + (f"；{by} 已涵盖它" if by else ""),
                ),
                hide=(key,),
                tasks=tasks_hit,
                tools=(key,),
            )
    for key, by in covered.items():
        if key not in needed and key not in wrongly:
            why = Message(f"no task needs it, and {by} covers it", f"没有任务需要它，且 {by} 已涵盖它")
            yield Proposal(name=f"hide {key}", kind="merged", why=why, hide=(key,), tools=(key,))
    if config.exposure.mode == "reach":
        yield from _candidates(config, situations)


def _covered(catalog: Catalog, pairs: Sequence[SimilarPair], needed: set[str]) -> dict[str, str]:
    """Tool -> a look-alike that is needed and takes all its parameters."""
    found: dict[str, str] = {}
    for pair in pairs:
        for key, other in ((pair.left, pair.right), (pair.right, pair.left)):
            own, by = catalog.get(key), catalog.get(other)
            if other in needed and key not in needed and set(own.parameters) <= set(by.parameters):
                found.setdefault(key, other)
    return found


def _candidates(config: RunConfig, situations: Sequence[Situation]) -> Iterator[Proposal]:
    now = config.exposure.surface.max_tools or int(config.exposure.settings.get("k", 8))
    missing = tuple(dict.fromkeys(s.task.id for s in situations if s.cause == "not_recalled"))
    mixed = tuple(dict.fromkeys(s.task.id for s in situations if s.chosen))
    fewer = sorted({max(2, now // 2), max(2, now // 4)}, reverse=True)
    wanted = [(now + 4, missing), (now + 8, missing), *((count, mixed) for count in fewer)]
    for count, tasks in wanted:
        if tasks and count != now:
            yield Proposal(
                name=f"{count} candidates",
                kind="candidates",
                why=Message(
                    f"the reach layer offers {count} instead of {now}",
                    f"触达层提供 {count} 个，而不是 {now} 个",
                ),
                candidates=count,
                tasks=tasks,
            )
