"""NumPy's functions on expressions: one row for each, for scalars, object arrays and arrays of expressions; and everything that is refused."""

import math

import numpy as np
import pytest

import daedal
from daedal import arrays, expr
from daedal.arrays import ExprArray
from daedal.expr import Condition, Expr, Trace


class At:
    """A model with variables, and the values of expressions at a point."""

    def __init__(self, *values):
        self.trace = Trace("test")
        self.values = list(values)
        self.x = [self.trace.input(f"x{k}") for k in range(len(values))]
        handles = np.array([x.handle for x in self.x], dtype=np.uint32)
        self.array = ExprArray(self.trace, handles)
        self.objects = np.array(self.x, dtype=object)

    def __call__(self, value):
        if isinstance(value, Expr):
            return self.trace.graph.evaluate([value.handle], self.values)[0]
        if isinstance(value, ExprArray):
            return np.array(self.trace.graph.evaluate(value.handles.ravel().tolist(), self.values)).reshape(value.shape)
        if isinstance(value, np.ndarray) and value.dtype == object:
            return np.array([self(part) if isinstance(part, Expr) else float(part) for part in value.ravel()]).reshape(value.shape)
        return np.asarray(value, dtype=float)


POINT = (0.3, -0.7, 1.9)
UNARY = ["sin", "cos", "tan", "exp", "sinh", "cosh", "tanh", "arctan", "arcsinh", "square", "deg2rad", "rad2deg", "absolute", "negative", "positive", "reciprocal",
         "expm1", "cbrt", "fabs", "radians", "degrees"]  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_argument(name):
    at, function = At(*POINT), getattr(np, name)
    expected = function(np.array(POINT))
    assert np.allclose(at(function(at.array)), expected, rtol=1e-14)
    assert np.allclose([at(function(x)) for x in at.x], expected, rtol=1e-14)
    if name not in ("absolute", "negative", "positive", "reciprocal", "fabs"):
        assert np.allclose(at(function(at.objects)), expected, rtol=1e-14)


@pytest.mark.parametrize(("name", "point"), [("sqrt", 0.3), ("log", 0.3), ("log10", 0.3), ("log1p", 0.3), ("arcsin", 0.3), ("arccos", 0.3), ("arctanh", 0.3), ("arccosh", 1.3)])
def test_functions_with_a_range(name, point):
    at, function = At(point), getattr(np, name)
    for value in (function(at.x[0]), function(at.array)[0], function(at.objects)[0]):
        assert abs(at(value) - function(point)) < 1e-14


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "arctan2", "hypot", "maximum", "minimum"])
def test_functions_of_two_arguments(name):
    at, function = At(0.3, -0.7), getattr(np, name)
    x, y = at.x
    for a, b, u, v in ((x, y, 0.3, -0.7), (x, 2.0, 0.3, 2.0), (3.0, x, 3.0, 0.3), (x, np.float64(-1), 0.3, -1.0), (np.int64(2), y, 2.0, -0.7)):
        assert abs(at(function(a, b)) - function(u, v)) < 1e-15
    assert np.allclose(at(function(at.array, 2.0)), function(np.array([0.3, -0.7]), 2.0))
    assert np.allclose(at(function(np.array([1.0, 2.0]), at.array)), function(np.array([1.0, 2.0]), np.array([0.3, -0.7])))
    assert np.allclose(at(function(np.array([1.0, 2.0]), x)), function(np.array([1.0, 2.0]), 0.3))


def test_operators_in_both_orders():
    at = At(0.3, 2.5)
    x, y = at.x
    for function in (lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: a**b):
        for a, b, u, v in ((x, y, 0.3, 2.5), (x, 3, 0.3, 3.0), (2.0, y, 2.0, 2.5), (y, -1.5, 2.5, -1.5)):
            assert abs(at(function(a, b)) - function(u, v)) < 1e-14
    vector = np.arange(1.0, 3.0)
    assert np.allclose(at(vector * x), vector * 0.3) and np.allclose(at(x * vector), vector * 0.3)
    assert isinstance(vector * x, ExprArray) and isinstance(at.objects * x, ExprArray)
    assert abs(at(abs(-x)) - 0.3) == 0 and at(-x) == -0.3 and at(+x) == 0.3


