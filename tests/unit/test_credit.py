"""What ``core.grpo`` makes of episodes of many turns: penalties, members, anchors, and groups that tell nothing."""

import contextlib
import time
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from xplearn.errors import ConfigError  # noqa: E402
from xplearn.interfaces import LocalPolicy, TokenScores  # noqa: E402
from xplearn.learning.advantage import advantages, std  # noqa: E402
from xplearn.learning.credit import discounted_returns, observation, step_returns, trajectory_return, worth  # noqa: E402
from xplearn.learning.drawn import drawn  # noqa: E402
from xplearn.learning.grpo import GrpoLearner  # noqa: E402
from xplearn.testing.agents import FakeAgent  # noqa: E402
from xplearn.types import Completion, Conditioning, Query, Selection, Step, Task, Trajectory  # noqa: E402

NOTHING = Completion(text="", finish="context")


class Bandit(LocalPolicy):
    """Three tokens whose logits are the parameters; what it was before training is uniform."""

    def __init__(self):
        self.logits = torch.nn.Parameter(torch.tensor((0.25, 0.25, 0.5)).log())
        self.gradient, self.scored, self.as_reference = torch.zeros(3), 0, False

    def parameters(self):
        yield "logits", self.logits

    def score(self, conditionings, completions, choices=None, **_):
        self.scored += len(completions)
        logits = torch.zeros(3) if self.as_reference else self.logits
        rows = [logits.log_softmax(-1)[list(row.token_ids)] for row in completions]
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        lengths = torch.tensor([len(row) for row in rows])
        return TokenScores(logprobs=padded, mask=torch.arange(padded.shape[1]) < lengths[:, None])

    @contextlib.contextmanager
    def training(self):
        self.gradient = self.logits.grad.clone()
        yield

    @contextlib.contextmanager
    def reference(self):
        self.as_reference = True
        yield
        self.as_reference = False

    def generate(self, *args, **kwargs):
        raise AssertionError

    rank = encode = attach = transcribe = save = load = generate


def turn(seen="here", *, token=0, valid=True, reward=0.0, action="go", said=None):
    """One step; the probability of what was drawn is that of a fresh ``Bandit``."""
    query = Query(
        purpose="act", task=Task(id="t", env="toy", split="train", goal="g"), messages=({"role": "user", "content": seen},)
    )  # fmt: skip
    logprobs = (torch.tensor((0.25, 0.25, 0.5)).log()[token].item(),)
    return Step(query=query, selection=Selection(), conditioning=Conditioning(messages=query.messages),
                completion=said or Completion(text=action, prompt_ids=(1,), token_ids=(token,), logprobs=logprobs),
                action=action, reward=reward, terminated=False, truncated=False, valid=valid)  # fmt: skip


def episode(name, steps, score=0.0, *, group="g", arm="experience", **fields):
    return Trajectory(id=name, task=steps[0].query.task, steps=tuple(steps), arm=arm, group=group, seed=0, source="rollout",
                      score=score, **fields)  # fmt: skip


def credit(batch, **settings):
    """The advantages of each trajectory's steps, by its id."""
    settings = {"group_size": 2, "scale": "none", **settings}
    return {item.trajectory.id: item.advantages for item in GrpoLearner(**settings).credited(batch)}


def learned(batch, learner=None, **settings):
    """The figures of one step of a bandit, and its gradient."""
    policy = Bandit()
    learner = learner or GrpoLearner(**{"group_size": 2, "scale": "none", "beta": 0.0, "max_grad_norm": 1e9, **settings})
    figures = learner.learn(batch, FakeAgent(policy=policy))
    return figures, policy


# what a trajectory and its steps are worth


def test_a_trajectory_is_worth_its_score_its_success_or_its_rewards():
    item = episode("a", [turn(reward=0.5), turn(reward=-0.25)], 0.75, success=True)
    assert [worth(item, reward) for reward in ("score", "success", "return")] == [0.75, 1.0, 0.25]
    assert worth(replace(item, success=False), "success") == 0.0


def test_an_action_that_was_not_understood_costs_its_step_and_a_question_to_the_bank_does_not():
    item = drawn(episode("a", [turn(), turn(valid=False), turn(action="")], 1.0), learner="test")
    assert step_returns(item, "score", invalid_penalty=0.3) == [1.0, 0.7, 1.0]
    assert trajectory_return(item, "score", invalid_penalty=0.3) == pytest.approx(0.9), "the mean of its steps"
    assert trajectory_return(item, "score") == 1.0


