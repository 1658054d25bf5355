"""What a run gave: columns over time, dense output, events, statistics. Everything that a run file holds, and nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from .errors import OptionError
from .options import nearest

Floats = NDArray[np.float64]


def _plain(value: Any) -> Any:
    """Numbers of JSON, which has neither NaN nor infinity."""
    if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
        return float(value)
    return value


class Record(Mapping[str, Any]):
    """Fields by name, as attributes and as keys."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Any]):
        object.__setattr__(self, "_fields", dict(fields))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._fields:
            raise AttributeError(f"no field {name!r}{nearest(name, list(self._fields))}" if not name.startswith("__") else name)
        return self._fields[name]

    def __getitem__(self, name: str) -> Any:
        if name not in self._fields:
            raise KeyError(f"{name}{nearest(name, list(self._fields))}")
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("results do not change")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Record, (self._fields,))

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self._fields.items())


@dataclass(frozen=True)
class Happened:
    """An event: its name, when, and the values of all columns there."""

    name: str
    t: float
    values: Record

    def __getitem__(self, name: str) -> float:
        return float(self.values[name])


class Solution:
    """A run. Arrays are read-only views of one block of memory."""

    def __init__(self, native: _native.Run):
        self.native = native
        self._fields: dict[str, Any] | None = None
        self.t: Floats = np.frombuffer(native.times())
        """Times of the points."""
        self._places = {name: k for k, name in enumerate(native.names)}
        self._columns: Floats = np.frombuffer(native.values()).reshape(len(self._places), len(self.t))

    @property
    def _object(self) -> dict[str, Any]:
        """The object of the run file, read when something of it is asked for."""
        if self._fields is None:
            self._fields = json.loads(self.native.object())
        return self._fields

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self._places)

    @property
    def kinds(self) -> dict[str, str]:
        """What each column is: position, velocity, multiplier, state, output, …"""
        return dict(zip(self._object["names"], self._object["kinds"] or [], strict=False))

    @property
    def values(self) -> Floats:
        """All columns, (points, columns)."""
        return self._columns.T

    def _place(self, name: str) -> int:
        if name not in self._places:
            raise KeyError(f"there is no column {name}{nearest(str(name), list(self._places))}")
        return self._places[name]

    def __getitem__(self, name: str | Sequence[str]) -> Floats:
        """A column (points,), or several of them (points, columns)."""
        if isinstance(name, str):
            column: Floats = self._columns[self._place(name)]
            return column
        several: Floats = self._columns[[self._place(one) for one in name]]
        return several.T

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __len__(self) -> int:
        return len(self.t)

    def __call__(self, t: Any, name: str | None = None) -> Floats:
        """Values at any time, as SciPy's `sol(t)`: (columns,) for a number, (columns, times) for several; of one column the shape of t."""
        times = np.asarray(t, dtype=float)
        if times.ndim > 1:
            raise OptionError("t is a number or a list of numbers")
        rows = np.frombuffer(self.native.at(np.atleast_1d(times).tolist())).reshape(-1, len(self._places))
        found = rows.T if name is None else rows[:, self._place(name)]
        return found[..., 0] if times.ndim == 0 else found

    @property
    def end(self) -> Record:
        """The values of all columns at the last point, whether it was kept or not."""
        return Record({name: _plain(value) for name, value in zip(self._object["names"], self._object["final"] or [], strict=False)})

    @property
    def t_end(self) -> float:
        """The time that was reached."""
        return float(self._object["t_end"])

    @property
    def events(self) -> list[Happened]:
        """Events in the order of the run."""
        return [
            Happened(event["name"], event["t"], Record({name: _plain(x) for name, x in zip(self.names, event["state"], strict=True)}))
            for event in self._object["events"] or []
        ]

    @property
    def switches(self) -> list[Record]:
        """Switches between modes, with names of the modes and what jumped."""
        history = self._object.get("hybrid")
        if not history:
            return []
        modes = [mode["name"] for mode in history["modes"]]
        return [Record({**switch, "from_": modes[switch["from"]], "to": modes[switch["to"]]}) for switch in history["switches"]]

    @property
    def phases(self) -> list[Record]:
        """Which mode was active from when to when."""
        history = self._object.get("hybrid")
        if not history:
            return []
        modes = [mode["name"] for mode in history["modes"]]
        return [Record({**phase, "mode": modes[phase["mode"]]}) for phase in history["phases"]]

    @property
    def steps(self) -> Record | None:
        """The accepted steps as arrays: t, h, order, newton, residual_position, …; none where they were not recorded."""
        steps = self._object.get("steps")
        if not steps:
            return None
        return Record({key: None if values is None else np.array([_plain(x) for x in values]) for key, values in steps.items()})

    @property
    def statistics(self) -> Record:
        """Counters; None where one does not apply."""
        return Record({key: value for key, value in self._object["statistics"].items() if key != "max_residual"})

    @property
    def max_residual(self) -> Record:
        """The largest residual of each level of constraints at any accepted point."""
        return Record({key: _plain(value) for key, value in (self._object["statistics"].get("max_residual") or {}).items()})

    @property
    def summary(self) -> dict[str, Any] | None:
        """The object of `daedal solve --stats json`; none for a run from a file."""
        text = self.native.statistics
        return None if text is None else json.loads(text)

    @property
    def ended(self) -> str:
        """"end", "event", "observer" or "failure"."""
        return str(self._object["ended"])

    @property
    def message(self) -> str | None:
        """Why it stopped, if it did."""
        return self._object["message"]  # type: ignore[no-any-return]

    @property
    def method(self) -> str:
        """The method; several, apart by commas, where it was changed on the way or modes have their own."""
        return str(self._object["method"])

    @property
    def formulation(self) -> str:
        """Which equations were discretised."""
        return str(self._object["formulation"])

    @property
    def decisions(self) -> str | None:
        """What was decided, and why."""
        return self._object["decisions"]  # type: ignore[no-any-return]

    @property
    def parameters(self) -> dict[str, float]:
        """The values of the parameters."""
        return {name: _plain(value) for name, value in self._object["parameters"].items()}

    @property
    def warnings(self) -> list[str]:
        """What a reader should know although the run went on."""
        return [warning["message"] for warning in self._object["warnings"] or []]

    @property
    def model(self) -> str | None:
        """The name of the model."""
        return self._object["model"]  # type: ignore[no-any-return]

    @property
    def seconds(self) -> float | None:
        """How long the computation took; not in run files."""
        return self.native.seconds

    def to_pandas(self) -> Any:
        """A table with a column for each name, over the times."""
        from .notebook import needed

        pandas = needed("pandas", "pandas")
        return pandas.DataFrame({name: self[name] for name in self._places}, index=pandas.Index(self.t, name="t"))

    def to_xarray(self) -> Any:
        """A data set with the dimension time."""
        from .notebook import needed

        xarray = needed("xarray", "xarray")
        about = {"model": self.model or "", "method": self.method, "ended": self.ended, **{f"parameter_{k}": v for k, v in self.parameters.items()}}
        columns = {name: ("time", self[name], {"kind": self.kinds.get(name, "")}) for name in self._places}
        return xarray.Dataset(columns, coords={"time": self.t}, attrs=about)

    def plot(self, *names: str, against: str | None = None, ax: Any = None) -> Any:
        """Columns over time, or over another column; gives matplotlib's axes."""
        from .notebook import plot

        return plot(self, names, against, ax)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a run file of the command; the ending says how: npz, json, csv, html."""
        self.native.save(path)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report page."""
        if not os.fspath(path).endswith(".html"):
            raise OptionError(f"a report is a page: the name {os.fspath(path)} must end in html")
        self.native.save(path)

    def _repr_html_(self) -> str:
        from .notebook import framed

        return framed(self.native.page(), repr(self), "solution.report(\"run.html\")")

    def __repr__(self) -> str:
        said = self.native.summary
        return said.rstrip() if said else f"<daedal.Solution of {self.model}: {len(self)} points up to t = {self.t_end!r}, {self.ended}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_from_bytes, (self.native.to_bytes(),))


def _from_bytes(data: bytes) -> Solution:
    return Solution(_native.Run.from_bytes(data))


def open(path: str | os.PathLike[str]) -> Solution:
    """A run file: npz, json or csv."""
    return Solution(_native.Run.open(path))
