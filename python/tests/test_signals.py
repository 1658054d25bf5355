"""A run is interrupted at once, keeps what it has, and leaves other threads alone."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import LONG, MODELS

import daedal


def test_ctrl_c_ends_a_run_at_once_and_keeps_it():
    model = daedal.read(LONG)
    pid = os.getpid()
    script = f"import os, time; time.sleep(1.0); print(time.time(), flush=True); os.kill({pid}, {int(signal.SIGINT)})"
    killer = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    with pytest.raises(daedal.Interrupted) as raised:
        daedal.solve(model, max_steps=10**12, save=1000)
    answered = time.time()
    assert isinstance(raised.value, KeyboardInterrupt)
    solution = raised.value.solution
    assert solution.ended == "observer" and 0 < solution.t_end < 1e9 and len(solution) > 0
    sent = float(killer.communicate()[0])
    print(f"answered after {answered - sent:.3f} s")


def test_progress_is_told_and_may_end_a_run():
    told = []

    def watch(fraction, t):
        told.append((fraction, t))
        if len(told) == 3:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        daedal.solve(daedal.read(LONG), max_steps=10**12, save="end", progress=watch)
    assert len(told) == 3 and told[0][1] < told[2][1] and 0 <= told[0][0] <= 1


def test_other_threads_go_on_while_a_run_is_made():
    counted, over = [0], threading.Event()

    def count():
        while not over.is_set():
            counted[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    ended = time.monotonic() + 1.0

    def watch(fraction, t):
        if time.monotonic() > ended:
            raise StopIteration

    before = counted[0]
    with pytest.raises((StopIteration, RuntimeError)):
        daedal.solve(daedal.read(LONG), max_steps=10**12, save="end", progress=watch)
    during = counted[0] - before
    over.set()
    counter.join()
    assert during > 20


def test_runs_in_several_threads_do_not_disturb_each_other():
    expected = daedal.solve(MODELS / "andrews.toml", save="end").end
    found = []
    threads = [threading.Thread(target=lambda: found.append(daedal.solve(MODELS / "andrews.toml", save="end").end)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(end == expected for end in found) and len(found) == 3
