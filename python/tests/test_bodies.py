"""Mechanisms that are drawn from Python."""

import pickle

import numpy as np
import pytest
from conftest import MODELS

import daedal

GALLERY = MODELS.parent / "gallery"

ROD = dict(
    parameters={"L": 0.8}, time=(0, 1),
    bodies={"rod": dict(bar=lambda L: {"from": [0, 0, 0], "to": [L, 0, 0], "width": 0.05}, mass=1.4)},
    joints={"hinge": dict(kind="revolute", between=["ground", "rod"], at=np.zeros(3), axis=[0, 1, 0])},
)  # fmt: skip


def same(model, file, **options):
    """The run of the file, bit for bit."""
    one, other = (daedal.solve(given, **options) for given in (model, GALLERY / f"{file}.toml"))
    assert one.names == other.names
    assert one.statistics == other.statistics
    assert all(np.array_equal(one[name], other[name]) for name in one.names)


def four_bar():
    def bar(begin, end):
        return {"from": begin, "to": end, "width": 0.03}

    def pin(first, second, at):
        return {"kind": "revolute", "between": [first, second], "at": at}

    def meet(x, y):
        return [x, y]

    return daedal.mechanism(
        "four-bar", plane="xy", time=(0, 4),
        parameters=dict(
            a=0.2, b=0.5, c=0.4, d=0.5, s=lambda a, d: np.sqrt(a**2 + d**2), along=lambda b, c, s: (b**2 - c**2 + s**2) / (2 * s),
            up=lambda b, along: np.sqrt(b**2 - along**2), x=lambda a, d, s, along, up: d / s * along + a / s * up,
            y=lambda a, d, s, along, up: a - a / s * along + d / s * up,
        ),
        bodies={
            "crank": dict(bar=lambda a: bar([0, 0], [0, a]), mass=0.4),
            "coupler": dict(bar=lambda a, x, y: bar([0, a], [x, y]), mass=0.9),
            "rocker": dict(bar=bar(["d", 0], meet), mass=0.7),
        },
        joints={
            "main": pin("ground", "crank", [0, 0]), "knee": pin("crank", "coupler", lambda a: [0, a]),
            "wrist": pin("coupler", "rocker", meet), "pivot": pin("ground", "rocker", ["d", 0]),
        },
        forces={"motor": dict(kind="actuator", joint="main", torque=lambda rate: 2 - 0.2 * rate)},
        output={"crank": lambda main: main.angle, "rocker": "pivot.angle", "bearing": lambda main: np.sqrt(main.force.x**2 + main.force.y**2)},
    )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"method": "geoms"}, {"method": "radau", "formulation": "ggl"}])
def test_a_four_bar_of_tables_is_that_of_the_file(options):
    same(four_bar(), "four-bar", **options)


def test_a_drawn_model_can_be_pickled_and_changed():
    model = four_bar()
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    heavier = again.add(output={"height": lambda coupler: coupler["from"].y, "all": lambda energy: energy.total})
    ends = daedal.solve(heavier, save="end").end
    assert ends["height"] == pytest.approx(0.2 * np.cos(ends["crank"]), abs=1e-9)
    assert ends["all"] == ends["energy.total"]
    assert heavier.set(a=0.19).parameters["a"] == 0.19


def test_tables_can_be_lists_with_repetition():
    model = daedal.mechanism(
        "chain", plane="xy", time=(0, 0.2), parameters={"N": 3},
        bodies=[{"for": "i in 1..N", "name": "link[i]", "bar": lambda i: {"from": [i - 1, 0], "to": [i, 0], "width": 0.1}, "mass": 1}],
        joints=[{"for": "i in 1..N", "name": "pin[i]", "kind": "revolute", "between": ["if(i == 1, ground, link[i-1])", "link[i]"], "at": lambda i: [i - 1, 0]}],
        output={"tip": lambda link: link[3].to.y, "third": lambda pin: pin[3].angle},
    )  # fmt: skip
    ends = daedal.solve(model, save="end", rtol=1e-9, atol=1e-9).end
    assert ends["tip"] == pytest.approx(ends["link[3].y"] + np.sin(ends["link[3].phi"]) / 2, abs=1e-12)
    assert ends["third"] == pytest.approx(ends["link[3].phi"] - ends["link[2].phi"], abs=1e-9)
    assert ends["tip"] < -0.1


