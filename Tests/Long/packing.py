"""How a writer may pack the JSON of a message (README.md 3.5)."""
import zlib

from encoder.piece import binary, compact_json
from encoder.wire import WINDOW, answer_json, deflated_json, difference_json, frame, message_dictionary, stored_json


def deflated(json, window, chance):
    packer = zlib.compressobj(chance.randrange(10), zlib.DEFLATED, -15, zdict=window[-WINDOW:])
    return packer.compress(json) + packer.flush()


def packed(kind, members, chance, answered=None, differs_from=None):
    """`answered`: what an answer may refer to; `differs_from`: a content, and its id."""
    json = compact_json(members).encode()
    ways = [stored_json(binary(json, "JSON")), deflated_json(deflated(json, message_dictionary(), chance))]
    if answered is not None:
        ways.append(answer_json(deflated(json, message_dictionary() + answered, chance)))
    if differs_from is not None:
        name, content = differs_from
        ways.append(difference_json(name, deflated(json, message_dictionary() + content, chance)))
    return frame(kind, chance.choice(ways))
