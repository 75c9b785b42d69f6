from __future__ import annotations

import contextlib
import dataclasses
import json

import pytest

torch = pytest.importorskip("torch")

from xplearn_hamo.cards import CardWriter  # noqa: E402
from xplearn_hamo.release import ReleaseLearner  # noqa: E402

import xplearn  # noqa: E402
from xplearn import Completion, Conditioning, ConfigError, ContractError, LocalPolicy, TokenScores  # noqa: E402
from xplearn.testing import samples  # noqa: E402
from xplearn.testing.agents import FakeAgent  # noqa: E402
from xplearn.testing.contracts import LearnerContract  # noqa: E402

SHOWN = "Related experience: be quick.\n\n"
BARE = [samples.trajectory(number) for number in range(4)]


@dataclasses.dataclass(kw_only=True)
class Learned(LocalPolicy):
    """As sure of every token as told for the number of the task, and certain where experience is shown; counts the rows of each pass."""

    sure: dict[int, float] = dataclasses.field(default_factory=dict)

    def setup(self, agent):
        self.rows = []

    def transcribe(self, conditionings, texts):
        prompts = [tuple("".join(message["content"] for message in row.messages).encode()) for row in conditionings]
        return [Completion(text=text, prompt_ids=ids, token_ids=(*text.encode(), 3)) for ids, text in zip(prompts, texts, strict=True)]

    def score(self, conditionings, completions, choices=None):
        self.rows.append(len(completions))
        mask = torch.nn.utils.rnn.pad_sequence(
            [torch.ones(len(item.token_ids), dtype=torch.bool) for item in completions], batch_first=True
        )
        told = torch.tensor([self._told(bytes(item.prompt_ids).decode()) for item in completions])
        return TokenScores(logprobs=told[:, None] * mask, mask=mask)

    def _told(self, prompt):
        return 0.0 if SHOWN in prompt else next((value for number, value in self.sure.items() if f"number {number}\n" in prompt), -2.0)

    @contextlib.contextmanager
    def training(self):
        yield

    def generate(self, *args, **kwargs):
        raise AssertionError

    rank = encode = attach = parameters = reference = save = load = generate


def dressed(trajectory, arm="experience"):
    """As the study leaves it: another id, experience in view, tokens."""
    steps = [_dressed(step, SHOWN if arm == "experience" else "") for step in trajectory.steps]
    return dataclasses.replace(trajectory, id=f"{trajectory.group}/{arm}/0", arm=arm, steps=tuple(steps))


def _dressed(step, shown):
    system, first, *rest = step.query.messages
    conditioning = Conditioning(messages=(system, {**first, "content": shown + first["content"]}, *rest))
    (completion,) = Learned().transcribe([conditioning], [step.completion.text])
    return dataclasses.replace(step, conditioning=conditioning, completion=completion)


STUDIED = [dressed(trajectory) for trajectory in BARE]


@contextlib.contextmanager
def agent_sure_of(**sure):
    """An agent whose bank has a card for each bare trajectory."""
    with FakeAgent(policy=Learned(sure={int(name.removeprefix("task")): value for name, value in sure.items()})) as agent:
        CardWriter(writer="rules").learn(BARE, agent)
        yield agent


def tasks(agent):
    return [card.task for card in agent.store]


class TestContract(LearnerContract):
    @pytest.fixture
    def make(self):
        return ReleaseLearner


class TestContractOverCards(LearnerContract):
    test_a_bank_it_writes_is_declared = None  # it writes none; this one was there

    @pytest.fixture
    def make(self):
        return lambda: ReleaseLearner(min_logprob=-5.0)

    @pytest.fixture
    def agents(self):
        with contextlib.ExitStack() as stack:
            yield lambda: stack.enter_context(agent_sure_of())

    @pytest.fixture
    def batch(self):
        return [dataclasses.replace(item, id=bare.id) for item, bare in zip(STUDIED, BARE, strict=True)]


