"""Everything wrong with one input, collected, so that a person mends a file once and not once per mistake."""

from __future__ import annotations

from agent_reach.errors import InputError

SHOWN = 20


class Problems:
    """Collects problems and raises them as one error: a single one as it is, several as a list (the first 20)."""

    def __init__(self, error: type[InputError], source: str = "") -> None:
        self.error = error
        self.source = source
        self.found: list[InputError] = []

    def add(self, where: str, message: str, next_step: str = "") -> None:
        """Note one problem."""
        self.found.append(self.error(message, where=where, next_step=next_step))

    def take(self, problem: InputError) -> None:
        """Note a problem that was raised elsewhere."""
        self.found.append(problem)

    def __bool__(self) -> bool:
        return bool(self.found)

    def raise_if_any(self) -> None:
        """Raise the collected problems, if there are any."""
        if not self.found:
            return
        if len(self.found) == 1:
            raise self.found[0]
        self.found.sort(key=lambda problem: _line(problem.where))
        lines = [f"{len(self.found)} problems"]
        lines += [str(problem) for problem in self.found[:SHOWN]]
        if len(self.found) > SHOWN:
            lines.append(f"... and {len(self.found) - SHOWN} more")
        steps = {problem.next_step for problem in self.found}
        step = "mend each of them" if len(steps) > 1 else ""
        raise self.error("\n".join(lines), where=self.source, next_step=step)


def _line(where: str) -> tuple[str, int]:
    """File and line of a place, to list problems as they stand in the file."""
    source, _, rest = where.rpartition(":")
    if rest.isdigit() and source.rpartition(":")[2].isdigit():
        source, _, rest = source.rpartition(":")  # file:line:column
    return (source, int(rest)) if rest.isdigit() else (where, 0)
