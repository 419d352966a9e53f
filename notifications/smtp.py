"""The mail server: its settings, sending an e-mail, and the reasons for failures."""

from __future__ import annotations

import os
import smtplib
import ssl
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import parseaddr
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from domain.errors import DomainError, InvalidValue
from domain.file_errors import describe_file_error
from domain.mail import check_mail_address

_HOST, _PORT, _SECURITY = "OVERREAD_SMTP_HOST", "OVERREAD_SMTP_PORT", "OVERREAD_SMTP_SECURITY"
_USER, _PASSWORD_FILE = "OVERREAD_SMTP_USER", "OVERREAD_SMTP_PASSWORD_FILE"
_FROM, _ADDRESS = "OVERREAD_MAIL_FROM", "OVERREAD_ADDRESS"
#: Seconds that each step of a connection may take.
_TIMEOUT = 20.0


class Security(StrEnum):
    """The encryption of the connection. TLS encrypts from the start, STARTTLS after a first exchange."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


_DEFAULT_PORTS = {Security.STARTTLS: 587, Security.TLS: 465, Security.NONE: 25}


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpSettings:
    """The settings of the mail server.

    ``sender`` is the value of the header From. ``link`` is the public address of the app; None if it is not
    configured. ``user`` is empty if the server needs no sign-in.
    """

    host: str
    port: int
    security: Security
    user: str
    password: str = field(repr=False)
    sender: str
    link: str | None

    @property
    def sender_domain(self) -> str:
        """The part of the sender's address after the @."""
        return parseaddr(self.sender)[1].rpartition("@")[2]


class MailNotSent(DomainError):
    """An e-mail was not sent.

    ``code`` is the class of the error and the server's reply code, for the log. ``is_temporary`` is true if
    the server may accept the same e-mail later: its reply code is 400 to 499 (RFC 5321, 4.2.1), or there was
    no connection.
    """

    def __init__(self, text: str, *, code: str, is_temporary: bool) -> None:
        super().__init__(text)
        self.code, self.is_temporary = code, is_temporary


def is_mail_configured() -> bool:
    """Return whether the environment names a mail server."""
    return bool(_read(_HOST))


def read_smtp_settings() -> SmtpSettings:
    """Read the settings from the environment.

    Raises:
        InvalidValue: no mail server is configured, a setting is not valid, or the password's file cannot be
            read.
    """
    if not is_mail_configured():
        raise InvalidValue(_HOST, "is not set, so no e-mail is sent")
    security_name = _read(_SECURITY).lower() or Security.STARTTLS.value
    if security_name not in list(Security):
        raise InvalidValue(_SECURITY, f"must be {', '.join(Security)}, not {security_name!r}")
    security, user, password = Security(security_name), _read(_USER), _read_password()
    if bool(user) != bool(password):
        raise InvalidValue(_USER, f"must be set together with {_PASSWORD_FILE}")
    if user and security is Security.NONE:
        raise InvalidValue(_SECURITY, "must be starttls or tls, because the password would be readable")
    return SmtpSettings(
        host=_read(_HOST),
        port=_read_port(_DEFAULT_PORTS[security]),
        security=security,
        user=user,
        password=password,
        sender=_read_sender(),
        link=_read_link(),
    )


def send_mail(settings: SmtpSettings, message: EmailMessage) -> None:
    """Send an e-mail and wait until the server has accepted it.

    Raises:
        MailNotSent: the server was not reached or refused the e-mail; the text names the reason.
    """
    context = ssl.create_default_context()
    try:
        with _connect(settings, context) as server:
            if settings.security is Security.STARTTLS:
                server.starttls(context=context)
            if settings.user:
                server.login(settings.user, settings.password)
            server.send_message(message)
    except (OSError, smtplib.SMTPException) as error:
        reply_code = _find_reply_code(error)
        raise MailNotSent(
            _describe_failure(error, settings),
            code=f"{type(error).__name__} {reply_code or ''}".strip(),
            is_temporary=400 <= reply_code < 500
            if reply_code
            else not isinstance(error, ssl.SSLError | smtplib.SMTPException),
        ) from error


