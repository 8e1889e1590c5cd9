"""Keys at the prompt of a chat, and while it answers."""

from terminal import FIGURES, PROMPT, SLOW, Chat

CTRL_C, CTRL_D, CTRL_R = "\x03", "\x04", "\x12"


def test_a_search_in_the_history_is_taken_given_up_and_left() -> None:
    chat = Chat(SLOW)
    chat.until("/help", PROMPT)
    for said in ("What is the anchor?", "What is 3 + 4?"):
        chat.say(said, FIGURES)
    chat.child.send(CTRL_R + "anch")
    chat.shows("I-search backward: anch")
    chat.child.send("\r")  # takes it
    chat.shows("> What is the anchor?")
    chat.say("", FIGURES)  # sends it
    assert sum("> What is the anchor?" in line for line in chat.screen.lines) == 2
    chat.child.send(CTRL_R + "3 +" + CTRL_C + "typed")  # gives it up
    chat.shows("> typed")
    chat.child.send(CTRL_C + CTRL_R + CTRL_C + CTRL_C)
    chat.until("Ctrl-C again")
    chat.child.send(CTRL_D)
    assert chat.end() == 0
