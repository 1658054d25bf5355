"""Options of a run: names of the command with `_` for `-`; what is not known is refused with the nearest name."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from .errors import OptionError

if TYPE_CHECKING:
    from .model import Model

RUN = {
    "t0", "tend", "rtol", "atol", "nominal", "h0", "hmax", "max_steps", "rank_tolerance", "trust_initial", "verify", "max_switches", "time_tolerance",
    "sliding", "method", "formulation",
}  # fmt: skip


def nearest(name: str, known: list[str]) -> str:
    """A question behind an unknown name."""
    near = difflib.get_close_matches(name, known, 1, 0.6)
    return f"; did you mean {near[0]}?" if near else f"; known: {', '.join(known)}"


def kept(save: Any) -> Any:
    """What to keep of a run, as settings have it."""
    if isinstance(save, str):
        if save in ("steps", "dense", "end"):
            return save
        raise OptionError(f"save is \"steps\", \"dense\", \"end\", a number of points, or times, not {save!r}")
    if isinstance(save, (int, np.integer)) and not isinstance(save, bool):
        if not 2 <= save <= 10_000_000:
            raise OptionError(f"save is a number of points from 2 to 10000000, not {save}")
        return {"points": int(save)}
    times = _times(save)
    return {"at": times}


def _times(save: Any) -> list[float]:
    try:
        times = np.asarray(save, dtype=float)
    except (TypeError, ValueError):
        raise OptionError(f"save is \"steps\", \"dense\", \"end\", a number of points, or times, not {save!r}") from None
    if times.ndim != 1 or times.size == 0 or not np.all(np.isfinite(times)):
        raise OptionError("times to keep are a list of finite numbers")
    return [float(t) for t in times]


def _real(name: str, value: Any) -> Any:
    """A number of Python; other things are left to the checks of the library."""
    if isinstance(value, (np.integer, np.floating)):
        return value.item()
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_real(name, part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        raise OptionError(f"{name} is {value}, which is no finite number")
    if isinstance(value, (bool, int, float, str)):
        return value
    raise OptionError(f"{name} is {value!r}, which no option takes")


def settings(
    model: Model, *, t: Any = None, tend: Any = None, rtol: Any = None, atol: Any = None, method: str = "auto", formulation: str = "auto", save: Any = "steps",
    stop_when: Any = None, record_when: Any = None, options: Mapping[str, Any],
) -> str:  # fmt: skip
    """All of it as one object."""
    of_methods = [key for key, _ in _native.options()]
    made: dict[str, Any] = {"save": kept(save)}
    if t is not None:
        if np.shape(t) != (2,):
            raise OptionError("t is a pair: begin and end of the run")
        made["t0"], made["tend"] = _real("t", t[0]), _real("t", t[1])
    if tend is not None:
        made["tend"] = _real("tend", tend)
    if rtol is not None:
        made["rtol"] = _real("rtol", rtol)
    if isinstance(atol, Mapping):
        made["atol_of"] = [[name, _real("atol", value)] for name, value in atol.items() if name != "*"]
        if "*" in atol:
            made["atol"] = _real("atol", atol["*"])
    elif atol is not None:
        made["atol"] = _real("atol", atol)
    for name, value in (("method", method), ("formulation", formulation)):
        if not isinstance(value, str):
            raise OptionError(f"{name} is the name of a {name}, not {value!r}")
        if value != "auto":
            made[name] = value
    own: dict[str, Any] = {}
    for name, value in options.items():
        if value is None:
            continue
        if name == "nominal":
            made["nominal"] = [[key, _real("nominal", size)] for key, size in value.items()]
        elif name in RUN:
            made[name] = _real(name, value)
        elif name in of_methods:
            # a number of stages is a word, because it may be auto
            own[name] = str(value) if name in ("stages", "newton_point") else _real(name, value)
        else:
            known = sorted({*RUN, *of_methods, "save", "stop_when", "record_when", "progress", "on_stop", "t"})
            raise OptionError(f"there is no option {name}{nearest(name, known)}")
    if own:
        made["options"] = own
    # those that are written down first: one that stops ends the list of what happened
    events = [*_events(model, record_when, "record"), *_events(model, stop_when, "stop")]
    if events:
        made["events"] = events
    return json.dumps(made, allow_nan=False)


def _events(model: Model, given: Any, action: str) -> list[dict[str, Any]]:
    from .model import Event, condition_text

    if not given:
        return []
    if not isinstance(given, Mapping):
        many = given if isinstance(given, (list, tuple)) else [given]
        given = {None if isinstance(one, str) else getattr(one, "__name__", None): one for one in many}
    made = []
    for name, one in given.items():
        event = one if isinstance(one, Event) else Event(one)
        made.append({"name": name, "when": condition_text(model, event), "action": action})
    return made
