"""Models whose functions are called at every evaluation: for what cannot be traced, such as functions of other programs, tables and loops that end by a value.

The price is told by the book: Jacobians by differences, one thread, ten to a hundred times the time of a formula, and hidden constraints by hand.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from . import _native
from .errors import OptionError, TraceError
from .expr import unknown
from .model import Model, call
from .options import nearest
from .tracing import BLOCKS, number, place

Floats = NDArray[np.float64]

LOOK_AGAIN = 1000
"""Calls after which the first point is evaluated again: a thousandth of the time finds functions that change."""

MECHANICAL = (
    "forces", "auxiliary", "holonomic_acceleration", "nonholonomic_acceleration", "holonomic_velocity", "nonholonomic", "invariants", "holonomic", "dynamic",
    "kinematics",
)  # fmt: skip
"""The functions of a motion, in the order in which the native half takes their values."""

OF_BLOCK = {"holonomic_velocity": "holonomic", "holonomic_acceleration": "holonomic", "nonholonomic_acceleration": "nonholonomic",
            "forces": "velocities", "kinematics": "positions"}  # fmt: skip
"""Of what each value is one, where the name of the function does not say it."""


class NamedArray(np.ndarray[Any, np.dtype[np.float64]]):
    """Multipliers, by number or by the name of their constraint."""

    keys: list[str]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self.keys:
                raise TraceError(unknown(key, self.keys))
            key = self.keys.index(key)
        return super().__getitem__(key)


class Par:
    """All parameters, as numbers: `par.m`, `par["m"]`."""

    def __init__(self, values: Mapping[str, Any]):
        self._values = values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            raise TraceError(f"no such parameter: {unknown(name, list(self._values))}")
        return self._values[name]


class Arguments:
    """What the arguments of functions are, at a point with all of its values in one array."""

    def __init__(self, blocks: Mapping[str, list[str]], parameters: Mapping[str, Any]):
        self.names = [name for names in blocks.values() for name in names]
        self.blocks: dict[str, tuple[int, list[str]]] = {}
        begin = 0
        for block, names in blocks.items():
            self.blocks[block] = (begin, names)
            begin += len(names)
        self.parameters = parameters

    def find(self, name: str) -> Callable[[float, Floats], Any] | None:
        """How an argument of this name is taken from a point."""
        if name == "t":
            return lambda t, z: t
        of_states = [n for block, (_, names) in self.blocks.items() if block not in ("lambda", "mu", "rates") for n in names]
        if name in of_states:
            at = self.names.index(name)
            return lambda t, z: z[at]
        entries = [self.names.index(n) for n in of_states if re.fullmatch(rf"{re.escape(name)}\[[\d,]+\]", n)]
        if entries:
            return lambda t, z: z[entries]
        if name in self.parameters:
            value = self.parameters[name]
            return lambda t, z: value
        if name == "par":
            par = Par(self.parameters)
            return lambda t, z: par
        for block, (begin, names) in self.blocks.items():
            if name in (block, BLOCKS[block]):
                part = slice(begin, begin + len(names))
                if block not in ("lambda", "mu"):
                    return lambda t, z: z[part]
                keys = [full.split(".", 1)[-1] for full in names]

                def multipliers(t: float, z: Floats) -> NamedArray:
                    made = z[part].view(NamedArray)
                    made.keys = keys
                    return made

                return multipliers
        return None

    def bound(self, function: Callable[..., Any]) -> Callable[[float, Floats], Any]:
        """The function of a point that calls this one with what its arguments name."""
        takes: dict[str, Callable[[float, Floats], Any]] = {}
        for argument in inspect.signature(function).parameters.values():
            if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
                raise TraceError(f"{place(function)} takes *args or **kwargs; its arguments must name what it sees")
            found = self.find(argument.name)
            if found is not None:
                takes[argument.name] = found
            elif argument.default is argument.empty:
                known = ["t", *self.names, *self.parameters, *(BLOCKS[block] for block in self.blocks), "par"]
                raise TraceError(f"{place(function)}: {unknown(argument.name, known)}")
        return lambda t, z: function(**{name: take(t, z) for name, take in takes.items()})


class Rows:
    """One function, or functions by name or in a list, that give a number for each of these names."""

    def __init__(self, arguments: Arguments, given: Any, where: str, names: Sequence[str]):
        self.where, self.names = where, list(names)
        self.single: Callable[[float, Floats], Any] | None = None
        self.several: list[Callable[[float, Floats], Any]] = []
        self.told = where
        if callable(given):
            self.single, self.told = arguments.bound(given), f"{where}, {place(given)}"
            return
        if not isinstance(given, (Mapping, list, tuple, np.ndarray)):
            raise TraceError(f"{where}: a function, or functions by name or in a list, are expected, not {type(given).__name__}")
        parts = self._in_order(given)
        if len(parts) != len(self.names):
            raise TraceError(f"{where}: {len(parts)} are given, and {len(self.names)} are needed")
        for part in parts:
            if isinstance(part, str):
                raise TraceError(f"{where}: a text is a formula, which a model without trace=False has; here functions are called")
            self.several.append(arguments.bound(part) if callable(part) else self._number(number(part, where)))

    @staticmethod
    def _number(value: float) -> Callable[[float, Floats], Any]:
        return lambda t, z: value

    def _in_order(self, given: Any) -> list[Any]:
        """What stands by name, in the order of the names."""
        if not isinstance(given, Mapping):
            return list(given)
        if self.where == "equations":
            return list(given.values())
        if set(given) != set(self.names):
            raise TraceError(f"{self.told}: {', '.join(map(str, given))} are given by name, and {', '.join(self.names)} are needed")
        return [given[name] for name in self.names]

    def at(self, t: float, z: Floats) -> Floats:
        found = self.single(t, z) if self.single is not None else [one(t, z) for one in self.several]
        try:
            values = np.asarray(self._in_order(found) if isinstance(found, Mapping) else found, dtype=float)
        except TraceError:
            raise
        except (TypeError, ValueError):
            raise TraceError(f"{self.told}: numbers are expected, not {found!r}") from None
        if values.shape != (len(self.names),):
            raise TraceError(f"{self.told}: {len(self.names)} numbers are expected, and the shape of what is returned is {values.shape}")
        return values


class Watch:
    """Looks now and then whether the functions still give what they gave first."""

    def __init__(self, function: Callable[[float, Floats], Floats], title: str):
        self.function, self.title = function, title
        self.first: tuple[float, Floats, Floats] | None = None
        self.calls = 0

    def __call__(self, t: float, values: bytes) -> bytes:
        z = np.frombuffer(values)
        found = self.function(t, z)
        # a copy: a function may write into the same array in every call
        answer = found.tobytes()
        self.calls += 1
        if self.first is None:
            self.first = (t, z, np.frombuffer(answer))
        elif self.calls == 2 or self.calls % LOOK_AGAIN == 0:
            when, where, before = self.first
            again = self.function(when, where)
            if not np.array_equal(before, again, equal_nan=True):
                k = int(np.argmax(before != again))
                raise OptionError(
                    f"{self.title} changes between calls: at t = {when!r} its row {k} was {float(before[k])!r} at first and is {float(again[k])!r} now; "
                    "a model gives the same values at the same point, so what it remembers belongs to its states"
                )
        return answer


class BlackBox(Model):
    """A model whose functions are called. It lives in this process, and nothing is known of it but values."""

    __slots__ = ("_make", "_values")

    def __init__(self, make: Callable[[Mapping[str, Any]], _native.Model], values: Mapping[str, Any]):
        super().__init__(make(values))
        self._make = make
        self._values = dict(values)

    def set(self, values: Mapping[str, float] | None = None, /, **named: float) -> Model:
        """The same model with some parameters changed."""
        given = {**(values or {}), **named}
        for name in given:
            if name not in self._values:
                raise OptionError(f"there is no parameter {name}{nearest(name, list(self._values))}")
        return BlackBox(self._make, {**self._values, **{name: number(value, f"the parameter {name}") for name, value in given.items()}})

    def kernel(self, kind: str) -> Model:
        raise OptionError(f"{self.name} is a black box: its functions are called, and there is no kernel to choose")

    def add(self, **sections: Any) -> Model:
        raise OptionError(f"{self.name} is a black box, to which no formulas can be added; make it again")

    def to_toml(self) -> str:
        raise OptionError(f"{self.name} is a black box: its functions are called, and there are no formulas that could be written")

    def __reduce__(self) -> NoReturn:
        raise OptionError(
            f"{self.name} is a black box, whose functions cannot go to other processes; make it there again, or write it with functions that can be traced"
        )

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def _made(
    title: str, description: str, time: Any, blocks: Mapping[str, list[str]], start: Mapping[str, Any], plain: bool,
    values: Mapping[str, Any], arguments: Arguments, rows: Callable[[float, Floats], Floats], mass: Callable[[float, Floats], Floats],
) -> _native.Model:  # fmt: skip
    interval: tuple[float, float | None] = (0.0, None)
    if time is not None:
        if np.shape(time) != (2,):
            raise TraceError("time is a pair: begin and end")
        interval = (number(time[0], "time"), number(time[1], "time"))
    listed = [(name, float(value)) for name, value in values.items() if np.ndim(value) == 0]
    said: dict[str, list[tuple[str, float]]] = {"fix": [], "guess": []}
    nowhere = np.full(len(arguments.names), np.nan)
    for key in ("fix", "guess"):
        for name, given in start[key].items():
            value = arguments.bound(given)(interval[0], nowhere) if callable(given) else given
            names = [n for n in arguments.names if n == name] or [n for n in arguments.names if n.startswith(f"{name}[")]
            if np.ndim(value) > 0 and len(names) != np.size(value):
                raise TraceError(f"{key}: {name} has {len(names)} entries, and {np.size(value)} values are given")
            many = np.atleast_1d(np.asarray(value, dtype=float)).tolist()
            said[key] += [(one, number(x, f"{key}.{name}")) for one, x in zip(names if len(many) > 1 else [name], many, strict=True)]
    described = {
        "name": title, "description": description, "parameters": listed, "interval": interval, "plain_kinematics": plain,
        **{block: list(blocks.get(block, [])) for block in ("positions", "velocities", "dynamic", "auxiliary", "holonomic", "nonholonomic", "invariants")},
        **said,
    }  # fmt: skip
    made: _native.Model = call(_native.Model.black_box, json.dumps(described), Watch(rows, title), Watch(mass, f"the mass matrix of {title}"))
    return made


def _nothing(t: float, z: Floats) -> Floats:
    return np.zeros(0)


def general(
    title: str, function: Callable[..., Any], *, states: Sequence[str], algebraic: Sequence[str], explicit: bool, parameters: Mapping[str, Any] | None,
    time: Any, fix: Mapping[str, Any], guess: Mapping[str, Any], description: str,
) -> BlackBox:  # fmt: skip
    """F(t, x, ẋ) = 0 as r' = w, 0 = F(t, r, w, z) with the algebraic states z, or ẋ = f(t, x)."""
    if not callable(function):
        raise TraceError(f"a black box is one function, not {type(function).__name__}")
    states = list(states)
    for name in algebraic:
        if name not in states:
            raise TraceError(f"algebraic: {unknown(name, states)}")
    moving = [name for name in states if name not in algebraic]
    rates = [] if explicit else [f"der({name})" for name in moving]
    auxiliary = [*rates, *algebraic]
    n, order = len(moving), [*moving, *algebraic]
    # from r, w to x, ẋ in the order of the states; algebraic states have no rates
    of_x = [order.index(name) if name in moving else n + len(rates) + list(algebraic).index(name) for name in states]
    of_rate = [moving.index(name) for name in moving]
    places = [states.index(name) for name in moving]

    def make(values: Mapping[str, Any]) -> _native.Model:
        blocks = {"states": states} if explicit else {"states": states, "rates": [f"der({name})" for name in states]}
        arguments = Arguments(blocks, values)
        found = Rows(arguments, function, "rates" if explicit else "equations", states)
        tried = not algebraic

        def rows(t: float, z: Floats) -> Floats:
            nonlocal tried
            if explicit:
                return found.at(t, z)
            point = np.zeros(2 * len(states))
            point[: len(states)] = z[of_x]
            point[[len(states) + k for k in places]] = z[n:][of_rate]
            residual = found.at(t, _fixed(point))
            if not tried:
                tried = True
                other = point.copy()
                other[[len(states) + states.index(name) for name in algebraic]] = 1.0
                if not np.array_equal(residual, found.at(t, _fixed(other)), equal_nan=True):
                    raise OptionError(f"{found.told}: the rates of {', '.join(algebraic)} enter, which are said to be algebraic; leave them out of algebraic")
            # rows in the order of the native half: those of the auxiliary variables, then r' = w
            return np.concatenate([residual, z[n : 2 * n]])

        own = {"dynamic": moving, "auxiliary": auxiliary}
        start = {"fix": fix, "guess": guess}
        return _made(title, description, time, own, start, True, values, Arguments({"states": [*moving, *auxiliary]}, values), rows, _nothing)

    return BlackBox(make, _numbers(parameters))


