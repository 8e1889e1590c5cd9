"""Small Python functions: what each is asked for in words, and what it looks like.

The noun of the request is the name of the argument; {v} is that noun, {k} a number from 2 to 9. A wording gives the verb
in both forms, "add/adds"; the first training wording is also the docstring.
"""

import random
from typing import NamedTuple

from .phrasings import Wording


class Family(NamedTuple):
    nouns: tuple[str, ...]
    name: str
    body: tuple[str, ...]
    train: tuple[str, ...]
    held_out: tuple[str, ...]
    more: tuple[str, ...] = ()


ONE = ("number", "value", "price", "length", "size", "score")
MANY = ("numbers", "values", "prices", "lengths", "sizes", "scores")
TEXT = ("text", "word", "line", "name", "title", "sentence")

# fmt: off
FAMILIES = (
    Family(ONE, "add_{k}", ("return {v} + {k}",),
           ("add/adds {k} to a {v}", "increase/increases a {v} by {k}", "return/returns a {v} plus {k}",
            "make/makes a {v} larger by {k}", "give/gives {k} more than a {v}"),
           ("return/returns {k} more than a {v}", "give/gives a {v} plus {k}")),
    Family(ONE, "subtract_{k}", ("return {v} - {k}",),
           ("subtract/subtracts {k} from a {v}", "decrease/decreases a {v} by {k}", "return/returns a {v} minus {k}",
            "take/takes {k} from a {v}", "make/makes a {v} smaller by {k}", "give/gives {k} less than a {v}"),
           ("return/returns {k} less than a {v}", "give/gives a {v} minus {k}")),
    Family(ONE, "times_{k}", ("return {v} * {k}",),
           ("multiply/multiplies a {v} by {k}", "return/returns {k} times a {v}", "give/gives the product of a {v} and {k}",
            "return/returns a {v} times {k}", "take/takes a {v} {k} times"),
           ("return/returns the product of a {v} and {k}", "give/gives {k} times a {v}")),
    Family(ONE, "power_{k}", ("return {v} ** {k}",),
           ("raise/raises a {v} to the power {k}", "compute/computes the power {k} of a {v}",
            "return/returns a {v} to the power of {k}", "take/takes the power {k} of a {v}"),
           ("return/returns the power {k} of a {v}", "compute/computes a {v} to the power {k}")),
    Family(ONE, "divisible_by_{k}", ("return {v} % {k} == 0",),
           ("check/checks whether a {v} is divisible by {k}", "tell/tells if a {v} is divisible by {k}",
            "test/tests whether {k} divides a {v}", "find/finds out if a {v} is a multiple of {k}",
            "check/checks if {k} divides a {v}"),
           ("tell/tells whether {k} divides a {v}", "test/tests if a {v} is divisible by {k}")),
    Family(MANY, "keep_above_{k}", ("return [x for x in {v} if x > {k}]",),
           ("keep/keeps the {v} greater than {k}", "return/returns the {v} above {k}",
            "select/selects all {v} larger than {k}", "filter/filters the {v} that are more than {k}",
            "find/finds the {v} above {k}"),
           ("select/selects the {v} above {k}", "return/returns all {v} greater than {k}")),
    Family(MANY, "keep_below_{k}", ("return [x for x in {v} if x < {k}]",),
           ("keep/keeps the {v} smaller than {k}", "return/returns the {v} below {k}",
            "select/selects all {v} less than {k}", "filter/filters the {v} that are under {k}",
            "find/finds the {v} below {k}"),
           ("select/selects the {v} below {k}", "return/returns all {v} smaller than {k}")),
    Family(MANY, "count_{k}", ("count = 0", "for x in {v}:", "    if x == {k}:", "        count += 1", "return count"),
           ("count/counts the {v} equal to {k}", "count/counts how many {v} are {k}",
            "return/returns how often {k} is in a list of {v}", "find/finds how many {v} equal {k}",
            "tell/tells how many of the {v} are {k}"),
           ("return/returns how many {v} are {k}", "count/counts how often {k} is in a list of {v}")),
    Family(MANY, "sum_{v}", ("total = 0", "for x in {v}:", "    total += x", "return total"),
           ("sum/sums a list of {v}", "add/adds up all {v}", "return/returns the sum of the {v}",
            "compute/computes the total of a list of {v}", "find/finds the sum of all {v}", "sum/sums the {v} of a list"),
           ("compute/computes the sum of all {v}", "add/adds up a list of {v}"),
           ("add/adds up the {v} of a list", "add/adds all {v} of a list", "sum/sums up a list of {v}", "add/adds up the {v}", "add/adds the {v} of a list")),
    Family(MANY, "largest_of_{v}", ("best = {v}[0]", "for x in {v}:", "    if x > best:", "        best = x", "return best"),
           ("find/finds the largest of the {v}", "return/returns the largest of a list of {v}",
            "give/gives the maximum of the {v}", "compute/computes the maximum of a list of {v}",
            "find/finds the greatest of all {v}"),
           ("return/returns the maximum of the {v}", "give/gives the largest of all {v}")),
    Family(MANY, "smallest_of_{v}", ("best = {v}[0]", "for x in {v}:", "    if x < best:", "        best = x", "return best"),
           ("find/finds the smallest of the {v}", "return/returns the smallest of a list of {v}",
            "give/gives the minimum of the {v}", "compute/computes the minimum of a list of {v}",
            "find/finds the lowest of all {v}"),
           ("return/returns the minimum of the {v}", "give/gives the smallest of all {v}")),
    Family(MANY, "mean_of_{v}", ("return sum({v}) / len({v})",),
           ("compute/computes the mean of the {v}", "return/returns the average of a list of {v}",
            "find/finds the mean of a list of {v}", "give/gives the average of the {v}",
            "calculate/calculates the average of all {v}"),
           ("return/returns the mean of all {v}", "compute/computes the average of the {v}")),
    Family(TEXT, "reverse_{v}", ("return {v}[::-1]",),
           ("reverse/reverses a {v}", "turn/turns a {v} around", "return/returns a {v} in reverse",
            "write/writes a {v} backwards", "give/gives a {v} backwards"),
           ("return/returns a {v} backwards", "write/writes a {v} in reverse")),
    Family(TEXT, "repeat_{v}_{k}_times", ("return {v} * {k}",),
           ("repeat/repeats a {v} {k} times", "write/writes a {v} {k} times", "return/returns {k} copies of a {v}",
            "join/joins {k} copies of a {v}", "give/gives a {v} repeated {k} times"),
           ("return/returns a {v} repeated {k} times", "give/gives {k} copies of a {v}")),
    Family(TEXT, "count_vowels", ('return sum(c in "aeiou" for c in {v})',),
           ("count/counts the vowels in a {v}", "return/returns the number of vowels in a {v}",
            "find/finds how many vowels a {v} has", "count/counts how many vowels are in a {v}",
            "give/gives the number of vowels in a {v}"),
           ("return/returns how many vowels a {v} has", "find/finds the number of vowels in a {v}")),
)
# fmt: on


def request(rng: random.Random, wording: Wording) -> tuple[str, str, str, str]:
    """(do, does, name, code) of a random function: "add 3 to a number", "adds 3 to a number", "add_3", "def add_3..."."""
    family = rng.choice(FAMILIES)
    fields = {"v": rng.choice(family.nouns), "k": rng.randint(2, 9)}

    def verbs(text: str) -> tuple[str, str]:
        both, rest = text.format(**fields).split(" ", 1)
        do, does = both.split("/")
        return f"{do} {rest}", f"{does} {rest}"

    do, does = verbs(rng.choice(family.held_out if wording == "held-out" else family.train + family.more))
    purpose = verbs(family.train[0])[0]
    name = family.name.format(**fields)
    lines = [f"def {name}({fields['v']}):", f'    """{purpose[0].upper()}{purpose[1:]}."""']
    return do, does, name, "\n".join(lines + ["    " + line.format(**fields) for line in family.body])
