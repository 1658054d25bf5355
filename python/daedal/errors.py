"""What can go wrong, as exceptions that say what, where, and what to try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .solution import Solution
    from .sweep import Sweep


class Error(Exception):
    """Whatever Daedal refuses or cannot do."""


@dataclass(frozen=True)
class Mistake:
    """One mistake in a model. `span` are the first byte of the place that is marked in the text, and the one behind it."""

    file: str
    line: int | None
    column: int | None
    span: tuple[int, int] | None
    message: str
    help: str | None
    function: str | None = None
    """File and line of the Python function that the formula was traced from."""


class ModelError(Error, ValueError):
    """The model makes no sense. `str()` shows the lines with their mistakes marked."""

    mistakes: list[Mistake]

    def __init__(self, message: str, mistakes: list[Mistake] | None = None):
        super().__init__(message)
        self.mistakes = mistakes or []

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.args[0], self.mistakes))

    @classmethod
    def _of(cls, message: str, fields: list[dict[str, Any]]) -> ModelError:
        return cls(message, [Mistake(**mistake) for mistake in fields])


class OptionError(Error, ValueError):
    """What is asked for does not exist, or does not fit the model."""


class InitialError(Error, ValueError):
    """There is no consistent start near what is given."""


class TraceError(Error, TypeError):
    """A function does something that has no meaning while a model is traced."""


class Defect(Error, RuntimeError):
    """A defect of the program. Please report it."""


class Stopped(Error, ArithmeticError):
    """A run could not go on. `solution` holds what was computed, up to the time `t`."""

    solution: Solution
    t: float
    reason: str

    def __init__(self, reason: str, solution: Solution):
        super().__init__(reason)
        self.reason = reason
        self.solution = solution
        self.t = solution.t_end

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.reason, self.solution))


class StorageError(Error, OSError):
    """Runs of a sweep could not be written to their folder, or read from it. `sweep` holds what was computed, if something was."""

    sweep: Sweep | None = None


class LostWorkers(Error, RuntimeError):
    """Workers of a cluster were lost, and what they were making could not be made by others. `sweep` holds what was computed."""

    sweep: Sweep | None = None


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. `solution`, or `sweep`, holds what was computed."""

    solution: Solution | None
    sweep: Sweep | None

    def __init__(self, message: str, solution: Solution | None = None, sweep: Sweep | None = None):
        super().__init__(message)
        self.solution = solution
        self.sweep = sweep
