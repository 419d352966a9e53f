"""Each of the project's lints detects a planted offence and accepts the correct form."""

import pytest

from lints.__main__ import RULES, main
from lints.names import find_hidden_packages
from lints.source import SourceFile
from lints.wording import find_unclear_words

#: A function that writes, as a page contains it.
WRITING_FUNCTION = "def save():\n    with unit_of_work() as db:\n        add_person(db)\n"


def list_broken_rules(path: str, text: str) -> list[str]:
    source = SourceFile(path=path, text=text)
    return [offence.rule for rule in RULES for offence in rule(source)]


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        ("fixed-widget-key", "pages/review.py", 'st.radio("Key", options, key="key")\n'),
        ("fixed-widget-key", "ui/widgets.py", 'st.sidebar.text_area("Stem", key=f"stem")\n'),
        ("fixed-widget-key", "ui/plain.py", 'st_canvas(key="canvas")\n'),
        ("unsafe-html", "pages/review.py", "st.markdown(text, unsafe_allow_html=True)\n"),
        ("download-button", "pages/release.py", 'st.download_button("Gold", data)\n'),
        ("streamlit-outside-screens", "review/queue.py", "import streamlit as st\n"),
        ("streamlit-outside-screens", "web/gate.py", "import streamlit as st\n"),
        ("streamlit-outside-screens", "cli.py", "from streamlit.testing.v1 import AppTest\n"),
        ("page-opens-storage", "pages/import.py", "from storage.engine import unit_of_work\n"),
        ("page-opens-storage", "pages/import.py", "from sqlmodel import Session\n"),
        ("write-while-drawing", "pages/people.py", f"{WRITING_FUNCTION}save()\n"),
        ("write-while-drawing", "pages/people.py", "with unit_of_work() as db:\n    add_person(db)\n"),
        (
            "write-while-drawing",
            "pages/people.py",
            f'{WRITING_FUNCTION}def main():\n    if st.button("Save"):\n        save()\nmain()\n',
        ),
        (
            "write-while-drawing",
            "ui/batches/settings.py",
            f'{WRITING_FUNCTION}@page_fragment\ndef main():\n    if st.button("Save"):\n        save()\n',
        ),
        ("write-outside-action", "pages/people.py", f'{WRITING_FUNCTION}st.button("Save", on_click=save)\n'),
        ("write-outside-action", "pages/people.py", f"{WRITING_FUNCTION}run_action(save)\n"),
        (
            "write-outside-action",
            "ui/batches/settings.py",
            f'{WRITING_FUNCTION}def all_of_it():\n    save()\nst.button("Save", on_click=all_of_it)\n',
        ),
        (
            "draws-while-writing",
            "ui/releases/release_form.py",
            "def save():\n    st.progress(0)\n    with unit_of_work() as db:\n        add_person(db)\n",
        ),
        ("submit-without-action", "pages/people.py", 'st.form_submit_button("Add")\n'),
        ("plain-fragment", "pages/people.py", "@st.fragment\ndef main():\n    pass\n"),
        ("thread-of-its-own", "ui/imports/import_job.py", "threading.Thread(target=work).start()\n"),
        ("decoding-without-lock", "web/review/schemas.py", "msgspec.convert(payload, Request)\n"),
        ("decoding-without-lock", "jobs/encoding.py", "msgspec.json.decode(text, type=Job)\n"),
        ("decoding-without-lock", "intake/formats/gemex.py", "decoder = msgspec.json.Decoder(Record)\n"),
        ("reads-the-clock", "review/service.py", "moment = datetime.now(UTC)\n"),
        ("reads-the-clock", "storage/accounts/people.py", "moment = time.time()\n"),
        ("draws-by-chance", "sampling/draw.py", "import random\n"),
        ("draws-by-chance", "accounts/service.py", "from secrets import token_urlsafe\n"),
        ("draws-by-chance", "measures/agreement.py", "rng = np.random.default_rng()\n"),
        ("draws-by-chance", "intake/service.py", "identifier = uuid.uuid4()\n"),
        (
            "writes-without-record",
            "review/service/queue.py",
            "from storage.review.verdicts import add_skip\ndef skip(db, *, person, now):\n    add_skip(db)\n",
        ),
        (
            "writes-without-record",
            "accounts/service/people.py",
            (
                "from storage import people\ndef rename(db, *, by):\n    _put(db)\n"
                "def _put(db):\n    people.set_name(db)\n"
            ),
        ),
        ("unclear-name", "review/queue.py", "def told(event):\n    pass\n"),
        ("unclear-name", "review/queue.py", "for each in rows:\n    pass\n"),
        ("unclear-name", "review/queue.py", "said = 1\n"),
        ("vague-name", "review/utils.py", "x = 1\n"),
        ("vague-name", "common/dates.py", "x = 1\n"),
        ("exception-without-reason", "review/queue.py", "x = 1  # noqa\n"),
        ("exception-without-reason", "review/queue.py", "x = 1  # noqa: E501\n"),
        ("exception-without-reason", "review/queue.py", "x = 1  # type: ignore[assignment]\n"),
    ],
)
def test_a_planted_offence_is_found(rule, path, text):
    assert list_broken_rules(path, text) == [rule]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pages/review.py", 'st.radio("Key", options, key=f"key-{question.id}", index=None)\n'),
        ("pages/review.py", 'st.button("Next", key="next")\n'),
        ("pages/people.py", f'{WRITING_FUNCTION}st.button("Save", on_click=run_action, args=(save, name))\n'),
        (
            "pages/people.py",
            (
                f"{WRITING_FUNCTION}def button(action):\n    st.button('Go', on_click=run_action,"
                " args=(action,))\nbutton(save)\n"
            ),
        ),
        ("pages/people.py", 'st.form_submit_button("Add", on_click=run_action, args=(save,))\n'),
        ("pages/people.py", "@page_fragment\ndef main():\n    pass\n"),
        ("web/sign_in/routes.py", f"{WRITING_FUNCTION}save()\n"),
        (
            "ui/releases/release_form.py",
            (
                f"{WRITING_FUNCTION}def draw():\n    st.progress(0.0)\n    st.button('Go',"
                " on_click=run_action, args=(save,))\n"
            ),
        ),
        (
            "ui/imports/import_job.py",
            f"{WRITING_FUNCTION}work = save  # allow write-outside-action: a thread of its own\n",
        ),
        (
            "pages/check.py",
            'st.pills("Check", checks, key="check")  # allow fixed-widget-key: filters the whole page\n',
        ),
        ("jobs/service/worker.py", "threading.Thread(target=work).start()\n"),
        ("ui/plain.py", "import streamlit as st\n"),
        ("web/gate.py", "from streamlit.proto.ForwardMsg_pb2 import ForwardMsg\n"),
        ("tests/pages/test_review.py", "from streamlit.testing.v1 import AppTest\n"),
        ("ui/clock.py", "moment = datetime.now(UTC)\n"),
        ("measures/agreement.py", "rng = np.random.default_rng(seed)\n"),
        (
            "review/service/queue.py",
            (
                "from storage.review.verdicts import add_skip\ndef skip(db, *, person):\n    add_skip(db)\n"
                "    _note(db)\n"
                "def _note(db):\n    record_action(db)\n"
            ),
        ),
        (
            "review/service/queue.py",
            (
                "from storage.review.drafts import save_draft\n"
                "def keep(db, *, person):  # allow writes-without-record: a draft is no judgement yet\n"
                "    save_draft(db)\n"
            ),
        ),
        (
            "review/service/queue.py",
            "from storage.review.verdicts import last_skip\ndef look(db, *, by):\n    last_skip(db)\n",
        ),
        ("review/queue.py", "x = 1\n" * 1000),
        ("review/queue.py", "x = 1  # noqa: E501 - the address is one word\n"),
        ("review/queue.py", "x = 1  # type: ignore[assignment]  # SQLModel says column, means value\n"),
    ],
)
def test_correct_code_is_not_reported(path, text):
    assert list_broken_rules(path, text) == []


