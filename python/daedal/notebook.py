"""What needs more than NumPy: pages in notebooks, plots, progress bars."""

from __future__ import annotations

import html
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .solution import Solution

LARGEST = 1_500_000
"""Most letters of a page in a notebook; the moving picture of bodies in space takes half of it."""


def needed(module: str, extra: str) -> Any:
    """A module that is not installed with the package."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(f"{module} is needed for this and is not installed: pip install 'daedal[{extra}]'") from None


def framed(page: str, said: str, otherwise: str) -> str:
    """A page in a frame; one that is too large is left to a file, and its text is shown."""
    if len(page) > LARGEST:
        return f"<pre>{html.escape(said)}</pre><p>The page has {len(page) // 1000} kB: write it with <code>{html.escape(otherwise)}</code>, or keep fewer points.</p>"
    return f'<iframe srcdoc="{html.escape(page, quote=True)}" width="100%" height="720" style="border: 0"></iframe>'


def plot(solution: Solution, names: Sequence[str], against: str | None, ax: Any) -> Any:
    """Curves by matplotlib."""
    pyplot = needed("matplotlib.pyplot", "plot")
    axes = pyplot.gca() if ax is None else ax
    shown = names or [name for name, kind in solution.kinds.items() if kind in ("position", "state", "output")] or solution.names
    x = solution.t if against is None else solution[against]
    for name in shown:
        axes.plot(x, solution[name], label=name)
    axes.set_xlabel("t" if against is None else against)
    if len(shown) > 1:
        axes.legend()
    else:
        axes.set_ylabel(shown[0])
    return axes


def bar(progress: Any) -> Callable[[float, float], Any] | None:
    """The function that shows progress: a bar for True, the function itself otherwise."""
    if progress is None or progress is False:
        return None
    if progress is not True:
        return progress  # type: ignore[no-any-return]

    def show(fraction: float, t: float) -> None:
        done = round(40 * fraction)
        sys.stderr.write(f"\r[{'#' * done}{'.' * (40 - done)}] {100 * fraction:5.1f} %  {t:.6g} ")
        sys.stderr.flush()

    return show


def clear(progress: Any) -> None:
    """The bar goes when the run is over."""
    if progress is True:
        sys.stderr.write("\r" + " " * 70 + "\r")
        sys.stderr.flush()
