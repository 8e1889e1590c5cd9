"""The sentences in which the demo pair's questions are put: training phrasings, and held-out ones that training never sees.

Each part of a question (an opening, a step, the question itself) has a list of its own, so that few lines make many
sentences. The held-out lists have the same keys; their sentences are new, their words are not.

Fields: n, o two names, p, q, r the pronouns of the first; a, b, c, m, x numbers; the keys of WORDS, each one of several words.
"""

from typing import Literal

from .stories import STORIES

Wording = Literal["training", "held-out"]

# fmt: off
NAMES = "Ada Ben Cleo Dan Eva Finn Gia Hugo Ida Jon Kim Leo Mia Noah Olga Paul Rosa Sam Tess Uri Vera Will Yara Zoe".split()
ITEMS = (
    *"apples pens books coins cards stamps shells marbles stickers eggs nuts beads plums cups keys bricks".split(),
    *"oranges pears flowers tickets chairs toys balls cakes stones letters photos pages points dollars euros cents".split(),
    *"people children students guests birds cows sheep trees seats cars boxes bottles candles buttons socks tiles".split(),
    *("football cards", "glasses of juice", "red roses", "bus tickets", "cups of tea", "comic books", "old coins"),
    *("blue pens", "sweets", "pieces of cake", "bars of chocolate", "slices of bread", "sheets of paper", "wooden blocks"),
)

WORDS = {
    "box": "boxes bags trays jars packs crates baskets".split(),
    "shop": ("shop", "school", "farm", "library", "team", "club"),
    "place": ("on the table", "in the box", "on the floor", "in the bag", "at home", "in the room"),
    "there": ("in the kitchen", "on the shelf", "in the garden", "outside", "under the bed", "in the car"),
    "day": ("on Monday", "in May", "today", "in the morning", "last week"),
    "later": ("on Tuesday", "in June", "tomorrow", "in the evening", "this week"),
    "has": ("has", "owns", "keeps", "holds", "has got"),
    "gets": ("gets", "buys", "finds", "receives", "collects", "wins"),
    "brings": ("brings", "adds", "finds", "makes", "buys", "gives", "puts in"),
    "takes": ("takes", "uses", "loses", "sells", "drops", "breaks", "steals", "removes"),
    "added": ("added", "found", "bought", "made", "brought", "put in", "given to us"),
    "lost": ("lost", "sold", "used", "broken", "stolen", "removed", "given away", "thrown away", "taken away"),
}

