"""Models that are written as functions."""

import math

import numpy as np
import pytest
from conftest import MODELS, ball, pendulum_of_section_5

import daedal

COUNTERS = ("steps", "rejected_error", "rejected_newton", "residuals", "jacobians", "masses", "selectors", "decompositions", "solves")


def same_run(one, other, **options):
    """All counters, and all values at the end, bit for bit."""
    first, second = (daedal.solve(model, save="end", **options) for model in (one, other))
    assert {key: first.statistics[key] for key in COUNTERS} == {key: second.statistics[key] for key in COUNTERS}
    shared = [name for name in first.names if name in second.names]
    assert len(shared) >= 5
    assert [(name, first.end[name]) for name in shared] == [(name, second.end[name]) for name in shared]
    assert first.method == second.method


@pytest.mark.parametrize("options", [{}, {"method": "geoms", "formulation": "psf+i"}, {"method": "radau", "formulation": "ggl", "rtol": 1e-9}])
def test_a_pendulum_of_functions_is_that_of_the_file(options):
    same_run(pendulum_of_section_5(), MODELS / "pendulum.toml", **options)


def andrews():
    file = daedal.load(MODELS / "andrews.toml")
    values = file.parameters
    lists = {name: [values[f"{name}[{k}]"] for k in range(1, 8)] for name in ("m", "I")}
    numbers = {name: value for name, value in values.items() if "[" not in name and name not in ("e4", "f6")}
    start = daedal.init(file)
    names = ["beta", "theta", "gamma", "phi", "delta", "omega", "epsilon"]

    @daedal.motion(
        "andrews", positions=names, velocities=[f"v{name}" for name in names], time=(0.0, 0.03),
        parameters={**lists, **numbers, "e4": lambda e, ea: e - ea, "f6": lambda zf, fa: zf - fa},
        guess={**{value["name"]: value["given"]["guess"] for value in start.object["values"] if isinstance(value["given"], dict)}},
    )  # fmt: skip
    def model(p, v, par):
        beta, theta, gamma, phi, delta, omega, epsilon = p
        vbeta, vtheta, vgamma, vphi, vdelta, vomega, vepsilon = v
        m, I = par.m, par.I
        da, rr, zt, e4, u, f6, sc, sd, d = par.da, par.rr, par.zt, par.e4, par.u, par.f6, par.sc, par.sd, par.d
        M11 = -2 * m[1] * da * rr * np.cos(theta) + (m[0] * par.ra * par.ra + m[1] * (rr * rr + da * da) + I[0] + I[1])
        M12 = -m[1] * da * rr * np.cos(theta) + (m[1] * da * da + I[1])
        M22 = m[1] * da * da + I[1]
        M33 = m[2] * (par.sa * par.sa + par.sb * par.sb) + I[2]
        M44 = m[3] * e4 * e4 + I[3]
        M45 = m[3] * zt * e4 * np.sin(phi) + (m[3] * e4 * e4 + I[3])
        M55 = 2 * m[3] * zt * e4 * np.sin(phi) + (m[3] * (zt * zt + e4 * e4) + m[4] * (par.ta * par.ta + par.tb * par.tb) + I[3] + I[4])
        M66 = m[5] * f6 * f6 + I[5]
        M67 = -m[5] * u * f6 * np.sin(omega) + (m[5] * f6 * f6 + I[5])
        M77 = -2 * m[5] * u * f6 * np.sin(omega) + (m[5] * (f6 * f6 + u * u) + m[6] * (par.ua * par.ua + par.ub * par.ub) + I[5] + I[6])
        M = daedal.zeros(7, 7)
        M[0, 0], M[0, 1], M[1, 0], M[1, 1], M[2, 2] = M11, M12, M12, M22, M33
        M[3, 3], M[3, 4], M[4, 3], M[4, 4] = M44, M45, M45, M55
        M[5, 5], M[5, 6], M[6, 5], M[6, 6] = M66, M67, M67, M77
        crank, left, right = m[1] * da * rr * np.sin(theta), m[3] * zt * e4 * np.cos(phi), m[5] * u * f6 * np.cos(omega)
        xd = sd * np.cos(gamma) + sc * np.sin(gamma) + (par.xb - par.xc)
        yd = sd * np.sin(gamma) - sc * np.cos(gamma) + (par.yb - par.yc)
        length = np.sqrt(xd**2 + yd**2)
        spring = -par.c0 * (length - par.l0) / length
        xp = rr * np.cos(beta) - d * np.cos(beta + theta)
        yp = rr * np.sin(beta) - d * np.sin(beta + theta)
        forces = [
            par.mom - crank * vtheta * (vtheta + 2 * vbeta),
            crank * vbeta**2,
            spring * xd * (sc * np.cos(gamma) - sd * np.sin(gamma)) + spring * yd * (sd * np.cos(gamma) + sc * np.sin(gamma)),
            left * vdelta**2,
            -left * vphi * (vphi + 2 * vdelta),
            -right * vepsilon**2,
            right * vomega * (vomega + 2 * vepsilon),
        ]
        holonomic = [
            xp - par.ss * np.sin(gamma) - par.xb,
            yp + par.ss * np.cos(gamma) - par.yb,
            xp - par.e * np.sin(phi + delta) - zt * np.cos(delta) - par.xa,
            yp + par.e * np.cos(phi + delta) - zt * np.sin(delta) - par.ya,
            xp - par.zf * np.cos(omega + epsilon) - u * np.sin(epsilon) - par.xa,
            yp - par.zf * np.sin(omega + epsilon) + u * np.cos(epsilon) - par.ya,
        ]
        return {"mass": M, "forces": forces, "holonomic": holonomic}

    return model


