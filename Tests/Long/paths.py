"""The same commands in two folders: in one by plain paths, in the other by paths that lead to the same places. What comes of them is the same."""
import os
import re
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import time

from desk import Desk, Flaw, digest, random_store

SOON = 9  # seconds in which what has changed arrives; without a notice it is seen after 10 s
ODD = [b"a b", b"-", b"--into", b"100%", b"%41", b"a?b#c", b"file:x", b"host:80", b"new\nline", b"tab\t", b"\xff\xfe", "Жук".encode(), b"e\xcc\x81", b"'\"",
       b"$(x)", b"*", b"~", b"-.sqlite", b"..a", b"x" * 200, b"s3", b"null", b"b.shipment.d"]
FOLDERS = ["first", "second", "inbox", "tray", "kept", "site", "deep/in/side"]
LIVE = ["first/Tea.sqlite", "second/Tea.sqlite", "first/Recipes.sqlite", "deep/in/side/Recipes.sqlite"]
NUMBERS = re.compile(rb"[0-9]{8}T[0-9]{6}(-[0-9]+)?|[0-9a-f]{6,}|[0-9]+")


class Twin(Desk):
    """A folder whose paths are given as they are."""

    def __init__(self, program, folder):
        super().__init__(program, folder)
        self.root = self.path("work").encode()
        self.names, self.cwd = {}, self.root
        os.makedirs(self.root)

    def real(self, place):
        parts = [self.names.get(part, part.encode()) for part in place.split("/")] if place else []
        return os.path.join(self.root, *parts)

    def spell(self, place):
        return self.real(place)

    def line(self, words):
        """A word with an at sign stands for a place."""
        return [word.encode() if "@" not in word else word.split("@")[0].encode() + self.spell(word.split("@")[1]) for word in words]

    def start(self, words, **streams):
        return subprocess.Popen([self.program, *self.line(words)], stderr=subprocess.PIPE, env=self.values, cwd=self.cwd, **streams)

    def tree(self):
        """Each thing there by its name, without the numbers in it; of a store its content, and of a link whether it leads somewhere."""
        back = {odd: name.encode() for name, odd in self.names.items()}
        found = []
        for folder, folders, files in os.walk(self.root):
            below = os.path.relpath(folder, self.root).split(b"/")
            for name in folders + files:
                path = os.path.join(folder, name)
                kind = os.lstat(path).st_mode
                words = NUMBERS.sub(b"#", b"/".join(back.get(part, part) for part in [*below, name]))
                what = os.path.exists(path) if stat.S_ISLNK(kind) else stat.S_IFMT(kind)
                if stat.S_ISREG(kind) and name.endswith(b".sqlite"):
                    what = digest(path)
                found.append((words.decode(errors="surrogateescape"), what))
        return sorted(found, key=repr)


class OddTwin(Twin):
    """A folder that other names lead to, with odd ones in it."""

    def __init__(self, program, folder, chance):
        super().__init__(program, folder)
        self.chance = chance
        odd = chance.sample(ODD, len(ODD))
        self.names = {part: odd.pop() for part in sorted({part for place in FOLDERS for part in place.split("/")}) if chance.random() < 0.5}
        os.makedirs(self.path("links/here"))
        os.symlink(self.root, self.path("links/work"))
        os.symlink("../../links/work", self.path("links/here/relative"))
        for place in FOLDERS:
            os.makedirs(self.real(place), exist_ok=True)

    def spell(self, place):
        real, chance = self.real(place), self.chance
        below = os.path.relpath(real, self.root)
        way = chance.randrange(7)
        if way == 0:
            return real
        if way < 3:
            root = self.path(chance.choice(["links/work", "links/here/relative", "work/../work"])).encode()
            return os.path.join(root, below)
        path = os.path.relpath(real, self.cwd)
        if way == 3:
            path = path.replace(b"/", chance.choice([b"//", b"/./"]))
        if way == 4:
            path = os.path.join(b"..", os.path.basename(self.cwd), path)
        # An option, an endpoint or a variable is not to be told from some names.
        return b"./" + path if path[:1] in b"-~" or b":" in path or way == 5 else path

    def line(self, words):
        self.cwd = self.real(self.chance.choice(["", "first", "deep/in/side"]))
        return super().line(words)