def test_an_allow_comment_without_a_reason_is_ignored():
    text = 'st.pills("Check", checks, key="check")  # allow fixed-widget-key:\n'
    assert list_broken_rules("pages/check.py", text) == ["fixed-widget-key"]


def test_the_command_prints_file_line_and_rule_and_fails(tmp_path, capsys):
    page = tmp_path / "pages" / "review.py"
    page.parent.mkdir()
    page.write_text('\nst.download_button("Gold", data)\n', encoding="utf-8")
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith("pages/review.py:2: download-button: ")


def test_the_command_skips_the_workspace_and_hidden_folders(tmp_path, capsys):
    for folder in ("workspace", ".venv"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "utils.py").write_text("x = 1  # noqa\n", encoding="utf-8")
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "own lints: nothing found\n"


def test_modules_that_import_each_other_are_found(tmp_path, capsys):
    (tmp_path / "intake").mkdir()
    (tmp_path / "intake" / "rows.py").write_text("from intake import writer\n", encoding="utf-8")
    (tmp_path / "intake" / "writer.py").write_text("from intake.rows import Row\n", encoding="utf-8")
    assert main([str(tmp_path)]) == 1
    assert "import-cycle: " in capsys.readouterr().out


def test_modules_that_import_one_way_are_not_reported(tmp_path, capsys):
    (tmp_path / "intake").mkdir()
    (tmp_path / "intake" / "rows.py").write_text("from intake import writer\n", encoding="utf-8")
    (tmp_path / "intake" / "writer.py").write_text("from domain.rows import Row\n", encoding="utf-8")
    assert main([str(tmp_path)]) == 0
    assert "nothing found" in capsys.readouterr().out


