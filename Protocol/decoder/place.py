"""PUBLISHED.md 1 and 5: where a publication lies, a folder or behind a URL."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message
from http.client import HTTPException
from pathlib import Path
from typing import IO, Protocol

from decoder.publication import LARGEST_HEAD
from decoder.refused import Refused
from decoder.signature import LONGEST_CERTIFICATE

MOST_REDIRECTIONS = 5
SECONDS = 30
AT_A_TIME = 1 << 20


def taken(file: IO[bytes], most: int) -> bytes:
    """Up to a byte more than `most`, which is what somebody says: memory is taken for what is there alone."""
    found = bytearray()
    while len(found) <= most and (more := file.read(min(AT_A_TIME, most + 1 - len(found)))):
        found += more
    return bytes(found)


class Place(Protocol):
    def read(self, name: str, most: int) -> bytes | None:
        """At most a byte more than `most`; none if there is no such file."""


class Folder:
    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str, most: int) -> bytes | None:
        try:
            with (self.path / name).open("rb") as file:
                return taken(file, most)
        except FileNotFoundError:
            return None


class Redirections(urllib.request.HTTPRedirectHandler):
    max_redirections = MOST_REDIRECTIONS

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:  # fmt: skip
        allowed = ("https:",) if req.full_url.startswith("https:") else ("https:", "http:")
        if not newurl.startswith(allowed):
            raise urllib.error.URLError(f"a redirection to {newurl}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


class Web:
    """It asks for all of a file once more where an answer broke off, which is as right as a range."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.opener = urllib.request.build_opener(Redirections)

    def read(self, name: str, most: int) -> bytes | None:
        request = urllib.request.Request(f"{self.url}/{name}", headers={"Accept-Encoding": "identity"})
        for tries_left in (2, 1, 0):
            try:
                with self.opener.open(request, timeout=SECONDS) as answer:
                    found = taken(answer, most)
                    stated = answer.headers.get("Content-Length")
                    if stated and len(found) < min(int(stated), most + 1):
                        raise HTTPException("the answer broke off")
                    return found
            except urllib.error.HTTPError as error:
                if error.code in (404, 410):
                    return None
                raise
            except (HTTPException, OSError):
                if not tries_left:
                    raise
        return None


def place(name: str) -> Place:
    return Web(name) if name.startswith(("http://", "https://")) else Folder(Path(name))


def head_of(place: Place) -> bytes | None:
    return place.read("head", LARGEST_HEAD)


class Missing(Exception):
    """An object that is not there."""


def object_of(place: Place, digest: str, size: int) -> bytes:
    """PUBLISHED.md 4: no further than a byte past its size, and only if its digest is right."""
    found = place.read(f"objects/{digest}", size)
    if found is None:
        raise Missing(digest)
    if len(found) != size or hashlib.sha256(found).hexdigest() != digest:
        raise Refused("damaged", f"the object {digest} is another one")
    return found


def certificates(place: Place) -> Callable[[str], bytes]:
    """Reads the objects whose names are ids of publishers."""

    def certificate(publisher: str) -> bytes:
        found = place.read(f"objects/{publisher}", LONGEST_CERTIFICATE)
        if found is None:
            raise Missing(publisher)
        return found

    return certificate
