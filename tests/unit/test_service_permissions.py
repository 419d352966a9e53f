"""Every service checks its permission before anything else: each denied cell of role x service.

The services are discovered, not listed: a new one that takes a person must be entered below, with its action.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module

import pytest

from domain.errors import NotAllowed
from domain.people import ACTIONS_BY_ROLE, Action, Person, Role

STAGE_PACKAGES = (
    "accounts", "browsing", "evaluation", "generation", "intake", "jobs", "language_models", "notifications",
    "privacy", "quality", "sampling", "review",
    "release", "reader_study",
)  # fmt: skip
#: Not part of ``accounts.service``, because few callers need it.
OTHER_MODULES = ("accounts.service.audit_trail",)
REQUIRED_ACTIONS: dict[str, Action] = {
    "accounts.list_audit_choices": Action.SEE_AUDIT,
    "accounts.list_audit_entries": Action.SEE_AUDIT,
    "accounts.export_audit": Action.SEE_AUDIT,
    "accounts.verify_audit": Action.SEE_AUDIT,
    "accounts.add_person": Action.MANAGE_PEOPLE,
    "accounts.change_roles": Action.MANAGE_PEOPLE,
    "accounts.disable_person": Action.MANAGE_PEOPLE,
    "accounts.enable_person": Action.MANAGE_PEOPLE,
    "accounts.list_people": Action.MANAGE_PEOPLE,
    "accounts.create_first_admin_code": Action.MANAGE_PEOPLE,
    "accounts.record_backup": Action.MANAGE_PEOPLE,
    "accounts.record_restore": Action.MANAGE_PEOPLE,
    "accounts.list_people_with_second_factor": Action.MANAGE_PEOPLE,
    "accounts.reset_second_factor": Action.MANAGE_PEOPLE,
    "accounts.set_password": Action.MANAGE_PEOPLE,
    "accounts.sign_out_person": Action.MANAGE_PEOPLE,
    "generation.prepare_stage": Action.RUN_MODELS,
    "generation.write_recipe_questions": Action.RUN_MODELS,
    "evaluation.import_answers": Action.RUN_MODELS,
    "evaluation.list_evaluations": Action.RUN_MODELS,
    "evaluation.load_answers": Action.RUN_MODELS,
    "evaluation.load_evaluation": Action.RUN_MODELS,
    "evaluation.load_exported_answers": Action.RUN_MODELS,
    "evaluation.load_progress": Action.RUN_MODELS,
    "evaluation.open_evaluation": Action.RUN_MODELS,
    "evaluation.open_results": Action.RUN_MODELS,
    "evaluation.pause_evaluation": Action.RUN_MODELS,
    "evaluation.plan_with_endpoint": Action.RUN_MODELS,
    "evaluation.plan_without_endpoint": Action.RUN_MODELS,
    "evaluation.store_records": Action.RUN_MODELS,
    "evaluation.store_replies": Action.RUN_MODELS,
    "intake.load_deidentification": Action.IMPORT_QUESTIONS,
    "language_models.assign_experts": Action.RUN_MODELS,
    "language_models.cancel_run": Action.RUN_MODELS,
    "language_models.create_bench": Action.RUN_MODELS,
    "language_models.find_bench_image": Action.SCORE_OUTPUTS,
    "language_models.list_bench_scores": Action.RUN_MODELS,
    "language_models.list_bench_tasks": Action.SCORE_OUTPUTS,
    "language_models.list_benches": Action.RUN_MODELS,
    "language_models.load_bench": Action.RUN_MODELS,
    "language_models.load_bench_report": Action.RUN_MODELS,
    "language_models.open_output": Action.SCORE_OUTPUTS,
    "language_models.score_output": Action.SCORE_OUTPUTS,
    "language_models.draw_example_source": Action.RUN_MODELS,
    "language_models.export_examples": Action.RUN_MODELS,
    "language_models.list_examples": Action.RUN_MODELS,
    "language_models.load_example_source": Action.RUN_MODELS,
    "language_models.remove_example": Action.RUN_MODELS,
    "language_models.save_example": Action.RUN_MODELS,
    "language_models.create_run": Action.RUN_MODELS,
    "language_models.iterate_replies": Action.RUN_MODELS,
    "language_models.list_data_use": Action.RUN_MODELS,
    "language_models.list_prompts": Action.RUN_MODELS,
    "language_models.list_requests": Action.RUN_MODELS,
    "language_models.list_runs": Action.RUN_MODELS,
    "language_models.load_progress": Action.RUN_MODELS,
    "language_models.load_prompt": Action.RUN_MODELS,
    "language_models.load_request": Action.RUN_MODELS,
    "language_models.load_run": Action.RUN_MODELS,
    "language_models.open_run": Action.RUN_MODELS,
    "language_models.pause_run": Action.RUN_MODELS,
    "language_models.record_test": Action.MANAGE_MODELS,
    "language_models.replay_run": Action.RUN_MODELS,
    "language_models.retire_endpoint": Action.MANAGE_MODELS,
    "language_models.save_endpoint": Action.MANAGE_MODELS,
    "language_models.save_prompt": Action.RUN_MODELS,
    "language_models.set_data_use": Action.PROTECT_PATIENTS,
    "notifications.list_unsent_mails": Action.MANAGE_PEOPLE,
    "notifications.list_mail_settings": Action.MANAGE_PEOPLE,
    "notifications.set_mail_address": Action.MANAGE_PEOPLE,
    "browsing.list_applied_rules": Action.DRAW_BATCH,
    "browsing.preview_bulk_action": Action.DRAW_BATCH,
    "browsing.queue_matching": Action.DRAW_BATCH,
    "browsing.reject_matching": Action.DRAW_BATCH,
    "browsing.undo_rule": Action.DRAW_BATCH,
    "browsing.list_batch_names": Action.BROWSE,
    "browsing.find_last_imported_dataset": Action.BROWSE,
    "browsing.list_browsable_datasets": Action.BROWSE,
    "browsing.load_filter_choices": Action.BROWSE,
    "browsing.count_matches": Action.BROWSE,
    "browsing.compute_dataset_statistics": Action.BROWSE,
    "browsing.count_report_findings": Action.BROWSE,
    "browsing.load_statistics_version": Action.BROWSE,
    "release.find_dataset_leaks": Action.BROWSE,
    "browsing.search_questions": Action.BROWSE,
    "browsing.load_history": Action.BROWSE,
    "browsing.load_question_number": Action.BROWSE,
    "intake.import_questions": Action.IMPORT_QUESTIONS,
    "privacy.change_rules": Action.PROTECT_PATIENTS,
    "privacy.decide_images": Action.PROTECT_PATIENTS,
    "privacy.find_hits": Action.PROTECT_PATIENTS,
    "privacy.load_hit_report": Action.PROTECT_PATIENTS,
    "privacy.list_hits": Action.PROTECT_PATIENTS,
    "privacy.load_next_images": Action.PROTECT_PATIENTS,
    "privacy.load_pixel_state": Action.PROTECT_PATIENTS,
    "privacy.load_pseudonym_key": Action.PROTECT_PATIENTS,
    "privacy.rank_images": Action.PROTECT_PATIENTS,
    "privacy.record_hits": Action.PROTECT_PATIENTS,
    "privacy.record_ranks": Action.PROTECT_PATIENTS,
    "privacy.load_removed_images": Action.PROTECT_PATIENTS,
    "privacy.load_rules": Action.PROTECT_PATIENTS,
    "quality.list_examples": Action.SEE_CHECKS,
    "quality.finish_run": Action.IMPORT_QUESTIONS,
    "quality.list_results": Action.SEE_CHECKS,
    "quality.judge_pair": Action.IMPORT_QUESTIONS,
    "quality.load_calibration": Action.SEE_CHECKS,
    "quality.load_check_outcomes": Action.SEE_CHECKS,
    "quality.load_pairs": Action.SEE_CHECKS,
    "quality.store_calibration": Action.IMPORT_QUESTIONS,
    "quality.mark_duplicates": Action.IMPORT_QUESTIONS,
    "quality.record_results": Action.IMPORT_QUESTIONS,
    "quality.reset_checks": Action.IMPORT_QUESTIONS,
    "quality.set_minimum_explanation": Action.IMPORT_QUESTIONS,
    "quality.switch_check": Action.IMPORT_QUESTIONS,
    "quality.write_problems_csv": Action.SEE_CHECKS,
    "quality.list_imported_files": Action.SEE_CHECKS,
    "quality.list_datasets": Action.SEE_CHECKS,
    "quality.load_question_with_problem": Action.SEE_CHECKS,
    "quality.load_check_report": Action.SEE_CHECKS,
    "reader_study.assign_marker": Action.RUN_STUDY,
    "reader_study.assign_readers": Action.RUN_STUDY,
    "reader_study.import_marks": Action.MARK_ANSWERS,
    "reader_study.list_marked_answers": Action.RUN_STUDY,
    "reader_study.list_marking_tasks": Action.MARK_ANSWERS,
    "reader_study.load_extraction_check": Action.RUN_STUDY,
    "reader_study.mark_extraction": Action.RUN_STUDY,
    "reader_study.load_marking_progress": Action.RUN_STUDY,
    "reader_study.mark_answer": Action.MARK_ANSWERS,
    "reader_study.open_answer": Action.MARK_ANSWERS,
    "reader_study.change_protocol": Action.RUN_STUDY,
    "reader_study.choose_models": Action.RUN_STUDY,
    "reader_study.close_study": Action.RUN_STUDY,
    "reader_study.count_available_cases": Action.RUN_STUDY,
    "reader_study.count_finished_readers": Action.RUN_STUDY,
    "review.count_open_disputes": Action.SEE_PROGRESS,
    "quality.list_dataset_problems": Action.SEE_CHECKS,
    "reader_study.create_study": Action.RUN_STUDY,
    "reader_study.exclude_readings": Action.RUN_STUDY,
    "reader_study.list_exclusions": Action.RUN_STUDY,
    "reader_study.list_faulty_questions": Action.RUN_STUDY,
    "reader_study.submit_reading": Action.READ,
    "reader_study.import_predictions": Action.RUN_STUDY,
    "reader_study.import_readings": Action.RUN_STUDY,
    "reader_study.is_training_case": Action.READ,
    "reader_study.save_reading_draft": Action.READ,
    "reader_study.list_study_models": Action.RUN_STUDY,
    "reader_study.list_models": Action.RUN_STUDY,
    "reader_study.list_studies": Action.RUN_STUDY,
    "reader_study.open_case": Action.READ,
    "reader_study.list_protocol_versions": Action.RUN_STUDY,
    "reader_study.record_guideline_read": Action.READ,
    "reader_study.list_readers": Action.RUN_STUDY,
    "reader_study.load_reading_at": Action.READ,
    "reader_study.load_marking_image": Action.MARK_ANSWERS,
    "reader_study.load_reading_image": Action.READ,
    "reader_study.record_reading_time": Action.READ,
    "reader_study.remove_reader": Action.RUN_STUDY,
    "reader_study.reopen_study": Action.RUN_STUDY,
    "reader_study.load_report_state": Action.RUN_STUDY,
    "reader_study.set_profile": Action.RUN_STUDY,
    "reader_study.list_studies_for_reader": Action.READ,
    "reader_study.load_study_progress": Action.RUN_STUDY,
    "reader_study.load_or_compute_report": Action.RUN_STUDY,
    "reader_study.load_study_summary": Action.RUN_STUDY,
    "release.list_releases": Action.MAKE_RELEASE,
    "release.add_corrected_examples": Action.RUN_MODELS,
    "release.preview_release": Action.MAKE_RELEASE,
    "release.preview_version": Action.MAKE_RELEASE,
    "release.record_release": Action.MAKE_RELEASE,
    "release.list_releasable_batches": Action.MAKE_RELEASE,
    "release.find_release_file": Action.MAKE_RELEASE,
    "release.list_release_files": Action.MAKE_RELEASE,
    "release.verify_recorded_release": Action.MAKE_RELEASE,
    "release.write_release": Action.MAKE_RELEASE,
    "review.adjudicate": Action.ADJUDICATE,
    "review.load_adjudication_rules": Action.ASSIGN,
    "review.assign": Action.ASSIGN,
    "review.list_comment_threads": Action.BROWSE,
    "review.list_own_unread_threads": Action.JUDGE,
    "review.load_own_comments": Action.JUDGE,
    "review.mark_comments_read": Action.JUDGE,
    "review.list_question_reviewers": Action.BROWSE,
    "review.mark_threads_read": Action.BROWSE,
    "review.write_comment": Action.JUDGE,
    "review.write_to_reviewer": Action.BROWSE,
    "review.compute_batch_agreement": Action.SEE_PROGRESS,
    "review.compute_batch_attention": Action.SEE_PROGRESS,
    "review.count_hidden_by_batch": Action.SEE_PROGRESS,
    "review.list_hidden_questions": Action.ASSIGN,
    "review.load_hidden_plan": Action.ASSIGN,
    "review.hide_questions": Action.ASSIGN,
    "review.preview_hiding": Action.ASSIGN,
    "review.remove_hidden": Action.ASSIGN,
    "review.load_batch_workload": Action.SEE_PROGRESS,
    "review.load_named_batch": Action.SEE_PROGRESS,
    "review.list_batches_for_reviewer": Action.JUDGE,
    "review.list_batches_to_adjudicate": Action.ADJUDICATE,
    "review.change_adjudication_rules": Action.ASSIGN,
    "review.change_settings": Action.ASSIGN,
    "review.claim_next": Action.JUDGE,
    "review.close_batch": Action.ASSIGN,
    "review.save_own_answer": Action.JUDGE,
    "review.check_question_access": Action.JUDGE,
    "review.load_exam_for_drawing": Action.JUDGE,
    "review.list_disputes": Action.ADJUDICATE,
    "review.check_key_errors": Action.SEE_PROGRESS,
    "review.measure_checks": Action.SEE_CHECKS,
    "review.load_counts_version": Action.SEE_PROGRESS,
    "review.list_estimable_batches": Action.SEE_PROGRESS,
    "review.estimate_groups": Action.SEE_PROGRESS,
    "review.estimate_dataset": Action.SEE_PROGRESS,
    "review.save_verdict": Action.JUDGE,
    "review.hand_back": Action.JUDGE,
    "review.save_draft": Action.JUDGE,
    "review.load_last_judged": Action.JUDGE,
    "review.may_hand_back": Action.JUDGE,
    "review.find_next_open": Action.JUDGE,
    "review.open_dispute": Action.ADJUDICATE,
    "review.open_report": Action.JUDGE,
    "review.load_sheet": Action.JUDGE,
    "review.list_batch_overviews": Action.SEE_PROGRESS,
    "review.preview_assign": Action.ASSIGN,
    "review.load_progress": Action.SEE_PROGRESS,
    "review.reassign": Action.ASSIGN,
    "review.load_sample": Action.SEE_PROGRESS,
    "review.record_viewing_times": Action.JUDGE,
    "review.reopen_batch": Action.ASSIGN,
    "review.load_page": Action.JUDGE,
    "review.lock_for_verdict": Action.JUDGE,
    "review.load_page_after": Action.JUDGE,
    "review.are_settings_frozen": Action.ASSIGN,
    "review.preview_second_opinions": Action.ASSIGN,
    "review.load_second_opinions": Action.ASSIGN,
    "review.request_second_opinions": Action.ASSIGN,
    "review.share_batch": Action.ASSIGN,
    "review.skip_question": Action.JUDGE,
    "review.list_skipped_questions": Action.JUDGE,
    "review.withdraw": Action.ASSIGN,
    "sampling.draw_batch": Action.DRAW_BATCH,
    "sampling.list_drawable_datasets": Action.DRAW_BATCH,
    "sampling.list_batches": Action.DRAW_BATCH,
    "sampling.list_batch_questions": Action.DRAW_BATCH,
    "sampling.preview_draw": Action.DRAW_BATCH,
}
#: Services that take a person and require no action of the table, and what they check instead.
OTHER_CHECKS = {
    "accounts.start_sign_in": "the person's own password or provider, just before",
    "accounts.begin_second_factor": "the person's own password, just before",
    "accounts.begin_setup": "nothing: the second factor is the person's own",
    "accounts.change_own_password": "the person's own current password",
    "accounts.confirm_setup": "a code of the person's own authenticator app",
    "accounts.find_setup_secret": "nothing: the second factor is the person's own",
    "accounts.load_second_factor_status": "nothing: the second factor is the person's own",
    "accounts.replace_recovery_codes": "the person's own current password",
    "accounts.require_own_password": "the person's own current password",
    "accounts.turn_off_second_factor": "the person's own current password",
    "accounts.export_input_preferences": "nothing: the keys are the person's own",
    "accounts.import_input_preferences": "nothing: the keys are the person's own",
    "accounts.load_input_preferences": "nothing: the keys are the person's own",
    "accounts.reset_input_preferences": "nothing: the keys are the person's own",
    "accounts.save_left_button": "nothing: the keys are the person's own",
    "accounts.save_own_key": "nothing: the keys are the person's own",
    "accounts.end_own_sign_in": "nothing: the sign-ins are the person's own",
    "accounts.has_password": "nothing: it is the person's own",
    "accounts.list_own_sign_ins": "nothing: the sign-ins are the person's own",
    "accounts.sign_out_everywhere": "nothing: the sign-ins are the person's own",
    "jobs.cancel_job": "the action of the job",
    "jobs.dismiss_job": "the action of the job",
    "jobs.load_job": "the action of the job",
    "jobs.load_latest_job": "the action of the kind of job",
    "jobs.list_jobs": "nothing: it lists the jobs under the person's own actions",
    "jobs.load_own_latest_job": "the action of the kind of job",
    "jobs.restart_job": "the action of the job",
    "jobs.start_job": "the action of the kind of job",
    "language_models.list_endpoints": "the action of endpoints or that of runs",
    "language_models.load_endpoint": "the action of endpoints or that of runs",
    "notifications.load_own_mail_setting": "nothing: the address is the person's own",
    "notifications.notify_coordinators": "nothing: part of a service that has checked its action",
    "notifications.save_own_mail_setting": "nothing: the address is the person's own",
    "review.load_radiograph_file": "a question on that exam, or the role coordinator",
}


def list_services() -> Iterator[tuple[str, Callable[..., object], str]]:
    """(name, function, the parameter for the person) of each service that takes a person."""
    for module in (*(f"{stage}.service" for stage in STAGE_PACKAGES), *OTHER_MODULES):
        stage = module.partition(".")[0]
        for name, function in sorted(vars(import_module(module)).items()):
            public = inspect.isfunction(function) and not name.startswith("_")
            if public and function.__module__.startswith(f"{stage}.service"):
                parameters = inspect.signature(function).parameters
                person_parameter = next(
                    (parameter_name for parameter_name in ("by", "person") if parameter_name in parameters),
                    None,
                )
                if person_parameter and "db" in parameters:
                    yield f"{stage}.{name}", function, person_parameter


SERVICES = {name: (function, person_parameter) for name, function, person_parameter in list_services()}
DENIED_ROLES = [
    (name, role) for name, action in REQUIRED_ACTIONS.items() if name in SERVICES
    for role in Role if action not in ACTIONS_BY_ROLE[role]
]  # fmt: skip


def call_service(name: str, person: Person) -> None:
    """Call the service as that person, with None for all other arguments, the database included."""
    function, person_parameter = SERVICES[name]
    required_parameters = [
        parameter_name for parameter_name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is inspect.Parameter.empty and parameter_name not in {"db", person_parameter}
        and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]  # fmt: skip
    result = function(None, **{person_parameter: person}, **dict.fromkeys(required_parameters))
    if inspect.isgenerator(result):
        next(result)


def make_person(*roles: Role) -> Person:
    return Person(id=1, name="anna", display_name="Anna", roles=frozenset(roles))


def test_every_service_with_a_person_is_listed():
    assert sorted(SERVICES) == sorted([*REQUIRED_ACTIONS, *OTHER_CHECKS])


@pytest.mark.parametrize(("name", "role"), DENIED_ROLES)
def test_a_role_without_the_action_is_refused_before_any_query(name, role):
    with pytest.raises(NotAllowed, match=f"may not {REQUIRED_ACTIONS[name]}"):
        call_service(name, make_person(role))


@pytest.mark.parametrize("name", [name for name in REQUIRED_ACTIONS if name in SERVICES])
def test_a_disabled_person_is_refused_with_any_role(name):
    disabled = replace(make_person(*Role), disabled_at=datetime(2026, 1, 5, tzinfo=UTC))
    with pytest.raises(NotAllowed):
        call_service(name, disabled)
