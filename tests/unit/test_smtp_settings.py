"""The settings of the mail server: defaults, and what is refused with the name of the setting."""

import pytest

from domain.errors import InvalidValue
from notifications.smtp import Security, is_mail_configured, read_smtp_settings

_REQUIRED = {"OVERREAD_SMTP_HOST": "mail.example.org", "OVERREAD_MAIL_FROM": "overread@example.org"}


def set_environment(monkeypatch, **settings: str) -> None:
    for name, value in {**_REQUIRED, **settings}.items():
        monkeypatch.setenv(name, value)


def test_without_a_host_no_mail_is_configured(monkeypatch):
    monkeypatch.setenv("OVERREAD_SMTP_HOST", " ")
    assert not is_mail_configured()


@pytest.mark.parametrize(("security", "port"), [("", 587), ("starttls", 587), ("TLS", 465), ("none", 25)])
def test_the_port_follows_the_encryption(monkeypatch, security, port):
    set_environment(monkeypatch, OVERREAD_SMTP_SECURITY=security)
    settings = read_smtp_settings()
    assert (settings.port, settings.security) == (port, Security(security.lower() or "starttls"))


def test_user_and_password_come_from_setting_and_file_and_are_not_printed(monkeypatch, tmp_path):
    (tmp_path / "password").write_text("secret-of-the-relay\n")
    set_environment(
        monkeypatch, OVERREAD_SMTP_USER="overread", OVERREAD_SMTP_PASSWORD_FILE=str(tmp_path / "password")
    )
    settings = read_smtp_settings()
    assert (settings.user, settings.password) == ("overread", "secret-of-the-relay")
    assert "secret" not in repr(settings)


def test_the_link_ends_with_one_slash(monkeypatch):
    set_environment(monkeypatch, OVERREAD_ADDRESS="https://overread.example.org/reading//")
    assert read_smtp_settings().link == "https://overread.example.org/reading/"


@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        ("OVERREAD_SMTP_SECURITY", "ssl", "must be starttls, tls, none, not 'ssl'"),
        ("OVERREAD_SMTP_PORT", "0", "must be a whole number from 1 to 65535"),
        ("OVERREAD_SMTP_PORT", "smtp", "must be a whole number from 1 to 65535"),
        ("OVERREAD_MAIL_FROM", "", "must be an address such as overread@example.org"),
        ("OVERREAD_MAIL_FROM", "Overread", "must be an address such as overread@example.org"),
        ("OVERREAD_MAIL_FROM", "a@example.org\nBcc: b@example.org", "must be an address such as"),
        ("OVERREAD_ADDRESS", "overread.example.org", "must begin with https:// or http://"),
        ("OVERREAD_SMTP_USER", "overread", "must be set together with OVERREAD_SMTP_PASSWORD_FILE"),
        ("OVERREAD_SMTP_PASSWORD_FILE", "/nowhere/password", "/nowhere/password"),
    ],
)
def test_the_message_names_an_invalid_setting(monkeypatch, setting, value, reason):
    set_environment(monkeypatch, **{setting: value})
    with pytest.raises(InvalidValue, match=reason) as refusal:
        read_smtp_settings()
    assert setting in str(refusal.value)


def test_a_password_is_not_sent_without_encryption(monkeypatch, tmp_path):
    (tmp_path / "password").write_text("secret-of-the-relay")
    set_environment(
        monkeypatch,
        OVERREAD_SMTP_USER="overread",
        OVERREAD_SMTP_PASSWORD_FILE=str(tmp_path / "password"),
        OVERREAD_SMTP_SECURITY="none",
    )
    with pytest.raises(InvalidValue, match="the password would be readable"):
        read_smtp_settings()
