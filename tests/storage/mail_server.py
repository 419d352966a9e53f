"""A real mail server on this machine, for tests. It keeps what it accepts."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

USER, PASSWORD = "overread", "secret-of-the-relay"
SENDER = "Overread <overread@example.org>"
LINK = "https://overread.example.org/"


@dataclass
class MailServer:
    """The server: its port, the accepted mails in order, and the addresses that it refuses or delays."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    delayed: set[str] = field(default_factory=set)

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802 - name of the library
        if address in self.refused:
            return "550 no such mailbox"
        if address in self.delayed:
            return "451 4.7.1 greylisted, try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802 - name of the library
        self.mails.append(message_from_bytes(envelope.content.replace(b"\r\n", b"\n"), policy=policy.default))
        return "250 OK"

    def take_mails(self) -> list[tuple[str, list[str]]]:
        """(address, lines about events) of each mail since the last call."""
        taken = [(mail["To"], describe_events(mail)) for mail in self.mails]
        self.mails.clear()
        return sorted(taken)


def describe_events(mail: EmailMessage) -> list[str]:
    lines = mail.get_content().splitlines()
    return [line.removeprefix("- ") for line in lines if line.startswith("- ")]


@contextmanager
def running_mail_server(
    *, certificate: Path | None = None, tls_from_start: bool = False, port: int = 0
) -> Iterator[MailServer]:
    """Run a mail server; with a certificate it demands STARTTLS or TLS, and user and password."""
    mail_server = MailServer()
    options: dict = {}
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        options = {"auth_required": True, "authenticator": _authenticate}
        options |= (
            {"ssl_context": context, "auth_require_tls": False}
            if tls_from_start
            else {"tls_context": context, "require_starttls": True}
        )
    controller = Controller(mail_server, hostname="127.0.0.1", port=port or _find_free_port(), **options)
    controller.start()
    mail_server.port = controller.port
    try:
        yield mail_server
    finally:
        controller.stop()


def configure_mail(monkeypatch: pytest.MonkeyPatch, port: int, **settings: str) -> None:
    """Name the server in the environment, without encryption unless ``settings`` say so."""
    values = {
        "OVERREAD_SMTP_HOST": "localhost",
        "OVERREAD_SMTP_PORT": str(port),
        "OVERREAD_SMTP_SECURITY": "none",
        "OVERREAD_MAIL_FROM": SENDER,
        "OVERREAD_ADDRESS": LINK,
        **settings,
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)


def make_certificate(folder: Path) -> Path:
    """A file with a key and a certificate for localhost, which is its own authority."""
    path = folder / "localhost.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"), "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    path.write_text((folder / "key.pem").read_text() + (folder / "cert.pem").read_text())
    return path


def _authenticate(server, session, envelope, mechanism, data) -> AuthResult:
    is_correct = (data.login, data.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=is_correct, handled=False)


def _find_free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
