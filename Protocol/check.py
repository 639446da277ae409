#!/usr/bin/env python3
"""Reads every vector and holds it against its own header.

    python3 Protocol/check.py

This decoder is written from the pages of this folder alone, as `generate.py` is, and shares nothing with its encoder:
a vector that both agree upon means what it says.
"""

from __future__ import annotations

import hashlib
import io
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

sys.dont_write_bytecode = True

from decoder import json_rules as rules  # noqa: E402
from decoder import publication, sealed, short  # noqa: E402
from decoder.columns import store_of  # noqa: E402
from decoder.deflater.stream import deflate, gzip_stream, zlib_stream  # noqa: E402
from decoder.delta.apply import result_of  # noqa: E402
from decoder.ranges import Answers  # noqa: E402
from decoder.refused import CODES, Refused  # noqa: E402
from decoder.segment.segment import Segment  # noqa: E402
from decoder.segment.work import Work  # noqa: E402
from decoder.sides import Consumer, Producer, Side  # noqa: E402
from decoder.store.canonical_file import canonical_copy  # noqa: E402
from decoder.store.no_canonical_form import NoCanonicalForm  # noqa: E402
from decoder.tables import told  # noqa: E402
from decoder.vector import BrokenVector, Vector, parsed, texts_of  # noqa: E402
from decoder.way import Held, after, cost, is_way, leads_on, way  # noqa: E402
from decoder.wire import Reader, block, content_of, decoded, opening, unpacked, unpacked_answer, unpacked_manifest  # noqa: E402

FOLDER = Path(__file__).resolve().parent / "Vectors"
SWEPT = "stream_one_block"
"""The stream that is cut at each byte and has each of its bits turned over."""
WAYS = "catalog_ways"
"""The catalog of which every way is taken."""
END_SIZE = 9
"""Of the last END, which is the session's."""

JSON_KINDS: dict[str, Callable[[bytes], rules.Members]] = {
    "manifest": lambda payload: manifest_of(payload),
    "hello": lambda payload: rules.hello(unpacked(payload)),
    "refusal": rules.last_word,
    "cancel": rules.last_word,
    "holdings": rules.holdings,
    "catalog": lambda payload: publication.catalog(payload).members,
}
ANSWERS: dict[str, Callable[[bytes], rules.Members]] = {"answer": rules.answer, "receipt": rules.receipt}


def manifest_of(payload: bytes) -> rules.Members:
    manifest = rules.manifest(unpacked_manifest(payload))
    rules.check_features(manifest)
    return manifest


def truth(value: bool) -> str:
    return "true" if value else "false"


def expect(found: object, stated: object) -> None:
    if found != stated:
        raise BrokenVector(f"says {stated!r}, is {found!r}")


def check_preamble(vector: Vector, data: bytes) -> None:
    reader = Reader(data)
    found = reader.preamble(vector.detail("reader"))
    expect(reader.is_at_end, True)
    lines = {"version": found.version, "lowestVersion": found.lowest, "role": found.role, "mode": found.mode}
    expect(sorted(f"value.{key}: {value}" for key, value in lines.items()), vector.values())
    expect(str(found.session_version), vector.detail("session-version"))


def check_header(vector: Vector, data: bytes) -> None:
    kind, length = Reader(data).header()
    expect([f"value.length: {length}", f"value.type: 0x{kind:02X}"], vector.values())


def check_frames(vector: Vector, data: bytes) -> None:
    reader, found = Reader(data), []
    while not reader.is_at_end:
        frame = reader.frame()
        key = "frame" if frame.is_known else "passed-over"
        found.append((key, f"0x{frame.type:02X} {len(frame.payload)}"))
    expect(found, vector.details)


def check_block(vector: Vector, data: bytes) -> None:
    offset, size = int(vector.detail("next-offset")), int(vector.detail("part-size"))
    expect(vector.detail("last") in ("true", "false"), True)
    found = block(data, vector.detail("last") == "true", offset, size)
    before = vector.section("before")
    if before is not None:
        expect(len(before), offset)
    content = decoded(found, before or b"")
    expect(str(len(content)), vector.detail("decoded-size"))
    expect(hashlib.sha256(content).hexdigest(), vector.detail("decoded-sha256"))


