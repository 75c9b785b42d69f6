"""Asking the policy for summaries: greedily, in batches, resumed where a kill cut them short."""

from __future__ import annotations

from collections.abc import Mapping

from xplearn import AgentView, Conditioning, Sampling, derive
from xplearn_expweaver.account import Account
from xplearn_expweaver.prompts import conversation


class Words:
    """What the policy says about how tasks went, as it is now: its adapters on, no memory in its input."""

    def __init__(self, agent: AgentView, *, max_tokens: int, batch: int) -> None:
        self._agent, self._batch = agent, batch
        self._sampling = Sampling(max_new_tokens=max_tokens, temperature=0.0, stop=())

    def on(self, accounts: Mapping[str, Account]) -> dict[str, str]:
        """The policy's words by id; empty where the request does not fit its context."""
        checkpoint = self._agent.checkpoint
        saved = (checkpoint.load() or {}).get("said", {})
        said = {id: str(saved[id]) for id in accounts if id in saved}
        missing = [id for id in accounts if id not in said]
        for start in range(0, len(missing), self._batch):
            said |= self._ask({id: accounts[id] for id in missing[start : start + self._batch]})
            checkpoint.save({"said": said})
            checkpoint.report(len(said), len(accounts))
        return said

    def _ask(self, accounts: Mapping[str, Account]) -> dict[str, str]:
        asked = [Conditioning(messages=conversation(account)) for account in accounts.values()]
        keys = [derive(self._agent.seed, "expweaver.summaries", id) for id in accounts]
        completions = self._agent.policy.generate(asked, self._sampling, keys)
        return {id: completion.text for id, completion in zip(accounts, completions, strict=True)}
