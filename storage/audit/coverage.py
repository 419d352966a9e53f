"""The tables that a checkpoint of the audit trail covers, and those that it omits, with the reasons.

Gold questions and the results of studies, evaluations and leaderboards depend on the covered tables. A row of
a covered table may differ from the last checkpoint only if an entry of the trail since then accounts for the
difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# Subjects of entries; a column of the row is in braces.
_QUESTION = "batch {batch_id} question {question_id}"
_BATCH = "batch {batch_id}"
_STUDY = "study {study_id}"
_READER = "reader {reader_id}"
_RULE = "rule {rule_id}"
#: Matches any subject, for rows that do not contain the subject of their entry.
ANY = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredTable:
    """A covered table, and the entries that account for differences of its rows.

    ``reason`` states what depends on the table. ``accounted_by`` maps actions of the trail to the subject
    that the entry must have, with columns of the row in braces; :data:`ANY` is any subject. Such an entry
    accounts for a new row. It accounts for a changed row only with ``may_change``, and for a deleted row only
    with ``may_vanish``. If ``changeable`` has columns, no other columns of a row may change, and
    ``changed_by`` maps the actions that account for such a change to their subjects. Changes of the columns
    in ``not_compared`` are ignored.
    """

    reason: str
    accounted_by: Mapping[str, str]
    may_change: bool = False
    may_vanish: bool = False
    changed_by: Mapping[str, str] = field(default_factory=dict)
    changeable: frozenset[str] = frozenset()
    not_compared: frozenset[str] = frozenset()


# The entries that account for differences: their actions, with the subjects.
_IMPORTS = {"import questions": ANY, "hide questions": ANY, "create practice set": ANY}
_JUDGEMENTS = dict.fromkeys(
    ("give verdict", "commit own answer", "skip question", "open report", "claim question"), _QUESTION
)
_BULK_ACTIONS = ("reject by rule", "queue by rule")
_ACCOUNT_CHANGES = dict.fromkeys(
    (
        "add person",
        "set password",
        "disable person",
        "enable person",
        "tie to provider",
        "become first admin",
        "sign in",
    ),
    "person {id}",
)
_ASSIGNMENTS = dict.fromkeys(
    (
        "assign questions",
        "reassign questions",
        "withdraw questions",
        "seek second opinions",
        "hide questions",
        "remove hidden questions",
        "share batch",
        "assign practice set",
    ),
    _BATCH,
)

_RELEASE_CHANGES = dict.fromkeys(
    ("create leaderboard", "change release of leaderboard"), "leaderboard {leaderboard_id}"
)
_PREDICTIONS = dict.fromkeys(("import predictions", "store answers of evaluation"), "model {model_id}")

COVERED: Mapping[str, CoveredTable] = {
    # questions and their radiographs
    "dataset": CoveredTable(
        reason="questions and releases belong to it",
        accounted_by=_IMPORTS | {"check questions": "dataset {id}", "import predictions": ANY},
        may_change=True,
    ),
    "import_run": CoveredTable(reason="origin of the questions", accounted_by=_IMPORTS, may_change=True),
    "exam": CoveredTable(
        reason="clinical information and report of a question", accounted_by=_IMPORTS, may_change=True
    ),
    "radiograph": CoveredTable(
        reason="the images that were judged",
        accounted_by=_IMPORTS,
        changed_by={"add images": "exam {exam_id}"},
        changeable=frozenset({"image_sha256", "view"}),
    ),
    "image": CoveredTable(reason="size and hash of each image", accounted_by=_IMPORTS),
    "question": CoveredTable(
        reason="text, options and answer key",
        accounted_by={
            "import questions": "import {import_id}",
            "hide questions": ANY,
            "create practice set": ANY,
        },
        changed_by={"correct boxes": "question {id}", "convert boxes": "question {id}"},
        changeable=frozenset({"boxes"}),
    ),
    "question_provenance": CoveredTable(
        reason="origin of generated questions", accounted_by={"import questions": ANY}
    ),
    # batches
    "batch": CoveredTable(
        reason="settings under which questions were judged",
        accounted_by=dict.fromkeys(
            (
                "draw batch",
                "change settings",
                "close batch",
                "reopen batch",
                "queue by rule",
                "create practice set",
            ),
            "batch {id}",
        ),
        may_change=True,
    ),
    "draw": CoveredTable(
        reason="sampling frame of the estimates",
        accounted_by=dict.fromkeys(("draw batch", "queue by rule"), _BATCH),
    ),
    "stratum": CoveredTable(
        reason="sizes of the strata", accounted_by={"draw batch": ANY, "queue by rule": ANY}
    ),
    "batch_question": CoveredTable(
        reason="drawn questions and their inclusion probabilities",
        accounted_by=dict.fromkeys(("draw batch", "queue by rule"), _BATCH),
    ),
    "assignment": CoveredTable(
        reason="who judges which question",
        accounted_by=_ASSIGNMENTS | _JUDGEMENTS | {"hand question back": _QUESTION},
        may_change=True,
        may_vanish=True,
    ),
    "shared_queue": CoveredTable(
        reason="number of judgements per question", accounted_by={"share batch": _BATCH}, may_change=True
    ),
    "second_opinions": CoveredTable(
        reason="which questions get a second judgement",
        accounted_by={"seek second opinions": _BATCH},
        may_change=True,
    ),
    "hidden_set": CoveredTable(
        reason="datasets of hidden questions, which are not released",
        accounted_by=dict.fromkeys(("hide questions", "remove hidden questions"), _BATCH),
        may_change=True,
    ),
    "hidden_question": CoveredTable(
        reason="questions that measure attention and are not released",
        accounted_by=dict.fromkeys(("hide questions", "remove hidden questions"), _BATCH),
        may_change=True,
    ),
    "practice_set": CoveredTable(
        reason="which questions are for practice and are not released",
        accounted_by={"create practice set": _BATCH},
    ),
    "practice_question": CoveredTable(
        reason="known answers by which reviewers qualify", accounted_by={"create practice set": _BATCH}
    ),
    "practice_requirement": CoveredTable(
        reason="who may review a batch",
        accounted_by={"require practice": _BATCH},
        may_change=True,
        may_vanish=True,
    ),
    "practice_result": CoveredTable(
        reason="who may review a batch", accounted_by={"complete practice set": _BATCH}
    ),
    "practice_exemption": CoveredTable(
        reason="who may review a batch", accounted_by={"exempt from practice": _BATCH}
    ),
    # judgements
    "verdict": CoveredTable(reason="decides what is gold", accounted_by=_JUDGEMENTS),
    "own_answer": CoveredTable(
        reason="the reviewer's answer before the key was shown", accounted_by=_JUDGEMENTS
    ),
    "skip": CoveredTable(reason="questions without a judgement", accounted_by=_JUDGEMENTS),
    "report_opening": CoveredTable(
        reason="whether the report was read before the verdict", accounted_by=_JUDGEMENTS
    ),
    "adjudication": CoveredTable(reason="decides disputed questions", accounted_by={"adjudicate": _QUESTION}),
    "question_comment": CoveredTable(
        reason="comments that may have influenced verdicts", accounted_by={"write comment": _QUESTION}
    ),
    "adjudication_rules": CoveredTable(
        reason="what counts as a dispute",
        accounted_by={"change rules of adjudication": _BATCH},
        may_change=True,
    ),
    "adjudicator": CoveredTable(
        reason="who may decide disputes",
        accounted_by={"change rules of adjudication": _BATCH},
        may_change=True,
        may_vanish=True,
    ),
    "applied_rule": CoveredTable(
        reason="questions rejected by a search", accounted_by=dict.fromkeys(_BULK_ACTIONS, "rule {id}")
    ),
    "applied_question": CoveredTable(
        reason="questions rejected by a search", accounted_by=dict.fromkeys(_BULK_ACTIONS, _RULE)
    ),
    "rule_taken_back": CoveredTable(reason="rules that were undone", accounted_by={"take rule back": _RULE}),
    # releases
    "release": CoveredTable(
        reason="hash of each manifest",
        accounted_by={"make release": "release {id}"},
        not_compared=frozenset({"folder"}),
    ),
    "release_item": CoveredTable(
        reason="questions of each release, public or private",
        accounted_by={"make release": "release {release_id}"},
    ),
    "erratum_report": CoveredTable(
        reason="problems that led to a corrected release",
        accounted_by={"report problem": "release {release_id} question {question_id}"},
    ),
    # reader studies and models
    "reader_study": CoveredTable(
        reason="design of the study",
        accounted_by=dict.fromkeys(
            ("create study", "close study", "reopen study", "change protocol"), "study {id}"
        ),
        may_change=True,
    ),
    "study_protocol": CoveredTable(
        reason="the analysis as planned",
        accounted_by=dict.fromkeys(("create study", "change protocol"), _STUDY),
    ),
    "study_case": CoveredTable(reason="the frozen cases", accounted_by={"create study": _STUDY}),
    "study_case_key": CoveredTable(reason="the frozen answer keys", accounted_by={"create study": ANY}),
    "study_reader": CoveredTable(
        reason="profiles of the readers",
        accounted_by=dict.fromkeys(("assign readers", "remove reader", "import readings"), _STUDY)
        | dict.fromkeys(("set reader profile", "read guideline"), "reader {id}"),
        may_change=True,
        may_vanish=True,
    ),
    "study_slot": CoveredTable(
        reason="order of the cases",
        accounted_by=dict.fromkeys(
            ("create study", "assign readers", "remove reader", "change protocol", "import readings"), _STUDY
        ),
        may_change=True,
        may_vanish=True,
    ),
    "reading": CoveredTable(
        reason="the readers' answers", accounted_by={"give reading": _READER, "import readings": _STUDY}
    ),
    "study_marker": CoveredTable(
        reason="who marks open answers",
        accounted_by={"assign marker": _STUDY},
        may_change=True,
        may_vanish=True,
    ),
    "answer_mark": CoveredTable(
        reason="decides which open answers are correct", accounted_by={"mark answer": _STUDY}
    ),
    "extraction_mark": CoveredTable(
        reason="error rates of answer extraction", accounted_by={"mark extraction": "model {model_id}"}
    ),
    "study_exclusion": CoveredTable(
        reason="exclusions from the analysis", accounted_by={"exclude from study": _STUDY}
    ),
    "model": CoveredTable(
        reason="the models that are compared",
        accounted_by=dict.fromkeys(("import predictions", "plan condition of evaluation"), "model {id}"),
    ),
    "prediction_run": CoveredTable(reason="origin of the predictions", accounted_by=_PREDICTIONS),
    "prediction": CoveredTable(reason="the models' answers", accounted_by=_PREDICTIONS),
    # evaluations of models, juries and leaderboards
    "evaluation": CoveredTable(
        reason="which release, split and prompt an evaluation is about",
        accounted_by={"plan evaluation": "evaluation {id}"},
    ),
    "evaluation_run": CoveredTable(
        reason="conditions of an evaluation",
        accounted_by={"plan condition of evaluation": "model {model_id}"},
    ),
    "evaluation_case": CoveredTable(
        reason="order of options, stem and image that a model was shown; answers are scored with them",
        accounted_by={"plan condition of evaluation": ANY},
    ),
    "score_column": CoveredTable(
        reason="external scores of a model's answers", accounted_by={"import scores from outside": ANY}
    ),
    "jury": CoveredTable(
        reason="which questions a jury judged, and why models judged their own family",
        accounted_by={"plan jury": "dataset {dataset_id}"},
    ),
    "jury_judge": CoveredTable(reason="models and prompts of a jury", accounted_by={"plan jury": ANY}),
    "leaderboard": CoveredTable(
        reason="limits and seed of a leaderboard", accounted_by={"create leaderboard": "leaderboard {id}"}
    ),
    "leaderboard_release": CoveredTable(
        reason="private questions by which submissions are scored",
        accounted_by=_RELEASE_CHANGES,
    ),
    "leaderboard_team": CoveredTable(
        reason="whose submissions are ranked",
        accounted_by={"add team": "leaderboard {leaderboard_id} team {id}"},
    ),
    "leaderboard_member": CoveredTable(
        reason="who submits for a team",
        accounted_by={"change members of team": "leaderboard {leaderboard_id} team {team_id}"},
        may_change=True,
        may_vanish=True,
    ),
    "leaderboard_submission": CoveredTable(
        reason="answers of the teams", accounted_by={"submit predictions": ANY}
    ),
    "leaderboard_score": CoveredTable(
        reason="scores that are ranked",
        accounted_by={"submit predictions": ANY, "change release of leaderboard": ANY},
    ),
    "leaderboard_selection": CoveredTable(
        reason="which submission of a team is ranked", accounted_by={"select submission": ANY}
    ),
    "leaderboard_reference": CoveredTable(
        reason="reference rows of a leaderboard",
        accounted_by=_RELEASE_CHANGES | {"set permanent row": "leaderboard {leaderboard_id}"},
    ),
    # people and patient data
    "person": CoveredTable(
        reason="names of reviewers, and who may sign in", accounted_by=_ACCOUNT_CHANGES, may_change=True
    ),
    "person_role": CoveredTable(
        reason="who may judge, adjudicate and release",
        accounted_by=dict.fromkeys(
            ("add person", "change roles", "become first admin"), "person {person_id}"
        ),
        may_vanish=True,
    ),
    "patient_data_rules": CoveredTable(
        reason="checks that a release requires",
        accounted_by={"change the rules on patient data": ANY},
        may_change=True,
    ),
    "pixel_decision": CoveredTable(
        reason="images that may be released",
        accounted_by={"look for patients in pixels": "image {image_sha256}"},
    ),
}

#: The other tables, with the reasons why gold does not depend on them.
NOT_COVERED: Mapping[str, str] = {
    "audit_entry": "the trail itself; its hash chain covers it",
    "calibration_pair": "pairs drawn to choose a threshold; each draw has an entry of its own",
    "claim": "who has a question of a shared queue at the moment; a verdict counts without it",
    "comment_read": "who has seen a comment; the comments are covered",
    "dataset_check": "which checks are switched on, and how far they ran; each run has an entry of its own",
    "dataset_data_use": "to which models a dataset may be sent; each change has an entry of its own",
    "draft": "unsaved input",
    "draw_probability": "probabilities of a whole frame; the entry of the draw has their hash",
    "first_admin_code": "one-time code; the role that it gives is covered",
    "input_preferences": "keys and mouse button of a person; no judgement depends on them",
    "job": "progress of background work; its results are covered",
    "jury_vote": "read from replies of models, and replaced when they are read again",
    "look": "viewing time so far; a verdict has its own times",
    "model_call": "replies of models; what is imported from them is covered",
    "model_endpoint": "addresses of models; each change has an entry of its own",
    "model_request": "requests to models",
    "model_run": "progress and costs of requests to models",
    "mail_setting": "where a person gets notices; no judgement depends on it",
    "name_mapping": "controlled names of categories; append-only, and each has an entry of its own",
    "pair_judgement": "judgements of calibration pairs; each has an entry of its own",
    "pending_sign_in": "sign-ins that await a code",
    "pixel_text": "ranking that helps people to inspect images; their decisions are covered",
    "pool_member": "who takes questions from a shared queue; verdicts and assignments are covered",
    "bench_expert": "who scores a prompt bench; each change has an entry of its own",
    "bench_report": "reports of prompt benches",
    "bench_score": "scores of outputs of prompts; append-only, and each has an entry of its own",
    "bench_version": "versions of prompts in a bench",
    "prompt_bench": "comparisons of prompts; no question depends on them",
    "prompt_example": "examples for prompts; the versions that contain them are in prompt_version",
    "prompt_version": "prompts for models; append-only",
    "problem": "computed from the questions by the checks",
    "reading_draft": "unsaved input",
    "region_check": "checks of grounded reports; no question depends on them",
    "region_check_expert": "who marks a region check; each change has an entry of its own",
    "region_check_mark": "marks of sentences; append-only, and each has an entry of its own",
    "region_check_report": "reports of region checks",
    "recovery_code": "replaces a second factor once; signing in has an entry of its own",
    "second_factor": "changes at each sign-in; turning it on or off has an entry of its own",
    "sign_in": "browsers that are signed in; each sign-in has an entry of its own",
    "text_hit": "computed from the texts; the texts are covered",
    "wrong_password": "counters that expire",
}
