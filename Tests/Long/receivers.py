"""Receivers of a publication, and what the model knows of their copies; and a web server between."""
import contextlib
import functools
import http.server
import os
import threading

from changing import NAMES, state
from desk import Flaw, digest


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def copyfile(self, source, outputfile):
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a receiver that was killed
            super().copyfile(source, outputfile)


@contextlib.contextmanager
def served(folder):
    """Shows a folder as any web server does, and gives its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class Receiver:
    """An inbox, and what the model knows of its copies."""

    def __init__(self, folder, place, is_particular):
        self.name, self.folder, self.place, self.is_particular = os.path.basename(folder), folder, place, is_particular
        self.held, self.least = {}, {}  # the state of each store, and which one of those published that is at least
        self.damaged, self.kept_back, self.lost = {}, set(), set()  # lost: what led from its copies may be gone
        self.left = {}  # the states from which its operator has gone back: where they are the newest, they do not come again
        self.is_whole = True  # no generation was damaged, also of those that are older by now

    def has(self, name, newest):
        return self.held.get(name) in newest or bool(self.left.get(name, set()) & newest)

    def clear(self, name):
        for known in (self.held, self.least, self.damaged, self.left):
            known.pop(name, None)
        self.kept_back.discard(name)

    def check(self, history, newest):
        """Each copy is a state that was to be published, and none is older than before."""
        for name in NAMES:
            path = os.path.join(self.folder, f"{name}.sqlite")
            if not os.path.exists(path):
                if name in self.held and name not in self.damaged:
                    raise Flaw(f"{self.name} has lost {name}")
                continue
            if name in self.damaged and self.damaged[name] == mark(path):
                continue
            found, states = state(path), history[name]
            places = [place for place in range(self.least.get(name, 0), len(states)) if states[place] == found]
            if not places:
                raise Flaw(f"{self.name} holds {found} of {name}, which is {'older than before' if found in states else 'no state of it'}")
            if self.damaged.pop(name, None) is None or found != self.held.get(name):
                self.least[name] = places[0]
            self.held[name] = found
            if newest.get(name) == {found}:
                self.lost.discard(name)


def mark(path):
    """Tells one file from another, or nothing."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.realpath(path), digest(path)


def files(folder):
    return [os.path.join(place, name) for place, folders, names in os.walk(folder) for name in folders + names]