ARRAYS = {
    "sum": lambda q: np.sum(q),
    "method sum": lambda q: q.sum(),
    "prod": lambda q: np.prod(q),
    "dot": lambda q: np.dot(q, q),
    "matmul": lambda q: q @ q,
    "cumsum": lambda q: np.cumsum(q),
    "diff": lambda q: np.diff(q),
    "cross": lambda q: np.cross(q, [1.0, 2.0, 3.0]),
    "outer": lambda q: np.outer(q, q),
    "norm": lambda q: np.linalg.norm(q),
    "concatenate": lambda q: np.concatenate([q, q]),
    "stack": lambda q: np.stack([q, q]),
    "vstack": lambda q: np.vstack([q, q]),
    "hstack": lambda q: np.hstack([q, q]),
    "roll": lambda q: np.roll(q, 1),
    "tile": lambda q: np.tile(q, 2),
    "reshape": lambda q: np.reshape(q, (3, 1)),
    "transpose": lambda q: np.transpose(np.reshape(q, (3, 1))),
    "slice": lambda q: q[::-1][:2],
    "matrix": lambda q: np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]) @ q,
    "rows": lambda q: np.outer(q, q) @ q,
    "product": lambda q: np.outer(q, q) @ np.outer(q, q),
    "power": lambda q: q**2,
    "mean": lambda q: np.mean(q),
    "max": lambda q: np.max(q),
    "min": lambda q: np.min(q),
    "amax": lambda q: np.amax(q),
    "amin": lambda q: np.amin(q),
    "clip": lambda q: np.clip(q, -0.5, 1.0),
    "where": lambda q: np.where(q > 0, q, 2.0),
    "vdot": lambda q: np.vdot(q, [1.0, 2.0, 3.0]),
    "inner": lambda q: np.inner(q, q),
    "einsum": lambda q: np.einsum("i,i->", q, q),
    "column_stack": lambda q: np.column_stack([q, q]),
    "repeat": lambda q: np.repeat(q, 2),
    "ravel": lambda q: np.ravel(np.reshape(q, (3, 1))),
    "swapaxes": lambda q: np.swapaxes(np.reshape(q, (3, 1)), 0, 1),
    "moveaxis": lambda q: np.moveaxis(np.reshape(q, (3, 1)), 0, 1),
    "flip": lambda q: np.flip(q),
    "squeeze": lambda q: np.squeeze(np.reshape(q, (3, 1))),
    "expand_dims": lambda q: np.expand_dims(q, 0),
    "broadcast_to": lambda q: np.broadcast_to(q, (2, 3)),
    "atleast_1d": lambda q: np.atleast_1d(q[0]),
    "append": lambda q: np.append(q, [1.0]),
    "append a number": lambda q: np.append(q, 1),
    "concatenate numbers": lambda q: np.concatenate([q, [1, 2]]),
    "hstack numbers": lambda q: np.hstack((q, np.ones(2))),
    "stack numbers": lambda q: np.stack([[1, 1, 1], q]),
    "by name": lambda q: np.tile(A=q, reps=2),
    "split": lambda q: np.split(q, 3)[1],
    "diag": lambda q: np.diag(q),
    "diagonal": lambda q: np.diagonal(np.outer(q, q)),
    "copy": lambda q: np.copy(q),
    "shape": lambda q: np.array(np.shape(q), dtype=float),
    "size": lambda q: float(np.size(q)),
    "ndim": lambda q: float(np.ndim(q)),
}
COMPARE = ("max", "min", "amax", "amin", "clip", "where")
"""Functions that NumPy's own loops over objects cannot have, because they compare."""


