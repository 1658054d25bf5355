"""Files: the same as the command gives, as arrays."""

import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import MODELS

import daedal

SOME = ["andrews", "bouncing-ball", "bouncing-ball-rest", "boost-converter", "car-axis-dae", "circle", "crane", "dog-clutch", "filippov", "heavy-top-holonomic",
        "hires", "knife-edge", "mass-on-belt", "nilpotent", "pendulum", "pendulum-dae", "rope-cut", "robertson", "slider-crank", "thermostat"]  # fmt: skip


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "daedal", *arguments], capture_output=True, text=True, check=False)


def same_as_the_command(path):
    said = command("solve", str(path), "--stats", "json")
    try:
        found = daedal.solve(path, save="end", on_stop="return").summary
    except daedal.Error as error:
        assert said.returncode != 0, error
        return
    expected = json.loads(said.stdout)
    for one in (expected, found):
        one.pop("seconds")
    assert found == expected


@pytest.mark.parametrize("name", SOME)
def test_a_run_is_that_of_the_command(name):
    same_as_the_command(MODELS / f"{name}.toml")


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(MODELS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_run_is_that_of_the_command(path):
    same_as_the_command(path)


def test_columns_are_read_only_views_without_a_copy():
    solution = daedal.solve(MODELS / "pendulum.toml")
    x = solution["x"]
    assert x.shape == solution.t.shape and solution.values.shape == (len(solution), len(solution.names))
    assert np.shares_memory(x, solution.values)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1.0
    assert solution[["x", "y"]].shape == (len(solution), 2)
    assert solution.kinds["lambda.rod"] == "multiplier"
    with pytest.raises(KeyError, match="did you mean lambda.rod"):
        solution["lambda.rood"]


def test_a_solution_tells_what_the_run_did():
    solution = daedal.solve(MODELS / "pendulum.toml", rtol=1e-9)
    assert solution.ended == "end" and solution.message is None
    assert solution.end["x"] == solution["x"][-1] and solution.t_end == 5.0
    assert solution.statistics.steps == len(solution.steps.h) > 10
    assert solution.max_residual.position < 1e-9
    assert solution.parameters["g"] == 13.75
    assert "pendulum" in repr(solution) and solution.method in solution.decisions
    assert solution.seconds > 0
    with pytest.raises(AttributeError, match="did you mean 'steps'|did you mean steps"):
        solution.statistics.stepz
    with pytest.raises(AttributeError, match="do not change"):
        solution.statistics.steps = 3


def test_what_is_kept():
    path = MODELS / "pendulum.toml"
    assert daedal.solve(path, save="end").t.tolist() == [5.0]
    assert daedal.solve(path, save=3).t.tolist() == [0.0, 2.5, 5.0]
    assert daedal.solve(path, save=[0, 1, 4]).t.tolist() == [0.0, 1.0, 4.0]
    assert daedal.solve(path, t=(0, 2), save="end").t_end == 2.0
    assert daedal.solve(path, tend=1, save="end").t_end == 1.0
    for wrong in ("stepz", 1, [], [0, np.nan], object()):
        with pytest.raises(daedal.OptionError):
            daedal.solve(path, save=wrong)


def test_dense_output_agrees_with_the_steps_and_with_scipy():
    scipy = pytest.importorskip("scipy.integrate")
    solution = daedal.solve(MODELS / "pendulum.toml", method="dop853", rtol=1e-11, atol=1e-11, save="dense")
    at_steps = solution(solution.t)
    assert at_steps.shape == (len(solution.names), len(solution))
    places = np.isin(solution.t, np.concatenate([[0.0], solution.steps.t]))
    assert np.abs(at_steps.T[places] - solution.values[places]).max() < 1e-12
    # the pendulum as an ordinary differential equation in its angle
    ode = scipy.solve_ivp(lambda t, y: [y[1], -13.75 * np.sin(y[0])], (0, 5), [0, 2.8], method="DOP853", rtol=1e-12, atol=1e-12, dense_output=True)
    times = np.linspace(0, 5, 1001)
    assert np.abs(solution(times, "x") - np.sin(ode.sol(times)[0])).max() < 1e-8
    assert np.abs(solution(times, "vy") - ode.sol(times)[1] * np.sin(ode.sol(times)[0])).max() < 1e-8
    assert solution(2.0).shape == (len(solution.names),) and solution(2.0, "x").shape == ()
    with pytest.raises(daedal.OptionError, match="outside of the run"):
        solution(5.1)
    with pytest.raises(daedal.OptionError, match="dense"):
        daedal.solve(MODELS / "pendulum.toml")(1.0)


def test_dense_output_knows_modes():
    solution = daedal.solve(MODELS / "bouncing-ball-rest.toml", save="dense")
    first = solution.switches[0].t
    before, after = solution(np.nextafter(first, 0), "v"), solution(first, "v")
    assert before < 0 < after
    assert abs(solution(0.2, "y") - (solution(0.0, "y") - 9.81 / 2 * 0.2**2)) < 1e-6


def test_events_stop_and_are_recorded():
    path = MODELS / "pendulum.toml"
    solution = daedal.solve(path, stop_when={"turned": lambda vx: vx}, record_when={"far": lambda x: x > 0.5})
    assert solution.ended == "event" and "turned" in solution.message
    assert [event.name for event in solution.events] == ["far", "turned"]
    assert abs(solution.events[0]["x"] - 0.5) < 1e-9 and abs(solution.end["vx"]) < 1e-9
    rising = daedal.solve(path, stop_when={"up": daedal.Event(lambda y, L: y + 0.9 * L, direction=-1)})
    assert abs(rising.end["y"] + 0.9) < 1e-9
    text = daedal.solve(path, stop_when="x > 0.5 and vx > 0")
    assert abs(text.end["x"] - 0.5) < 1e-9
    joined = daedal.solve(path, stop_when={"both": lambda x, lam: (x > 0.1) & (lam["rod"] < 1e9)})
    assert abs(joined.end["x"] - 0.1) < 1e-9
    with pytest.raises(daedal.TraceError, match="nothing is called 'vxx'; did you mean 'vx'"):
        daedal.solve(path, stop_when={"wrong": lambda vxx: vxx})
    with pytest.raises(daedal.ModelError, match="nothing is called `z`"):
        daedal.solve(path, stop_when="z < 0")


def test_mistakes_in_a_file_are_marked():
    text = (MODELS / "pendulum.toml").read_text().replace('"-m*g"]', '"-m*gg"]')
    with pytest.raises(daedal.ModelError) as raised:
        daedal.read(text, "pendulum.toml")
    (mistake,) = raised.value.mistakes
    line = next(k for k, line in enumerate(text.splitlines(), 1) if "gg" in line)
    assert (mistake.file, mistake.line, mistake.message) == ("pendulum.toml", line, "nothing is called `gg`")
    assert text.encode()[slice(*mistake.span)] == b"gg" and "`g`" in mistake.help
    assert "-m*gg" in str(raised.value) and "unknown name" in str(raised.value)
    with pytest.raises(daedal.ModelError, match="cannot read the model file"):
        daedal.load("no-such-file.toml")
    with pytest.raises(daedal.OptionError, match="did you mean pendulum"):
        daedal.load("pendlum")


def test_unknown_options_are_refused_with_the_nearest_name():
    path = MODELS / "pendulum.toml"
    with pytest.raises(daedal.OptionError, match="there is no option rtoll; did you mean rtol"):
        daedal.solve(path, rtoll=1e-5)
    with pytest.raises(daedal.OptionError, match="did you mean stages"):
        daedal.solve(path, stage=3)
    with pytest.raises(daedal.OptionError, match="radau"):
        daedal.solve(path, method="radauu")
    with pytest.raises(daedal.OptionError):
        daedal.solve(path, stages=6, method="radau")
    with pytest.raises(daedal.OptionError):
        daedal.solve(path, rtol=-1.0)
    with pytest.raises(daedal.OptionError, match="finite"):
        daedal.solve(path, rtol=float("nan"))
    with pytest.raises(daedal.OptionError, match="a model or the path"):
        daedal.solve(3)
    with pytest.raises(daedal.OptionError, match="no kernel jit"):
        daedal.solve(path, kernel="jit")


def test_options_of_methods_reach_them():
    path = MODELS / "pendulum.toml"
    five = daedal.solve(path, method="radau", formulation="ggl", stages=5, save="end")
    three = daedal.solve(path, method="radau", formulation="ggl", stages=3, save="end")
    assert five.statistics.steps != three.statistics.steps
    assert daedal.solve(path, kernel="tape", save="end").end == daedal.solve(path, save="end").end


def test_a_run_that_stops_keeps_what_was_computed():
    model = daedal.load(MODELS / "slider-crank.toml").set(l2=1.0)
    with pytest.raises(daedal.Stopped) as raised:
        daedal.solve(model, method="geoms")
    stop = raised.value
    assert 0 < stop.t < model.time[1] and stop.solution.t_end == stop.t and len(stop.solution) > 5
    assert "stopped at t" in str(stop)
    assert daedal.solve(model, method="geoms", on_stop="return").ended == "failure"


def test_a_start_that_is_not_possible_is_told():
    text = (MODELS / "pendulum.toml").read_text().replace("guess = { x = 0.0,", "fix = { x = 2.0 }\nguess = {")
    with pytest.raises(daedal.InitialError):
        daedal.solve(daedal.read(text))


def test_check_is_the_text_of_the_command_and_data():
    path = MODELS / "pendulum.toml"
    found = daedal.check(path)
    assert str(found) == command("check", str(path)).stdout
    assert found.index == 3 and found.possible and found.freedom == {"position": 1, "velocity": 1}
    assert {one.level for one in found.constraints} >= {"position", "velocity"}
    assert daedal.check(MODELS / "slider-crank-redundant.toml").redundant
    assert daedal.check(MODELS / "pendulum-dae.toml").index == 3


def test_initial_values():
    start = daedal.init(MODELS / "pendulum.toml", fix={"x": 0.6}, guess={"y": -0.7})
    assert start["x"] == 0.6 and abs(start["y"] + 0.8) < 1e-12
    assert start.moved["y"] == (-0.7, start["y"])
    assert start.to_toml().startswith("# consistent initial values of pendulum")
    with pytest.raises(KeyError, match="did you mean vx"):
        start["vxx"]


def test_methods_are_compared(tmp_path):
    table = daedal.compare(MODELS / "pendulum.toml", methods=["geoms", "dop853"], rtol=[1e-4, 1e-6], tend=1, repeat=1, jobs=1, reference_time=1)
    assert len(table.runs) == 4 and {run.method for run in table.runs} == {"geoms", "dop853"}
    table.page(tmp_path / "page.html")
    assert "<html" in (tmp_path / "page.html").read_text()
    with pytest.raises(daedal.OptionError, match="did you mean geoms"):
        daedal.compare(MODELS / "pendulum.toml", methods=["geomz"])


def test_run_files_are_those_of_the_command(tmp_path):
    solution = daedal.solve(MODELS / "pendulum.toml")
    for ending in ("npz", "json", "csv"):
        solution.save(tmp_path / f"run.{ending}")
        again = daedal.open(tmp_path / f"run.{ending}")
        assert np.array_equal(again.values, solution.values) and again.names == solution.names
    command("solve", str(MODELS / "pendulum.toml"), "--save", "steps", "-o", str(tmp_path / "other.npz"))
    assert (tmp_path / "other.npz").read_bytes() == (tmp_path / "run.npz").read_bytes()
    solution.report(tmp_path / "run.html")
    assert "<html" in (tmp_path / "run.html").read_text()
    with pytest.raises(daedal.OptionError, match="must end in html"):
        solution.report(tmp_path / "run.pdf")
    with pytest.raises(daedal.OptionError, match="must end in one of"):
        solution.save(tmp_path / "run.xlsx")
    with pytest.raises(daedal.Error, match="cannot read the run file"):
        daedal.open(tmp_path / "missing.npz")


def test_tables_of_other_packages():
    solution = daedal.solve(MODELS / "pendulum.toml", save=5)
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    table = solution.to_pandas()
    assert isinstance(table, pandas.DataFrame) and table["x"].iloc[-1] == solution.end["x"]
    data = solution.to_xarray()
    assert isinstance(data, xarray.Dataset) and float(data["x"].sel(time=5.0)) == solution.end["x"]


def test_plots_and_pages_in_notebooks():
    solution = daedal.solve(MODELS / "pendulum.toml", save=50)
    page = solution._repr_html_()
    assert page.startswith("<iframe srcdoc=")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    axes = solution.plot("x", "y")
    assert len(axes.get_lines()) == 2


def test_the_names_of_a_model():
    model = daedal.load(MODELS / "pendulum.toml")
    assert model.names == ["x", "y", "vx", "vy", "lambda.rod", "angle", "tension"]
    assert model.set(m=2).parameters["m"] == 2.0 and model.parameters["m"] == 1.0
    assert daedal.load("andrews").text is None
    with pytest.raises(daedal.ModelError, match="cannot be set"):
        model.set(mass=2.0)
    with pytest.raises(daedal.OptionError, match="is a number"):
        model.set(m="heavy")
