"""Expressions: what the variables of a model are while its functions are traced.

`Expr` is one quantity. It takes part in NumPy's protocols, so that `np.sin(x)` makes a node of a graph instead of a number; arrays of them are in
`arrays.py`.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from . import _native
from .errors import TraceError

LARGEST = 20_000_000
"""Most nodes of one model, as in a model file."""


class Trace:
    """One graph, with the name of the model that is traced into it."""

    __slots__ = ("flow", "graph", "inputs", "orders", "title")

    def __init__(self, title: str):
        self.graph = _native.Graph()
        self.title = title
        self.inputs: dict[str, Expr] = {}
        # rates of inputs for daedal.rate, by name; None where there is none
        self.flow: dict[str, Expr | None] = {}
        # what daedal.der of an input is called, by name and order
        self.orders: dict[str, Callable[[int], Expr]] = {}

    def input(self, name: str) -> Expr:
        """The input of that name, made where it is needed first."""
        found = self.inputs.get(name)
        if found is None:
            found = self.inputs[name] = Expr(self, self.graph.input(name))
        return found

    def handle(self, value: Any) -> int:
        """The node of an expression of this model, or of a number."""
        if isinstance(value, Expr):
            if value.trace is not self:
                raise TraceError(f"an expression of the model {value.trace.title!r} stands in the model {self.title!r}; expressions of two models do not mix")
            return value.handle
        if isinstance(value, (bool, np.bool_)):
            raise TraceError("a truth value stands where a number is expected; daedal.if_(condition, yes, no) makes a number of a condition")
        if isinstance(value, (int, float, np.integer, np.floating)):
            x = float(value)
            if not math.isfinite(x):
                raise TraceError(f"{x} is no number that a formula can contain")
            return self.graph.number(x)
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return self.handle(value.item())
        if isinstance(value, (complex, np.complexfloating)):
            raise TraceError("complex numbers cannot stand in a model; write real and imaginary parts as two equations")
        if isinstance(value, Condition):
            raise TraceError("a condition stands where a number is expected; daedal.if_(condition, yes, no) makes a number of it")
        if isinstance(value, numbers.Real):
            return self.handle(float(value))
        raise TraceError(f"{type(value).__name__} is no number and no expression")

    def expr(self, value: Any) -> Expr:
        """An expression of this model."""
        return Expr(self, self.handle(value))


def _no_truth() -> NoReturn:
    raise TraceError(
        "a condition has no value while a model is traced: daedal.if_(c, a, b) or np.where for cases, & | ~ instead of and or not, modes for switching"
    )


class Condition:
    """A comparison of expressions, or several joined by `&`, `|`, `~`."""

    __slots__ = ("parts", "sign", "trace")
    __array_ufunc__ = None

    def __init__(self, trace: Trace, sign: str, parts: tuple[Any, ...]):
        self.trace = trace
        self.sign = sign
        self.parts = parts

    def __bool__(self) -> bool:
        _no_truth()

    def _joined(self, sign: str, other: Any) -> Condition:
        if not isinstance(other, Condition):
            raise TraceError(f"{sign!r} joins two conditions, not a condition and {type(other).__name__}; comparisons need brackets: (a < b) & (c < d)")
        if other.trace is not self.trace:
            raise TraceError(f"conditions of the models {self.trace.title!r} and {other.trace.title!r} do not mix")
        return Condition(self.trace, sign, (self, other))

    def __and__(self, other: Any) -> Condition:
        return self._joined("and", other)

    def __or__(self, other: Any) -> Condition:
        return self._joined("or", other)

    def __invert__(self) -> Condition:
        return Condition(self.trace, "not", (self,))

    def choose(self, yes: int, no: int) -> int:
        """The one node where the condition holds, the other one elsewhere; as formulas of model files have it."""
        graph = self.trace.graph
        if self.sign in ("and", "or", "not"):
            first: Condition = self.parts[0]
            if self.sign == "not":
                return first.choose(no, yes)
            second: Condition = self.parts[1]
            return first.choose(second.choose(yes, no), no) if self.sign == "and" else first.choose(yes, second.choose(yes, no))
        a, b = self.parts
        if self.sign == ">=":
            return graph.select(graph.binary("sub", a, b), yes, no)
        if self.sign == "<=":
            return graph.select(graph.binary("sub", b, a), yes, no)
        if self.sign == ">":
            return graph.select(graph.binary("sub", b, a), no, yes)
        if self.sign == "<":
            return graph.select(graph.binary("sub", a, b), no, yes)
        raise TraceError(f"quantities that vary are hardly ever exactly equal: {self.sign} has no meaning for expressions; compare with < <= > >=")

    def handles(self) -> list[int]:
        """The nodes that are compared."""
        if self.sign in ("and", "or", "not"):
            return [handle for part in self.parts for handle in part.handles()]
        return list(self.parts)

    def text(self, texts: Iterator[str]) -> str:
        """The condition with texts for its nodes, in the order of `handles`."""
        if self.sign == "not":
            return f"not ({self.parts[0].text(texts)})"
        if self.sign in ("and", "or"):
            left = self.parts[0].text(texts)
            return f"({left}) {self.sign} ({self.parts[1].text(texts)})"
        left = next(texts)
        return f"{left} {self.sign} {next(texts)}"

    def __repr__(self) -> str:
        return self.text(iter([self.trace.graph.formula(handle) for handle in self.handles()]))


UNARIES = {
    "negative": "neg", "sqrt": "sqrt", "exp": "exp", "log": "ln", "sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "absolute": "abs", "fabs": "abs",
}  # fmt: skip
"""NumPy's functions of one argument that a graph has."""

