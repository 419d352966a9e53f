"""The trusted claims of an OpenID Connect provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from domain.errors import InvalidValue, NotSignedIn
from domain.people import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The trusted claims of a person.

    ``subject`` joins issuer and subject of the token, because a subject is unique only within its issuer
    (OpenID Connect Core 1.0, 5.7). Each of ``verified_emails`` may be the sign-in name of an account.
    ``display_name`` is used in messages.
    """

    subject: str
    verified_emails: tuple[str, ...]
    display_name: str

    @classmethod
    def from_token(cls, claims: Mapping[str, object]) -> Claims:
        """Read the claims of an ID token.

        An e-mail is trusted only if the provider states that it was verified. A preferred user name is never
        trusted: people may choose it themselves at many providers (OpenID Connect Core 1.0, 5.7).

        Args:
            claims: the claims of the verified ID token.

        Raises:
            NotSignedIn: no subject or no issuer.
        """
        subject, issuer = claims.get("sub"), claims.get("iss")
        if not isinstance(subject, str) or not subject or not isinstance(issuer, str) or not issuer:
            raise NotSignedIn("The sign-in provider did not identify you (no subject). Inform an admin.")
        email = claims.get("email")
        has_email = isinstance(email, str) and bool(email)
        is_verified = has_email and (
            claims.get("email_verified") is True or claims.get("email_verified") == "true"
        )
        return cls(
            subject=f"{issuer}|{subject}",
            verified_emails=(str(email).strip().lower(),) if is_verified else (),
            display_name=str(email) if has_email else "This identity",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleClaim:
    """The claim that gives roles (``groups``, ``realm_access.roles``), with the roles for each value."""

    claim: str
    roles: Mapping[str, frozenset[Role]]

    @classmethod
    def from_setting(cls, claim: str, values: Mapping[str, object]) -> RoleClaim:
        """Read the setting.

        Args:
            claim: the name of the claim.
            values: a role ("reviewer") or a list of roles for each value of the claim.

        Raises:
            InvalidValue: no claim is named, or a role does not exist.
        """
        if not claim.strip():
            raise InvalidValue("claim", "state the claim that contains the roles, such as groups")
        return cls(
            claim=claim.strip(),
            roles={value: _parse_roles(value, role_setting) for value, role_setting in values.items()},
        )

    def extract_roles(self, claims: Mapping[str, object]) -> frozenset[Role]:
        """Return the roles that the claims grant.

        A claim name with dots is looked up unchanged first (``https://example.org/roles``), then as a path.

        Args:
            claims: the claims of the verified ID token.

        Returns:
            The roles; empty if the claim is missing or has no known value.
        """
        claimed: object = claims.get(self.claim)
        if claimed is None:
            claimed = claims
            for step in self.claim.split("."):
                claimed = claimed.get(step) if isinstance(claimed, Mapping) else None
        values = claimed if isinstance(claimed, list | tuple) else [claimed]
        claim_values = [value for value in values if isinstance(value, str)]
        return frozenset().union(*(self.roles.get(value, frozenset()) for value in claim_values))


def _parse_roles(value: str, role_setting: object) -> frozenset[Role]:
    names = role_setting if isinstance(role_setting, list) else [role_setting]
    if not names or not all(isinstance(name, str) and name in set(Role) for name in names):
        raise InvalidValue(
            f"roles of {value!r}", f"{role_setting!r} is not one or more of: {', '.join(Role)}"
        )
    return frozenset(Role(str(name)) for name in names)
