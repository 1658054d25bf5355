"""Runs of a sweep on the workers of a Dask cluster."""

from __future__ import annotations

import concurrent.futures
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from . import _native
from .errors import LostWorkers, OptionError
from .model import Model, call
from .notebook import needed

TASK = 0.5
"""Seconds that a task should take: long against the milliseconds that sending it costs, short against the whole, so that all workers end together."""


def make_runs(model: Model, names: list[str], rows: list[list[float]], asked: str) -> tuple[str, bytes, list[float | None], float]:
    """A task: runs one after the other. Gives the version of the program, the runs, how long each took, and how long all of them."""
    begun = time.perf_counter()
    made = call(_native.make_runs, model.native, names, rows, asked)
    return _native.__version__, made.to_bytes(), json.loads(made.object())["seconds"], time.perf_counter() - begun


def the_model(model: Model) -> Model:
    """A task whose result the others share. Dask makes it again if the workers that hold it are lost, which it cannot do for scattered data."""
    return model


def check_client(client: Any, threads: int | None) -> None:
    """Is this a client that can be waited for?"""
    distributed = needed("distributed", "dask")
    if not isinstance(client, distributed.Client):
        raise OptionError(f"client is a dask.distributed.Client, not {type(client).__name__}")
    if client.asynchronous:
        raise OptionError("an asynchronous client cannot be waited for: give one that was made without asynchronous=True")
    if threads is not None:
        raise OptionError("threads are those of this process, and the runs are made by the workers of the client: one run at a time in each of their threads")


def gather(
    client: Any, model: Model, names: list[str], asked: str, gathering: _native.SweepGathering, size: int, progress: Callable[[float, float], Any] | None
) -> None:
    """Have all missing runs made. The time of the first one says how many go into one task; what comes in is kept at once."""
    distributed = needed("distributed", "dask")
    missing = gathering.missing()
    done = size - len(missing)
    if not missing:
        return
    shared = client.submit(the_model, model, pure=False)
    waiting: dict[str, tuple[Any, list[int]]] = {}

    def submit(numbers: list[int]) -> Any:
        future = client.submit(make_runs, shared, names, gathering.rows(numbers), asked, pure=False)
        waiting[future.key] = (future, numbers)
        return future

    def take(future: Any, made: tuple[str, bytes, list[float | None], float]) -> float:
        nonlocal done
        version, runs, seconds, took = made
        if version != _native.__version__:
            raise OptionError(f"a worker has version {version} of daedal and this process {_native.__version__}: runs of one sweep need the same")
        # nobody asks for it again: the workers may forget it
        _, numbers = waiting.pop(future.key)
        gathering.add(numbers, runs, seconds)
        done += len(numbers)
        if progress is not None:
            progress(done / size, float(done))
        return took / len(numbers)

    try:
        first = submit(missing[:1])
        seconds = take(first, first.result())
        workers = sum(client.nthreads().values())
        completed = distributed.as_completed([submit(numbers) for numbers in tasks(missing[1:], seconds, workers)], with_results=True)
        for future, made in completed:
            take(future, made)
    except BaseException as error:
        client.cancel([future for future, _ in waiting.values()])
        if isinstance(error, (distributed.scheduler.KilledWorker, distributed.comm.CommClosedError, concurrent.futures.CancelledError)):
            why = str(error).split(". ")[0]
            raise LostWorkers(
                f"workers were lost, and {size - done} of {size} runs were not made ({type(error).__name__}: {why}); .sweep holds the others. "
                "A worker that ends again and again in the same run has too little memory, or the run shows a defect: try it with daedal.solve"
            ) from error
        raise


def tasks(numbers: list[int], seconds: float, workers: int) -> Iterator[list[int]]:
    """Runs that go together: as many as make a task long enough, but not so many that a worker has nothing to do."""
    most = -(-len(numbers) // max(1, workers))
    size = max(1, min(int(TASK / max(seconds, 1e-9)), most))
    for k in range(0, len(numbers), size):
        yield numbers[k : k + size]
