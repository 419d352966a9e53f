"""Services for accounts, sign-ins and the audit trail.

As in all service packages: a function is one transaction, which the caller commits. ``by`` is the person who
acts; :class:`domain.errors.NotAllowed` is raised unless their roles allow the action. ``now`` is the time
that is stored.
"""

from accounts.claims import RoleClaim
from accounts.passwords import DEMO_PASSWORD
from accounts.service.attempts import (
    Attempt,
    TooManyAttempts,
    begin_attempt,
    begin_code_attempt,
    clear_attempt,
)
from accounts.service.backups import record_backup, record_restore
from accounts.service.first_admin import CODE_LIFETIME, become_first_admin, create_first_admin_code, has_admin
from accounts.service.people import (
    add_person,
    change_roles,
    command_line_person,
    disable_person,
    enable_person,
    has_people,
    list_demo_people,
    list_people,
    list_people_with_role,
    load_person_by_name,
    set_password,
)
from accounts.service.provider import find_person_by_claims
from accounts.service.sign_in_lifecycle import (
    IDLE_LIMIT,
    LAST_SEEN_INTERVAL,
    MAX_DURATION,
    ValidSignIn,
    authenticate,
    find_valid_sign_in,
    sign_out,
    start_sign_in,
    update_last_seen,
)
from accounts.service.sign_ins import (
    OwnSignIn,
    change_own_password,
    end_own_sign_in,
    has_password,
    list_own_sign_ins,
    sign_out_everywhere,
    sign_out_person,
)
from accounts.tokens import token_sha256

__all__ = [
    "CODE_LIFETIME",
    "DEMO_PASSWORD",
    "IDLE_LIMIT",
    "LAST_SEEN_INTERVAL",
    "MAX_DURATION",
    "Attempt",
    "OwnSignIn",
    "RoleClaim",
    "TooManyAttempts",
    "ValidSignIn",
    "add_person",
    "authenticate",
    "become_first_admin",
    "begin_attempt",
    "begin_code_attempt",
    "change_own_password",
    "change_roles",
    "clear_attempt",
    "command_line_person",
    "create_first_admin_code",
    "disable_person",
    "enable_person",
    "end_own_sign_in",
    "find_person_by_claims",
    "find_valid_sign_in",
    "has_admin",
    "has_password",
    "has_people",
    "list_demo_people",
    "list_own_sign_ins",
    "list_people",
    "list_people_with_role",
    "load_person_by_name",
    "record_backup",
    "record_restore",
    "set_password",
    "sign_out",
    "sign_out_everywhere",
    "sign_out_person",
    "start_sign_in",
    "token_sha256",
    "update_last_seen",
]