@pytest.mark.parametrize("options", [{}, {"method": "hedop5"}, {"method": "geoms", "rtol": 1e-9}])
def test_andrews_of_functions_is_that_of_the_file(options):
    same_run(andrews(), MODELS / "andrews.toml", **options)


def points(a, b, l1, l2):
    first = np.array([l1 * np.sin(a), -l1 * np.cos(a)])
    return first, first + np.array([l2 * np.sin(b), -l2 * np.cos(b)])


def lagrangian(a, b, m1, m2, l1, l2, g):
    q1, q2 = points(a, b, l1, l2)
    u1, u2 = daedal.rate(q1), daedal.rate(q2)
    return m1 / 2 * (u1 @ u1) + m2 / 2 * (u2 @ u2) - g * (m1 * q1[1] + m2 * q2[1])


DOUBLE = {"m1": 1.0, "m2": 2.0, "l1": 0.7, "l2": 1.1, "g": 9.81}


def by_hand(**more):
    """The double pendulum with the mass matrix and the forces of the textbook."""
    return daedal.motion(
        "double", positions=["a", "b"], velocities=["va", "vb"], parameters=DOUBLE, time=(0, 10),
        mass=lambda a, b, m1, m2, l1, l2: [[(m1 + m2) * l1**2, m2 * l1 * l2 * np.cos(a - b)], [m2 * l1 * l2 * np.cos(a - b), m2 * l2**2]],
        forces=lambda a, b, va, vb, m1, m2, l1, l2, g: [
            -m2 * l1 * l2 * vb**2 * np.sin(a - b) - (m1 + m2) * g * l1 * np.sin(a),
            m2 * l1 * l2 * va**2 * np.sin(a - b) - m2 * g * l2 * np.sin(b),
        ],
        fix={"a": 2.0, "b": 1.0, "va": 0, "vb": 0}, **more,
    )  # fmt: skip


