"""The service packages import a module when one of its functions is first used."""

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Packages that import the names of their modules on first use.
PACKAGES = [
    ".".join(path.parent.relative_to(ROOT).parts)
    for path in ROOT.glob("*/*/__init__.py")
    if "import_on_use" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("package_name", PACKAGES)
def test_every_listed_name_of_a_package_can_be_imported(package_name):
    package = import_module(package_name)
    assert [name for name in package.__all__ if getattr(package, name, None) is None] == []


def test_a_name_that_a_package_does_not_list_raises_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'review.service' has no attribute 'no_such_name'"):
        import_module("review.service").no_such_name  # noqa: B018 - the access is the test
