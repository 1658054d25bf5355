"""Functions that are called at every evaluation: their runs, and everything that they can do wrong."""

import copy
import math
import os
import pickle
import signal
import subprocess
import sys
import traceback

import numpy as np
import pytest
from conftest import MODELS

import daedal


def lorenz(trace, **more):
    def f(t, x, par):
        return [par.sigma * (x[1] - x[0]), x[0] * (par.rho - x[2]) - x[1], x[0] * x[1] - par.beta * x[2]]

    return daedal.ode(
        "lorenz", f, states=["x[1]", "x[2]", "x[3]"], parameters={"sigma": 10.0, "rho": 28.0, "beta": 8 / 3}, time=(0, 2), fix={"x": [1.0, 2.0, 20.0]}, trace=trace, **more
    )


def test_rates_give_what_formulas_give():
    traced, called = (daedal.solve(lorenz(trace), rtol=1e-10, atol=1e-10) for trace in (True, False))
    assert called.names == ["x[1]", "x[2]", "x[3]"]
    for name in called.names:
        assert called.end[name] == pytest.approx(traced.end[name], rel=1e-7, abs=1e-7)
    assert "black box" in called.decisions


def test_values_need_no_formulas():
    """A table, an if and a loop that ends by a value."""
    times, heights = np.linspace(0, 4, 9), np.array([0, 1, 0, -1, 0, 1, 0, -1, 0.0])

    def f(t, y, v):
        root = 1.0
        while abs(root * root - 4.0) > 1e-14:
            root = (root + 4.0 / root) / 2
        push = np.interp(t, times, heights)
        return [v, push - (root * v if v > 0 else 0.1 * v) - y]

    model = daedal.ode("table", f, states=["y", "v"], time=(0, 4), fix={"y": 1.0, "v": 0.0}, trace=False)
    # kinks are seen by the estimate of errors alone
    solution = daedal.solve(model, rtol=1e-8, atol=1e-8, hmax=0.01)
    scipy = pytest.importorskip("scipy.integrate")
    theirs = scipy.solve_ivp(lambda t, x: f(t, *x), (0, 4), [1.0, 0.0], rtol=1e-10, atol=1e-10, max_step=0.01)
    assert solution.end["y"] == pytest.approx(theirs.y[0, -1], abs=2e-6)


def robertson(a, b, c, xdot):
    return np.array([xdot[0] + 0.04 * a - 1e4 * b * c, xdot[1] - 0.04 * a + 1e4 * b * c + 3e7 * b**2, a + b + c - 1])


def test_residuals_with_algebraic_states():
    options = {"states": ["a", "b", "c"], "time": (0, 40), "fix": {"a": 1, "b": 0}}
    called = daedal.solve(daedal.dae("robertson", robertson, trace=False, algebraic=["c"], **options), rtol=1e-8, atol=1e-12)
    traced = daedal.solve(daedal.dae("robertson", robertson, **options), rtol=1e-8, atol=1e-12)
    for name in ("a", "b", "c"):
        assert called.end[name] == pytest.approx(traced.end[name], rel=1e-5)
    assert called.names == ["a", "b", "der(a)", "der(b)", "c"]
    assert np.abs(called["a"] + called["b"] + called["c"] - 1).max() < 1e-12


def test_an_implicit_system_has_its_rates():
    # (1 + ẋ²) ẋ = 2 cos t: not solved for ẋ
    model = daedal.dae("implicit", lambda t, x, xdot: (1 + xdot**2) * xdot - 2 * np.cos(t), states=["u"], time=(0, 1), fix={"u": 0}, guess={"der(u)": 1}, trace=False)
    solution = daedal.solve(model, rtol=1e-9, atol=1e-9)
    rates = solution["der(u)"]
    assert rates[0] == pytest.approx(1.0, abs=1e-9)
    assert np.abs((1 + rates**2) * rates - 2 * np.cos(solution.t)).max() < 1e-8


