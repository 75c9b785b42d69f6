"""What the policy is asked when it writes a summary; our wording, as the paper's is not published [OURS]."""

from __future__ import annotations

from xplearn import Message
from xplearn_expweaver.account import Account

PROBLEM, STEP, OUTCOME, ADVICE = LABELS = "Problem", "Key step", "Outcome", "Next time"
"""The four parts of a summary: type of problem; decisive step or rule; success or failure; what to repeat or avoid."""

INSTRUCTIONS = f"""\
You read how one task went and write down what it teaches, for other tasks of its kind.
Answer with four short lines and nothing else:
{PROBLEM}: the kind of problem
{STEP}: the step or rule that decided it
{OUTCOME}: success or failure
{ADVICE}: what to do again, or what to avoid"""

EXAMPLE = Account(
    task="A shelf holds 4 boxes of 6 pens. 5 pens are dry. How many can write?",
    trace="There are 4 x 6 = 24 pens. 24 - 5 = 19. The answer is 19.",
    success=True,
)
EXAMPLE_SUMMARY = f"""\
{PROBLEM}: count in groups, then take some away
{STEP}: multiply groups by size before subtracting
{OUTCOME}: success
{ADVICE}: write down the product first"""


def conversation(account: Account) -> tuple[Message, ...]:
    """The request for a summary, after an example of request and answer."""
    return (
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": _request(EXAMPLE)},
        {"role": "assistant", "content": EXAMPLE_SUMMARY},
        {"role": "user", "content": _request(account)},
    )


def _request(account: Account) -> str:
    return f"Task: {account.task}\n\nWhat was done: {account.trace}\n\n{OUTCOME}: {account.outcome}"
