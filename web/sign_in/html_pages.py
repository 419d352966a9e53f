"""The HTML pages outside Streamlit: sign-in, first admin, errors. Self-contained and without JavaScript."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import quote

from domain.people import Person

_FOLDER = Path(__file__).parent / "templates"


def _style_hash() -> str:
    """The hash of these pages' style sheet, as a policy lists it."""
    [style] = re.findall(r"<style>(.*?)</style>", (_FOLDER / "frame.html").read_text("utf-8"), re.DOTALL)
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


#: Nothing except the page itself is loaded; only its one inline style sheet is permitted.
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_style_hash()}'; img-src data:; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A sign-in provider of the secrets file: ``name`` is its section, ``shown`` is its button's text."""

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
) -> str:
    """The sign-in page. Every value from outside is escaped.

    Args:
        form_token: is sent back with the form (protection against forged forms).
        name: the name as typed, after a wrong password.
        error: why the last attempt failed; empty if there was none.
        demo: people of a demo workspace; each gets a button that signs in.
        demo_password: their password, which the page shows.
        providers: OpenID Connect providers on offer.
    """
    main = _template("sign_in.html").substitute(
        form_token=escape(form_token),
        name=escape(name),
        focus_name="" if name else "autofocus",
        focus_password="autofocus" if name else "",
        error=_error(error),
        providers=_providers(providers),
        demo=_demo(demo, demo_password, form_token),
    )
    return _template("frame.html").substitute(title="Sign in", main=main)


def first_admin_page(
    *,
    form_token: str,
    anybody: bool,
    code: str = "",
    name: str = "",
    display_name: str = "",
    error: str = "",
) -> str:
    """The page that an app without an admin shows to everybody. Every value from outside is escaped.

    ``anybody`` states whether there are any accounts; the others are the values as typed, and the error.
    """
    why = (
        "Nobody here can give accounts and roles: there is no admin. Whoever runs this server can become one."
        if anybody
        else "Nobody has an account yet. Whoever runs this server becomes the first admin."
    )
    main = _template("first_admin.html").substitute(
        form_token=escape(form_token),
        why=escape(why),
        error=_error(error),
        code=escape(code),
        name=escape(name),
        display_name=escape(display_name),
    )
    return _template("frame.html").substitute(title="First admin", main=main)


def trouble_page(*, text: str, what_next: str) -> str:
    """The page shown if a page cannot be displayed."""
    main = _template("trouble.html").substitute(text=escape(text), what_next=escape(what_next))
    return _template("frame.html").substitute(title="Not now", main=main)


def _error(text: str) -> str:
    return f'<p class="error" role="alert">{escape(text)}</p>' if text else ""


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


@lru_cache(maxsize=16)
def _template(name: str) -> Template:
    return Template((_FOLDER / name).read_text(encoding="utf-8"))
