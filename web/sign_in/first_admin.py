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
from storage.unit_of_work import reading, unit_of_work
from web.sign_in import cookies
from web.sign_in.browsers import address_of
from web.sign_in.html_pages import first_admin_page
from web.sign_in.routes import EXPIRED, came_from_our_form, field, form_answer, let_in
from web.thread_limits import SAVES


async def show(request: Request) -> Response:
    """The form, while there is no admin."""
    any_admin, anybody = await SAVES.run(_who_is_there)
    if any_admin:
        return RedirectResponse("/sign-in", status_code=303)
    return _page(request, anybody=anybody)


async def become(request: Request) -> Response:
    """Redeem the code: create an account with the role admin and sign it in."""
    form = await request.form(max_files=0, max_fields=10)
    any_admin, anybody = await SAVES.run(_who_is_there)
    if any_admin:
        return RedirectResponse("/sign-in", status_code=303)
    if not came_from_our_form(request, form):
        return _page(request, form, anybody=anybody, error=EXPIRED, status=403)
    try:
        person = await SAVES.run(_made, request, form)
    except DomainError as error:
        status = (
            429 if isinstance(error, accounts.TooManyWrong) else 503 if isinstance(error, NotNow) else 422
        )
        return _page(request, form, anybody=anybody, error=str(error), status=status)
    return await let_in(request, person, way="first admin")


def _made(request: Request, form: FormData) -> Person:
    now = datetime.now(UTC)
    with unit_of_work() as db:  # wrong codes are counted and limited like wrong passwords
        attempt = accounts.begin_attempt(
            db, name="first admin", address=address_of(request), token=None, now=now
        )
    with unit_of_work() as db:
        person = accounts.become_first_admin(
            db,
            code=field(form, "code"),
            name=field(form, "name"),
            display_name=field(form, "display_name"),
            password=field(form, "password"),
            now=now,
        )
        accounts.attempt_was_right(db, attempt=attempt)
    return person


def _who_is_there() -> tuple[bool, bool]:
    with reading() as db:
        return accounts.any_admin(db), accounts.any_people(db)


def _page(
    request: Request, form: FormData | None = None, *, anybody: bool, error: str = "", status: int = 200
) -> Response:
    token = cookies.form_token(request.cookies) or cookies.new_token()
    typed = (
        {} if form is None else {each: field(form, each)[:100] for each in ("code", "name", "display_name")}
    )
    text = first_admin_page(form_token=token, anybody=anybody, error=error, **typed)
    return form_answer(request, text, token, status=status)


ROUTES = [
    Route("/first-admin", show, methods=["GET"]),
    Route("/first-admin", become, methods=["POST"]),
]
