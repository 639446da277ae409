#!/usr/bin/env python3
"""Tries the product that apps link, in the program app-peer, against the program that ships.

    check.py APP-PEER SHIP-STORE

What one of them sends the other receives, whole and as a delta; app-peer starts no process, opens no socket, and takes no more
memory than a watch can bear. Prints what it measured. Ends with 1 at the first thing that is not so.
"""
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

# What an app on watchOS may not do: fork, clone of a process, exec, sockets.
FORBIDDEN = "execve,execveat,fork,vfork,clone,clone3,socket,socketpair,connect"
MIB = 1024 * 1024
# Of a shipment that is made without libdeflate, in those of one that is made with it.
MOST_BYTES = 1.03
# Beyond what the program has when it starts, in bytes.
MOST_MEMORY = {"whole": 24 * MIB, "delta": 12 * MIB}


def make(path, megabytes):
    """A store of notes, of about that size."""
    dice = random.Random(5)
    words = ["".join(dice.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(dice.randint(2, 9))) for _ in range(4000)]
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, body TEXT, modified REAL, digest BLOB)")
        database.execute("CREATE INDEX note_modified ON note(modified)")
        size = 0
        while size < megabytes * 1_000_000:
            body = " ".join(dice.choices(words, k=dice.randint(10, 120)))
            database.execute(
                "INSERT INTO note VALUES (NULL, ?, ?, ?, ?)",
                (" ".join(dice.choices(words, k=4)), body, 7e8 + size / 100, dice.randbytes(16)))
            size += len(body) + 100


def change(path, title="changed"):
    with sqlite3.connect(path) as database:
        database.execute("UPDATE note SET title = ? WHERE id = 17", (title,))


def run(*command, prefix=()):
    done = subprocess.run([*prefix, *command], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def traced(log, *command):
    """What the command says, and the calls it made that an app may not make."""
    said = run(*command, prefix=["strace", "-f", "-qq", "-o", log, "-e", f"trace={FORBIDDEN}"])
    with open(log) as lines:
        calls = [line.split(None, 1)[1].strip() for line in lines if "resumed>" not in line]
    # A thread is cloned too, and one that is just ending when all ends makes no call that strace could name ("???( <detached ...>");
    # and strace itself starts the program.
    calls = [call for call in calls if "CLONE_THREAD" not in call and not call.startswith(("+++", "---", "???("))]
    if not calls or not calls[0].startswith("execve("):
        sys.exit(f"strace does not say how {command[0]} was started")
    return said, calls[1:]


def expect(holds, what):
    if not holds:
        sys.exit(f"not so: {what}")


def installed(inbox):
    """The bytes of the store that is current."""
    with open(os.path.join(inbox, "Notes.sqlite"), "rb") as file:
        return file.read()


def memory(said):
    return int(re.search(r"^memory (\d+)$", said, re.M)[1]) * 1024


def try_sizes(folder, megabytes):
    store = os.path.join(folder, "Notes.sqlite")
    make(store, megabytes)
    files, times = {}, {}
    for sender, command in (("app", [PEER, "send", store]), ("program", [PROGRAM, "send", store, "--to"])):
        files[sender] = os.path.join(folder, f"{sender}.shipment")
        start = time.monotonic()
        run(*command, files[sender])
        times[sender] = time.monotonic() - start
    change(store)
    later = {"app": os.path.join(folder, "app-delta.shipment"), "program": os.path.join(folder, "program-delta.shipment")}
    _, calls = traced(os.path.join(folder, "strace.log"), PEER, "send", store, later["app"], files["app"])
    expect(calls == [], f"sending starts no process and opens no socket: {calls}")
    run(PROGRAM, "send", store, "--since", files["program"], "--to", later["program"])
    stores = []
    for sender, file in files.items():
        by_app, by_program = (os.path.join(folder, f"{sender}-{receiver}") for receiver in ("app", "program"))
        said, calls = traced(os.path.join(folder, "strace.log"), PEER, "receive", file, by_app)
        expect(calls == [], f"receiving starts no process and opens no socket: {calls}")
        whole = memory(said)
        said, calls = traced(os.path.join(folder, "strace.log"), PEER, "receive", later[sender], by_app)
        expect(calls == [], f"receiving a delta starts no process and opens no socket: {calls}")
        delta = memory(said)
        expect(os.path.getsize(later[sender]) * 4 < os.path.getsize(file), f"{sender} sends a delta")
        run(PROGRAM, "receive", "--from", file, "--into", by_program, "--unsigned")
        run(PROGRAM, "receive", "--from", later[sender], "--into", by_program, "--unsigned")
        stores += [installed(by_app), installed(by_program)]
        print(f"{megabytes} MB sent by {sender}: {os.path.getsize(file):,} bytes, the delta {os.path.getsize(later[sender]):,}; "
              f"app-peer took {whole / MIB:.1f} MiB for the whole, {delta / MIB:.1f} MiB for the delta")
        expect(whole <= MOST_MEMORY["whole"], "the whole takes no more memory than a watch can bear")
        expect(delta <= MOST_MEMORY["delta"], "the delta takes no more memory than a watch can bear")
    public, inbox = os.path.join(folder, "public"), os.path.join(folder, "followed")
    for title in ("published", "published again"):
        change(store, title)
        run(PROGRAM, "send", store, "--to", f"dir:{public}")
        said, calls = traced(os.path.join(folder, "strace.log"), PEER, "look", public, inbox)
        expect(calls == [], f"following starts no process and opens no socket: {calls}")
        expect(said == "installed Notes\n" and title.encode() in installed(inbox), f"what is published is taken: {said}")
    expect(all(other == stores[0] for other in stores), "all four have the same store, byte for byte")
    expect(b"changed" in stores[0], "the change has arrived")
    ratio = os.path.getsize(files["app"]) / os.path.getsize(files["program"])
    expect(ratio <= MOST_BYTES, "without libdeflate a shipment takes hardly more bytes")
    print(f"without libdeflate, of {megabytes} MB: {ratio:.4f}x the bytes, {times['app'] / times['program']:.2f}x the time")


def check_trait():
    """That the program was built as an app's is: without libdeflate."""
    expect("libdeflate" not in run("ldd", PEER), "app-peer does not need libdeflate")
    expect("libdeflate" in run("ldd", PROGRAM), "the program needs it, so that this would show")


def size():
    """Of the program, stripped; and of ICU's data in it, which an Apple system has already."""
    stripped = os.path.join(tempfile.gettempdir(), f"app-peer-{os.getpid()}")
    try:
        run("strip", "-o", stripped, PEER)
        whole = os.path.getsize(stripped)
    finally:
        if os.path.exists(stripped):
            os.remove(stripped)
    symbols = re.findall(r"^[0-9a-f]+ ([0-9a-f]+) \w icudt\w*_dat$", run("nm", "-S", PEER), re.M)
    icu = sum(int(symbol, 16) for symbol in symbols)
    print(f"app-peer, stripped: {whole / 1e6:.1f} MB, of which ICU's data {icu / 1e6:.1f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    PEER, PROGRAM = (os.path.abspath(path) for path in sys.argv[1:])
    check_trait()
    size()
    for megabytes in (1, 20):
        with tempfile.TemporaryDirectory() as folder:
            os.environ.update(XDG_STATE_HOME=f"{folder}/state", XDG_CONFIG_HOME=f"{folder}/config")
            try_sizes(folder, megabytes)
