"""What every policy must do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from xplearn.errors import ContractError
from xplearn.interfaces import LocalPolicy, Policy, TokenScores
from xplearn.testing.agents import FakeAgent
from xplearn.testing.contracts.component import ComponentContract
from xplearn.types import Conditioning, Message, Sampling

ACTIONS = ("look around", "go to hall", "take cup", "take cup from table", "wait")
CHOOSE = Sampling(temperature=1.0, choices="admissible")


def talk(turns: int, episode: int = 0) -> Conditioning:
    """A conversation whose last turn is the ``turns``-th observation."""
    messages: list[Message] = [{"role": "system", "content": "Act in a house, one command per turn."}]
    for turn in range(turns):
        messages.append({"role": "user", "content": f"Room {episode}: you see {turn} cups and a door to the hall."})
        messages.append({"role": "assistant", "content": ACTIONS[turn % len(ACTIONS)]})
    return Conditioning(messages=tuple(messages[:-1]))


class PolicyContract(ComponentContract):
    """One completion per conditioning; if keyed, a function of its own conditioning, choices and key."""

    @pytest.fixture
    def policy(self, make: Callable[[], Policy], agent: FakeAgent) -> Iterator[Policy]:
        """The policy, set up."""
        part = make()
        part.setup(agent)
        yield part
        part.close()

    def test_no_conditionings_give_no_completions(self, policy: Policy) -> None:
        assert policy.generate([], CHOOSE, []) == []

    def test_one_completion_per_conditioning(self, policy: Policy) -> None:
        completions = policy.generate([talk(1), talk(2), talk(3)], CHOOSE, [0, 1, 2], [ACTIONS] * 3)
        assert len(completions) == 3
        assert all(isinstance(completion.text, str) for completion in completions)

    def test_completions_say_how_and_by_which_version_they_were_drawn(self, policy: Policy) -> None:
        (completion,) = policy.generate([talk(1)], CHOOSE, [0], [ACTIONS])
        assert completion.sampling == CHOOSE
        assert completion.policy_version == policy.version

    def test_neighbours_and_their_order_change_nothing(self, policy: Policy) -> None:
        if "policy.keyed" not in policy.provides:
            pytest.skip("not keyed")
        shown, keys = [talk(1 + row % 3, row) for row in range(5)], list(range(5))
        together = policy.generate(shown, CHOOSE, keys, [ACTIONS] * 5)
        backwards = policy.generate(shown[::-1], CHOOSE, keys[::-1], [ACTIONS] * 5)[::-1]
        alone = [policy.generate([one], CHOOSE, [key], [ACTIONS])[0] for one, key in zip(shown, keys, strict=True)]
        said = [(completion.text, completion.token_ids) for completion in together]
        assert [(completion.text, completion.token_ids) for completion in backwards] == said
        assert [(completion.text, completion.token_ids) for completion in alone] == said


class LocalPolicyContract(PolicyContract):
    """Weights in this process: scored, trained, saved. ``make`` builds a small one in float32."""

    tolerance: float = 1e-4
    """Largest difference in nats between two ways to the same number."""

    def scores(self, policy: LocalPolicy, shown: list[Conditioning], said: Any, choices: Any = None) -> list[list[float]]:
        """Log-probabilities as lists."""
        result = policy.score(shown, said, choices)
        return [row[mask].tolist() for row, mask in self._rows(result)]

    def close_to(self, rows: Any, others: Any) -> bool:
        """Whether two ragged tables of numbers agree."""
        return all(list(one) == pytest.approx(list(other), abs=self.tolerance) for one, other in zip(rows, others, strict=True))

    def test_admissible_completions_are_among_their_actions(self, policy: LocalPolicy) -> None:
        completions = policy.generate([talk(1, row) for row in range(8)], CHOOSE, list(range(8)), [ACTIONS] * 8)
        assert {completion.text for completion in completions} <= set(ACTIONS)

    @pytest.mark.parametrize("sampling", [CHOOSE, Sampling(max_new_tokens=6, temperature=0.8, stop=())], ids=["admissible", "free"])
    def test_scores_of_own_completions_are_their_logprobs(self, policy: LocalPolicy, sampling: Sampling) -> None:
        shown = [talk(1), talk(2), talk(3)]
        said = policy.generate(shown, sampling, [0, 1, 2], [ACTIONS] * 3)
        assert self.close_to(self.scores(policy, shown, said, [ACTIONS] * 3), [completion.logprobs for completion in said])

    def test_what_was_read_before_changes_nothing(self, policy: LocalPolicy, make: Callable[[], LocalPolicy], agent: FakeAgent) -> None:
        for turn in (1, 2, 3):
            reused = policy.generate([talk(turn)], CHOOSE, [turn], [ACTIONS])
            fresh = make()
            fresh.setup(agent)
            (expected,) = fresh.generate([talk(turn)], CHOOSE, [turn], [ACTIONS])
            assert reused[0].token_ids == expected.token_ids
            assert self.close_to([reused[0].logprobs], [expected.logprobs])
            fresh.close()

    def test_rows_are_scored_as_they_would_be_alone(self, policy: LocalPolicy) -> None:
        shown = [talk(1), talk(2), talk(3), talk(2), talk(1, 9)]
        said = policy.transcribe(shown, [*ACTIONS[:3], "wait", "wait"])
        alone = [self.scores(policy, [one], [completion])[0] for one, completion in zip(shown, said, strict=True)]
        assert self.close_to(self.scores(policy, shown, said), alone)

    def test_ranks_every_candidate(self, policy: LocalPolicy) -> None:
        first, second, none = policy.rank([talk(1), talk(2), talk(1)], [ACTIONS, ACTIONS[:2], ()])
        assert (len(first), len(second), len(none)) == (len(ACTIONS), 2, 0)
        assert self.close_to(policy.rank([talk(1)], [ACTIONS[::-1]]), [first[::-1]])

    def test_encodes_texts_one_by_one(self, policy: LocalPolicy) -> None:
        states = policy.encode(["go to hall", "", "You see a cup."])
        assert states.shape[0] == 3
        assert not states.requires_grad
        assert self.close_to(policy.encode(["You see a cup."]).tolist(), states[2:].tolist())

    @pytest.mark.parametrize("sampling", [CHOOSE, Sampling(max_new_tokens=6, temperature=0.8, stop=())], ids=["admissible", "free"])
    def test_what_could_have_been_drawn_has_probability_one_and_holds_what_was(self, policy: LocalPolicy, sampling: Sampling) -> None:
        if "policy.distribution" not in policy.provides:
            pytest.skip("tells drawn tokens only")
        shown, choices = [talk(1), talk(2), talk(3)], [ACTIONS] * 3
        said = policy.generate(shown, sampling, [0, 1, 2], choices)
        for support, completion in zip(policy.likely(shown, said, choices, k=None), said, strict=True):
            assert support.ids.shape == support.logprobs.shape
            assert self.close_to([support.logprobs.exp().sum(-1).tolist()], [[1.0] * len(completion.token_ids)])
            drawn = support.ids == support.ids.new_tensor(completion.token_ids)[:, None]
            assert self.close_to([support.logprobs[drawn].tolist()], [completion.logprobs])

    def test_other_tokens_are_scored_in_the_pass_that_scores_the_drawn_ones(self, policy: LocalPolicy) -> None:
        shown = [talk(1), talk(2), talk(3)]
        said = policy.transcribe(shown, list(ACTIONS[:3]))
        if "policy.distribution" not in policy.provides:
            with pytest.raises(ContractError, match=r"use a policy with 'policy.distribution'"):
                policy.likely(shown, said, k=2)
            return
        wanted = policy.likely(shown, said, k=3)
        result = policy.score(shown, said, support=[support.ids for support in wanted])
        assert result.support is not None
        assert self.close_to(self.scores(policy, shown, said), [row[mask].tolist() for row, mask in self._rows(result)])
        for row, support in enumerate(wanted):
            found = result.support[row, : len(support.ids)].detach()
            assert self.close_to(found.tolist(), support.logprobs.tolist())
            assert not support.logprobs.requires_grad
        assert result.support.requires_grad

    def test_training_raises_the_version(self, policy: LocalPolicy) -> None:
        before = policy.version
        with policy.training():
            pass
        assert policy.version == before + 1

    def test_model_handed_out_carries_the_parameters_that_are_trained(self, policy: LocalPolicy) -> None:
        if "policy.pretrained" not in policy.provides:
            with pytest.raises(ContractError, match=r"has no transformers model to hand out"):
                policy.pretrained()
            return
        model, tokenizer = policy.pretrained()
        trained = {id(parameter) for parameter in model.parameters() if parameter.requires_grad}
        assert trained == {id(parameter) for name, parameter in policy.parameters() if not name.startswith("sites.")}
        assert tokenizer.pad_token_id is not None

    def test_reference_stays_what_the_policy_was(self, policy: LocalPolicy) -> None:
        shown, said = self._trained(policy)
        with policy.reference():
            assert self.close_to(self.scores(policy, shown, said), self.before)
        assert not self.close_to(self.scores(policy, shown, said), self.before)

    def test_saved_policy_comes_back(self, policy: LocalPolicy, make: Callable[[], LocalPolicy], agent: FakeAgent, tmp_path: Path) -> None:
        shown, said = self._trained(policy)
        policy.save(tmp_path / "saved")
        other = make()
        other.setup(agent)
        other.load(tmp_path / "saved")
        assert other.version == policy.version
        assert self.close_to(self.scores(other, shown, said), self.scores(policy, shown, said))
        other.close()

    def _rows(self, result: TokenScores) -> Any:
        return zip(result.logprobs.detach(), result.mask, strict=True)

    def _trained(self, policy: LocalPolicy) -> tuple[list[Conditioning], Any]:
        """Push every weight along a gradient, twice: the first leaves some of a low-rank adapter's at zero."""
        shown = [talk(1), talk(2)]
        said = policy.transcribe(shown, list(ACTIONS[:2]))
        self.before = self.scores(policy, shown, said)
        with policy.training():
            for _ in range(2):
                policy.score(shown, said).logprobs.sum().backward()  # type: ignore[no-untyped-call]
                for _, value in policy.parameters():
                    value.data += 0.05 * value.grad.sign() if value.grad is not None else 0.0
                    value.grad = None
        return shown, said
