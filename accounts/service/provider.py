"""People who sign in with an OpenID Connect provider: their account, and roles from claims."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlmodel import Session

from accounts.claims import Claims, RoleClaim
from accounts.service.audit import record_action
from accounts.service.people import is_last_admin
from domain.errors import NotSignedIn
from domain.people import Person, Role
from storage.accounts import people

_ACCOUNT_DISABLED = "This account is disabled. Ask an admin to enable it."


def find_person_by_claims(
    db: Session, *, claims: Mapping[str, object], role_claim: RoleClaim | None = None, now: datetime
) -> Person:
    """Find the account for an ID token by its subject, or else by a verified e-mail as sign-in name.

    On the first sign-in the subject is stored with the account; only the subject counts after that.

    Args:
        db: a session for writing.
        claims: the claims of the verified ID token.
        role_claim: the claim whose roles replace the person's roles at each sign-in, except that the last
            admin stays an admin; None to leave roles as they are.
        now: the current time.

    Raises:
        NotSignedIn: there is no subject or no account for these claims, the account is disabled, or the
            claims give no role.
    """
    trusted_claims = Claims.from_token(claims)
    person = _find_account(db, trusted_claims, now)
    if person.disabled_at is not None:
        raise NotSignedIn(_ACCOUNT_DISABLED)
    return person if role_claim is None else _update_roles(db, person, role_claim, claims, now)


def _find_account(db: Session, claims: Claims, now: datetime) -> Person:
    person = people.find_person_by_subject(db, subject=claims.subject)
    if person is not None:
        return person
    person = next(filter(None, (people.find_person(db, name=name) for name in claims.verified_emails)), None)
    if person is None or people.load_oidc_subject(db, person_id=person.id) is not None:
        raise NotSignedIn(
            f"{claims.display_name} has no account. Ask an admin to add one with this e-mail address as name."
        )
    people.set_oidc_subject(db, person_id=person.id, subject=claims.subject)
    record_action(
        db,
        by=person,
        action="tie to provider",
        subject=f"person {person.id} {person.name}",
        new=claims.subject,
        now=now,
    )
    return person


def _update_roles(
    db: Session, person: Person, role_claim: RoleClaim, claims: Mapping[str, object], now: datetime
) -> Person:
    roles = role_claim.extract_roles(claims)
    if not roles:
        raise NotSignedIn(
            f"The sign-in provider grants {person.display_name} no role in Overread (claim "
            f"{role_claim.claim!r}). Ask its administrator to add the account to a group with a role."
        )
    reason = "claims of the sign-in provider"
    if Role.ADMIN in person.roles and Role.ADMIN not in roles:
        people.lock_person_and_admins(db, person_id=person.id)
        person = people.load_person(db, person_id=person.id)
        if is_last_admin(db, person):
            roles |= {Role.ADMIN}
            reason += "; the last admin keeps that role"
    if roles == person.roles:
        return person
    people.replace_roles(db, person_id=person.id, roles=roles)
    record_action(
        db, by=person, action="change roles", subject=f"person {person.id} {person.name}",
        old=sorted(person.roles), new=sorted(roles), reason=reason, now=now,
    )  # fmt: skip
    return people.load_person(db, person_id=person.id)
