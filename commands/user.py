"""``cli.py user``: manage accounts, roles and passwords."""

from __future__ import annotations

import argparse
import getpass
import secrets
import sys
from datetime import UTC, datetime

from accounts import service as accounts
from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.errors import InvalidValue, Refused
from domain.mail import MailSetting
from domain.people import ACTIONS_BY_ROLE, Person, Role
from storage.unit_of_work import read_only_session, unit_of_work

_ROLES = {
    Role.ADMIN: "manages accounts, roles and passwords",
    Role.COORDINATOR: "imports data, draws and assigns batches, makes releases",
    Role.REVIEWER: "judges questions",
    Role.READER: "answers questions in reader studies",
    Role.SUBMITTER: "submits predictions to leaderboards",
}
_CODE_CHARACTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # 32 unambiguous characters; 25 of them give 125 bits


def add_to(subparsers: Subparsers) -> None:
    """Add ``user`` and its subcommands."""
    user_parser = subparsers.add_parser("user")
    commands = user_parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    add = commands.add_parser("add", help="add an account")
    add.add_argument("name", metavar="NAME", help="sign-in name or e-mail address")
    _add_role_option(add)
    add.add_argument("--display-name", metavar="TEXT", help="the name that other people see (default: NAME)")
    password_mode = add.add_mutually_exclusive_group()
    _add_password_option(password_mode)
    password_mode.add_argument(
        "--no-password", action="store_true", help="the person signs in with the sign-in provider only"
    )
    add.set_defaults(run=_add_person)

    list_parser = commands.add_parser("list", help="list all accounts")
    list_parser.set_defaults(run=_list_people)

    roles = commands.add_parser(
        "roles",
        help="list the roles and their permissions; with NAME and --role, change the roles of a person",
    )
    roles.add_argument("name", metavar="NAME", nargs="?")
    _add_role_option(roles, required=False)
    roles.set_defaults(run=_show_or_change_roles)

    disable = commands.add_parser("disable", help="disable an account; the person's work is kept")
    disable.add_argument("name", metavar="NAME")
    disable.set_defaults(run=_disable)

    enable = commands.add_parser("enable", help="enable an account again")
    enable.add_argument("name", metavar="NAME")
    enable.set_defaults(run=_enable)

    sign_out = commands.add_parser("sign-out", help="sign a person out everywhere; they can sign in again")
    sign_out.add_argument("name", metavar="NAME")
    sign_out.set_defaults(run=_sign_out)

    reset = commands.add_parser(
        "reset-second-factor", help="delete a person's authenticator app and recovery codes"
    )
    reset.add_argument("name", metavar="NAME")
    reset.set_defaults(run=_reset_second_factor)

    mail = commands.add_parser("mail", help="show or set a person's address for notices by e-mail")
    mail.add_argument("name", metavar="NAME")
    mail.add_argument("--address", metavar="ADDRESS", help="set this address; '' removes it")
    mail.add_argument("--test", action="store_true", help="send a test e-mail to the address now")
    mail.set_defaults(run=_show_or_change_mail)

    first_admin = commands.add_parser("first-admin", help="create a one-time code for the first admin")
    first_admin.set_defaults(run=_create_first_admin_code)

    password = commands.add_parser("password", help="set a new password and sign the person out everywhere")
    password.add_argument("name", metavar="NAME")
    _add_password_option(password)
    password.set_defaults(run=_set_password)


def _add_person(args: argparse.Namespace) -> int:
    password, is_generated = (None, False) if args.no_password else _ask_password(args.password_stdin)
    with unit_of_work() as db:
        person = accounts.add_person(
            db,
            by=accounts.command_line_person(),
            name=args.name,
            display_name=args.display_name,
            roles=args.role,
            password=password,
            now=datetime.now(UTC),
        )
    print(f"Added {person.name} ({', '.join(sorted(person.roles))}).")
    _print_generated(password, is_generated)
    return 0


def _list_people(_args: argparse.Namespace) -> int:
    with read_only_session() as db:
        people = accounts.list_people(db, by=accounts.command_line_person())
    if not people:
        print("No accounts yet. To create the first admin: python cli.py user first-admin", file=sys.stderr)
    for person in people:
        print(
            "\t".join(
                (person.name, person.display_name, ",".join(sorted(person.roles)), _format_state(person))
            )
        )
    return 0


def _show_or_change_roles(args: argparse.Namespace) -> int:
    if args.name is None:
        for role, description in _ROLES.items():
            actions = ", ".join(sorted(ACTIONS_BY_ROLE[role])) or "none"
            print(f"{role.value}\t{description}\t({actions})")
        return 0
    if not args.role:
        with read_only_session() as db:
            print(", ".join(sorted(accounts.load_person_by_name(db, name=args.name).roles)))
        return 0
    with unit_of_work() as db:
        person = accounts.change_roles(
            db,
            by=accounts.command_line_person(),
            name=args.name,
            roles=args.role,
            now=datetime.now(UTC),
        )
    print(f"Roles of {person.name}: {', '.join(sorted(person.roles))}.")
    return 0