def test_cards_of_what_is_reproduced_without_experience_go_and_the_others_stay():
    with agent_sure_of(task1=-0.05, task2=-0.09, task3=-0.2) as agent:
        figures = ReleaseLearner(max_share=1.0).learn(STUDIED, agent)
        assert tasks(agent) == ["boil-0", "boil-3"]
    assert figures == {"released": 2.0, "kept": 2.0, "bank": 2.0, "mean_logprob": pytest.approx(-(2.0 + 0.05 + 0.09 + 0.2) / 4)}


def test_only_cards_of_the_batch_go():
    with agent_sure_of(task0=0.0, task1=0.0, task2=0.0) as agent:
        figures = ReleaseLearner(max_share=1.0).learn(STUDIED[1:2], agent)
        assert tasks(agent) == ["boil-0", "paint-2", "boil-3"]
    assert (figures["released"], figures["kept"]) == (1.0, 0.0)


def test_no_more_than_a_share_of_the_cards_goes_and_the_surest_go_first():
    sure = {"task0": -0.03, "task1": -0.02, "task2": -0.01, "task3": -0.04}
    with agent_sure_of(**sure) as agent:
        agent.store.add([samples.experience(number) for number in range(8)])
        assert ReleaseLearner(max_share=0.5).learn(STUDIED, agent)["released"] == 2.0
        assert [card.task for card in agent.store if card.kind == "card"] == ["boil-0", "boil-3"]
        assert ReleaseLearner(max_share=0.49).learn(STUDIED, agent)["released"] == 0.0


def test_a_share_is_counted_in_whole_cards():
    with agent_sure_of(task0=0.0, task1=0.0, task2=0.0, task3=0.0) as agent:
        more = [dataclasses.replace(BARE[0], id=f"other/{number}", seed=1000 + number) for number in range(96)]
        CardWriter(writer="rules").learn(more, agent)
        everything = [*STUDIED, *(dressed(dataclasses.replace(item, group=f"other-{item.seed}")) for item in more)]
        assert ReleaseLearner(max_share=0.29).learn(everything, agent)["released"] == 29.0


def test_equally_sure_cards_go_by_id_whatever_their_order():
    left = []
    for batch in (STUDIED, STUDIED[::-1]):
        with agent_sure_of(task0=0.0, task1=0.0, task2=0.0, task3=0.0) as agent:
            ReleaseLearner(max_share=0.5).learn(batch, agent)
            left.append(tasks(agent))
    assert left == [["fetch-1", "paint-2"]] * 2


def test_both_arms_of_a_demonstration_stand_for_one_card():
    with agent_sure_of(task1=0.0) as agent:
        figures = ReleaseLearner(max_share=1.0).learn([dressed(BARE[1]), dressed(BARE[1], "plain")], agent)
        assert (figures["released"], agent.policy.rows) == (1.0, [3])


def test_another_way_through_the_same_task_frees_nothing():
    other = dataclasses.replace(STUDIED[1], steps=STUDIED[1].steps[:2])
    worse = dataclasses.replace(STUDIED[1], score=0.5)
    with agent_sure_of(task1=0.0) as agent:
        assert ReleaseLearner(max_share=1.0).learn([other, worse], agent) == {"released": 0.0, "kept": 0.0, "bank": 4.0}


def test_two_cards_of_one_play_go_together():
    with agent_sure_of(task1=0.0) as agent:
        CardWriter(writer="rules").learn([dataclasses.replace(BARE[1], id="train/again")], agent)
        assert ReleaseLearner(max_share=1.0).learn(STUDIED, agent)["released"] == 2.0
        assert "fetch-1" not in tasks(agent)


def test_a_second_call_finds_nothing_left_to_do():
    with agent_sure_of(task1=0.0, task2=0.0) as agent:
        learner = ReleaseLearner(max_share=1.0)
        learner.learn(STUDIED, agent)
        before = agent.store.digest(), agent.store.version
        assert learner.learn(STUDIED, agent)["released"] == 0.0
        assert (agent.store.digest(), agent.store.version) == before


