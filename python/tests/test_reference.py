"""The reference has every public name, with what it is."""

import importlib.util

import pytest
from conftest import ROOT

import daedal

specification = importlib.util.spec_from_file_location("reference", ROOT / "python" / "reference.py")
reference = importlib.util.module_from_spec(specification)
specification.loader.exec_module(reference)
NAMES = [name for names in reference.GROUPS.values() for name in names]


def test_every_public_name_stands_in_it_once():
    assert sorted(NAMES) == sorted(daedal.__all__)


def test_the_page_is_what_the_docstrings_say():
    assert (ROOT / "docs" / "src" / "python-api.md").read_text() == reference.page(), "python python/reference.py > docs/src/python-api.md"


@pytest.mark.parametrize("name", NAMES)
def test_it_tells_what_everything_is(name):
    value = getattr(daedal, name)
    if isinstance(value, str):
        return
    assert reference.told(value), name
    if isinstance(value, type) and name not in ("Expr", "ExprArray", "Condition"):
        silent = [member for member, what in reference.own(value) if not reference.told(what)]
        assert not silent