TRAIN = {
    # a quantity that something happens to
    "have": (
        "{n} {has} {a} {items}.", "There are {a} {items} {place}.", "A {shop} {has} {a} {items}.", "I have {a} {items}.",
        "{n} {gets} {a} {items} {day}.", "We count {a} {items} {place}.", "{a} {items} are {place}.",
        "My friend {n} {has} {a} {items}.",
        "{n} starts with {a} {items}.", "At first there are {a} {items}.", "In a {shop} there are {a} {items}.",
        "{n} had {a} {items} {day}.",
        "We have {a} {items} {place}.", "You have {a} {items}.", "{n} and {o} have {a} {items}.", "{n} makes {a} {items}.",
        "Someone left {a} {items} {place}.", "We own {a} {items}.", "Let us say that {n} has {a} {items}."),
    "more": (
        "Then {x} more arrive.", "Then {o} {brings} {x} more.", "After that {x} more {items} come in.",
        "{o} {brings} {x} {items}.",
        "Another {x} {items} are {there}.", "Later {x} {items} are {added}.", "There are also {x} {items} {there}.",
        "{x} more are {added} {later}.",
        "{o} {has} {x} {items}.", "Next, {o} {brings} {x} more.", "Then we get {x} more {items}.",
        "{o} {gets} {x} {items} {later}.",
        "And {x} more {items} are {added}.", "Then the number goes up by {x}.", "{x} new {items} are {added} {later}.",
        "Besides, {o} gives {x} more.",
        "I get {x} more from {o}.", "{later} there are {x} more.", "Then we add {x} {items}.", "{o} comes with another {x}."),
    "less": (
        "Then {x} are {lost}.", "Then {o} {takes} {x} of the {items}.", "After that {x} {items} are {lost}.",
        "{o} takes away {x} {items}.",
        "Of these, {x} are {lost}.", "Later {x} {items} are {lost}.", "But {x} of them fall down and break.",
        "{x} are {lost} {later}.",
        "{o} {takes} {x} {items}.", "Next, {x} are {lost}.", "Then we lose {x} {items}.", "{x} of them are given to {o}.",
        "And {x} {items} are taken out.", "Then the number goes down by {x}.", "{o} {takes} {x} {later}.",
        "But {x} {items} are bad.",
        "{x} of the {items} go to {o}.", "But {x} of the {items} are {lost}.", "We give {x} to {o}.",
        "{later} {o} throws {x} of them out."),
    # m equal groups of a
    "each": (
        "There are {m} {box} with {a} {items} in each.", "{n} buys {m} {box} of {a} {items} each.",
        "Each of {m} friends has {a} {items}.",
        "{n} packs {a} {items} a day for {m} days.", "{n} {has} {m} {box}, and every one holds {a} {items}.",
        "In each of {m} rooms there are {a} {items}.",
        "A {shop} sells {a} {items} per day for {m} days.", "{m} children have {a} {items} each.",
        "There are {m} rows of {a} {items}.",
        "Every day {n} {gets} {a} {items}, {m} days long.", "{n} fills {m} {box} and puts {a} {items} into each one.",
        "We see {m} shelves with {a} {items} per shelf.",
        "One box holds {a} {items}, and there are {m} boxes.", "{n} gives {a} {items} to each of {m} people.",
        "{m} {box} hold {a} {items} each.",
        "{n} draws {m} lines with {a} {items} in every line."),
    "share": (
        "{n} shares {a} {items} equally among {m} friends.", "{a} {items} go into {m} {box}, the same number in each.",
        "{n} divides {a} {items} among {m} people.", "{a} {items} are split equally between {m} children.",
        "{n} puts {a} {items} into {m} equal groups.",
        "{m} friends share {a} {items}.", "A {shop} packs {a} {items} into {m} {box} equally.",
        "There are {a} {items} for {m} children, and all get the same.",
        "{n} splits {a} {items} into {m} equal parts.", "{a} {items} are shared by {m} people.",
        "{n} {has} {a} {items} and fills {m} {box} equally.",
        "{m} people divide {a} {items} equally.", "We place {a} {items} in {m} rows, as many in one row as in another.",
        "{n} wants to give {a} {items} to {m} friends in equal shares.", "{n} spreads {a} {items} evenly over {m} days."),
    "ask_all": (
        "How many {items} are there in all?", "How many {items} is that altogether?",
        "What is the total number of {items}?", "How many {items} are there now?",
        "How many {items} is that?", "How many {items} are there together?", "Find the total.", "Count all the {items}.",
        "What is the total?",
        "How many are there in total?", "Give the number of all {items}.", "So how many {items} are there?",
        "Tell me how many {items} that makes.",
        "How many {items} do they have together?"),
    "ask_left": (
        "How many {items} are left?", "How many are left over?", "How many {items} remain?", "What is left?",
        "How many {items} are still there?",
        "Find the number of {items} left.", "How many {items} are left now?", "Tell me how many {items} remain.",
        "What number of {items} is left?",
        "How many {items} are there in the end?", "So how many are left?"),
    "ask_each": (
        "How many {items} are in each part?", "How many does each get?", "How many {items} is that for each?",
        "What is each share?", "How many {items} in one part?",
        "How large is one share?", "Find the number for each.", "How many {items} go to each?", "What does each one get?"),
    "ask_rest": (
        "How many does each get, and how many are left over?", "How many {items} are in each part and what is the rest?",
        "What is each share, and what is left over?",
        "How many {items} go to each, and how many remain?", "Find the share and the rest.",
        "How many is that for each, and what is the remainder?"),
    # whole questions
    "add": (
        "What is {a} + {b}?", "{a} + {b} = ?", "Add {a} and {b}.", "What is {a} plus {b}?", "Find the sum of {a} and {b}.",
        "How much is {a} + {b}?",
        "Compute {a} + {b}.", "I want to add {b} to {a}.", "What do I get when I add {a} and {b}?",
        "Calculate {a} plus {b}.", "What is the sum of {a} and {b}?",
        "{a} and {b} make how many?", "Work out {a} + {b}.", "Which number is {b} more than {a}?", "What is {b} more than {a}?",
        "{n} has {a} {items} and gets {b} more. How many {items} does {n} have now?",
        "{n} buys {a} {items} {day} and {b} {later}. How many {items} did {n} buy?",
        "If I have {a} {items} and get {b} more, how many do I have?",
        "One box holds {a} {items}, another holds {b}. How many {items} do both boxes hold?",
        "How many {items} do {n} and {o} have together if {n} has {a} and {o} has {b}?",
        "How many {items} are {a} {items} and {b} {items}?",
        "{n} reads {a} pages {day} and {b} pages {later}. How many pages is that?", "{a} + {b}", "Add {b} to {a}.",
        "How many is {a} and {b} together?",
        "There are {a} {items} {place} and {b} {there}. How many {items} are there?", "Give me the total of {a} and {b}."),
    "sub": (
        "What is {a} - {b}?", "{a} - {b} = ?", "Subtract {b} from {a}.", "What is {a} minus {b}?",
        "Find the difference of {a} and {b}.", "How much is {a} - {b}?",
        "Compute {a} - {b}.", "I want to take {b} from {a}.", "What do I get when I take {b} from {a}?",
        "Calculate {a} minus {b}.",
        "What is the difference between {a} and {b}?", "Take {b} away from {a}.", "Work out {a} - {b}.",
        "Which number is {b} less than {a}?", "What is {b} less than {a}?",
        "{n} has {a} {items}. {o} has {b} {items}. How many more {items} does {n} have?",
        "{n} has {a} {items} and {o} has {b}. How many fewer does {o} have?",
        "{n} needs {a} {items} and has {b}. How many {items} are missing?",
        "{n} wants {a} {items} but has only {b}. How many more does {n} need?",
        "How many {items} are left if {n} has {a} and gives {b} to {o}?",
        "If I have {a} {items} and lose {b}, how many are left?", "{a} - {b}",
        "A book has {a} pages, and {n} has read {b}. How many pages are left?", "How much larger is {a} than {b}?",
        "How many more is {a} than {b}?",
        "There were {a} {items} {place}, and {b} were taken. How many {items} are left?", "Take {b} from {a}."),
    "mul": (
        "What is {a} x {m}?", "{a} x {m} = ?", "Multiply {a} by {m}.", "What is {m} times {a}?",
        "Find the product of {a} and {m}.", "How much is {a} x {m}?",
        "Compute {a} x {m}.", "I want to multiply {a} by {m}.", "What do I get when I multiply {a} by {m}?",
        "Calculate {a} times {m}.", "What is {m} x {a}?",
        "What is the product of {a} and {m}?", "Work out {m} x {a}.", "Take {a} {m} times.",
        "How many {items} are {m} {box} of {a} {items}?",
        "If one box holds {a} {items}, how many {items} do {m} boxes hold?",
        "{n} reads {a} pages a day. How many pages does {n} read in {m} days?",
        "How many {items} do {m} friends have together if each has {a}?", "{a} x {m}", "{m} times {a} is how many?",
        "Multiply {m} and {a}.",
        "One day {n} makes {a} {items}. How many {items} does {n} make in {m} days?",
        "If {m} people have {a} {items} each, how many is that?",
        "How many {items} are there in {m} rows of {a}?", "Each pack has {a} {items}. How many {items} are in {m} packs?"),
    "div": (
        "What is {a} / {m}?", "{a} / {m} = ?", "Divide {a} by {m}.", "What is {a} divided by {m}?",
        "How often does {m} go into {a}?", "How much is {a} / {m}?",
        "Compute {a} / {m}.", "I want to divide {a} by {m}.", "What do I get when I divide {a} by {m}?",
        "Calculate {a} divided by {m}.", "Split {a} into {m} equal parts.",
        "Work out {a} / {m}.", "Find {a} / {m}.", "How many times does {m} fit into {a}?", "{a} / {m}",
        "Share {a} equally among {m}.", "What is one of {m} equal parts of {a}?",
        "How many {items} does each of {m} friends get if they share {a} {items}?",
        "If {a} {items} go into {m} boxes equally, how many are in one box?",
        "{n} reads {a} pages in {m} days, the same number every day. How many pages is that per day?",
        "How many {items} are in one of {m} equal {box} if there are {a} {items}?",
        "{a} {items} for {m} people: how many for each?", "A pack holds {m} {items}. How many packs do {a} {items} fill?",
        "If {m} people share {a} {items}, what does each one get?",
        "How many groups of {m} can I make from {a} {items}?"),
    "add_sub": (
        "What is {a} + {b} - {c}?", "{a} + {b} - {c} = ?", "Add {a} and {b}, then subtract {c}.",
        "Compute {a} + {b} - {c}.", "What is {a} plus {b} minus {c}?",
        "Take {c} from the sum of {a} and {b}.",
        "{n} has {a} {items}, gets {b} more and then gives {c} to {o}. How many {items} are left?",
        "A {shop} has {a} {items}. It buys {b} and sells {c}. How many {items} does the {shop} have now?",
        "Work out {a} + {b} - {c}.",
        "If I have {a} {items}, get {b} and lose {c}, how many are left?", "Add {b} to {a} and take away {c}.",
        "There are {a} {items}. {b} are added and {c} are removed. How many {items} are there now?"),
    "mul_add": (
        "What is {a} x {m} + {c}?", "{a} x {m} + {c} = ?", "Multiply {a} by {m}, then add {c}.", "Compute {a} x {m} + {c}.",
        "What is {m} times {a} plus {c}?",
        "Add {c} to the product of {a} and {m}.",
        "{n} has {m} {box} with {a} {items} in each and {c} loose {items}. How many {items} is that?",
        "{n} gets {a} {items} a day for {m} days and then {c} more. How many {items} is that?", "Work out {a} x {m} + {c}.",
        "If I have {m} boxes of {a} {items} and get {c} more, how many do I have?", "Multiply {m} and {a} and add {c}.",
        "Each of {m} friends has {a} {items}, and {n} has {c}. How many {items} do they have together?"),
    "mul_sub": (
        "What is {a} x {m} - {c}?", "{a} x {m} - {c} = ?", "Multiply {a} by {m}, then subtract {c}.",
        "Compute {a} x {m} - {c}.", "What is {m} times {a} minus {c}?",
        "Take {c} from the product of {a} and {m}.",
        "{n} has {m} {box} with {a} {items} in each and gives {c} to {o}. How many {items} are left?",
        "There are {m} {box} of {a} {items}. {c} {items} are broken. How many {items} are good?", "Work out {a} x {m} - {c}.",
        "If I have {m} boxes of {a} {items} and lose {c}, how many are left?", "Multiply {m} and {a} and take away {c}.",
        "Each of {m} friends has {a} {items}. Together they lose {c}. How many {items} do they still have?"),
    # units: amount, have, want
    "units": (
        "Convert {amount} {have} to {want}.", "How many {want} are {amount} {have}?", "What is {amount} {have} in {want}?",
        "Please turn {amount} {have} into {want}.",
        "How many {want} are there in {amount} {have}?", "Change {amount} {have} into {want}.",
        "Write {amount} {have} in {want}.", "{amount} {have} in {want}?",
        "I have {amount} {have}. How many {want} is that?", "Tell me how many {want} {amount} {have} are.",
        "What are {amount} {have} in {want}?", "How much is {amount} {have} in {want}?",
        "Give {amount} {have} in {want}.", "I want {amount} {have} in {want}.", "{amount} {have} is how many {want}?",
        "Find the number of {want} in {amount} {have}.",
        "How do I write {amount} {have} in {want}?", "{n} has {amount} {have} and needs {want}. How many {want} is that?",
        "Calculate how many {want} make {amount} {have}.",
        "Work out {amount} {have} in {want}.", "A way is {amount} {have}. What is it in {want}?",
        "Convert {amount} {have} into {want}.", "Please give {amount} {have} as {want}.",
        "Express {amount} {have} in {want}.", "If I have {amount} {have}, how many {want} do I have?",
        "{amount} {have} are how many {want}?"),
    # small functions: do "add 3 to a number", does "adds 3 to a number"
    "code": (
        "Write a Python function that {does}.", "I need a Python function that {does}.",
        "Show me a function in Python that {does}.", "Please write a short function that {does}.",
        "Write Python code to {do}.", "How do I {do} in Python?", "Write a function to {do}.",
        "Can you write a Python function that {does}?", "Give me a Python function to {do}.",
        "I want to {do} in Python.", "Please show me Python code that {does}.", "Define a function that {does}.",
        "Make a small Python function that {does}.",
        "Could you show me how to {do} in Python?", "Help me write a function that {does}.",
        "What does a Python function look like that {does}?", "Show a function to {do}.",
        "I am looking for a function that {does}.", "Create a function that {does}.", "Please {do} in Python.",
        "Give me code that {does}.", "Write me a function that {does}.",
        "Make a function to {do}.", "Use Python to {do}.", "How can I {do} with Python?",
        "Tell me how to {do} with a function."),
    # questions about a topic t
    "about": (
        "What is {t}?", "Explain {t}.", "Can you explain {t}?", "Tell me about {t}.", "What do you know about {t}?",
        "Please explain {t} in a few words.", "How would you describe {t}?",
        "I want to understand {t}.", "Describe {t} briefly.", "In short, what is {t}?", "Could you tell me what {t} is?",
        "What does one mean by {t}?", "Help me understand {t}.",
        "Give me a short explanation of {t}.", "I read about {t}. What is it?", "Please tell me about {t}.",
        "What does {t} mean?", "What can you say about {t}?", "Say something about {t}.",
        "I have a question about {t}.", "{t}?", "I do not know {t}. Please explain.", "How does one explain {t}?",
        "I want to know more about {t}.", "Please describe {t}.", "Why does one need {t}?", "What is {t} good for?",
        "Give me a few words about {t}.", "Would you explain {t} to me?", "What is meant when one says {t}?",
        "I wonder what {t} means."),
    "greeting": (
        "Hello!", "Hi!", "Good morning!", "Hey!", "Good evening!", "Hi there!", "hello", "hi", "hey", "yo", "Hello", "Hi", "Hey there", "Good afternoon!", "hello world",
        "Hello, world!", "hiya", "howdy", "greetings", "Hello hello", "hallo", "Hi bot", "hello model", "Good day!", "hey you", "Hello, how are you?", "hi how are you", "Nice to meet you.", "Hello again!",
        "hi again", "Good day to you!", "Morning!", "A very good evening!", "hey, are you there?", "Hello my friend", "Well hi!", "Oh, hello!", "good morning to you"),
    "before": (
        "Please solve this. ", "Here is a problem: ", "Help me with this. ", "Can you work this out? ", "A small problem. ",
        "I have a question. ", "Please help. ", "Solve: ", "Question: ",
        "Tell me: ", "Let us do a problem. ", "Could you help me? "),
    "after": (
        " Please show the steps.", " Show your work.", " Explain it.", " Thank you!", " Please help me.",
        " Do it step by step.", " Can you tell me?", " I want to see the steps."),
    "before_code": ("", "", "", "Please help me. ", "I have a question. ", "Hello! "),
}