class Equations:
    """Mass matrix and forces of a model of functions, from its own text."""

    def __init__(self, model):
        body, self.names = model._sections.body, model._sections.names
        n = len(self.names["velocities"])
        forces = body["forces"] if isinstance(body["forces"], list) else list(body["forces"].values())
        rows = [row if isinstance(row, list) else [row if i == k else 0 for k in range(n)] for i, row in enumerate(body["mass"])]
        texts = [*model._sections.definitions.items(), *((f"M{i}_{k}", rows[i][k]) for i in range(n) for k in range(n)), *((f"f{i}", forces[i]) for i in range(n))]
        self.code = compile("\n".join(f"{name} = {str(text).replace('^', '**')}" for name, text in texts), "formulas", "exec")
        self.own = {"sin": math.sin, "cos": math.cos, "sqrt": math.sqrt}
        for name, value in model.parameters.items():
            base, *index = name.rstrip("]").split("[")
            if index:
                self.own.setdefault(base, {})[int(index[0])] = value
            else:
                self.own[name] = value

    def at(self, p, v):
        scope = {**self.own, **dict(zip(self.names["positions"], p, strict=True)), **dict(zip(self.names["velocities"], v, strict=True))}
        exec(self.code, {}, scope)
        n = len(v)
        return np.array([[scope[f"M{i}_{k}"] for k in range(n)] for i in range(n)]), np.array([scope[f"f{i}"] for i in range(n)])


def angle_by_lagrangian(**more):
    def energy(phi, m, l, g):
        q = np.array([l * np.sin(phi), -l * np.cos(phi)])
        u = daedal.rate(q)
        return m / 2 * (u @ u) - m * g * q[1]

    return daedal.motion("pendulum", positions=["phi"], velocities=["omega"], parameters=dict(m=1.3, l=0.7, g=9.81), lagrangian=energy, **more)


def angle_by_hand(**more):
    return daedal.motion(
        "pendulum", positions=["phi"], velocities=["omega"], parameters=dict(m=1.3, l=0.7, g=9.81), mass=lambda m, l: [m * l**2],
        forces=lambda phi, m, l, g: [-m * g * l * np.sin(phi)], **more,
    )  # fmt: skip


def double_by_lagrangian(**more):
    return daedal.motion("double", positions=["a", "b"], velocities=["va", "vb"], lagrangian=lagrangian, parameters=DOUBLE, fix={"a": 2.0, "b": 1.0, "va": 0, "vb": 0}, **more)


def andrews_by_lagrangian():
    """The script of the tutorial."""
    import re

    from conftest import ROOT

    text = (ROOT / "docs" / "src" / "tutorial-andrews.md").read_text()
    code = re.search(r"^```python,same=models/andrews.toml\n(.*?)^```", text, re.M | re.S)[1]
    names = {}
    exec(code.replace('"models/andrews.toml"', repr(str(MODELS / "andrews.toml"))), names)
    return names["model"]


@pytest.mark.parametrize(
    ("derived", "written"), [(angle_by_lagrangian, angle_by_hand), (double_by_lagrangian, lambda: by_hand()), (andrews_by_lagrangian, lambda: andrews())]
)
def test_a_lagrangian_gives_the_equations_of_the_textbook(derived, written):
    one, other = Equations(derived()), Equations(written())
    random, n = np.random.default_rng(7), len(one.names["velocities"])
    for _ in range(100):
        p, v = random.uniform(-3, 3, n), random.uniform(-3, 3, n)
        for found, expected in zip(one.at(p, v), other.at(p, v), strict=True):
            assert np.abs(found - expected).max() <= 1e-13 * max(1.0, np.abs(expected).max())
    assert not any(name in str(entry) for name in one.names["velocities"] for row in derived()._sections.body["mass"] for entry in row)


