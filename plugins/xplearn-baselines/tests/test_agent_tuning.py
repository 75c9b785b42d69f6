import json
from collections import Counter

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from xplearn_baselines.agent_tuning import AgentTuningLearner  # noqa: E402
from xplearn_baselines.general import demonstration, draw, read  # noqa: E402

from xplearn import ConfigError, DataError  # noqa: E402
from xplearn.learning.clone import CloneLearner  # noqa: E402
from xplearn.testing.agents import FakeAgent, FakeCheckpoint  # noqa: E402
from xplearn.testing.contracts import LearnerContract  # noqa: E402
from xplearn.testing.fakes import FakePolicy, ready_policy  # noqa: E402

CHAT = ({"role": "user", "content": "What is in the fridge?"}, {"role": "assistant", "content": "the cup"})


def batch_of(policy, count=3, arm="plain"):
    return [demonstration(CHAT, policy, arm=arm, name=f"task-{number}") for number in range(count)]


def agent(policy, position=(0, 0)):
    return FakeAgent(policy=policy, position=position)


def learner(**fields):
    return AgentTuningLearner(**{"epochs": 1, "lr": 1e-3, **fields})


def written(tmp_path, *lines):
    path = tmp_path / "chats.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps({"messages": line}) for line in lines))
    return str(path)


@pytest.mark.parametrize(("share", "general"), [(0.8, 12), (0.5, 3), (0.25, 1), (0.0, 0)])
def test_share_of_general_conversations_holds(share, general):
    policy = ready_policy()
    figures = learner(general_share=share).learn(batch_of(policy), agent(policy))
    assert (figures["general"], figures["trajectories"]) == (general, general + 3)


def test_without_general_conversations_it_is_plain_cloning():
    mixed, plain = ready_policy(), ready_policy()
    learner(general_share=0.0).learn(batch_of(mixed), agent(mixed))
    CloneLearner(epochs=1, lr=1e-3, arms="plain").learn(batch_of(plain), agent(plain))
    assert all(torch.equal(one, two) for (_, one), (_, two) in zip(mixed.parameters(), plain.parameters(), strict=True))


def test_it_learns_to_answer_and_to_act():
    policy = ready_policy()
    chats = [demonstration(chat, policy, arm="plain", name="chat") for chat in read("")[:5]]

    def likely(trajectory):
        with torch.no_grad():
            scores = policy.score([step.conditioning for step in trajectory.steps], [step.completion for step in trajectory.steps])
        return float(scores.logprobs.sum())

    before = [likely(item) for item in [*chats, *batch_of(policy, 1)]]
    learner(lr=1e-2, epochs=3).learn(batch_of(policy, 15), agent(policy))
    after = [likely(item) for item in [*chats, *batch_of(policy, 1)]]
    assert all(now > then for now, then in zip(after, before, strict=True))


def test_only_the_assistants_words_are_targets():
    policy = ready_policy()
    two = (*CHAT, {"role": "user", "content": "Take it."}, {"role": "assistant", "content": "take the cup"})
    steps = demonstration(two, policy, arm="plain", name="chat").steps
    assert [step.completion.text for step in steps] == ["the cup", "take the cup"]
    assert steps[1].conditioning.messages == two[:3]
    assert steps[1].completion.prompt_ids[: len(steps[0].completion.prompt_ids)] == steps[0].completion.prompt_ids


def test_failed_poor_and_foreign_arm_trajectories_bring_no_general_conversations():
    from dataclasses import replace

    policy = ready_policy()
    (good,) = batch_of(policy, 1)
    bad = [replace(good, error="died"), replace(good, score=0.1), replace(good, arm="experience"), replace(good, steps=())]
    assert learner(min_score=0.5).learn([good, *bad], agent(policy))["general"] == 4.0
    assert learner(min_score=0.5).learn(bad, agent(policy)) == {"steps": 0.0, "trajectories": 0.0, "general": 0.0}


def test_draw_uses_every_conversation_before_any_twice_and_is_keyed():
    assert sorted(draw(10, 10, seed=1)) == list(range(10))
    assert set(Counter(draw(10, 25, seed=1)).values()) == {2, 3}
    assert draw(10, 25, seed=1) == draw(10, 25, seed=1) != draw(10, 25, seed=2)
    assert draw(10, 0, seed=1) == []