@pytest.mark.parametrize("name", ARRAYS)
def test_functions_of_arrays(name):
    at, function = At(*POINT), ARRAYS[name]
    expected = function(np.array(POINT))
    if name != "einsum":
        found = at(function(at.array))
        assert np.shape(found) == np.shape(expected) and np.allclose(found, expected, rtol=1e-13)
    if name not in ("mean", *COMPARE):
        assert np.allclose(at(function(at.objects)), expected, rtol=1e-13)


def test_every_function_has_its_row():
    tried = {*UNARY, *ARRAYS, "sqrt", "log", "log10", "log1p", "arcsin", "arccos", "arctanh", "arccosh", "sign", "fabs", "radians", "degrees", "hypot", "minimum",
             "maximum", "power", "float_power", "norm"}  # fmt: skip
    assert {*expr.UNARIES, *expr.FURTHER, *arrays.FUNCTIONS, *arrays.ARRANGED} <= tried


def test_functions_that_compare():
    at = At(*POINT)
    numbers = np.array(POINT)
    assert np.allclose(at(np.sign(at.array)), np.sign(numbers))
    assert np.allclose(at(np.clip(at.array, -0.5, 1.0)), np.clip(numbers, -0.5, 1.0))
    assert np.allclose(at(np.where(at.array > 0, at.array, 2.0)), np.where(numbers > 0, numbers, 2.0))
    assert at(np.max(at.array)) == 1.9 and at(np.min(at.array)) == -0.7
    x, y, _ = at.x
    assert at(daedal.if_((x > 0) & (y > 0), 1.0, 2.0)) == 2.0 and at(daedal.if_((x > 0) | (y > 0), 1.0, 2.0)) == 1.0
    assert at(daedal.if_(~(x >= 0.3), 1.0, 2.0)) == 2.0 and at(daedal.if_(x <= 0.3, x, y)) == 0.3
    assert daedal.if_(True, 1, 2) == 1
    assert isinstance(x == y, Condition) and isinstance(x < 1, Condition) and len({x, x}) == 1


def test_arrays_take_expressions():
    at = At(*POINT)
    zeros = daedal.zeros(3)
    zeros[1] = at.x[0]
    assert at(zeros).tolist() == [0.0, 0.3, 0.0]
    made = daedal.array([at.x[0], 2.0, at.x[1]])
    made[1] = at.x[2]
    assert at(made).tolist() == [0.3, 1.9, -0.7]
    assert isinstance(daedal.array([1, 2]), np.ndarray)
    assert at(np.diag(at.array))[1].tolist() == [0.0, -0.7, 0.0]


