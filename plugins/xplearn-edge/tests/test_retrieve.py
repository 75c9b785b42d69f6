from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xplearn_edge.index import Index, step_text
from xplearn_edge.retrieve import RetrieveSelector
from xplearn_edge.ucb import score, worth

from xplearn import ConfigError, ContractError, Experience, Query, Selection, Task
from xplearn.builtin.nearest import NearestSelector
from xplearn.testing import parts, samples
from xplearn.testing.agents import FakeAgent
from xplearn.testing.contracts import SelectorContract

shares = st.floats(0.0, 1.0)
cosines = st.floats(-1.0, 1.0)
utilities = st.floats(-1.0, 1.0)
uses = st.integers(0, 500)


class TestContract(SelectorContract):
    @pytest.fixture(
        params=[{}, {"pools": "both", "every": "step"}, {"candidates": 7, "ucb": 0.0}, {"alpha": 1.0, "min_score": 0.5}],
        ids=["default", "both", "candidates", "similarity"],
    )
    def make(self, request):
        return parts.maker("selector", "edge.retrieve", request.param)

    @pytest.fixture
    def agent(self):
        with FakeAgent() as agent:
            yield agent


def at(*places, task="walk", goal="Walk on"):
    """The query of an episode that has seen these places."""
    messages = ({"role": "system", "content": "Answer south"},)
    for place in places:
        messages += ({"role": "user", "content": f"You face {place}"}, {"role": "assistant", "content": "go"})
    found = Task(id=task, env="sample.text", split="train", goal=goal)
    return Query(purpose="act", task=found, messages=messages[:-1], index=len(places) - 1)


def write(agent, place, pool="task", *, id=None, spaces=("key", "step"), **fields):
    """One principle that is found at ``place``."""
    name = id or f"{pool}-{place}"
    for space in ("key", "step"):
        agent.store.open_space(space, encoder=agent.encoder.id, dim=agent.encoder.dim)
    found = Experience(id=name, kind="principle", key=place, content=name, **{"meta": {"pool": pool}, **fields})
    agent.store.add([found], dict.fromkeys(spaces, agent.encoder.encode([place])))


def retrieve(agent, *queries, **fields):
    selector = RetrieveSelector(**fields)
    selector.setup(agent)
    return selector.select(queries, agent.store)


def names(selection):
    return [experience.id for experience in selection.experiences]


# The score


@given(shares, cosines, cosines, utilities)
def test_what_is_more_alike_never_scores_less(alpha, one, other, value):
    low, high = sorted((one, other))
    assert score(low, value, alpha=alpha) <= score(high, value, alpha=alpha)


@given(utilities, utilities, uses, st.floats(0.0, 2.0))
def test_what_is_more_useful_is_never_worth_less(one, other, shown, ucb):
    low, high = sorted((one, other))
    first, second = worth([low, high], [shown, shown], ucb=ucb)
    assert first <= second


@given(utilities, uses, uses, st.floats(0.0, 2.0))
def test_of_equal_utility_the_one_rarely_shown_is_worth_no_less(value, one, other, ucb):
    rare, often = sorted((one, other))
    first, second = worth([value, value], [rare, often], ucb=ucb)
    assert first >= second


def test_the_score_is_that_of_the_formula():
    first, second = worth([0.2, -0.1], [3, 12])
    assert first == pytest.approx(0.2 + 0.5 * math.sqrt(math.log(16) / 4))
    assert second == pytest.approx(-0.1 + 0.5 * math.sqrt(math.log(16) / 13))
    assert score(0.6, first) == pytest.approx(0.5 * 0.8 + 0.5 * first)
    assert worth(0.0, 0, 0) == 0.0


# Over the whole pool


def index_of(vectors, worths):
    experiences = tuple(Experience(id=str(n), kind="principle", key="", content="") for n in range(len(vectors)))
    return Index(experiences=experiences, vectors=np.asarray(vectors, dtype=np.float32), worths=np.asarray(worths, dtype=np.float64))


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def ids(found):
    return [[experience.id for experience, _ in line] for line in found]


corners = st.sampled_from([(1.0, 0.0), (0.6, 0.8), (0.0, 1.0), (-1.0, 0.0)])


@given(
    st.lists(st.tuples(corners, st.sampled_from([-0.5, 0.0, 0.1, 0.1 + 1e-9, 2.0])), min_size=1, max_size=30),
    st.lists(corners, min_size=1, max_size=4),
    st.integers(1, 8),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sets(st.integers(0, 29), max_size=10),
)
def test_the_best_are_those_of_a_plain_sort_with_ties_in_the_order_of_the_bank(pool, queries, k, alpha, barred):
    index = index_of([vector for vector, _ in pool], [value for _, value in pool])
    asked = np.asarray(queries, dtype=np.float32)
    exact = score(asked.astype(np.float64) @ index.vectors.astype(np.float64).T, index.worths, alpha=alpha)
    wanted = [[str(row) for row in np.argsort(-line, kind="stable") if row not in barred][:k] for line in exact]
    found = index.best(asked, k, barred=[{str(row) for row in barred}] * len(asked), alpha=alpha)
    assert ids(found) == wanted


