"""People and their sign-ins: each function is one transaction's worth of work and is given everything."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session

from accounts.claims import Claims
from accounts.passwords import check_password_rules, hash_password, matches, needs_rehash
from domain.errors import InvalidValue, NotFound, NotSignedIn, Refused
from domain.people import Action, Person, Role, check_name, require
from storage import people, sign_ins

#: How long a browser may be silent before it has to sign in again, unless a setting says otherwise.
IDLE_LIMIT = timedelta(hours=12)
#: ``last_seen_at`` is written at most this often: a write at every click would be one too many.
SEEN_EVERY = timedelta(minutes=1)

_WRONG = "That name and password do not go together."


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSignIn:
    """A sign-in that holds: who it is, and whether it is time to write down that they were seen."""

    person: Person
    seen_is_due: bool


# ------------------------------------------------------------------------------------------------- people
def command_line_person() -> Person:
    """Whoever runs commands on the machine: number 0, kept as nobody, with every role."""
    return Person(id=0, name="command-line", display_name="Command line", roles=frozenset(Role))


def any_people(db: Session) -> bool:
    """Whether anybody has an account; before the first one the sign-in page says how to make it."""
    return people.count_people(db) > 0


def add_person(
    db: Session,
    *,
    by: Person,
    name: str,
    display_name: str | None,
    roles: Iterable[Role],
    password: str | None,
    demo: bool = False,
    now: datetime,
) -> Person:
    """A new account. Without a password the person can come by OIDC only.

    Raises:
        InvalidValue: the name, the password or the roles won't do.
        AlreadyThere: the name is taken.
    """
    require(by, Action.MANAGE_PEOPLE)
    name = check_name(name)
    chosen = _check_roles(roles)
    if password is not None:
        check_password_rules(password, name=name)
    return people.insert_person(
        db,
        name=name,
        display_name=_check_display_name(display_name) or name,
        roles=chosen,
        password_hash=hash_password(password) if password is not None else None,
        demo=demo,
        now=now,
    )


def change_roles(db: Session, *, by: Person, name: str, roles: Iterable[Role]) -> Person:
    """Give the person these roles in place of the ones they have; it holds from their next click on.

    Raises:
        Refused: nobody could manage people any more.
    """
    require(by, Action.MANAGE_PEOPLE)
    person = person_named(db, name=name)
    chosen = _check_roles(roles)
    if Role.ADMIN not in chosen:
        _keep_an_admin(db, person, "take the role admin from")
    people.replace_roles(db, person_id=person.id, roles=chosen)
    return people.load_person(db, person_id=person.id)


def set_password(db: Session, *, by: Person, name: str, password: str, now: datetime) -> Person:
    """A new password; whoever is signed in with the old one is signed out everywhere."""
    require(by, Action.MANAGE_PEOPLE)
    person = person_named(db, name=name)
    check_password_rules(password, name=person.name)
    people.set_password_hash(db, person_id=person.id, password_hash=hash_password(password))
    sign_ins.revoke_all_of(db, person_id=person.id, now=now)
    return person


def disable_person(db: Session, *, by: Person, name: str, now: datetime) -> Person:
    """The person is out at their next click, and can't sign in; what they did stays."""
    require(by, Action.MANAGE_PEOPLE)
    person = person_named(db, name=name)
    if person.disabled_at is not None:
        return person
    _keep_an_admin(db, person, "disable")
    people.set_disabled_at(db, person_id=person.id, disabled_at=now)
    sign_ins.revoke_all_of(db, person_id=person.id, now=now)
    return people.load_person(db, person_id=person.id)


def enable_person(db: Session, *, by: Person, name: str) -> Person:
    """The person may sign in again."""
    require(by, Action.MANAGE_PEOPLE)
    person = person_named(db, name=name)
    people.set_disabled_at(db, person_id=person.id, disabled_at=None)
    return people.load_person(db, person_id=person.id)


def list_people(db: Session, *, by: Person) -> list[Person]:
    """Everybody, by name."""
    require(by, Action.MANAGE_PEOPLE)
    return people.list_people(db)


def person_named(db: Session, *, name: str) -> Person:
    """The person who signs in by that name.

    Raises:
        NotFound: nobody does.
    """
    person = people.find_person(db, name=name.strip().lower())
    if person is None:
        raise NotFound(f"Nobody is called {name!r}. `python cli.py user list` shows who is there.")
    return person


def people_with(db: Session, *, role: Role) -> list[Person]:
    """Everybody who has the role and is not disabled, by name."""
    return [
        person for person in people.list_people(db) if role in person.roles and person.disabled_at is None
    ]


def demo_people(db: Session) -> list[Person]:
    """The people of a demo workspace, whom the sign-in page lists; nobody in a real one."""
    return [person for person in people.list_people(db) if person.demo and person.disabled_at is None]


