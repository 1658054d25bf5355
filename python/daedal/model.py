"""Models: files, texts, reference problems, and functions."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _native
from .errors import Defect, Mistake, ModelError, OptionError, TraceError
from .options import nearest
from .bodies import Tables, bodies_sections
from .equations import added, begun, dae_sections, motion_sections, prepare, start as begin
from .sections import DAE, MOTION, Sections
from .switching import Transition, write_transitions
from .tracing import Tracer, number, putter


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the native half; a panic there is a defect."""
    try:
        return function(*arguments)
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise Defect(f"{error}; please report it with the model") from None
        raise


class Model:
    """A model with its parameters set. Nothing changes it: `set` and `add` give another one."""

    __slots__ = ("_sections", "native")

    def __init__(self, native: _native.Model, sections: Sections | None = None):
        self.native = native
        self._sections = sections

    @property
    def name(self) -> str:
        """What it is called."""
        return self.native.name

    @property
    def description(self) -> str:
        """What it is; empty if nobody says it."""
        return self.native.description

    @property
    def parameters(self) -> dict[str, float]:
        """All parameters, in the order of the model."""
        return dict(self.native.parameters)

    @property
    def names(self) -> list[str]:
        """Variables, multipliers and outputs."""
        return self.native.names

    @property
    def time(self) -> tuple[float, float | None]:
        """Start and end of the interval, as far as the model says them."""
        return self.native.interval

    @property
    def warnings(self) -> list[str]:
        """What is odd about it, such as parameters that nothing uses."""
        return self.native.warnings

    @property
    def text(self) -> str | None:
        """The model file; none of a reference problem."""
        return self.native.text

    def set(self, values: Mapping[str, float] | None = None, /, **named: float) -> Model:
        """The same model with some parameters changed: `model.set(m=2.0)`, `model.set({"k[2]": 50.0})`."""
        given = {**(values or {}), **named}
        pairs = []
        for name, value in given.items():
            try:
                pairs.append((name.replace(" ", ""), float(value)))
            except (TypeError, ValueError):
                raise OptionError(f"the parameter {name} is a number, not {value!r}") from None
        return Model(call(self.native.set, pairs), self._sections)

    def kernel(self, kind: str) -> Model:
        """The same model, evaluated by native code (`"native"`), by a tape (`"tape"`), or as it fits (`"auto"`)."""
        return Model(call(self.native.with_kernel, kind), self._sections)

    def add(
        self, *, parameters: Mapping[str, float] | None = None, output: Mapping[str, Any] | None = None, fix: Mapping[str, Any] | None = None,
        guess: Mapping[str, Any] | None = None, **sections: Any,
    ) -> Model:  # fmt: skip
        """The same model with more formulas. Tables, such as constraints by name, are merged; other keys replace those that were there."""
        if self._sections is None:
            raise OptionError(f"{self.name} was read from a file, and formulas are added to models that were made in Python; edit its text and daedal.read it")
        if self._sections.modes:
            raise OptionError(f"{self.name} has modes; formulas are added to the models that are its modes")
        known = {"motion": MOTION, "dae": DAE}.get(self._sections.kind, ())
        for key in sections:
            if key not in known:
                raise OptionError(f"a model of the kind {self._sections.kind} has no section {key}{nearest(key, list(known))}")
        made = added(self._sections, sections, output or {}, fix or {}, guess or {}, parameters or {})
        return _read(made).set(dict(self.native.changed))

    def to_toml(self) -> str:
        """A model file of the same mathematics, with the values that the parameters have now."""
        text = self.text
        if text is None:
            raise OptionError(f"{self.name} is a reference problem, which is no file; models/{self.name}.toml may be one")
        changed = self.native.changed
        if not changed:
            return text
        if self._sections is None:
            listed = ", ".join(f"{name} = {value!r}" for name, value in changed)
            raise OptionError(f"{self.name} was read from a file, whose text has other values; write them into its [parameters]: {listed}")
        made = copy.deepcopy(self._sections)
        for name, value in changed:
            if name not in made.parameters:
                raise OptionError(f"the entry {name} of an array has no line of its own in a model file")
            made.parameters[name] = value
        return made.text()[0]

    def _origin(self) -> tuple[Any, ...]:
        name, folder = self.native.origin
        return (name, self.text, None if folder is None else os.fspath(folder), self.native.changed, self.native.kernel, self._sections)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, self._origin())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self._origin()[1:5] == other._origin()[1:5] and self.name == other.name

    def __hash__(self) -> int:
        return hash((self.name, self.text, tuple(self.native.changed)))

    def __repr__(self) -> str:
        about = f": {self.description}" if self.description else ""
        return f"<daedal.Model {self.name}{about}>"


