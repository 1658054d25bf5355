"""Transitions between modes, from functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import OptionError
from .options import nearest
from .sections import Sections
from .tracing import Tracer, putter


@dataclass(frozen=True)
class Transition:
    """A way from one mode to another: when a condition becomes true, at times, or every so often."""

    source: str | Sequence[str]
    target: str
    when: Any = None
    at: Any = None
    every: Any = None
    first: Any = None
    set: Mapping[str, Any] | None = None
    priority: int | None = None
    hysteresis: float | None = None
    restart: str | None = None
    keep: Sequence[str] | None = None
    after_accumulation: str | None = None


def write_transitions(made: Sections, transitions: Sequence[Transition], of: Mapping[str, Mapping[str, list[str]]], shared: Mapping[str, list[str]]) -> None:
    """The transitions of a model whose modes have these names; a transition from several modes sees what they share."""
    for transition in transitions:
        sources = [transition.source] if isinstance(transition.source, str) else list(transition.source)
        for mode in [*(mode for mode in sources if mode != "*"), transition.target]:
            if mode not in of:
                raise OptionError(f"there is no mode {mode}{nearest(mode, list(of))}")
        names = of[sources[0]] if len(sources) == 1 and sources[0] in of else shared
        tracer = Tracer(made, dict(names))
        where = f"transitions.{len(made.transitions)}"
        entry: dict[str, Any] = {"from": sources[0] if len(sources) == 1 else sources, "to": transition.target}
        made.transitions.append(entry)
        if transition.when is not None:
            entry["when"] = ""
            tracer.condition(transition.when, f"{where}.when", putter(entry, "when"))
        for key in ("at", "every", "first", "priority", "hysteresis", "restart", "after_accumulation"):
            value = getattr(transition, key)
            if value is not None:
                entry[key] = list(value) if isinstance(value, (list, tuple)) else value
        if transition.keep is not None:
            entry["keep"] = list(transition.keep)
        if transition.set is not None:
            entry["set"] = tracer.table(transition.set, f"{where}.set")
        # conditions and jumps are formulas of one mode: they are written out in full
        tracer.finish("")