def test_differences_that_single_precision_cannot_see_are_kept():
    rng = np.random.default_rng(0)
    direction = unit(rng.normal(size=(1, 384)))
    vectors, queries = unit(direction + rng.normal(size=(2000, 384)) * 3e-5), unit(direction + rng.normal(size=(20, 384)) * 3e-5)
    exact = queries.astype(np.float64) @ vectors.astype(np.float64).T
    found = index_of(vectors, np.zeros(2000)).best(queries, 6, barred=[()] * 20, alpha=0.5)
    assert ids(found) == [list(map(str, np.argsort(-line, kind="stable")[:6])) for line in exact]


@pytest.mark.parametrize("candidates", [None, 50])
def test_a_row_of_many_queries_equals_the_row_asked_alone(candidates):
    rng = np.random.default_rng(0)
    vectors = unit(rng.normal(size=(3000, 384)))
    index = index_of(vectors, worth(rng.normal(size=3000), rng.integers(0, 40, size=3000)))
    queries = vectors[:64] + np.float32(0.01)
    together = index.best(queries, 6, barred=[()] * 64, alpha=0.5, candidates=candidates)
    alone = [index.best(queries[row : row + 1], 6, barred=[()], alpha=0.5, candidates=candidates)[0] for row in range(64)]
    assert together == alone
    assert all(len(found) == 6 for found in together)


# The selector


def test_utility_outweighs_a_little_likeness_and_likeness_a_little_utility(agent):
    write(agent, "north", utility=0.0)
    write(agent, "northeast", utility=0.4)
    write(agent, "south", utility=0.5)
    (found,) = retrieve(agent, at("north"))
    assert names(found) == ["task-northeast", "task-north", "task-south"]
    assert found.scores == pytest.approx(((1 + math.sqrt(0.5)) / 4 + 0.2, 0.5, 0.25))


def test_what_was_rarely_shown_comes_first(agent):
    write(agent, "north", id="often", uses=50)
    write(agent, "north", id="never", uses=0)
    assert names(retrieve(agent, at("north"))[0]) == ["never", "often"]
    assert names(retrieve(agent, at("north"), ucb=0.0)[0]) == ["often", "never"]


def test_ties_keep_the_order_of_the_bank(agent):
    for name in ("b", "a", "c"):
        write(agent, "east", id=name)
    assert names(retrieve(agent, at("north"), k=2)[0]) == ["b", "a"]


def test_experience_of_the_task_at_hand_is_left_out_and_the_next_best_takes_its_place(agent):
    write(agent, "north", id="own", task="walk", utility=5.0)
    write(agent, "east", id="other", task="run")
    write(agent, "south", id="third", task="run")
    own, foreign = retrieve(agent, at("north"), at("north", task="swim"), k=2)
    assert names(own) == ["other", "third"]
    assert names(foreign) == ["own", "other"]


def test_each_pool_is_found_by_its_own_question(agent):
    write(agent, "north")
    write(agent, "south")
    write(agent, "north", "step")
    write(agent, "south", "step")
    (found,) = retrieve(agent, at("north", "east", "south"), pools="both", k=1, k_step=2)
    assert names(found) == ["task-north", "step-south", "step-north"]
    assert list(found.scores[1:]) == sorted(found.scores[1:], reverse=True)


def test_an_entry_with_vectors_in_both_spaces_stands_in_its_own_pool_alone(agent):
    write(agent, "north")
    write(agent, "north", "step")
    (both,), (task,) = retrieve(agent, at("north"), pools="both"), retrieve(agent, at("north"))
    assert names(both) == ["task-north", "step-north"]
    assert names(task) == ["task-north"]


def test_uses_count_within_their_pool(agent):
    write(agent, "north")
    write(agent, "north", "step", uses=100)
    assert retrieve(agent, at("north"))[0].scores == (0.5,)


def test_a_step_is_asked_about_by_goal_and_current_observation():
    asked = samples.query(0, steps=2)
    assert step_text(asked.task, asked.messages) == "boil object number 0\n\nDoor 1 is open."


def test_cards_of_any_writer_may_be_selected(agent):
    write(agent, "north", id="card", meta={}, spaces=("key",))
    assert names(retrieve(agent, at("north"))[0]) == ["card"]


def test_entries_without_a_vector_cannot_be_found(agent):
    write(agent, "north", id="unfindable", spaces=())
    assert retrieve(agent, at("north")) == [Selection()]