def _again(name: str, text: str | None, folder: str | None, changed: list[tuple[str, float]], kernel: str, sections: Sections | None) -> Model:
    """A model from its pickle."""
    native = _native.Model.reference(name) if text is None else _native.Model.read(name, text, folder)
    if kernel != native.kernel:
        native = native.with_kernel(kernel)
    return Model(native.set(changed) if changed else native, sections)


def load(path: str | os.PathLike[str]) -> Model:
    """A model file, or the name of a reference problem."""
    text = os.fspath(path)
    is_file = text.lower().endswith(".toml") or "/" in text or "\\" in text or Path(text).is_file()
    return Model(call(_native.Model.load, text) if is_file else call(_native.Model.reference, text))


def read(text: str, name: str = "model.toml") -> Model:
    """The text of a model file; `name` is how messages call it."""
    return Model(call(_native.Model.read, name, text, None))


def as_model(given: Model | str | os.PathLike[str]) -> Model:
    """A path is accepted where a model is."""
    if isinstance(given, Model):
        return given
    if isinstance(given, (str, os.PathLike)):
        return load(given)
    raise OptionError(f"a model or the path of a model file is expected, not {type(given).__name__}")


def _read(sections: Sections) -> Model:
    """Read what was traced; mistakes tell the functions that they came from."""
    text, lines = sections.text()
    try:
        return Model(call(_native.Model.read, f"{sections.name} (written in Python)", text, None), sections)
    except ModelError as error:
        mistakes = []
        for m in error.mistakes:
            mistakes.append(Mistake(m.file, m.line, m.column, m.span, m.message, m.help, lines.get(m.line or 0)))
        places = sorted({m.function for m in mistakes if m.function})
        said = str(error).rstrip() + "".join(f"\n  traced from {place}" for place in places)
        raise ModelError(said, mistakes) from None


@dataclass(frozen=True)
class Event:
    """Something that happens along a run: a condition that becomes true, or a function that falls (`direction=-1`: rises) through zero."""

    when: Any
    name: str | None = None
    action: str = "record"
    direction: int = 1

    def __post_init__(self) -> None:
        if self.direction not in (1, -1):
            raise OptionError(f"direction is 1 for a function that falls through zero, -1 for one that rises, not {self.direction!r}")
        if self.action not in ("record", "stop"):
            raise OptionError(f"action is \"record\" or \"stop\", not {self.action!r}")


