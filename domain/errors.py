"""Errors that a user can act on. Their text is shown on screen."""


class DomainError(Exception):
    """A request can't be carried out. The text states the reason and what the user can do."""


class InvalidValue(DomainError, ValueError):
    """A value is not allowed. The text begins with the field."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class NotFound(DomainError):
    """No object with this name or id exists, or the person may not see it."""


class AlreadyThere(DomainError):
    """An object with this name already exists."""


class NotAllowed(DomainError):
    """The person's roles don't include the action."""


class NotSignedIn(DomainError):
    """The request has no valid sign-in."""


class StaleRevision(DomainError):
    """The record was changed by another person, or in another tab, since it was opened."""


class NotNow(DomainError):
    """The database is temporarily unable to carry out the request; nothing was changed.

    For example, it was locked for too long, the disk is full, or the server is not reachable.
    """


class Refused(DomainError):
    """A valid request is refused in the current state. The text states the reason."""
