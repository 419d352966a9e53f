"""A form's files stand under one hash, and none of them hides another."""

import pytest

from ui.form_files import FormFiles
from ui.judging.assets import FORM as JUDGING
from ui.reading.assets import FORM as READING
from ui.settling.assets import FORM as SETTLING


def form(folder, **shared: bytes) -> FormFiles:
    return FormFiles(
        name="reading",
        folder=folder,
        script="a.js",
        sheets=("a.css",),
        shared=lambda: {f"{name}.js": content for name, content in shared.items()},
    )


def test_other_content_has_another_address(tmp_path):
    (tmp_path / "a.js").write_bytes(b"1")
    before = form(tmp_path).address("a.js")
    assert form(tmp_path).address("a.js") == before
    assert form(tmp_path, shared=b"2").address("a.js") != before


def test_what_is_no_script_or_style_sheet_is_not_served(tmp_path):
    (tmp_path / "a.js").write_bytes(b"1")
    (tmp_path / "notes.txt").write_bytes(b"not for the browser")
    assert set(form(tmp_path, b=b"2").files) == {"a.js", "b.js"}


def test_an_own_file_with_the_name_of_a_shared_one_is_refused(tmp_path):
    (tmp_path / "a.js").write_bytes(b"1")
    with pytest.raises(ValueError, match=r"two files have one name: \['a.js'\]"):
        form(tmp_path, a=b"2").files  # noqa: B018 - asking for them is what is tested


@pytest.mark.parametrize("each", [JUDGING, READING, SETTLING], ids=lambda each: each.name)
def test_every_module_that_a_form_imports_is_served_with_it(each):
    for name, content in each.files.items():
        if name.endswith(".js") and name != "canvas.js":
            wanted = {part.split('"')[0] for part in content.decode().split('from "./')[1:]}
            assert wanted <= set(each.files), name
