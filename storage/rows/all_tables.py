"""All tables together, for code that needs the whole schema: migrations, backups and tests."""

from sqlmodel import SQLModel

from storage.rows import (  # noqa: F401 - importing a group adds its tables to the metadata
    adjudications,
    applied_rules,
    audit,
    batches,
    checks,
    claims,
    comments,
    datasets,
    duplicates,
    evaluations,
    hidden,
    jobs,
    juries,
    language_models,
    leaderboards,
    marks,
    patient_data,
    people,
    practice,
    prompt_bench,
    region_checks,
    releases,
    second_factors,
    sign_in_security,
    studies,
    taxonomy,
    verdicts,
)

#: All tables of the project. A test compares the migrations with them.
metadata = SQLModel.metadata