@pytest.mark.parametrize(
    ("derived", "written", "end"),
    [
        (lambda: angle_by_lagrangian(fix={"phi": 1, "omega": 0}), lambda: angle_by_hand(fix={"phi": 1, "omega": 0}), 5),
        (double_by_lagrangian, lambda: by_hand(), 2),
        (andrews_by_lagrangian, lambda: andrews(), 0.03),
    ],
)
def test_runs_of_a_lagrangian_end_where_those_by_hand_do(derived, written, end):
    tolerance = 1e-7
    one, other = (daedal.solve(model(), rtol=tolerance, atol=tolerance, tend=end, save="end") for model in (derived, written))
    shared = [name for name in one.names if name in other.names and "lambda" not in name]
    assert len(shared) >= 2
    assert all(abs(one.end[name] - other.end[name]) <= 10 * tolerance * max(1.0, abs(other.end[name])) for name in shared)


def test_a_lagrangian_takes_constraints_and_further_forces():
    model = daedal.motion(
        "pendulum", positions=["x", "y"], velocities=["vx", "vy"], time=(0, 2), parameters={"m": 1.5, "g": 9.81, "d": 0.1},
        lagrangian=lambda x, y, vx, vy, m, g: m / 2 * (vx**2 + vy**2) - m * g * y, forces=lambda vx, vy, d: [-d * vx, -d * vy],
        holonomic={"rod": lambda x, y: x**2 + y**2 - 1}, fix={"x": 1, "vx": 0}, guess={"y": 0, "vy": 0},
    )  # fmt: skip
    other = daedal.motion(
        "pendulum", positions=["x", "y"], velocities=["vx", "vy"], time=(0, 2), parameters={"m": 1.5, "g": 9.81, "d": 0.1},
        mass=lambda m: [m, m], forces=lambda vx, vy, m, g, d: [-d * vx, -d * vy - m * g],
        holonomic={"rod": lambda x, y: x**2 + y**2 - 1}, fix={"x": 1, "vx": 0}, guess={"y": 0, "vy": 0},
    )  # fmt: skip
    one, two = (daedal.solve(m, rtol=1e-10, atol=1e-10, save="end").end for m in (model, other))
    assert all(abs(one[name] - two[name]) < 1e-8 for name in ("x", "y", "vx", "vy"))


def test_what_is_no_lagrangian_is_refused():
    def made(lagrangian, **more):
        return daedal.motion("m", positions=["x"], velocities=["v"], time=(0, 1), lagrangian=lagrangian, **more)

    with pytest.raises(daedal.TraceError, match="not quadratic in the velocities"):
        made(lambda v: v**3)
    with pytest.raises(daedal.TraceError, match="mass follows from the lagrangian"):
        made(lambda v: v**2, mass=[1])
    with pytest.raises(daedal.TraceError, match="needs p' = v"):
        made(lambda v: v**2, kinematics=lambda v: [2 * v])
    with pytest.raises(daedal.TraceError, match="2 forces are given beside the lagrangian for 1 velocities"):
        made(lambda v: v**2, forces=[1, 2])
    with pytest.raises(daedal.TraceError, match="rate of something that contains 'v'"):
        made(lambda v: daedal.rate(v) ** 2)


def F(t, x, xdot, par):
    px, py, vx, vy, s = x
    return [xdot[0] - vx, xdot[1] - vy, xdot[2] + px * s, xdot[3] + py * s + par.g, px**2 + py**2 - par.L**2]


def test_a_general_system_of_index_three():
    model = daedal.dae("pendulum", F, states=["px", "py", "vx", "vy", "tension"], parameters={"g": 9.81, "L": 1.0}, fix={"px": 0.6, "vx": 0}, guess={"py": -0.8}, time=(0, 5))  # fmt: skip
    assert daedal.check(model).index == 3
    solution = daedal.solve(model)
    assert np.abs(np.hypot(solution["px"], solution["py"]) - 1).max() < 1e-6
    same = daedal.read(model.to_toml())
    same_run(model, same)


