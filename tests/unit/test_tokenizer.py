import pytest

pytest.importorskip("tokenizers")
pytest.importorskip("transformers")

from xplearn.policies.tokenizer import LONGEST_WORD, SMALLEST, SPECIAL_TOKENS, load_tokenizer, spellable, train_tokenizer

CORPUS = ["go to the kitchen", "open door to kitchen", "focus on the living thing", "move the living thing to the red box"] * 5
CHAT = [{"role": "system", "content": "Act."}, {"role": "user", "content": "You are in the kitchen."}]


def test_any_text_comes_back_unchanged():
    tokenizer = train_tokenizer(CORPUS, 300)
    for text in ("go to the kitchen", "Zürich, 東京 \U0001f600\ttab\n\nnew", ""):
        assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)) == text


def test_a_lone_surrogate_in_the_corpus_is_learned_as_the_replacement_character():
    broken, sound = (train_tokenizer([*CORPUS, f"half a {mark}pair"] * 2, 400) for mark in ("\ud83d", "\ufffd"))
    assert broken.get_vocab() == sound.get_vocab()
    assert spellable("a \ud83d\udc80 b \U0001f600 c") == "a \ufffd\ufffd b \U0001f600 c"


@pytest.mark.timeout(60)
@pytest.mark.parametrize("letters", ["a", "ab", " ", "\n\t", "{[", "\u6771\u4eac", "".join(map(chr, range(33, 127)))])
def test_a_word_of_a_million_letters_is_learned_and_encoded_in_seconds(letters):
    long = (letters * (1_000_000 // len(letters) + 1))[:1_000_000]
    tokenizer = train_tokenizer([long, *CORPUS], 400)
    assert tokenizer.decode(tokenizer.encode(long, add_special_tokens=False)) == long


def test_cutting_long_words_leaves_the_others():
    from tokenizers import pre_tokenizers

    text = "go  to the\n\n kitchen, don't " + "x" * (LONGEST_WORD - 1) + " open_door;" + " " * (LONGEST_WORD - 1) + "end"
    words = train_tokenizer(CORPUS, 300).backend_tokenizer.pre_tokenizer.pre_tokenize_str(text)
    assert words == pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(text)


def test_the_words_of_the_corpus_become_short():
    tokenizer = train_tokenizer(CORPUS, 400)
    assert len(tokenizer.encode("go to the kitchen", add_special_tokens=False)) == 4


def test_special_tokens_come_first_and_the_vocabulary_is_bounded():
    tokenizer = train_tokenizer(CORPUS, SMALLEST + 5)
    assert tokenizer.convert_tokens_to_ids(list(SPECIAL_TOKENS)) == [0, 1, 2]
    assert len(tokenizer) == SMALLEST + 5
    assert (tokenizer.pad_token_id, tokenizer.eos_token_id) == (0, 2)


def test_the_order_of_the_corpus_does_not_matter():
    first, second = train_tokenizer(CORPUS, 320), train_tokenizer(iter(CORPUS[::-1]), 320)
    assert first.get_vocab() == second.get_vocab()
    assert first.encode("focus on the red thing") == second.encode("focus on the red thing")


def test_the_template_writes_turns_and_nothing_of_its_own():
    text = train_tokenizer(CORPUS, 300).apply_chat_template(CHAT, tokenize=False, add_generation_prompt=True)
    assert text == "<|im_start|>system\nAct.<|im_end|>\n<|im_start|>user\nYou are in the kitchen.<|im_end|>\n<|im_start|>assistant\n"


def test_a_saved_tokenizer_loads_as_it_was(tmp_path):
    tokenizer = train_tokenizer(CORPUS, 320)
    tokenizer.save_pretrained(tmp_path)
    loaded = load_tokenizer(tmp_path)
    assert loaded.get_vocab() == tokenizer.get_vocab()
    assert loaded.apply_chat_template(CHAT, tokenize=False) == tokenizer.apply_chat_template(CHAT, tokenize=False)
    assert loaded.encode("move the box") == tokenizer.encode("move the box")
