"""Services for notices by e-mail, for pages, commands and the services that assign work."""

from typing import TYPE_CHECKING

from domain.lazy_imports import import_on_use

if TYPE_CHECKING:
    from notifications.service.mail_job import MAIL, MailParameters, list_unsent_mails
    from notifications.service.mail_settings import (
        list_mail_settings,
        load_own_mail_setting,
        save_own_mail_setting,
        set_mail_address,
    )
    from notifications.service.notices import notify, notify_coordinators
else:
    __getattr__ = import_on_use(__name__)

__all__ = [
    "MAIL",
    "MailParameters",
    "list_mail_settings",
    "list_unsent_mails",
    "load_own_mail_setting",
    "notify",
    "notify_coordinators",
    "save_own_mail_setting",
    "set_mail_address",
]
