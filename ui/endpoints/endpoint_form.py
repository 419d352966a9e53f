"""Language models: the table of endpoints, their test, and the form that adds or replaces one."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import streamlit as st

from domain.errors import InvalidValue
from domain.language_models import Call, DataUse, Endpoint, format_cost
from language_models import service as models
from language_models.families import find_family
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.tables import show_table
from ui.widgets import escape_markdown, format_relative_time, run_action, show_notice

#: What each kind of endpoint means, as shown to the admin.
DATA_USE_LABELS = {
    DataUse.LOCAL: "Local: the model runs on machines of the institution",
    DataUse.ZERO_RETENTION: "Zero retention: the provider does not keep, read or train on the data",
    DataUse.REMOTE: "Remote: the provider may keep or read the data",
}
_INPUT_PRICE, _OUTPUT_PRICE = "Input price (USD per million tokens)", "Output price (USD per million tokens)"


def show_endpoints(states: Sequence[models.EndpointState]) -> None:
    """Show the table of endpoints, with buttons to test and remove one."""
    show_table([_build_endpoint_row(endpoint_state) for endpoint_state in states])
    names = [endpoint_state.endpoint.name for endpoint_state in states]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Endpoint", names, key=f"endpoint-of-{len(names)}", width=320)
        st.button(
            "Test",
            key=f"test-{name}",
            help="Sends one short request that contains nothing of a dataset.",
            on_click=run_action,
            args=(_test_endpoint, name),
            kwargs={"notice_key": "endpoints"},
        )
        st.button(
            "Remove",
            key=f"remove-{name}",
            type="tertiary",
            on_click=run_action,
            args=(_remove_endpoint, name),
            kwargs={"notice_key": "endpoints"},
        )
    show_notice("endpoints")


def show_endpoint_form() -> None:
    """Show the form for an endpoint. It replaces an endpoint with the same name."""
    form_key = state.form_key("endpoint")
    with st.form(form_key, border=True):
        left, right = st.columns(2)
        left.text_input("Name", key=f"{form_key}-name", help="An endpoint of the same name is replaced.")
        right.text_input("Model", key=f"{form_key}-model", help="The name of the model on the server.")
        left.text_input("URL", key=f"{form_key}-url", placeholder="for example http://localhost:8000/v1")
        right.text_input(
            "Name of the API key",
            key=f"{form_key}-key",
            help="Empty if the server needs no key. The key itself is never entered here: it is in the "
            "server's environment variable OVERREAD_MODEL_KEY_<NAME>.",
        )
        left, _ = st.columns(2)
        left.text_input(
            "Model family",
            key=f"{form_key}-family",
            placeholder="for example qwen",
            help="Models of one family count once in a jury. Empty: taken from the name of the model.",
        )
        st.radio(
            "Use of data",
            list(DataUse),
            key=f"{form_key}-use",
            format_func=lambda use: DATA_USE_LABELS[use],
            help="Datasets permit kinds of endpoints. Nothing of a dataset is sent to others.",
        )
        left, middle, right = st.columns(3, vertical_alignment="bottom")
        left.text_input(
            _INPUT_PRICE, key=f"{form_key}-input", help="Empty: looked up by the name of the model."
        )
        middle.text_input(
            _OUTPUT_PRICE, key=f"{form_key}-output", help="Empty: looked up by the name of the model."
        )
        right.number_input("Concurrent requests", 1, 1000, 32, key=f"{form_key}-parallel")
        left, right = st.columns(2, vertical_alignment="bottom")
        left.number_input("Timeout (seconds)", 1, 86_400, 300, key=f"{form_key}-timeout")
        right.checkbox("The model can read images", key=f"{form_key}-images")
        st.form_submit_button(
            "Save endpoint",
            type="primary",
            on_click=run_action,
            args=(_save_endpoint, form_key),
            kwargs={"notice_key": "add-endpoint"},
        )
    show_notice("add-endpoint")


def _build_endpoint_row(endpoint_state: models.EndpointState) -> dict[str, object]:
    endpoint = endpoint_state.endpoint
    return {
        "Name": endpoint.name,
        "Model": endpoint.model,
        "Family": find_family(endpoint),
        "URL": endpoint.url,
        "Use of data": endpoint.data_use.value,
        "Images": "yes" if endpoint.accepts_images else "no",
        "USD per million tokens": _describe_price(endpoint),
        "Latest call": _describe_latest_call(endpoint_state.latest),
    }


def _describe_price(endpoint: Endpoint) -> str:
    if endpoint.price_input is not None:
        return f"{endpoint.price_input:f} in, {endpoint.price_output:f} out"
    return "free" if endpoint.data_use is DataUse.LOCAL else "by model name"


def _describe_latest_call(call: Call | None) -> str:
    if call is None:
        return "never called"
    when = format_relative_time(call.called_at, now=clock())
    return f"{when}: {call.failure.value if call.failure else f'answered in {call.seconds:.1f} s'}"


def _test_endpoint(name: str) -> str:
    person = current_person()
    with read_only_session() as db:
        endpoint = models.load_endpoint(db, by=person, name=name)
    call = models.make_test_call(endpoint, now=clock())
    with unit_of_work() as db:
        models.record_test_call(db, by=person, call=call)
    if call.failure is not None:
        raise InvalidValue(f"{name}: {call.failure.value}", call.error)
    tokens = call.usage.prompt_tokens + call.usage.completion_tokens
    cost = "price unknown" if call.cost_nanos is None else format_cost(call.cost_nanos)
    return f"{name} answered as {call.model} in {call.seconds:.1f} s with {tokens:,} tokens ({cost})."


def _remove_endpoint(name: str) -> str:
    with unit_of_work() as db:
        models.retire_endpoint(db, by=current_person(), name=name, now=clock())
    return f"Removed {name}. Its calls stay in the ledger."


def _save_endpoint(form_key: str) -> str:
    endpoint = Endpoint(
        name=_read_text(f"{form_key}-name"),
        url=_read_text(f"{form_key}-url"),
        model=_read_text(f"{form_key}-model"),
        data_use=DataUse(_read_text(f"{form_key}-use")),
        family=_read_text(f"{form_key}-family").lower() or None,
        key_name=_read_text(f"{form_key}-key") or None,
        price_input=_read_price(f"{form_key}-input", _INPUT_PRICE),
        price_output=_read_price(f"{form_key}-output", _OUTPUT_PRICE),
        max_parallel=int(_read_text(f"{form_key}-parallel")),
        timeout_seconds=int(_read_text(f"{form_key}-timeout")),
        accepts_images=bool(state.get_widget_value(f"{form_key}-images")),
    )
    with unit_of_work() as db:
        saved_endpoint = models.save_endpoint(db, by=current_person(), endpoint=endpoint, now=clock())
    state.clear_form("endpoint")
    return f"Saved {saved_endpoint.name}. Test it before the first run."


def _read_text(key: str) -> str:
    return str(state.get_widget_value(key) or "").strip()


def _read_price(key: str, label: str) -> Decimal | None:
    text = _read_text(key).removeprefix("$")
    if not text:
        return None
    try:
        return Decimal(text)
    except ArithmeticError as error:
        raise InvalidValue(label, f"must be a number of dollars, not {escape_markdown(text)}") from error
