"""The sign-in page as text: one self-contained HTML page that works without JavaScript."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import quote

from domain.people import Person

_FOLDER = Path(__file__).parent / "templates"
#: Nothing is loaded but the page itself; its one style sheet is inline.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A sign-in provider of the secrets file: ``name`` is its section, ``shown`` is on the button."""

    name: str
    shown: str


def page(
    *,
    form_token: str,
    name: str = "",
    error: str = "",
    demo: Sequence[Person] = (),
    demo_password: str = "",
    providers: Sequence[Provider] = (),
    anybody: bool = True,
) -> str:
    """The page. Every value from outside is escaped.

    Args:
        form_token: comes back with the form (against forged forms).
        name: what was typed before, after a wrong password.
        error: why the last try failed, empty when there was none.
        demo: people of a demo workspace; each gets a button that signs in.
        demo_password: their password, shown as what it is.
        providers: others who can say who somebody is.
        anybody: whether there are accounts; without any, the page says how to make the first.
    """
    return _template("sign_in.html").substitute(
        form_token=escape(form_token),
        name=escape(name),
        focus_name="" if name else "autofocus",
        focus_password="autofocus" if name else "",
        error=f'<p class="error" role="alert">{escape(error)}</p>' if error else "",
        providers=_providers(providers),
        demo=_demo(demo, demo_password, form_token),
        first="" if anybody else _template("first_admin.html").substitute(),
    )


def _providers(providers: Sequence[Provider]) -> str:
    return "".join(
        _template("provider.html").substitute(name=quote(each.name), shown=escape(each.shown))
        for each in providers
    )


def _demo(people: Sequence[Person], password: str, form_token: str) -> str:
    if not people:
        return ""
    rows = "".join(
        _template("demo_person.html").substitute(
            name=escape(each.name),
            display_name=escape(each.display_name),
            roles=escape(", ".join(sorted(each.roles))),
            password=escape(password),
            form_token=escape(form_token),
        )
        for each in people
    )
    return _template("demo.html").substitute(rows=rows, password=escape(password))


@lru_cache(maxsize=8)
def _template(name: str) -> Template:
    return Template((_FOLDER / name).read_text(encoding="utf-8"))