def test_the_most_similar_are_ranked_where_candidates_says_how_many(agent):
    write(agent, "south", utility=9.0)
    write(agent, "north")
    write(agent, "northeast", utility=0.4)
    assert names(retrieve(agent, at("north"), k=2)[0]) == ["task-south", "task-northeast"]
    assert names(retrieve(agent, at("north"), k=2, candidates=2)[0]) == ["task-northeast", "task-north"]


def test_a_score_below_the_least_leaves_out(agent):
    write(agent, "north")
    write(agent, "south")
    assert names(retrieve(agent, at("north"), min_score=0.3)[0]) == ["task-north"]
    assert retrieve(agent, at("north"), min_score=0.6) == [Selection()]


def test_a_new_utility_counts_at_once(agent):
    write(agent, "north")
    write(agent, "east")
    selector = RetrieveSelector(k=1)
    selector.setup(agent)
    assert names(selector.select([at("north")], agent.store)[0]) == ["task-north"]
    agent.store.update("task-east", utility=1.0)
    (found,) = selector.select([at("north")], agent.store)
    assert names(found) == ["task-east"]
    assert found.experiences[0].utility == 1.0


def test_another_bank_is_read_anew(agent):
    write(agent, "north")
    selector = RetrieveSelector()
    selector.setup(agent)
    selector.select([at("north")], agent.store)
    with FakeAgent(encoder=agent.encoder) as other:
        write(other, "east")
        assert other.store.version == agent.store.version
        assert names(selector.select([at("north")], other.store)[0]) == ["task-east"]


def test_alpha_one_ranks_as_nearest_does():
    with FakeAgent() as agent:
        agent.store.open_space("key", encoder=agent.encoder.id, dim=agent.encoder.dim)
        entries = [dataclasses.replace(samples.experience(n), utility=n / 10, uses=n) for n in range(30)]
        agent.store.add(entries, {"key": agent.encoder.encode([entry.key for entry in entries])})
        queries = [samples.query(n) for n in range(5)]
        nearest = NearestSelector(k=6)
        nearest.setup(agent)
        wanted = nearest.select(queries, agent.store)
        assert list(map(names, retrieve(agent, *queries, alpha=1.0))) == list(map(names, wanted))


def test_a_question_is_encoded_once_while_the_policy_stays(agent):
    write(agent, "north")
    write(agent, "north", "step")
    selector = RetrieveSelector(pools="both", every="step")
    selector.setup(agent)
    agent.encoder.texts.clear()
    selector.select([at("north")] * 3, agent.store)
    selector.select([at("north", "east")], agent.store)
    assert agent.encoder.texts == ["Walk on\n\nYou face north", "Walk on\n\nYou face east"]
    agent.policy.version += 1
    selector.select([at("north", "east")], agent.store)
    assert len(agent.encoder.texts) == 4


def test_a_step_space_that_is_not_open_yet_holds_nothing():
    with FakeAgent() as agent:
        agent.store.open_space("key", encoder=agent.encoder.id, dim=agent.encoder.dim)
        agent.store.add([samples.experience(9)], {"key": agent.encoder.encode([samples.experience(9).key])})
        assert names(retrieve(agent, samples.query(0), pools="both")[0]) == ["experience-9"]


def test_a_bank_without_a_space_to_find_by_is_refused():
    with FakeAgent() as agent:
        agent.store.add([samples.experience(9)])
        with pytest.raises(ContractError, match=r"holds 1 experiences but has no space key .*it has: none"):
            retrieve(agent, samples.query(0))


@pytest.mark.parametrize("space", ["key", "step"])
def test_a_bank_of_another_encoder_is_refused_with_both_names(space):
    with FakeAgent() as agent:
        agent.store.open_space(space, encoder="other/3", dim=3)
        with pytest.raises(ContractError, match=r"'other/3' with dimension 3.*'core.hashing/256' with dimension 256"):
            RetrieveSelector(pools="both").setup(agent)


def test_refuses_to_choose_what_to_study_and_to_choose_before_setup(agent):
    with pytest.raises(ContractError, match="for study use"):
        retrieve(agent, dataclasses.replace(at("north"), purpose="study"))
    with pytest.raises(ContractError, match="before setup"):
        RetrieveSelector().select([at("north")], agent.store)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"k": 0}, "k"),
        ({"pools": "both", "k_step": 0}, "k_step"),
        ({"every": "step"}, "every"),
        ({"candidates": 5}, "candidates"),
        ({"pools": "both", "k": 1, "candidates": 5}, "candidates"),
        ({"alpha": 1.01}, "alpha"),
        ({"alpha": math.nan}, "alpha"),
        ({"ucb": -0.1}, "ucb"),
        ({"ucb": math.inf}, "ucb"),
        ({"min_score": math.nan}, "min_score"),
    ],
)
def test_a_wrong_field_is_named(fields, named):
    with pytest.raises(ConfigError) as caught:
        RetrieveSelector(**fields)
    assert caught.value.path == named
