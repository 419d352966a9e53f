"""The text size of charts."""

import json

from streamlit.testing.v1 import AppTest


def _show_faceted_chart() -> None:
    import altair as alt
    import pandas as pd

    from ui.chart import show_chart

    rows = pd.DataFrame({"reviewer": ["ravi", "rosa"], "week": [1, 2], "accepted": [50, 60]})
    show_chart(alt.Chart(rows).mark_point().encode(x="week", y="accepted").facet("reviewer:N", columns=2))


def test_facet_headers_have_the_size_of_axis_labels():
    app = AppTest.from_function(_show_faceted_chart, default_timeout=30).run()
    assert not app.exception
    [chart] = app.main.children.values()
    config = json.loads(chart.proto.spec)["config"]
    assert config["header"]["labelFontSize"] == config["axis"]["labelFontSize"] == 13