def test_a_call_cut_short_goes_on_where_it_was_and_ends_the_same():
    def cut(done, total, **figures):
        raise KeyboardInterrupt

    learner = ReleaseLearner(max_share=1.0, micro_tokens=1, checkpoint_seconds=0.0)
    with agent_sure_of(task1=-0.05, task2=0.0) as whole, agent_sure_of(task1=-0.05, task2=0.0) as agent:
        expected = learner.learn(STUDIED, whole)
        policy, report = agent.policy, agent.checkpoint.report
        agent.checkpoint.report = lambda done, total: cut(done, total) if done == 3 else report(done, total)
        with pytest.raises(KeyboardInterrupt):
            learner.learn(STUDIED, agent)
        assert (len(policy.rows), len(agent.store)) == (3, 4)
        agent.checkpoint.report = report
        assert learner.learn(STUDIED, agent) == expected
        assert len(policy.rows) == 3 + 2
        assert agent.store.digest() == whole.store.digest()


def test_small_passes_change_nothing():
    passes = []
    for micro_tokens in (1, 350, 100_000):
        with agent_sure_of(task1=-0.05, task2=0.0) as agent:
            assert ReleaseLearner(max_share=1.0, micro_tokens=micro_tokens).learn(STUDIED, agent)["released"] == 2.0
            passes.append(len(agent.policy.rows))
    assert passes == [4, 2, 1]


def test_trajectories_without_tokens_are_told():
    with agent_sure_of() as agent, pytest.raises(ContractError, match=r"hamo\.release.*transcribed"):
        ReleaseLearner().learn(BARE, agent)


def test_it_needs_cards_and_scores():
    assert ReleaseLearner().requires == {"policy.score", "store.space:card"}
    assert ReleaseLearner().ways_out == {"store.space:card": "leave hamo.release out: without cards there is nothing to release"}
    assert ReleaseLearner().provides == frozenset()
    assert ReleaseLearner().plan().indifferent


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("min_logprob", 0.1),
        ("min_logprob", float("-inf")),
        ("max_share", 0.0),
        ("max_share", 1.1),
        ("micro_tokens", 0),
        ("checkpoint_seconds", -1.0),
    ],
)
def test_bad_fields_are_told(field, value):
    with pytest.raises(ConfigError, match=f"^{field}:"):
        ReleaseLearner(**{field: value})


def mix(folder, **release):
    return {
        "preset": "backbone.tiny",
        "stream": [{"env": "core.errands", "tasks": {"limit": 12, "part": f"{part}/2"}} for part in (1, 2)],
        "policy": {"name": "core.tiny", "layers": 1, "width": 64},
        "record": {"name": "hamo.cards", "writer": "rules"},
        "selector": "core.nearest",
        "conditioner": "core.prompt",
        "replay": {"ratio": 1.0},
        "learner": [{"name": "core.clone", "arms": "both", "epochs": 12, "lr": 3e-3}, {"name": "hamo.release", **release}],
        "sampling": {"choices": "admissible"},
        "evaluate": {"tasks": {"split": "test", "limit": 2}, "resamples": 100},
        "run": {"dir": str(folder)},
    }


@pytest.mark.slow
def test_in_a_run_learned_cards_go_and_replay_still_finds_their_trajectories(tmp_path):
    result = xplearn.run(mix(tmp_path, min_logprob=-3.0, max_share=0.5))
    found = xplearn.load(result.folder)
    first, second = [figures for figures in found.scalars() if figures["name"] == "hamo.release"]
    assert (first["released"], first["kept"], first["bank"]) == (3.0, 3.0, 3.0)
    assert (second["released"], second["bank"]) == (4.0, 5.0), "half of 3 old and 6 new cards, rounded down"
    assert -3.0 < first["mean_logprob"] < second["mean_logprob"] < 0.0
    studied = json.loads((result.folder / "study" / "0-0.json").read_text())["anchors"]
    replayed = json.loads((result.folder / "study" / "1-0.json").read_text())["replayed"]
    assert sorted(anchor for _, _, anchor in replayed) == sorted(studied), "the six of the first stage, card or no card"
