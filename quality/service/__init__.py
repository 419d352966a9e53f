"""Services for the checks of questions, for pages, commands and the stages that have checks of their own."""

from quality.service.duplicates import (
    ComparedPair,
    DuplicateReport,
    find_duplicates,
    find_repeated_wordings,
    load_pairs,
    mark_duplicates,
)
from quality.service.reports import (
    CheckLine,
    CheckReport,
    DatasetProblems,
    DatasetSummary,
    ProblemCount,
    ProblemExample,
    list_dataset_problems,
    list_datasets,
    list_examples,
    list_imported_files,
    list_results,
    load_check_report,
    load_question_with_problem,
    write_problems_csv,
)
from quality.service.runs import CheckRun, finish_run, record_results, run_checks
from quality.service.settings import reset_checks, set_minimum_explanation, switch_check

__all__ = [
    "CheckLine",
    "CheckReport",
    "CheckRun",
    "ComparedPair",
    "DatasetProblems",
    "DatasetSummary",
    "DuplicateReport",
    "ProblemCount",
    "ProblemExample",
    "find_duplicates",
    "find_repeated_wordings",
    "finish_run",
    "list_dataset_problems",
    "list_datasets",
    "list_examples",
    "list_imported_files",
    "list_results",
    "load_check_report",
    "load_pairs",
    "load_question_with_problem",
    "mark_duplicates",
    "record_results",
    "reset_checks",
    "run_checks",
    "set_minimum_explanation",
    "switch_check",
    "write_problems_csv",
]
