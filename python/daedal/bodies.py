"""The sections of bodies, joints and forces, from tables and functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .arrays import ExprArray
from .equations import begun, prepare, start as begin
from .errors import OptionError, TraceError
from .options import nearest
from .sections import BODIES, Sections
from .switching import Transition, write_transitions
from .tracing import Tracer, number, putter

BALANCES = ("energy", "momentum", "angular_momentum")

OWN = {
    ("spring", "force"): ("length", "speed"), ("torsion", "torque"): ("angle", "rate"), ("linear", "force"): ("travel", "speed"),
    ("actuator", "torque"): ("angle", "rate"), ("actuator", "force"): ("travel", "speed"), ("coupler", "function"): ("x",),
}  # fmt: skip
"""What the formulas of an element see of the element itself."""

MODE_KEYS = ("description", "parameters", "without", "method", "formulation", "restart", "keep", "dwell")

Tables = Mapping[str, Mapping[str, Any]] | Sequence[Mapping[str, Any]]


def bodies_sections(
    name: str, *, tables: Mapping[str, Tables | None], world: Mapping[str, Any], dynamic: Mapping[str, Any], description: str, time: Any,
    parameters: Mapping[str, Any] | None, solve: Mapping[str, Any] | None, modes: Mapping[str, Mapping[str, Any]], transitions: Sequence[Transition],
    first: str | None, sliding: Mapping[str, Any], fix: Mapping[str, Any], guess: Mapping[str, Any], conditions: Any, output: Mapping[str, Any],
    events: Sequence[Any], picture: Mapping[str, Any],
) -> Sections:  # fmt: skip
    """The sections of a mechanism that is drawn."""
    made, _ = begun(name, "bodies", description, time, parameters, solve)
    listed = {block: _listed(block, tables.get(block)) for block in BODIES}
    made.names = {"dynamic": list(dynamic)} if dynamic else {}
    made.parts = [*_parts(listed), *BALANCES]
    for mode, given in modes.items():
        _mode(made, mode, given)
    tracer = Tracer(made)
    prepare(tracer, None)
    for key, value in world.items():
        _tree(tracer, value, f"world.{key}", putter(made.world, key))
    for block, entries in listed.items():
        made.tables[block] = [_entry(tracer, block, entry) for entry in entries]
    if dynamic:
        made.body["dynamic"] = tracer.table(dynamic, "dynamic")
    for key, value in picture.items():
        _tree(tracer, value, f"picture.{key}", putter(made.picture, key))
    begin(tracer, made, fix, guess, conditions, output, events)
    # formulas of elements know lengths and angles that definitions do not: they are written out in full
    tracer.finish("")
    if modes:
        made.start, made.sliding = first, dict(sliding)
        write_transitions(made, transitions, dict.fromkeys(modes, made.names), made.names)
    elif transitions or sliding or first is not None:
        raise OptionError("transitions, sliding and start belong to models with modes, and this one has none")
    return made


def _listed(block: str, given: Tables | None) -> list[dict[str, Any]]:
    """Tables by name, or a list of them."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        pairs = [(str(name), entry) for name, entry in given.items()]
    elif isinstance(given, (list, tuple)):
        pairs = [("", entry) for entry in given]
    else:
        raise TraceError(f"{block} are tables by name, or a list of tables, not {type(given).__name__}")
    made = []
    for name, entry in pairs:
        if not isinstance(entry, Mapping):
            raise TraceError(f"{block}: {name or 'an entry'} is a table of keys and values, not {type(entry).__name__}")
        made.append({**({"name": name} if name else {}), **entry})
    return made


def _parts(listed: Mapping[str, list[dict[str, Any]]]) -> list[str]:
    """Names that a function can take: those of bodies, points, joints and forces, without indices."""
    found = [str(entry["name"]).split("[")[0] for entries in listed.values() for entry in entries if "name" in entry]
    return list(dict.fromkeys(found))


def _entry(tracer: Tracer, block: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """One table; its functions see indices of its repetition and what its kind has."""
    made: dict[str, Any] = {}
    where = f"{block}.{entry.get('name', '')}"
    indices = re.findall(r"(\w+)\s+in\s", str(entry.get("for", "")))
    for key, value in entry.items():
        tracer.scope.local = (*indices, *OWN.get((str(entry.get("kind")), key), ()))
        _tree(tracer, value, f"{where}.{key}", putter(made, key))
    tracer.scope.local = ()
    return made


def _tree(tracer: Tracer, given: Any, where: str, put: Callable[[Any], None]) -> None:
    """Numbers, texts and functions in lists and tables of any depth."""
    value = tracer.value(given, where)
    if isinstance(value, ExprArray) or (isinstance(value, np.ndarray) and value.ndim > 0):
        value = value.tolist()
    if isinstance(value, Mapping):
        table: dict[str, Any] = {}
        put(table)
        for key, part in value.items():
            _tree(tracer, part, where, putter(table, str(key)))
    elif isinstance(value, (list, tuple)):
        entries: list[Any] = [None] * len(value)
        put(entries)
        for k, part in enumerate(value):
            _tree(tracer, part, where, putter(entries, k))
    elif isinstance(value, (bool, np.bool_)):
        put(bool(value))
    else:
        tracer.later(value, put, where)


def _mode(made: Sections, mode: str, given: Mapping[str, Any]) -> None:
    if not isinstance(given, Mapping):
        raise OptionError(f"the mode {mode!r} is a table such as {{'without': [\"slot\"]}}, not {type(given).__name__}")
    for key in given:
        if key not in MODE_KEYS:
            raise OptionError(f"a mode has no option {key}{nearest(key, list(MODE_KEYS))}")
    own = {key: number(value, f"modes.{mode}.parameters.{key}") for key, value in (given.get("parameters") or {}).items()}
    made.modes[mode] = Sections(mode, "bodies", description=given.get("description", ""), parameters=own)
    made.mode_options[mode] = {key: value for key, value in given.items() if key not in ("description", "parameters")}
