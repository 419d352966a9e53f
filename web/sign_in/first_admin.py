"""GET and POST /first-admin: creates the first admin, with a code from the command line."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from accounts import service as accounts
from domain.errors import DomainError, NotNow
from domain.people import Person
from storage.unit_of_work import read_only_session, unit_of_work
from web.sign_in import cookies
from web.sign_in.browsers import client_address
from web.sign_in.html_pages import first_admin_page
from web.sign_in.routes import (
    EXPIRED_FORM_MESSAGE,
    continue_sign_in,
    form_field,
    form_page_response,
    has_valid_form_token,
)
from web.thread_limits import SAVES


async def show_form(request: Request) -> Response:
    """Show the form if there is no admin; otherwise redirect to the sign-in page."""
    has_admin, has_people = await SAVES.run(_load_account_state)
    if has_admin:
        return RedirectResponse("/sign-in", status_code=303)
    return _form_page_response(request, has_people=has_people)


async def create_first_admin(request: Request) -> Response:
    """Redeem the code: create an account with the role admin and sign it in."""
    form = await request.form(max_files=0, max_fields=10)
    has_admin, has_people = await SAVES.run(_load_account_state)
    if has_admin:
        return RedirectResponse("/sign-in", status_code=303)
    if not has_valid_form_token(request, form):
        return _form_page_response(
            request, form, has_people=has_people, error=EXPIRED_FORM_MESSAGE, status=403
        )
    try:
        person = await SAVES.run(_redeem_code, request, form)
    except DomainError as error:
        status = (
            429 if isinstance(error, accounts.TooManyAttempts) else 503 if isinstance(error, NotNow) else 422
        )
        return _form_page_response(request, form, has_people=has_people, error=str(error), status=status)
    return await continue_sign_in(request, person, method="first admin")


def _redeem_code(request: Request, form: FormData) -> Person:
    now = datetime.now(UTC)
    with unit_of_work() as db:  # wrong codes are counted and limited like wrong passwords
        attempt = accounts.begin_attempt(
            db, name="first admin", address=client_address(request), token=None, now=now
        )
    with unit_of_work() as db:
        person = accounts.become_first_admin(
            db,
            code=form_field(form, "code"),
            name=form_field(form, "name"),
            display_name=form_field(form, "display_name"),
            password=form_field(form, "password"),
            now=now,
        )
        accounts.clear_attempt(db, attempt=attempt)
    return person


def _load_account_state() -> tuple[bool, bool]:
    with read_only_session() as db:
        return accounts.has_admin(db), accounts.has_people(db)


def _form_page_response(
    request: Request, form: FormData | None = None, *, has_people: bool, error: str = "", status: int = 200
) -> Response:
    token = cookies.find_form_token(request.cookies) or cookies.generate_token()
    entered_values = (
        {}
        if form is None
        else {
            field_name: form_field(form, field_name)[:100] for field_name in ("code", "name", "display_name")
        }
    )
    text = first_admin_page(form_token=token, has_people=has_people, error=error, **entered_values)
    return form_page_response(request, text, token, status=status)


ROUTES = [
    Route("/first-admin", show_form, methods=["GET"]),
    Route("/first-admin", create_first_admin, methods=["POST"]),
]
