"""Problems about dictionaries and pairs."""

from __future__ import annotations

from xplearn_expbench.mini.templates import Template, each

RECORDS = (
    Template(
        name="score_of",
        level=1,
        takes="scores: scores",
        gives="int",
        text='return the score of "$name", or $k where there is none',
        body='return scores.get("$name", $k)',
        wrong='return scores.get("$name", 0) + $k',
        values=each(name=("ada", "ben", "cleo", "dan"), k=(-1, 5, 50)),
    ),
    Template(
        name="raised",
        level=1,
        takes="scores: scores",
        gives="dict[str, int]",
        text="return a dictionary with every score raised by $k",
        body="return {name: score + $k for name, score in scores.items()}",
        wrong="return {name: $k for name in scores}",
        values=each(k=range(1, 10)),
    ),
    Template(
        name="has_score",
        level=1,
        takes="scores: scores",
        gives="bool",
        text="return True if anybody has a score of at least $k, else False",
        body="return any(score >= $k for score in scores.values())",
        wrong="return all(score >= $k for score in scores.values())",
        values=each(k=range(8, 18)),
    ),
    Template(
        name="names_above",
        level=2,
        takes="scores: scores",
        gives="list[str]",
        text="return the names with a score greater than $k in alphabetical order",
        body="return sorted(name for name, score in scores.items() if score > $k)",
        wrong="return [name for name, score in scores.items() if score >= $k]",
        values=each(k=range(3, 13)),
    ),
    Template(
        name="total_of_long",
        level=2,
        takes="scores: scores",
        gives="int",
        text="return the sum of the scores of all whose name has at least $k letters",
        body="return sum(score for name, score in scores.items() if len(name) >= $k)",
        wrong="return sum(score for score in scores.values() if score >= $k)",
        values=each(k=(3, 4)),
    ),
    Template(
        name="graded",
        level=2,
        takes="scores: scores",
        gives="dict[str, str]",
        text='return a dictionary that has for each name "$good" if the score is at least $k, else "$bad"',
        body='return {name: "$good" if score >= $k else "$bad" for name, score in scores.items()}',
        wrong='return {name: "$bad" if score >= $k else "$good" for name, score in scores.items()}',
        values=[
            {"good": good, "bad": bad, "k": k} for good, bad in (("pass", "fail"), ("high", "low"), ("yes", "no")) for k in (5, 10, 15)
        ],
    ),
    Template(
        name="best_names",
        level=3,
        takes="scores: scores",
        gives="list[str]",
        text="return the $k name$k_s with the highest score$k_s, the highest first and equal ones by the alphabet",
        body="return sorted(scores, key=lambda name: (-scores[name], name))[:$k]",
        wrong="return sorted(scores, key=lambda name: scores[name])[:$k]",
        values=each(k=(1, 2, 3, 4)),
    ),
    Template(
        name="turned_around",
        level=3,
        takes="scores: scores",
        gives="dict[int, list[str]]",
        text="return a dictionary from each score, divided by $k and rounded down, to the sorted list of the names with it",
        body="groups = {}\nfor name in sorted(scores):\n    groups.setdefault(scores[name] // $k, []).append(name)\nreturn groups",
        wrong="return {score // $k: [name] for name, score in scores.items()}",
        values=each(k=(2, 3, 4, 5, 6, 7, 8, 10)),
    ),
    Template(
        name="lengths_counted",
        level=3,
        takes="words: words",
        gives="dict[int, int]",
        text="return a dictionary from each word length of at least $k to the number of words with it",
        body=(
            "counts = {}\nfor word in words:\n    if len(word) >= $k:\n"
            "        counts[len(word)] = counts.get(len(word), 0) + 1\nreturn counts"
        ),
        wrong="return {len(word): 1 for word in words if len(word) >= $k}",
        values=each(k=(1, 2, 3, 4)),
    ),
    Template(
        name="totals_above",
        level=3,
        takes="pairs: pairs",
        gives="dict[str, int]",
        text="add up the numbers of each letter in the pairs, and return a dictionary of the totals that are greater than $k",
        body=(
            "totals = {}\nfor letter, number in pairs:\n    totals[letter] = totals.get(letter, 0) + number\n"
            "return {letter: total for letter, total in totals.items() if total > $k}"
        ),
        wrong="return {letter: number for letter, number in pairs if number > $k}",
        values=each(k=(-1, 0, 1, 2, 3, 4, 5)),
    ),
    Template(
        name="stock_after",
        level=3,
        takes="pairs: pairs",
        gives="dict[str, int]",
        text="return the stock after all changes in the pairs, where each thing starts at $k and no stock ever falls under 0",
        body="stock = {}\nfor thing, change in pairs:\n    stock[thing] = max(0, stock.get(thing, $k) + change)\nreturn stock",
        wrong="stock = {}\nfor thing, change in pairs:\n    stock[thing] = stock.get(thing, 0) + change\nreturn stock",
        values=each(k=range(1, 9)),
    ),
    Template(
        name="last_with",
        level=2,
        takes="pairs: pairs",
        gives="int",
        text='return the number of the last pair with the letter "$c", or $k where there is none',
        body='return next((number for letter, number in reversed(pairs) if letter == "$c"), $k)',
        wrong='return next((number for letter, number in pairs if letter == "$c"), $k)',
        values=each(c=("p", "q", "r", "s", "t"), k=(0, -1)),
    ),
    Template(
        name="sorted_pairs",
        level=2,
        takes="pairs: pairs",
        gives="list[tuple[str, int]]",
        text="return the pairs with a number of at least $k, sorted by number and, where that is equal, in the given order",
        body="return sorted((pair for pair in pairs if pair[1] >= $k), key=lambda pair: pair[1])",
        wrong="return sorted(pair for pair in pairs if pair[1] >= $k)",
        values=each(k=range(-2, 5)),
    ),
    Template(
        name="letters_of",
        level=1,
        takes="pairs: pairs",
        gives="list[str]",
        text="return the letters of the pairs whose number is $what, in the given order",
        body="return [letter for letter, number in pairs if number $code]",
        wrong="return [number for letter, number in pairs if number $code]",
        values=[
            {"what": what, "code": code}
            for what, code in (
                ("positive", "> 0"),
                ("negative", "< 0"),
                ("even", "% 2 == 0"),
                ("odd", "% 2 == 1"),
                ("not 0", "!= 0"),
                ("at most 3", "<= 3"),
            )
        ],
    ),
)