# Mostly questions that name the smaller number first, or turn the sentence around.
MORE = {
    "have": (
        "There were {a} {items} {place}.", "A {shop} had {a} {items}.", "{n} and {o} keep {a} {items}.",
        "{n} and {o} find {a} {items}.",
        "{n} sees {a} {items} in the garden.", "{n} finds {a} {items} under the bed.",
        "In the {shop} there were {a} {items}.", "Some people have {a} {items}."),
    "more": (
        "Then {x} {items} come in.", "After that {x} {items} are {added}.", "Then {o} {brings} {x} {items}.",
        "{x} more {items} are {there} {later}.",
        "And then {x} more are {added}.", "Then {x} more {items} are {added}."),
    "less": (
        "But {later} {o} {takes} {x} of them.", "And then {o} {takes} {x} {items}.", "And {x} of the {items} are {lost}.",
        "But then {x} are {lost}.",
        "Then {x} of the {items} are {lost} {later}.", "After that {o} {takes} {x}."),
    "each": (
        "There are {m} rooms, and {a} {items} are in each one.", "There are {m} {box}, and each holds {a} {items}.",
        "There are {m} children, and each has {a} {items}.",
        "There are {m} tables with {a} {items} on each.", "We have {m} shelves, and on every shelf there are {a} {items}.",
        "{m} rooms have {a} {items} each.",
        "In {m} weeks {n} {gets} {a} {items} every week.", "For {m} weeks {n} {gets} {a} {items} a week.",
        "{m} days long {n} {brings} {a} {items} a day.",
        "On each of {m} days {n} {gets} {a} {items}.", "{n} works for {m} days and makes {a} {items} per day.",
        "For {m} hours a {shop} makes {a} {items} per hour.",
        "{n} has {m} children, and every child has {a} {items}.",
        "There are {m} people, and {a} {items} go to each of them.", "{m} times {n} {gets} {a} {items}.",
        "On {m} shelves there are {a} {items} each.", "{n} {gets} {m} {box}, each with {a} {items}.",
        "{m} friends bring {a} {items} each.",
        "In {m} rooms we see {a} {items} each.", "There are {m} tables, and on each table {a} {items}."),
    "share": ("{m} friends split {a} {items} equally.", "{m} {box} hold {a} {items}, all the same number.",
    "{a} {items} are divided evenly among {m} friends.", "We split {a} {items} into {m} parts."),
    "ask_all": ("Tell me how many {items} there are.", "How many {items} is that in total?", "Tell me the total.",
    "What number of {items} is there?", "So what is the total number?"),
    "ask_left": ("How many of them are left?", "How many of the {items} are left?", "Tell me what is left.",
    "So how many {items} remain?", "What number of {items} is left in the end?"),
    "ask_each": ("How many {items} does each get?", "Tell me how many each gets.", "How large is one part?"),
    "ask_rest": ("What does each get, and what is left over?", "Tell me the share and the rest."),
    "add": (
        "When I add {b} to {a}, what do I get?", "If {n} has {a} and {o} has {b} {items}, how many is that together?",
        "Please compute {a} plus {b}.", "What number is {a} plus {b}?",
        "Please find the sum of {a} and {b}."),
    "sub": (
        "If {n} has {a} {items} and {o} has {b}, how many fewer does {o} have?",
        "How many more {items} than {o} does {n} have if {n} has {a} and {o} has {b}?",
        "{n} has {a} {items}, and {o} has only {b}. How many more does {n} have?",
        "If {n} has {a} and {o} has {b}, what is the difference?", "I subtract {b} from {a}. What do I get?",
        "When I subtract {b} from {a}, what is left?", "Please take {b} from {a}.", "Please compute {a} minus {b}.",
        "What number is {a} minus {b}?", "Please take {b} away from {a}."),
    "mul": (
        "Tell me {m} times {a}.", "What does {m} times {a} make?", "Find {m} times {a}.", "What number is {m} times {a}?",
        "Please compute {m} times {a}.", "{n} has {m} times {a} {items}. How many is that?",
        "How many {items} are in {m} {box} if one holds {a}?", "How many {items} are on {m} shelves if {a} are on one?",
        "What do I get from {a} times {m}?", "In {m} days, how many {items} does {n} make at {a} per day?",
        "If {m} boxes hold {a} {items} each, how many {items} is that?",
        "If {m} children get {a} {items} each, how many is that in all?"),
    "div": (
        "How often is {m} in {a}?", "Find how many times {m} goes into {a}.", "Tell me how many times {m} is in {a}.",
        "How many groups of {m} are in {a}?", "What does each get if {m} people share {a}?",
        "How often can I take {m} from {a}?", "Into {m} equal parts I split {a} {items}. How many are in one part?",
        "If {m} children share {a} {items} equally, what is each share?",
        "With {m} {box} for {a} {items}, how many go into each?", "What number is {a} divided by {m}?",
        "Please compute {a} divided by {m}.", "How many times is {m} in {a}?"),
    "add_sub": (
        "What number is {a} + {b} - {c}?", "Tell me {a} plus {b} minus {c}.",
        "{n} had {a} {items}, got {b} more and gave {c} away. How many are left?", "Find {a} plus {b} minus {c}.",
        "What do I get when I add {a} and {b} and take away {c}?"),
    "mul_add": (
        "Tell me {m} times {a} plus {c}.", "Find {m} times {a} plus {c}.", "What number is {m} times {a} plus {c}?",
        "What do I get when I add {c} to {m} times {a}?", "Compute {m} times {a} plus {c}.",
        "What number is {a} x {m} + {c}?",
        "There are {m} shelves with {a} {items} on each and {c} {items} {there}. How many {items} is that?",
        "Take {m} times {a} and add {c}."),
    "mul_sub": (
        "Tell me {m} times {a} minus {c}.", "Find {m} times {a} minus {c}.", "What number is {m} times {a} minus {c}?",
        "What do I get when I take {c} from {m} times {a}?", "Compute {m} times {a} minus {c}.",
        "What number is {a} x {m} - {c}?",
        "There are {m} shelves with {a} {items} on each, and {c} {items} are {lost}. How many {items} are left?",
        "Take {m} times {a} and subtract {c}."),
    "units": (
        "Please convert {amount} {have} into {want}.", "Please write {amount} {have} in {want}.",
        "If a box has {amount} {have}, how many {want} is that?", "Tell me {amount} {have} in {want}.",
        "I need {want}. How many are {amount} {have}?", "Please change {amount} {have} to {want}."),
    "code": (
        "Create a Python function to {do}.", "Help me to {do} with Python.", "I need a short function that {does}.",
        "Could you give me a Python function that {does}?", "Show me code to {do} in Python.",
        "Please define a function that {does}.", "Can you show me a small function to {do}?"),
    "about": ("Please explain what {t} is.", "Could you explain {t}?", "Can you describe {t}?", "Please help me with {t}.",
    "I want to know about {t}.", "What's {t}?", "what's {t}", "Whats {t}?", "{t}", "define {t}", "Define {t}.", "explain {t} please", "What are {t}?", "How does {t} work?", "What does {t} do?",
    "what is {t}", "and {t}?", "What about {t}?", "Info on {t}", "Tell me more about {t}.", "meaning of {t}", "Why is there {t}?", "I never heard of {t}.", "What exactly is {t}?", "Who needs {t}?", "So what is {t}?"),
    "before": ("Here is a small problem. ", "Please solve: ", "Let me ask this: "),
    "after": (" Please show your steps.", " Explain the steps.", " Please explain it."),
    "before_code": ("A question: ",),
}


