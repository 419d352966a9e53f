"""GET and POST /sign-in/code: the second factor, the code of an authenticator app."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from accounts import service as accounts
from domain.errors import NotNow, NotSignedIn
from storage.unit_of_work import unit_of_work
from web.sign_in import cookies
from web.sign_in.authenticator import (
    format_secret,
    generate_recovery_codes,
    generate_secret,
    render_qr_code,
)
from web.sign_in.browsers import describe_browser
from web.sign_in.html_pages import code_page, recovery_codes_page, setup_page
from web.sign_in.presence import find_present_person, sign_in_policy
from web.sign_in.routes import EXPIRED_FORM_MESSAGE, form_field, form_page_response, has_valid_form_token
from web.thread_limits import SAVES


async def show_code_form(request: Request) -> Response:
    """Show the form for the code, or the setup of an authenticator app if the person has none yet."""
    return await _second_factor_response(request)


async def submit_code(request: Request) -> Response:
    """Check the code. If correct, sign in; after a setup, show the recovery codes."""
    form = await request.form(max_files=0, max_fields=10)
    if not has_valid_form_token(request, form):
        return await _second_factor_response(request, error=EXPIRED_FORM_MESSAGE, status=403)
    token, recovery_codes = cookies.generate_token(), generate_recovery_codes()
    try:
        is_setup = await SAVES.run(_check_code, request, form_field(form, "code"), token, recovery_codes)
    except accounts.TooManyAttempts as error:
        return await _second_factor_response(request, error=str(error), status=429)
    except NotSignedIn as error:
        return await _second_factor_response(request, error=str(error), status=401)
    except NotNow as error:
        return await _second_factor_response(request, error=str(error), status=503)
    tls = cookies.is_behind_tls(request)
    response: Response = RedirectResponse("/", status_code=303)
    if is_setup:
        form_token = cookies.find_form_token(request.cookies) or cookies.generate_token()
        response = form_page_response(request, recovery_codes_page(recovery_codes), form_token, status=200)
    cookies.set_sign_in_cookie(response, token, tls=tls)
    cookies.delete_pending_cookie(response, tls=tls)
    return response


def _check_code(request: Request, code: str, token: str, recovery_codes: list[str]) -> bool:
    now = datetime.now(UTC)
    pending_token = cookies.find_pending_token(request.cookies) or ""
    with unit_of_work() as db:
        person = accounts.load_pending_person(db, token=pending_token, now=now)
        attempt = accounts.begin_code_attempt(db, person_id=person.id, now=now)
    with unit_of_work() as db:
        is_setup = accounts.finish_second_factor(
            db,
            pending_token=pending_token,
            code=code,
            new_recovery_codes=recovery_codes,
            token=token,
            previous_token=cookies.find_sign_in_token(request.cookies),
            browser=describe_browser(request),
            now=now,
        )
        accounts.clear_attempt(db, attempt=attempt)
    return is_setup


async def _second_factor_response(request: Request, *, error: str = "", status: int = 200) -> Response:
    """Return the page of the pending second factor; without one, redirect to the app or the sign-in page."""
    if await SAVES.run(find_present_person, cookies.find_sign_in_token(request.cookies)):
        return RedirectResponse("/", status_code=303)  # another tab has completed it
    try:
        pending = await SAVES.run(_load_pending_sign_in, request)
    except NotSignedIn:
        response = RedirectResponse("/sign-in", status_code=303)
        cookies.delete_pending_cookie(response, tls=cookies.is_behind_tls(request))
        return response
    form_token = cookies.find_form_token(request.cookies) or cookies.generate_token()
    display_name = pending.person.display_name
    if pending.setup_secret is None:
        text = code_page(form_token=form_token, display_name=display_name, error=error)
    else:
        text = setup_page(
            form_token=form_token,
            display_name=display_name,
            secret=format_secret(pending.setup_secret),
            qr_code=render_qr_code(pending.setup_secret, name=pending.person.name),
            error=error,
        )
    return form_page_response(request, text, form_token, status=status)


def _load_pending_sign_in(request: Request) -> accounts.PendingSignIn:
    with unit_of_work() as db:
        return accounts.load_pending_sign_in(
            db,
            token=cookies.find_pending_token(request.cookies),
            new_secret=generate_secret(),
            policy=sign_in_policy(),
            now=datetime.now(UTC),
        )


ROUTES = [
    Route("/sign-in/code", show_code_form, methods=["GET"]),
    Route("/sign-in/code", submit_code, methods=["POST"]),
]
