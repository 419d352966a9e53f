"""GET and POST /sign-in: a plain HTML form outside Streamlit."""

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
from storage.unit_of_work import read_only_session, unit_of_work
from web.requests import is_from_own_page
from web.sign_in import cookies, oidc
from web.sign_in.browsers import client_address, describe_browser
from web.sign_in.html_pages import POLICY, sign_in_page
from web.sign_in.presence import find_present_person, sign_in_policy
from web.sign_in.provider_errors import PROBLEMS
from web.thread_limits import SAVES

EXPIRED_FORM_MESSAGE = "The form has expired, or cookies are disabled. Try again."

#: Limits concurrent password checks, each of which takes 64 MiB and all cores for a moment. If many people
#: sign in at once, they wait here and take no memory or threads from people who are already signed in.
_PASSWORD_CHECKS = asyncio.Semaphore(4)


async def show_sign_in(request: Request) -> Response:
    """Show the form. A person who is already signed in is redirected to the app."""
    if await SAVES.run(find_present_person, cookies.find_sign_in_token(request.cookies)):
        return RedirectResponse("/", status_code=303)
    if oidc.has_provider_answer(request):
        return await _sign_in_by_provider(request)
    problem = PROBLEMS.get(request.query_params.get("provider", ""), "")
    return await _sign_in_form_response(request, error=problem)


async def submit_sign_in(request: Request) -> Response:
    """Check name and password. If correct, set a new cookie and end the browser's previous sign-in."""
    form = await request.form(max_files=0, max_fields=10)
    name, password = form_field(form, "name"), form_field(form, "password")
    if not has_valid_form_token(request, form):
        return await _sign_in_form_response(request, name=name, error=EXPIRED_FORM_MESSAGE, status=403)
    try:
        async with _PASSWORD_CHECKS:
            person = await SAVES.run(_check_password, request, name, password)
        return await continue_sign_in(request, person, method="password", password=password)
    except accounts.TooManyAttempts as error:
        return await _sign_in_form_response(request, name=name, error=str(error), status=429)
    except NotSignedIn as error:
        return await _sign_in_form_response(request, name=name, error=str(error), status=401)
    except NotNow as error:
        return await _sign_in_form_response(request, name=name, error=str(error), status=503)


def has_valid_form_token(request: Request, form: FormData) -> bool:
    """Return whether the form contains the token of the cookie (protection against forged forms)."""
    sent_token, cookie_token = form_field(form, "form_token"), cookies.find_form_token(request.cookies)
    return (
        is_from_own_page(request)
        and cookie_token is not None
        and hmac.compare_digest(sent_token.encode(), cookie_token.encode())
    )


async def continue_sign_in(
    request: Request, person: Person, *, method: str, password: str | None = None
) -> Response:
    """After the first factor, redirect to the second factor if the person needs one; otherwise sign in."""
    token = cookies.generate_token()
    if not await SAVES.run(_begin_second_factor, person, token, method, password):
        return await start_sign_in(request, person, method=method, password=password)
    response = RedirectResponse("/sign-in/code", status_code=303)
    cookies.set_pending_cookie(response, token, tls=cookies.is_behind_tls(request))
    return response


async def start_sign_in(
    request: Request, person: Person, *, method: str, password: str | None = None
) -> Response:
    """Create a sign-in with its cookie, and redirect to the app."""
    token = cookies.generate_token()
    await SAVES.run(_begin_sign_in, request, person, token, method, password)
    response = RedirectResponse("/", status_code=303)
    cookies.set_sign_in_cookie(response, token, tls=cookies.is_behind_tls(request))
    return response


def _check_password(request: Request, name: str, password: str) -> Person:
    with unit_of_work() as db:
        attempt = accounts.begin_attempt(
            db,
            name=name,
            address=client_address(request),
            token=cookies.find_sign_in_token(request.cookies),
            now=datetime.now(UTC),
        )
    with read_only_session() as db:
        person = accounts.authenticate(db, name=name, password=password)
    with unit_of_work() as db:
        accounts.clear_attempt(db, attempt=attempt)
    return person


def _begin_second_factor(person: Person, token: str, method: str, password: str | None) -> bool:
    with unit_of_work() as db:
        return accounts.begin_second_factor(
            db,
            person=person,
            token=token,
            method=method,
            password=password,
            policy=sign_in_policy(),
            now=datetime.now(UTC),
        )


def _begin_sign_in(request: Request, person: Person, token: str, method: str, password: str | None) -> None:
    with unit_of_work() as db:
        accounts.start_sign_in(
            db,
            person=person,
            token=token,
            previous_token=cookies.find_sign_in_token(request.cookies),
            password=password,
            browser=describe_browser(request),
            method=method,
            now=datetime.now(UTC),
        )


async def _sign_in_by_provider(request: Request) -> Response:
    try:
        person = await SAVES.run(oidc.load_person_from_answer, request)
        response = await start_sign_in(request, person, method="provider")
    except NotSignedIn as error:
        response = await _sign_in_form_response(request, error=str(error), status=403)
    oidc.delete_provider_cookies(request, response)
    return response


async def _sign_in_form_response(
    request: Request, *, name: str = "", error: str = "", status: int = 200
) -> Response:
    previous_token = cookies.find_sign_in_token(request.cookies)
    demo_people, has_people, came_by_provider = await SAVES.run(_load_account_state, previous_token)
    if not has_people and not oidc.load_providers():
        return RedirectResponse("/first-admin", status_code=303)
    token = cookies.find_form_token(request.cookies) or cookies.generate_token()
    text = sign_in_page(
        form_token=token,
        name=name[:64],
        error=error,
        demo=demo_people,
        demo_password=accounts.DEMO_PASSWORD,
        providers=oidc.load_providers(),
        came_by_provider=came_by_provider,
    )
    return form_page_response(request, text, token, status=status)


def form_page_response(request: Request, text: str, token: str, *, status: int) -> Response:
    """Return a sign-in page with the cookie of its form.

    If the browser sends an expired sign-in, the response asks it to clear its cache, including radiographs.
    """
    response = HTMLResponse(text, status, headers={"Content-Security-Policy": POLICY})
    if cookies.find_sign_in_token(request.cookies) is not None:
        response.headers["Clear-Site-Data"] = '"cache"'
    cookies.set_form_cookie(response, token, tls=cookies.is_behind_tls(request))
    return response


def _load_account_state(previous_token: str | None) -> tuple[list[Person], bool, bool]:
    """Return the demo accounts, whether any account exists, and whether the last sign-in used a provider."""
    with read_only_session() as db:
        method = accounts.find_sign_in_method(db, token=previous_token)
        return accounts.list_demo_people(db), accounts.has_people(db), method == "provider"


def form_field(form: FormData, name: str) -> str:
    """Return a field of a form as text; empty if it is missing or a file."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


ROUTES = [
    Route("/sign-in", show_sign_in, methods=["GET"]),
    Route("/sign-in", submit_sign_in, methods=["POST"]),
    Route("/sign-in/provider", oidc.redirect_to_provider, methods=["GET"]),
    Route("/sign-in/provider/sign-out", oidc.redirect_to_provider_sign_out, methods=["GET"]),
]
