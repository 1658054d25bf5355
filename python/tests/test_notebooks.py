"""The notebooks run, and results show their pages in them."""

import pytest
from conftest import ROOT

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
FOLDER = ROOT / "python" / "notebooks"


def outputs(name):
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code"), "notebooks are kept without their outputs"
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(FOLDER)}}).execute()
    return [output.data for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs if "data" in output]


@pytest.mark.parametrize("name", [pytest.param(path.stem, marks=() if path.stem == "pendulum" else pytest.mark.slow) for path in sorted(FOLDER.glob("*.ipynb"))])
def test_a_notebook_runs(name):
    shown = outputs(name)
    assert any("image/png" in data for data in shown)
    pages = [data["text/html"] for data in shown if "srcdoc" in data.get("text/html", "")]
    assert len(pages) == (0 if name == "double-pendulum" else 1)
