"""Many runs of one model, with other values of its parameters."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from .cluster import check_client, gather
from .errors import Interrupted, LostWorkers, OptionError, StorageError
from .model import as_model, call
from .notebook import bar, clear, framed, needed
from .options import nearest, settings
from .simulate import ModelLike

Floats = NDArray[np.float64]


class Rows(list[dict[str, float]]):
    """One run for each row of values."""


def together(**columns: Any) -> Rows:
    """One run per row: `together(L=[1, 2], v0=[3, 4])` are two runs, a grid would be four."""
    arrays = {name: np.asarray(values, dtype=float).ravel() for name, values in columns.items()}
    if len({array.size for array in arrays.values()}) > 1:
        raise OptionError("columns of different lengths: " + ", ".join(f"{name} has {array.size}" for name, array in arrays.items()))
    length = next(iter(arrays.values())).size if arrays else 0
    return Rows({name: float(array[k]) for name, array in arrays.items()} for k in range(length))


class Sweep:
    """Runs of one model. Arrays have a dimension for each parameter of a grid, or one for the runs; then one for the times, unless only ends were kept.

    A value that a run did not reach is NaN; `status` and `message` tell why.
    """

    def __init__(self, native: _native.Sweep):
        self.native = native
        self._object: dict[str, Any] = json.loads(native.object())
        found = self._object
        self.parameters: list[str] = found["parameters"]
        self.names: list[str] = found["columns"]
        grid = found["grid"]
        self.grid: dict[str, Floats] | None = None if grid is None else {n: np.array(v) for n, v in zip(self.parameters, grid, strict=True)}
        self.shape: tuple[int, ...] = (found["size"],) if self.grid is None else tuple(len(v) for v in self.grid.values())
        self.times: Floats | None = np.frombuffer(native.times()) if found["at_times"] else None
        points = 1 if self.times is None else len(self.times)
        self._numbers = np.array(found["numbers"], dtype=int)
        values = np.frombuffer(native.values()).reshape(len(self._numbers), points, len(self.names))
        whole = np.full((found["size"], points, len(self.names)), np.nan)
        whole[self._numbers] = values
        kept = self.shape if self.times is None else (*self.shape, points)
        self._values = whole.reshape(*kept, len(self.names))
        self._values.flags.writeable = False

    def _spread(self, values: Any, missing: Any, dtype: Any) -> Any:
        whole = np.full(self._object["size"], missing, dtype=dtype)
        whole[self._numbers] = values
        return whole.reshape(self.shape)

    @property
    def status(self) -> Any:
        """"end", "event", "failure", or "missing" for a run that was not made."""
        return self._spread(self._object["status"], "missing", "U8")

    @property
    def message(self) -> Any:
        """Why a run did not reach its end; empty if it did."""
        return self._spread(self._object["message"], "", object)

    @property
    def t_end(self) -> Any:
        """How far each run came."""
        return self._spread(np.frombuffer(self.native.t_end()), np.nan, float)

    @property
    def steps(self) -> Any:
        """Accepted steps of each run."""
        return self._spread(self._object["steps"], 0, int)

    @property
    def seconds(self) -> Any:
        """How long each run took; NaN for those that were found in a folder."""
        return self._spread([np.nan if s is None else s for s in self._object["seconds"]], np.nan, float)

    @property
    def rows(self) -> dict[str, Floats]:
        """The values of the parameters, run by run."""
        values = np.frombuffer(self.native.parameters()).reshape(len(self._numbers), len(self.parameters))
        return {name: self._spread(values[:, k], np.nan, float).ravel() for k, name in enumerate(self.parameters)}

    def __getitem__(self, name: str) -> Floats:
        if name not in self.names:
            raise KeyError(f"there is no column {name}{nearest(name, self.names)}")
        return self._values[..., self.names.index(name)]

    def __len__(self) -> int:
        return int(self._object["size"])

    def to_xarray(self) -> Any:
        """A data set: dimensions are the parameters of the grid, or `run`, and `time`; status, message, t_end and steps beside the columns."""
        xarray = needed("xarray", "xarray")
        if self.grid is not None:
            dims: tuple[str, ...] = tuple(self.grid)
            coords: dict[str, Any] = dict(self.grid)
        else:
            dims = ("run",)
            coords = {name: ("run", values) for name, values in self.rows.items()}
        inner = dims if self.times is None else (*dims, "time")
        if self.times is not None:
            coords["time"] = self.times
        taken = {*coords, "status", "message", "t_end", "steps", "seconds"}
        data: dict[str, Any] = {name if name not in taken else f"{name}_": (inner, self[name]) for name in self.names}
        for name in ("status", "message", "t_end", "steps", "seconds"):
            data[name] = (dims, getattr(self, name))
        return xarray.Dataset(data, coords=coords, attrs={"model": self._object["model"]})

    def to_pandas(self) -> Any:
        """A table with a row for each run, of a sweep that kept ends."""
        pandas = needed("pandas", "pandas")
        if self.times is not None:
            raise OptionError("a table has a row for each run, and this sweep kept several times; to_xarray has them all")
        columns = {**self.rows, **{name: self[name].ravel() for name in self.names}}
        return pandas.DataFrame({**columns, "status": self.status.ravel(), "message": self.message.ravel(), "t_end": self.t_end.ravel()})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all runs, as `daedal sweep -o` does; the ending of the name says how: npz, csv, html."""
        call(self.native.save, path)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the page: maps over two parameters, curves over one and over time, what failed."""
        if not os.fspath(path).endswith(".html"):
            raise OptionError(f"the name {os.fspath(path)} must end in html")
        self.save(path)

    def _repr_html_(self) -> str:
        return framed(self.native.page(), repr(self), "sweep.report(\"sweep.html\")")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_from_bytes, (self.native.to_bytes(),))

    def __repr__(self) -> str:
        status = self.status.ravel()
        counts = ", ".join(f"{int(np.sum(status == word))} {word}" for word in dict.fromkeys(status.tolist()))
        return f"<daedal.Sweep of {self._object['model']} over {', '.join(self.parameters)}: {len(self)} runs ({counts})>"


def _from_bytes(data: bytes) -> Sweep:
    return Sweep(_native.Sweep.from_bytes(data))


def open_sweep(path: str | os.PathLike[str]) -> Sweep:
    """A file that `daedal sweep -o` or `Sweep.save` wrote."""
    return Sweep(_native.Sweep.open(path))


def sweep(
    model: ModelLike, parameters: Mapping[str, Any] | Sequence[Mapping[str, float]] | Any, *, save: Any = "end", threads: int | None = None,
    resume: str | os.PathLike[str] | None = None, progress: bool | Callable[[float, float], Any] | None = None, t: tuple[float, float] | None = None,
    tend: float | None = None, rtol: float | None = None, atol: Any = None, method: str = "auto", formulation: str = "auto", stop_when: Any = None,
    client: Any = None, **options: Any,
) -> Sweep:  # fmt: skip
    """Run a model with many values of its parameters, on all processors.

    A dict is a grid: every combination of its values is a run. A list of dicts, a pandas table or `together(…)` is one run per row. `save` is "end", a number
    of points, or times. With `resume=FOLDER` finished runs are kept there, and a second call makes those that are missing. `client` is that of a Dask cluster, whose
    workers make the runs then. The result does not depend on the number of threads or workers. Every run is read and compiled with its own values.
    """
    known = as_model(model)
    if known.native.is_black_box:
        raise OptionError(
            f"{known.name} is a black box, whose functions run one at a time and cannot go to other processes: "
            f"make the runs in a loop over daedal.solve(model.set(…)), or write it with functions that can be traced"
        )
    if save in ("steps", "dense") if isinstance(save, str) else False:
        raise OptionError("a sweep keeps the end of every run, or its values at given times: save is \"end\", a number of points or times; solve(model.set(…)) keeps steps")
    asked = settings(known, t=t, tend=tend, rtol=rtol, atol=atol, method=method, formulation=formulation, save=save, stop_when=stop_when, options=options)
    if hasattr(parameters, "to_dict") and hasattr(parameters, "columns"):
        parameters = parameters.to_dict("records")
    axes: list[list[float]] | None = None
    rows: list[list[float]] | None = None
    if isinstance(parameters, Mapping):
        names = list(parameters)
        axes = [_floats(name, values) for name, values in parameters.items()]
    else:
        table = list(parameters)
        if not table:
            raise OptionError("nothing varies: give at least one parameter, with at least one value")
        names = list(table[0])
        for k, row in enumerate(table):
            if set(row) != set(names):
                raise OptionError(f"row {k} has the parameters {', '.join(row)}, the first one {', '.join(names)}")
        rows = [[float(row[name]) for name in names] for row in table]
    if threads is not None and threads < 1:
        raise OptionError("threads is at least 1")
    if client is not None:
        check_client(client, threads)
    raised: BaseException | None = None
    try:
        if client is None:
            native, raised = call(_native.sweep, known.native, names, axes, rows, asked, threads, resume, bar(progress))
        else:
            gathering = call(_native.SweepGathering, known.native, names, axes, rows, asked, resume)
            size = len(rows) if rows is not None else math.prod(len(axis) for axis in axes or [])
            try:
                gather(client, known, names, asked, gathering, size, bar(progress))
            except (KeyboardInterrupt, StorageError, LostWorkers) as ended:
                raised = ended
            native = gathering.finish()
    finally:
        clear(progress)
    made = Sweep(native)
    if raised is not None:
        if isinstance(raised, KeyboardInterrupt):
            kept = f"; the folder {os.fspath(resume)} holds them" if resume is not None else ""
            raise Interrupted(f"interrupted after {len(made._numbers)} of {len(made)} runs{kept}; .sweep holds what was computed", sweep=made) from None
        if isinstance(raised, (StorageError, LostWorkers)):
            raised.sweep = made
        raise raised
    return made


def _floats(name: str, values: Any) -> list[float]:
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise OptionError(f"the values of {name} are numbers, not {values!r}") from None
    return [float(x) for x in np.atleast_1d(array).ravel()]
