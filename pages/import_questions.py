"""Import: hand in a question file and its images, look at what they would come in as, bring them in."""

from __future__ import annotations

import streamlit as st

from domain.errors import DomainError, Refused
from domain.exams import Exam
from domain.people import Action, Person
from domain.questions import Question, answer_text
from intake.service import FORMATS, Look, door_of, kept_of_a_header, look_at
from quality.service import list_datasets
from ui import state
from ui.context import reading, require_page
from ui.imports import runs
from ui.imports.deliveries import Delivery, allowed_folders, discard, on_this_machine, uploaded
from ui.imports.outcome import outcome, watch
from ui.navigation import ROOT
from ui.parts import act, empty_state, notices, plain, screen, table

_PLACES = {"upload": "On my computer", "machine": "On the machine that Overread runs on"}


def main() -> None:
    person = require_page(Action.IMPORT_QUESTIONS)
    st.title("Import")
    run = runs.latest_of(person)
    if run is not None and not run.done:
        watch(run)
    else:
        _page()


@screen
def _page() -> None:
    """All that can be clicked in one fragment, so that no click can overtake what it follows."""
    person = require_page(Action.IMPORT_QUESTIONS)
    run = runs.latest_of(person)
    delivery = state.chosen("delivery")
    if run is not None:
        if not run.done:
            st.rerun()  # it was started just now: the whole page watches it
        outcome(run, person)
    elif isinstance(delivery, Delivery):
        _look(delivery, person)
    else:
        _hand_in(person)
    _datasets(person)


def _hand_in(person: Person) -> None:
    st.markdown(
        "A question file (native, ReXVQA, GEMeX or VQA-RAD) and the images that it names: DICOM, PNG or JPEG."
    )
    form = state.form("hand-in")
    place = st.segmented_control(
        "Where they are", list(_PLACES), format_func=_PLACES.get, default="upload", key=f"{form}-place"
    )
    keys = (f"{form}-file", f"{form}-images")
    left, right = st.columns(2)
    if place == "machine":
        left.text_input("Question file", key=keys[0], placeholder="/data/questions.jsonl")
        right.text_input("Folder of images", key=keys[1], placeholder="/data/images (empty: questions alone)")
        st.caption(plain(f"Below {', '.join(str(each) for each in allowed_folders())}."))
    else:
        left.file_uploader("Question file, up to 200 MB", key=keys[0])
        right.file_uploader("Images as one zip, up to 200 MB (none: questions alone)", key=keys[1])
        st.caption("Larger ones: put them on the machine, or use the command line.")
    _what_is_kept(person)
    st.button(
        "Look at it",
        key=f"{form}-look",
        on_click=act,
        args=(_take, person, place == "machine", *keys),
        kwargs={"place": "hand-in"},
        type="primary",
    )
    notices("hand-in")


def _what_is_kept(person: Person) -> None:
    with reading() as db:
        deidentify = door_of(db, by=person).deidentify
    if deidentify:
        st.info(
            "This workspace de-identifies image files at the door: the originals are not kept, nowhere.",
            icon=":material/shield_person:",
        )
    with st.expander("What is kept of a DICOM header"):
        table([{"Attribute": name, "Kept as": what} for name, what in kept_of_a_header().items()])
        st.caption(
            "Nothing else of a header enters the database. "
            + (
                "The files that are kept have gone through DICOM's Basic Confidentiality Profile."
                if deidentify
                else "The original files are kept whole, with all that they say; the page Patient data "
                "changes that."
            )
        )


def _take(person: Person, on_machine: bool, file_key: str, images_key: str) -> None:
    file, images = state.field(file_key), state.field(images_key)
    if on_machine:
        delivery = on_this_machine(str(file or ""), str(images or ""))
    elif file is None:
        raise Refused("Choose a question file first.")
    else:
        with reading() as db:
            in_memory = door_of(db, by=person).deidentify
        delivery = uploaded(file, images, by=person, in_memory=in_memory)  # type: ignore[arg-type]  # what an uploader holds
    state.set_chosen("delivery", delivery)


