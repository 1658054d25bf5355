"""Arrays of expressions, and NumPy's functions on them.

`ExprArray` keeps handles of nodes in a NumPy array: indexing, shapes and broadcasting are NumPy's own, and arithmetic is one native loop over handles. Object arrays,
which `np.array([x, y])` makes, are accepted everywhere and become an `ExprArray` with the first operation that NumPy leaves to us.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .errors import TraceError
from .expr import BINARIES, COMPARISONS, FURTHER, LARGEST, UNARIES, Condition, Expr, Operators, Trace, apply, power, unknown


class ExprArray(Operators):
    """An array of quantities: handles of nodes in a NumPy array, whose indexing and shapes it has."""

    __slots__ = ("handles", "names", "trace")

    def __init__(self, trace: Trace, handles: NDArray[np.uint32], names: Sequence[str] | None = None):
        self.trace = trace
        self.handles = handles
        self.names = names

    def _do(self, name: str, *values: Any) -> Any:
        return spread(self.trace, name, values)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.handles.shape

    @property
    def ndim(self) -> int:
        return self.handles.ndim

    @property
    def size(self) -> int:
        return self.handles.size

    @property
    def T(self) -> ExprArray:
        return ExprArray(self.trace, self.handles.T)

    @property
    def flat(self) -> Iterator[Expr]:
        return (Expr(self.trace, int(handle)) for handle in self.handles.flat)

    def __len__(self) -> int:
        return len(self.handles)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if self.names is None or key not in self.names:
                raise TraceError(unknown(key, self.names or []))
            key = list(self.names).index(key)
        found = self.handles[key]
        return ExprArray(self.trace, found) if isinstance(found, np.ndarray) else Expr(self.trace, int(found))

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self.handles.flags.writeable:
            raise TraceError("the variables of a model cannot be assigned to; make an array of your own with daedal.zeros(n)")
        self.handles[key] = handles_of(self.trace, value) if shape_of(value) else self.trace.handle(value)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self.handles)))

    def __matmul__(self, other: Any) -> Any:
        return _matmul(self.trace, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _matmul(self.trace, other, self)

    def __hash__(self) -> int:
        return hash((id(self.trace), self.handles.tobytes()))

    def reshape(self, *shape: Any) -> ExprArray:
        return ExprArray(self.trace, self.handles.reshape(*shape))

    def ravel(self) -> ExprArray:
        return ExprArray(self.trace, self.handles.ravel())

    flatten = ravel

    def transpose(self, *axes: Any) -> ExprArray:
        return ExprArray(self.trace, self.handles.transpose(*axes))

    def copy(self) -> ExprArray:
        return ExprArray(self.trace, self.handles.copy())

    def tolist(self) -> Any:
        return [part.tolist() if isinstance(part, ExprArray) else part for part in self]

    def sum(self, axis: int | None = None) -> Any:
        return reduced(self.trace, "add", self, axis)

    def prod(self, axis: int | None = None) -> Any:
        return reduced(self.trace, "multiply", self, axis)

    def dot(self, other: Any) -> Any:
        return _matmul(self.trace, self, other)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return ufunc_of(self.trace, ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function_of(self.trace, function, args, kwargs)

    def __repr__(self) -> str:
        return f"ExprArray({self.tolist()!r})"

    def __reduce__(self) -> NoReturn:
        raise TraceError("an expression belongs to the function that is traced, and cannot be kept; models can be pickled")


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array, a nested list or a single quantity."""
    if isinstance(value, (Expr, Condition)):
        return ()
    return value.shape if isinstance(value, ExprArray) else np.shape(value)


def trace_of(values: Any) -> Trace | None:
    """The model of the first expression in nested lists and arrays."""
    if isinstance(values, (Expr, ExprArray)):
        return values.trace
    if isinstance(values, np.ndarray):
        values = values.ravel().tolist() if values.dtype == object else ()
    if isinstance(values, (list, tuple)):
        for value in values:
            if (found := trace_of(value)) is not None:
                return found
    return None


