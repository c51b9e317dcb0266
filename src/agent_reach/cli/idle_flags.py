"""Flags that mean something only beside another one, refused where that other is missing.

A flag that changes nothing looks like one that worked: `--dry-run` that is not heeded, a file that is never written.
"""

from __future__ import annotations

import click

from agent_reach.errors import InputError


def refuse_idle_flags(needed: str, *names: str) -> None:
    """Raise `InputError` for a parameter of the running command that was written out, since `needed` was not given."""
    from click.core import ParameterSource

    context = click.get_current_context()
    flags = {parameter.name: max(parameter.opts, key=len) for parameter in context.command.params}
    for name in names:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise InputError(
                f"this does nothing without {needed}", where=flags[name], next_step=f"add {needed}"
            )
