"""Every example of the chapters about Python runs, and the pairs of scripts give the same."""

import re
import shutil

import numpy as np
import pytest
from conftest import MODELS, ROOT


def blocks(chapter):
    text = (ROOT / "docs" / "src" / chapter).read_text()
    return re.findall(r"^```python(?:,file=(\S+))?\n(.*?)^```", text, re.M | re.S)


def run(code, folder, monkeypatch):
    monkeypatch.chdir(folder)
    shutil.copytree(MODELS, folder / "models", dirs_exist_ok=True)
    script = folder / "script.py"
    script.write_text(code)
    names = {"__name__": "__main__"}
    exec(compile(code, str(script), "exec"), names)
    return names


@pytest.mark.parametrize("number", range(len(blocks("python.md"))))
def test_examples_of_the_chapter_run(number, tmp_path, monkeypatch):
    run(blocks("python.md")[number][1], tmp_path, monkeypatch)


@pytest.mark.parametrize(("name", "tolerance"), [("robertson", 1e-6), ("pendulum", 1e-7), ("ball", 1e-9)])
def test_scripts_of_scipy_and_their_translations_agree(name, tolerance, tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    scripts = dict(blocks("scipy.md"))
    theirs, ours = (np.array(run(scripts[f"{name}-{which}.py"], tmp_path, monkeypatch)["result"]) for which in ("scipy", "daedal"))
    assert theirs.shape == ours.shape and len(ours) >= 3
    assert np.abs(theirs - ours).max() < tolerance


SWING = [-0.5479028464573241, -0.836541974111667, -0.7083260752818951, 0.4639263578152658, 8.923430228251462]
"""What `swing-casadi.py` printed with CasADi 3.8.2 and its IDAS; x² + y² − 1 is 3.6e-9 there."""


def test_the_translation_from_casadi_gives_its_numbers(tmp_path, monkeypatch):
    result = np.array(run(dict(blocks("scipy.md"))["swing-daedal.py"], tmp_path, monkeypatch)["result"])
    assert np.abs(result - SWING).max() < 1e-6
    assert abs(result[0] ** 2 + result[1] ** 2 - 1) < 1e-13


@pytest.mark.slow
def test_the_script_of_casadi_gives_the_numbers_that_are_kept(tmp_path, monkeypatch):
    pytest.importorskip("casadi")
    result = np.array(run(dict(blocks("scipy.md"))["swing-casadi.py"], tmp_path, monkeypatch)["result"])
    assert np.abs(result - SWING).max() < 1e-8
