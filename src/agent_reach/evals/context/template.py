"""A user message written by a template of one's own (Jinja, sandboxed).

A template sees `request` (text), every section as text under its kind (`{{ constraint }}`, `{{ retrieval }}`,
`{{ tools }}`, `{{ state_slot }}`), and the blocks themselves under `blocks` (`{% for block in blocks.retrieval %}` with
`id, text, score, partition`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from agent_reach.errors import ConfigError
from agent_reach.records.context import BLOCK_KINDS, ContextBlock


def render_template(
    text: str, *, request: str, blocks: Mapping[str, Sequence[ContextBlock]], sections: Mapping[str, str]
) -> str:
    """The message; raises `ConfigError` with the line where the template is wrong."""
    from jinja2 import TemplateError, TemplateSyntaxError

    values: dict[str, Any] = dict.fromkeys(BLOCK_KINDS, "")
    values.update(sections)
    values["request"] = request
    values["blocks"] = {kind: tuple(blocks.get(kind, ())) for kind in BLOCK_KINDS}
    try:
        return str(_compiled(text).render(values)).strip()
    except TemplateSyntaxError as error:
        raise ConfigError(
            f"the template is wrong: {error.message}", where=f"context.template, line {error.lineno}"
        ) from error
    except TemplateError as error:
        raise ConfigError(f"the template is wrong: {error.message}", where="context.template") from error
    except Exception as error:  # whatever its expressions raise is the template's fault, never the agent's
        raise ConfigError(
            f"the template raised {type(error).__name__}: {error}", where="context.template"
        ) from error


@cache
def _compiled(text: str) -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(text)
