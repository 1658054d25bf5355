"""Functions become formulas.

A model that is written in Python is traced once: every function is called with expressions, and what it returns is written as formulas. What is left is
text, so that the model has no functions any more: it is read as any model file is, with all its checks, it can be pickled, and it runs without Python.
Each operation of a function is one operation of the text, so that the equations are those that were written, bit for bit.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .arrays import ExprArray, handles_of
from .errors import Error, TraceError
from .expr import Condition, Expr, Trace, unknown
from .parts import Part
from .sections import Sections

BLOCKS = {
    "positions": "p", "velocities": "v", "dynamic": "r", "auxiliary": "w", "contact": "s", "lambda": "lam", "mu": "mu", "states": "x", "rates": "xdot",
}  # fmt: skip
"""Blocks of variables, and the short names of the arguments that stand for them."""


class Namespace:
    """All parameters: `par.m`, `par["m"]`, `par.k[0]`."""

    def __init__(self, scope: Scope):
        self._scope = scope

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Any:
        found = self._scope.parameter(name)
        if found is None:
            raise TraceError(f"no such parameter: {unknown(name, list(self._scope.parameters))}")
        return found


class Scope:
    """What the arguments of a function stand for."""

    def __init__(self, trace: Trace, names: Mapping[str, list[str]], parameters: Mapping[str, Any], parts: Sequence[str] = ()):
        self.trace = trace
        self.names = names
        self.parameters = parameters
        self.parts = parts
        # what only the formula sees that is traced now
        self.local: tuple[str, ...] = ()
        # variables by name, arrays of variables by the name without indices
        self.single: set[str] = set()
        self.arrays: dict[str, list[str]] = {}
        for block, known in names.items():
            if block in ("lambda", "mu"):
                continue
            for name in known:
                base = re.fullmatch(r"(.+)\[[\d,]+\]", name)
                if base:
                    self.arrays.setdefault(base[1], []).append(name)
                self.single.add(name)

    def array(self, names: Sequence[str], keys: Sequence[str] | None = None) -> ExprArray:
        handles = np.array([self.trace.input(name).handle for name in names], dtype=np.uint32)
        handles.flags.writeable = False
        return ExprArray(self.trace, handles, keys or names)

    def parameter(self, name: str) -> Any:
        if name not in self.parameters:
            return None
        value = self.parameters[name]
        if isinstance(value, list):
            def entry(part: Any, indices: tuple[int, ...]) -> Any:
                if isinstance(part, list):
                    return [entry(inner, (*indices, k)) for k, inner in enumerate(part, 1)]
                return self.trace.input(f"{name}[{','.join(map(str, indices))}]")

            return ExprArray(self.trace, handles_of(self.trace, entry(value, ())))
        return self.trace.input(name)

    def find(self, name: str) -> Any:
        """The meaning of an argument; the name of a variable goes before that of a block."""
        if name == "t" or name in self.local:
            return self.trace.input(name)
        if name in self.parts and name not in self.parameters:
            # also an output of the same name
            return Part(self.trace, name)
        if name in self.single:
            return self.trace.input(name)
        if name in self.arrays:
            return self.array(self.arrays[name])
        found = self.parameter(name)
        if found is not None:
            return found
        if name == "par":
            return Namespace(self)
        for block, short in BLOCKS.items():
            if name in (short, block) and block in self.names:
                keys = [full.split(".", 1)[-1] for full in self.names[block]] if block in ("lambda", "mu") else None
                return self.array(self.names[block], keys)
        return None

    def known(self) -> list[str]:
        blocks = [BLOCKS[block] for block in self.names if block in BLOCKS and self.names[block]]
        return ["t", *self.local, *sorted(self.single), *self.parameters, *self.parts, *blocks, "par"]

    def call(self, function: Callable[..., Any]) -> Any:
        """What a function returns for the expressions that its arguments name."""
        arguments = []
        signature = inspect.signature(function)
        mixed = [n for n in ("x", "xdot") if n in signature.parameters]
        if len(mixed) == 2 and "x" in self.single:
            raise TraceError(
                f"x is a state of this model, so that the argument x of {place(function)} is that state and not all of them; "
                "the arguments states and rates are all states and their rates"
            )
        for argument in signature.parameters.values():
            if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
                raise TraceError(f"{place(function)} takes *args or **kwargs; its arguments must name what it sees")
            found = self.find(argument.name)
            if found is None:
                if argument.default is not argument.empty:
                    continue
                raise TraceError(f"{place(function)}: {unknown(argument.name, self.known())}")
            arguments.append((argument.name, found))
        try:
            return function(**dict(arguments))
        except Error as error:
            if not getattr(error, "_placed", False):
                error._placed = True  # type: ignore[attr-defined]
                error.args = (f"{place(function)}: {error.args[0]}", *error.args[1:])
            raise


def place(function: Any) -> str:
    """File and line of a function."""
    code = getattr(function, "__code__", None)
    if code is None:
        return repr(function)
    name = "lambda" if code.co_name == "<lambda>" else code.co_name
    return f"{name} in {code.co_filename}, line {code.co_firstlineno}"


class Tracer:
    """Traces the functions of one model, or of an addition to it, and writes their formulas."""

    def __init__(self, sections: Sections, names: Mapping[str, list[str]] | None = None):
        self.sections = sections
        self.trace = Trace(sections.name)
        self.scope = Scope(self.trace, names if names is not None else sections.names, sections.parameters, sections.parts)
        self.open: list[tuple[Callable[[str], None], int]] = []
        self.finishing: list[Callable[[], None]] = []

    def value(self, given: Any, where: str) -> Any:
        """What a formula, a number or a function stands for, before it is written."""
        if callable(given) and not isinstance(given, (Expr, ExprArray)):
            self.sections.origins[where] = place(given)
            return self.scope.call(given)
        return given

    def later(self, value: Any, put: Callable[[Any], None], where: str) -> None:
        """Write a formula where it belongs, when all of them are known."""
        if isinstance(value, str) or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            put(value if isinstance(value, str) else number(value, where))
            return
        if isinstance(value, (np.integer, np.floating)) or (isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype != object):
            put(number(value.item(), where))
            return
        try:
            handle = self.trace.handle(value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value)
        except TraceError as error:
            origin = self.sections.origins.get(where) or self.sections.origins.get(where.rsplit(".", 1)[0])
            raise TraceError(f"{where}{f' of {origin}' if origin else ''}: {error}") from None
        self.open.append((put, handle))

    def list(self, given: Any, where: str) -> list[Any]:
        value = self.value(given, where)
        if isinstance(value, ExprArray):
            value = value.tolist()
        if not isinstance(value, (list, tuple, np.ndarray)):
            raise TraceError(f"{where} is a list of formulas, not {type(value).__name__}")
        made: list[Any] = [None] * len(value)
        for k, part in enumerate(value):
            if isinstance(part, (list, tuple, ExprArray)) or (isinstance(part, np.ndarray) and part.ndim > 0):
                made[k] = self.list(part if not isinstance(part, ExprArray) else part.tolist(), where)
                continue
            self.later(self.value(part, where), putter(made, k), where)
        return made

    def table(self, given: Mapping[str, Any], where: str, into: dict[str, Any] | None = None) -> dict[str, Any]:
        made: dict[str, Any] = {} if into is None else into
        for key, part in given.items():
            value = self.value(part, f"{where}.{key}")
            made[key] = None
            self.later(value, putter(made, key), f"{where}.{key}")
        return made

    def entry(self, given: Any, where: str, before: Any = None) -> Any:
        """A list or a table of formulas, or a function that returns one; a table goes into the one before."""
        value = self.value(given, where)
        if isinstance(value, Mapping):
            return self.table(value, where, before if isinstance(before, dict) else None)
        return self.list(value, where)

    def condition(self, given: Any, where: str, put: Callable[[Any], None], falls: int = 1) -> None:
        """A condition; a function that is no condition is one that falls (or, for -1, rises) through zero."""
        value = self.value(given, where)
        if isinstance(value, str):
            put(value)
            return
        if isinstance(value, (Expr, int, float)):
            zero, handle = self.trace.graph.number(0.0), self.trace.handle(value)
            value = Condition(self.trace, "<" if falls > 0 else ">", (handle, zero))
        if not isinstance(value, Condition):
            raise TraceError(f"{where}: a comparison is expected, not {type(value).__name__}")
        if value.trace is not self.trace:
            raise TraceError(f"{where}: a condition of another model")
        whole, texts = value, [""] * len(value.handles())
        for k, handle in enumerate(value.handles()):
            self.open.append((putter(texts, k), handle))
        self.finishing.append(lambda: put(whole.text(iter(texts))))

    def finish(self, prefix: str | None = None) -> None:
        """Write all formulas; parts that several of them share become definitions."""
        self.sections.traced += 1
        if prefix is None:
            taken = {*self.sections.all_names(), *self.sections.parameters, *self.sections.definitions, *self.sections.output}
            prefix = "d"
            while any(re.fullmatch(rf"{prefix}\d+", name) for name in taken):
                prefix += "d"
        definitions, formulas = self.trace.graph.source([handle for _, handle in self.open], prefix)
        for _, text in [*definitions, *((None, text) for text in formulas)]:
            if found := re.search(r"\b(inf|NaN)\b", text):
                if found[1] not in self.trace.inputs:
                    raise TraceError(f"a formula holds {found[1]}, a number that is not finite: {text}")
        self.sections.definitions.update(definitions)
        for (put, _), text in zip(self.open, formulas, strict=True):
            put(text)
        for last in self.finishing:
            last()
        self.open.clear()
        self.finishing.clear()


def putter(into: Any, key: Any) -> Callable[[Any], None]:
    def put(text: Any) -> None:
        into[key] = text

    return put


def number(value: Any, where: str) -> Any:
    x = float(value)
    if not np.isfinite(x):
        raise TraceError(f"{where} is {x}, which is no finite number")
    return x
