"""The sections of a model file, as text: what is left of a model when its functions have been traced."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MOTION = ("kinematics", "mass", "forces", "holonomic", "nonholonomic", "dynamic", "auxiliary", "contact", "invariants", "hidden")
DAE = ("equations", "invariants", "hidden", "free")
BODIES = ("bodies", "points", "joints", "forces")

WIDTH = 120
"""Lists that are longer have a line for each entry."""


def indexed(name: str, count: int) -> list[str]:
    """Names of an array of variables: x[1], x[2], …; the argument x of a function is then the array of them."""
    return [f"{name}[{k}]" for k in range(1, count + 1)]


@dataclass
class Sections:
    """The sections of a model file, as text; where entries came from, for messages."""

    name: str
    kind: str
    description: str = ""
    time: list[str] | None = None
    solve: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    fix: dict[str, Any] = field(default_factory=dict)
    guess: dict[str, Any] = field(default_factory=dict)
    conditions: Any = None
    output: dict[str, str] = field(default_factory=dict)
    events: list[dict[str, str]] = field(default_factory=list)
    # of a mechanism that is drawn: its tables, and the names that functions can take
    world: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    picture: dict[str, Any] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)
    origins: dict[str, str] = field(default_factory=dict)
    # of a model with modes
    modes: dict[str, Sections] = field(default_factory=dict)
    mode_options: dict[str, dict[str, Any]] = field(default_factory=dict)
    transitions: list[dict[str, Any]] = field(default_factory=list)
    sliding: dict[str, Any] = field(default_factory=dict)
    start: str | None = None
    traced: int = 0

    def all_names(self) -> list[str]:
        """Variables and multipliers."""
        own = [name for block in ("positions", "velocities", "dynamic", "auxiliary", "contact", "states") for name in self.names.get(block, [])]
        own += self.names.get("lambda", []) + self.names.get("mu", [])
        for mode in self.modes.values():
            own += [name for name in mode.all_names() if name not in own]
        return own

    def text(self) -> tuple[str, dict[int, str]]:
        """The model file, and which of its lines came from which function."""
        writer = _Writer()
        writer.section("model", {"name": self.name, "description": self.description or None, "time": self.time})
        writer.section("solve", self.solve)
        writer.section("parameters", self.parameters, self.origins, "parameters")
        writer.section("definitions", self.definitions)
        writer.section("world", self.world, self.origins, "world")
        for block, entries in self.tables.items():
            for entry in entries:
                writer.lines += ["", f"[[{block}]]"]
                writer.entries(entry, self.origins, f"{block}.{entry.get('name', '')}")
        if self.kind == "bodies":
            writer.section("motion", self.body, self.origins, "")
        if self.modes:
            for name, mode in self.modes.items():
                own = {k: v for k, v in mode.parameters.items() if self.parameters.get(k) != v}
                head = f"modes.{_key(name)}"
                writer.section(head, {"description": mode.description or None, **self.mode_options.get(name, {})}, always=True)
                writer.section(f"{head}.parameters", own)
                writer.section(f"{head}.definitions", mode.definitions)
                if mode.kind != "bodies":
                    writer.section(f"{head}.{mode.kind}", mode._whole(), mode.origins, "")
            for transition in self.transitions:
                writer.lines += ["", "[[transitions]]"]
                writer.entries(transition, self.origins, f"transitions.{transition.get('name')}")
            writer.section("sliding", self.sliding)
        elif self.kind != "bodies":
            writer.section(self.kind, self._whole(), self.origins, "", always=True)
        initial = {"mode": self.start, "fix": self.fix or None, "guess": self.guess or None, "conditions": self.conditions}
        writer.section("initial", initial, self.origins, "initial")
        writer.section("output", self.output, self.origins, "output")
        for event in self.events:
            writer.lines += ["", "[[events]]"]
            writer.entries(event, {}, "events")
        writer.section("picture", self.picture, self.origins, "picture")
        return "\n".join(writer.lines) + "\n", writer.origins

    def _whole(self) -> dict[str, Any]:
        if self.kind == "motion":
            return {"positions": self.names["positions"], "velocities": self.names["velocities"], **self.body}
        return {"states": self.names["states"], **self.body}


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.origins: dict[int, str] = {}

    def section(self, title: str, entries: Mapping[str, Any], origins: Mapping[str, str] | None = None, path: str = "", always: bool = False) -> None:
        if any(value is not None for value in entries.values()) or always:
            self.lines += ([""] if self.lines else []) + [f"[{title}]"]
            self.entries(entries, origins or {}, path)

    def entries(self, entries: Mapping[str, Any], origins: Mapping[str, str], path: str) -> None:
        for key, value in entries.items():
            if value is None:
                continue
            where = f"{path}.{key}" if path else key
            if isinstance(value, dict) and all(isinstance(v, (str, float, int)) for v in value.values()):
                # a table with a line for each entry, so that messages can tell them apart
                for inner, formula in value.items():
                    self.put(f"{_key(key)}.{_key(inner)} = {_toml(formula)}", origins.get(f"{where}.{inner}") or origins.get(where))
                if not value:
                    self.put(f"{_key(key)} = {{}}", None)
            elif isinstance(value, list) and len(_toml(value)) > WIDTH:
                self.put(f"{_key(key)} = [", origins.get(where))
                for formula in value:
                    self.put(f"  {_toml(formula)},", origins.get(where))
                self.put("]", origins.get(where))
            else:
                self.put(f"{_key(key)} = {_toml(value)}", origins.get(where))

    def put(self, line: str, origin: str | None) -> None:
        self.lines.append(line)
        if origin is not None:
            self.origins[len(self.lines)] = origin


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(part) for part in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(part)}" for key, part in value.items()) + " }"
    return repr(value)
