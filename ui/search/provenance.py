"""Shows the origin of a generated question: the facts, the report with the sentences used, and the calls."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from browsing.history_text import describe_call, describe_evidence, describe_origin
from domain.provenance import EvidenceKind, Provenance
from domain.questions import Source
from ui.widgets import escape_markdown


def show_provenance(provenance: Provenance, source: Source) -> None:
    """Show the origin of a question, with links to the calls of models."""
    with st.expander("Origin", expanded=True):
        title = describe_origin(provenance, source)
        st.markdown(escape_markdown(title[:1].upper() + title[1:]))
        lines = [f"- {escape_markdown(describe_evidence(evidence))}" for evidence in provenance.evidence]
        for call in provenance.calls:
            text = f"- {escape_markdown(describe_call(call))}"
            if call.run and call.request:
                query = urlencode({"run": call.run, "request": call.request})
                text += (
                    f" · [{escape_markdown(call.run)}: {escape_markdown(call.request)}](/model_runs?{query})"
                )
            lines.append(text)
        st.markdown("\n".join(lines) or "The file states no facts.")


def show_report(report: str, provenance: Provenance | None) -> None:
    """Show a report, and mark the sentences on which the question is based."""
    text = escape_markdown(report)
    for evidence in provenance.evidence if provenance else ():
        if evidence.kind is EvidenceKind.SENTENCE and evidence.text:
            sentence = escape_markdown(evidence.text)
            text = text.replace(sentence, f":blue-background[{sentence}]", 1)
    st.markdown(text)
