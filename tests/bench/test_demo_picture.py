"""The picture of a drafted answer."""

from xml.etree import ElementTree

import dflash_mlx as dm
from dflash_mlx.bench.demo_picture import ACCEPTED, QUESTION, TEXT, answer, svg


def test_the_picture_holds_the_answer_and_tells_drafts_apart() -> None:
    pair = dm.load("demo")
    chunks = list(pair.stream(QUESTION, max_tokens=60, block_size=8))
    root = ElementTree.fromstring(svg([[("#fff", "a < b & c")], *answer(chunks)]))
    spans = list(root.iter("{http://www.w3.org/2000/svg}tspan"))
    drawn = "".join(span.text or "" for span in spans[1:])
    assert spans[0].text == "a < b & c" and drawn == "".join(chunk.text for chunk in chunks).replace("\n", "")
    drafted = "".join(span.text or "" for span in spans[1:] if span.get("fill") == ACCEPTED)
    pieces = [(piece, i < chunk.accepted) for chunk in chunks for i, piece in enumerate(chunk.pieces)]
    assert drafted == "".join(piece for piece, accepted in pieces if accepted).replace("\n", "")
    assert {span.get("fill") for span in spans[1:]} <= {ACCEPTED, TEXT}