def _find_reply_code(error: Exception) -> int:
    """Return the reply code of the server; 0 if it gave none."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return next((code for code, _ in error.recipients.values()), 0)
    return error.smtp_code if isinstance(error, smtplib.SMTPResponseException) else 0


def _connect(settings: SmtpSettings, context: ssl.SSLContext) -> smtplib.SMTP:
    if settings.security is Security.TLS:
        return smtplib.SMTP_SSL(settings.host, settings.port, timeout=_TIMEOUT, context=context)
    return smtplib.SMTP(settings.host, settings.port, timeout=_TIMEOUT)


def _describe_failure(error: Exception, settings: SmtpSettings) -> str:
    """Describe the reason and what to do. Contains neither the password nor the text of the e-mail."""
    server = f"{settings.host}:{settings.port}"
    match error:
        case smtplib.SMTPAuthenticationError():
            return (
                f"{server} refused user and password ({_reply(error)}). Check {_USER} and {_PASSWORD_FILE}."
            )
        case smtplib.SMTPRecipientsRefused() if 400 <= _find_reply_code(error) < 500:
            reply = next(iter(error.recipients.values()))
            return f"{server} refused the address for now ({_format_reply(*reply)})."
        case smtplib.SMTPRecipientsRefused():
            reply = next(iter(error.recipients.values()), (0, b""))
            return f"{server} refused the address ({_format_reply(*reply)}). Correct it on the page People."
        case smtplib.SMTPSenderRefused():
            return f"{server} refused the sender ({_reply(error)}). Check {_FROM}."
        case smtplib.SMTPNotSupportedError():
            return f"{server} does not offer what the settings require: {error} Check {_SECURITY}."
        case smtplib.SMTPResponseException():
            return f"{server} refused the e-mail ({_reply(error)})."
        case ssl.SSLError():
            reason = getattr(error, "verify_message", "") or error.reason or type(error).__name__
            advice = f"Check {_SECURITY}, {_PORT} and the certificate."
            return f"No encrypted connection to {server}: {reason}. {advice}"
        case smtplib.SMTPException():
            return f"{server} ended the connection. Check {_SECURITY} and {_PORT}."
        case _:
            reason = getattr(error, "strerror", None) or "no answer in time"
            return f"{server} could not be reached: {reason}. Check {_HOST} and {_PORT}."


def _reply(error: smtplib.SMTPResponseException) -> str:
    return _format_reply(error.smtp_code, error.smtp_error)


def _format_reply(code: int, text: bytes | str) -> str:
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return f"{code} {' '.join(decoded.split())[:200]}".strip()


def _read(setting: str) -> str:
    return os.environ.get(setting, "").strip()


def _read_port(default: int) -> int:
    value = _read(_PORT)
    if not value:
        return default
    if not value.isdecimal() or not 1 <= int(value) <= 65_535:
        raise InvalidValue(_PORT, f"must be a whole number from 1 to 65535, not {value!r}")
    return int(value)


def _read_password() -> str:
    value = _read(_PASSWORD_FILE)
    if not value:
        return ""
    path = Path(value).expanduser()
    try:
        password = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise InvalidValue(_PASSWORD_FILE, f"{path}: {describe_file_error(error)}") from error
    except UnicodeDecodeError as error:
        raise InvalidValue(_PASSWORD_FILE, f"{path} is not text in UTF-8") from error
    if not password:
        raise InvalidValue(_PASSWORD_FILE, f"{path} is empty")
    return password


def _read_sender() -> str:
    value = _read(_FROM)
    address = parseaddr(value)[1]
    try:
        if not check_mail_address(address) or "\n" in value:
            raise InvalidValue("e-mail address", "is missing")
    except InvalidValue as error:
        raise InvalidValue(
            _FROM, f"must be an address such as overread@example.org, not {value!r}"
        ) from error
    return value


def _read_link() -> str | None:
    value = _read(_ADDRESS)
    if not value:
        return None
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise InvalidValue(_ADDRESS, f"must begin with https:// or http://, not {value!r}")
    return value.rstrip("/") + "/"
