"""Sweeps on the workers of a Dask cluster: the bits of threads, whatever happens to the workers."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from conftest import LONG, MODELS, pendulum_of_section_5

import daedal
from daedal import cluster

pytest.importorskip("distributed")
GRID = {"L": [0.5, 1.0, 1.5], "v0": [1.0, 2.0]}


@pytest.fixture(scope="module")
def client():
    """Two workers in processes of their own."""
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers, Client(workers) as client:
        yield client


def test_workers_give_the_bits_of_threads(client, tmp_path):
    for model in (MODELS / "pendulum.toml", pendulum_of_section_5()):
        here = daedal.sweep(model, GRID, save=5, rtol=1e-8)
        there = daedal.sweep(model, GRID, save=5, rtol=1e-8, client=client)
        assert there.native.to_bytes() == here.native.to_bytes()
        assert (there.seconds > 0).all()


def test_a_failure_is_that_of_one_run(client):
    arguments = {"method": "geoms", "save": 5}
    here, there = (daedal.sweep(MODELS / "slider-crank.toml", {"l2": [3.0, 1.0, 2.0]}, client=c, **arguments) for c in (None, client))
    assert there.status.tolist() == ["end", "failure", "end"] and there.native.to_bytes() == here.native.to_bytes()


def test_workers_and_threads_share_a_folder(client, tmp_path):
    seen = []
    model, asked = MODELS / "pendulum.toml", {"resume": tmp_path / "kept"}
    there = daedal.sweep(model, GRID, client=client, progress=lambda fraction, done: seen.append((fraction, done)), **asked)
    assert seen[0] == (1 / 6, 1.0) and seen[-1] == (1.0, 6.0)
    again = daedal.sweep(model, GRID, **asked)
    assert np.isnan(again.seconds).all() and again.native.to_bytes() == there.native.to_bytes()
    for part in sorted((tmp_path / "kept").glob("runs-*.npz"))[1:]:
        part.unlink()
    mended = daedal.sweep(model, GRID, client=client, **asked)
    assert np.isnan(mended.seconds).sum() == 1 and mended.native.to_bytes() == there.native.to_bytes()
    with pytest.raises(daedal.OptionError, match="holds another sweep"):
        daedal.sweep(model, {"L": [1.0]}, client=client, **asked)


def test_mistakes_are_told_before_anything_is_sent(client):
    model = MODELS / "pendulum.toml"
    with pytest.raises(daedal.OptionError, match="there is no parameter LL; did you mean L"):
        daedal.sweep(model, {"LL": [1.0]}, client=client)
    with pytest.raises(daedal.OptionError, match="threads are those of this process"):
        daedal.sweep(model, GRID, client=client, threads=2)
    with pytest.raises(daedal.OptionError, match=r"client is a dask.distributed.Client, not str"):
        daedal.sweep(model, GRID, client="tcp://scheduler:8786")


def test_an_exception_of_progress_passes_through(client):
    def angry(fraction, done):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        daedal.sweep(MODELS / "pendulum.toml", GRID, client=client, progress=angry)


def test_tasks_take_about_half_a_second_and_leave_no_worker_idle():
    numbers = list(range(100))
    assert [len(task) for task in cluster.tasks(numbers, 0.05, 2)] == [10] * 10
    assert [len(task) for task in cluster.tasks(numbers, 1e-4, 4)] == [25] * 4
    assert [len(task) for task in cluster.tasks(numbers[:3], 7.0, 8)] == [1] * 3
    assert sum(cluster.tasks(numbers, 0.13, 3), []) == numbers
    assert list(cluster.tasks([], 0.1, 2)) == []


def test_runs_that_kill_their_workers_are_told_and_the_others_kept():
    import dask
    from distributed import Client, LocalCluster

    killed = []

    def kill(fraction, done):
        if not killed:
            killed.append(done)
            for pid in client.run(os.getpid).values():
                os.kill(pid, signal.SIGKILL)

    values = {"v0": 1 + np.arange(20) / 50}
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as workers, Client(workers) as client:
            with pytest.raises(daedal.LostWorkers, match=r"\d+ of 20 runs were not made \(KilledWorker") as raised:
                daedal.sweep(MODELS / "pendulum.toml", values, client=client, progress=kill, rtol=1e-12, atol=1e-12, method="geoms", tend=50)
    assert 0 < int((raised.value.sweep.status == "end").sum()) < 20


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing(client):
    values = {"v0": 1 + np.arange(40) / 50}
    asked = {"rtol": 1e-12, "atol": 1e-12, "method": "geoms", "tend": 50}
    here = daedal.sweep(MODELS / "pendulum.toml", values, **asked)
    killed = []

    def kill(fraction, done):
        if not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    there = daedal.sweep(MODELS / "pendulum.toml", values, client=client, progress=kill, **asked)
    assert killed and there.native.to_bytes() == here.native.to_bytes()


@pytest.mark.slow
def test_ctrl_c_leaves_the_runs_that_were_made(client, tmp_path):
    text = LONG.replace("time = [0, 1e9]", 'time = [0, "end"]').replace("[motion]", "[parameters]\nend = 1\n[motion]")
    pid = os.getpid()
    subprocess.Popen([sys.executable, "-c", f"import os, time; time.sleep(3.0); os.kill({pid}, {int(signal.SIGINT)})"])
    with pytest.raises(daedal.Interrupted) as raised:
        daedal.sweep(daedal.read(text), {"end": [1.0, 1e9, 1e9]}, resume=tmp_path / "kept", client=client, max_steps=10**12)
    assert raised.value.sweep.status.tolist() == ["end", "missing", "missing"]
    assert list((tmp_path / "kept").glob("runs-*.npz"))
    client.restart()