def test_derivatives_by_name():
    second = daedal.dae(
        "oscillator", lambda x, c: [daedal.der(x, 2) + c * x], states=["x"], parameters={"c": 4.0}, time=(0, 1), fix={"x": 1, "der(x)": 0},
        output={"speed": lambda x: daedal.der(x)},
    )  # fmt: skip
    end = daedal.solve(second, rtol=1e-10, atol=1e-10).end
    assert abs(end["x"] - math.cos(2)) < 1e-8 and abs(end["speed"] + 2 * math.sin(2)) < 1e-7
    motion = daedal.motion("fall", positions=["y"], velocities=["v"], mass=[2], forces=[-3], time=(0, 1), fix={"y": 0, "v": 0}, output={"a": lambda v: daedal.der(v)})
    assert abs(daedal.solve(motion).end["a"] + 1.5) < 1e-12


def test_named_equations_and_decorators():
    @daedal.dae(states=["u", "i"], parameters={"R": 2.0}, time=(0, 1), fix={"u": 1})
    def circuit(u, i, R):
        return {"capacitor": daedal.der(u) + i, "resistor": u - R * i}

    assert circuit.name == "circuit"
    assert abs(daedal.solve(circuit, rtol=1e-9, atol=1e-9).end["u"] - math.exp(-0.5)) < 1e-7


def test_arrays_of_variables():
    n = 4
    chain = daedal.motion(
        "chain", positions=daedal.indexed("x", n) + daedal.indexed("y", n), velocities=daedal.indexed("vx", n) + daedal.indexed("vy", n), time=(0, 1),
        parameters={"g": 9.81}, mass=[1.0] * (2 * n), forces=lambda g: [0.0] * n + [-g] * n,
        holonomic={"link[" + str(k + 1) + "]": (lambda k: lambda x, y: (x[k] - (x[k - 1] if k else 0)) ** 2 + (y[k] - (y[k - 1] if k else 0)) ** 2 - 1)(k) for k in range(n)},
        guess={"x": np.arange(1.0, n + 1), "y": [0.0] * n, "vx": [0.0] * n, "vy": [0.0] * n},
        output={"height": lambda y: np.sum(y)},
    )  # fmt: skip
    solution = daedal.solve(chain)
    assert solution.max_residual.position < 1e-8 and solution.end["height"] < 0


def test_modes_are_those_of_the_file():
    solution, file = (daedal.solve(model) for model in (ball(), daedal.read(BALL)))
    assert [s.t for s in solution.switches] == [s.t for s in file.switches] and len(solution.switches) > 5
    assert solution.switches[0].condition.startswith("y") and solution.switches[0].jumps
    assert solution.end["y"] == file.end["y"] and solution.phases[-1].mode == "rest"
    # it rests from sqrt(2 h/g) (1 + e)/(1 - e) on
    assert abs(solution.switches[-1].t - math.sqrt(2 / 9.81) * 1.7 / 0.3) < 1e-6


BALL = """
[model]
name = "ball"
time = [0.0, 4.0]
[parameters]
m = 0.5
g = 9.81
e = 0.7
[motion]
positions  = ["y"]
velocities = ["v"]
mass       = ["m"]
forces     = ["-m*g"]
[modes.flight]
[modes.rest]
motion = { holonomic = { floor = "-y" } }
[[transitions]]
from = "flight"
to   = "flight"
when = "y <= 0"
set  = { y = 0, v = "-e*v" }
after_accumulation = "rest"
[initial]
mode = "flight"
fix  = { y = 1, v = 0 }
[output]
energy = "m*v^2/2 + m*g*y"
"""


