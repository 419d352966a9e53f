"""The people of the demo: an admin, a coordinator, three reviewers and a reader. All are fictitious."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service import add_person
from domain.people import Person, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPerson:
    """A person of the demo: sign-in name, display name and role."""

    name: str
    display_name: str
    role: Role


ADA = DemoPerson(name="ada", display_name="Ada Admin", role=Role.ADMIN)
DANA = DemoPerson(name="dana", display_name="Dana Coordinator", role=Role.COORDINATOR)
ROSA = DemoPerson(name="rosa", display_name="Rosa Reviewer", role=Role.REVIEWER)
RAVI = DemoPerson(name="ravi", display_name="Ravi Reviewer", role=Role.REVIEWER)
RENATE = DemoPerson(name="renate", display_name="Renate Reviewer", role=Role.REVIEWER)
LEO = DemoPerson(name="leo", display_name="Leo Reader", role=Role.READER)
PEOPLE = (ADA, DANA, ROSA, RAVI, RENATE, LEO)


def add_people(db: Session, *, by: Person, now: datetime) -> dict[str, Person]:
    """Add all people of the demo, marked as demo accounts. The sign-in page shows their password.

    Returns the people by sign-in name.
    """
    return {
        person.name: add_person(
            db,
            by=by,
            name=person.name,
            display_name=person.display_name,
            roles=[person.role],
            password=None,
            demo=True,
            now=now,
        )
        for person in PEOPLE
    }
