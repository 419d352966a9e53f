"""Errors that a person can act on: the text of each may be shown as it is."""


class DomainError(Exception):
    """A person's request that can't be carried out; its text names what and the way out."""


class InvalidValue(DomainError, ValueError):
    """A value that no object of the domain may hold; names the field."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class NotFound(DomainError):
    """Nothing of that name or number is there, or it is not the person's to see."""


class AlreadyThere(DomainError):
    """Something of that name exists already."""


class NotAllowed(DomainError):
    """The person's roles don't cover the action."""


class NotSignedIn(DomainError):
    """No valid sign-in came with the request."""


class StaleRevision(DomainError):
    """What is being saved was changed by somebody else, or in another tab, since it was opened."""


class NotNow(DomainError):
    """The database could not do it at this moment (locked for long, disk full, out of reach); undone."""


class Refused(DomainError):
    """A request that is understood but must not be carried out as it stands; says why."""
