"""Solve, check, find initial values, compare methods."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from .errors import Interrupted, OptionError, Stopped
from .model import Model, as_model, call, dumps
from .notebook import bar, clear, needed
from .options import _real, nearest, settings
from .solution import Record, Solution

ModelLike = Model | str | os.PathLike[str]


def solve(
    model: ModelLike, *, t: tuple[float, float] | None = None, tend: float | None = None, rtol: float | None = None,
    atol: float | Mapping[str, float] | None = None, method: str = "auto", formulation: str = "auto", save: Any = "steps", stop_when: Any = None,
    record_when: Any = None, progress: bool | Callable[[float, float], Any] | None = None, on_stop: str = "raise", **options: Any,
) -> Solution:  # fmt: skip
    """Simulate a model.

    `save` is "steps", "dense" (values between the steps: `solution(t)`), "end", a number of points, or times. `stop_when` and `record_when` are events by
    name: functions that fall through zero, conditions, or texts. `progress=True` draws a bar, `progress=f` calls `f(fraction, t)`. Further options are those
    of the command, with `_` for `-`. A run that cannot go on raises `Stopped`, which has the solution; with `on_stop="return"` it is returned.
    """
    if on_stop not in ("raise", "return"):
        raise OptionError(f"on_stop is \"raise\" or \"return\", not {on_stop!r}")
    known = as_model(model)
    kernel = options.pop("kernel", None)
    if kernel is not None:
        known = known.kernel(kernel)
    asked = settings(
        known, t=t, tend=tend, rtol=rtol, atol=atol, method=method, formulation=formulation, save=save, stop_when=stop_when, record_when=record_when, options=options
    )
    try:
        run, stopped, raised = call(_native.solve, known.native, asked, bar(progress))
    finally:
        clear(progress)
    solution = Solution(run)
    if raised is not None:
        if isinstance(raised, KeyboardInterrupt):
            raise Interrupted(f"interrupted at t = {solution.t_end!r}; .solution holds what was computed", solution) from None
        raise raised
    if stopped is not None and on_stop == "raise":
        raise Stopped(stopped, solution)
    return solution


class Check:
    """What can be known before a run. `str()` is the text of `daedal check`; `object` all of it as data."""

    def __init__(self, text: str, found: dict[str, Any], impossible: str | None):
        self.text = text
        self.object = found
        self.impossible = impossible
        """Why there is no solution, or not only one."""

    @property
    def index(self) -> int | None:
        """The differentiation index, where it exists."""
        index = self.object.get("index")
        if isinstance(index, dict):
            found = index.get("differentiation")
            return None if found is None else int(found)
        return None if index is None else int(index)

    @property
    def possible(self) -> bool:
        """Has the model a solution, and only one?"""
        return self.impossible is None

    @property
    def constraints(self) -> list[Record]:
        """All constraints, hidden ones among them, with their formulas."""
        return [Record(one) for one in self.object.get("equations") or self.object.get("constraints") or [] if isinstance(one, dict)]

    @property
    def redundant(self) -> list[dict[str, float]]:
        """Combinations of constraints that follow from the others."""
        ranks = self.object.get("constraints")
        return [one["combination"] for one in ranks["redundancies"]] if isinstance(ranks, dict) and "redundancies" in ranks else []

    @property
    def freedom(self) -> Any:
        """Degrees of freedom."""
        return self.object.get("freedom")

    @property
    def warnings(self) -> list[str]:
        """Findings that are warnings, as texts."""
        return [one["message"] for one in self.object.get("findings") or [] if one.get("severity") == "warning"]

    @property
    def findings(self) -> list[Record]:
        """Everything that was found, with its severity."""
        return [Record(one) for one in self.object.get("findings") or []]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def check(model: ModelLike, t0: float | None = None) -> Check:
    """What can be known about a model before a run: constraints, index, freedom, redundancy, consistency, time scales."""
    text, found, impossible = call(_native.check, as_model(model).native, None if t0 is None else float(t0))
    return Check(text, json.loads(found), impossible)


class Start(Mapping[str, float]):
    """Consistent initial values by name."""

    def __init__(self, text: str, found: dict[str, Any]):
        self._text = text
        self.object = found
        self._values = {value["name"]: value["value"] for value in found["values"]}

    def __getitem__(self, name: str) -> float:
        if name not in self._values:
            raise KeyError(f"{name}{nearest(name, list(self._values))}")
        return float(self._values[name])

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def moved(self) -> dict[str, tuple[float, float]]:
        """Guesses that were not consistent: what was given, and what was taken."""
        made = {}
        for value in self.object["values"]:
            given = value["given"]
            if isinstance(given, dict) and "guess" in given and abs(given["guess"] - value["value"]) > 1e-12 * max(1.0, abs(given["guess"])):
                made[value["name"]] = (float(given["guess"]), float(value["value"]))
        return made

    def to_toml(self) -> str:
        """An `[initial]` table for a model file."""
        return self._text

    def __repr__(self) -> str:
        return self._text


def init(
    model: ModelLike, fix: Mapping[str, float] | None = None, guess: Mapping[str, float] | None = None, unknown: Sequence[str] = (), t0: float | None = None
) -> Start:
    """Consistent initial values: what is given is kept, moved or filled in until all constraints hold, the hidden ones included."""
    asked = {
        "t0": t0,
        "fix": [[name, _real("fix", value)] for name, value in (fix or {}).items()],
        "guess": [[name, _real("guess", value)] for name, value in (guess or {}).items()],
        "unknown": list(unknown),
    }
    text, found = call(_native.init, as_model(model).native, dumps(asked))
    return Start(text, json.loads(found))


class Comparison:
    """Methods, formulations and tolerances on one model: what each costs and how accurate it is."""

    def __init__(self, text: str, found: dict[str, Any], page: str):
        self.text = text
        self.object = found
        self._page = page

    @property
    def runs(self) -> list[Record]:
        """Every run, with its method, its tolerance, what it cost and how accurate it is."""
        return [Record(run) for run in self.object["runs"]]

    def to_pandas(self) -> Any:
        """A table with a row for each run."""
        pandas = needed("pandas", "pandas")
        return pandas.json_normalize(self.object["runs"])

    def page(self, path: str | os.PathLike[str]) -> None:
        """Write the page with its work–precision diagram."""
        if not os.fspath(path).endswith(".html"):
            raise OptionError(f"the name {os.fspath(path)} must end in html")
        Path(path).write_text(self._page, encoding="utf-8")

    def __repr__(self) -> str:
        return self.text


def compare(
    model: ModelLike, *, methods: Sequence[str] = (), formulations: Sequence[str] = (), rtol: Sequence[float] | None = None, t0: float | None = None,
    tend: float | None = None, h0: float | None = None, jobs: int | None = None, repeat: int | None = None, timeout: float = 10.0,
    reference_time: float | None = None,
) -> Comparison:  # fmt: skip
    """Compare methods at several tolerances, relative and absolute."""
    asked: dict[str, Any] = {
        "t0": t0, "tend": tend, "methods": list(methods), "formulations": list(formulations), "h0": h0, "jobs": jobs, "repeat": repeat, "timeout": float(timeout),
        "reference_time": reference_time,
    }  # fmt: skip
    if rtol is not None:
        asked["tolerances"] = sorted((float(x) for x in np.atleast_1d(rtol)), reverse=True)
    known = as_model(model)
    said = f"daedal.compare({known.name!r}, …)"
    text, found, page = call(_native.compare, known.native, dumps(asked), said)
    return Comparison(text, json.loads(found), page)