def motion(
    name: str | None = None, equations: Callable[..., Any] | None = None, *, positions: Sequence[str], velocities: Sequence[str], time: Any = None,
    parameters: Mapping[str, Any] | None = None, mass: Any = None, forces: Any = None, kinematics: Any = None, holonomic: Any = None, nonholonomic: Any = None,
    dynamic: Any = None, auxiliary: Any = None, contact: Any = None, invariants: Any = None, hidden: Any = None, lagrangian: Callable[..., Any] | None = None,
    constraint_forces: bool = False, fix: Mapping[str, Any] | None = None, guess: Mapping[str, Any] | None = None, conditions: Any = None,
    output: Mapping[str, Any] | None = None, events: Sequence[Event] = (), description: str = "", solve: Mapping[str, Any] | None = None, trace: bool = True,
    holonomic_velocity: Any = None, holonomic_acceleration: Any = None, nonholonomic_acceleration: Any = None,
) -> Any:  # fmt: skip
    """Equations of motion. The keys are those of `[motion]` in a model file; a formula is a number, a text, or a function whose argument names say what it sees.

    Without `mass`, `lagrangian` and `equations` it is a decorator of a function that returns them all in a dict. With `trace=False` functions are called with
    numbers at every evaluation: `forces` then contain the constraint forces, and hidden constraints are given by `holonomic_velocity`,
    `holonomic_acceleration` and `nonholonomic_acceleration`, with v' eliminated.
    """
    by_hand = {"holonomic_velocity": holonomic_velocity, "holonomic_acceleration": holonomic_acceleration, "nonholonomic_acceleration": nonholonomic_acceleration}
    if not trace:
        return _black_motion(
            name, equations, {"kinematics": kinematics, "mass": mass, "forces": forces, "holonomic": holonomic, "nonholonomic": nonholonomic,
                              "dynamic": dynamic, "auxiliary": auxiliary, "invariants": invariants, **by_hand},
            {"contact": contact, "hidden": hidden, "lagrangian": lagrangian, "constraint_forces": constraint_forces, "conditions": conditions, "output": output,
             "events": events, "solve": solve},
            positions=positions, velocities=velocities, parameters=parameters, time=time, fix=fix or {}, guess=guess or {}, description=description,
        )  # fmt: skip
    for key, value in by_hand.items():
        if value is not None:
            raise OptionError(f"{key} follows from the formulas of a model; it is given to a black box only, with trace=False")
    given = {"kinematics": kinematics, "mass": mass, "forces": forces, "holonomic": holonomic, "nonholonomic": nonholonomic, "dynamic": dynamic,
             "auxiliary": auxiliary, "contact": contact, "invariants": invariants, "hidden": hidden}  # fmt: skip

    def make(function: Callable[..., Any] | None) -> Model:
        title = name or getattr(function, "__name__", None)
        if title is None:
            raise TraceError("a model needs a name")
        return _read(motion_sections(
            title, positions=positions, velocities=velocities, description=description, time=time, parameters=parameters, solve=solve, equations=function,
            lagrangian=lagrangian, constraint_forces=constraint_forces, fix=fix or {}, guess=guess or {}, conditions=conditions, output=output or {},
            events=events, given=dict(given),
        ))  # fmt: skip

    return make if equations is None and mass is None and lagrangian is None else make(equations)


def dae(
    name: str | None = None, equations: Any = None, *, states: Sequence[str], time: Any = None, parameters: Mapping[str, Any] | None = None, invariants: Any = None,
    hidden: Any = None, free: Sequence[str] | None = None, fix: Mapping[str, Any] | None = None, guess: Mapping[str, Any] | None = None, conditions: Any = None,
    output: Mapping[str, Any] | None = None, events: Sequence[Event] = (), description: str = "", solve: Mapping[str, Any] | None = None, trace: bool = True,
    algebraic: Sequence[str] = (),
) -> Any:  # fmt: skip
    """A general system F(t, x, ẋ) = 0 of any index: a function that returns residuals in a list or by name. Without it, a decorator.

    With `trace=False` the function is called with numbers at every evaluation; `algebraic` are then the states without rates, and the index is at most one.
    """
    return _system(False, name, equations, trace, {"algebraic": algebraic}, {"invariants": invariants, "hidden": hidden, "free": free}, dict(
        states=states, time=time, parameters=parameters, fix=fix or {}, guess=guess or {}, conditions=conditions, output=output or {}, events=events,
        description=description, solve=solve,
    ))  # fmt: skip


