"""How long a copy of a store takes until its manifest is ready, beside SQLite's own `VACUUM INTO` without a sync."""
import json
import os
import subprocess
import time
from dataclasses import dataclass

from turn import Failed

ALONE = "VACUUM INTO alone"


@dataclass
class Copy:
    wall: float  # seconds


def by_ship_store(program, source, folder):
    """What its `copied` event tells: of all that comes after it, nothing counts."""
    shipment = os.path.join(folder, "copied.shipment")
    argv = [program, "send", source, "--to", shipment, "--level", "1", "--plain", "--json", "--quiet"]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    os.remove(shipment)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    [seconds] = [event["seconds"] for event in events if event.get("event") == "copied"]
    return Copy(seconds)


def by_hand(_, source, folder):
    copy = os.path.join(folder, "vacuumed.sqlite")
    quoted = copy.replace("'", "''")
    start = time.monotonic()
    done = subprocess.run(["sqlite3", source, f"PRAGMA synchronous = OFF; VACUUM INTO '{quoted}'"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    wall = time.monotonic() - start
    if done.returncode:
        raise Failed(f"exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    os.remove(copy)
    return Copy(wall)


CONTENDERS = {"ship-store": by_ship_store, ALONE: by_hand}


def measure(program, source, runs, folder, say):
    """Turns by contender; none for one that failed."""
    turns, failed = {name: [] for name in CONTENDERS}, False
    names = list(CONTENDERS)
    for number in range(runs + 1):
        for name in names[number % 2:] + names[:number % 2]:
            try:
                turn = CONTENDERS[name](program, source, folder)
            except Failed as failure:
                turns[name], failed = [], True
                names.remove(name)
                say(f"copying: {name}: FAILED: {failure}")
                continue
            if number:  # the first only fills the page cache
                turns[name].append(turn)
                say(f"copying: {name}: {turn.wall:.3f} s")
    return turns, failed