def test_laws_see_lengths_rates_and_parts():
    spring = daedal.mechanism(
        "spring", plane="xy", gravity=[0, 0], time=(0, 1), parameters={"k": 40.0, "d": 0.3},
        bodies={"ball": dict(sphere={"radius": 0.1}, mass=2, at=[1.5, 0])},
        forces={"spring": dict(kind="spring", between=["ground", "ball"], at=[[0, 0], [1.5, 0]], force=lambda length, speed, k, d: k * (length - 1) + d * speed)},
        output={"twice": lambda ball: 2 * daedal.rate(ball.x), "pull": lambda ball, k, d: k * (ball.x - 1) + d * ball.vx},
    )  # fmt: skip
    ends = daedal.solve(spring, save="end", rtol=1e-10, atol=1e-10).end
    decay, omega = 0.3 / 4, np.sqrt(20 - (0.3 / 4) ** 2)
    assert ends["ball.x"] == pytest.approx(1 + 0.5 * np.exp(-decay) * (np.cos(omega) + decay / omega * np.sin(omega)), abs=1e-8)
    assert ends["twice"] == 2 * ends["ball.vx"]
    assert ends["pull"] == pytest.approx(40 * (ends["ball.x"] - 1) + 0.3 * ends["ball.vx"], abs=1e-12)


def test_states_of_force_elements():
    model = daedal.mechanism(
        "lag", **ROD, dynamic={"u": lambda u, hinge: (hinge.rate - u) / 0.1},
        forces={"brake": dict(kind="actuator", joint="hinge", torque=lambda u: -0.5 * u)}, fix={"u": 0}, output={"torque": lambda u: -0.5 * u},
    )  # fmt: skip
    solution = daedal.solve(model)
    assert np.array_equal(solution["torque"], -0.5 * solution["u"])


def friction():
    def normal(guide, slope):
        return np.cos(slope) * guide.force.y - np.sin(slope) * guide.force.x

    def held(grip, slope):
        return np.cos(slope) * grip.force.x + np.sin(slope) * grip.force.y

    return daedal.mechanism(
        "block", plane="xy", time=(0, 10), start="sticks",
        parameters=dict(m=2, slope=0.2, mu=0.3, mu0=0.4, pull=14, sense=0),
        bodies={"block": dict(at=[0, 0], box={"size": [0.3, 0.2, 0.2]}, rotation={"axis": [0, 0, 1], "angle": lambda slope: slope}, mass=lambda m: m)},
        joints={
            "guide": dict(kind="prismatic", between=["ground", "block"], at=[0, 0], axis=lambda slope: [np.cos(slope), np.sin(slope)]),
            "grip": dict(kind="rate", joint="guide", speed="0", modes=["sticks"]),
        },
        forces={
            "rope": dict(kind="linear", joint="guide", force=lambda t, pull: pull * np.sin(t)),
            "drag": dict(kind="linear", joint="guide", force=lambda sense, mu, guide, slope: -sense * mu * normal(guide, slope)),
        },
        modes={"up": {"parameters": {"sense": 1}}, "down": {"parameters": {"sense": -1}}, "sticks": {"parameters": {"sense": 0}}},
        transitions=[
            daedal.Transition("up", "sticks", when=lambda guide: guide.speed < 0),
            daedal.Transition("down", "sticks", when=lambda guide: guide.speed > 0),
            daedal.Transition("sticks", "up", when=lambda grip, guide, slope, mu0: held(grip, slope) < -mu0 * normal(guide, slope)),
            daedal.Transition("sticks", "down", when=lambda grip, guide, slope, mu0: held(grip, slope) > mu0 * normal(guide, slope)),
        ],
        output={"travel": lambda guide: guide.travel, "speed": lambda guide: guide.speed},
    )  # fmt: skip


