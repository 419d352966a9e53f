"""Releases (frozen versions of the gold set): selection rule, file writers, manifest and verification."""
