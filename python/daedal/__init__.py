"""Simulation of constrained mechanical systems and differential-algebraic equations of any index.

    import daedal
    solution = daedal.solve("models/pendulum.toml", rtol=1e-8)
    print(solution.end["x"], solution.max_residual.position)
"""

from ._native import __version__
from .arrays import ExprArray, array, zeros
from .calculus import der, if_, rate
from .errors import Defect, Error, InitialError, Interrupted, LostWorkers, Mistake, ModelError, OptionError, Stopped, StorageError, TraceError
from .expr import Condition, Expr
from .model import Event, Model, dae, hybrid, load, mechanism, motion, ode, read
from .sections import indexed
from .simulate import Check, Comparison, Start, check, compare, init, solve
from .solution import Solution, open
from .sweep import Sweep, open_sweep, sweep, together
from .switching import Transition

__all__ = [
    "Check", "Comparison", "Condition", "Defect", "Error", "Event", "Expr", "ExprArray", "InitialError", "Interrupted", "LostWorkers", "Mistake", "Model", "ModelError",
    "OptionError", "Solution", "Start", "Stopped", "StorageError", "Sweep", "TraceError", "Transition", "__version__", "array", "check", "compare", "dae", "der", "hybrid",
    "if_", "indexed", "init", "load", "mechanism", "motion", "ode", "open", "open_sweep", "rate", "read", "solve", "sweep", "together", "zeros",
]  # fmt: skip
