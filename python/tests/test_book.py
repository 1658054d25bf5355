"""Every example of the book in Python runs, those beside a model file give what it gives, and pairs of scripts give the same."""

import re
import shutil

import numpy as np
import pytest
from conftest import MODELS, ROOT

import daedal

BOOK = ROOT / "docs" / "src"


def blocks(chapter, language="python"):
    """The blocks of a chapter, each with what stands behind its language: `file=NAME`, `same=NAME`."""
    return re.findall(rf"^```{language}(?:,(\S+))?\n(.*?)^```", (BOOK / chapter).read_text(), re.M | re.S)


def examples():
    """Every block with this package in the book, but for pairs of scripts, which are compared."""
    for chapter in sorted(BOOK.glob("*.md")):
        for number, (about, code) in enumerate(blocks(chapter.name)):
            if "import daedal" in code and not about.startswith("file="):
                yield pytest.param(chapter.name, number, id=f"{chapter.stem}-{number}")


def run(code, folder, monkeypatch):
    monkeypatch.chdir(folder)
    shutil.copytree(MODELS, folder / "models", dirs_exist_ok=True)
    script = folder / "script.py"
    script.write_text(code)
    names = {"__name__": "__main__"}
    exec(compile(code, str(script), "exec"), names)
    return names


@pytest.mark.parametrize(("chapter", "number"), list(examples()))
def test_examples_of_the_book_run(chapter, number, tmp_path, monkeypatch):
    """Those beside a model file give what the file gives."""
    for about, text in blocks(chapter, "toml"):
        if about.startswith("file="):
            (tmp_path / about.removeprefix("file=")).write_text(text)
    about, code = blocks(chapter)[number]
    if "from distributed" in code:
        pytest.importorskip("distributed")
    model = run(code, tmp_path, monkeypatch).get("model")
    if about.startswith("same="):
        end = 0.03 if "andrews" in about else 2.0
        one, other = (daedal.solve(m, rtol=1e-9, atol=1e-9, tend=end, save="end") for m in (model, tmp_path / about.removeprefix("same=")))
        shared = [name for name in one.names if name in other.names]
        assert len(shared) >= len(one.names) / 2
        for name in shared:
            assert np.isclose(one.end[name], other.end[name], rtol=1e-5, atol=1e-5, equal_nan=True), name


def script(name):
    return dict(blocks("scipy.md"))[f"file={name}"]


@pytest.mark.parametrize(("name", "tolerance"), [("robertson", 1e-6), ("pendulum", 1e-7), ("ball", 1e-9)])
def test_scripts_of_scipy_and_their_translations_agree(name, tolerance, tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    theirs, ours = (np.array(run(script(f"{name}-{which}.py"), tmp_path, monkeypatch)["result"]) for which in ("scipy", "daedal"))
    assert theirs.shape == ours.shape and len(ours) >= 3
    assert np.abs(theirs - ours).max() < tolerance


SWING = [-0.5479028464573241, -0.836541974111667, -0.7083260752818951, 0.4639263578152658, 8.923430228251462]
"""What `swing-casadi.py` printed with CasADi 3.8.2 and its IDAS; x² + y² − 1 is 3.6e-9 there."""


def test_the_translation_from_casadi_gives_its_numbers(tmp_path, monkeypatch):
    result = np.array(run(script("swing-daedal.py"), tmp_path, monkeypatch)["result"])
    assert np.abs(result - SWING).max() < 1e-6
    assert abs(result[0] ** 2 + result[1] ** 2 - 1) < 1e-13


def test_the_script_of_casadi_gives_the_numbers_that_are_kept(tmp_path, monkeypatch):
    pytest.importorskip("casadi")
    result = np.array(run(script("swing-casadi.py"), tmp_path, monkeypatch)["result"])
    assert np.abs(result - SWING).max() < 1e-8