def test_friction_with_modes_is_that_of_the_file():
    one, other = (daedal.solve(given, save="end") for given in (friction(), GALLERY / "dry-friction.toml"))
    assert len(one.switches) > 3
    assert [(switch.t, switch.to) for switch in one.switches] == [(switch.t, switch.to) for switch in other.switches]
    assert one.end["travel"] == other.end["travel"]


def test_conditions_of_a_run_see_parts():
    stopped = daedal.solve(four_bar(), stop_when=lambda main: main.angle > 1)
    assert stopped.end["crank"] == pytest.approx(1, abs=1e-6)
    from_file = daedal.solve(GALLERY / "four-bar.toml", stop_when=lambda crank: crank.phi > 2)
    assert from_file.end["crank.phi"] == pytest.approx(2, abs=1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"output": {"o": lambda hinge: hinge.angel}}, "did you mean `hinge.angle`"),
        ({"output": {"o": lambda hinche: hinche.angle}}, "did you mean 'hinge'"),
        ({"output": {"o": lambda rod: rod["middle"].x}}, "rod.middle.x"),
        ({"output": {"o": lambda rod: daedal.rate(rod.vx)}}, "rate of something that contains 'rod.vx' is not known"),
        ({"output": {"o": lambda rod: rod[1.5]}}, "whole number"),
        ({"output": {"o": lambda rod: rod}}, "rod"),
        ({"bodies": 3}, "tables by name, or a list"),
        ({"bodies": {"rod": 3}}, "a table of keys and values"),
        ({"joints": {"hinge": dict(kind="revolve", between=["ground", "rod"], at=[0, 0, 0], axis=[0, 1, 0])}}, "revolute"),
        ({"joints": {"hinge": dict(kind="revolute", between=["ground", "rot"], at=[0, 0, 0], axis=[0, 1, 0])}}, "did you mean `rod`"),
        ({"bodies": {"rod": dict(sphere={"radius": 0.1}, mass=float("nan"))}}, "bodies.rod.mass is nan"),
        ({"bodies": {"rod": dict(sphere={"radius": 0.1}, mass=lambda M: M)}}, "nothing is called 'M'"),
        ({"forces": {"push": dict(kind="actuator", joint="hinge", torque=lambda length: length)}}, "nothing is called 'length'"),
        ({"transitions": [daedal.Transition("a", "b", at=1)]}, "this one has none"),
        ({"modes": {"a": {"witout": []}}}, "without"),
        ({"modes": {"a": {}}, "transitions": [daedal.Transition("a", "b", at=1)]}, "there is no mode b"),
    ],
)  # fmt: skip
def test_mistakes_are_told(changes, message):
    with pytest.raises(daedal.Error) as error:
        daedal.mechanism("rod", **{**ROD, **changes})
    assert message in str(error.value)


def test_mistakes_name_the_function():
    with pytest.raises(daedal.ModelError) as error:
        daedal.mechanism("rod", **ROD, forces={"push": dict(kind="actuator", joint="hinge", torque=lambda rod: rod.vxx)})
    assert "test_bodies.py" in error.value.mistakes[0].function
    assert "did you mean `rod.vx`" in str(error.value)


def test_what_a_drawn_model_cannot_do_is_said():
    with pytest.raises(daedal.OptionError, match="no section holonomic"):
        four_bar().add(holonomic=[0])
    with pytest.raises(daedal.OptionError, match=r"daedal.mechanism\(…, modes=…"):
        daedal.hybrid("h", modes={"one": four_bar()}, transitions=[])


def test_formulas_that_stand_by_themselves_do_not_explode():
    """Shared parts of the law of an element are written out: what doubles forty times is refused, and not tried."""

    def law(rate):
        for _ in range(40):
            rate = rate + 0.5 * rate * rate
        return rate

    with pytest.raises(daedal.TraceError, match="operations when its shared parts are written out"):
        daedal.mechanism("rod", **ROD, forces={"push": dict(kind="actuator", joint="hinge", torque=law)})
    with pytest.raises(daedal.TraceError, match="operations when its shared parts are written out"):
        daedal.solve(MODELS / "pendulum.toml", stop_when=lambda x: law(x))
