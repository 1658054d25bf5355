"""The sections of equations of motion and of general systems, from functions."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .arrays import ExprArray
from .errors import TraceError
from .expr import Expr, unknown
from .sections import MOTION, Sections
from .tracing import Tracer, number, place, putter


def begun(name: str, kind: str, description: str, time: Any, parameters: Mapping[str, Any] | None, solve: Mapping[str, Any] | None) -> tuple[Sections, Tracer]:
    made = Sections(name, kind, description=description, solve=dict(solve or {}))
    own: dict[str, Any] = {}
    late: dict[str, Callable[..., Any]] = {}
    for key, value in (parameters or {}).items():
        if callable(value):
            late[key], own[key] = value, 0.0
        elif isinstance(value, str):
            own[key] = value
        elif np.ndim(value) > 0:
            own[key] = np.asarray(value, dtype=float).tolist()
        else:
            own[key] = number(value, f"parameters.{key}")
    made.parameters = own
    if late or time is not None:
        first = Tracer(made, {})
        for key, function in late.items():
            first.later(first.value(function, f"parameters.{key}"), putter(own, key), f"parameters.{key}")
        if time is not None:
            if len(time) != 2:
                raise TraceError("time is a pair: begin and end")
            made.time = ["", ""]
            for k, moment in enumerate(time):
                first.later(first.value(moment, "time"), putter(made.time, k), "time")
        # parameters are no place for definitions
        first.finish("")
    return made, Tracer(made)


def motion_sections(
    name: str, *, positions: Sequence[str], velocities: Sequence[str], description: str, time: Any, parameters: Mapping[str, Any] | None,
    solve: Mapping[str, Any] | None, equations: Callable[..., Any] | None, lagrangian: Callable[..., Any] | None, constraint_forces: bool,
    fix: Mapping[str, Any], guess: Mapping[str, Any], conditions: Any, output: Mapping[str, Any], events: Sequence[Any], given: dict[str, Any],
) -> Sections:  # fmt: skip
    """The sections of equations of motion."""
    made, _ = begun(name, "motion", description, time, parameters, solve)
    made.names = {"positions": list(positions), "velocities": list(velocities)}
    for block in ("dynamic", "auxiliary", "contact"):
        if given.get(block):
            made.names[block] = list(given[block])
    for block, letter in (("holonomic", "lambda"), ("nonholonomic", "mu")):
        made.names[letter] = _multipliers(given.get(block), letter)
    tracer = Tracer(made)
    prepare(tracer, given.get("kinematics"))
    if equations is not None:
        returned = tracer.value(equations, "equations")
        if not isinstance(returned, Mapping):
            raise TraceError(f"{place(equations)} returns {type(returned).__name__}; a dict of the sections is expected: dict(mass=…, forces=…, holonomic=…)")
        for key in returned:
            if key not in MOTION and key != "lagrangian":
                raise TraceError(f"{place(equations)}: {unknown(str(key), [*MOTION, 'lagrangian'])}")
            if given.get(key) is not None:
                raise TraceError(f"{key} is given twice: as an argument, and by {place(equations)}")
            given[key] = returned[key]
            made.origins[str(key)] = place(equations)
        lagrangian = given.pop("lagrangian", lagrangian)
        for block, letter in (("holonomic", "lambda"), ("nonholonomic", "mu")):
            if block in returned:
                made.names[letter] = _multipliers(given[block], letter)
    if lagrangian is not None:
        if given.get("mass") is not None:
            raise TraceError("mass follows from the lagrangian; give one of them")
        given["mass"], given["forces"] = _from_lagrangian(tracer, lagrangian, given.get("forces"))
    for key in MOTION:
        if given.get(key) is not None:
            made.body[key] = tracer.entry(given[key], key)
    if constraint_forces:
        made.body["constraint_forces"] = True
    start(tracer, made, fix, guess, conditions, output, events)
    tracer.finish()
    return made


def dae_sections(
    name: str, function: Any, *, states: Sequence[str], description: str, time: Any, parameters: Mapping[str, Any] | None, solve: Mapping[str, Any] | None,
    fix: Mapping[str, Any], guess: Mapping[str, Any], conditions: Any, output: Mapping[str, Any], events: Sequence[Any], given: dict[str, Any],
    explicit: bool = False,
) -> Sections:  # fmt: skip
    """The sections of a general system; if it is explicit, the function gives the rates of the states."""
    made, _ = begun(name, "dae", description, time, parameters, solve)
    made.names = {"states": list(states), "rates": [f"der({state})" for state in states]}
    tracer = Tracer(made)
    prepare(tracer, None)
    equations = tracer.entry(function, "equations")
    free = given.pop("free", None)
    for key in ("invariants", "hidden"):
        if given.get(key) is not None:
            made.body[key] = tracer.entry(given[key], key)
    start(tracer, made, fix, guess, conditions, output, events)
    tracer.finish()
    if explicit:
        if isinstance(equations, dict) and set(equations) == set(states):
            equations = [equations[state] for state in states]
        if isinstance(equations, dict) or len(equations) != len(states):
            raise TraceError(f"{place(function)} returns {len(equations)} rates for {len(states)} states; they stand in the order of the states, or by their names")
        made.body["equations"] = {state: f"der({state}) = {rate}" for state, rate in zip(states, equations, strict=True)}
    else:
        made.body["equations"] = (
            {key: _equation(text) for key, text in equations.items()} if isinstance(equations, dict) else [_equation(text) for text in equations]
        )
    if free is not None:
        made.body["free"] = list(free)
    return made


def _equation(residual: Any) -> str:
    """A residual as an equation; a text may be one already."""
    text = residual if isinstance(residual, str) else repr(residual)
    return text if re.search(r"(?<![<>=!])=(?!=)", text) else f"{text} = 0"


def _multipliers(given: Any, letter: str) -> list[str]:
    if isinstance(given, Mapping):
        return [f"{letter}.{key}" for key in given]
    if isinstance(given, (list, tuple)):
        return [f"{letter}{k}" for k in range(1, len(given) + 1)]
    return []


def prepare(tracer: Tracer, kinematics: Any) -> None:
    """What rates of variables are."""
    trace, names = tracer.trace, tracer.sections.names
    trace.flow["t"] = Expr(trace, trace.graph.number(1.0))
    trace.input("t")
    for name in tracer.sections.all_names():
        trace.flow[name] = None
    if tracer.sections.kind == "bodies":
        return
    if tracer.sections.kind == "dae":
        for state in names["states"]:
            trace.input(state)
            trace.flow[state] = trace.input(f"der({state})")
            trace.flow[f"der({state})"] = None

            def derivative(order: int, state: str = state) -> Expr:
                return trace.input(f"der({state})" if order == 1 else f"der({state}, {order})")

            trace.orders[state] = derivative
        return
    positions, velocities = names["positions"], names["velocities"]
    for name in [*positions, *velocities]:
        trace.input(name)
    rates: Sequence[Any] | None = None
    if kinematics is None and len(positions) == len(velocities):
        rates = [trace.input(velocity) for velocity in velocities]
    elif kinematics is not None:
        found = tracer.value(kinematics, "kinematics")
        if isinstance(found, Mapping):
            found = [tracer.value(found.get(position, 0.0), f"kinematics.{position}") for position in positions]
        else:
            found = [tracer.value(part, "kinematics") for part in found]
        rates = None if any(isinstance(part, str) for part in found) else [trace.expr(part) for part in found]
    for position, to in zip(positions, rates or [None] * len(positions), strict=False):
        trace.flow[position] = to

    def first(name: str, to: Expr | None) -> Callable[[int], Expr]:
        def derivative(order: int) -> Expr:
            if order != 1 or to is None:
                raise TraceError(f"daedal.der({name}, {order}) is not known; der of a velocity is the acceleration, der of a position its rate")
            return to

        return derivative

    for position in positions:
        trace.orders[position] = first(position, trace.flow[position])
    for velocity in velocities:
        trace.orders[velocity] = first(velocity, trace.input(f"der({velocity})"))


def _from_lagrangian(tracer: Tracer, lagrangian: Any, forces: Any) -> tuple[Any, Any]:
    """M = ∂²L/∂v∂vᵀ, f = ∂L/∂p − (∂²L/∂v∂pᵀ) v − ∂²L/∂v∂t + forces, for p' = v."""
    trace, names = tracer.trace, tracer.sections.names
    positions, velocities = names["positions"], names["velocities"]
    value = tracer.value(lagrangian, "lagrangian")
    origin = tracer.sections.origins.get("lagrangian", "the lagrangian")
    for position, velocity in zip(positions, velocities, strict=False):
        to = trace.flow[position]
        if len(positions) != len(velocities) or to is None or to.handle != trace.input(velocity).handle:
            raise TraceError("a lagrangian needs p' = v: as many velocities as positions, and no kinematics")
    graph, L = trace.graph, trace.handle(value)
    p = [trace.input(name).handle for name in positions]
    v = [trace.input(name).handle for name in velocities]
    n, zero = len(p), graph.number(0.0)

    def gradient(outputs: list[int], inputs: list[int]) -> list[list[int]]:
        rows = [[zero] * len(inputs) for _ in outputs]
        for i, j, entry in graph.jacobian(outputs, inputs):
            rows[i][j] = entry
        return rows

    momentum = gradient([L], v)[0]
    mass = gradient(momentum, v)
    for row in mass:
        for entry in row:
            if set(graph.depends_on(entry)) & set(velocities):
                raise TraceError(f"{origin} is not quadratic in the velocities: {graph.formula(entry)} stands in the mass matrix")
    by_place, by_time = gradient(momentum, p), gradient(momentum, [trace.input("t").handle])
    along = gradient([L], p)[0]
    found = tracer.value(forces, "forces") if forces is not None else [0.0] * n
    if isinstance(found, Mapping):
        found = [tracer.value(found.get(name, 0.0), f"forces.{name}") for name in velocities]
    found = [tracer.value(part, "forces") for part in (found.tolist() if isinstance(found, ExprArray) else found)]
    if len(found) != n:
        raise TraceError(f"{len(found)} forces are given beside the lagrangian for {n} velocities")
    made = []
    for i in range(n):
        f = along[i]
        for j in range(n):
            f = graph.binary("sub", f, graph.binary("mul", by_place[i][j], v[j]))
        f = graph.binary("sub", f, by_time[i][0])
        made.append(Expr(trace, graph.binary("add", f, trace.handle(found[i]))))
    tracer.sections.origins.update({"mass": origin, "forces": origin})
    return [[Expr(trace, entry) for entry in row] for row in mass], made