# ----------------------------------------------------------------------------------------------- sign-ins
def check_password(db: Session, *, name: str, password: str) -> Person:
    """Whose name and password these are. It reads only: argon2 takes its time, and no writer should wait.

    Raises:
        NotSignedIn: they don't go together (the text does not say which names exist), or the account is
            disabled.
    """
    person = people.find_person(db, name=name.strip().lower())
    kept = people.password_hash_of(db, person_id=person.id) if person else None
    if not matches(password, kept) or person is None:
        raise NotSignedIn(_WRONG)
    if person.disabled_at is not None:  # said only to somebody who knows the password
        raise NotSignedIn("This account is disabled. Ask an admin to enable it again.")
    return person


def begin_sign_in(
    db: Session,
    *,
    person: Person,
    token: str,
    replaces: str | None,
    password: str | None = None,
    now: datetime,
) -> None:
    """Write down that a browser with this token is the person's from now on.

    ``replaces`` is the token that the browser had: it ends, else one browser answers for two people.
    ``password``, just checked, is hashed anew when the recommended cost has changed since.
    """
    current = people.load_person(db, person_id=person.id)
    if current.disabled_at is not None:
        raise NotSignedIn("This account is disabled. Ask an admin to enable it again.")
    if replaces:
        sign_ins.revoke(db, token_sha256=token_sha256(replaces), now=now)
    kept = people.password_hash_of(db, person_id=person.id)
    if password is not None and kept is not None and needs_rehash(kept):
        people.set_password_hash(db, person_id=person.id, password_hash=hash_password(password))
    sign_ins.insert_sign_in(db, token_sha256=token_sha256(token), person_id=person.id, now=now)


def live_sign_in(
    db: Session, *, token: str | None, now: datetime, idle: timedelta = IDLE_LIMIT
) -> LiveSignIn | None:
    """The sign-in of a token, unless it is unknown, revoked, idle for too long, or the person is disabled."""
    if not token:
        return None
    kept = sign_ins.find_sign_in(db, token_sha256=token_sha256(token))
    if kept is None or kept.revoked_at is not None or now - kept.last_seen_at > idle:
        return None
    person = people.load_person(db, person_id=kept.person_id)
    if person.disabled_at is not None:
        return None
    return LiveSignIn(person=person, seen_is_due=now - kept.last_seen_at >= SEEN_EVERY)


def person_of_token(
    db: Session, *, token: str | None, now: datetime, idle: timedelta = IDLE_LIMIT
) -> Person | None:
    """Whose live sign-in the token is, None when it is nobody's."""
    live = live_sign_in(db, token=token, now=now, idle=idle)
    return live.person if live else None


def note_seen(db: Session, *, token: str, now: datetime) -> None:
    """The browser was heard of just now."""
    sign_ins.seen(db, token_sha256=token_sha256(token), now=now)


def sign_out(db: Session, *, token: str, now: datetime) -> None:
    """End the sign-in of that token, in every tab."""
    sign_ins.revoke(db, token_sha256=token_sha256(token), now=now)


def person_of_claims(db: Session, *, claims: Mapping[str, object]) -> Person:
    """Who the OIDC provider says this is: by its subject, else by a verified e-mail that is a sign-in name.

    The first time, the subject is kept with the account, and counts alone from then on. Roles are ours:
    no claim gives one.

    Raises:
        NotSignedIn: no account belongs to these claims, or it is disabled.
    """
    said = Claims.of(claims)
    person = people.find_person_by_subject(db, subject=said.subject)
    if person is None:
        person = next(filter(None, (people.find_person(db, name=name) for name in said.names)), None)
        if person is None or people.oidc_subject_of(db, person_id=person.id) is not None:
            raise NotSignedIn(
                f"{said.shown} has no account here. Ask an admin to add one with that e-mail address as name."
            )
        people.set_oidc_subject(db, person_id=person.id, subject=said.subject)
    if person.disabled_at is not None:
        raise NotSignedIn("This account is disabled. Ask an admin to enable it again.")
    return person


def token_sha256(token: str) -> str:
    """What is kept of a token: a copy of the database opens no session."""
    return hashlib.sha256(token.encode()).hexdigest()


# ------------------------------------------------------------------------------------------------ refusals
def _check_roles(roles: Iterable[Role]) -> frozenset[Role]:
    chosen = frozenset(Role(role) for role in roles)
    if not chosen:
        raise InvalidValue("roles", f"choose at least one of {', '.join(Role)}")
    return chosen


def _check_display_name(display_name: str | None) -> str:
    shown = " ".join((display_name or "").split())
    if len(shown) > 100 or not shown.isprintable():
        raise InvalidValue("display name", "at most 100 characters, without control characters")
    return shown


def _keep_an_admin(db: Session, person: Person, what: str) -> None:
    others = [other for other in people_with(db, role=Role.ADMIN) if other.id != person.id]
    if Role.ADMIN in person.roles and person.disabled_at is None and not others:
        raise Refused(
            f"Can't {what} {person.display_name}: nobody else is an admin. Add another admin first."
        )
