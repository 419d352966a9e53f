"""The trusted claims of an OpenID Connect provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from domain.errors import InvalidValue, NotSignedIn
from domain.people import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The trusted claims of a person.

    ``subject`` is issuer and subject together, because a subject is unique within its issuer only (OpenID
    Connect Core 1.0, 5.7). ``names`` are verified e-mail addresses, which may be sign-in names. ``shown`` is
    used in messages.
    """

    subject: str
    names: tuple[str, ...]
    shown: str

    @classmethod
    def of(cls, claims: Mapping[str, object]) -> Claims:
        """Read the claims of an ID token.

        An e-mail is trusted only if the provider states that it was verified. A preferred user name is never
        trusted: people may choose it themselves at many providers (OpenID Connect Core 1.0, 5.7).

        Args:
            claims: of the verified ID token.

        Raises:
            NotSignedIn: no subject or no issuer.
        """
        subject, issuer = claims.get("sub"), claims.get("iss")
        if not isinstance(subject, str) or not subject or not isinstance(issuer, str) or not issuer:
            raise NotSignedIn("The sign-in provider did not say who you are (no subject). Tell an admin.")
        email = claims.get("email")
        known = isinstance(email, str) and bool(email)
        verified = known and (claims.get("email_verified") is True or claims.get("email_verified") == "true")
        return cls(
            subject=f"{issuer}|{subject}",
            names=(str(email).strip().lower(),) if verified else (),
            shown=str(email) if known else "This identity",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleClaim:
    """The claim that gives roles (``groups``, ``realm_access.roles``), with the roles for each value."""

    claim: str
    roles: Mapping[str, frozenset[Role]]

    @classmethod
    def of(cls, claim: str, values: Mapping[str, object]) -> RoleClaim:
        """Read the setting.

        Args:
            claim: name of the claim.
            values: for each value of the claim a role ("reviewer") or a list of roles.

        Raises:
            InvalidValue: no claim is named, or a role does not exist.
        """
        if not claim.strip():
            raise InvalidValue("claim", "name the claim that gives the roles, such as groups")
        return cls(
            claim=claim.strip(), roles={value: _roles(value, given) for value, given in values.items()}
        )

    def roles_in(self, claims: Mapping[str, object]) -> frozenset[Role]:
        """The roles that claims give.

        A claim name with dots is looked up as it is (``https://example.org/roles``), then step by step.

        Args:
            claims: of the verified ID token.

        Returns:
            Empty if the claim is missing or has no known value.
        """
        found: object = claims.get(self.claim)
        if found is None:
            found = claims
            for step in self.claim.split("."):
                found = found.get(step) if isinstance(found, Mapping) else None
        values = found if isinstance(found, list | tuple) else [found]
        said = [value for value in values if isinstance(value, str)]
        return frozenset().union(*(self.roles.get(value, frozenset()) for value in said))


def _roles(value: str, given: object) -> frozenset[Role]:
    wanted = given if isinstance(given, list) else [given]
    if not wanted or not all(isinstance(each, str) and each in set(Role) for each in wanted):
        raise InvalidValue(
            f"roles of {value!r}", f"{given!r} is none of {', '.join(Role)}, nor a list of them"
        )
    return frozenset(Role(str(each)) for each in wanted)
