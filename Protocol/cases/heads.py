"""Heads of publications (PUBLISHED.md 2)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from cases.delta_sessions import BASE, GOOD, NEW
from cases.one_way_deltas import over
from cases.one_way_deltas import signed as signed_in_file
from cases.signatures import PHONE, RECERTIFIED, STRANGER
from cases.streams import FINISH, blocks, session
from encoder import publication as p
from encoder.deflate import DeflateStream
from encoder.device import DOMAIN, ED25519, Device, N, der, signed_content
from encoder.piece import Piece, Pieces, binary, compact_json, document, joined, text
from encoder.samples import CREATED_AT, EMPTY_STORE, Members, content_of, manifest
from encoder.sqlite_file import StoreFile
from encoder.vector import Detail, Vector, values
from encoder.wire import MANIFEST, frame, stored_json

COVERS = "published 2"
PUBLICATION = "c3" * 32
EXPIRES = "2027-11-20T19:04:05Z"
LONGEST_CERTIFICATE, MOST_STORES, MOST_STEPS = 4096, 1024, 256
LARGEST = 281_474_976_579_584
Step = tuple[Members, bytes]
"""As it stands in a head, and its shipment."""


def canonical(members: Members) -> bytes:
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def differences(known: Members, members: Members) -> Members:
    found: Members = {}
    for name, value in members.items():
        if known.get(name) != value:
            both = isinstance(known.get(name), dict) and isinstance(value, dict)
            found[name] = differences(known[name], value) if both else value
    return found


SIGNATURES: dict[bytes, bytes] = {}
"""By the frames of the shipments."""


def shipment(members: Members, frames: Sequence[Pieces], base: Members | None = None) -> bytes:
    """The frames, without what is known; with `base`, the manifest of what is held, without all that is in that."""
    signed, payload = joined(stored_json(document(members))), stored_json(document(members))
    if base is not None:
        known = json.loads(content_of(base).json) | {"base": {"sha256": base["store"]["sha256"]}}
        signed, payload = b"\0" + canonical(members), binary(b"\4" + canonical(differences(known, members)))
    value = b"".join(part.to_bytes(32, "big") for part in PHONE.signed(signed_content(signed, PHONE.id)))
    found = b"".join(joined(each)[:-4] for each in (frame(MANIFEST, payload), *frames, FINISH, FINISH))
    SIGNATURES[found] = value
    return found


def id_of(store: StoreFile, name: str = "Recipes") -> str:
    return content_of(manifest(store, name)).id.hex()


FIRST, SECOND = id_of(BASE), id_of(NEW)
WHOLE = shipment(manifest(BASE, counter=1), blocks(BASE.data))
CHANGE = shipment(over(counter=3), GOOD, manifest(BASE))
NEW_WHOLE = shipment(manifest(NEW, counter=4), blocks(NEW.data))
OF_EMPTY = shipment(manifest(EMPTY_STORE, "Empty", counter=6), blocks(EMPTY_STORE.data))


def step(counter: int = 3, content: bytes = CHANGE, base: str | None = FIRST, to: str = SECOND, **more: Any) -> Members:
    members = ({"from": base} if base else {}) | {"to": to, "counter": counter, "size": len(content)}
    return members | ({"signature": SIGNATURES[content].hex()} if content in SIGNATURES else {}) | more


def store(*steps: Members, name: str = "Recipes", newest: str = FIRST, counter: int = 1, of: StoreFile = BASE, **more: Any) -> Members:
    return {"name": name, "newest": newest, "counter": counter, "asOf": CREATED_AT, "size": len(of.data), "steps": list(steps)} | more


CATALOG = {"sha256": hashlib.sha256(b"a catalog").hexdigest(), "size": 321}
IN_CATALOG = store(catalog=CATALOG)
CHANGED = store(step(), newest=SECOND, counter=3, of=NEW, catalog=CATALOG)
EMPTY = store(step(6, OF_EMPTY, None, id_of(EMPTY_STORE, "Empty")), name="Empty", newest=id_of(EMPTY_STORE, "Empty"), counter=6, of=EMPTY_STORE)


HALTED = {"name": "Recipes", "since": CREATED_AT}
def stage(share: int, since: str = CREATED_AT) -> Members:
    return {"share": share, "since": since}


FIRST_TO_GO = store(step(), newest=SECOND, counter=3, of=NEW, catalog=CATALOG, rollout=[stage(100), stage(10_000, EXPIRES)])
SEALING = {"keys": "4d" * 32, "recipients": "7a" * 32}
BEFORE = {"sha256": hashlib.sha256(b"a head").hexdigest(), "size": p.LARGEST_HEAD}


def said(*stores: Any, **more: Any) -> Members:
    return {"publication": PUBLICATION, "number": 7, "software": "ship-store 1.0.0", "issued": CREATED_AT, "expires": EXPIRES, "halted": [], "stores": list(stores)} | more


def signed_head(content: Pieces, device: Device = PHONE, stream: Pieces | None = None) -> Pieces:
    return p.head(device.id, p.value(device, joined(content)), p.stored(content) if stream is None else stream)


def content_of_head(members: Members | Pieces, *shipments: bytes) -> Pieces:
    return p.content(document(members) if isinstance(members, dict) else members, shipments)


def told(members: Members, shipments: Sequence[bytes], device: Device) -> list[Detail]:
    own: list[Detail] = [("publisher", device.id.hex())]
    return own + values(members) + [("shipment", f"{len(each)} {hashlib.sha256(each).hexdigest()}") for each in shipments]


def whole(name: str, about: str, members: Members, *shipments: bytes, known: Members | None = None, device: Device = PHONE, file: Pieces | None = None) -> Vector:
    """`known`: what a reader has of the members, where it is not all."""
    pieces = signed_head(content_of_head(members, *shipments), device) if file is None else file
    return vector(name, about, None, told(members if known is None else known, shipments, device), device.certificate, pieces)


def none(name: str, about: str, file: Pieces, error: str = "bad-manifest", certificate: bytes = PHONE.certificate) -> Vector:
    return vector(name, about, error, [], certificate, file)


def vector(name: str, about: str, error: str | None, details: list[Detail], certificate: bytes, file: Pieces) -> Vector:
    object = binary(certificate, "the object of the publisher's id")
    return Vector(f"head_{name}", about, COVERS, "head", error, details, [("certificate", object), ("", file)])


def bad(name: str, about: str, members: Members | Pieces, *shipments: bytes) -> Vector:
    """The device has signed what it says."""
    return none(name, about, signed_head(content_of_head(members, *shipments)))


def without(members: Members, name: str) -> Members:
    return {key: value for key, value in members.items() if key != name}


GOOD_CONTENT = content_of_head(said(CHANGED), CHANGE)
GOOD_HEAD = signed_head(GOOD_CONTENT)


def vectors() -> Iterator[Vector]:
    yield from good()
    yield from largest()
    yield from no_head()
    yield from no_stream()
    yield from no_certificate()
    yield from brought()
    yield from forged()
    yield from no_json()
    yield from members()
    yield from stores()
    yield from steps()
    yield from lengths()


def good() -> Iterator[Vector]:
    yield whole("no_store", "Nothing is published, and who says so is known", said())
    yield whole("catalog", "A store with a catalog and no step", said(IN_CATALOG))
    yield whole("neither", "A store with neither catalog nor step", said(store()))
    yield whole("step", "A step over what is in the catalog", said(CHANGED), CHANGE)
    steps = [step(1, WHOLE, None, FIRST), step()]
    yield whole("steps", "A whole, and a step over it", said(store(*steps, newest=SECOND, counter=3, of=NEW)), WHOLE, CHANGE)
    steps = [without(step(1, WHOLE, None, FIRST), "signature"), step()]
    yield whole("steps_last_signed", "The last step alone has a signature of its own", said(store(*steps, newest=SECOND, counter=3, of=NEW)), WHOLE, CHANGE)
    content = content_of_head(said(store(*steps, newest=SECOND, counter=3, of=NEW)), WHOLE, CHANGE)
    yield whole("steps_deflated", "The same, with matches and strings of digits that are brought, some of them again", said(store(*steps, newest=SECOND, counter=3, of=NEW)), WHOLE, CHANGE, file=signed_head(content, stream=p.deflated(joined(content))))
    yield whole("whole", "A step that is a whole, without a catalog", said(store(step(4, NEW_WHOLE, None), newest=SECOND, counter=4, of=NEW)), NEW_WHOLE)
    several = [store(name="Drinks", catalog=CATALOG), EMPTY, CHANGED]
    yield whole("several", "Three stores: the shipments stand in the order of the steps", said(*several), OF_EMPTY, CHANGE)
    yield whole("names", "Names rise by their bytes: capitals come before what is between them and small letters", said(store(name="B"), store(name="_notes"), store(name="a")))
    content = content_of_head(said(CHANGED), CHANGE)
    yield whole("deflated", "The same as in `head_step`, with matches in the dictionary", said(CHANGED), CHANGE, file=signed_head(content, stream=p.deflated(joined(content))))
    yield whole("of_another", "Another device", said(), device=STRANGER)
    yield whole("expired", "A time that is over before it was found: that is no matter of its form", said(expires="2001-01-01T00:00:00Z"))
    nulls = said(store(step(sha256=None), newest=SECOND, counter=3, of=NEW, catalog=None))
    yield whole("nulls", "null stands for an absent member", nulls, CHANGE, known=said(store(step(), newest=SECOND, counter=3, of=NEW)))
    odd = said(store(step(colour="green"), newest=SECOND, counter=3, of=NEW, catalog=CATALOG | {"colour": 1.5}, colour=[None]), colour=[1.5, {"a": None}])
    yield whole("unknown_members", "Members that are not known are passed over", odd, CHANGE, known=said(CHANGED))
    spaced = text(compact_json(said(IN_CATALOG)).replace(",", ", ").replace(":{", " : {") + "\n")
    yield whole("halted", "Two stores are halted, of which one is not published any more", said(IN_CATALOG, halted=[HALTED | {"name": "Drinks"}, HALTED]))
    yield whole("next", "The last head of a device, which names the next", said(IN_CATALOG, next=STRANGER.id.hex()))
    yield whole("rollout", "A state is for one follower in a hundred, the one before for the others", said(FIRST_TO_GO, IN_CATALOG), CHANGE)
    yield whole("rollout_of_first_state", "The first state is for half of the followers until somebody says otherwise", said(IN_CATALOG | {"rollout": [stage(5000)]}))
    yield whole("sealing", "It says how it is encrypted", said(IN_CATALOG, sealing=SEALING))
    yield whole("before", "The first head of a device that goes on after another, and the last one too", said(before=BEFORE, next=PHONE.id.hex()), device=STRANGER)
    yield whole("white_space", "White space in the JSON and behind it", said(IN_CATALOG), file=signed_head(content_of_head(spaced)))
    yield whole("step_elsewhere", "Steps of which none leads to what is newest: that is no matter of its form", said(store(step(), counter=9)), CHANGE)
    both = [step(3, shipment(manifest(NEW, counter=3), blocks(NEW.data)), None), step()]
    yield whole("step_same_number", "Two steps to one content with one number", said(store(*both, newest=SECOND, counter=3, of=NEW)), shipment(manifest(NEW, counter=3), blocks(NEW.data)), CHANGE)
    value = p.value(PHONE, joined(GOOD_CONTENT))
    other = (N - int.from_bytes(value[32:], "big")).to_bytes(32, "big")
    yield whole("other_s", "The order of the curve less s in the place of s: as good", said(CHANGED), CHANGE, file=p.head(PHONE.id, value[:32] + other, p.stored(GOOD_CONTENT)))


def largest() -> Iterator[Vector]:
    highest = store(step(2**64 - 1), newest=SECOND, counter=2**64 - 1, size=LARGEST, catalog={"sha256": "ab" * 32, "size": p.LARGEST_CATALOG})
    yield whole("largest_numbers", "The largest numbers: for the rules of a head they are numbers", said(highest, number=2**64 - 1), CHANGE)
    many = [store(name=f"n{each:04}") for each in range(MOST_STORES + 1)]
    yield none("1025_stores", "1,025 stores", deflated_head(said(*many)))
    short = [step(each + 1, b"!", None, FIRST) for each in range(MOST_STEPS + 1)]
    yield none("257_steps", "257 steps of a byte", deflated_head(said(store(*short)), *[b"!"] * (MOST_STEPS + 1)))
    for size, name in ((p.LARGEST_HEAD, "at_limit"), (p.LARGEST_HEAD + 1, "over_limit")):
        found = of_size(size)
        about = f"A head of {size:,} bytes"
        yield whole(name, about, found[0], found[1], file=found[2]) if size == p.LARGEST_HEAD else none(name, about, found[2])
    for size, name in ((p.LARGEST_CONTENT, "inflated_at_limit"), (p.LARGEST_CONTENT + 1, "inflated_over_limit")):
        found = of_content_size(size)
        about = f"A content of {size:,} bytes"
        yield whole(name, about, found[0], found[1], file=found[2]) if size == p.LARGEST_CONTENT else none(name, about, found[2])
    content = joined(GOOD_CONTENT) + bytes(p.LARGEST_CONTENT + 1000)
    stream = DeflateStream().fixed([*content[: len(joined(GOOD_CONTENT)) + 1], *[(250, 1)] * 4198], last=False).finished() + b"\xff" * 8
    yield none("inflated_over_limit_damaged", "A stream that inflates to more than the limit, and is none after that: nobody reads as far", signed_head(GOOD_CONTENT, stream=binary(stream, f"{len(stream)} bytes of deflate")))


def deflated_head(members: Members, *shipments: bytes) -> Pieces:
    content = content_of_head(members, *shipments)
    return signed_head(content, stream=p.deflated(joined(content)))


def one_shipment(size: int) -> tuple[Members, bytes]:
    return said(store(step(1, bytes(size), None, FIRST))), bytes(size)


def of_size(size: int) -> tuple[Members, bytes, Pieces]:
    """A head in stored blocks, with one shipment of zeros."""
    length = size - 2000
    while True:
        members, content = one_shipment(length)
        file = signed_head(content_of_head(members, content))
        if len(joined(file)) == size:
            return members, content, file
        length += size - len(joined(file))


def of_content_size(size: int) -> tuple[Members, bytes, Pieces]:
    length = size - len(joined(content_of_head(*one_shipment(size)[:1])))
    members, content = one_shipment(length)
    found = content_of_head(members, content)
    length += size - len(joined(found))
    members, content = one_shipment(length)
    found = content_of_head(members, content)
    assert len(joined(found)) == size
    return members, content, signed_head(found, stream=p.deflated(joined(found)))


def no_head() -> Iterator[Vector]:
    value = p.value(PHONE, joined(GOOD_CONTENT))
    yield none("empty", "No bytes", [])
    yield none("magic", "Another magic", p.head(PHONE.id, value, p.stored(GOOD_CONTENT), magic=b"SHIPHEAP"))
    yield none("magic_of_shipment", "A shipment in the place of a head", [Piece(joined(session(*signed_in_file(PHONE, manifest(BASE, counter=1)), *blocks(BASE.data), FINISH, FINISH)), "a whole")])
    yield none("magic_cut", "The file ends within the magic", binary(p.MAGIC[:7], "magic, cut off"))
    yield none("html", "What a web server says of what it has not", text("<!DOCTYPE html>\n<html><title>404 Not Found</title></html>\n"))
    for version in (0, 2, 255):
        yield none(f"version_{version}", f"Version {version}", p.head(PHONE.id, value, p.stored(GOOD_CONTENT), version=version), "version-not-supported")
    yield none("version_2_short", "Version 2, and nothing else as in version 1: the version comes first", p.head(b"", b"", text("later"), version=2), "version-not-supported")
    for size, about in ((8, "before the version"), (9, "after the version"), (40, "within the id"), (72, "within r"), (104, "within s"), (105, "before the stream")):
        yield none(f"cut_{size}", f"The file ends {about}", binary(joined(GOOD_HEAD)[:size], "a head, cut off"), "damaged")


def no_stream() -> Iterator[Vector]:
    def damaged(name: str, about: str, stream: Pieces) -> Vector:
        return none(name, about, signed_head(GOOD_CONTENT, stream=stream), "damaged")

    stream = joined(p.deflated(joined(GOOD_CONTENT)))
    yield damaged("stream_cut", "The stream ends a byte early", binary(stream[:-1], "deflate, cut off"))
    yield damaged("stream_without_end", "No block is the last one", [p.block_header(len(joined(GOOD_CONTENT)), False), *GOOD_CONTENT])
    yield damaged("stream_trailing_byte", "A byte after the stream", [*p.stored(GOOD_CONTENT), Piece(b"\0", "one more")])
    yield damaged("stream_twice", "A second stream after the first", [*p.stored(GOOD_CONTENT), *p.stored([])])
    yield damaged("stream_block_type", "A block of a type that is none", binary(b"\x07" + stream[1:], "no deflate"))
    yield damaged("stream_before_dictionary", "A match that reaches back to before the dictionary", binary(DeflateStream().fixed([(8, len(p.dictionary()) + 1)]).finished(), "a match"))
    yield damaged("stream_zlib", "A zlib stream in its place", binary(b"\x78\x9c" + stream, "with the wrapping of zlib"))
    yield damaged("stream_none", "The content as it is, and no stream", GOOD_CONTENT)
    yield none("content_empty", "A stream of nothing", p.head(PHONE.id, p.value(PHONE, b""), p.stored([])))
    yield none("content_of_size_alone", "A content of three bytes", signed_head(binary(b"\0\0\1")))


def no_certificate() -> Iterator[Vector]:
    def of(certificate: bytes) -> Pieces:
        """Signed by the right key, for the id that such a certificate would have."""
        id = hashlib.sha256(certificate).digest()
        content = joined(GOOD_CONTENT)
        value = b"".join(part.to_bytes(32, "big") for part in PHONE.signed(p.signed_content(content, id)))
        return p.head(id, value, p.stored(GOOD_CONTENT))

    def wrong(name: str, about: str, certificate: bytes, error: str = "bad-signature") -> Vector:
        return none(f"certificate_{name}", about, of(certificate), error, certificate)

    certificate = PHONE.certificate
    yield wrong("absent", "A certificate of no bytes", b"")
    yield wrong("longest", "4,096 bytes that are no certificate", der(0x30, bytes(LONGEST_CERTIFICATE - 4)))
    yield wrong("too_long", "A certificate of 4,097 bytes", der(0x30, bytes(LONGEST_CERTIFICATE - 3)), "damaged")
    yield wrong("text", "Text in the place of the certificate", b"trust me")
    yield wrong("cut", "Half a certificate", certificate[:150])
    yield wrong("trailing_byte", "A byte behind the certificate", certificate + b"\0")
    yield wrong("of_another_kind", "A certificate of an Ed25519 key", PHONE.certified(der(0x30, ED25519), bytes(range(32))))
    yield none("certificate_of_another", "Another device's certificate in the place of the publisher's", GOOD_HEAD, "damaged", STRANGER.certificate)
    yield none("certificate_renewed", "Another certificate of the same key", GOOD_HEAD, "damaged", RECERTIFIED.certificate)


def brought() -> Iterator[Vector]:
    def head(text: bytes, values: bytes = b"") -> Pieces:
        return signed_head(GOOD_CONTENT, stream=[*p.as_it_is(binary(text, "text")), *binary(values, "what it brings")])

    content = joined(GOOD_CONTENT)
    text, values = p.brought(content)
    yield whole("brought", "Digits that are brought, in a stored block", said(CHANGED), CHANGE, file=head(text, values))
    first = content.replace(b'"' + PUBLICATION.encode() + b'"', b'"#', 1)
    yield whole("brought_once", "One digest is brought, and all else is as it is", said(CHANGED), CHANGE, file=head(first, bytes.fromhex(PUBLICATION)))
    yield none("brought_short", "A byte less than is brought", head(text, values[:-1]), "damaged")
    yield none("brought_none", "Nothing of what is brought", head(text), "damaged")
    yield none("brought_long", "A byte more than is brought", head(text, values + b"\0"), "damaged")
    yield none("brought_again_early", "A string again before there is one", head(b'"%1' + content), "damaged")
    yield none("brought_again_zero", "The string again that came none before", head(first.replace(b'"#', b'"#"%0'), bytes.fromhex(PUBLICATION)), "damaged")
    yield none("brought_again_too_far", "The string again that came two before, after one", head(first.replace(b'"#', b'"#"%2'), bytes.fromhex(PUBLICATION)), "damaged")
    yield none("brought_again_cut", "The text ends before it says which string comes again", head(content + b'"%'), "damaged")
    yield none("brought_over_limit", "Few bytes that become too many", head(b'"#' + b'"%1' * 15_887, bytes(32)))


def forged() -> Iterator[Vector]:
    content = joined(GOOD_CONTENT)
    value = p.value(PHONE, content)

    def wrong(name: str, about: str, with_value: bytes, pieces: Pieces = GOOD_CONTENT) -> Vector:
        return none(name, about, p.head(PHONE.id, with_value, p.stored(pieces)), "bad-signature")

    for name, at in (("r", 31), ("s", 63)):
        turned = bytearray(value)
        turned[at] ^= 1
        yield wrong(f"signature_{name}", f"Another {name}", bytes(turned))
    yield wrong("signature_zeros", "r and s are 0", bytes(64))
    yield wrong("signature_r_of_order", "r is the order of the curve", N.to_bytes(32, "big") + value[32:])
    yield wrong("signature_swapped", "s before r", value[32:] + value[:32])
    changed = joined(content_of_head(said(CHANGED, number=8), CHANGE))
    yield wrong("signature_of_another_head", "The signature of another head of the same device", p.value(PHONE, changed))
    yield wrong("signature_of_another_device", "Signed by another key than the certificate's", p.value(STRANGER, content))
    yield wrong("signature_of_another_id", "Signed by the same key, for another certificate of it", p.value(RECERTIFIED, content))
    yield wrong("signature_of_shipment", "Signed as a shipment is", p.value(PHONE, content, DOMAIN))
    yield wrong("signature_of_json", "The JSON is signed alone", p.value(PHONE, joined(document(said(CHANGED)))))
    yield wrong("signature_of_stream", "The stream is signed, and not the content", p.value(PHONE, joined(p.stored(GOOD_CONTENT))))
    yield wrong("signature_of_file_of_other_shipment", "Another byte in a shipment", value, content_of_head(said(CHANGED), CHANGE[:-1] + b"!"))
    yield wrong("signature_before_json", "No JSON either: the signature comes first", value, content_of_head(text("no JSON"), CHANGE))


def no_json() -> Iterator[Vector]:
    json = compact_json(said(IN_CATALOG))
    yield bad("json_none", "A JSON of no bytes", [])
    yield bad("json_text", "No JSON", text("stores"))
    yield bad("json_packed", "Packed as a message is: a byte before the JSON", text("\0" + json))
    yield bad("json_array", "An array instead of an object", text(f"[{json}]"))
    yield bad("json_cut", "The JSON ends early", text(json[:-1]))
    yield bad("json_trailing_byte", "A byte after the object", text(json + "!"))
    yield bad("json_invalid_utf8", "A byte that is no UTF-8", text(json[:-1].encode() + b',"x":"\xff"}'))
    yield bad("json_byte_order_mark", "A byte order mark", text("\ufeff" + json))
    yield bad("json_surrogate", "Half of a character in a member that is not known", text(json[:-1] + ',"x":"\\ud83c"}'))
    yield bad("json_member_twice", "A member stands twice", text(json[:-1] + ',"number":8}'))
    yield bad("json_depth_33", "33 levels", text(json[:-1] + ',"x":' + "[" * 32 + "]" * 32 + "}"))
    for name, about, size in (("over_end", "A JSON that would be longer than the content", len(compact_json(said())) + 1), ("4_gib", "The longest size that can be said", 0xFFFF_FFFF)):
        yield none(f"json_{name}", about, signed_head(p.content(document(said()), json_size=size)))


def members() -> Iterator[Vector]:
    for name in said():
        yield bad(f"without_{name}", f"{name} is missing", without(said(IN_CATALOG), name))
    for name in ("number", "stores"):
        yield bad(f"{name}_null", f"{name} is null", said(IN_CATALOG, **{name: None}))
    for name, about, value in (
        ("63_digits", "too short", PUBLICATION[1:]), ("upper_case", "in upper case", PUBLICATION.upper()), ("is_number", "a number", 1),
    ):  # fmt: skip
        yield bad(f"publication_{name}", f"publication is {about}", said(publication=value))
    for name, about, value in (("0", "0", 0), ("negative", "negative", -1), ("2_64", "above the highest", 2**64), ("fraction", "no integer", 1.5), ("string", "a string", "7")):
        yield bad(f"number_{name}", f"The number is {about}", said(number=value))
    yield bad("software_empty", "An empty label", said(software=""))
    yield bad("software_257_bytes", "A label that is too long", said(software="x" * 257))
    yield bad("store_without_as_of", "A store of which nobody says since when it is so", said({k: v for k, v in IN_CATALOG.items() if k != "asOf"}))
    for name in ("issued", "expires"):
        yield bad(f"{name}_without_z", f"{name} in no time zone", said(**{name: CREATED_AT[:-1]}))
        yield bad(f"{name}_no_such_day", f"{name} on a day that there is not", said(**{name: "2026-02-29T00:00:00Z"}))
        yield bad(f"{name}_is_number", f"{name} as a number", said(**{name: 1795201445}))
    yield bad("stores_is_object", "stores is an object", said(stores=IN_CATALOG))
    yield bad("store_null", "null in an array", said(IN_CATALOG, None))
    yield bad("store_is_string", "A store by its name alone", said("Recipes"))
    yield bad("stores_falling", "Names that fall", said(store(name="b"), store(name="a")))
    yield bad("stores_twice", "One store twice", said(IN_CATALOG, IN_CATALOG))
    yield bad("stores_not_by_bytes", "Names that rise without regard to case, and not by their bytes", said(store(name="a"), store(name="B")))


    yield bad("halted_names", "Halted stores by their names alone", said(halted=["Recipes"]))
    for name in HALTED:
        yield bad(f"halted_without_{name}", f"{name} of a halted store is missing", said(halted=[without(HALTED, name)]))
    yield bad("halted_falling", "Names of halted stores that fall", said(halted=[HALTED, HALTED | {"name": "Drinks"}]))
    yield bad("halted_1025", "1,025 halted stores", said(halted=[HALTED | {"name": f"n{each:04}"} for each in range(MOST_STORES + 1)]))
    for name, about, value in (
        ("no_stages", "No stages", []), ("17_stages", "More stages than there may be", [stage(share) for share in range(1, 18)]),
        ("share_0", "A share of nobody", [stage(0)]), ("share_10001", "A share of more than all", [stage(10_001)]),
        ("same_share", "A share twice", [stage(7), stage(7)]), ("falling_time", "A larger share before a smaller one", [stage(7, EXPIRES), stage(8)]),
        ("without_since", "It does not say from when on", [{"share": 7}]), ("object", "One stage alone", stage(7)),
    ):  # fmt: skip
        yield bad(f"rollout_{name}", about, said(IN_CATALOG | {"rollout": value}))
    states = [IN_CATALOG | {"counter": counter, "rollout": [stage(7)]} for counter in (9, 8, 7, 6, 5)]
    for name, about, found in (
        ("5_states", "More states of a store than there may be", states), ("for_all_first", "A state for all before another one", [IN_CATALOG | {"counter": 9}, *states[1:2]]),
        ("same_number", "Two states with one number", [states[0], states[0]]), ("rising_numbers", "An older state before a newer one", [states[1], states[0]]),
    ):  # fmt: skip
        yield bad(f"rollout_{name}", about, said(*found))
    for name, about, value in (("without_keys", "It does not say the keys", without(SEALING, "keys")), ("without_recipients", "It does not say for whom", without(SEALING, "recipients")), ("text", "It is a digest", "4d" * 32), ("short", "Half a digest of the keys", SEALING | {"keys": FIRST})):
        yield bad(f"sealing_{name}", about, said(sealing=value))
    for name, about, value in (("text", "An id as people write it", "0123A-4567B"), ("short", "Half an id", FIRST), ("false", "No next device, as a boolean", False)):
        yield bad(f"next_{name}", about, said(next=value))
    for name, about, value in (
        ("digest", "The head before by its digest alone", BEFORE["sha256"]), ("without_size", "The head before without its size", without(BEFORE, "size")),
        ("size_0", "A head before of no bytes", BEFORE | {"size": 0}), ("too_large", "A head before that is too large", BEFORE | {"size": p.LARGEST_HEAD + 1}),
    ):  # fmt: skip
        yield bad(f"before_{name}", about, said(before=value))


def stores() -> Iterator[Vector]:
    for name in store():
        yield bad(f"store_without_{name}", f"{name} of a store is missing", said(without(IN_CATALOG, name)))
    for name, about, value in (
        ("name_path", "A store's name that is a path", {"name": "../Recipes"}), ("name_wal", "A store's name with a reserved ending", {"name": "Recipes-wal"}),
        ("newest_8_digits", "The first digits of an id", {"newest": FIRST[:8]}), ("newest_64_digits", "A digest where an id belongs", {"newest": PUBLICATION}),
        ("newest_upper_case", "An id in upper case", {"newest": "AB" * 16}), ("counter_0", "Counters begin at 1", {"counter": 0}),
        ("counter_2_64", "A counter above the highest", {"counter": 2**64}), ("counter_string", "A counter that is a string", {"counter": "1"}),
        ("size_negative", "A negative size", {"size": -1}), ("size_too_large", "A size above the largest", {"size": LARGEST + 1}),
        ("catalog_is_digest", "A catalog by its digest alone", {"catalog": CATALOG["sha256"]}), ("catalog_empty", "A catalog without digest and size", {"catalog": {}}),
        ("catalog_without_size", "A catalog without its size", {"catalog": without(CATALOG, "size")}), ("catalog_without_sha256", "A catalog without its digest", {"catalog": without(CATALOG, "sha256")}),
        ("catalog_id", "An id where a digest belongs", {"catalog": CATALOG | {"sha256": FIRST}}), ("catalog_size_0", "A catalog of no bytes", {"catalog": CATALOG | {"size": 0}}),
        ("catalog_too_large", "A catalog that is too large", {"catalog": CATALOG | {"size": p.LARGEST_CATALOG + 1}}), ("catalog_false", "No catalog, as a boolean", {"catalog": False}),
        ("steps_null", "steps is null", {"steps": None}), ("steps_is_number", "steps is a number", {"steps": 0}),
    ):  # fmt: skip
        yield bad(f"store_{name}", about, said(IN_CATALOG | value))


def steps() -> Iterator[Vector]:
    def wrong(name: str, about: str, *found: Any, shipments: Sequence[bytes] = (CHANGE,)) -> Vector:
        return bad(f"step_{name}", about, said(store(*found, newest=SECOND, counter=3, of=NEW)), *shipments)

    for name in ("to", "counter", "size"):
        yield wrong(f"without_{name}", f"{name} of a step is missing", without(step(), name))
    for name, about, value in (
        ("sha256", "The digest of a step that is in the head", {"sha256": hashlib.sha256(CHANGE).hexdigest()}), ("from_to_itself", "From a content to itself", {"from": SECOND}),
        ("from_digest", "A digest where an id belongs", {"from": BASE.digest}), ("from_empty", "From an empty id", {"from": ""}), ("to_upper_case", "An id in upper case", {"to": "AB" * 16}),
        ("counter_0", "Counters begin at 1", {"counter": 0}), ("counter_2_64", "A counter above the highest", {"counter": 2**64}),
        ("signature_short", "A signature that is a byte shorter", {"signature": "ab" * 63}), ("signature_upper_case", "A signature in upper case", {"signature": "AB" * 64}),
        ("size_fraction", "A size with a fraction", {"size": len(CHANGE) + 0.5}), ("size_string", "A size that is a string", {"size": str(len(CHANGE))}),
        ("size_too_large", "A size above the largest", {"size": LARGEST + 1}), ("size_negative", "A negative size", {"size": -1}),
    ):  # fmt: skip
        yield wrong(name, about, step(**value))
    yield wrong("size_0", "A shipment of no bytes", step(size=0), shipments=())
    yield wrong("null", "null in an array", step(), None)
    yield wrong("falling", "Numbers that fall", step(3), step(2), shipments=(CHANGE, CHANGE))


def lengths() -> Iterator[Vector]:
    yield bad("shipments_none", "No shipment, and a step", said(CHANGED))
    yield bad("shipments_short", "The last shipment is a byte shorter than said", said(CHANGED), CHANGE[:-1])
    yield bad("shipments_long", "A byte behind the last shipment", said(CHANGED), CHANGE + b"\0")
    yield bad("shipments_without_step", "A shipment, and no step", said(IN_CATALOG), CHANGE)
    longest = [step(each + 1, b"", None, FIRST, size=LARGEST) for each in range(3)]
    yield bad("shipments_of_largest_sizes", "Shipments of the largest size, of which none is there", said(store(*longest)))
