"""Many runs: the bits of single ones, whatever the number of threads."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import LONG, MODELS, pendulum_of_section_5

import daedal

GRID = {"L": [0.5, 1.0, 1.5], "v0": [1.0, 2.0]}


def test_a_sweep_has_the_bits_of_a_loop_on_any_number_of_threads():
    model = daedal.load(MODELS / "pendulum.toml")
    times = np.linspace(0, 5, 11)
    one, two = (daedal.sweep(model, GRID, save=times, rtol=1e-8, threads=n) for n in (1, 2))
    assert one.shape == (3, 2) and one["x"].shape == (3, 2, 11)
    assert one.native.to_bytes() == two.native.to_bytes()
    for i, L in enumerate(GRID["L"]):
        for j, v0 in enumerate(GRID["v0"]):
            single = daedal.solve(model.set(L=L, v0=v0), save=times, rtol=1e-8)
            assert np.array_equal(one["x"][i, j], single["x"]) and one.steps[i, j] == single.statistics.steps


def test_models_of_functions_are_swept():
    runs = daedal.sweep(pendulum_of_section_5(), GRID)
    assert np.array_equal(runs["x"], daedal.sweep(MODELS / "pendulum.toml", GRID)["x"])


def test_rows_and_tables():
    model = MODELS / "pendulum.toml"
    rows = daedal.sweep(model, daedal.together(L=[0.5, 1.0], v0=[1.0, 2.0]))
    assert rows.shape == (2,) and rows.rows["L"].tolist() == [0.5, 1.0]
    assert np.array_equal(rows["x"], daedal.sweep(model, [{"L": 0.5, "v0": 1.0}, {"v0": 2.0, "L": 1.0}])["x"])
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"L": [0.5, 1.0], "v0": [1.0, 2.0]})
    assert np.array_equal(rows["x"], daedal.sweep(model, table)["x"])
    assert rows.to_pandas()["x"].tolist() == rows["x"].tolist()
    with pytest.raises(daedal.OptionError, match="different lengths"):
        daedal.together(L=[1, 2], v0=[1])


def test_a_failure_is_that_of_one_run():
    runs = daedal.sweep(MODELS / "slider-crank.toml", {"l2": [3.0, 2.0, 1.5, 1.0]}, method="geoms", save=5)
    assert runs.status.tolist() == ["end", "end", "end", "failure"]
    assert "stopped at t" in runs.message[3] and runs.message[0] == ""
    name = runs.names[0]
    assert np.isfinite(runs[name][:3]).all() and np.isnan(runs[name][3, -1]) and np.isfinite(runs[name][3, 0])
    assert 0 < runs.t_end[3] < runs.t_end[0]


def test_data_sets():
    pytest.importorskip("xarray")
    runs = daedal.sweep(MODELS / "pendulum.toml", GRID, save=3)
    data = runs.to_xarray()
    assert data["x"].dims == ("L", "v0", "time") and int((data.status != "end").sum()) == 0
    assert float(data["x"].sel(L=0.5, v0=1.0, time=5.0)) == runs["x"][0, 0, -1]


def test_files_and_pages(tmp_path):
    runs = daedal.sweep(MODELS / "pendulum.toml", GRID, save=3)
    runs.save(tmp_path / "sweep.npz")
    assert daedal.open_sweep(tmp_path / "sweep.npz").native.to_bytes() == runs.native.to_bytes()
    runs.save(tmp_path / "sweep.csv")
    table = np.genfromtxt(tmp_path / "sweep.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    assert len(table) == 6 * 3 and np.array_equal(table["x"].reshape(3, 2, 3), runs["x"])
    runs.report(tmp_path / "sweep.html")
    page = (tmp_path / "sweep.html").read_text()
    assert "6 of 6 runs reached the end" in page and "6 of 6 runs reached the end" in runs._repr_html_()
    with pytest.raises(daedal.OptionError, match="npz, csv or html"):
        runs.save(tmp_path / "sweep.json")
    with pytest.raises(daedal.OptionError, match="must end in html"):
        runs.report(tmp_path / "sweep.npz")


def test_mistakes_of_all_runs_are_told_before_anything_runs():
    model = MODELS / "pendulum.toml"
    with pytest.raises(daedal.OptionError, match="there is no parameter LL; did you mean L"):
        daedal.sweep(model, {"LL": [1.0]})
    with pytest.raises(daedal.OptionError, match="nothing varies"):
        daedal.sweep(model, {"L": []})
    with pytest.raises(daedal.OptionError, match="not finite"):
        daedal.sweep(model, {"L": [1.0, np.inf]})
    with pytest.raises(daedal.OptionError, match="save is"):
        daedal.sweep(model, {"L": [1.0]}, save="steps")
    with pytest.raises(daedal.OptionError, match="nosuch"):
        daedal.sweep(model, {"L": [1.0]}, method="nosuch")


SCRIPT = """
import daedal, sys
runs = daedal.sweep(sys.argv[1], {"v0": [1 + k/50 for k in range(60)]}, resume=sys.argv[2], rtol=1e-12, atol=1e-12, method="geoms", tend=50, threads=1)
runs.save(sys.argv[3])
"""


def test_a_sweep_that_is_killed_goes_on_where_it_was(tmp_path):
    def start(folder, out):
        return subprocess.Popen([sys.executable, "-c", SCRIPT, str(MODELS / "pendulum.toml"), str(tmp_path / folder), str(tmp_path / out)])

    undisturbed = start("whole", "whole.npz")
    first = start("parts", "parts.npz")
    deadline = time.monotonic() + 120
    while not list((tmp_path / "parts").glob("*.npz")) and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    first.kill()
    first.wait()
    done = sum(len(np.load(part)["run"]) for part in (tmp_path / "parts").glob("runs-*.npz"))
    assert done > 0
    assert start("parts", "parts.npz").wait() == 0 and undisturbed.wait() == 0
    assert (tmp_path / "parts.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()
    with pytest.raises(daedal.OptionError, match="holds another sweep, the values of the parameters differ"):
        daedal.sweep(MODELS / "pendulum.toml", {"v0": [1.0]}, resume=tmp_path / "parts", rtol=1e-12, atol=1e-12, method="geoms", tend=50)


def test_ctrl_c_leaves_the_runs_that_were_made(tmp_path):
    text = LONG.replace("time = [0, 1e9]", 'time = [0, "end"]').replace("[motion]", "[parameters]\nend = 1\n[motion]")
    model = daedal.read(text)
    pid = os.getpid()
    subprocess.Popen([sys.executable, "-c", f"import os, time; time.sleep(1.0); os.kill({pid}, {int(signal.SIGINT)})"])
    with pytest.raises(daedal.Interrupted) as raised:
        daedal.sweep(model, {"end": [1.0, 2.0, 1e9, 1e9]}, resume=tmp_path / "kept", threads=1, max_steps=10**12)
    assert raised.value.sweep.status.tolist() == ["end", "end", "missing", "missing"]
    assert list((tmp_path / "kept").glob("runs-*.npz"))


FULL = """
import pathlib, resource, sys
import daedal

