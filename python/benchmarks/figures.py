"""Prints what tracing, calls, sweeps and imports cost: `python python/benchmarks/figures.py [--command PATH] [--only NAME …]`.

CPU times are those of user and system together, so that other work on the machine counts little; take ratios. The package should be built as a release.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import daedal

ROOT = Path(__file__).resolve().parents[2]
PENDULUM = ROOT / "models" / "pendulum.toml"


def cpu(work: Callable[[], object]) -> float:
    """Seconds of this process and of those that it waits for."""
    begin = os.times()
    work()
    end = os.times()
    return sum(end[:4]) - sum(begin[:4])


def wall(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def chain(links: int) -> int:
    """Forces of a chain, traced; how many nodes they are."""
    from daedal.expr import Trace

    trace = Trace("chain")
    x, y = ([trace.input(f"{letter}{k}") for k in range(links + 1)] for letter in "xy")
    forces = []
    for k in range(links):
        dx, dy = x[k + 1] - x[k], y[k + 1] - y[k]
        pull = 1.0 - 0.5 / np.sqrt(dx * dx + dy * dy)
        forces += [pull * dx, pull * dy]
    return len(trace.graph)


def tracing() -> None:
    for links in (9_000, 90_000):
        nodes: list[int] = []
        seconds = min(cpu(lambda: nodes.append(chain(links))) for _ in range(3))
        print(f"tracing {nodes[0]} nodes: {seconds:.3f} s CPU, {1e6 * seconds / nodes[0]:.2f} µs a node")


def calls() -> None:
    model = daedal.load(PENDULUM)
    inside, outside = [], []
    for _ in range(200):
        begin = time.process_time()
        solution = daedal.solve(model)
        outside.append(time.process_time() - begin)
        inside.append(solution.seconds or 0.0)
    print(f"solve on a loaded pendulum: {1e3 * min(outside):.3f} ms, {1e3 * min(inside):.3f} ms of it inside: {1e3 * (min(outside) - min(inside)):.3f} ms more")


def sweeps(command: str | None) -> None:
    lengths = np.linspace(0.5, 1.5, 1000)
    one = cpu(lambda: daedal.sweep(PENDULUM, {"L": lengths}, threads=1))
    print(f"1000 pendulums by sweep on one thread: {one:.3f} s CPU")
    if command is not None:
        def commands() -> None:
            for length in lengths[::10]:
                subprocess.run([command, "solve", str(PENDULUM), "--set", f"L={length!r}", "--quiet"], stdout=subprocess.DEVNULL, check=True)

        ours = 10 * cpu(commands)
        print(f"1000 commands (of which 100 were made): {ours:.3f} s CPU; sweep ÷ commands {one / ours:.3f}")
    many = np.linspace(0.5, 1.5, 10_000)
    alone, both = (wall(lambda: daedal.sweep(PENDULUM, {"L": many}, threads=n)) for n in (1, 2))  # noqa: B023
    print(f"10000 pendulums: {alone:.2f} s on one thread, {both:.2f} s on two, ratio {alone / both:.2f} (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors)")


def cluster() -> None:
    from distributed import Client, LocalCluster

    values = {"v0": np.linspace(1.0, 3.0, 1000)}
    options = {"rtol": 1e-10, "atol": 1e-10, "method": "geoms"}
    daedal.sweep(PENDULUM, {"v0": values["v0"][:10]}, **options)
    seconds = daedal.sweep(PENDULUM, {"v0": values["v0"][:20]}, threads=1, **options).seconds.mean()
    threads = wall(lambda: daedal.sweep(PENDULUM, values, threads=2, **options))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers, Client(workers) as client:
        daedal.sweep(PENDULUM, {"v0": values["v0"][:10]}, client=client, **options)
        dask = wall(lambda: daedal.sweep(PENDULUM, values, client=client, **options))
    print(f"1000 runs of {1e3 * seconds:.1f} ms: two threads {threads:.2f} s, two workers of Dask {dask:.2f} s, ratio {dask / threads:.2f}")


def imports() -> None:
    def python(code: str) -> float:
        return min(cpu(lambda: subprocess.run([sys.executable, "-c", code], check=True)) for _ in range(10))

    numpy, ours = python("import numpy"), python("import numpy, daedal")
    print(f"import daedal: {1e3 * (ours - numpy):.0f} ms CPU over import numpy ({1e3 * numpy:.0f} ms)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default=shutil.which("daedal", path=str(ROOT / "target" / "release")), help="the command to compare with")
    parser.add_argument("--only", nargs="*", choices=["imports", "tracing", "calls", "sweeps", "cluster"])
    asked = parser.parse_args()
    parts: dict[str, Callable[[], None]] = {
        "imports": imports, "tracing": tracing, "calls": calls, "sweeps": lambda: sweeps(asked.command), "cluster": cluster,
    }  # fmt: skip
    for name, part in parts.items():
        if not asked.only or name in asked.only:
            part()


if __name__ == "__main__":
    main()
