from __future__ import annotations

import collections
import hashlib
import math
import time

import pytest
from xplearn_expbench.mini import recommendation
from xplearn_expbench.splits import normalised

TASKS = (recommendation.rec_movies, recommendation.rec_beauty)
RANDOM = sum(1 / math.log2(rank + 1) for rank in range(1, 11)) / 20


def parts(task):
    rows = task()
    return [row for row in rows if row.split == "train"], [row for row in rows if row.split == "test"]


def ndcg(row, scores):
    """NDCG@10 of the target, ties in every order alike."""
    above = sum(scores[title] > scores[row.answer] for title in row.choices)
    level = sum(scores[title] == scores[row.answer] for title in row.choices)
    return sum(1 / math.log2(rank + 1) for rank in range(above + 1, above + level + 1) if rank <= 10) / level


def mean(rows, score):
    return sum(ndcg(row, {title: score(row, title) for title in row.choices}) for row in rows) / len(rows)


def overlap(row, title):
    """Traits that a candidate shares with what the user chose."""
    traits = row.meta["traits"]
    return sum(len({*traits[title]} & {*traits[chosen]}) for chosen in row.meta["history"])


@pytest.mark.parametrize("task", TASKS)
def test_there_are_enough_users_each_in_one_split(task):
    train, test = parts(task)
    assert len(train) >= 200
    assert len(test) >= 100
    rows = [*train, *test]
    assert (
        len({normalised(row.question) for row in rows})
        == len({row.id for row in rows})
        == len({row.meta["user"] for row in rows})
        == len(rows)
    )


@pytest.mark.parametrize("task", TASKS)
def test_the_target_is_among_twenty_candidates_none_of_which_was_chosen_before(task):
    places = collections.Counter()
    for row in task():
        assert len(set(row.choices)) == 20
        assert row.answer in row.choices
        assert not {*row.choices} & {*row.meta["history"]}
        places[row.choices.index(row.answer)] += 1
    assert max(places.values()) < 40


@pytest.mark.parametrize("task", TASKS)
def test_the_history_has_at_most_ten_titles_none_twice_the_latest_last(task):
    for row in task():
        assert row.question.splitlines()[1:] == row.meta["history"]
        assert 6 <= len(set(row.meta["history"])) == len(row.meta["history"]) <= 10


@pytest.mark.parametrize("task", TASKS)
def test_popularity_beats_chance_and_taste_beats_popularity_clearly(task):
    train, test = parts(task)
    seen = collections.Counter(title for row in train for title in (*row.meta["history"], row.answer))
    seen.update(title for row in test for title in row.meta["history"])
    assert mean(test, lambda row, title: 0) == pytest.approx(RANDOM) == pytest.approx(0.2272, abs=1e-4)
    popular, tasteful = mean(test, lambda row, title: seen[title]), mean(test, overlap)
    assert popular > RANDOM + 0.05
    assert tasteful > popular + 0.1
    assert tasteful < 0.75


@pytest.mark.parametrize("task", TASKS)
def test_drifting_users_are_foretold_better_by_what_they_chose_lately(task):
    drifting = [row for row in task() if row.meta["level"] == 2]

    def lately(row, title):
        traits = row.meta["traits"]
        return sum(2.0**place * len({*traits[title]} & {*traits[chosen]}) for place, chosen in enumerate(row.meta["history"]))

    assert 0.4 < len(drifting) / len(task()) < 0.8
    assert mean(drifting, lately) > mean(drifting, overlap)


@pytest.mark.parametrize("task", TASKS)
def test_a_title_tells_the_traits(task):
    for row in task():
        for title, traits in row.meta["traits"].items():
            for trait in traits:
                words = {*recommendation.GENRES.get(trait, ()), trait}
                assert words & {*title.split()}


@pytest.mark.parametrize("task", TASKS)
def test_rows_are_made_within_two_seconds(task):
    start = time.process_time()
    task()
    assert time.process_time() - start < 12


@pytest.mark.parametrize(("task", "digest"), [*zip(TASKS, ("07cca7a4bf89", "6fca1bd5fdb1"), strict=True)])
def test_rows_are_as_recorded(task, digest):
    told = repr([(row.id, row.question, row.choices, row.answer, row.split) for row in task()])
    assert hashlib.blake2b(told.encode(), digest_size=6).hexdigest() == digest