def list_hidden_packages(*paths: str) -> list[str]:
    return [
        offence.text.split("'")[1]
        for offence in find_hidden_packages(SourceFile(path=path, text="") for path in paths)
    ]


@pytest.mark.parametrize("path", ["ui/browsing/table.py", "ui/browsing.py", "pages/browsing/table.py"])
def test_a_ui_folder_named_like_a_package_is_found(path):
    assert list_hidden_packages("browsing/service.py", path) == [
        path.removesuffix(".py").removesuffix("/table")
    ]


def test_a_ui_folder_named_like_a_library_module_is_found():
    assert list_hidden_packages("browsing/service.py", "ui/statistics/charts.py") == ["ui/statistics"]


def test_a_hidden_package_is_reported_once():
    assert list_hidden_packages("browsing/service.py", "ui/browsing/one.py", "ui/browsing/two.py") == [
        "ui/browsing"
    ]


@pytest.mark.parametrize(
    "path", ["ui/finding/table.py", "pages/browsing.py", "pages/statistics.py", "ui/finding/browsing.py"]
)
def test_names_that_hide_no_package_are_not_reported(path):
    """A page's module is run by its path, and ui/ is on Streamlit's path, but the folders in it are not."""
    assert list_hidden_packages("browsing/service.py", path) == []


def test_the_command_finds_a_hidden_package(tmp_path, capsys):
    for path in ("browsing/service.py", "ui/browsing/table.py"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text("x = 1\n", encoding="utf-8")
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith("ui/browsing/table.py:1: hidden-package: ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The reviewer is told the reason.\n", ["told"]),
        ("Files are\nwritten anew, whoever asks.\n", ["anew", "whoever"]),
        ("`python -m told` and [a page](docs/rooms/anew.md), soldier, retold.\n", []),
        ("The form shows the reason.\n", []),
    ],
)
def test_an_unclear_word_in_a_document_is_reported(tmp_path, text, words):
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    assert [offence.text.split("'")[1] for offence in find_unclear_words(tmp_path)] == words