def _look(delivery: Delivery, person: Person) -> None:
    st.subheader(plain(delivery.name))
    form = f"look-{delivery.id}"
    asked = st.selectbox(
        "Format", ["auto", *FORMATS], key=f"{form}-format", help="auto: recognised by itself"
    )
    try:
        look = look_at(
            by=person, path=delivery.path, file_format=asked, images=delivery.images, file_name=delivery.name
        )
    except DomainError as error:
        st.error(plain(str(error)))
        _another(delivery)
        return
    about = "" if look.counted else "about "
    st.markdown(f"**{plain(look.file_format)}** with {about}{look.records:,} records.")
    _pictures(look, delivery)
    if look.refusals:
        st.warning(f"Records that would be refused: {len(look.refusals):,} of the first {look.looked_at:,}.")
        table(
            [
                {"Record": each.record, "Field": each.field, "Reason": each.reason}
                for each in look.refusals[:20]
            ]
        )
    for column, (question, exam) in zip(st.columns(3), look.first, strict=False):
        with column:
            _question(question, exam)
    _begin(delivery, look, asked, person, form)


def _pictures(look: Look, delivery: Delivery) -> None:
    if delivery.images is None:
        st.warning("Without images: reviewers would see the questions alone.")
    elif look.missing:
        st.warning(f"Images that are not there: {len(look.missing):,} of the first {look.images:,}.")
        table([{"Missing image": each} for each in look.missing[:10]])
    else:
        st.markdown(f"The images of the first {look.looked_at:,} records are all there ({look.images:,}).")


def _question(question: Question, exam: Exam) -> None:
    with st.container(border=True):
        st.caption(
            plain(f"{question.id} · {question.format} · exam {exam.id} · images: {len(exam.radiographs)}")
        )
        st.markdown(f"**{plain(question.stem)}**")
        for place, option in enumerate(question.options):
            right = isinstance(question.answer, tuple) and place in question.answer
            st.markdown(f"{'✓' if right else '·'} {plain(option)}")
        if not question.options:
            st.markdown(f"Key: {plain(answer_text(question.answer, question.options))}")
        if question.explanation:
            st.caption(plain(question.explanation))


def _begin(delivery: Delivery, look: Look, asked: str, person: Person, form: str) -> None:
    left, middle, right = st.columns([2, 1, 2])
    dataset = left.text_input(
        "Dataset",
        value=delivery.name.partition(".")[0],
        key=f"{form}-dataset",
        help="a new one, or one to add to",
    )
    minimum = middle.number_input(
        "Shortest explanation",
        min_value=0,
        value=20,
        key=f"{form}-minimum",
        help="characters; for the checks",
    )
    skip_known = right.checkbox("Leave out records that are there already", key=f"{form}-known")
    skip_bad = right.checkbox("Leave out records that can't come in", key=f"{form}-bad")
    with reading() as db:
        always = door_of(db, by=person).deidentify
    deidentify = right.checkbox(
        "De-identify the images",
        value=always,
        disabled=always,
        key=f"{form}-deidentify-{always}",
        help="Keep them without their patient, and the originals not at all.",
    )
    wish = runs.Wish(
        delivery=delivery,
        file_format=asked,
        dataset=dataset,
        skip_known=skip_known,
        skip_bad=skip_bad,
        minimum_explanation=int(minimum),
        deidentify=deidentify,
    )
    go, back, _ = st.columns([1, 1, 2])
    go.button(
        f"Import {look.records:,} records",
        key=f"{form}-go",
        on_click=act,
        args=(_start, wish, person),
        kwargs={"place": "begin"},
        type="primary",
        width="stretch",
    )
    with back:
        _another(delivery)
    notices("begin")


def _start(wish: runs.Wish, person: Person) -> None:
    if not wish.dataset.strip():
        raise Refused("Give the dataset a name first.")
    runs.start(wish, person)
    state.set_chosen("delivery", None)


def _another(delivery: Delivery) -> None:
    st.button(
        "Choose another file",
        key=f"other-{delivery.id}",
        on_click=act,
        args=(_drop, delivery),
        kwargs={"place": "hand-in"},
        width="stretch",
    )


def _drop(delivery: Delivery) -> None:
    discard(delivery)
    state.set_chosen("delivery", None)


def _datasets(person: Person) -> None:
    with reading() as db:
        found = list_datasets(db, by=person)
    st.subheader("Datasets")
    if not found:
        empty_state("No dataset yet", "The first import makes one.")
        return
    table(
        [
            {
                "Dataset": each.name,
                "Questions": each.questions,
                "Exams": each.exams,
                "Images": each.images,
                "Problems": each.problems,
            }
            for each in found
        ]
    )
    st.page_link(ROOT / "pages/checks.py", label="See what the checks found", icon=":material/rule:")


main()