REFUSED = {
    "if": (lambda x, y: 1 if x > 0 else 2, "a condition has no value while a model is traced: daedal.if_"),
    "and": (lambda x, y: (x > 0) and (y > 0), "a condition has no value"),
    "chain": (lambda x, y: 0 < x < 1, "a condition has no value"),
    "truth": (lambda x, y: 1 if x else 2, "an expression has no value while a model is traced: compare it"),
    "math": (lambda x, y: math.sin(x), "use np.sin, not math.sin"),
    "zeros": (lambda x, y: np.zeros(3).__setitem__(0, x), r"daedal.zeros\(n\), not np.zeros"),
    "complex": (lambda x, y: x * 1j, "complex numbers cannot stand in a model"),
    "complex array": (lambda x, y: x * np.array([1j]), "complex numbers cannot stand in a model"),
    "infinite": (lambda x, y: x * np.inf, "inf is no number that a formula can contain"),
    "nan": (lambda x, y: np.array([np.nan]) + x, "not finite"),
    "truth value": (lambda x, y: x + True, "a truth value stands where a number is expected"),
    "condition as a number": (lambda x, y: x * (y > 0), "a condition stands where a number is expected"),
    "floor": (lambda x, y: np.floor(x), "np.floor is not known to expressions"),
    "rint": (lambda x, y: np.rint(np.array([x]) * x), "np.rint is not known to expressions"),
    "einsum": (lambda x, y: np.einsum("i,i->", daedal.array([x, y]), daedal.array([x, y])), "np.einsum is not known to expressions"),
    "sort": (lambda x, y: np.sort(daedal.array([x, y])), "np.sort is not known to expressions"),
    "or": (lambda x, y: (x > 0) or (y > 0), "a condition has no value"),
    "not": (lambda x, y: not x > 0, "a condition has no value"),
    "while": (lambda x, y: next(k for k in range(3) if x > k), "a condition has no value"),
    "max of Python": (lambda x, y: max(x, y), "a condition has no value"),
    "float": (lambda x, y: float(x), "use np.sin, not math.sin"),
    "int": (lambda x, y: int(x), "an expression has no value while a model is traced"),
    "index": (lambda x, y: [1.0, 2.0][x], "an expression is no index"),
    "out": (lambda x, y: np.add(x, y, out=np.zeros(1)), "with __call__ or out="),
    "in place": (lambda x, y: np.zeros(2).__iadd__(x), "np.add with __call__ or out="),
    "norm": (lambda x, y: np.linalg.norm(daedal.array([x, y]), ord=1), "with ord=1 is not known"),
    "cross of four": (lambda x, y: np.cross(daedal.array([x, y, x, y]), daedal.array([x, y, x, y])), "two or three entries"),
    "rows": (lambda x, y: daedal.array([[x, y], [x]]), "rows of different shapes"),
    "unknown key": (lambda x, y: daedal.array([x, y])["rod"], "nothing is called 'rod'"),
    "kept": (lambda x, y: __import__("pickle").dumps(x), "an expression belongs to the function that is traced"),
    "text": (lambda x, y: np.sin(daedal.array([x, "y"])), "str is no number and no expression"),
    "det": (lambda x, y: np.linalg.det(daedal.array([[x, y], [y, x]])), "np.det is not known to expressions"),
    "modulo": (lambda x, y: x % 2, "// jumps"),
    "max of objects": (lambda x, y: np.maximum(np.array([x]), np.array([y])), "a condition has no value"),
    "unpacking": (lambda x, y: list(x), "is one quantity, and not an array"),
    "shapes": (lambda x, y: daedal.array([x, y]) @ np.ones(3), "do not fit for @"),
    "equality": (lambda x, y: daedal.if_(x == y, 1, 2), "hardly ever exactly equal"),
    "joined": (lambda x, y: (x > 0) & True, "joins two conditions"),
    "rate of a product": (lambda x, y: daedal.der(x * y), "daedal.der is for variables by themselves"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused(name):
    function, message = REFUSED[name]
    at = At(0.3, -0.7)
    with pytest.raises(daedal.TraceError, match=message):
        function(*at.x)


def test_other_types_are_refused_by_python():
    x = At(0.3).x[0]
    with pytest.raises(TypeError):
        x + "1"
    with pytest.raises(TypeError):
        x * None


def test_expressions_of_two_models_do_not_mix():
    one, other = Trace("one"), Trace("other")
    x, y = one.input("x"), other.input("y")
    for mixed in (lambda: x + y, lambda: np.array([x]) * y, lambda: daedal.array([x, y]), lambda: (x > 0) & (y > 0), lambda: daedal.if_(x > 0, y, 1.0)):
        with pytest.raises(daedal.TraceError, match="'one'.*'other'|'other'.*'one'"):
            mixed()


def test_variables_of_a_model_are_not_assigned_to():
    with pytest.raises(daedal.TraceError, match="cannot be assigned to"):
        daedal.motion("m", positions=["x"], velocities=["v"], mass=[1], forces=lambda p: p.__setitem__(0, 1.0))


def test_expressions_are_shown_as_formulas():
    x, y = At(0.0, 0.0).x
    assert repr(x * y + 1) == "x0*x1 + 1" and repr(x < y) == "x0 < x1"


def test_powers_are_those_of_formulas():
    at = At(0.3, 2.0)
    x, y = at.x
    graph = at.trace.graph
    assert (x**2).handle == (x * x).handle and (x**0.5).handle == np.sqrt(x).handle
    assert repr(x**3) == "x0^3" and at(x**y) == pytest.approx(0.09)
    assert graph.constant((at.trace.expr(2.0) ** 3).handle) == 8.0
