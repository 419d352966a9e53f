"""Near-duplicates: which questions have the same meaning, and which of two questions is marked."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse import csr_array

from domain.duplicates import CalibrationPair, ComparedQuestion
from domain.errors import InvalidValue, Refused
from domain.vocabulary import AnswerFormat
from quality.duplicates.calibration import draw_pairs, estimate_wrong_merges
from quality.duplicates.marking import KeepRule, choose_marks, count_shares, require_below_limit
from quality.duplicates.meaning import Outcome, compare_questions
from quality.duplicates.search import (
    Pair,
    SearchSettings,
    compute_similarities,
    find_pairs_in_exams,
    find_similar_wordings,
)
from quality.duplicates.vectors import LexicalEmbedder, find_similar_rows
from quality.duplicates.wording import load_vocabulary

STEM = "Is there a pleural effusion on the left side?"


def make_closed(stem, answer="yes", *, number=1, exam=1, **others):
    return ComparedQuestion(
        number=number, exam=exam, format=AnswerFormat.CLOSED, stem=stem, answer=answer, **others
    )


def make_single(stem, options, key, *, number=1, exam=1):
    return ComparedQuestion(
        number=number, exam=exam, format=AnswerFormat.SINGLE, stem=stem, options=options, answer=(key,)
    )


def compare(first, second):
    return compare_questions(make_closed(first), make_closed(second))


@pytest.mark.parametrize(
    "other",
    [
        STEM,
        "is there a  PLEURAL EFFUSION on the left side ?",
        "Is there a pleural efusion on the left side?",
        "Is there a pleural effusoin on the left side?",
        "On the left side, is there a pleural effusion?",
        "Are there any pleural effusions on the left?",
        "Is there evidence of left-sided pleural fluid?",
    ],
)
def test_the_same_question_in_other_words_is_a_duplicate(other):
    assert compare(STEM, other) is Outcome.DUPLICATE


@pytest.mark.parametrize(
    ("first", "other", "outcome"),
    [
        (STEM, "Is there a pleural effusion on the right side?", Outcome.LATERALITY),
        (STEM, "Is there a pleural effusion?", Outcome.LATERALITY),
        (STEM, "Is there a pleural effusion on both sides?", Outcome.LATERALITY),
        (STEM, "Is there no pleural effusion on the left side?", Outcome.NEGATION),
        (STEM, "Isn't there a pleural effusion on the left side?", Outcome.NEGATION),
        (STEM, "Is the left side free of pleural effusion?", Outcome.NEGATION),
        (STEM, "Is there a small pleural effusion on the left side?", Outcome.SIZE),
        ("Is the nodule 8 mm?", "Is the nodule 9 mm?", Outcome.SIZE),
        ("Is the nodule 8 mm?", "Is the nodule 8 cm?", Outcome.SIZE),
        ("Are there two nodules?", "Are there three nodules?", Outcome.SIZE),
        ("Is there a nodule in the upper zone?", "Is there a nodule in the lower zone?", Outcome.REGION),
        (STEM, "Is there a pneumothorax on the left side?", Outcome.FINDING),
        ("Is the finding typical?", "Is the finding atypical?", Outcome.WORD),
        ("Is the perineal region shown?", "Is the peroneal region shown?", Outcome.WORD),
        ("Is hypotension likely?", "Is hypertension likely?", Outcome.WORD),
        ("Is the tip above the balloon?", "Is the balloon above the tip?", Outcome.WORD),
        (
            "Is the left lung smaller than the right lung?",
            "Is the right lung smaller than the left lung?",
            Outcome.RELATION,
        ),
        ("Is there a nodule but no mass?", "Is there a mass but no nodule?", Outcome.RELATION),
    ],
)
def test_a_difference_in_meaning_is_no_duplicate(first, other, outcome):
    assert compare(first, other) is outcome
    assert compare(other, first) is outcome


def test_a_length_in_cm_equals_the_same_in_mm():
    assert compare("Is the nodule 0.8 cm?", "Is the nodule 8 mm?") is Outcome.DUPLICATE


def test_unknown_scripts_are_compared_as_they_are():
    assert compare("左肺有结节吗?", "左肺有结节吗?") is Outcome.DUPLICATE
    assert compare("左肺有结节吗?", "右肺有结节吗?") is Outcome.WORD
    assert compare("胸片上显示无结节吗?", "胸片上显示结节吗?") is Outcome.WORD


def test_options_may_be_in_another_order():
    first = make_single("Which side?", ("Left", "Right", "Both"), 0)
    second = make_single("Which side?", ("Both", "left.", "Right"), 1)
    assert compare_questions(first, second) is Outcome.DUPLICATE


def test_other_options_are_another_question():
    first = make_single("What is seen?", ("Nodule", "Mass"), 0)
    second = make_single("What is seen?", ("Nodule", "Pneumothorax"), 0)
    assert compare_questions(first, second) is Outcome.OPTIONS


def test_different_keys_of_a_question_on_one_exam_are_a_contradiction():
    assert compare_questions(make_closed(STEM, "yes"), make_closed(STEM, "no")) is Outcome.CONTRADICTION
    options = ("Left", "Right")
    first, second = make_single("Which side?", options, 0), make_single("Which side?", options, 1)
    assert compare_questions(first, second) is Outcome.CONTRADICTION


def test_other_keys_on_another_exam_are_no_contradiction():
    assert compare_questions(make_closed(STEM, "yes"), make_closed(STEM, "no", exam=2)) is Outcome.KEY


def test_an_open_answer_contradicts_only_if_side_or_size_differ():
    def ask(answer):
        return ComparedQuestion(
            number=1, exam=1, format=AnswerFormat.OPEN, stem="Where is it?", answer=answer
        )

    assert compare_questions(ask("left lung"), ask("Right lung")) is Outcome.CONTRADICTION
    assert compare_questions(ask("left lung"), ask("the left lung.")) is Outcome.DUPLICATE
    assert compare_questions(ask("left lung"), ask("in the chest wall")) is Outcome.KEY


def test_another_format_is_another_question():
    other = ComparedQuestion(number=2, exam=1, format=AnswerFormat.OPEN, stem=STEM, answer="yes")
    assert compare_questions(make_closed(STEM), other) is Outcome.FORMAT


def test_no_phrase_of_the_vocabulary_has_two_meanings():
    assert len(load_vocabulary().phrases) > 150


def search(questions, **settings):
    with ThreadPoolExecutor(1) as executor:
        return find_pairs_in_exams(questions, settings=SearchSettings(**settings), executor=executor)


def test_only_questions_of_the_same_exam_are_pairs():
    questions = [
        make_closed(STEM, number=1),
        make_closed(STEM, number=2),
        make_closed(STEM, number=3, exam=2),
    ]
    assert search(questions).pairs == (Pair(1, 2, 1.0, Outcome.DUPLICATE),)


def test_the_rule_of_the_paper_counts_the_pairs_that_it_would_delete():
    right = STEM.replace("left", "right")
    result = search([make_closed(STEM, number=1), make_closed(right, number=2)], paper_threshold=0.7)
    assert result.pairs == ()
    assert result.differences == Counter({Outcome.LATERALITY: 1})
    assert result.paper_pairs == Counter({Outcome.LATERALITY: 1})


def test_no_questions_give_no_pairs():
    assert search([]).pairs == ()
    assert search([make_closed(STEM)]).questions == 1


def test_wordings_of_all_exams_are_compared_once():
    questions = [
        ("a", make_closed(STEM, number=1, exam=1)),
        ("a", make_closed(STEM, number=2, exam=2)),
        ("b", make_closed("Is there a pleural efusion on the left side?", number=3, exam=3)),
        ("b", make_closed(STEM.replace("left", "right"), number=4, exam=4)),
    ]
    with ThreadPoolExecutor(1) as executor:
        result, wordings = find_similar_wordings(questions, settings=SearchSettings(), executor=executor)
    assert (result.questions, result.wordings) == (4, 3)
    assert [(pair.first, pair.second, pair.outcome) for pair in result.pairs] == [(1, 3, Outcome.DUPLICATE)]
    assert wordings[1].counts == {"a": 2}


def test_the_search_in_blocks_finds_the_same_pairs_as_one_comparison():
    texts = [f"nodule {n % 7} in zone {n % 5} of lung {n % 3}" for n in range(60)]
    vectors = csr_array(LexicalEmbedder().embed(texts))
    cosines = (vectors @ vectors.T).toarray()
    expected = {(i, j) for i in range(60) for j in range(i + 1, 60) if cosines[i, j] >= 0.8}
    for rows in (7, 1000):
        first, second, _ = find_similar_rows(vectors, threshold=0.8, rows_at_once=rows)
        assert set(zip(first.tolist(), second.tolist(), strict=True)) == expected
    dense = vectors.toarray()
    first, second, _ = find_similar_rows(dense, threshold=0.8, rows_at_once=7)
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == expected


def test_the_structural_term_adds_the_share_of_equal_word_pairs():
    # word pairs with ends: (,a)(a,b)(b,) and (,a)(a,c)(c,): one of five is equal
    questions = [make_closed("a b", number=1), make_closed("a c", number=2)]
    ends = np.array([0]), np.array([1])
    text_only = compute_similarities(questions, *ends, settings=SearchSettings())
    combined = compute_similarities(
        questions, *ends, settings=SearchSettings(text_weight=0.5, structure_weight=0.5)
    )
    assert combined[0] == pytest.approx(0.5 * text_only[0] + 0.5 * (1 / 5))


def test_settings_outside_their_range_are_refused():
    with pytest.raises(InvalidValue, match="threshold: must be above 0"):
        SearchSettings(threshold=0)
    with pytest.raises(InvalidValue, match="weights"):
        SearchSettings(text_weight=0)


def make_duplicate_pair(first, second, similarity=0.9):
    return Pair(first, second, similarity, Outcome.DUPLICATE)


def test_the_question_with_the_longer_explanation_stays():
    marks = choose_marks([make_duplicate_pair(1, 2)], explanation_lengths={1: 10, 2: 30})
    assert [(mark.question, mark.kept) for mark in marks] == [(1, 2)]


def test_the_first_of_two_stays_by_rule_or_if_explanations_are_equal():
    for rule, lengths in ((KeepRule.FIRST, {1: 10, 2: 30}), (KeepRule.LONGEST_EXPLANATION, {})):
        marks = choose_marks([make_duplicate_pair(1, 2)], explanation_lengths=lengths, rule=rule)
        assert [(mark.question, mark.kept) for mark in marks] == [(2, 1)]


def test_a_question_is_not_marked_as_a_duplicate_of_a_marked_question():
    # 1 and 2 are duplicates, 2 and 3 too, but not 1 and 3. So 1 stays, 2 is marked, and 3 stays.
    marks = choose_marks(
        [make_duplicate_pair(1, 2), make_duplicate_pair(2, 3)], explanation_lengths={}, rule=KeepRule.FIRST
    )
    assert [(mark.question, mark.kept) for mark in marks] == [(2, 1)]


def test_contradictions_are_never_marked():
    assert choose_marks([Pair(1, 2, 1.0, Outcome.CONTRADICTION)], explanation_lengths={}) == []


def test_a_share_above_the_limit_is_refused_and_named():
    marks = choose_marks([make_duplicate_pair(n, n + 100) for n in range(10)], explanation_lengths={})
    groups = {mark.question: ("presence", "Heart") for mark in marks}
    sizes = {("presence", "Heart"): 20, ("location", "Lung"): 980}
    shares = count_shares(marks, sizes=sizes, groups=groups)
    assert [(share.kind, share.name, share.questions, share.marked) for share in shares] == [
        ("all", "", 1000, 10),
        ("task", "location", 980, 0),
        ("task", "presence", 20, 10),
        ("category", "Heart", 20, 10),
        ("category", "Lung", 980, 0),
        ("controlled category", "Heart", 20, 10),
        ("controlled category", "not mapped", 980, 0),
    ]
    with pytest.raises(Refused, match="10 of 20 questions of task 'presence' would be marked"):
        require_below_limit(shares, limit=0.2)
    require_below_limit(shares, limit=0.5)
    with pytest.raises(InvalidValue, match="limit"):
        require_below_limit(shares, limit=2)


def make_judged_pair(similarity, weight, is_same):
    return CalibrationPair(first=1, second=2, similarity=similarity, weight=weight, is_same=is_same)


def test_pairs_are_drawn_evenly_over_the_bins_and_weighted_by_their_size():
    pairs = [make_duplicate_pair(n, n + 1000, 0.97) for n in range(100)] + [
        make_duplicate_pair(500, 501, 0.45)
    ]
    sample = draw_pairs([*pairs, make_duplicate_pair(700, 701, 0.1)], seed=1, per_bin=10)
    high = [pair for pair in sample if pair.similarity == 0.97]
    assert (len(sample), len(high)) == (11, 10)
    assert {pair.weight for pair in high} == {10.0}
    assert sum(pair.weight for pair in sample) == 101  # the pair below the lowest bin is left out
    assert draw_pairs(pairs, seed=1) == draw_pairs(list(reversed(pairs)), seed=1)
    assert draw_pairs(pairs, seed=1) != draw_pairs(pairs, seed=2)
    assert draw_pairs([], seed=1) == []


def test_wrong_merges_are_weighted_by_the_size_of_their_bin():
    # 90 pairs of .97, 1 of 10 judged wrong; 10 pairs of .92, 5 of 10 wrong: (90 * .1 + 10 * .5) / 100 = .14
    pairs = [make_judged_pair(0.97, 9.0, n != 0) for n in range(10)] + [
        make_judged_pair(0.92, 1.0, n > 4) for n in range(10)
    ]
    estimates = {estimate.threshold: estimate for estimate in estimate_wrong_merges(pairs)}
    assert estimates[0.95].rate == pytest.approx(0.1)
    assert (estimates[0.9].pairs, estimates[0.9].judged) == (100, 20)
    assert estimates[0.9].rate == pytest.approx(0.14)
    assert estimates[0.9].low < 0.14 < estimates[0.9].high
    assert estimates[0.3].rate == estimates[0.9].rate


def test_without_judgements_nothing_is_estimated():
    assert {estimate.rate for estimate in estimate_wrong_merges([make_judged_pair(0.97, 1.0, None)])} == {
        None
    }
    assert estimate_wrong_merges([])[0].pairs == 0


def test_a_bin_without_a_judgement_gives_no_estimate_at_its_threshold():
    estimates = estimate_wrong_merges([make_judged_pair(0.97, 1.0, True), make_judged_pair(0.5, 1.0, None)])
    assert [estimate.rate for estimate in estimates if estimate.threshold in (0.5, 0.95)] == [None, 0.0]