def test_what_comes_later_is_discounted():
    item = drawn(episode("a", [turn(reward=1.0), turn(reward=2.0, valid=False), turn(reward=4.0)], 0.8), learner="test")
    assert discounted_returns(item, "return", discount=0.5) == [1.0 + 0.5 * 2.0 + 0.25 * 4.0, 2.0 + 0.5 * 4.0, 4.0]
    assert discounted_returns(item, "score", discount=0.5, invalid_penalty=0.1) == pytest.approx([0.2, 0.4 - 0.1, 0.8])
    assert discounted_returns(item, "score", discount=0.0) == [0.0, 0.0, 0.8]


def test_the_observation_is_the_last_turn_that_the_policy_did_not_say():
    messages = [
        {"role": role, "content": role + text} for role, text in (("system", "1"), ("user", "2"), ("user", "3"), ("assistant", "4"))
    ]
    assert observation(messages) == "user3"
    assert observation(messages[:1]) == ""


# members of a group


def long_and_short():
    return [
        episode("long", [turn(), turn(valid=False), turn(valid=False)], 1.0),
        episode("short", [turn()], 0.0),
    ]  # fmt: skip


def test_without_options_steps_share_what_the_score_says_valid_or_not():
    assert credit(long_and_short()) == {"long": (0.5, 0.5, 0.5), "short": (-0.5,)}


def test_as_a_member_a_trajectory_counts_once_with_the_mean_of_its_steps():
    found = credit(long_and_short(), invalid_penalty=0.3)
    assert found["long"] == pytest.approx((0.4, 0.4, 0.4))
    assert found["short"] == pytest.approx((-0.4,))


def test_as_a_member_each_step_has_an_advantage_of_its_own_and_long_trajectories_weigh_more():
    found = credit(long_and_short(), invalid_penalty=0.3, unit="step", scale="group")
    returns = [1.0, 0.7, 0.7, 0.0]
    expected = [(value - sum(returns) / 4) / (std(returns) + 1e-4) for value in returns]
    assert found["long"] == pytest.approx(expected[:3])
    assert found["short"] == pytest.approx(expected[3:])
    assert credit(long_and_short(), unit="step") == {"long": (0.25,) * 3, "short": (-0.75,)}


def test_every_token_of_a_step_has_the_advantage_of_its_step():
    twice = replace(turn().completion, token_ids=(1, 2, 1), logprobs=tuple(torch.tensor((0.25, 0.5, 0.25)).log().tolist()))
    batch = [episode("a", [turn(), turn(said=twice, valid=False)], 1.0), episode("b", [turn(token=2)], 0.0)]
    figures, policy = learned(batch, unit="step", invalid_penalty=0.4)
    first, second, third = 1.0 - 1.6 / 3, 0.6 - 1.6 / 3, -1.6 / 3
    assert figures["loss"] == pytest.approx(-(first + 3 * second + third) / 5, abs=1e-6)
    pull = torch.tensor([first, 2 * second, second + third]) - (first + 3 * second + third) * torch.tensor([0.25, 0.25, 0.5])
    assert policy.gradient == pytest.approx(-pull / 5, abs=1e-6)


def test_every_action_invalid_tells_steps_nothing():
    batch = [episode(str(n), [turn(valid=False)] * 2, 0.5) for n in range(2)]
    assert credit(batch, unit="step", invalid_penalty=0.1) == credit(batch, invalid_penalty=0.1) == {"0": (0.0, 0.0), "1": (0.0, 0.0)}
    figures, policy = learned(batch, invalid_penalty=0.1)
    assert (figures["invalid_share"], figures["steps"], policy.scored) == (1.0, 0.0, 0)


def test_a_step_past_the_context_is_no_member_and_a_trajectory_of_such_steps_is_none():
    batch = [
        episode("a", [turn("x"), turn("y", said=NOTHING, valid=False)], 1.0),
        episode("b", [turn("x")], 0.0),
        episode("c", [turn(said=NOTHING)], 0.3),
    ]
    for unit in ("trajectory", "step"):
        assert credit(batch, unit=unit, invalid_penalty=0.5) == {"a": (0.5,), "b": (-0.5,)}
    assert credit(batch, anchor_weight=1.0) == {"a": (1.0,), "b": (-1.0,)}


