from dataclasses import replace

import pytest
from xplearn_baselines.pairs import joined, line, pairs

from xplearn import Completion, Conditioning, ContractError, Memory
from xplearn.testing import samples


def played(number=0, score=1.0, source="rollout", name="a", **fields):
    return replace(samples.trajectory(number), id=name, score=score, source=source, **fields)


def expert(number=0, score=1.0, **fields):
    return played(number, score, source="demonstration", name="expert", **fields)


def names(found):
    return [(pair.winner.id, pair.loser.id) for pair in found]


def test_expert_wins_over_a_worse_rollout_of_the_same_episode():
    assert names(pairs([expert(), played(score=0.5)], margin=0.0)) == [("expert", "a")]


def test_better_rollout_wins_over_the_expert_and_over_a_worse_rollout():
    batch = [expert(score=0.6), played(score=0.9), played(score=0.1, name="b")]
    assert names(pairs(batch, margin=0.0)) == [("a", "expert"), ("a", "b")]


def test_equal_scores_make_no_pair_and_of_equals_the_expert_wins():
    assert pairs([played(score=1.0), expert(score=1.0)], margin=0.0) == []
    assert names(pairs([played(), expert(), played(score=0.0, name="b")], margin=0.0)) == [("expert", "b")]


def test_margin_is_the_least_difference_that_counts():
    batch = [expert(), played(score=0.75)]
    assert pairs(batch, margin=0.25) == []
    assert len(pairs(batch, margin=0.24)) == 1


@pytest.mark.parametrize("other", [{"seed": 99}, {"arm": "experience"}, {"task": samples.task(1)}])
def test_another_seed_arm_or_task_is_another_episode(other):
    assert pairs([expert(arm="plain"), played(**{"score": 0.0, "arm": "plain", **other})], margin=0.0) == []


def test_broken_and_empty_trajectories_take_no_part():
    assert pairs([expert(), played(score=0.0, error="died"), played(score=0.0, steps=())], margin=0.0) == []


def step(prompt, said, text="x", finish="stop", memory=None):
    base = samples.trajectory(0).steps[0]
    completion = Completion(text=text, prompt_ids=tuple(prompt), token_ids=tuple(said), finish=finish)
    return replace(base, completion=completion, conditioning=Conditioning(messages=base.query.messages, memory=memory))


class Spelling:
    """Transcribes every text as one token 7 after a prompt that grows with the texts before it."""

    def __init__(self, prompts):
        self.prompts = prompts

    def transcribe(self, conditionings, texts):
        return [Completion(text=text, prompt_ids=prompt, token_ids=(7,)) for prompt, text in zip(self.prompts, texts, strict=True)]


def test_whole_conversation_is_one_line_in_which_only_the_agents_tokens_count():
    found = joined([step([1, 2], [3, 4]), step([1, 2, 3, 4, 5, 6], [7])])
    assert found.ids == (1, 2, 3, 4, 5, 6, 7)
    assert found.acted == (False, False, True, True, False, False, True)


def test_prompt_that_does_not_extend_the_last_one_gives_no_line():
    assert joined([step([1, 2], [3, 4]), step([1, 2, 9, 5, 6], [7])]) is None


def test_free_text_that_the_next_prompt_spells_otherwise_is_transcribed():
    steps = (step([1, 2], [3, 4]), step([1, 2, 7, 5], [3]))
    found = line(played(steps=steps), Spelling([(1, 2), (1, 2, 7, 5)]))
    assert (found.ids, found.acted) == ((1, 2, 7, 5, 7), (False, False, True, False, True))
    assert line(played(steps=steps), Spelling([(1, 2), (8, 2, 7, 5)])) is None


def test_step_past_the_context_is_no_part_of_the_line():
    assert line(played(steps=(step([1], [2]), step([1, 2, 3], [], finish="context"))), None).ids == (1, 2)


def test_steps_without_tokens_and_latent_memory_are_refused():
    with pytest.raises(ContractError, match=r"baselines.eto: trajectory 'a' has steps without tokens"):
        line(played(steps=(step([], []),)), None)
    with pytest.raises(ContractError, match=r"take a conditioner that shows text"):
        line(played(steps=(step([1], [2], memory=Memory(states=[[0.0]], ids=("e",))),)), None)