BINARIES = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "arctan2": "atan2"}
"""NumPy's functions of two arguments that a graph has."""

COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!="}


def power(trace: Trace, x: int, y: Any) -> int:
    """Integer powers for integer exponents, real ones for other numbers, exp(y ln x) for expressions; as in formulas."""
    graph = trace.graph
    exponent = graph.constant(trace.handle(y))
    if exponent is None:
        return graph.binary("pow", x, trace.handle(y))
    if exponent.is_integer() and abs(exponent) < 2**31:
        return graph.powi(x, int(exponent))
    return graph.powf(x, exponent)


def _hypot(t: Trace, x: int, y: int) -> int:
    square = t.graph.binary("add", t.graph.binary("mul", x, x), t.graph.binary("mul", y, y))
    return t.graph.select(t.graph.unary("neg", square), t.graph.number(0.0), t.graph.unary("sqrt", square))


def _sign(t: Trace, x: int) -> int:
    inner = t.graph.select(t.graph.unary("neg", x), t.graph.number(0.0), t.graph.number(1.0))
    return t.graph.select(x, inner, t.graph.number(-1.0))


def _arcsinh(t: Trace, x: int) -> int:
    g = t.graph
    root = g.unary("sqrt", g.binary("add", g.binary("mul", x, x), g.number(1.0)))
    positive = g.unary("ln", g.binary("add", g.unary("abs", x), root))
    return g.select(x, positive, g.unary("neg", positive))


def _arccosh(t: Trace, x: int) -> int:
    g = t.graph
    return g.unary("ln", g.binary("add", x, g.unary("sqrt", g.binary("sub", g.binary("mul", x, x), g.number(1.0)))))


def _arctanh(t: Trace, x: int) -> int:
    g = t.graph
    one = g.number(1.0)
    quotient = g.binary("div", g.binary("add", x, one), g.binary("add", g.unary("neg", x), one))
    return g.binary("mul", g.unary("ln", quotient), g.number(0.5))


FURTHER: dict[str, Callable[..., int]] = {
    "square": lambda t, x: t.graph.binary("mul", x, x),
    "positive": lambda t, x: x,
    "reciprocal": lambda t, x: t.graph.binary("div", t.graph.number(1.0), x),
    "log10": lambda t, x: t.graph.binary("div", t.graph.unary("ln", x), t.graph.number(math.log(10.0))),
    "log1p": lambda t, x: t.graph.unary("ln", t.graph.binary("add", x, t.graph.number(1.0))),
    "expm1": lambda t, x: t.graph.binary("sub", t.graph.unary("exp", x), t.graph.number(1.0)),
    "cbrt": lambda t, x: t.graph.binary("mul", _sign(t, x), t.graph.powf(t.graph.unary("abs", x), 1.0 / 3.0)),
    "arcsinh": _arcsinh,
    "arccosh": _arccosh,
    "arctanh": _arctanh,
    "sign": _sign,
    "hypot": _hypot,
    "deg2rad": lambda t, x: t.graph.binary("mul", x, t.graph.number(math.pi / 180.0)),
    "rad2deg": lambda t, x: t.graph.binary("mul", x, t.graph.number(180.0 / math.pi)),
    "radians": lambda t, x: t.graph.binary("mul", x, t.graph.number(math.pi / 180.0)),
    "degrees": lambda t, x: t.graph.binary("mul", x, t.graph.number(180.0 / math.pi)),
    # the smaller or larger one, as min and max of formulas
    "minimum": lambda t, x, y: t.graph.select(t.graph.binary("sub", x, y), y, x),
    "maximum": lambda t, x, y: t.graph.select(t.graph.binary("sub", x, y), x, y),
    "float_power": power,
    "power": power,
}
"""Functions that are made of others, as formulas of model files have them."""


def apply(trace: Trace, name: str, values: Sequence[Any]) -> Any:
    """A function of expressions and numbers, none of them an array."""
    if name in COMPARISONS:
        return Condition(trace, COMPARISONS[name], tuple(trace.handle(value) for value in values))
    if name in UNARIES:
        return _bounded(trace, trace.graph.unary(UNARIES[name], trace.handle(values[0])))
    if name in BINARIES:
        return _bounded(trace, trace.graph.binary(BINARIES[name], trace.handle(values[0]), trace.handle(values[1])))
    if name in ("power", "float_power"):
        return Expr(trace, power(trace, trace.handle(values[0]), values[1]))
    if name in FURTHER:
        return Expr(trace, FURTHER[name](trace, *(trace.handle(value) for value in values)))
    raise TraceError(f"np.{name} is not known to expressions")


