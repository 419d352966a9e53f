"""In-context examples of a prompt: written from a radiograph and report, and saved in the next version."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence

import streamlit as st

from browsing.service import list_browsable_datasets
from domain.count_texts import count_text
from domain.errors import NotFound
from domain.people import Person
from language_models import service as models
from language_models.prompts import parse_prompt, read_exam_variables
from release import service as release
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.dataset_choice import choose_dataset
from ui.layout import responsive_columns
from ui.questions.radiographs import show_radiographs
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_empty_state, show_notice

_WRITTEN_NOTICE, _SAVED_NOTICE, _CORRECTED_NOTICE = "prompt-example", "prompt-examples", "prompt-corrections"
_MAX_TABLE_TEXT = 160


def show_examples(versions: Sequence[models.PromptVersion]) -> None:
    """Show an exam, the fields of an example that is written from it, and the examples so far."""
    newest, person = versions[0], current_person()
    with read_only_session() as db:
        datasets = list_browsable_datasets(db, by=person)
        examples = models.list_examples(db, by=person, prompt=newest.name)
    if datasets:
        left, right = responsive_columns(1, 1, name="prompt-example")
        with left:
            source = _choose_source(person, datasets)
        if source is not None:
            with right:
                _show_fields(newest, source)
    else:
        show_empty_state(
            "No dataset yet",
            "Examples are written from the radiographs and reports of a dataset. Import one first.",
            page="pages/import_questions.py",
            label="Import",
        )
    st.subheader("Written examples")
    if datasets:
        _show_corrections(newest, datasets)
    if examples:
        _show_written_examples(newest, examples)
    else:
        st.caption("None yet.")
    show_notice(_SAVED_NOTICE)


def _choose_source(person: Person, datasets: Sequence[str]) -> models.ExampleSource | None:
    dataset = choose_dataset(person, datasets, key=f"example-dataset-{len(datasets)}")
    chosen_exam = state.get_selection(_make_selection_name(dataset))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        exam = st.text_input(
            "Exam",
            str(chosen_exam or ""),
            key=f"example-exam-{dataset}-{chosen_exam}",
            placeholder="Id in the file",
        ).strip()
        st.button(
            "Draw at random",
            key=f"example-draw-{dataset}",
            on_click=run_action,
            args=(_draw_exam, dataset),
            kwargs={"notice_key": "example-draw", "seed": secrets.randbits(32)},
        )
    show_notice("example-draw")
    if not exam:
        st.caption("Enter the id of an exam, or draw one that has a report.")
        return None
    try:
        with read_only_session() as db:
            source = models.load_example_source(db, by=person, dataset=dataset, exam=exam)
    except NotFound as error:
        st.error(escape_markdown(str(error)))
        return None
    _show_exam(source)
    return source


def _show_exam(source: models.ExampleSource) -> None:
    exam = source.exam
    with st.container(border=True):
        if exam.indication:
            st.caption(escape_markdown(f"Indication: {exam.indication}"))
        st.markdown(escape_markdown(exam.report) if exam.report else "This exam has no report.")
    show_radiographs(source.number, exam)


def _show_fields(version: models.PromptVersion, source: models.ExampleSource) -> None:
    prompt, exam = parse_prompt(version.content), source.exam
    fields, known_values = models.list_example_fields(version), read_exam_variables(exam)
    form_key = state.form_key(f"example-{version.name}-{source.dataset}-{exam.id}")
    images = [radiograph.id for radiograph in exam.radiographs if radiograph.sha256 is not None]
    with st.form(form_key, border=True):
        for name in fields:
            st.text_area(name, known_values.get(name, ""), key=f"{form_key}-variable-{name}", height=140)
        if images:
            st.multiselect(
                "Radiographs in the example",
                images,
                key=f"{form_key}-images",
                help="For endpoints that accept images only.",
            )
        st.text_area("Reply", _make_skeleton(prompt.schema), key=f"{form_key}-reply", height=200)
        st.form_submit_button(
            "Add example",
            type="primary",
            on_click=run_action,
            args=(_add_example, version.name, source.dataset, exam.id, fields, form_key),
            kwargs={"notice_key": _WRITTEN_NOTICE},
        )
    show_notice(_WRITTEN_NOTICE)
    st.caption(
        escape_markdown(
            f"A run with this example sends text of dataset {source.dataset}, so it needs an endpoint to "
            "which this dataset may be sent."
        )
    )


def _make_skeleton(schema: object) -> str:
    """Return a JSON object with the properties of the schema, to be filled in; "" without a schema."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not properties:
        return ""
    empty_values = {"array": [], "integer": 0, "number": 0, "boolean": False, "object": {}}
    values = {
        name: empty_values.get(str(property_schema.get("type")), "")
        for name, property_schema in properties.items()
    }
    return json.dumps(values, indent=2, ensure_ascii=False)


