"""Errors that a user can act on; their text is shown on screen as it is."""


class DomainError(Exception):
    """A request that cannot be carried out; the text states the reason and what the user can do."""


class InvalidValue(DomainError, ValueError):
    """A value that is not allowed; the text begins with the field."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class NotFound(DomainError):
    """There is nothing of that name or number, or the person may not see it."""


class AlreadyThere(DomainError):
    """Something of that name already exists."""


class NotAllowed(DomainError):
    """The person's roles don't include the action."""


class NotSignedIn(DomainError):
    """The request has no valid session."""


class StaleRevision(DomainError):
    """The record was changed by somebody else, or in another tab, since it was opened."""


class NotNow(DomainError):
    """The database could not do it now (locked for too long, disk full, not reachable); nothing changed."""


class Refused(DomainError):
    """A valid request that is refused in the current state; the text states the reason."""
