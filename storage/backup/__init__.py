"""Backup of a whole workspace to one file while it is in use, and its restoration. Hashes verify both."""

from storage.backup.archive import BackupDamaged
from storage.backup.backup_writer import BackupResult, make_backup
from storage.backup.manifest import Manifest
from storage.backup.migration_backup import back_up_before_migration
from storage.backup.restoration import RestoreResult, check_backup, restore_backup

__all__ = [
    "BackupDamaged",
    "BackupResult",
    "Manifest",
    "RestoreResult",
    "back_up_before_migration",
    "check_backup",
    "make_backup",
    "restore_backup",
]
