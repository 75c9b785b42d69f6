import pytest

from xplearn.policies.choose import ActionTrie, TrieCache, forced, options

END = 0
ACTIONS = {"go": (5, 6, END), "go up": (5, 6, 7, END), "take": (3, END), "wait": (9, 8, 4, END)}


@pytest.fixture
def trie():
    return ActionTrie(ACTIONS.items())


def test_root_offers_the_first_tokens_in_order(trie):
    assert options(trie.root).tolist() == [3, 5, 9]


def test_forced_run_stops_at_the_next_choice(trie):
    run, node = forced(trie.root[5])
    assert run == [6]
    assert options(node).tolist() == [END, 7]


def test_forced_run_goes_to_the_end_of_a_single_action(trie):
    assert forced(trie.root[9]) == ([8, 4, END], {})


def test_allowed_names_the_options_of_every_token(trie):
    sets = trie.allowed((5, 6, 7, END))
    assert [None if options is None else options.tolist() for options in sets] == [[3, 5, 9], None, [END, 7], None]


def test_token_that_is_not_admissible_is_refused(trie):
    with pytest.raises(KeyError):
        trie.allowed((5, 9))


def test_text_is_the_action_as_the_environment_wrote_it(trie):
    assert {trie.text(ids) for ids in ACTIONS.values()} == set(ACTIONS)


def test_longest_counts_tokens(trie):
    assert trie.longest == 4


def test_cache_builds_a_list_of_actions_once():
    asked = []
    tries = TrieCache(lambda text: (asked.append(text), ACTIONS[text])[1])
    assert tries(("go", "take")) is tries(("go", "take"))
    assert asked == ["go", "take"]
    assert tries(("take", "go")) is not tries(("go", "take"))