folder = pathlib.Path(sys.argv[2])

def fill(fraction, done):
    if list(folder.glob("runs-*.npz")):
        # as a full disk: no file can grow beyond this
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

try:
    daedal.sweep(sys.argv[1], {"v0": [1 + k/50 for k in range(200)]}, resume=folder, rtol=1e-12, atol=1e-12, method="geoms", tend=50, threads=1, progress=fill)
except daedal.StorageError as error:
    made = int((error.sweep.status == "end").sum())
    print(made, isinstance(error, OSError), error)
"""


def test_a_full_disk_loses_no_run(tmp_path):
    done = subprocess.run([sys.executable, "-c", FULL, str(MODELS / "pendulum.toml"), str(tmp_path / "kept")], capture_output=True, text=True, check=True)
    made, is_os_error, *said = done.stdout.split()
    text = " ".join(said)
    assert is_os_error == "True" and "cannot write" in text and "the runs that were written before are kept" in text and "too large" in text
    kept = sum(len(np.load(part)["run"]) for part in (tmp_path / "kept").glob("runs-*.npz"))
    # what came after the last part is in memory
    assert 0 < kept < int(made) < 200
    assert not list((tmp_path / "kept").glob("*.part"))


def test_a_folder_that_cannot_be_used_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(daedal.StorageError, match="cannot be kept in the folder"):
        daedal.sweep(MODELS / "pendulum.toml", {"L": [1.0]}, resume=tmp_path / "file")
    daedal.sweep(MODELS / "pendulum.toml", {"L": [1.0, 2.0]}, resume=tmp_path / "kept")
    (part,) = (tmp_path / "kept").glob("runs-*.npz")
    part.write_bytes(b"cut off")
    with pytest.raises(daedal.StorageError, match="holds finished runs of the sweep; remove it, and they are made again"):
        daedal.sweep(MODELS / "pendulum.toml", {"L": [1.0, 2.0]}, resume=tmp_path / "kept")
