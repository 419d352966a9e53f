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


def _hash_style_sheet() -> str:
    """Return the hash of the style sheet of these pages, for the Content-Security-Policy."""
    [style] = re.findall(r"<style>(.*?)</style>", (_FOLDER / "frame.html").read_text("utf-8"), re.DOTALL)
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


#: Nothing except the page itself is loaded; only its one inline style sheet is permitted.
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_hash_style_sheet()}'; img-src data:; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A sign-in provider of the secrets file. ``name`` is its section, ``label`` the text of its button."""

    name: str
    label: str


def sign_in_page(
    *,
    form_token: str,
    name: str = "",
    error: str = "",
    demo: Sequence[Person] = (),
    demo_password: str = "",
    providers: Sequence[Provider] = (),
    came_by_provider: bool = False,
) -> str:
    """The sign-in page. Every value from outside is escaped.

    Args:
        form_token: the token that the form sends back (protection against forged forms).
        name: the entered name, after a wrong password.
        error: the reason why the last attempt failed; empty if there was none.
        demo: the people of a demo workspace; the page has a sign-in button for each.
        demo_password: the password of the demo people, shown on the page.
        providers: the OpenID Connect providers to choose from.
        came_by_provider: whether this browser last signed in with a provider; the page then offers to sign
            out of the provider too.
    """
    main = _load_template("sign_in.html").substitute(
        form_token=escape(form_token),
        name=escape(name),
        focus_name="" if name else "autofocus",
        focus_password="autofocus" if name else "",
        error=_error_html(error),
        providers=_providers_html(providers)
        + (_provider_sign_out_html(providers) if came_by_provider else ""),
        demo=_demo_html(demo, demo_password, form_token),
    )
    return _load_template("frame.html").substitute(title="Sign in", main=main)


def code_page(*, form_token: str, display_name: str, error: str = "") -> str:
    """The page that asks for the code of an authenticator app. Every value from outside is escaped."""
    main = _load_template("code.html").substitute(
        form_token=escape(form_token), display_name=escape(display_name), error=_error_html(error)
    )
    return _load_template("frame.html").substitute(title="Enter code", main=main)


def setup_page(*, form_token: str, display_name: str, secret: str, qr_code: str, error: str = "") -> str:
    """The page that sets up an authenticator app. ``qr_code`` is SVG. Every value from outside is escaped."""
    image = base64.b64encode(qr_code.encode()).decode()
    main = _load_template("setup.html").substitute(
        form_token=escape(form_token),
        display_name=escape(display_name),
        secret=escape(secret),
        qr_code=f"data:image/svg+xml;base64,{image}",
        error=_error_html(error),
    )
    return _load_template("frame.html").substitute(title="Set up an authenticator app", main=main)


def recovery_codes_page(codes: Sequence[str]) -> str:
    """The page that shows new recovery codes once."""
    main = _load_template("recovery_codes.html").substitute(
        codes="".join(f"<li>{escape(code)}</li>" for code in codes)
    )
    return _load_template("frame.html").substitute(title="Recovery codes", main=main)


def first_admin_page(
    *,
    form_token: str,
    has_people: bool,
    code: str = "",
    name: str = "",
    display_name: str = "",
    error: str = "",
) -> str:
    """The page that an app without an admin shows to everybody. Every value from outside is escaped.

    ``has_people`` states whether there are any accounts. The other arguments are as for :func:`sign_in_page`.
    """
    reason = (
        "This installation has no admin. The server's administrator can become the first admin."
        if has_people
        else "There are no accounts yet. The server's administrator becomes the first admin."
    )
    main = _load_template("first_admin.html").substitute(
        form_token=escape(form_token),
        why=escape(reason),
        error=_error_html(error),
        code=escape(code),
        name=escape(name),
        display_name=escape(display_name),
    )
    return _load_template("frame.html").substitute(title="First admin", main=main)


def error_page(*, text: str, next_step: str) -> str:
    """The page that replaces a page that cannot be shown."""
    main = _load_template("trouble.html").substitute(text=escape(text), what_next=escape(next_step))
    return _load_template("frame.html").substitute(title="Error", main=main)


def _error_html(text: str) -> str:
    return f'<p class="error" role="alert">{escape(text)}</p>' if text else ""


def _providers_html(providers: Sequence[Provider]) -> str:
    return "".join(
        _load_template("provider.html").substitute(name=quote(provider.name), shown=escape(provider.label))
        for provider in providers
    )


def _provider_sign_out_html(providers: Sequence[Provider]) -> str:
    links = " ".join(
        f'<a href="/sign-in/provider/sign-out?name={quote(provider.name)}">Sign out of '
        f"{escape(provider.label)}</a>"
        for provider in providers
    )
    return (
        '<p class="hint">You are signed out of Overread, but may still be signed in at the provider. On a '
        f"shared computer, sign out there too: {links}</p>"
    )


def _demo_html(people: Sequence[Person], password: str, form_token: str) -> str:
    if not people:
        return ""
    rows = "".join(
        _load_template("demo_person.html").substitute(
            name=escape(person.name),
            display_name=escape(person.display_name),
            roles=escape(", ".join(sorted(person.roles))),
            password=escape(password),
            form_token=escape(form_token),
        )
        for person in people
    )
    return _load_template("demo.html").substitute(rows=rows, password=escape(password))


@lru_cache(maxsize=16)
def _load_template(name: str) -> Template:
    return Template((_FOLDER / name).read_text(encoding="utf-8"))