def check_canonical(vector: Vector, source: bytes) -> None:
    out = io.BytesIO()
    try:
        canonical_copy(source, out)
    except NoCanonicalForm:
        return expect("none", vector.detail("canonical"))
    found = out.getvalue()
    expect([], vector.all("canonical"))
    expect(str(len(found)), vector.detail("canonical-size"))
    expect(hashlib.sha256(found).hexdigest(), vector.detail("canonical-sha256"))
    stated = vector.section("canonical")
    if stated is not None:
        expect(found == stated, True)
    again = io.BytesIO()
    canonical_copy(found, again)
    expect(again.getvalue() == found, True)
    expect(faults_seen_by_sqlite(found), [])


def faults_seen_by_sqlite(store: bytes) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        path.write_bytes(store)
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
        found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
        connection.close()
    return [] if found == ["ok"] else found


def check_part(vector: Vector, data: bytes) -> None:
    found = opening(data)
    lines = {"anew": truth(found.anew), "encoding": found.encoding, "part": found.part, "position": found.position}
    expect(sorted(f"value.{key}: {value}" for key, value in lines.items()), vector.values())


def check_data(vector: Vector, data: bytes) -> None:
    content, is_last = content_of(data)
    expect([f"value.last: {truth(is_last)}", f"value.size: {len(content)}"], vector.values())


def check_segment(vector: Vector) -> None:
    """Asks for what the vector says, in its order; after that nothing may be left."""
    (_, data), *sections = vector.sections
    contents = iter([content for _, content in sections])
    found: list[tuple[str, str]] = []
    segment = Segment(data, Work())
    asks = vector.detail("asks")
    for ask in asks.split() if asks != "nothing" else []:
        match ask:
            case "number":
                found.append(("number", str(segment.number())))
            case "chunk":
                chunk = segment.chunk()
                found.append(("chunk", str(len(chunk))))
                expect(vector.error or chunk == next(contents), vector.error or True)
            case "rows":
                rows = segment.rows()
                found.append(("rows", str(len(rows))))
                rowids = [str(rowid) for rowid, _ in rows if rowid is not None]
                found += [("rowids", " ".join(rowids))] if rowids else []
                records = b"".join(record for _, record in rows)
                expect(vector.error or records == next(contents), vector.error or True)
            case _:
                raise BrokenVector(f"asks for {ask}")
    if not segment.is_at_end():
        raise Refused("damaged", "something that nobody asks for")
    expect([("asks", asks), *found], vector.details)


def check_rows(vector: Vector) -> None:
    segments = [data for label, data in vector.sections if label == "segment"]
    size = int(vector.detail("size"))
    found = store_of(segments, size)
    expect(len(found), size)
    expect(hashlib.sha256(found).hexdigest(), vector.detail("sha256"))
    expect(faults_seen_by_sqlite(found), [])


def check_delta(vector: Vector) -> None:
    segments = [data for label, data in vector.sections if label == "segment"]
    size = int(vector.detail("size"))
    found = result_of(segments, vector.section("base") or b"", size)
    expect(len(found), size)
    expect(hashlib.sha256(found).hexdigest(), vector.detail("sha256"))


def check_ranges(vector: Vector) -> None:
    answers = Answers(vector.section("base") or b"", vector.section("nonce") or b"")
    turns = iter(vector.sections[2:])
    for label, request in turns:
        expect(label, "request")
        answer = answers.answer(request)
        expect(next(turns, None), ("answer", answer))


def check_head(vector: Vector, data: bytes) -> None:
    found = publication.head(data, lambda publisher: vector.section("certificate") or b"")
    expect(found.publisher, vector.detail("publisher"))
    expect(rules.lines(found.members), vector.values())
    expect([f"{len(each)} {hashlib.sha256(each).hexdigest()}" for each in found.shipments], vector.all("shipment"))
    taken = [each for _, steps in found.with_shipments() for _, each in steps]
    expect(taken == found.shipments, True)


