"""What functions of a model use beside arithmetic: cases, rates, derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import ExprArray, array, handles_of, trace_of, where, wrapped
from .errors import TraceError
from .expr import Condition, Expr


def if_(condition: Any, yes: Any, no: Any) -> Any:
    """The one where a condition holds, the other one elsewhere."""
    trace = condition.trace if isinstance(condition, Condition) else trace_of([yes, no])
    if trace is None:
        if isinstance(condition, (bool, np.bool_)):
            return yes if condition else no
        raise TraceError(f"{type(condition).__name__} is no condition")
    return where(trace, condition, yes, no)


def rate(value: Any) -> Any:
    """The time derivative of something that depends on positions and time: velocities of points from their places."""
    trace = trace_of(value)
    if trace is None:
        return np.zeros(np.shape(value)) if np.ndim(value) else 0.0
    handles = handles_of(trace, value)
    for handle in set(handles.ravel().tolist()):
        for name in trace.graph.depends_on(handle):
            if trace.flow.get(name, trace) is None:
                raise TraceError(f"the rate of something that contains {name!r} is not known; daedal.rate is for what depends on positions, time and parameters")
    flow = [(trace.inputs[name].handle, to.handle) for name, to in trace.flow.items() if to is not None and name in trace.inputs]
    made = trace.graph.total_derivative(handles.ravel().tolist(), flow)
    return wrapped(trace, np.array(made, dtype=np.uint32).reshape(handles.shape))


def der(value: Any, order: int = 1) -> Any:
    """The derivative of a variable: of a velocity the acceleration, of a state of a general system any order up to nine."""
    if isinstance(value, ExprArray):
        return array([der(part, order) for part in value])
    if isinstance(value, Expr):
        for name, known in value.trace.inputs.items():
            if known.handle == value.handle and name in value.trace.orders:
                return value.trace.orders[name](order)
    raise TraceError(f"daedal.der is for variables by themselves, not for {value!r}; daedal.rate is for expressions of positions")
