import dataclasses

import numpy as np
import pytest
from xplearn_expweaver.asking import SearchConditioner

from xplearn import Completion, ConfigError, ContractError, Experience, Query, Selection, make
from xplearn.testing.agents import FakeAgent
from xplearn.testing.samples import task

TOPICS = ("boiling water", "planting seeds", "melting ice")


def agent_with(topics=TOPICS, encoder="core.hashing"):
    agent = FakeAgent(encoder=make("encoder", encoder), store=make("store", "core.memory"))
    agent.store.setup(agent)
    found = [
        Experience(id=f"e{at}", kind="summary", key=topic, content=f"About {topic}.", task=f"t{at}") for at, topic in enumerate(topics)
    ]
    agent.store.open_space("key", encoder=agent.encoder.id, dim=agent.encoder.dim)
    if found:
        agent.store.add(found, {"key": agent.encoder.encode(list(topics))})
    return agent, Selection(experiences=tuple(found), scores=(0.0,) * len(found))


def query(*said):
    messages = [{"role": "system", "content": "Act."}, {"role": "user", "content": "Boil it."}]
    for text in said:
        messages += [{"role": "assistant", "content": text}, {"role": "user", "content": "…"}]
    return Query(purpose="act", task=task(0), messages=tuple(messages))


def ready(agent, **settings):
    part = SearchConditioner(**settings)
    part.setup(agent)
    return part


def consult(text, *said, **settings):
    agent, selection = agent_with()
    return ready(agent, **settings).consult(query(*said), selection, Completion(text=text))


def test_a_call_is_answered_with_the_nearest():
    answer = consult("<search>boiling water</search>", k=1)
    assert answer.text == "<information>\n1. About boiling water.\n</information>"
    assert [entry.id for entry in answer.selection.experiences] == ["e0"]


def test_a_call_cut_off_by_the_stop_text_is_a_call():
    assert "About melting ice." in consult("Let me see. <search>melting ice", k=1).text


@pytest.mark.parametrize("text", ["Answer: 3", "<search></search>", "<search>  ", "search boiling", "</search> boiling"])
def test_other_text_speaks_to_the_environment(text):
    assert consult(text) is None


def test_after_its_calls_the_environment_hears():
    assert consult("<search>ice", "<search>ice</search>", calls=2) is not None
    assert consult("<search>ice", "<search>ice</search>", "<search>water</search>", calls=2) is None


def test_only_what_was_selected_is_found():
    agent, selection = agent_with()
    some = Selection(experiences=selection.experiences[1:], scores=(0.0, 0.0))
    answer = ready(agent, k=5).consult(query(), some, Completion(text="<search>boiling water"))
    assert "boiling" not in answer.text
    assert answer.text.count("About") == 2


def test_an_entry_is_cut():
    assert "About boili …" in consult("<search>boiling water", k=1, limit_chars=11).text


def test_instruction_leads_the_first_user_turn_and_stays_there():
    agent, selection = agent_with()
    part = ready(agent)
    first, later = part.condition([query(), query("<search>ice</search>")], [selection, selection])
    assert first.messages[1]["content"].startswith(part.instruction)
    assert later.messages[: len(first.messages)] == first.messages


def test_where_an_answer_is_chosen_from_a_list_there_is_nothing_to_ask():
    agent, selection = agent_with()
    part, listed = ready(agent), dataclasses.replace(query(), candidates=("a", "b"))
    (shown,) = part.condition([listed], [selection])
    assert shown.messages == listed.messages
    assert part.consult(listed, selection, Completion(text="<search>ice")) is None


def test_entries_without_a_key_are_passed_over():
    agent, selection = agent_with()
    bare = Experience(id="bare", kind="card", key="", content="No vector.", task="t9")
    agent.store.add([bare])
    both = Selection(experiences=(*selection.experiences, bare), scores=(0.0,) * 4)
    assert len(ready(agent, k=9).consult(query(), both, Completion(text="<search>ice")).selection.experiences) == 3


def test_an_empty_selection_changes_nothing():
    agent, _ = agent_with()
    (shown,) = ready(agent).condition([query()], [Selection()])
    assert shown.messages == query().messages


def test_another_encoders_bank_is_refused_by_name():
    agent, selection = agent_with()
    agent.encoder = make("encoder", "core.hashing", dim=64)
    with pytest.raises(ContractError, match=r"core\.hashing/64"):
        ready(agent).consult(query(), selection, Completion(text="<search>ice"))


@pytest.mark.parametrize("wrong", [{"k": 0}, {"calls": 0}, {"limit_chars": 0}, {"space": ""}, {"instruction": "Look it up."}])
def test_wrong_fields_are_named(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        SearchConditioner(**wrong)


def test_ties_go_to_the_older():
    agent, selection = agent_with(("same words", "same words", "same words"))
    assert np.ptp(agent.store.vectors("key", ["e0", "e1", "e2"]), axis=0).max() == 0
    answer = ready(agent, k=2).consult(query(), selection, Completion(text="<search>same words"))
    assert answer.text.count("same words") == 2