def _fixed(point: Floats) -> Floats:
    point.flags.writeable = False
    return point


def mechanical(
    title: str, given: Mapping[str, Any], *, positions: Sequence[str], velocities: Sequence[str], parameters: Mapping[str, Any] | None, time: Any,
    fix: Mapping[str, Any], guess: Mapping[str, Any], description: str,
) -> BlackBox:  # fmt: skip
    """Equations of motion with their hidden constraints by hand."""
    def names(block: str, key: str = "") -> list[str]:
        own = given.get(block)
        if own is None:
            return []
        if not isinstance(own, Mapping):
            raise TraceError(f"{block} of a black box are functions by name: {block}={{\"name\": function}}")
        return [f"{key}{name}" for name in own]

    own = {"positions": list(positions), "velocities": list(velocities), **{block: names(block) for block in ("dynamic", "auxiliary", "holonomic",
           "nonholonomic", "invariants")}}  # fmt: skip
    for level, block in (("holonomic_velocity", "holonomic"), ("holonomic_acceleration", "holonomic"), ("nonholonomic_acceleration", "nonholonomic")):
        if own[block] and given.get(level) is None:
            raise TraceError(f"{block} constraints of a black box need {level}: their derivatives, with v' eliminated, cannot be found from values")
        if given.get(level) is not None and not own[block]:
            raise TraceError(f"{level} belongs to {block} constraints, and there are none")
    for key in ("mass", "forces"):
        if given.get(key) is None:
            raise TraceError(f"a black box needs {key}")
    plain = given.get("kinematics") is None
    if plain and len(own["positions"]) != len(own["velocities"]):
        raise TraceError(f"{len(own['positions'])} positions and {len(own['velocities'])} velocities: kinematics must say what the rates of positions are")

    def make(values: Mapping[str, Any]) -> _native.Model:
        multipliers = {"lambda": names("holonomic", "lambda."), "mu": names("nonholonomic", "mu.")}
        arguments = Arguments({block: own[block] for block in ("positions", "velocities", "dynamic", "auxiliary")} | multipliers, values)
        of_position = Arguments({"positions": own["positions"]}, values)
        functions = []
        for key in MECHANICAL:
            wanted = own[OF_BLOCK.get(key, key)]
            if key == "kinematics" and plain:
                begin = len(own["positions"])
                functions.append(_velocities(begin, 2 * begin))
            elif wanted:
                functions.append(Rows(arguments, given[key], key, wanted).at)
        n = len(own["velocities"])
        masses = given["mass"]
        if isinstance(masses, (list, tuple, np.ndarray)) and np.ndim(masses) == 2:
            if np.shape(masses) != (n, n):
                raise TraceError(f"mass: the shape {(n, n)} is expected, not {np.shape(masses)}")
            matrix = np.asarray(masses, dtype=float)

            def mass(t: float, p: Floats) -> Floats:
                return matrix.ravel()
        elif callable(masses):
            whole, told = of_position.bound(masses), place(masses)

            def mass(t: float, p: Floats) -> Floats:
                found = np.asarray(whole(t, p), dtype=float)
                if found.shape not in ((n,), (n, n)):
                    raise TraceError(f"mass, {told}: the diagonal {(n,)} or the matrix {(n, n)} is expected, not the shape {found.shape}")
                return np.diag(found).ravel() if found.ndim == 1 else found.ravel()
        else:
            diagonal = Rows(of_position, masses, "mass", own["velocities"])

            def mass(t: float, p: Floats) -> Floats:
                return np.diag(diagonal.at(t, p)).ravel()

        def rows(t: float, z: Floats) -> Floats:
            return np.concatenate([function(t, z) for function in functions])

        return _made(title, description, time, own, {"fix": fix, "guess": guess}, plain, values, arguments, rows, mass)

    return BlackBox(make, _numbers(parameters))


def _velocities(begin: int, end: int) -> Callable[[float, Floats], Floats]:
    return lambda t, z: z[begin:end]


def _numbers(parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in (parameters or {}).items():
        if callable(value) or isinstance(value, str):
            raise TraceError(f"parameters.{key}: the parameters of a black box are numbers")
        made[key] = number(value, f"parameters.{key}") if np.ndim(value) == 0 else np.asarray(value, dtype=float)
        if not np.all(np.isfinite(made[key])):
            raise TraceError(f"parameters.{key} holds numbers that are not finite")
    return made


def refused(given: Mapping[str, Any], why: str) -> None:
    """What only formulas can have."""
    for key, value in given.items():
        if value:
            raise OptionError(f"{key} is for models that are traced: {why}")
