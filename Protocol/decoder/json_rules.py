"""Sections 4 and 5: from the bytes of a JSON payload to its known members, each by its rule.

A rule takes a value and gives it back, or refuses it.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

from decoder.refused import Refused

Members = dict[str, Any]
Rule = Callable[[Any], Any]
DEPTH = 32
LARGEST_STORE = 281_474_976_579_584


def no(why: str) -> Refused:
    return Refused("bad-manifest", why)


def parsed(payload: bytes) -> Members:
    try:
        text = payload.decode("utf-8")
    except UnicodeDecodeError as error:
        raise no("not UTF-8") from error
    check_depth(text)
    try:
        value = json.loads(text, parse_constant=no_constant, object_pairs_hook=named_once)
    except ValueError as error:
        raise no("not JSON") from error
    if not isinstance(value, dict):
        raise no("not an object")
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise no("half of a character") from error
    return value


def named_once(pairs: list[tuple[str, Any]]) -> Members:
    if len({name for name, _ in pairs}) < len(pairs):
        raise no("a member stands twice")
    return dict(pairs)


def no_constant(name: str) -> Any:
    raise ValueError(name)


def check_depth(text: str) -> None:
    """Before the parser sees it, which recurses. Text that is no JSON may come to any depth; it is refused anyway."""
    depth, in_string, escaped = 0, False, False
    for character in text:
        if in_string:
            in_string = escaped or character != '"'
            escaped = not escaped and character == "\\"
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
            if depth > DEPTH:
                raise no("nested too deeply")
        elif character in "]}":
            depth -= 1


def members(required: dict[str, Rule], optional: dict[str, Rule] | None = None) -> Rule:
    def rule(value: Any) -> Members:
        if not isinstance(value, dict):
            raise no("not an object")
        known: Members = {}
        for name, each in (required | (optional or {})).items():
            if value.get(name) is not None:
                known[name] = each(value[name])
            elif name in required:
                raise no(f"{name} is missing")
        return known

    return rule


def integer(lowest: int, highest: int) -> Rule:
    def rule(value: Any) -> int:
        if type(value) is not int or not lowest <= value <= highest:
            raise no("no integer, or out of its range")
        return value

    return rule


def string(shortest: int, longest: int, zero: bool = False) -> Rule:
    """Lengths in bytes; `zero` where U+0000 is allowed."""

    def rule(value: Any) -> str:
        if isinstance(value, str) and "\0" in value and not zero:
            raise no("U+0000")
        if not isinstance(value, str) or not shortest <= len(value.encode()) <= longest:
            raise no("no string, or too short, or too long")
        return value

    return rule


def pattern(expression: str, flags: int = 0) -> Rule:
    compiled = re.compile(expression, flags)

    def rule(value: Any) -> str:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            raise no(f"not as it must be: {value!r:.80}")
        return value

    return rule


def array(element: Rule, most: int) -> Rule:
    def rule(value: Any) -> list[Any]:
        if not isinstance(value, list) or len(value) > most:
            raise no("no array, or too long")
        return [element(each) for each in value]

    return rule


def mapping(key: Rule, value_rule: Rule, most: int) -> Rule:
    def rule(value: Any) -> Members:
        if not isinstance(value, dict) or len(value) > most:
            raise no("no object, or too many members")
        return {key(name): value_rule(each) for name, each in value.items()}

    return rule


def one_of(*words: str) -> Rule:
    return pattern("|".join(map(re.escape, words)))


label = string(1, 256)
digest = pattern("[0-9a-f]{64}")
uuid = pattern("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
metadata_key = pattern("[A-Za-z0-9._-]{1,64}")
folder = one_of("_EXTERNAL_DATA", "_FBF")
generation = integer(1, 9_007_199_254_740_991)
signed_32 = integer(-(2**31), 2**31 - 1)


def store_name(value: Any) -> str:
    name = pattern("[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")(value)
    if name.lower().endswith(("-wal", "-shm", "-journal")):
        raise no("a reserved ending")
    return name


def timestamp(value: Any) -> str:
    text = pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")(value)
    try:
        datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError as error:
        raise no("no such time") from error
    return text


def entity_hash(value: Any) -> str:
    text = pattern("[A-Za-z0-9+/]{43}=")(value)
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise no("not base64") from error
    return text


def boolean(value: Any) -> bool:
    if type(value) is not bool:
        raise no("no boolean")
    return value


STORE = members({
    "size": integer(0, LARGEST_STORE), "sha256": digest, "pageSize": integer(512, 65_536),
    "pageCount": integer(1, LARGEST_STORE), "textEncoding": one_of("UTF-8", "UTF-16le", "UTF-16be"),
    "applicationID": signed_32, "userVersion": signed_32, "schemaSHA256": digest,
})  # fmt: skip
EXTERNAL = {"folder": folder, "name": uuid}
TABLE = members({"rows": integer(0, 2**63 - 1), "digest": pattern("[0-9a-f]{32}")})
OMISSIONS = members({}, {
    "history": boolean,
    "tables": array(label, 2048),
    "externalFiles": array(members(EXTERNAL | {"size": integer(0, LARGEST_STORE)}), 16_384),
})  # fmt: skip
MANIFEST = members(
    {
        "name": store_name,
        "createdAt": timestamp,
        "producer": members({"software": label, "sqlite": label}),
        "store": STORE,
    },
    {
        "identity": label,
        "coreData": members({"entityVersionHashes": mapping(label, entity_hash, 4096)}),
        "externalFiles": array(members(EXTERNAL | {"size": integer(0, LARGEST_STORE), "sha256": digest}), 16_384),
        "missingExternalFiles": array(members(EXTERNAL), 16_384),
        "metadata": mapping(metadata_key, string(0, 1024, zero=True), 64),
        "tables": mapping(label, TABLE, 2048),
        "omissions": OMISSIONS,
        "counter": integer(1, 2**64 - 1),
        "base": members({"sha256": digest}, {"content": pattern("[0-9a-f]{32}")}),
        "requires": array(label, 64),
    },
)
FIRST_DIGITS = pattern("[0-9a-f]{8}")
HELD = members({"name": store_name}, {"manifest": pattern("[0-9a-f]{32}"), "kept": array(FIRST_DIGITS, 16), "unfinished": FIRST_DIGITS})
HELLO = members({"software": label}, {"encodings": array(label, 64), "holds": array(HELD, 1024), "stays": integer(1, 3600), "signatures": label})
FROM = members({"encoding": label, "position": integer(1, 9_007_199_254_740_991), "sha256": digest})
WANT = members({"part": integer(0, 16_384)}, {"encodings": array(label, 64), "base": digest, "from": FROM})
ANSWER = members({}, {"wants": array(WANT, 16_385)})
RECEIPT = members(
    {"name": store_name, "generation": generation, "sha256": digest, "outcome": one_of("installed", "unchanged")}
)
HELD_IN_FILE = members(
    {"name": store_name, "manifest": pattern("[0-9a-f]{32}"), "store": digest, "size": integer(0, LARGEST_STORE)}
)
HOLDINGS = members(
    {"software": label, "createdAt": timestamp, "until": timestamp, "holds": array(HELD_IN_FILE, 1024)},
    {"for": digest, "receiver": digest},
)
LARGEST_HOLDINGS = 262_144
LAST_WORD = members({"code": label, "message": string(0, 1024)}, {"ends": one_of("shipment", "session")})


def manifest(payload: bytes) -> Members:
    known = MANIFEST(parsed(payload))
    store = known["store"]
    if store["pageSize"] & (store["pageSize"] - 1) or store["size"] != store["pageSize"] * store["pageCount"]:
        raise no("sizes that do not fit each other")
    omitted = known.get("omissions", {}).get("externalFiles", [])
    files = known.get("externalFiles", []) + known.get("missingExternalFiles", []) + omitted
    if len(files) > 16_384 or len({(file["folder"], file["name"].upper()) for file in files}) != len(files):
        raise no("too many external files, or one of them twice")
    if files and "coreData" not in known:
        raise no("external files without coreData")
    return known


def content(known: Members) -> bytes:
    """Section 4.11: the members that count, in the one form that there is of them."""
    kept = {key: value for key, value in known.items() if key not in ("createdAt", "producer", "counter", "base")}
    if "omissions" in kept:
        kept["omissions"] = {key: value for key, value in kept["omissions"].items() if value}
    of_no_weight = ("externalFiles", "missingExternalFiles", "metadata", "omissions", "requires")
    kept = {key: value for key, value in kept.items() if value or key not in of_no_weight}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def content_id(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:16]


def check_features(manifest: Members) -> None:
    """Version 1 knows none."""
    if manifest.get("requires"):
        raise Refused("feature-not-supported", ", ".join(manifest["requires"]))


def hello(payload: bytes) -> Members:
    known = HELLO(parsed(payload))
    for held in known.get("holds", []):
        if held.get("kept") == [] or not held.keys() & {"manifest", "kept", "unfinished"}:
            raise no("nothing is held, kept or unfinished")
    return known


def answer(payload: bytes) -> Members:
    known = ANSWER(parsed(payload))
    wants = known.get("wants", [])
    if any(later["part"] <= earlier["part"] for earlier, later in zip(wants, wants[1:])):
        raise no("parts that do not rise")
    if any(want.get("encodings") == [] for want in wants):
        raise no("a part in no encoding")
    for want in wants:
        encoding = want.get("from", {}).get("encoding")
        if encoding and encoding not in want.get("encodings", [encoding]):
            raise no("what would go on is not wanted")
        if encoding == "delta" and "base" not in want:
            raise no("what would go on has a base, and none is named")
    return known


def receipt(payload: bytes) -> Members:
    return RECEIPT(parsed(payload))


def holdings(file: bytes) -> Members:
    """Section 5.6."""
    if len(file) > LARGEST_HOLDINGS:
        raise no("too long")
    known = HOLDINGS(parsed(file))
    names = [held["name"] for held in known["holds"]]
    if any(later <= earlier for earlier, later in zip(names, names[1:])):
        raise no("names that do not rise")
    return known


def last_word(payload: bytes) -> Members:
    return {"ends": "session"} | LAST_WORD(parsed(payload))


def lines(value: Any, path: str = "value") -> list[str]:
    """The known members as a vector states them."""
    if value is False:
        return []
    if isinstance(value, dict):
        found = [line for key, each in value.items() for line in lines(each, f"{path}.{key}")]
        of_free_names = ("value.coreData.entityVersionHashes", "value.tables")
        if path in of_free_names or (path == "value.metadata" and value):
            found.append(f"{path}.count: {len(value)}")
        return sorted(found)
    if isinstance(value, list):
        found = [line for index, each in enumerate(value) for line in lines(each, f"{path}.{index}")]
        return sorted(found + ([f"{path}.count: {len(value)}"] if value or path == "value.wants" else []))
    return [f"{path}: {'true' if value is True else value}"]
