"""What an OIDC provider says of a person, as far as we believe it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from domain.errors import NotSignedIn


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """``subject`` is issuer and subject together, since a subject is unique within its issuer only
    (OpenID Connect Core 1.0, 5.7); ``names`` are the sign-in names that the claims vouch for.
    """

    subject: str
    names: tuple[str, ...]
    shown: str

    @classmethod
    def of(cls, claims: Mapping[str, object]) -> Claims:
        """Read the claims of an ID token.

        An e-mail counts only when the provider says that it was verified; a preferred user name never
        does: people may choose it themselves at many providers (OpenID Connect Core 1.0, 5.7).

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