def ode(
    name: str | None = None, rates: Any = None, *, states: Sequence[str], time: Any = None, parameters: Mapping[str, Any] | None = None, invariants: Any = None,
    fix: Mapping[str, Any] | None = None, guess: Mapping[str, Any] | None = None, output: Mapping[str, Any] | None = None, events: Sequence[Event] = (),
    description: str = "", solve: Mapping[str, Any] | None = None, trace: bool = True,
) -> Any:  # fmt: skip
    """Ordinary differential equations ẋ = f(t, x): a function that returns rates in the order of the states. Without it, a decorator.

    With `trace=False` the function is called with numbers at every evaluation.
    """
    return _system(True, name, rates, trace, {}, {"invariants": invariants}, dict(
        states=states, time=time, parameters=parameters, fix=fix or {}, guess=guess or {}, conditions=None, output=output or {}, events=events,
        description=description, solve=solve,
    ))  # fmt: skip


def _system(explicit: bool, name: Any, equations: Any, trace: bool, black: dict[str, Any], given: dict[str, Any], common: dict[str, Any]) -> Any:
    if callable(name):
        name, equations = None, name
    if trace and black.get("algebraic"):
        raise OptionError("which states are algebraic follows from the formulas of a model; it is said of a black box only, with trace=False")

    def make(function: Any) -> Model:
        title = name or getattr(function, "__name__", None)
        if title is None or title == "<lambda>":
            raise TraceError("a model needs a name")
        if trace:
            return _read(dae_sections(title, function, explicit=explicit, given=given, **common))
        from . import black_box

        only = {key: common[key] for key in ("conditions", "output", "events", "solve")}
        black_box.refused({**given, **only}, "of a black box nothing but values is known; columns and events of its run are there all the same")
        own = {key: value for key, value in common.items() if key not in only}
        return black_box.general(title, function, explicit=explicit, algebraic=black.get("algebraic", ()), **own)

    return make if equations is None else make(equations)


def _black_motion(name: str | None, equations: Any, given: dict[str, Any], only: dict[str, Any], **common: Any) -> Any:
    """Equations of motion whose functions are called."""
    from . import black_box

    if equations is not None:
        raise OptionError("a black box takes its functions one by one: mass, forces, holonomic, …")
    if name is None:
        raise TraceError("a model needs a name")
    black_box.refused(only, "of a black box nothing but values is known; columns and events of its run are there all the same")
    return black_box.mechanical(name, given, **common)


def mechanism(
    name: str, *, bodies: Tables, joints: Tables | None = None, forces: Tables | None = None, points: Tables | None = None, plane: str | None = None,
    gravity: Any = None, dynamic: Mapping[str, Any] | None = None, time: Any = None, parameters: Mapping[str, Any] | None = None,
    modes: Mapping[str, Mapping[str, Any]] | None = None, transitions: Sequence[Transition] = (), start: str | None = None,
    sliding: Mapping[str, Any] | None = None, fix: Mapping[str, Any] | None = None, guess: Mapping[str, Any] | None = None, conditions: Any = None,
    output: Mapping[str, Any] | None = None, events: Sequence[Event] = (), picture: Mapping[str, Any] | None = None, description: str = "",
    solve: Mapping[str, Any] | None = None,
) -> Model:  # fmt: skip
    """Bodies, joints and forces, by name. The keys are those of `[[bodies]]`, `[[joints]]`, `[[forces]]` and `[[points]]` in a model file.

    Numbers of the drawing and laws of forces may be functions, whose arguments name parameters, bodies, points and joints: `lambda hinge: hinge.angle`.
    """
    world = {key: value for key, value in (("plane", plane), ("gravity", gravity)) if value is not None}
    return _read(bodies_sections(
        name, tables={"bodies": bodies, "points": points, "joints": joints, "forces": forces}, world=world, dynamic=dynamic or {}, description=description,
        time=time, parameters=parameters, solve=solve, modes=modes or {}, transitions=transitions, first=start, sliding=sliding or {}, fix=fix or {},
        guess=guess or {}, conditions=conditions, output=output or {}, events=events, picture=picture or {},
    ))  # fmt: skip


MODE_OPTIONS = ("method", "formulation", "restart", "keep", "dwell")