def test_a_success_may_be_all_that_counts_where_scores_say_otherwise():
    batch = [episode("a", [turn()], 0.9), episode("b", [turn()], 0.2, success=True)]
    assert credit(batch, reward="success") == {"a": (-0.5,), "b": (0.5,)}


# anchors


def test_steps_taken_from_the_same_observation_are_judged_against_each_other():
    batch = [
        episode("a", [turn("start"), turn("hall"), turn("cellar")], 1.0),
        episode("b", [turn("start"), turn("hall")], 0.0),
        episode("c", [turn("hall"), turn("start")], 0.8),
    ]
    whole = advantages([1.0, 0.0, 0.8], ["g"] * 3)
    start = advantages([0.25, 0.0, 0.8], ["g"] * 3)
    hall = advantages([0.5, 0.0, 0.4], ["g"] * 3)
    found = credit(batch, anchor_weight=2.0, discount=0.5, scale="group")
    assert found["a"] == pytest.approx((whole[0] + 2 * start[0], whole[0] + 2 * hall[0], whole[0])), "alone in the cellar"
    assert found["b"] == pytest.approx((whole[1] + 2 * start[1], whole[1] + 2 * hall[1]))
    assert found["c"] == pytest.approx((whole[2] + 2 * hall[2], whole[2] + 2 * start[2]))


def test_anchors_keep_to_their_group_and_to_their_arm_where_advantages_do():
    batch = [episode(f"{group}/{arm}/{n}", [turn("x", token=n)], float(n) + (arm == "plain"), group=group, arm=arm)
             for group in "gh" for arm in ("experience", "plain") for n in range(2)]  # fmt: skip
    settings = {"arms": "both", "group_size": 4, "anchor_weight": 1.0}
    whole, halves = credit(batch, **settings), credit(batch, over="arm", **settings)
    assert [whole[f"g/{place}"][0] for place in ("experience/0", "experience/1", "plain/0", "plain/1")] == [-2.0, 0.0, 0.0, 2.0]
    assert {value for values in halves.values() for value in values} == {-1.0, 1.0}
    assert whole["g/plain/1"] == whole["h/plain/1"]


def test_an_invalid_step_is_penalised_beside_its_anchor_too():
    batch = [episode("a", [turn("x", valid=False)], 0.5), episode("b", [turn("x")], 0.5)]
    assert credit(batch, invalid_penalty=0.1, anchor_weight=1.0)["a"] == pytest.approx((-0.1,))