def _show_written_examples(newest: models.PromptVersion, examples: Sequence[models.PromptExample]) -> None:
    examples_in_version = parse_prompt(newest.content).examples
    is_contained = {
        example.id: models.to_prompt_example(example) in examples_in_version for example in examples
    }
    show_table(
        [
            {
                "Example": example.id,
                "Exam": example.exam,
                "Dataset": example.dataset,
                "Reply": example.reply[:_MAX_TABLE_TEXT],
                "Written by": example.written_by or "command line",
                "Newest version": "contains it" if is_contained[example.id] else "",
            }
            for example in examples
        ],
        visible_rows=8,
    )
    key = f"examples-{newest.label}-{len(examples)}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.selectbox("Example", [example.id for example in examples], key=f"{key}-one", width=160)
        st.button(
            "Remove example",
            key=f"{key}-remove-{number}",
            on_click=run_action,
            args=(_remove_example, number),
            kwargs={"notice_key": _SAVED_NOTICE},
        )
    new_ids = [example.id for example in examples if not is_contained[example.id]]
    if not new_ids:
        st.caption(escape_markdown(f"{newest.label} contains all of them."))
        return
    with st.form(f"{key}-form", border=True):
        st.multiselect(
            f"Add to {escape_markdown(newest.label)}", new_ids, default=new_ids, key=f"{key}-chosen"
        )
        st.text_input("Note", f"Add {count_text(len(new_ids), 'example')}", key=f"{key}-note", max_chars=300)
        st.form_submit_button(
            "Save as next version",
            type="primary",
            on_click=run_action,
            args=(_save_next_version, newest.label, key),
            kwargs={"notice_key": _SAVED_NOTICE},
        )


def _show_corrections(newest: models.PromptVersion, datasets: Sequence[str]) -> None:
    """Show the button that adds examples made from the replies that experts corrected."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dataset = st.selectbox(
            "Questions of", datasets, key=f"corrections-{newest.name}-{len(datasets)}", width=260
        )
        st.button(
            f"Add corrected replies of {newest.label}",
            key=f"corrections-{newest.label}-{dataset}",
            help="Adds an example for each reply of which experts corrected or rejected a question, with the "
            "accepted questions as corrected.",
            on_click=run_action,
            args=(_add_corrections, newest.label, dataset),
            kwargs={"notice_key": _CORRECTED_NOTICE},
        )
    show_notice(_CORRECTED_NOTICE)


def _add_corrections(label: str, dataset: str) -> str:
    with unit_of_work() as db:
        result = release.add_corrected_examples(
            db, by=current_person(), prompt=label, dataset=dataset, now=clock()
        )
    text = f"Added {count_text(result.added, 'example')}, {result.known:,} stored before."
    return " ".join([text, *(f"Not usable: {reason}" for reason in result.unusable)])


def _draw_exam(dataset: str, *, seed: int) -> None:
    with read_only_session() as db:
        source = models.draw_example_source(db, by=current_person(), dataset=dataset, seed=seed)
    state.set_selection(_make_selection_name(dataset), source.exam.id)


def _add_example(prompt: str, dataset: str, exam: str, fields: Sequence[str], form_key: str) -> str:
    images = state.get_widget_value(f"{form_key}-images")
    with unit_of_work() as db:
        number = models.save_example(
            db,
            by=current_person(),
            prompt=prompt,
            dataset=dataset,
            exam=exam,
            variables={name: _read_text(f"{form_key}-variable-{name}") for name in fields},
            reply=_read_text(f"{form_key}-reply"),
            radiographs=[str(image) for image in images] if isinstance(images, list) else (),
            now=clock(),
        )
    state.clear_form(f"example-{prompt}-{dataset}-{exam}")
    return f"Added example {number}. It becomes part of the prompt with the next version."


def _remove_example(number: int) -> str:
    with unit_of_work() as db:
        models.remove_example(db, by=current_person(), example=number, now=clock())
    return f"Removed example {number}."


def _save_next_version(label: str, key: str) -> str:
    chosen_ids = state.get_widget_value(f"{key}-chosen")
    with unit_of_work() as db:
        version = models.export_examples(
            db,
            by=current_person(),
            prompt=label,
            examples=[int(number) for number in chosen_ids] if isinstance(chosen_ids, list) else (),
            note=_read_text(f"{key}-note"),
            now=clock(),
        )
    return f"Saved {version.label}."


def _read_text(key: str) -> str:
    return str(state.get_widget_value(key) or "")


def _make_selection_name(dataset: str) -> str:
    return f"example-exam-{dataset}"
