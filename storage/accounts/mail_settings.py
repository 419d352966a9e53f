"""Storage of the addresses for notices by e-mail."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select
from sqlmodel import Session

from domain.mail import MailSetting
from storage.rows.people import MailSettingRow


def find_mail_setting(db: Session, *, person_id: int) -> MailSetting:
    """Return the person's setting; a setting without an address if none is stored."""
    row = db.get(MailSettingRow, person_id, populate_existing=True)
    return MailSetting() if row is None else _setting_from_row(row)


def load_mail_settings(db: Session) -> dict[int, MailSetting]:
    """Return all stored settings, by id of the person."""
    return {row.person_id: _setting_from_row(row) for row in db.execute(select(MailSettingRow)).scalars()}


def save_mail_setting(db: Session, *, person_id: int, setting: MailSetting, now: datetime) -> None:
    """Store the setting in place of the previous one."""
    db.merge(
        MailSettingRow(person_id=person_id, address=setting.address, wanted=setting.wanted, changed_at=now)
    )
    db.flush()


def _setting_from_row(row: MailSettingRow) -> MailSetting:
    return MailSetting(address=row.address, wanted=row.wanted)
