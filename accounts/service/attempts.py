"""Limits on wrong passwords and codes, counted in the database for all processes of the app.

An attempt is counted as wrong before the password is checked, and the count is undone if the password is
correct. A hundred simultaneous guesses therefore count as a hundred.

- **A name at an address**: five free attempts, then a wait that doubles up to a minute.
- **An address**, whatever the names: a budget of twenty, refilled by one every fifteen seconds.
- **A name at all addresses, and all names together**: these budgets never block anybody, because an attacker
  could use them to lock out the owner of the name. When one of them is spent, an address has one free attempt
  at a name instead of five. A person with the correct password can still sign in from a new address.
- **A browser in which the person was signed in before** has its own count and no budgets.
- **A person's second factor**: codes are requested only after the correct password, so the wait applies
  to all addresses.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network

from sqlmodel import Session

from accounts.tokens import token_sha256
from domain.errors import Refused
from storage.accounts import people, sign_ins, wrong_passwords

#: The number of wrong passwords for a name at one address before the first wait: normally, and in an attack.
FREE_ATTEMPTS, FREE_ATTEMPTS_UNDER_ATTACK = 5, 1
#: A name counts as under attack after this many wrong passwords from all addresses.
ATTACK_THRESHOLD = 20
#: The maximum wait. With a longer wait anyone could lock another person out by guessing.
MAX_WAIT = timedelta(minutes=1)
#: Counts older than this are deleted.
COUNT_LIFETIME = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A budget of ``size`` attempts at once, and one more after each ``interval``."""

    size: int
    interval: timedelta


ADDRESS_BUDGET = Budget(size=20, interval=timedelta(seconds=15))
OVERALL_BUDGET = Budget(size=100, interval=timedelta(seconds=5))


class TooManyAttempts(Refused):
    """There were too many wrong passwords or codes; the message states how long to wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A permitted attempt, with the counts that are undone if the password is correct.

    ``counter_keys`` are the counts to delete; ``budget_keys`` are the budgets that get one attempt back.
    """

    counter_keys: tuple[str, ...]
    budget_keys: tuple[str, ...] = ()


def begin_attempt(db: Session, *, name: str, address: str, token: str | None, now: datetime) -> Attempt:
    """Count a sign-in attempt as failed. Locks the rows of the counts. Commit before checking the password.

    Args:
        db: a session for writing.
        name: the sign-in name that was entered.
        address: the browser's network address, as far as known; for IPv6 its /64 network is counted.
        token: the token of the browser's latest sign-in, valid or not; it identifies the person's own
            browser.
        now: the current time.

    Raises:
        TooManyAttempts: a wait is not over, or the address's budget is spent; the attempt was not counted.
    """
    name = name.strip().lower()[:64]
    if token and _has_signed_in_here(db, name=name, token=token):
        attempt = _count_attempt(db, _hash_parts("browser", name, token), FREE_ATTEMPTS, now)
    else:
        attempt = _count_attempt_from_unknown_browser(db, name, _normalise_address(address), now)
    wrong_passwords.delete_counts_before(db, moment=now - COUNT_LIFETIME)
    return attempt


def begin_code_attempt(db: Session, *, person_id: int, now: datetime) -> Attempt:
    """Count an attempt at a person's second factor as wrong. Commit before checking the code.

    Raises:
        TooManyAttempts: the wait after the last wrong code is not over; the attempt was not counted.
    """
    return _count_attempt(db, _hash_parts("code", str(person_id)), FREE_ATTEMPTS, now, input_noun="codes")


def clear_attempt(db: Session, *, attempt: Attempt) -> None:
    """Undo the counts of an attempt with a correct password or code."""
    wrong_passwords.delete_counts(db, counted_for=attempt.counter_keys)
    wrong_passwords.decrement_counts(db, counted_for=attempt.budget_keys)


def _count_attempt(
    db: Session, key: str, free_attempts: int, now: datetime, input_noun: str = "passwords"
) -> Attempt:
    count, last_at = wrong_passwords.lock_count(db, counted_for=key, now=now)
    _refuse_until(
        last_at + _compute_wait(count, free_attempts), now, f"Too many wrong {input_noun} for this name."
    )
    wrong_passwords.set_count(db, counted_for=key, count=count + 1, last_at=now)
    return Attempt(counter_keys=(key,))


def _count_attempt_from_unknown_browser(db: Session, name: str, network: str, now: datetime) -> Attempt:
    address_key, name_key = _hash_parts("address", name, network), _hash_parts("anywhere", name)
    network_key, overall_key = _hash_parts("network", network), _hash_parts("overall")
    # All attempts lock the counts in this order, which prevents deadlocks.
    count_from_address, address_at = wrong_passwords.lock_count(db, counted_for=address_key, now=now)
    count_for_name, _ = wrong_passwords.lock_count(db, counted_for=name_key, now=now)
    spent_by_network, network_at = _lock_budget(db, network_key, ADDRESS_BUDGET, now)
    spent_overall, overall_at = _lock_budget(db, overall_key, OVERALL_BUDGET, now)

    is_under_attack = count_for_name >= ATTACK_THRESHOLD or spent_overall >= OVERALL_BUDGET.size
    free_attempts = FREE_ATTEMPTS_UNDER_ATTACK if is_under_attack else FREE_ATTEMPTS
    _refuse_until(
        address_at + _compute_wait(count_from_address, free_attempts),
        now,
        "Too many wrong passwords for this name.",
    )
    if spent_by_network >= ADDRESS_BUDGET.size:
        free_at = network_at + ADDRESS_BUDGET.interval
        _refuse_until(free_at, now, "Too many wrong passwords from your network address.")

    wrong_passwords.set_count(db, counted_for=address_key, count=count_from_address + 1, last_at=now)
    wrong_passwords.set_count(db, counted_for=name_key, count=count_for_name + 1, last_at=now)
    wrong_passwords.set_count(db, counted_for=network_key, count=spent_by_network + 1, last_at=network_at)
    wrong_passwords.set_count(db, counted_for=overall_key, count=spent_overall + 1, last_at=overall_at)
    return Attempt(counter_keys=(address_key, name_key), budget_keys=(network_key, overall_key))


def _lock_budget(db: Session, key: str, budget: Budget, now: datetime) -> tuple[int, datetime]:
    """Lock a budget; return the number of spent attempts and the time of its last refill."""
    spent, refilled_at = wrong_passwords.lock_count(db, counted_for=key, now=now)
    spent, refills = min(spent, budget.size), max(0, (now - refilled_at) // budget.interval)
    if spent <= refills:
        return 0, now
    return spent - refills, refilled_at + refills * budget.interval


def _refuse_until(moment: datetime, now: datetime, reason: str) -> None:
    if moment > now:
        seconds = int((moment - now).total_seconds()) + 1
        raise TooManyAttempts(f"{reason} Try again in {seconds} seconds.")


def _has_signed_in_here(db: Session, *, name: str, token: str) -> bool:
    earlier_sign_in = sign_ins.find_sign_in(db, token_sha256=token_sha256(token))
    person = people.find_person(db, name=name)
    return earlier_sign_in is not None and person is not None and earlier_sign_in.person_id == person.id


def _compute_wait(count: int, free_attempts: int) -> timedelta:
    return (
        min(MAX_WAIT, timedelta(seconds=2 ** min(count - free_attempts + 1, 10)))
        if count >= free_attempts
        else timedelta(0)
    )


def _normalise_address(address: str) -> str:
    """Return the address, or the /64 network of an IPv6 address, because one customer has at least a /64."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))


def _hash_parts(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
