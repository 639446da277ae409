"""Litestream as a peer: `replicate` writes what a store commits to a replica, and `restore -f` applies it to a copy.

Nothing proves the copy, and pages are written into it while readers have it open."""
import contextlib
import json
import os
import time

from turn import Process

DEFAULT = None  # interval: that of Litestream itself, a second everywhere
LONGEST = 300  # s


def configured(store, replica, interval, folder):
    """The path of a configuration. `replica` is what it says of the replica; JSON is YAML."""
    path = os.path.join(folder, "litestream.yml")
    pace = {"monitor-interval": interval} if interval else {}
    sync = {"sync-interval": interval} if interval else {}
    with open(path, "w") as file:
        json.dump({"dbs": [{"path": store, **pace, "replica": {**replica, **sync}}]}, file)
    return path


@contextlib.contextmanager
def replicating(program, store, replica, interval, folder, environment):
    """The process that writes the replica, which has the store as it is now."""
    configuration = configured(store, replica, interval, folder)
    with Process([program, "replicate", "-once", "-config", configuration], os.path.join(folder, "first"), environment) as first:
        first.end(time.monotonic() + LONGEST)
    with Process([program, "replicate", "-config", configuration], os.path.join(folder, "replicate"), environment) as process:
        yield process


@contextlib.contextmanager
def following(program, store, copy, interval, folder, environment):
    """The process that keeps `copy` up to date, by the configuration of `replicating`."""
    pace = ["-follow-interval", interval] if interval else []
    restore = [program, "restore", "-config", os.path.join(folder, "litestream.yml"), "-f", *pace, "-o", copy, store]
    with Process(restore, os.path.join(folder, "restore"), environment) as process:
        yield process
