"""Writes the reference of the package from its docstrings: `python python/reference.py > docs/src/python-api.md`. The tests compare."""

from __future__ import annotations

import inspect
from typing import Any

import daedal

GROUPS = {
    "Models": ["load", "read", "Model"],
    "Models of functions": ["motion", "dae", "ode", "mechanism", "hybrid", "Transition", "Event", "indexed"],
    "In functions": ["der", "rate", "if_", "array", "zeros", "Expr", "ExprArray", "Condition"],
    "Runs": ["solve", "check", "init", "compare"],
    "Results": ["Solution", "open", "Check", "Start", "Comparison"],
    "Sweeps": ["sweep", "together", "Sweep", "open_sweep"],
    "Errors": ["Error", "ModelError", "Mistake", "OptionError", "InitialError", "TraceError", "Stopped", "Interrupted", "StorageError", "LostWorkers", "Defect"],
    "Version": ["__version__"],
}
"""All public names, in the order in which they are told."""

HEAD = """# Reference of the Python package

Every public name of `daedal`, with its docstring. [Using it from Python](python.md) tells it in order. This page is written by `python/reference.py`.
"""


def signature(value: Any) -> str:
    """Names of arguments with their defaults; types are those that an editor shows."""
    made = inspect.signature(value)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in made.parameters.values() if p.name != "self"]
    return str(made.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def own(value: type) -> list[tuple[str, Any]]:
    """Members that the class itself has, in their order."""
    return [(name, member) for name, member in vars(value).items() if not name.startswith("_") and (callable(member) or isinstance(member, (property, classmethod)))]


def told(value: Any) -> str:
    return inspect.getdoc(value) or ""


def entry(name: str) -> list[str]:
    value = getattr(daedal, name)
    lines = ["", f"### `{name}`", ""]
    if isinstance(value, str):
        return [*lines, "The version of the package, which is that of the command."]
    if not inspect.isclass(value):
        return [*lines, "```text", f"{name}{signature(value)}", "```", "", told(value)]
    lines += [told(value)]
    # operators of expressions are those of numbers
    members = [] if name in ("Expr", "ExprArray", "Condition") else own(value)
    if members:
        lines += ["", "| | |", "| --- | --- |"]
    for member, what in members:
        call = "" if isinstance(what, property) else signature(getattr(value, member)).replace("|", "\\|")
        lines.append(f"| `{member}{call}` | {' '.join(told(what).split())} |")
    return lines


def page() -> str:
    lines = [HEAD.rstrip()]
    for title, names in GROUPS.items():
        lines += ["", f"## {title}"]
        for name in names:
            lines += entry(name)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
