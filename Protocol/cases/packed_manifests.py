"""How the JSON of a manifest is packed (section 3.5)."""

from __future__ import annotations

from collections.abc import Iterator

from cases.streams import FINISH, blocks
from cases.streams import good as good_stream
from encoder.deflate import DeflateStream, Token, matched, wrapped
from encoder.piece import Pieces, binary, compact_json
from encoder.samples import RECIPES_STORE, core_data_manifest, manifest
from encoder.vector import Vector, values
from encoder.wire import MANIFEST, MANIFEST_LIMIT, deflated_manifest, frame, manifest_dictionary, stored_manifest

MEMBERS = manifest()
JSON = compact_json(MEMBERS).encode()
BY_ZLIB = bytes.fromhex(
    # By deflate of zlib 1.2.13 at level 9 with the dictionary, once: dynamic Huffman codes, as real producers write them.
    "8dd3bd0a42310c86e17b711792344dd273198e6e4dd3829be028e7dead83e22f3a77f9c8f3f67c43d8f57638ceb59f82"
    "c02dcd26ca02bc40deffc535b17e729d1ebec9fdf09a34c055700803bb61ab24668aa4a4d886cca7e8debc564ec94291"
    "07217864ab01e69b47e68cf4d4007dc57b490753516221b317577dab26b90143509e130be3181d288164a9c4dec5ae83"
    "1d462411ea5ecba8d43a0c856c2d45b1cdba5e00"
)


def deflated(json: bytes) -> bytes:
    return DeflateStream().fixed(matched(json, manifest_dictionary())).finished()


def good(name: str, about: str, payload: Pieces, members: dict[str, object] = MEMBERS) -> Vector:
    return Vector(f"manifest_packed_{name}", about, "3.5", "manifest", None, values(members), [("", payload)])


def bad(name: str, error: str, about: str, payload: Pieces) -> Vector:
    return Vector(f"manifest_packed_{name}", about, "3.5", "manifest", error, [], [("", payload)])


def vectors() -> Iterator[Vector]:
    stream = deflated(JSON)
    yield good("stored", "The JSON as it is", stored_manifest(binary(JSON, "JSON")))
    yield good("deflate", "Fixed Huffman codes, with matches into the dictionary", deflated_manifest(stream))
    yield good("deflate_by_zlib", "Dynamic Huffman codes, with matches into the dictionary", deflated_manifest(BY_ZLIB))
    full = core_data_manifest()
    yield good("deflate_core_data", "A manifest with external files", deflated_manifest(deflated(compact_json(full).encode())), full)
    plain = DeflateStream().fixed(matched(JSON)).finished()
    yield good("deflate_no_match", "No match into the dictionary, which is there all the same", deflated_manifest(plain))
    first = len(manifest_dictionary())
    opening = DeflateStream().fixed([(2 + 26, first), *JSON[1:]]).finished()
    yield bad("deflate_first_byte", "bad-manifest", "A match that reaches the dictionary's first byte; what it comes to is no JSON", deflated_manifest(opening))
    before = DeflateStream().fixed([(3, first + 1), *JSON]).finished()
    yield bad("deflate_before_dictionary", "damaged", "A match that reaches one byte before the dictionary", deflated_manifest(before))
    yield bad("empty", "bad-manifest", "A MANIFEST without a payload", [])
    yield bad("how_2", "bad-manifest", "Packed in a way that is not known", binary(b"\2" + stream, "2, and a stream"))
    yield bad("how_json", "bad-manifest", "JSON without the byte before it", binary(JSON, "JSON"))
    yield bad("deflate_nothing", "damaged", "No stream", deflated_manifest(b""))
    yield bad("deflate_cut", "damaged", "The stream ends early", deflated_manifest(stream[:-1]))
    yield bad("deflate_trailing_byte", "damaged", "A byte after the stream", deflated_manifest(stream + b"\0"))
    yield bad("deflate_block_type", "damaged", "A deflate block of the reserved type 3", deflated_manifest(b"\7"))
    yield bad("deflate_zlib", "damaged", "A zlib stream, with its header", deflated_manifest(wrapped(plain, JSON)))
    yield good("deflate_at_limit", "4,194,304 bytes of JSON", deflated_manifest(padded(MANIFEST_LIMIT)))
    yield bad("deflate_over_limit", "protocol-violation", "4,194,305 bytes of JSON: stop there", deflated_manifest(padded(MANIFEST_LIMIT + 1)))
    payload = frame(MANIFEST, deflated_manifest(stream))
    yield good_stream("manifest_deflated", "A manifest that is deflated", [RECIPES_STORE.data], payload, *blocks(RECIPES_STORE.data), FINISH, covers="3.5, 6.2")


def padded(size: int) -> bytes:
    """The manifest with white space at its end."""
    spaces = size - len(JSON)
    tokens: list[Token] = [*JSON, 0x20, *[(258, 1)] * ((spaces - 1) // 258), *[0x20] * ((spaces - 1) % 258)]
    return DeflateStream().fixed(tokens).finished()