def handles_of(trace: Trace, value: Any) -> NDArray[np.uint32]:
    """Handles for an array, a nested list or a single quantity."""
    if isinstance(value, ExprArray):
        if value.trace is not trace:
            raise TraceError(f"an expression of the model {value.trace.title!r} stands in the model {trace.title!r}; expressions of two models do not mix")
        return value.handles
    if isinstance(value, Expr):
        return np.asarray(trace.handle(value), dtype=np.uint32)
    if isinstance(value, (list, tuple)):
        parts = [handles_of(trace, part) for part in value]
        if len({part.shape for part in parts}) > 1:
            raise TraceError(f"rows of different shapes: {', '.join(str(part.shape) for part in parts)}")
        return np.stack(parts) if parts else np.zeros(0, dtype=np.uint32)
    array = np.asarray(value)
    if array.dtype == object:
        flat = [trace.handle(part) for part in array.ravel().tolist()]
        return np.array(flat, dtype=np.uint32).reshape(array.shape)
    if array.dtype.kind not in "fiu":
        trace.handle(value if array.ndim == 0 else array.ravel()[0].item())
    if not np.all(np.isfinite(array)):
        raise TraceError("an array holds numbers that are not finite")
    flat_numbers = np.ascontiguousarray(array, dtype=np.float64).ravel()
    return np.frombuffer(trace.graph.numbers(flat_numbers.tobytes()), dtype=np.uint32).reshape(array.shape)


def spread(trace: Trace, name: str, values: Sequence[Any]) -> Any:
    """A function of arrays, element by element."""
    if name in ("power", "float_power") and not isinstance(values[1], (Expr, ExprArray)) and shape_of(values[1]) == ():
        base = handles_of(trace, values[0])
        flat = [power(trace, int(x), values[1]) for x in base.ravel()]
        return ExprArray(trace, np.array(flat, dtype=np.uint32).reshape(base.shape))
    arrays = np.broadcast_arrays(*(handles_of(trace, value) for value in values))
    shape, flats = arrays[0].shape, [np.ascontiguousarray(array).ravel() for array in arrays]
    if len(trace.graph) > LARGEST:
        raise TraceError(f"the model has more than {LARGEST} operations")
    if name in UNARIES:
        made = np.frombuffer(trace.graph.unaries(UNARIES[name], flats[0].tobytes()), dtype=np.uint32).copy()
    elif name in BINARIES:
        made = np.frombuffer(trace.graph.binaries(BINARIES[name], flats[0].tobytes(), flats[1].tobytes()), dtype=np.uint32).copy()
    elif name in COMPARISONS:
        flat_conditions = [Condition(trace, COMPARISONS[name], (int(a), int(b))) for a, b in zip(*flats, strict=True)]
        conditions = np.empty(len(flat_conditions), dtype=object)
        conditions[:] = flat_conditions
        return conditions.reshape(shape)
    elif name in FURTHER:
        if name in ("power", "float_power"):
            flat = [power(trace, int(x), Expr(trace, int(y))) for x, y in zip(*flats, strict=True)]
        else:
            flat = [FURTHER[name](trace, *(int(x) for x in row)) for row in zip(*flats, strict=True)]
        made = np.array(flat, dtype=np.uint32)
    else:
        raise TraceError(f"np.{name} is not known to expressions")
    return ExprArray(trace, made.reshape(shape))