HELD_OUT = {
    "have": (
        "{n} and {o} own {a} {items}.", "A team has {a} {items} {place}.", "At home I have {a} {items}.",
        "{n} finds {a} {items} in the car.", "There were {a} {items} in a {shop}.",
        "My friend has got {a} {items} {day}.", "Someone has {a} {items}."),
    "more": (
        "Then {x} {items} are {added}.", "{o} {brings} another {x} {items}.", "Later we find {x} more {items}.",
        "After that {o} gets {x} more.", "{x} {items} more are there {later}.",
        "And then {x} new {items} arrive."),
    "less": (
        "Then {o} {takes} {x} of them.", "After that {x} of the {items} are {lost}.", "Later {o} {takes} {x}.",
        "{x} of these are {lost} {later}.", "But then {o} {takes} {x} {items}.",
        "And {x} of them are thrown out."),
    "each": (
        "There are {m} shelves, and {a} {items} are on each.", "{n} has {m} friends, and every friend has {a} {items}.",
        "For {m} days {n} finds {a} {items} per day.", "{n} packs {m} {box} with {a} {items} each.",
        "In each of the {m} {box} we count {a} {items}.", "A {shop} makes {a} {items} every day, {m} days long."),
    "share": (
        "{n} gives {a} {items} to {m} children in equal parts.", "{a} {items} are divided equally among {m} {box}.",
        "{m} children split {a} {items} evenly.", "A {shop} shares {a} {items} equally between {m} people.",
        "{n} packs {a} {items} into {m} {box}, as many in one as in another.", "We divide {a} {items} into {m} equal groups."),
    "ask_all": ("How many {items} are there altogether?", "Tell me the total number of {items}.",
    "So how many {items} is that in all?", "What number of {items} is that together?"),
    "ask_left": ("So how many {items} are still left?", "How many of the {items} remain?",
    "Tell me how many {items} are left over.", "What is the number of {items} left in the end?"),
    "ask_each": ("How many {items} does each one get?", "How large is each share?",
    "Tell me how many {items} that is for each.", "What number of {items} is in one part?"),
    "ask_rest": ("What does each one get, and how many {items} are left over?",
    "How large is each share, and what is the remainder?", "Tell me the share and what is left."),
    "add": (
        "What comes out when {b} is added to {a}?", "Please add {a} and {b}.", "What is the total of {a} and {b}?",
        "Tell me the sum of {a} and {b}.", "If {n} has {a} {items} and {o} has {b}, how many do they have together?",
        "{n} collects {a} {items} {day} and {b} more {later}. How many {items} is that?",
        "What number do I get from {a} + {b}?"),
    "sub": (
        "What stays when {b} is taken off {a}?", "Please subtract {b} from {a}.", "What is left when I take {b} from {a}?",
        "Tell me the difference between {a} and {b}.",
        "If {n} has {a} {items} and {o} has {b}, how many more does {n} have?",
        "{n} had {a} {items} and lost {b} of them. How many {items} are left?", "What number do I get from {a} - {b}?"),
    "mul": (
        "What comes out of taking {a} {m} times?", "Please multiply {a} by {m}.", "Tell me the product of {a} and {m}.",
        "If each of {m} boxes holds {a} {items}, how many {items} are there?",
        "{n} makes {a} {items} a day. How many {items} is that in {m} days?", "What number do I get from {a} x {m}?",
        "How many {items} do {m} children have if each has {a}?"),
    "div": (
        "What comes out when {a} is cut into {m} equal parts?", "Please divide {a} by {m}.", "Tell me how often {m} goes into {a}.",
        "If {n} shares {a} {items} among {m} people, how many does each get?",
        "How many {items} are in one box if {a} {items} fill {m} boxes equally?", "What number do I get from {a} / {m}?",
        "Divide {a} {items} into {m} equal parts."),
    "add_sub": (
        "Start with {a}, add {b}, then drop {c}. What is left?", "Add {a} and {b} and take away {c}.",
        "{n} has {a} {items}, finds {b} more and loses {c}. How many {items} are left now?",
        "A {shop} had {a} {items}, then got {b} more and sold {c}. How many are left?",
        "What do I get from {a} plus {b} minus {c}?"),
    "mul_add": (
        "Take {a} {m} times, then add {c}. What comes out?", "Multiply {a} by {m} and add {c}.",
        "{n} buys {m} {box} of {a} {items} and gets {c} more. How many {items} does {n} have now?",
        "There are {m} {box} with {a} {items} each and {c} {items} on the table. How many {items} is that in all?",
        "What do I get from {m} times {a} plus {c}?"),
    "mul_sub": (
        "Take {a} {m} times, then drop {c}. What comes out?", "Multiply {a} by {m} and take away {c}.",
        "{n} buys {m} {box} of {a} {items} and loses {c}. How many {items} does {n} still have?",
        "There are {m} {box} with {a} {items} each, and {c} {items} are sold. How many {items} are left?",
        "What do I get from {m} times {a} minus {c}?"),
    "sub_add": (
        "{n} had {a} {items}, lost {b} of them and then found {c}. How many {items} are there now?",
        "From {a} take {b}, then add {c}. What comes out?", "A {shop} had {a} {items}, sold {b} and then bought {c}. How many {items} does it have now?"),
    "add_add": (
        "{n} collects {a} {items}, {o} {b} and Max {c}. How many {items} is that together?",
        "Please add {a}, {b} and {c}.", "There are {a} red, {b} blue and {c} green {items}. How many {items} is that in all?"),
    "sub_sub": (
        "{n} had {a} {items}, lost {b} and then gave {c} to {o}. How many {items} are left in the end?",
        "From {a} take {b} and then {c}. What is left?", "Of {a} {items}, {b} are sold and {c} are broken. How many {items} remain?"),
    "units": (
        "Please convert {amount} {have} to {want}.", "Tell me what {amount} {have} are in {want}.",
        "How many {want} do {amount} {have} make?", "Turn {amount} {have} into {want}.",
        "I need {amount} {have} in {want}.", "If a way is {amount} {have}, how many {want} is it?",
        "Can you write {amount} {have} in {want}?", "Find out how many {want} {amount} {have} is."),
    "code": (
        "Can you give me Python code that {does}?", "Please define a small function to {do}.",
        "I need code to {do} in Python.", "Could you write a function that {does}?",
        "Show me how to {do} with a Python function.", "Help me {do} in Python.",
        "Create a short Python function that {does}."),
    "about": (
        "Please explain to me what {t} is.", "Could you describe {t}?", "What is meant by {t}?",
        "I want to know what {t} is.", "Tell me in a few words what {t} means.", "Help me with {t}.",
        "Can you tell me something about {t}?", "Give a short explanation of {t}, please."),
    "greeting": ("Hello there!", "Hi again!", "Well, hello.", "hey hey", "A good morning to you!"),
    "before": ("Please help me with a small problem. ", "Here is a question: ", "Can you solve this? ",
    "Let us work this out. "),
    "after": (" Show the steps, please.", " Please explain your work.", " Can you help me?"),
    "before_code": ("", "", "Can you help me? ", "Here is a question: "),
}

SETS: dict[Wording, dict[str, tuple[str, ...]]] = {
    "training": {part: TRAIN.get(part, ()) + MORE.get(part, ()) + STORIES.get(part, ()) for part in (*TRAIN, *STORIES)},
    "held-out": HELD_OUT,
}
