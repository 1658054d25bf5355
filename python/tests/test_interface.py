"""The interface as users write it, in scripts from end to end."""

import numpy as np
import pytest
from conftest import MODELS

import daedal


def test_a_model_is_looked_at_solved_and_compared(tmp_path):
    pytest.importorskip("pandas")
    model = daedal.load(MODELS / "andrews.toml")
    check = daedal.check(model)
    assert (check.index, check.redundant, check.warnings) == (3, [], []) and check.constraints and check.freedom["position"] == 1
    start = daedal.init(model)
    assert start["lambda1"] == pytest.approx(98.5668703962, abs=1e-8) and isinstance(start.moved, dict) and "lambda1" in start.to_toml()
    solution = daedal.solve(model, rtol=1e-8, save="dense")
    assert solution.statistics.steps > 50 and solution.max_residual.position < 1e-12
    assert solution.end["beta"] == pytest.approx(15.8107711941, abs=1e-4)
    table = daedal.compare(model, methods=["geoms", "hedop5", "mexx"], rtol=[1e-5, 1e-7], repeat=1, jobs=1, reference_time=2)
    assert len(table.to_pandas()) == 6
    table.page(tmp_path / "andrews-compare.html")
    assert (tmp_path / "andrews-compare.html").stat().st_size > 10_000


def test_a_run_that_may_stop_is_handled():
    try:
        solution = daedal.solve(MODELS / "pendulum-long.toml", rtol=1e-9, stop_when={"left": lambda x: x + 0.9})
    except daedal.Stopped as stop:
        solution = stop.solution
    assert solution.end["x"] == pytest.approx(-0.9, abs=1e-8) or solution.ended == "end"


def test_a_grid_becomes_a_data_set(tmp_path):
    pytest.importorskip("xarray")
    runs = daedal.sweep(
        MODELS / "pendulum.toml", {"L": np.linspace(0.5, 1.5, 4), "v0": np.linspace(1.0, 3.0, 3)}, save=np.linspace(0, 5, 11), rtol=1e-8, resume=tmp_path / "today"
    )
    data = runs.to_xarray()
    assert data["x"].dims == ("L", "v0", "time") and int((data.status != "end").sum()) == 0
    again = daedal.sweep(
        MODELS / "pendulum.toml", {"L": np.linspace(0.5, 1.5, 4), "v0": np.linspace(1.0, 3.0, 3)}, save=np.linspace(0, 5, 11), rtol=1e-8, resume=tmp_path / "today"
    )
    assert np.isnan(again.seconds).all()


WRONG = {
    "unknown name": (lambda m: daedal.solve(m, stop_when={"far": lambda xx: xx}), daedal.TraceError, "nothing is called 'xx'"),
    "unknown option": (lambda m: daedal.solve(m, formulatoin="ggl"), daedal.OptionError, "did you mean formulation"),
    "unknown parameter": (lambda m: m.set(LL=1), daedal.ModelError, "the parameters are `m`, `L`, `g` and `v0`"),
    "nan parameter": (lambda m: m.set(L=float("nan")), daedal.ModelError, "not a finite number"),
    "unknown guess": (lambda m: daedal.init(m, guess={"z": 1.0}), daedal.OptionError, "there is no variable z"),
    "nan guess": (lambda m: daedal.init(m, guess={"y": float("nan")}), daedal.OptionError, "no finite number"),
    "shape of t": (lambda m: daedal.solve(m, t=(0, 1, 2)), daedal.OptionError, "t is a pair"),
    "nan time": (lambda m: daedal.solve(m, tend=float("inf")), daedal.OptionError, "no finite number"),
    "shape of save": (lambda m: daedal.solve(m, save=np.zeros((2, 2))), daedal.OptionError, "a list of finite numbers"),
    "nan in save": (lambda m: daedal.solve(m, save=[0.0, np.nan]), daedal.OptionError, "a list of finite numbers"),
    "word of save": (lambda m: daedal.solve(m, save="all"), daedal.OptionError, "save is \"steps\""),
    "one point": (lambda m: daedal.solve(m, save=1), daedal.OptionError, "a number of points from 2"),
    "word of on_stop": (lambda m: daedal.solve(m, on_stop="ignore"), daedal.OptionError, "on_stop is"),
    "direction": (lambda m: daedal.Event(lambda x: x, direction=0), daedal.OptionError, "direction is 1"),
    "action": (lambda m: daedal.Event(lambda x: x, action="end"), daedal.OptionError, "action is"),
    "event": (lambda m: daedal.solve(m, stop_when={"far": 3}), daedal.OptionError, "a function or a condition"),
    "tolerance of nothing": (lambda m: daedal.solve(m, atol={"z": 1e-3}), daedal.OptionError, "z"),
    "object": (lambda m: daedal.solve(m, h0=object()), daedal.OptionError, "which no option takes"),
    "t of dense": (lambda m: daedal.solve(m, save="dense")(np.zeros((2, 2))), daedal.OptionError, "a number or a list of numbers"),
    "column": (lambda m: daedal.solve(m, save="dense")(1.0, "z"), KeyError, "there is no column z"),
    "rows of a sweep": (lambda m: daedal.sweep(m, [{"L": 1.0}, {"v0": 1.0}]), daedal.OptionError, "row 1 has the parameters v0, the first one L"),
    "nan in a sweep": (lambda m: daedal.sweep(m, {"L": [1.0, np.nan]}), daedal.OptionError, "not finite"),
    "words in a sweep": (lambda m: daedal.sweep(m, {"L": ["long"]}), daedal.OptionError, "are numbers"),
    "threads": (lambda m: daedal.sweep(m, {"L": [1.0]}, threads=0), daedal.OptionError, "at least 1"),
    "column of a sweep": (lambda m: daedal.sweep(m, {"L": [1.0]})["z"], KeyError, "there is no column z"),
    "nan of a function": (lambda m: daedal.motion("m", positions=["x"], velocities=["v"], mass=[1], forces=[float("nan")]), daedal.TraceError, "no finite number"),
    "shape of a mass": (lambda m: daedal.motion("m", positions=["x", "y"], velocities=["u", "v"], mass=[[1, 0]], forces=[0, 0]), daedal.ModelError, "mass"),
    "shape of time": (lambda m: daedal.motion("m", positions=["x"], velocities=["v"], mass=[1], time=(0, 1, 2)), daedal.TraceError, "time is a pair"),
    "no model": (lambda m: daedal.check(None), daedal.OptionError, "a model or the path of a model file is expected, not NoneType"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_is_told(name):
    function, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        function(daedal.load(MODELS / "pendulum.toml"))