def test_rounds_draw_other_conversations(monkeypatch):
    drawn = []
    monkeypatch.setattr(CloneLearner, "learn", lambda self, batch, agent: drawn.append([item.id for item in batch]) or {})
    policy = ready_policy()
    for position in ((0, 0), (0, 1), (0, 0)):
        learner().learn(batch_of(policy, 1), agent(policy, position))
    assert drawn[0] == drawn[2] != drawn[1]


class Stopping(FakeCheckpoint):
    def report(self, done, total, **scalars):
        super().report(done, total, **scalars)
        if done == 2:
            raise KeyboardInterrupt


def test_interrupted_training_goes_on_to_the_very_same_weights():
    settings = {"checkpoint_seconds": 0.0, "epochs": 2}
    straight, broken, restarted = ready_policy(), ready_policy(), ready_policy()
    learner(**settings).learn(batch_of(straight), agent(straight))
    stopping, kept = Stopping(), FakeCheckpoint()
    with pytest.raises(KeyboardInterrupt):
        learner(**settings).learn(batch_of(broken), FakeAgent(policy=broken, checkpoint=stopping))
    kept.state = stopping.state
    learner(**settings).learn(batch_of(restarted), FakeAgent(policy=restarted, checkpoint=kept))
    assert kept.reports[0][0] == 2
    assert all(torch.equal(one, two) for (_, one), (_, two) in zip(straight.parameters(), restarted.parameters(), strict=True))


def test_own_conversations_are_read_from_a_file(tmp_path):
    system = {"role": "system", "content": "Be brief."}
    assert read(written(tmp_path, CHAT, "", [system, *CHAT])) == [CHAT, (system, *CHAT)]


def test_conversations_that_come_along_are_sixty_and_all_different():
    found = read("")
    assert len({json.dumps(conversation) for conversation in found}) == 60
    assert sum(len(conversation) > 2 for conversation in found) == 16


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("{", r"line 2: not JSON"),
        ("[1]", r"line 2: want \{"),
        ('{"messages": []}', r"line 2: user and assistant must alternate"),
        ('{"messages": [7]}', r"line 2: want \{"),
        ([{"role": "robot", "content": "x"}], r"line 2: want \{"),
        ([CHAT[0], {"role": "assistant", "content": " "}], r"line 2: want \{.*no text empty"),
        ([CHAT[0], {"role": "assistant", "content": 3}], r"line 2: want \{"),
        (CHAT[:1], r"line 2: .*assistant have the last word, not user$"),
        (CHAT[::-1], r"line 2: .*not assistant, user$"),
        ([{"role": "system", "content": "x"}], r"line 2: .*not system$"),
    ],
)
def test_bad_line_is_named(tmp_path, bad, reason):
    path = written(tmp_path, CHAT, bad)
    with pytest.raises(DataError, match=rf"chats\.jsonl: {reason}"):
        AgentTuningLearner(general=path).setup(FakeAgent())


def test_missing_empty_and_binary_files_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"none\.jsonl: cannot be read \(No such file or directory\); give a JSONL file"):
        read(str(tmp_path / "none.jsonl"))
    with pytest.raises(DataError, match=r"holds no conversation"):
        read(written(tmp_path, ""))
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match=r"cannot be read \(not UTF-8\)"):
        read(str(tmp_path / "binary"))


@pytest.mark.parametrize("name", ["none.jsonl", "", "\0"])
def test_a_file_that_is_not_there_is_told_with_the_fields(tmp_path, name):
    with pytest.raises(ConfigError, match=r"general: there is no file .*; give a JSONL file of"):
        AgentTuningLearner(general=f"{tmp_path}/{name}")


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_share_out_of_range_is_refused(share):
    with pytest.raises(ConfigError, match=r"general_share: must lie in \[0, 1\)"):
        AgentTuningLearner(general_share=share)


class TestContract(LearnerContract):
    @pytest.fixture
    def make(self):
        return lambda: AgentTuningLearner(lr=1e-3, epochs=1)

    @pytest.fixture
    def new_agent(self):
        return lambda: FakeAgent(policy=FakePolicy())

    @pytest.fixture
    def batch(self, agent):
        return batch_of(agent.policy, 2)