def commands(chance, count):
    """Commands, each a list of programs that are piped together."""
    def store():
        return "@" + chance.choice(LIVE)

    def inbox():
        return "@" + chance.choice(["inbox", "tray", "deep/in/side/inbox"])

    def name():
        return chance.choice(["Tea", "Recipes"])
    copied = [f"second/Copy{number}.sqlite" for number in range(3)]
    any_identity = ["--any-identity"] if chance.random() < 0.7 else []
    numbered = f"@kept/{count}.shipment"
    return chance.choice([
        lambda: [["send", store(), "--to", "-"], ["receive", "--from", "-", "--into", inbox()]],
        lambda: [["send", store(), "--to", "-", "--no-remember"], ["receive", "--from", "-", "--into", inbox(), "--replace", name()]],
        lambda: [["send", store(), "--to", numbered], ["receive", "--from", numbered, "--into", inbox()]],
        lambda: [["copy", store(), "--to", "@second", "--as", f"Copy{count % 3}.sqlite"]],
        lambda: [["copy", store(), "--to", inbox()]],
        lambda: [["copy", store(), "--keep-in", "@kept/copies"]],
        lambda: [["copies", "--in", "@kept/copies"]],
        lambda: [["copies", "--in", "@kept/copies", "--prune", "--keep", "1"]],
        lambda: [["move", store(), "--to", "@" + chance.choice(["first", "second", "deep/in/side", "kept/copies"])]],
        lambda: [["move", store(), "--to", "@deep", "--remove-old"]],
        lambda: [["restore", "@" + chance.choice([*copied, "inbox/Tea.sqlite", "tray/Tea.sqlite"]), "--over", store(), *any_identity]],
        lambda: [["metadata", store(), "--set", "a=b"]],
        lambda: [["destroy", store()]],
        lambda: [["send", store(), "--to", "dir:@site"]],
        lambda: [["send", store(), "--to", "dir:" + inbox()]],
        lambda: [[verb, "--into", inbox()] for verb in [chance.choice(["list", "status", "verify", "prune"])]],
        lambda: [[verb, name(), "--into", inbox()] for verb in [chance.choice(["rollback", "forget"])]],
        lambda: [["inspect", "@" + chance.choice([*LIVE, "inbox/Tea.sqlite", "inbox", "tray/.ship-store/Recipes/current"])]],
        lambda: [["bases"]],
    ])()


def wait(program):
    try:
        return program.communicate(timeout=60)
    except subprocess.TimeoutExpired as error:
        raise Flaw(f"{program.args} is not done") from error
    finally:
        program.kill()


def is_piped(line):
    return len(line) > 1 and "-" in line[1]


def begin(twin, line):
    """Starts programs that are piped together."""
    programs, before = [], None
    for words in line:
        program = twin.start(words, stdin=before or subprocess.DEVNULL, stdout=subprocess.PIPE if is_piped(line) else subprocess.DEVNULL)
        if before:
            before.close()
        before = program.stdout
        programs.append(program)
    return programs


def run(twin, line):
    """Returns the exit statuses, and what was complained of."""
    statuses, complaints = [], b""
    for piped in [line] if is_piped(line) else [[words] for words in line]:
        programs = begin(twin, piped)
        complaints += b"".join([wait(program)[1] for program in reversed(programs)])
        statuses += [program.returncode for program in programs]
    return statuses, complaints


def write(twins, chance):
    """The same change of a store in each."""
    place, number = chance.choice(LIVE), chance.getrandbits(32)
    for twin in twins:
        path = twin.real(place)
        if os.path.exists(path):
            with sqlite3.connect(path) as database:
                database.execute("CREATE TABLE IF NOT EXISTS change (number INT)")
                database.execute("INSERT INTO change VALUES (?)", [number])
            database.close()


def free_port():
    with socket.socket() as any_socket:
        any_socket.bind(("127.0.0.1", 0))
        return any_socket.getsockname()[1]


def identify(twin, phone, tablet, watch):
    """Makes three devices, of which one passes on."""
    if os.path.exists(twin.real(phone)):
        return
    known = {device: os.fsdecode(twin.real(device)) for device in (phone, tablet, watch)}
    ids = {device: twin.run("identity", "--identity", folder)[1].split()[-1].decode() for device, folder in known.items()}
    for device, other, role in [(phone, tablet, "receiver"), (tablet, phone, "sender"), (tablet, watch, "receiver"), (watch, tablet, "relay"), (watch, phone, "sender")]:
        twin.run("trust", ids[other], "--name", other, "--role", role, "--identity", known[device])


