"""`python -m daedal` is the command."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import LONG, MODELS, ROOT

import daedal


def command(*arguments, **more):
    return subprocess.run([sys.executable, "-m", "daedal", *arguments], capture_output=True, text=True, check=False, **more)


def test_exit_codes_are_those_of_the_command(tmp_path):
    assert command("--version").stdout == f"daedal {daedal.__version__}\n"
    assert command("solve", str(MODELS / "pendulum.toml")).returncode == 0
    refused = command("solve", "no-such-file.toml")
    assert refused.returncode == 2 and refused.stderr.startswith("error: cannot read the model file")
    assert command("solve", str(MODELS / "slider-crank.toml"), "--set", "l2=1", "--method", "geoms").returncode == 1
    assert command("nonsense").returncode == 2


def test_a_signal_ends_it_as_it_ends_the_command(tmp_path):
    (tmp_path / "long.toml").write_text(LONG)
    run = subprocess.Popen(
        [sys.executable, "-m", "daedal", "solve", "long.toml", "--max-steps", "1000000000", "--save", "100", "-o", "run.json"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(4.0)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 130 and "interrupted by Ctrl-C" in said
    assert daedal.open(tmp_path / "run.json").ended == "observer"


def test_sweeps_from_the_command(tmp_path):
    out = tmp_path / "sweep.npz"
    arguments = ["sweep", str(MODELS / "pendulum.toml"), "--vary", "m=1..2/3", "--vary", "L=0.5,1"]
    done = command(*arguments, "-o", str(out), "--resume", str(tmp_path / "kept"))
    assert done.returncode == 0, done.stderr
    assert "6 of 6 runs reached the end" in done.stdout
    runs = daedal.open_sweep(out)
    assert runs.shape == (3, 2) and runs.grid["m"].tolist() == [1.0, 1.5, 2.0]
    same = daedal.sweep(MODELS / "pendulum.toml", {"m": [1, 1.5, 2], "L": [0.5, 1]})
    assert np.array_equal(runs["x"], same["x"])
    assert np.array_equal(np.load(out)["x"].reshape(3, 2), same["x"])
    assert "6 of them were found" in command(*arguments, "--resume", str(tmp_path / "kept")).stdout
    assert command(*arguments, "-o", "sweep.json").returncode == 2
    unknown = command("sweep", str(MODELS / "pendulum.toml"), "--vary", "M=1,2")
    assert unknown.returncode == 2 and "there is no parameter M" in unknown.stderr
    assert command("sweep", str(MODELS / "pendulum.toml"), "--vary", "m=1..2").returncode == 2


def binary():
    """The command itself, where it was built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    found = [path for path in (target / "debug" / "daedal", target / "release" / "daedal") if path.exists()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


@pytest.mark.skipif(binary() is None, reason="the command was not built")
@pytest.mark.parametrize(
    "arguments",
    [
        "--help", "solve --help", "list", "list andrews", "check models/pendulum.toml", "check models/slider-crank-redundant.toml", "init models/pendulum.toml",
        "solve models/pendulum.toml", "solve models/bouncing-ball-rest.toml --json", "solve models/slider-crank.toml --set l2=1 --method geoms", "solve no.toml",
        "solve models/pendulum.toml --rtoll 1", "sweep models/pendulum.toml --vary L=1,2", "nonsense",
    ],
)  # fmt: skip
def test_the_output_is_that_of_the_command(arguments):
    def without_times(text):
        return re.sub(r"\b[\d.]+ (µs|ms|s|min)\b", "…", re.sub(r'"seconds": ?[\d.e-]+', "", text))

    ours = command(*arguments.split(), cwd=ROOT)
    theirs = subprocess.run([binary(), *arguments.split()], capture_output=True, text=True, check=False, cwd=ROOT)
    assert ours.returncode == theirs.returncode
    assert without_times(ours.stdout) == without_times(theirs.stdout) and without_times(ours.stderr) == without_times(theirs.stderr)
