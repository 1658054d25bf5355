"""Models and solutions go to other processes."""

import multiprocessing
import pickle

import numpy as np
import pytest
from conftest import MODELS, ball, pendulum_of_section_5

import daedal


def end_of(model):
    return dict(daedal.solve(model, save="end", on_stop="return").end)


def models():
    return {
        "file": daedal.load(MODELS / "pendulum.toml").set(L=1.25),
        "table": daedal.load(MODELS.parent / "measured" / "rough-road.toml"),
        "reference": daedal.load("pendulum"),
        "functions": pendulum_of_section_5().set(g=9.81),
        "modes": ball(),
        "tape": pendulum_of_section_5().kernel("tape"),
    }


@pytest.mark.parametrize("name", ["file", "table", "reference", "functions", "modes", "tape"])
def test_a_model_is_the_same_after_pickling(name):
    model = models()[name]
    again = pickle.loads(pickle.dumps(model))
    assert again == model and again.parameters == model.parameters and again.native.kernel == model.native.kernel
    assert repr(end_of(again)) == repr(end_of(model))


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_other_processes_give_the_same_bits(way):
    own = [pendulum_of_section_5(), ball()]
    with multiprocessing.get_context(way).Pool(1) as pool:
        found = pool.map(end_of, own)
    assert repr(found) == repr([end_of(model) for model in own])


def test_solutions_and_sweeps_can_be_pickled():
    solution = daedal.solve(MODELS / "bouncing-ball-rest.toml")
    again = pickle.loads(pickle.dumps(solution))
    assert np.array_equal(again.values, solution.values, equal_nan=True) and again.statistics == solution.statistics
    assert [s.t for s in again.switches] == [s.t for s in solution.switches]
    sweep = daedal.sweep(MODELS / "pendulum.toml", {"L": [1.0, 2.0]})
    assert np.array_equal(pickle.loads(pickle.dumps(sweep))["x"], sweep["x"])
    with pytest.raises(daedal.Stopped) as raised:
        daedal.solve(daedal.load(MODELS / "slider-crank.toml").set(l2=1.0), method="geoms")
    assert pickle.loads(pickle.dumps(raised.value)).t == raised.value.t