def _bounded(trace: Trace, handle: int) -> Expr:
    """An expression of a graph that is not too large."""
    if handle > LARGEST:
        raise TraceError(f"the model has more than {LARGEST} operations")
    return Expr(trace, handle)


class Operators:
    """Operators of expressions and arrays of them, and the functions that NumPy looks for on elements of object arrays."""

    __slots__ = ()

    def _do(self, name: str, *values: Any) -> Any:
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return self._do("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._do("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._do("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._do("subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._do("multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._do("multiply", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._do("divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._do("divide", other, self)

    def __pow__(self, other: Any) -> Any:
        return self._do("power", self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._do("power", other, self)

    def __neg__(self) -> Any:
        return self._do("negative", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self._do("absolute", self)

    def __lt__(self, other: Any) -> Any:
        return self._do("less", self, other)

    def __le__(self, other: Any) -> Any:
        return self._do("less_equal", self, other)

    def __gt__(self, other: Any) -> Any:
        return self._do("greater", self, other)

    def __ge__(self, other: Any) -> Any:
        return self._do("greater_equal", self, other)

    def __eq__(self, other: Any) -> Any:
        return self._do("equal", self, other)

    def __ne__(self, other: Any) -> Any:
        return self._do("not_equal", self, other)

    def __floordiv__(self, other: Any) -> Any:
        raise TraceError("// jumps and has no derivative: it is not known to expressions")

    __rfloordiv__ = __mod__ = __rmod__ = __floordiv__

    def __bool__(self) -> bool:
        raise TraceError("an expression has no value while a model is traced: compare it, and use daedal.if_(c, a, b)")

    def __float__(self) -> float:
        raise TraceError("an expression has no value while a model is traced: use np.sin, not math.sin; a list or daedal.zeros(n), not np.zeros(n)")

    def __int__(self) -> int:
        return int(float(self))

    def __complex__(self) -> complex:
        return complex(float(self))

    def __index__(self) -> int:
        raise TraceError("an expression is no index: which entry is taken must not depend on variables; daedal.if_ chooses, modes switch")


for _name in [*UNARIES, *FURTHER]:
    if _name not in ("negative", "positive", "absolute", "power", "float_power"):
        setattr(Operators, _name, (lambda name: lambda self, *others: self._do(name, self, *others))(_name))
Operators.arctan2 = lambda self, other: self._do("arctan2", self, other)  # type: ignore[attr-defined]
Operators.conjugate = lambda self: self  # type: ignore[attr-defined]


class Expr(Operators):
    """One quantity of a model while its functions are traced."""

    __slots__ = ("handle", "trace")

    def __init__(self, trace: Trace, handle: int):
        self.trace = trace
        self.handle = handle

    def _do(self, name: str, *values: Any) -> Any:
        for value in values:
            if type(value) in (Expr, int, float):
                continue
            # arrays come back through NumPy's protocol, or by their own operators
            if isinstance(value, (str, bytes, list, tuple, dict, type(None))) or (isinstance(value, np.ndarray) and value.ndim > 0):
                return NotImplemented
            if isinstance(value, Operators) and not isinstance(value, Expr):
                return value._do(name, *values)
        return apply(self.trace, name, values)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        # by far the most frequent: a function of one quantity
        if len(inputs) == 1 and method == "__call__" and not kwargs:
            return apply(self.trace, ufunc.__name__, inputs)
        from .arrays import ufunc_of

        return ufunc_of(self.trace, ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .arrays import function_of

        return function_of(self.trace, function, args, kwargs)

    def __hash__(self) -> int:
        return hash((id(self.trace), self.handle))

    def __iter__(self) -> Iterator[Any]:
        raise TraceError(f"{self!r} is one quantity, and not an array")

    def __repr__(self) -> str:
        return self.trace.graph.formula(self.handle)

    def __reduce__(self) -> NoReturn:
        raise TraceError("an expression belongs to the function that is traced, and cannot be kept; models can be pickled")


def unknown(name: str, known: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, list(known), 1, 0.5)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return f"nothing is called {name!r}{meant} Known here: {', '.join(known)}" if near else f"nothing is called {name!r}; known here: {', '.join(known)}"


def _fast(name: str, operation: str) -> None:
    """An operator of two quantities of one model, without a look at what else the other one could be."""
    general = getattr(Operators, name)

    def operator(self: Expr, other: Any) -> Any:
        if type(other) is Expr and other.trace is self.trace:
            return _bounded(self.trace, self.trace.graph.binary(operation, self.handle, other.handle))
        return general(self, other)

    setattr(Expr, name, operator)


for _name, _operation in (("__add__", "add"), ("__sub__", "sub"), ("__mul__", "mul"), ("__truediv__", "div")):
    _fast(_name, _operation)