def hybrid(
    name: str, *, modes: Mapping[str, Model | tuple[Model, Mapping[str, Any]]], transitions: Sequence[Transition], start: str | None = None, time: Any = None,
    parameters: Mapping[str, float] | None = None, fix: Mapping[str, Any] | None = None, guess: Mapping[str, Any] | None = None,
    output: Mapping[str, Any] | None = None, events: Sequence[Event] = (), sliding: Mapping[str, Any] | None = None, description: str = "",
    solve: Mapping[str, Any] | None = None,
) -> Model:  # fmt: skip
    """A system that switches. Modes are models that were made by `motion` or `dae`, or pairs of one and its options (method, restart, keep, dwell, …)."""
    made, _ = begun(name, "hybrid", description, time, None, solve)
    made.start, made.sliding = start, dict(sliding or {})
    for mode, given in modes.items():
        model, options = given if isinstance(given, tuple) else (given, {})
        if isinstance(model, Model) and model._sections is not None and model._sections.kind == "bodies":
            raise OptionError(f"the mode {mode!r} is drawn with bodies, whose modes are said once for all bodies: daedal.mechanism(…, modes=…, transitions=…)")
        if not isinstance(model, Model) or model._sections is None or model._sections.modes:
            raise OptionError(f"the mode {mode!r} is a model that daedal.motion or daedal.dae made, not {type(model).__name__}")
        for key in options:
            if key not in MODE_OPTIONS:
                raise OptionError(f"a mode has no option {key}{nearest(key, list(MODE_OPTIONS))}")
        made.modes[mode] = copy.deepcopy(model._sections)
        made.modes[mode].parameters.update(dict(model.native.changed))
        made.mode_options[mode] = dict(options)
        for key, value in model._sections.output.items():
            made.output.setdefault(key, value)
        for key, value in made.modes[mode].parameters.items():
            made.parameters.setdefault(key, value)
    made.parameters.update({key: number(value, f"parameters.{key}") for key, value in (parameters or {}).items()})
    made.time = made.time or next((m.time for m in made.modes.values() if m.time), None)
    of = {mode: sections.names for mode, sections in made.modes.items()}
    shared: dict[str, list[str]] = {}
    for names in of.values():
        for block, known in names.items():
            shared[block] = [*shared.get(block, []), *(key for key in known if key not in shared.get(block, []))]
    write_transitions(made, transitions, of, shared)
    whole = Tracer(made, shared)
    if "positions" in shared or "states" in shared:
        kind, made.kind = made.kind, "motion" if "positions" in shared else "dae"
        if not ("positions" in shared and "states" in shared):
            made.names = shared
            prepare(whole, None)
        made.kind = kind
    begin(whole, made, fix or {}, guess or {}, None, output or {}, events)
    made.names = {}
    whole.finish("")
    return _read(made)


def condition_text(model: Model, event: Event) -> str:
    """The condition of an event in the words of the model."""
    if isinstance(event.when, str):
        return event.when
    if not callable(event.when):
        raise OptionError(f"an event is a function or a condition as text, not {type(event.when).__name__}")
    names = list(model.names)
    sections = Sections(model.name, "dae", parameters=dict.fromkeys(model.parameters, 0.0))
    multipliers = {letter: [n for n in names if re.fullmatch(rf"{letter}(\..+|\d+)", n)] for letter in ("lambda", "mu")}
    sections.names = {"variables": names, **multipliers}
    # bodies, joints and points, by the parts of them that have names
    sections.parts = sorted({n.split(".")[0].split("[")[0] for n in names if "." in n} - {"lambda", "mu"} | set(model._sections.parts if model._sections else ()))
    tracer = Tracer(sections)
    put: dict[str, str] = {}
    tracer.condition(event.when, "event", putter(put, "when"), event.direction)
    tracer.finish("")
    return put["when"]


def dumps(value: Any) -> str:
    """An object for the native half."""
    return json.dumps(value, allow_nan=False)
