"""Services for the addresses to which notices are sent, and for switching notices off."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from accounts.service import load_person_by_name
from domain.errors import Refused
from domain.mail import MailSetting, check_mail_address
from domain.people import Action, Person, require
from storage.accounts import mail_settings as mail_setting_storage


def load_own_mail_setting(db: Session, *, person: Person) -> MailSetting:
    """Return the person's address, and whether they want notices."""
    return mail_setting_storage.find_mail_setting(db, person_id=person.id)


def save_own_mail_setting(  # allow writes-without-record: no part of gold depends on an address
    db: Session, *, person: Person, address: str, wanted: bool, now: datetime
) -> MailSetting:
    """Set the person's own address, and whether they want notices. An empty string removes the address.

    Raises:
        InvalidValue: the address is not valid.
        Refused: the account is a demo account, which many people use.
    """
    return _save(db, person, MailSetting(address=check_mail_address(address), wanted=wanted), now)


def list_mail_settings(db: Session, *, by: Person) -> dict[int, MailSetting]:
    """Return the stored settings by id of the person. People without a row have no address."""
    require(by, Action.MANAGE_PEOPLE)
    return mail_setting_storage.load_mail_settings(db)


def set_mail_address(  # allow writes-without-record: no part of gold depends on an address
    db: Session, *, by: Person, name: str, address: str, now: datetime
) -> MailSetting:
    """Set the address of another person. Their choice to get notices or not stays.

    Raises:
        NotFound: there is no such person.
        InvalidValue: the address is not valid.
        Refused: the account is a demo account, which many people use.
    """
    require(by, Action.MANAGE_PEOPLE)
    person = load_person_by_name(db, name=name)
    wanted = mail_setting_storage.find_mail_setting(db, person_id=person.id).wanted
    return _save(db, person, MailSetting(address=check_mail_address(address), wanted=wanted), now)


def _save(db: Session, person: Person, setting: MailSetting, now: datetime) -> MailSetting:
    if person.demo and setting.address:
        raise Refused("Demo accounts get no e-mail, because many people use them.")
    mail_setting_storage.save_mail_setting(db, person_id=person.id, setting=setting, now=now)
    return setting