def pendulum(**changes):
    given = dict(
        positions=["x", "y"], velocities=["vx", "vy"], parameters={"m": 1.0, "L": 1.0, "g": 13.75}, time=(0, 5), mass=lambda m: [m, m],
        forces=lambda x, y, lam, m, g: [-2 * x * lam["rod"], -m * g - 2 * y * lam["rod"]],
        holonomic={"rod": lambda x, y, L: x**2 + y**2 - L**2},
        holonomic_velocity={"rod": lambda x, y, vx, vy: 2 * (x * vx + y * vy)},
        holonomic_acceleration={"rod": lambda p, v, lam, m, g: 2 * (v @ v) + 2 * (p @ np.array([-2 * p[0] * lam[0], -m * g - 2 * p[1] * lam[0]])) / m},
        fix={"x": 0, "vx": 2.8}, guess={"y": -1, "vy": 0}, trace=False,
    )  # fmt: skip
    return daedal.motion("pendulum", **{**given, **changes})


def test_a_mechanism_with_hidden_constraints_by_hand():
    called = daedal.solve(pendulum(), rtol=1e-9, atol=1e-9)
    file = daedal.solve(MODELS / "pendulum.toml", rtol=1e-9, atol=1e-9)
    for name in ("x", "y", "vx", "vy", "lambda.rod"):
        assert called.end[name] == pytest.approx(file.end[name], abs=1e-5)
    assert called.max_residual.position < 1e-9 and called.max_residual.velocity < 1e-8
    other = pendulum().set(L=2.0)
    assert other.parameters["L"] == 2.0 and daedal.init(other)["y"] == pytest.approx(-2.0)
    assert daedal.check(pendulum()).possible


def test_results_are_those_of_every_run(tmp_path):
    model = lorenz(False)
    solution = daedal.solve(model, save="dense", stop_when={"low": lambda x: x[0] + 5})
    assert solution.ended == "event" and solution.end["x[1]"] == pytest.approx(-5, abs=1e-8)
    assert solution(0.1, "x[1]").shape == ()
    solution.save(tmp_path / "run.npz")
    assert np.array_equal(daedal.open(tmp_path / "run.npz").values, solution.values)
    assert "<html" in solution.native.page()


def test_exceptions_pass_through_with_their_place():
    def broken(t, x):
        if t > 0.5:
            raise LookupError("no value beyond 0.5")
        return [-x[0]]

    model = daedal.ode("broken", broken, states=["u"], time=(0, 1), fix={"u": 1}, trace=False)
    with pytest.raises(LookupError, match="no value beyond") as raised:
        daedal.solve(model)
    places = traceback.extract_tb(raised.value.__traceback__)
    assert any(place.name == "broken" and place.filename.endswith("test_black_box.py") for place in places)
    # nothing is left of it: the model can be run again
    assert daedal.solve(model, tend=0.4).end["u"] == pytest.approx(math.exp(-0.4), abs=1e-5)
    with pytest.raises(ZeroDivisionError):
        daedal.check(daedal.ode("zero", lambda t: [1 / t], states=["u"], time=(0, 1), fix={"u": 1}, trace=False))


def once(**more):
    return {"states": ["u"], "time": (0, 1), "fix": {"u": 1}, "trace": False, **more}


def counts():
    calls = [0]

    def f(u):
        calls[0] += 1
        return [-u * calls[0]]

    return daedal.ode("counts", f, **once())