def arrive(path, number, seconds):
    end = time.monotonic() + seconds
    while not has_follow(path, number):
        if time.monotonic() > end:
            raise Flaw(f"change {number} did not arrive in {path}")
        time.sleep(0.02)


def follow(twin, place, inbox):
    """Follows a store by odd paths into a new inbox, and from there into another; what changes arrives soon."""
    addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    served, passed = [os.path.join(twin.real(each), os.path.basename(twin.real(place))) for each in (inbox, "far")]
    watching = ["watch", "--into", f"@{inbox}"]
    orders = [["send", "--inbox", f"@{inbox}", "--listen", addresses[1], "--identity", "@tablet", "--follow", "--settle", "50ms"],
              ["receive", "--into", f"@{inbox}", "--listen", addresses[0], "--identity", "@tablet", "--relay"],
              ["send", f"@{place}", "--to", addresses[0], "--identity", "@phone", "--relay", "--follow", "--settle", "50ms", "--replace"],
              ["receive", "--into", "@far", "--from", addresses[1], "--identity", "@watch", "--follow"]]
    identify(twin, "phone", "tablet", "watch")
    programs = [twin.start(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for words in orders]
    try:
        arrive(served, 0, 60)
        # Who watches needs an inbox.
        programs.append(twin.start(watching, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE))
        told = programs[-1].stdout
        os.set_blocking(told.fileno(), False)
        for number in range(1, 4):
            with sqlite3.connect(twin.real(place)) as database:
                database.execute("CREATE TABLE IF NOT EXISTS follow (number INT)")
                database.execute("INSERT INTO follow VALUES (?)", [number])
            database.close()
            arrive(served, number, SOON)
            # It may be the first that has a signature.
            arrive(passed, number, SOON)
            end, heard = time.monotonic() + SOON, b""
            while b"(was" not in heard and number > 1:
                heard += told.read() or b""
                if time.monotonic() > end:
                    raise Flaw(f"of change {number} of {place} in {inbox} nobody told: {heard}")
                time.sleep(0.02)
    finally:
        for program in reversed(programs):
            program.send_signal(signal.SIGTERM)
        ends = [(wait(program)[1], program.returncode) for program in programs]
    if any(status not in (0, -signal.SIGTERM) for _, status in ends):
        raise Flaw(f"{orders} and {watching} ended with {ends}")


def has_follow(path, number):
    try:
        with sqlite3.connect(b"file:" + path.replace(b"%", b"%25").replace(b"?", b"%3f").replace(b"#", b"%23") + b"?mode=ro", uri=True) as database:
            rows = database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'follow'").fetchall()
            return number == 0 or rows == [(1,)] and database.execute("SELECT max(number) FROM follow").fetchall() == [(number,)]
    except sqlite3.Error:
        return False


def paths(desk, chance):
    while True:
        seed = chance.getrandbits(32)
        chance.seed(seed)
        twins = [Twin(desk.program, desk.path("plain")), OddTwin(desk.program, desk.path("odd"), chance)]
        for place in FOLDERS:
            os.makedirs(twins[0].real(place), exist_ok=True)
        for place in LIVE:
            random_store(twins[0].real(place), chance)
            shutil.copy(twins[0].real(place), twins[1].real(place))
        lines = []
        for count in range(chance.randrange(4, 12)):
            write(twins, chance)
            line = commands(chance, count)
            lines.append(line)
            (plain, told), (odd, complained) = [run(twin, line) for twin in twins]
            if plain != odd:
                raise Flaw(f"round {seed}: {lines}: {plain} and {odd}: {told.decode(errors='replace')} and {complained.decode(errors='replace')}")
            trees = [twin.tree() for twin in twins]
            if trees[0] != trees[1]:
                differences = [sorted(set(trees[side]) - set(trees[1 - side]), key=repr) for side in (0, 1)]
                raise Flaw(f"round {seed}: {lines}: different folders: {differences[0]} and {differences[1]}")
            yield f"{line[0][0]} {max(plain)}"
        place, inbox = chance.choice(LIVE), chance.choice(["new", "deep/new", "second/in/new"])
        if os.path.exists(twins[1].real(place)):
            try:
                follow(twins[1], place, inbox)
            except Flaw as flaw:
                raise Flaw(f"round {seed}: {flaw}") from flaw
            yield "followed"
        for twin in twins:
            shutil.rmtree(twin.folder)