def check_short(vector: Vector, data: bytes) -> None:
    found = short.whole(data, vector.section("signature"), vector.section("certificate") or b"", vector.section("base"), next(iter(vector.all("from")), None))
    expect(f"{len(found)} {hashlib.sha256(found).hexdigest()}", vector.detail("file"))


def check_sealed(vector: Vector) -> None:
    files = {label: file for label, file in vector.sections if label in ("head", "object")}
    keys = vector.section("keys") or b""
    if (head := files.get("head")) is not None:
        expect(sealed.keys_of(head), hashlib.sha256(keys).digest())
    secret = sealed.secret(keys, vector.section("key") or b"")
    if secret is None:
        return expect(vector.detail("recipient"), "no")
    if head is not None:
        found = secret.head(head)
    else:
        name = secret.name(vector.detail("content"))
        expect(name, vector.detail("object-name"))
        found = secret.object(name, files["object"])
        expect(hashlib.sha256(found).hexdigest(), vector.detail("content"))
    expect(f"{len(found)} {hashlib.sha256(found).hexdigest()}", vector.detail("decrypted"))


def check_deflate(vector: Vector) -> None:
    content, head = vector.section("content") or b"", vector.section("head") or b""
    level, memory_level, window_bits = (int(vector.detail(key)) for key in ("level", "memory-level", "window-bits"))
    match vector.detail("wrapping"):
        case "raw":
            found = deflate(content, level, memory_level, window_bits)
        case "zlib":
            found = zlib_stream(content, level, memory_level, window_bits)
        case "gzip":
            found = gzip_stream(head, content, level, memory_level, window_bits)
        case wrapping:
            raise BrokenVector(f"is wrapped in {wrapping}")
    expect(found == vector.section("stream"), True)


def check_session(vector: Vector, turns: list[tuple[str, bytes]]) -> None:
    sides: list[Side] = [side for side in (Producer(), Consumer()) if vector.all(side.own)]
    stated = [(key, value) for key, value in vector.details if key in ("shipment", "signer", "part")]
    for side in sides:
        side.senders = [None if sender == "unknown" else sender for sender in vector.all("held-from")]
        side.walk(turns)
        expect(side.end, vector.detail(side.own))
        expect(side.lines(), stated)
        expect(code_of(side), vector.error)
    expect(len(sides) > 0, True)


def code_of(side: Side) -> str | None:
    """Of the session, if it does not end well, else of the first shipment that does not."""
    ends = [side.end, *(outcome.end for outcome in side.outcomes)]
    codes = [end.split()[1] for end in ends if end and " " in end]
    return codes[0] if codes else None


def check(vector: Vector) -> None:
    """Raises where the vector is not what its header says."""
    if vector.kind == "dialogue":
        return check_session(vector, vector.sections)
    if vector.kind == "canonical":
        return check_canonical(vector, vector.section("source") or b"")
    if vector.kind in ("segment", "rows"):
        return check_refused_or(
            vector, lambda: check_segment(vector) if vector.kind == "segment" else check_rows(vector)
        )
    if vector.kind == "delta":
        return check_refused_or(vector, lambda: check_delta(vector))
    if vector.kind == "ranges":
        return check_refused_or(vector, lambda: check_ranges(vector))
    if vector.kind == "deflate":
        return check_deflate(vector)
    if vector.kind == "sealed":
        return check_refused_or(vector, lambda: check_sealed(vector))
    data = vector.section("") or b""
    if vector.kind == "stream":
        return check_session(vector, [("producer" if label == "" else label, content) for label, content in vector.sections])
    if vector.kind == "content":
        content = rules.content(rules.manifest(data))
        expect(content, vector.section("content"))
        return expect(rules.content_id(content).hex(), vector.detail("id"))
    if vector.kind == "tables":
        return expect(told(data), vector.values())
    check_refused_or(vector, lambda: check_plain(vector, data))