REFUSED = {
    "changes": (lambda: daedal.solve(counts()), daedal.OptionError, "counts changes between calls: at t = 0.0 its row 0 was -1.0 at first"),
    "nan": (lambda: daedal.solve(daedal.ode("nan", lambda u: [float("nan")], **once())), daedal.InitialError, "not finite"),
    "too many": (lambda: daedal.solve(daedal.ode("two", lambda u: [u, u], **once())), daedal.TraceError, r"1 numbers are expected, and the shape of what is returned is \(2,\)"),
    "matrix": (lambda: daedal.solve(daedal.ode("rows", lambda u: np.ones((1, 1)), **once())), daedal.TraceError, r"\(1, 1\)"),
    "nothing": (lambda: daedal.solve(daedal.ode("none", lambda u: None, **once())), daedal.TraceError, "numbers are expected"),
    "complex": (lambda: daedal.solve(daedal.ode("complex", lambda u: [1j * u], **once())), daedal.TraceError, "numbers are expected"),
    "text": (lambda: daedal.solve(daedal.ode("text", lambda u: ["-u"], **once())), daedal.TraceError, "numbers are expected"),
    "unknown argument": (lambda: daedal.ode("name", lambda w: [w], **once()), daedal.TraceError, r"test_black_box.py, line \d+: nothing is called 'w'"),
    "unknown parameter": (lambda: daedal.solve(daedal.ode("par", lambda par: [par.k], **once(parameters={"c": 1.0}))), daedal.TraceError, "no such parameter: nothing is called 'k'"),
    "set": (lambda: daedal.ode("set", lambda u: [u], **once(parameters={"c": 1.0})).set(cc=2.0), daedal.OptionError, "there is no parameter cc; did you mean c"),
    "nan parameter": (lambda: daedal.ode("set", lambda u: [u], **once(parameters={"c": math.inf})), daedal.TraceError, "parameters.c is inf"),
    "assignment": (lambda: daedal.solve(daedal.ode("write", lambda x: x.__setitem__(0, 1.0), **once())), ValueError, "read-only"),
    "start": (lambda: daedal.solve(daedal.ode("start", lambda u: [u], **once(fix={"w": 1}))), daedal.Error, "w"),
    "output": (lambda: daedal.ode("out", lambda u: [u], **once(output={"o": lambda u: u})), daedal.OptionError, "output is for models that are traced"),
    "kernel": (lambda: daedal.solve(daedal.ode("kernel", lambda u: [u], **once()), kernel="tape"), daedal.OptionError, "there is no kernel to choose"),
    "sweep": (lambda: daedal.sweep(daedal.ode("many", lambda u, c: [u], **once(parameters={"c": 1.0})), {"c": [1, 2]}), daedal.OptionError, "in a loop over daedal.solve"),
    "pickle": (lambda: pickle.dumps(daedal.ode("far", lambda u: [u], **once())), daedal.OptionError, "cannot go to other processes"),
    "copy": (lambda: copy.copy(daedal.ode("far", lambda u: [u], **once())), daedal.OptionError, "cannot go to other processes"),
    "text of it": (lambda: daedal.ode("far", lambda u: [u], **once()).to_toml(), daedal.OptionError, "no formulas that could be written"),
    "add": (lambda: daedal.ode("far", lambda u: [u], **once()).add(output={"o": 1}), daedal.OptionError, "make it again"),
    "method": (lambda: daedal.solve(daedal.ode("method", lambda u: [-u], **once()), method="dop853"), daedal.Error, "geoms"),
    "algebraic of formulas": (lambda: daedal.dae("d", lambda u: [u], states=["u"], algebraic=["u"]), daedal.OptionError, "follows from the formulas"),
    "algebraic with a rate": (lambda: daedal.solve(daedal.dae("d", robertson, states=["a", "b", "c"], time=(0, 1), fix={"a": 1}, trace=False, algebraic=["b", "c"])),
                              daedal.OptionError, "the rates of b, c enter, which are said to be algebraic"),
    "unknown algebraic": (lambda: daedal.dae("d", robertson, states=["a", "b", "c"], trace=False, algebraic=["cc"]), daedal.TraceError, "algebraic: nothing is called 'cc'"),
    "no hidden constraint": (lambda: pendulum(holonomic_acceleration=None), daedal.TraceError, "need holonomic_acceleration: their derivatives"),
    "hidden of formulas": (lambda: daedal.motion("m", positions=["x"], velocities=["v"], mass=[1], holonomic_velocity=[0]), daedal.OptionError, "with trace=False"),
    "shape of the mass": (lambda: daedal.solve(pendulum(mass=lambda m: [m])), daedal.TraceError, r"the diagonal \(2,\) or the matrix \(2, 2\)"),
    "formulas": (lambda: pendulum(forces=["0", "-m*g"]), daedal.TraceError, "a text is a formula"),
    "lagrangian": (lambda: pendulum(lagrangian=lambda v: v @ v), daedal.OptionError, "lagrangian is for models that are traced"),
    "mode": (lambda: daedal.hybrid("h", modes={"one": daedal.ode("far", lambda u: [u], **once())}, transitions=[]), daedal.OptionError, "the mode 'one' is a model that daedal.motion or daedal.dae made"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_black_box_does_wrong_is_told(name):
    function, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        function()


def test_a_function_may_write_into_the_same_array_in_every_call():
    buffer = np.zeros(1)

    def f(u):
        buffer[0] = -u
        return buffer

    assert daedal.solve(daedal.ode("buffer", f, **once()), rtol=1e-9, atol=1e-9).end["u"] == pytest.approx(math.exp(-1), abs=1e-7)


def test_a_function_that_changes_late_is_found():
    shift = [0.0]
    model = daedal.ode("late", lambda t, u: [math.cos(50 * t) + shift[0]], **once())

    def change(fraction, t):
        shift[0] = 1e-3

    with pytest.raises(daedal.OptionError, match="late changes between calls"):
        daedal.solve(model, progress=change, tend=1e6, max_steps=10**9)


def test_a_value_that_is_not_finite_stops_the_run_where_it_is():
    model = daedal.ode("edge", lambda u: [-np.sqrt(u) if u >= 0 else np.nan], states=["u"], time=(0, 3), fix={"u": 1}, trace=False)
    with pytest.raises(daedal.Stopped) as raised:
        daedal.solve(model, rtol=1e-8, atol=1e-10)
    # u = (1 − t/2)²
    assert raised.value.t == pytest.approx(2.0, abs=1e-2) and len(raised.value.solution) > 3


def test_ctrl_c_ends_a_run_and_keeps_it():
    model = daedal.ode("long", lambda u: [-u], states=["u"], time=(0, 1e9), fix={"u": 1}, trace=False)
    script = f"import os, time; time.sleep(1.0); os.kill({os.getpid()}, {int(signal.SIGINT)})"
    subprocess.Popen([sys.executable, "-c", script])
    with pytest.raises(daedal.Interrupted) as raised:
        daedal.solve(model, max_steps=10**12, save=1000, hmax=0.01)
    assert raised.value.solution.t_end > 0


def test_rates_are_traced_into_equations():
    model = lorenz(True)
    assert '"der(x[1]) = ' in model.text and daedal.check(model).index == 0
    by_name = daedal.ode("decay", lambda u, c: {"u": -c * u}, states=["u"], parameters={"c": 2.0}, time=(0, 1), fix={"u": 1})
    assert daedal.solve(by_name, rtol=1e-9, atol=1e-9).end["u"] == pytest.approx(math.exp(-2), abs=1e-7)
    assert pickle.loads(pickle.dumps(by_name)) == by_name

    @daedal.ode(states=["u"], time=(0, 1), fix={"u": 1})
    def growth(u):
        return [u]

    assert growth.name == "growth"
    with pytest.raises(daedal.TraceError, match="returns 2 rates for 1 states"):
        daedal.ode("two", lambda u: [u, u], states=["u"])
    with pytest.raises(daedal.TraceError, match="use np.sin, not math.sin"):
        daedal.ode("sine", lambda u: [math.sin(u)], states=["u"])