def ufunc_of(trace: Trace, ufunc: np.ufunc, method: str, inputs: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    name = ufunc.__name__
    if name == "matmul" and method == "__call__":
        return _matmul(trace, inputs[0], inputs[1])
    if method == "reduce" and name in ("add", "multiply", "maximum", "minimum"):
        return reduced(trace, name, inputs[0], kwargs.get("axis", 0))
    if method == "outer":
        left, right = handles_of(trace, inputs[0]), handles_of(trace, inputs[1])
        return spread(trace, name, [ExprArray(trace, left.reshape(left.shape + (1,) * right.ndim)), ExprArray(trace, right)])
    if method != "__call__" or kwargs.get("out") is not None or "where" in kwargs:
        raise TraceError(f"np.{name} with {method} or out= or where= is not known to expressions; a list or daedal.zeros(n) takes expressions, np.zeros(n) does not")
    if all(shape_of(value) == () for value in inputs):
        return apply(trace, name, inputs)
    return spread(trace, name, inputs)


def reduced(trace: Trace, name: str, value: Any, axis: Any) -> Any:
    """A function from the first element on, as NumPy's `reduce`."""
    handles = handles_of(trace, value)
    if axis is None:
        handles, axis = handles.ravel(), 0
    if handles.ndim == 0:
        return Expr(trace, int(handles))
    rows = np.moveaxis(handles, axis, 0)
    if len(rows) == 0:
        start = {"add": 0.0, "multiply": 1.0}.get(name)
        if start is None:
            raise TraceError(f"np.{name} of nothing")
        return full(trace, rows.shape[1:], start)
    total: Any = wrapped(trace, rows[0])
    for row in rows[1:]:
        total = spread(trace, name, [total, ExprArray(trace, row)]) if row.ndim else apply(trace, name, [total, Expr(trace, int(row))])
    return total


def wrapped(trace: Trace, handles: Any) -> Any:
    return ExprArray(trace, handles) if np.ndim(handles) else Expr(trace, int(handles))


def full(trace: Trace, shape: tuple[int, ...], value: float) -> Any:
    return wrapped(trace, np.full(shape, trace.graph.number(value), dtype=np.uint32))


def _matmul(trace: Trace, left: Any, right: Any) -> Any:
    a, b = handles_of(trace, left), handles_of(trace, right)
    if a.ndim == 0 or b.ndim == 0:
        return spread(trace, "multiply", [wrapped(trace, a), wrapped(trace, b)])
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise TraceError(f"shapes {a.shape} and {b.shape} do not fit for @")
    columns = b if b.ndim == 1 else np.moveaxis(b, -2, -1)
    # rows of the one against columns of the other
    rows = a if b.ndim == 1 else a[..., np.newaxis, :]
    product = spread(trace, "multiply", [ExprArray(trace, rows), ExprArray(trace, columns)])
    return reduced(trace, "add", product, -1)


def where(trace: Trace, condition: Any, yes: Any, no: Any) -> Any:
    arrays = np.broadcast_arrays(np.asarray(condition, dtype=object), handles_of(trace, yes), handles_of(trace, no))
    flat = [_chosen(trace, c, int(a), int(b)) for c, a, b in zip(*(array.ravel() for array in arrays), strict=True)]
    return wrapped(trace, np.array(flat, dtype=np.uint32).reshape(arrays[0].shape))


def _chosen(trace: Trace, condition: Any, yes: int, no: int) -> int:
    if isinstance(condition, Condition):
        if condition.trace is not trace:
            raise TraceError(f"a condition of the model {condition.trace.title!r} stands in the model {trace.title!r}")
        return condition.choose(yes, no)
    if isinstance(condition, (bool, np.bool_)):
        return yes if condition else no
    raise TraceError(f"{type(condition).__name__} is no condition")


def _norm(trace: Trace, x: Any, ord: Any = None, axis: Any = None) -> Any:
    if ord not in (None, 2, "fro"):
        raise TraceError(f"np.linalg.norm with ord={ord!r} is not known to expressions")
    total = reduced(trace, "add", spread(trace, "square", [x]), axis)
    return total._do("sqrt", total)


def _cross(trace: Trace, a: Any, b: Any) -> Any:
    u, v = (ExprArray(trace, handles_of(trace, value)) for value in (a, b))
    if u.shape[-1] == v.shape[-1] == 2:
        return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    if u.shape[-1] != 3 or v.shape[-1] != 3:
        raise TraceError("np.cross takes vectors of two or three entries")
    parts = [u[..., i] * v[..., j] - u[..., j] * v[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return ExprArray(trace, np.stack([handles_of(trace, part) for part in parts], axis=-1))


def _cumsum(trace: Trace, a: Any, axis: int | None = None) -> Any:
    handles = handles_of(trace, a)
    rows = handles.ravel() if axis is None else np.moveaxis(handles, axis, 0)
    sums = [wrapped(trace, rows[0])]
    for row in rows[1:]:
        sums.append(sums[-1] + wrapped(trace, row))
    stacked = np.stack([handles_of(trace, part) for part in sums])
    return ExprArray(trace, stacked if axis is None else np.moveaxis(stacked, 0, axis))


def _diff(trace: Trace, a: Any, n: int = 1, axis: int = -1) -> Any:
    handles = np.moveaxis(handles_of(trace, a), axis, 0)
    for _ in range(n):
        difference = spread(trace, "subtract", [ExprArray(trace, handles[1:]), ExprArray(trace, handles[:-1])])
        handles = difference.handles
    return ExprArray(trace, np.moveaxis(handles, 0, axis))


def _append(trace: Trace, arr: Any, values: Any, axis: int | None = None) -> Any:
    first, second = handles_of(trace, arr), handles_of(trace, values)
    return ExprArray(trace, np.append(first, second, axis))


def _clip(trace: Trace, a: Any, low: Any = None, high: Any = None) -> Any:
    value = wrapped(trace, handles_of(trace, a))
    if low is not None:
        value = value._do("maximum", value, low)
    if high is not None:
        value = value._do("minimum", value, high)
    return value


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda t, a, axis=None: reduced(t, "add", a, axis),
    "prod": lambda t, a, axis=None: reduced(t, "multiply", a, axis),
    "max": lambda t, a, axis=None: reduced(t, "maximum", a, axis),
    "min": lambda t, a, axis=None: reduced(t, "minimum", a, axis),
    "amax": lambda t, a, axis=None: reduced(t, "maximum", a, axis),
    "amin": lambda t, a, axis=None: reduced(t, "minimum", a, axis),
    "mean": lambda t, a, axis=None: reduced(t, "add", a, axis) / (math.prod(shape_of(a)) if axis is None else shape_of(a)[axis]),
    "dot": _matmul,
    "vdot": lambda t, a, b: _matmul(t, ExprArray(t, handles_of(t, a).ravel()), ExprArray(t, handles_of(t, b).ravel())),
    "inner": _matmul,
    "outer": lambda t, a, b: spread(t, "multiply", [ExprArray(t, handles_of(t, a).reshape(-1, 1)), ExprArray(t, handles_of(t, b).ravel())]),
    "cross": _cross,
    "cumsum": _cumsum,
    "diff": _diff,
    "clip": _clip,
    "append": _append,
    "where": where,
    "norm": _norm,
}
"""NumPy's functions of arrays that make new nodes."""

ARRANGED = {"concatenate", "stack", "hstack", "vstack", "column_stack", "roll", "tile", "repeat", "reshape", "ravel", "transpose", "swapaxes",
            "moveaxis", "flip", "squeeze", "expand_dims", "broadcast_to", "atleast_1d", "split", "diag", "diagonal", "copy"}  # fmt: skip
"""Functions that only arrange what is there: NumPy does that with handles."""


def function_of(trace: Trace, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    name = function.__name__
    if name in FUNCTIONS:
        return FUNCTIONS[name](trace, *args, **kwargs)
    if name in ("shape", "ndim", "size"):
        shape = shape_of(args[0])
        return {"shape": shape, "ndim": len(shape), "size": math.prod(shape)}[name]
    if name == "diag" and len(shape_of(args[0])) == 1:
        handles = handles_of(trace, args[0])
        square = full(trace, (len(handles), len(handles)), 0.0).handles
        square[np.arange(len(handles)), np.arange(len(handles))] = handles
        return ExprArray(trace, square)
    if name in ARRANGED:
        def arranged(value: Any) -> Any:
            if isinstance(value, (list, tuple)) and trace_of(value) is not None:
                return [handles_of(trace, part) for part in value]
            return handles_of(trace, value) if isinstance(value, (Expr, ExprArray)) else value

        made = function(*(arranged(value) for value in args), **{key: arranged(value) for key, value in kwargs.items()})
        parts = made if isinstance(made, list) else [made]
        if any(np.asarray(part).dtype != np.uint32 for part in parts):
            # a number among the handles would be taken for one
            raise TraceError(f"np.{name} of expressions and numbers together is not known to expressions: make one array of them with daedal.array first")
        return [wrapped(trace, part) for part in parts] if isinstance(made, list) else wrapped(trace, made)
    raise TraceError(f"np.{name} is not known to expressions")


def array(values: Any) -> Any:
    """An array of expressions and numbers; of numbers alone, a NumPy array."""
    trace = trace_of(values)
    return np.asarray(values, dtype=float) if trace is None else ExprArray(trace, np.array(handles_of(trace, values)))


def zeros(*shape: int) -> NDArray[np.object_]:
    """Zeros that expressions can be assigned to, which those of NumPy do not take."""
    made = np.empty(shape, dtype=object)
    made.fill(0.0)
    return made