def check_plain(vector: Vector, data: bytes) -> None:
    if vector.kind in JSON_KINDS:
        return expect(rules.lines(JSON_KINDS[vector.kind](data)), vector.values())
    if vector.kind in ANSWERS:
        content = vector.section("content")
        answered = None if content is None else (vector.section("held") or b"") + content
        return expect(rules.lines(ANSWERS[vector.kind](unpacked_answer(data, answered))), vector.values())
    plain = {
        "preamble": check_preamble, "header": check_header, "frames": check_frames, "block": check_block,
        "part": check_part, "data": check_data, "head": check_head, "short": check_short,
    }  # fmt: skip
    plain[vector.kind](vector, data)


def check_refused_or(vector: Vector, reading: Callable[[], None]) -> None:
    """Whether it is refused as the vector says, and only then."""
    try:
        reading()
    except Refused as refused:
        expect(refused.code, vector.error)
    else:
        expect(None, vector.error)


def check_sweep(stream: bytes) -> None:
    """No stream that was cut or damaged may come to `done`, or, but in what follows it, to a shipment."""
    cuts = [stream[:length] for length in range(len(stream))]
    turned = [
        stream[:at] + bytes([stream[at] ^ 1 << bit]) + stream[at + 1 :] for at in range(len(stream)) for bit in range(8)
    ]
    shipment = stream[:-END_SIZE]
    for data in cuts + turned:
        consumer = Consumer()
        consumer.walk([("producer", data)])
        may_come = data.startswith(shipment)
        if consumer.end is None or consumer.end.removeprefix("failed ") not in CODES or (consumer.outcomes and not may_come):
            raise BrokenVector(f"{SWEPT}, damaged, comes to {consumer.end}")


def check_ways(steps: list[rules.Members]) -> None:
    """From each content with each number the way is right, and none is cheaper, whatever a step counts for."""
    contents = {step["to"] for step in steps}
    helds = [Held(content, number) for content in [None, *contents] for number in [0, *(step["counter"] for step in steps)]]
    for newest in contents:
        for held in helds:
            every = list(ways(steps, newest, held))
            for added in (0, 100, 16_384):
                found = way(steps, newest, held, added)
                expect(found is None, not every)
                if found is not None:
                    expect(is_way(found, newest, held), True)
                    expect(cost(found, added), min(cost(each, added) for each in every))


def ways(steps: list[rules.Members], newest: str, held: Held) -> Iterator[tuple[rules.Members, ...]]:
    """All there are, of one step or more."""
    for step in steps:
        if leads_on(step, held):
            if step["to"] == newest:
                yield (step,)
            yield from ((step, *rest) for rest in ways(steps, newest, after(step)))


def problems(texts: dict[str, str]) -> list[str]:
    """What is wrong with the vectors, by name."""
    found: list[str] = []
    for name, text in sorted(texts.items()):
        try:
            vector = parsed(name, text)
            check(vector)
            if name == SWEPT:
                check_sweep(vector.section("") or b"")
            if name == WAYS:
                check_ways(publication.catalog(vector.section("") or b"").all_steps())
        except (BrokenVector, AssertionError, Refused) as problem:
            found.append(f"{name}: {problem}")
    return found


def read(folder: Path) -> dict[str, str]:
    """The text of each vector, by name; a file has those of its kind."""
    texts: dict[str, str] = {}
    for path in sorted(folder.glob("*.txt")):
        for name, text in texts_of(path.read_text(encoding="utf-8")).items():
            if name in texts or f"\nkind: {path.stem}\n" not in text:
                raise BrokenVector(f"{name} is in {path.name}, and there or elsewhere too")
            texts[name] = text
    return texts


def main() -> int:
    texts = read(FOLDER)
    complaints = problems(texts)
    for line in complaints:
        print(line, file=sys.stderr)
    print(f"{len(texts)} vectors read, {len(complaints)} not as they say")
    return 1 if complaints or not texts else 0


if __name__ == "__main__":
    sys.exit(main())
