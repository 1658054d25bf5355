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