def test_thousands_of_steps_find_their_anchors_in_no_time():
    view = "You are in a room. " * 100
    batch = [episode(str(n), [turn(f"{view}{(n + t) % 40}") for t in range(50)], n % 7 / 7, group=str(n // 8)) for n in range(400)]
    began = time.process_time()
    found = credit(batch, unit="step", anchor_weight=1.0)
    assert time.process_time() - began < 2.0, "20,000 steps"
    assert sum(map(len, found.values())) == 20_000


# groups that tell nothing


def with_ties():
    batch = [episode(str(n), [turn(token=n)], float(n)) for n in range(2)]
    return batch, [episode(f"tie/{n}", [turn(token=2 * n)] * 3, 1.0, group="tie") for n in range(2)]


@pytest.mark.parametrize("beta", [0.0, 0.1])
@pytest.mark.parametrize("reduction", ["token", "sequence", "constant"])
def test_dropped_groups_leave_loss_and_gradient_as_if_they_had_not_been(beta, reduction):
    batch, ties = with_ties()
    alone, first = learned(batch, beta=beta, reduction=reduction)
    beside, second = learned([*ties, *batch], beta=beta, reduction=reduction, drop_flat=True)
    kept, third = learned([*ties, *batch], beta=beta, reduction=reduction)
    assert torch.equal(first.gradient, second.gradient)
    assert not torch.equal(first.gradient, third.gradient)
    assert (beside["loss"], beside["groups_dropped"], beside["trajectories"]) == (alone["loss"], 1.0, 4.0)
    assert kept["groups_dropped"] == alone["groups_dropped"] == 0.0


def test_dropped_trajectories_stay_for_whoever_needs_them():
    batch, ties = with_ties()
    learner = GrpoLearner(group_size=2, drop_flat=True)
    items = learner.credited([*batch, *ties])
    objective = learner.objective(items, Bandit(), FakeAgent())
    assert [(item.counts, objective.needs(item)) for item in items] == [(True, True)] * 2 + [(False, False)] * 2


def test_a_round_of_ties_alone_is_dropped_whole():
    _, ties = with_ties()
    figures, policy = learned(ties, beta=0.1, drop_flat=True)
    assert (figures["loss"], figures["steps"], figures["groups_dropped"]) == (0.0, 0.0, 1.0)
    assert not policy.gradient.any()


def test_a_tie_of_scores_whose_steps_differ_beside_their_anchors_is_kept():
    batch = [episode("quick", [turn("x")], 1.0), episode("slow", [turn("x"), turn("y")], 1.0)]
    learner = GrpoLearner(group_size=2, drop_flat=True, anchor_weight=1.0)
    quick, slow = learner.credited(batch)
    assert quick.counts
    assert slow.counts
    assert quick.advantages[0] > 0 > slow.advantages[0]


# the second bound


@pytest.mark.parametrize("advantage", [1.0, -1.0])
@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.0, 5.0])
def test_a_negative_advantage_is_bounded_twice(ratio, advantage):
    said = turn(token=2).completion
    said = replace(said, logprobs=(said.logprobs[0] - float(torch.tensor(ratio).log()),))
    batch = [episode("a", [turn(said=said)], advantage), episode("b", [turn(token=1)], -advantage)]
    figures, policy = learned(batch, dual_clip=3.0)
    bounded = min(ratio * advantage, min(max(ratio, 0.8), 1.2) * advantage)
    bounded = max(bounded, 3.0 * advantage) if advantage < 0 else bounded
    assert figures["loss"] == pytest.approx(-(bounded - advantage) / 2, abs=1e-5)
    blocked = ratio > 1.2 if advantage > 0 else ratio < 0.8 or ratio > 3.0
    assert figures["clip_share"] == blocked / 2
    assert (float(policy.gradient[2]) == pytest.approx(-advantage * 0.5 / 2, abs=1e-6)) == blocked, "the pull of the other alone"


# who is admitted


class OnlyGood(GrpoLearner):
    """What scored nothing is left out."""

    def admitted(self, usable):
        return [item for item in usable if item.score > 0]


def test_a_subclass_says_who_counts_and_advantages_are_among_those():
    batch = [episode(str(n), [turn(token=n)], score) for n, score in enumerate((0.0, 0.5, 1.0))]
    batch.append(episode("dead", [turn()], 1.0, error="died"))
    seen = []
    learner = OnlyGood(group_size=3, scale="none", beta=0.0, max_grad_norm=1e9)
    learner.admitted = lambda usable: (seen.extend(usable), OnlyGood.admitted(learner, usable))[1]
    (figures, narrowed), (same, plain) = learned(batch, learner), learned(batch[1:3])
    assert [item.id for item in seen] == ["0", "1", "2"]
    assert torch.equal(narrowed.gradient, plain.gradient)
    assert {**figures, "seconds": 0, "tokens_per_second": 0} == {**same, "seconds": 0, "tokens_per_second": 0}
    assert learned([batch[0]], learner)[0] == {"steps": 0.0, "trajectories": 0.0}


def test_figures_tell_of_trajectories_and_steps():
    batch = [episode("a", [turn(), turn(valid=False), turn()], 0.8, success=True), episode("b", [turn()], 0.4)]
    figures, _ = learned(batch, invalid_penalty=0.1)
    assert figures["reward_mean"] == pytest.approx(0.6), "before penalties"
    assert (figures["success"], figures["length_mean"], figures["invalid_share"]) == (0.5, 2.0, 0.25)
    assert learned(batch, reward="success")[0]["reward_mean"] == 0.5


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("invalid_penalty", -0.1), ("invalid_penalty", float("nan")), ("anchor_weight", -1.0), ("anchor_weight", float("inf")),
        ("discount", 1.1), ("discount", -0.1), ("dual_clip", 1.0), ("dual_clip", float("inf")),
    ],
)  # fmt: skip
def test_values_out_of_range_name_their_field(field, value):
    with pytest.raises(ConfigError, match=f"^{field}: "):
        GrpoLearner(**{field: value})
