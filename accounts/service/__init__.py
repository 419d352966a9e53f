"""Services for accounts, sign-ins and the audit trail.

As in all service packages: a function is one transaction, which the caller commits. ``by`` is the person who
acts; :class:`domain.errors.NotAllowed` is raised unless their roles allow the action. ``now`` is the time
that is stored.
"""

from typing import TYPE_CHECKING

from domain.lazy_imports import import_on_use

if TYPE_CHECKING:
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
    from accounts.service.first_admin import (
        CODE_LIFETIME,
        become_first_admin,
        create_first_admin_code,
        has_admin,
    )
    from accounts.service.input_preferences import (
        export_input_preferences,
        import_input_preferences,
        load_input_preferences,
        reset_input_preferences,
        save_left_button,
        save_own_key,
    )
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
    from accounts.service.second_factors import (
        PENDING_LIFETIME,
        PendingSignIn,
        SecondFactorStatus,
        begin_second_factor,
        begin_setup,
        confirm_setup,
        find_setup_secret,
        finish_second_factor,
        list_people_with_second_factor,
        load_pending_person,
        load_pending_sign_in,
        load_second_factor_status,
        replace_recovery_codes,
        require_own_password,
        reset_second_factor,
        turn_off_second_factor,
    )
    from accounts.service.sign_in_lifecycle import (
        IDLE_LIMIT,
        LAST_SEEN_INTERVAL,
        MAX_DURATION,
        PRIVILEGED_DURATION,
        RECOVERY_CODE_SIGN_IN,
        TOTP_SIGN_IN,
        SignInPolicy,
        ValidSignIn,
        authenticate,
        find_sign_in_method,
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
else:
    __getattr__ = import_on_use(__name__)

__all__ = [
    "CODE_LIFETIME",
    "DEMO_PASSWORD",
    "IDLE_LIMIT",
    "LAST_SEEN_INTERVAL",
    "MAX_DURATION",
    "PENDING_LIFETIME",
    "PRIVILEGED_DURATION",
    "RECOVERY_CODE_SIGN_IN",
    "TOTP_SIGN_IN",
    "Attempt",
    "OwnSignIn",
    "PendingSignIn",
    "RoleClaim",
    "SecondFactorStatus",
    "SignInPolicy",
    "TooManyAttempts",
    "ValidSignIn",
    "add_person",
    "authenticate",
    "become_first_admin",
    "begin_attempt",
    "begin_code_attempt",
    "begin_second_factor",
    "begin_setup",
    "change_own_password",
    "change_roles",
    "clear_attempt",
    "command_line_person",
    "confirm_setup",
    "create_first_admin_code",
    "disable_person",
    "enable_person",
    "end_own_sign_in",
    "export_input_preferences",
    "find_person_by_claims",
    "find_setup_secret",
    "find_sign_in_method",
    "find_valid_sign_in",
    "finish_second_factor",
    "has_admin",
    "has_password",
    "has_people",
    "import_input_preferences",
    "list_demo_people",
    "list_own_sign_ins",
    "list_people",
    "list_people_with_role",
    "list_people_with_second_factor",
    "load_input_preferences",
    "load_pending_person",
    "load_pending_sign_in",
    "load_person_by_name",
    "load_second_factor_status",
    "record_backup",
    "record_restore",
    "replace_recovery_codes",
    "require_own_password",
    "reset_input_preferences",
    "reset_second_factor",
    "save_left_button",
    "save_own_key",
    "set_password",
    "sign_out",
    "sign_out_everywhere",
    "sign_out_person",
    "start_sign_in",
    "token_sha256",
    "turn_off_second_factor",
    "update_last_seen",
]
