"""GET and POST /sign-in: a plain HTML form on a route of its own, outside Streamlit."""

from __future__ import annotations

import asyncio
import hmac
from datetime import UTC, datetime

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from accounts import service as accounts
from domain.errors import NotNow, NotSignedIn
from domain.people import Person
from storage.unit_of_work import reading, unit_of_work
from web.requests import from_our_page
from web.sign_in import cookies, oidc
from web.sign_in.browsers import address_of, browser_of
from web.sign_in.html_pages import POLICY, page
from web.sign_in.presence import person_present
from web.thread_limits import SAVES

EXPIRED = "This form was open for too long, or cookies are switched off. Please try again."

#: Limits concurrent password checks: each takes 64 MiB and all cores for a moment. Many people who sign in at
#: nine o'clock then wait in a separate queue and take no memory or threads from people already at work.
_LINE = asyncio.Semaphore(4)


async def show(request: Request) -> Response:
    """The form; a person who is already signed in is redirected to the app."""
    if await SAVES.run(person_present, cookies.sign_in_token(request.cookies)):
        return RedirectResponse("/", status_code=303)
    if oidc.came_back(request):
        return await _from_provider(request)
    return await _form(request)


async def sign_in(request: Request) -> Response:
    """Check name and password. If correct, set a new cookie and end the browser's previous sign-in."""
    form = await request.form(max_files=0, max_fields=10)
    name, password = field(form, "name"), field(form, "password")
    if not came_from_our_form(request, form):
        return await _form(request, name=name, error=EXPIRED, status=403)
    try:
        async with _LINE:
            person = await SAVES.run(_checked, request, name, password)
        return await let_in(request, person, way="password", password=password)
    except accounts.TooManyWrong as error:
        return await _form(request, name=name, error=str(error), status=429)
    except NotSignedIn as error:
        return await _form(request, name=name, error=str(error), status=401)
    except NotNow as error:
        return await _form(request, name=name, error=str(error), status=503)


def came_from_our_form(request: Request, form: FormData) -> bool:
    """Whether the form contains the token of this browser's cookie (protection against forged forms)."""
    sent, kept = field(form, "form_token"), cookies.form_token(request.cookies)
    return from_our_page(request) and kept is not None and hmac.compare_digest(sent.encode(), kept.encode())


async def let_in(request: Request, person: Person, *, way: str, password: str | None = None) -> Response:
    """Create a sign-in with its cookie, and redirect to the app."""
    token = cookies.new_token()
    await SAVES.run(_begin, request, person, token, way, password)
    response = RedirectResponse("/", status_code=303)
    cookies.keep_sign_in(response, token, tls=cookies.behind_tls(request))
    return response


def _checked(request: Request, name: str, password: str) -> Person:
    with unit_of_work() as db:
        attempt = accounts.begin_attempt(
            db,
            name=name,
            address=address_of(request),
            token=cookies.sign_in_token(request.cookies),
            now=datetime.now(UTC),
        )
    with reading() as db:
        person = accounts.check_password(db, name=name, password=password)
    with unit_of_work() as db:
        accounts.attempt_was_right(db, attempt=attempt)
    return person


def _begin(request: Request, person: Person, token: str, way: str, password: str | None) -> None:
    with unit_of_work() as db:
        accounts.begin_sign_in(
            db,
            person=person,
            token=token,
            replaces=cookies.sign_in_token(request.cookies),
            password=password,
            browser=browser_of(request),
            way=way,
            now=datetime.now(UTC),
        )


async def _from_provider(request: Request) -> Response:
    try:
        person = await SAVES.run(oidc.person_who_came_back, request)
        response = await let_in(request, person, way="provider")
    except NotSignedIn as error:
        response = await _form(request, error=str(error), status=403)
    oidc.forget(request, response)
    return response


async def _form(request: Request, *, name: str = "", error: str = "", status: int = 200) -> Response:
    demo, anybody = await SAVES.run(_who_is_there)
    if not anybody and not oidc.providers():
        return RedirectResponse("/first-admin", status_code=303)
    token = cookies.form_token(request.cookies) or cookies.new_token()
    text = page(
        form_token=token,
        name=name[:64],
        error=error,
        demo=demo,
        demo_password=accounts.DEMO_PASSWORD,
        providers=oidc.providers(),
    )
    return form_answer(request, text, token, status=status)


def form_answer(request: Request, text: str, token: str, *, status: int) -> Response:
    """A sign-in page, with the cookie of its form.

    If the browser sends an expired sign-in, it is asked to clear its cache of the app, including radiographs.
    """
    response = HTMLResponse(text, status, headers={"Content-Security-Policy": POLICY})
    if cookies.sign_in_token(request.cookies) is not None:
        response.headers["Clear-Site-Data"] = '"cache"'
    cookies.keep_form_token(response, token, tls=cookies.behind_tls(request))
    return response


def _who_is_there() -> tuple[list[Person], bool]:
    with reading() as db:
        return accounts.demo_people(db), accounts.any_people(db)


def field(form: FormData, name: str) -> str:
    """A field of a form as text; empty if it is missing or a file."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


ROUTES = [
    Route("/sign-in", show, methods=["GET"]),
    Route("/sign-in", sign_in, methods=["POST"]),
    Route("/sign-in/provider", oidc.to_provider, methods=["GET"]),
]
