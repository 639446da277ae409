"""Several random commands at once, on the same stores and inboxes; some are told to end, or killed. Nothing is lost, damaged or left behind."""
import glob
import os
import shutil
import signal
import sqlite3
import time

from desk import CRASHES, Flaw, random_store
from paths import FOLDERS, LIVE, Twin, begin, commands, is_piped, run, wait, write

UNKNOWN = 70  # the status of an unforeseen error
SHARED = ["inbox", "tray", "deep/in/side/inbox"]


def content(path):
    """The rows of a store, in any form; nothing for what is none."""
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            if database.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                raise Flaw(f"{path} is damaged")
            tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE name GLOB 't[0-9]' OR name = 'change' ORDER BY name")]
            return tuple((name, tuple(sorted(database.execute(f"SELECT * FROM {name}"), key=repr))) for name in tables)
    except sqlite3.DatabaseError as error:
        raise Flaw(f"{path}: {error}") from error
    finally:
        database.close()


def stores(twin):
    """All that may be a store, with its name; not what is on its way."""
    return [path for path in glob.glob(os.fsdecode(twin.root) + "/**/*.sqlite", recursive=True, include_hidden=True) if "/staging/" not in path]


def together(desk, chance):
    while True:
        seed = chance.getrandbits(32)
        chance.seed(seed)
        twin = Twin(desk.program, desk.path("together"))
        for place in FOLDERS:
            os.makedirs(twin.real(place), exist_ok=True)
        for place in LIVE:
            random_store(os.fsdecode(twin.real(place)), chance)
        for place in SHARED[:2]:
            run(twin, [["send", f"@{LIVE[0]}", "--to", "-", "--no-remember"], ["receive", "--from", "-", "--into", f"@{place}"]])
        lines = []
        try:
            for count in range(chance.randrange(2, 5)):
                write([twin], chance)
                # Only destroy takes a store away.
                before = {content(os.fsdecode(twin.real(place))) for place in LIVE if os.path.exists(twin.real(place))}
                now = []
                while len(now) < 3:
                    line = commands(chance, 10 * count + len(now))
                    if line[0][0] != "destroy":
                        now.append(line)
                lines.append(now)
                programs = [begin(twin, line if is_piped(line) else line[:1]) for line in now]
                ended = None
                if chance.random() < 0.5:
                    time.sleep(chance.random() * 0.2)
                    ended = chance.choice(chance.choice(programs))
                    ended.send_signal(chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
                for program in (program for each in reversed(programs) for program in reversed(each)):
                    errors = wait(program)[1]
                    if program is not ended and (program.returncode < 0 or program.returncode == UNKNOWN) or any(words in errors for words in CRASHES):
                        raise Flaw(f"{program.args} ended with {program.returncode}: {errors.decode(errors='replace')}")
                    yield f"{os.fsdecode(program.args[1])} {program.returncode}"
                after = {content(path) for path in stores(twin)}
                if not before <= after:
                    raise Flaw(f"{len(before - after)} stores are lost")
            for place in SHARED:
                if os.path.exists(os.path.join(twin.real(place), b".ship-store")):
                    # A receiver that is killed leaves what the next one removes.
                    run(twin, [["send", f"@{LIVE[-1]}", "--to", "-"], ["receive", "--from", "-", "--into", f"@{place}", "--replace", "Recipes"]])
                    twin.run("verify", "--into", os.fsdecode(twin.real(place)), may=(0, 64, 66))
            random_store(twin.path("Last.sqlite"), chance)
            for place in ["first", "second", "deep", "deep/in/side", "kept"]:
                twin.run("copy", "Last.sqlite", "--to", os.fsdecode(twin.real(place)), may=(0, 64))
            twin.run("copy", "Last.sqlite", "--keep-in", os.fsdecode(twin.real("kept/copies")))
            left = os.listdir(twin.path("tmp")) + [path for path in glob.glob(os.fsdecode(twin.root) + "/**", recursive=True, include_hidden=True)
                                                   if "/staging/" in path and os.path.basename(path) or ".ship-store-" in path]
            if left:
                raise Flaw(f"{left} are left")
        except Flaw as flaw:
            raise Flaw(f"round {seed}: {lines}: {flaw}") from flaw
        shutil.rmtree(twin.folder)
