"""The buttons with which an expert marks one item after another, by mouse or keyboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import streamlit as st

from domain.vocabulary import Choice
from ui import state

_Mark = TypeVar("_Mark", bound=Choice)


def show_mark_buttons(
    labels: Mapping[_Mark, str],
    *,
    present: _Mark | None,
    key: str,
    on_click: Callable[..., None],
    args: tuple[object, ...],
    kwargs: Mapping[str, Any],
) -> None:
    """Show one button per mark, with the keys 1, 2, 3 and so on.

    Args:
        labels: the marks with their texts.
        present: the mark that was given before.
        key: identifies the item and its latest mark.
        on_click: `ui.widgets.run_action`.
        args: the action that stores the mark, and its arguments.
        kwargs: further keyword arguments. The action gets the mark as ``mark``.
    """
    with st.container(horizontal=True):  # wraps, so that no label is cut off
        for number, (mark, label) in enumerate(labels.items(), start=1):
            st.button(
                label,
                key=f"{key}-{mark.value}",
                type="primary" if present is mark else "secondary",
                shortcut=str(number),
                on_click=on_click,
                args=args,
                kwargs={"mark": mark, **kwargs},
            )


def show_neighbour_buttons(
    selection: str,
    *,
    previous: object,
    following: object,
    key: str,
    shortcuts: tuple[str, str] = ("left", "right"),
) -> None:
    """Show the buttons that open the previous and the next item. A button without an item is disabled.

    Args:
        selection: the name of the selection that the buttons change.
        previous: the item before; None if there is none.
        following: the item after; None if there is none.
        key: identifies the item and its latest mark.
        shortcuts: the keys of both buttons.
    """
    for column, label, shortcut, item in zip(
        st.columns(2), ("Previous", "Next"), shortcuts, (previous, following), strict=True
    ):
        column.button(
            label,
            key=f"{key}-go-{shortcut}",
            shortcut=shortcut,
            disabled=item is None,
            width="stretch",
            on_click=state.set_selection,
            args=(selection, item),
        )
