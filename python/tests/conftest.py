"""Where things are, and models that several tests use."""

from pathlib import Path

import numpy as np
import pytest

import daedal

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"


def pendulum_of_section_5() -> daedal.Model:
    """The pendulum of `models/pendulum.toml`, written in Python with the operations of the file."""
    return daedal.motion(
        "pendulum",
        time=(0, 5),
        solve={"h0": 0.01},
        parameters={"m": 1.0, "L": 1.0, "g": 13.75, "v0": 2.8},
        positions=["x", "y"],
        velocities=["vx", "vy"],
        mass=lambda m: [m, m],
        forces=lambda m, g: [0, -m * g],
        holonomic={"rod": lambda x, y, L: x**2 + y**2 - L**2},
        invariants={"energy": lambda y, vx, vy, m, g: 0.5 * m * (vx**2 + vy**2) + m * g * y},
        guess={"x": 0.0, "y": lambda L: -L, "vx": lambda v0: v0, "vy": 0.0},
        output={"angle": lambda x, y: np.arctan2(x, -y), "tension": lambda lam, L: 2 * L * lam["rod"]},
    )


@pytest.fixture
def pendulum() -> daedal.Model:
    return pendulum_of_section_5()


def ball() -> daedal.Model:
    """A ball that bounces and comes to rest."""
    flight = daedal.motion(
        "flight", positions=["y"], velocities=["v"], parameters={"m": 0.5, "g": 9.81, "e": 0.7}, mass=lambda m: [m], forces=lambda m, g: [-m * g]
    )
    return daedal.hybrid(
        "ball",
        time=(0, 4),
        start="flight",
        fix={"y": 1, "v": 0},
        modes={"flight": flight, "rest": flight.add(holonomic={"floor": lambda y: -y})},
        transitions=[
            daedal.Transition("flight", "flight", when=lambda y: y <= 0, set={"y": 0, "v": lambda v, e: -e * v}, after_accumulation="rest")
        ],
        output={"energy": lambda y, v, m, g: m * v**2 / 2 + m * g * y},
    )


LONG = """
[model]
name = "long"
time = [0, 1e9]
[motion]
positions = ["x", "y"]
velocities = ["vx", "vy"]
mass = [1, 1]
forces = [0, "-9.81"]
holonomic = { rod = "x^2 + y^2 - 1" }
[initial]
fix = { x = 1, vx = 0 }
guess = { y = 0, vy = 0 }
"""
"""A run that nobody waits for."""
