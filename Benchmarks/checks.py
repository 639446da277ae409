"""How long a received store is checked for, beside SHA-256 and `quick_check` of the same file alone."""
import glob
import os
import subprocess
import time
from dataclasses import dataclass

from turn import Failed

ALONE = "SHA-256 and quick_check"


@dataclass
class Check:
    wall: float  # seconds


def by_ship_store(program, generation, _):
    return [[program, "verify", generation, "--full-check-up-to", "0"]]


def by_hand(_, __, file):
    return [["openssl", "dgst", "-sha256", file], ["sqlite3", f"file:{file}?immutable=1&mode=ro", "PRAGMA quick_check"]]


CONTENDERS = {"ship-store": by_ship_store, ALONE: by_hand}


def installed(program, source, folder):
    """The folder of a generation, and its store, in an inbox of its own."""
    shipment, inbox = os.path.join(folder, "checked.shipment"), os.path.join(folder, "checked")
    for argv in [program, "send", source, "--to", shipment, "--level", "1", "--quiet"], \
            [program, "receive", "--into", inbox, "--from", shipment, "--quiet"]:
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    os.remove(shipment)
    [generation] = glob.glob(os.path.join(glob.escape(inbox), ".ship-store/*/generations/*"))
    [file] = glob.glob(os.path.join(glob.escape(generation), "*.sqlite"))
    return generation, file


def take_turn(commands):
    start = time.monotonic()
    for argv in commands:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    return Check(time.monotonic() - start)


def expect_damage_is_found(program, file):
    """A harness whose contender does not read the store would measure nothing."""
    os.chmod(file, 0o600)
    with open(file, "r+b") as store:
        store.seek(os.path.getsize(file) // 2)
        byte = store.read(1)[0]
        store.seek(-1, os.SEEK_CUR)
        store.write(bytes([byte ^ 1]))
        store.flush()
        found = subprocess.run([program, "verify", os.path.dirname(file)], capture_output=True).returncode
        store.seek(-1, os.SEEK_CUR)
        store.write(bytes([byte]))
    if found != 65:
        raise Failed(f"a bit that was turned over was not found: exit code {found}")


def measure(program, source, runs, folder, say):
    """Turns by contender; none for one that failed."""
    generation, file = installed(program, source, folder)
    turns, failed = {name: [] for name in CONTENDERS}, False
    names = list(CONTENDERS)
    try:
        expect_damage_is_found(program, file)
    except Failed as failure:
        say(f"checks: FAILED: {failure}")
        return turns, True
    for number in range(runs + 1):
        for name in names[number % 2:] + names[:number % 2]:
            try:
                turn = take_turn(CONTENDERS[name](program, generation, file))
            except Failed as failure:
                turns[name], failed = [], True
                names.remove(name)
                say(f"checks: {name}: FAILED: {failure}")
                continue
            if number:  # the first only fills the page cache
                turns[name].append(turn)
                say(f"checks: {name}: {turn.wall:.3f} s")
    return turns, failed