def test_a_general_system_with_modes():
    def heated(power):
        return daedal.dae("room", lambda T, loss: [daedal.der(T) - power + loss * T], states=["T"], parameters={"loss": 0.1}, fix={"T": 20})

    room = daedal.hybrid(
        "thermostat", time=(0, 10), start="on", modes={"on": heated(3.0), "off": heated(0.0)}, fix={"T": 20},
        transitions=[daedal.Transition("on", "off", when=lambda T: T > 21), daedal.Transition("off", "on", when=lambda T: T < 19)],
    )  # fmt: skip
    solution = daedal.solve(room)
    assert [s.to for s in solution.switches][:3] == ["off", "on", "off"]
    assert solution["T"].max() < 21 + 1e-6 and solution["T"].min() > 19 - 1e-6
    with pytest.raises(daedal.OptionError, match="there is no mode of; did you mean off|there is no mode of"):
        daedal.hybrid("x", modes={"on": heated(1.0), "off": heated(0.0)}, transitions=[daedal.Transition("on", "of", when=lambda T: T > 1)])


def test_parameters_are_set_as_those_of_files(pendulum):
    model = pendulum.set(L=1.5)
    assert model.parameters["L"] == 1.5 and daedal.init(model)["y"] == -1.5
    written = model.to_toml()
    assert "L = 1.5" in written
    same_run(model, daedal.read(written))
    with pytest.raises(daedal.ModelError, match="cannot be set"):
        pendulum.set(LL=1.0)


def test_names_that_do_not_exist_tell_the_function():
    with pytest.raises(daedal.TraceError, match=r"lambda in .*test_functions.py, line \d+: nothing is called 'mm'; did you mean 'm'"):
        daedal.motion("m", positions=["x"], velocities=["v"], mass=lambda mm: [mm], parameters={"m": 1.0})
    with pytest.raises(daedal.TraceError, match="no such parameter: nothing is called 'k'"):
        daedal.motion("m", positions=["x"], velocities=["v"], mass=[1], forces=lambda par: [par.k])
    with pytest.raises(daedal.TraceError, match="its arguments must name what it sees"):
        daedal.motion("m", positions=["x"], velocities=["v"], mass=lambda *args: [1])
    with pytest.raises(daedal.TraceError, match="the arguments states and rates are all states"):
        daedal.dae("d", lambda x, xdot: [xdot], states=["x", "y"])
    with pytest.raises(daedal.TraceError, match="nothing is called 'masses'; did you mean 'mass'"):
        daedal.motion("m", lambda x: {"masses": [1]}, positions=["x"], velocities=["v"])


def test_mistakes_of_a_model_tell_the_function():
    with pytest.raises(daedal.ModelError) as raised:
        daedal.motion("m", positions=["x"], velocities=["v"], mass=[1], forces=[0], holonomic={"wrong": lambda v: v - 1})
    (mistake,) = raised.value.mistakes
    assert "a holonomic constraint" in mistake.message and "test_functions.py" in mistake.function
    assert "traced from lambda in" in str(raised.value)
    with pytest.raises(daedal.ModelError, match="3 forces are given for 2 velocities"):
        daedal.motion("m", positions=["x", "y"], velocities=["vx", "vy"], mass=[1, 1], forces=[0, 0, 0])


def test_exceptions_of_functions_pass_through():
    def broken(x):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        daedal.motion("m", positions=["x"], velocities=["v"], mass=[1], forces=broken)


def test_black_boxes_are_not_made_silently():
    with pytest.raises(daedal.TraceError, match="use np.sin, not math.sin"):
        daedal.motion("m", positions=["x"], velocities=["v"], mass=[1], forces=lambda x: [math.sin(x)])


def test_large_models_are_traced():
    n = 2000

    def forces(p, v):
        total = []
        for k in range(n):
            left, right = (p[k - 1] if k else 0.0), (p[k + 1] if k + 1 < n else 0.0)
            total.append(-np.sin(p[k] - left) - (p[k] - right) - 0.1 * v[k])
        return total

    model = daedal.motion("chain", positions=daedal.indexed("q", n), velocities=daedal.indexed("u", n), mass=[1.0] * n, forces=forces, time=(0, 0.1),
                          guess={"q": [0.0] * n, "u": [0.1] * n})  # fmt: skip
    assert len(model.names) == 2 * n
