"""The evaluator beside inspect_ai's: what playing and recording an episode costs on top of a bare loop, the same toy for both.

200 tasks of counting, 10 turns each, a model that knows the lines (inspect_ai's ``mockllm``, our ``core.scripted``), a log on disk
as each writes it by default, nothing displayed. inspect_ai's log of an episode is compressed, ours is not.
"""

from __future__ import annotations

import contextlib
import logging
import statistics
import time
from pathlib import Path

import pytest

from benchmarks.speed.counting import LINES, PHASE, TASKS, TURNS, bare_loop, evaluator, world
from xplearn.record.reader import load

inspect_ai = pytest.importorskip("inspect_ai", reason="needs inspect_ai: pip install inspect-ai")

pytestmark = pytest.mark.filterwarnings("ignore")  # inspect_ai's own

ROUNDS = 3


@contextlib.contextmanager
def unlogged():
    """Without pytest's own log handlers, which would slow inspect_ai down."""
    root = logging.getLogger()
    kept = root.handlers[:]
    root.handlers.clear()
    try:
        yield
    finally:
        root.handlers[:] = kept


def theirs(folder: Path) -> float:
    """Seconds per episode of inspect_ai's evaluation, its log written."""
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ModelOutput, ModelUsage, get_model

    env = world()
    roles = {"system": ChatMessageSystem, "user": ChatMessageUser}
    samples = []
    for number, task in enumerate(env.tasks("test")):
        opening = env.opening(task, env.reset(task, seed=0))
        samples.append(
            Sample(id=task.id, input=[roles[said["role"]](content=said["content"]) for said in opening], metadata={"number": number})
        )

    def answer(messages, *_):
        said = sum(message.role == "assistant" for message in messages)
        output = ModelOutput.from_content("mockllm/model", LINES[said])
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # or mockllm downloads a tokenizer to count them
        return output

    task = inspect_ai.Task(dataset=MemoryDataset(samples), solver=playing(), scorer=counted())
    model = get_model("mockllm/model", custom_outputs=answer)
    with unlogged():
        began = time.perf_counter()
        (log,) = inspect_ai.eval(task, model=model, log_dir=str(folder), display="none")
        spent = time.perf_counter() - began
    assert log.status == "success"
    assert len(log.samples) == TASKS
    return spent / TASKS


def playing():
    """A solver that plays the toy to its end."""
    from inspect_ai.model import ChatMessageUser
    from inspect_ai.solver import solver

    @solver
    def play():
        async def solve(state, generate):
            env, done = world(), False
            env.reset(env.tasks("test")[state.metadata["number"]], seed=0)
            while not done:
                state = await generate(state)
                outcome = env.step(env.parse(state.output.completion))
                state.messages.append(ChatMessageUser(content=outcome.observation.text))
                done = outcome.terminated or outcome.truncated
            state.metadata["score"] = outcome.info["score"]
            return state

        return solve

    return play()


def counted():
    """A scorer that gives the score of the environment."""
    from inspect_ai.scorer import Score, mean, scorer

    @scorer(metrics=[mean()])
    def count():
        async def score(state, _):
            return Score(value=state.metadata["score"])

        return score

    return count()


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Our run folder, and inspect_ai's log."""
    from inspect_ai.log import list_eval_logs

    folder = tmp_path_factory.mktemp("played")
    evaluator(folder / "ours"), theirs(folder / "theirs")
    (log,) = list_eval_logs(str(folder / "theirs"))
    return folder / "ours", log


def test_scores_are_the_same(played):
    from inspect_ai.log import read_eval_log

    folder, log = played
    found = {sample.id: sample.scores["count"].value for sample in read_eval_log(log).samples}
    assert found == {result.task: result.score for result in load(folder).episodes()}
    assert len(found) == TASKS


@pytest.mark.usefixtures("played")  # warm
@pytest.mark.benchmark(group="overhead")
def test_episode_costs_at_most_a_fifth_of_inspect_ais(tmp_path, say):
    rounds = [(bare_loop(), evaluator(tmp_path / f"ours{number}"), theirs(tmp_path / f"theirs{number}")) for number in range(ROUNDS)]
    bare, mine, other = (1000.0 * statistics.median(times) for times in zip(*rounds, strict=True))
    ratio = statistics.median((second - first) / (third - first) for first, second, third in rounds)
    say(
        f"evaluator overhead beside inspect_ai, an episode of {TURNS} steps",
        f"{ratio:.3f}; ms: bare loop {bare:.2f}, xplearn {mine:.2f}, inspect_ai {other:.2f}",
        "0.2",
    )


@pytest.mark.benchmark(group="overhead")
def test_logs_are_small_and_read_back_soon(played, say):
    from inspect_ai.log import read_eval_log

    folder, log = played
    written = sum(path.stat().st_size for path in folder.rglob("*.jsonl"))
    say("bytes of the log of an episode beside inspect_ai's", f"{written / TASKS:.0f} and {log.size / TASKS:.0f} (compressed)", "none")
    times = [(timed(lambda: list(load(folder).trajectories(PHASE))), timed(lambda: read_eval_log(log))) for _ in range(ROUNDS)]
    mine, other = (1000.0 * statistics.median(column) / TASKS for column in zip(*times, strict=True))
    say("time to read an episode back beside inspect_ai", f"{mine / other:.3f}; ms: {mine:.3f} and {other:.3f}", "1")


def timed(act) -> float:
    """Seconds that a call takes."""
    began = time.perf_counter()
    assert act()
    return time.perf_counter() - began
