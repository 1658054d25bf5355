"""Parts of a mechanism while its functions are traced: bodies, points, joints, forces and what they consist of."""

from __future__ import annotations

from typing import Any

from .errors import TraceError
from .expr import Expr, Trace

RATES = {"x": "vx", "y": "vy", "z": "vz", "phi": "omega", "angle": "rate", "travel": "speed"}
"""The rates of what moves. Forces and angular velocities have components of the same names, and no rates."""

WITHOUT_RATES = ("force", "torque", "world", "omega", "w", "momentum", "angular_momentum")


class Part(Expr):
    """`rod`, `rod.to`, `rod["from"].x`, `link[3]`, `hinge.force.z`: the last ones are quantities, the others stand for what they consist of.

    Whether a name exists is told by the model file, which knows all of them.
    """

    __slots__ = ("_path",)

    def __init__(self, trace: Trace, path: str):
        self.trace = trace
        self._path = path

    @property
    def handle(self) -> int:  # type: ignore[override]
        trace, path = self.trace, self._path
        if path not in trace.inputs:
            *before, last = path.split(".")
            rate = RATES.get(last) if before and before[-1] not in WITHOUT_RATES else None
            trace.flow[path] = trace.input(".".join([*before, rate])) if rate else trace.flow.get(path)
            if rate:
                trace.flow.setdefault(".".join([*before, rate]), None)
        return trace.input(path).handle

    def __getattr__(self, name: str) -> Part:
        if name.startswith("__"):
            raise AttributeError(name)
        return Part(self.trace, f"{self._path}.{name}")

    def __getitem__(self, key: Any) -> Part:
        """A part by its name, or one of several by its index, which is that of its name: `link[1]` is the first."""
        if isinstance(key, str):
            return Part(self.trace, f"{self._path}.{key}")
        keys = key if isinstance(key, tuple) else (key,)
        texts = []
        for index in keys:
            if isinstance(index, Expr):
                texts.append(self.trace.graph.formula(self.trace.handle(index)))
            elif isinstance(index, int) and not isinstance(index, bool):
                texts.append(str(index))
            else:
                raise TraceError(f"{self._path}[{index!r}]: the index of a part is a whole number, as in its name")
        return Part(self.trace, f"{self._path}[{','.join(texts)}]")

    def __repr__(self) -> str:
        return self._path