def start(tracer: Tracer, made: Sections, fix: Mapping[str, Any], guess: Mapping[str, Any], conditions: Any, output: Mapping[str, Any], events: Sequence[Any]) -> None:
    """Initial values, outputs and events."""
    for key, values in (("fix", fix), ("guess", guess)):
        into: dict[str, Any] = getattr(made, key)
        for name, given in values.items():
            value = tracer.value(given, f"initial.{key}.{name}")
            if isinstance(value, (list, tuple, ExprArray)) or (isinstance(value, np.ndarray) and value.ndim > 0):
                names = tracer.scope.arrays.get(name, [])
                if len(names) != len(value):
                    raise TraceError(f"{key}: {name} has {len(names)} entries, and {len(value)} values are given")
                for inner, part in zip(names, value, strict=True):
                    tracer.later(part, putter(into, inner), f"initial.{key}.{inner}")
                continue
            into[name] = None
            tracer.later(value, putter(into, name), f"initial.{key}.{name}")
    if conditions is not None:
        made.conditions = tracer.entry(conditions, "initial.conditions")
    tracer.table(output, "output", made.output)
    for event in events:
        entry = {"name": event.name, "when": "", "action": event.action} if event.name else {"when": "", "action": event.action}
        made.events.append(entry)
        tracer.condition(event.when, f"events.{event.name}", putter(entry, "when"), event.direction)


def added(base: Sections, given: dict[str, Any], output: Mapping[str, Any], fix: Mapping[str, Any], guess: Mapping[str, Any], parameters: Mapping[str, Any]) -> Sections:
    """The same model with more formulas: tables are merged, other keys replaced."""
    made = copy.deepcopy(base)
    made.parameters.update({key: number(value, f"parameters.{key}") for key, value in parameters.items()})
    for block in ("dynamic", "auxiliary", "contact"):
        if given.get(block):
            made.names.setdefault(block, []).extend(key for key in given[block] if key not in made.names.get(block, []))
    for block, letter in (("holonomic", "lambda"), ("nonholonomic", "mu")):
        if given.get(block) is not None:
            before = made.names.get(letter, [])
            made.names[letter] = [*before, *(name for name in _multipliers(given[block], letter) if name not in before)]
    tracer = Tracer(made)
    prepare(tracer, made.body.get("kinematics"))
    for key, value in given.items():
        if value is None:
            continue
        made.body[key] = tracer.entry(value, key, made.body.get(key))
    start(tracer, made, fix, guess, None, output, [])
    tracer.finish("" if made.kind == "bodies" else None)
    return made