def _show_or_change_mail(args: argparse.Namespace) -> int:
    # The other subcommands of ``user`` start faster without these modules.
    from notifications import service as notifications  # noqa: PLC0415 - see above
    from notifications.mail_text import compose_test_mail  # noqa: PLC0415 - see above
    from notifications.smtp import read_smtp_settings, send_mail  # noqa: PLC0415 - see above

    by, now = accounts.command_line_person(), datetime.now(UTC)
    if args.address is not None:
        with unit_of_work() as db:
            notifications.set_mail_address(db, by=by, name=args.name, address=args.address, now=now)
    with read_only_session() as db:
        person = accounts.load_person_by_name(db, name=args.name)
        setting = notifications.list_mail_settings(db, by=by).get(person.id, MailSetting())
    print(f"{person.name}: {setting.address or 'no address'}{'' if setting.wanted else ', notices off'}")
    if args.test:
        if not setting.address:
            raise Refused(f"{person.name} has no address. Set one: --address ADDRESS")
        settings = read_smtp_settings()
        send_mail(settings, compose_test_mail(settings, to=setting.address, now=now))
        print(f"{settings.host}:{settings.port} accepted a test e-mail to {setting.address}.")
    return 0


def _disable(args: argparse.Namespace) -> int:
    with unit_of_work() as db:
        person = accounts.disable_person(
            db, by=accounts.command_line_person(), name=args.name, now=datetime.now(UTC)
        )
    print(f"{person.name} is disabled.")
    return 0


def _enable(args: argparse.Namespace) -> int:
    with unit_of_work() as db:
        person = accounts.enable_person(
            db, by=accounts.command_line_person(), name=args.name, now=datetime.now(UTC)
        )
    print(f"{person.name} is enabled.")
    return 0


def _sign_out(args: argparse.Namespace) -> int:
    with unit_of_work() as db:
        ended_count = accounts.sign_out_person(
            db, by=accounts.command_line_person(), name=args.name, now=datetime.now(UTC)
        )
    print(f"{args.name} is signed out everywhere ({count_text(ended_count, 'sign-in')} ended).")
    return 0


def _reset_second_factor(args: argparse.Namespace) -> int:
    with unit_of_work() as db:
        person = accounts.reset_second_factor(
            db, by=accounts.command_line_person(), name=args.name, now=datetime.now(UTC)
        )
    print(f"{person.name} no longer has an authenticator app and is signed out everywhere.")
    return 0


def _create_first_admin_code(_args: argparse.Namespace) -> int:
    code = "-".join("".join(secrets.choice(_CODE_CHARACTERS) for _ in range(5)) for _ in range(5))
    with unit_of_work() as db:
        expires_at = accounts.create_first_admin_code(
            db, by=accounts.command_line_person(), code=code, now=datetime.now(UTC)
        )
    print(
        "Open the page /first-admin of the app and enter this code. It is shown only once:", file=sys.stderr
    )
    print(code)
    print(f"The code is valid until {expires_at.astimezone():%H:%M} and works once.", file=sys.stderr)
    return 0


def _set_password(args: argparse.Namespace) -> int:
    with read_only_session() as db:
        accounts.load_person_by_name(
            db, name=args.name
        )  # an unknown name is refused before the password is typed
    password, is_generated = _ask_password(args.password_stdin)
    with unit_of_work() as db:
        person = accounts.set_password(
            db,
            by=accounts.command_line_person(),
            name=args.name,
            password=password,
            now=datetime.now(UTC),
        )
    print(f"{person.name} has a new password and is signed out everywhere.")
    _print_generated(password, is_generated)
    return 0


def _add_role_option(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    parser.add_argument(
        "--role",
        action="append",
        required=required,
        default=[] if not required else None,
        choices=[role.value for role in Role],
        help="can be repeated",
    )


def _add_password_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--password-stdin", action="store_true", help="read the password from one line of standard input"
    )


def _ask_password(from_stdin: bool) -> tuple[str, bool]:
    """Get the new password, and whether it was generated.

    The password is read from standard input, typed twice in a terminal, or generated if there is no terminal.
    """
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n"), False
    if not sys.stdin.isatty():
        return secrets.token_urlsafe(12), True
    first_entry = getpass.getpass("Password (at least 10 characters): ")
    if getpass.getpass("Repeat password: ") != first_entry:
        raise InvalidValue("password", "the two entries differ; nothing was changed")
    return first_entry, False


def _print_generated(password: str | None, is_generated: bool) -> None:
    if is_generated:
        print(f"Password (shown only once): {password}")


def _format_state(person: Person) -> str:
    if person.disabled_at is not None:
        return f"disabled since {person.disabled_at:%Y-%m-%d %H:%M} UTC"
    return "demo" if person.demo else "active"
