#!/usr/bin/env python3
"""Publishes into S3-compatible storage, and follows it, with the built program and real engines: `make test-storage`.

    storage.py PROGRAM ENGINES [--seed N] [--rounds N]

ENGINES is the folder with `moto_server` and `rclone`. Between the program and moto stands a proxy that loses requests and answers, says
that something failed which did not, cuts what is sent, and answers with statuses of its own. After each round the follower has one
committed state, never an older one than before, and at the end the newest."""

import argparse, http.client, http.server, os, random, shutil, socket, sqlite3, subprocess, sys, tempfile, threading, time, urllib.request
from pathlib import Path

FAULTS = ("lose", "answer-lost", "503", "500-after", "409", "412", "429", "cut", "slow")


def free_port() -> int:
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return each.getsockname()[1]


class Proxy(http.server.BaseHTTPRequestHandler):
    """Stands before the storage at `port`; `chance` of the requests go wrong."""

    protocol_version = "HTTP/1.1"
    port, chance, dice, seen, heads = 0, 0.0, random.Random(0), {}, set()

    def handle_one(self) -> None:
        fault = self.dice.choice(FAULTS) if self.dice.random() < self.chance else "none"
        self.seen[fault] = self.seen.get(fault, 0) + 1
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.command == "PUT" and self.path.endswith("/head"):
            self.heads.add(body[:8])
        if fault == "lose":
            return self.drop()
        if fault in ("503", "409", "412", "429"):
            return self.say(int(fault), [], b"<Error><Code>Made</Code></Error>")
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        link.request(self.command, self.path, body, dict(self.headers))
        answer = link.getresponse()
        content = answer.read()
        fields = [(name, value) for name, value in answer.getheaders() if name.lower() not in ("transfer-encoding", "connection", "content-length")]
        link.close()
        if fault == "answer-lost":
            return self.drop()
        if fault == "500-after":
            return self.say(500, [], b"<Error><Code>InternalError</Code></Error>")
        if fault == "slow":
            time.sleep(0.3)
        self.say(answer.status, fields, content, cut=fault == "cut")

    def drop(self) -> None:
        self.close_connection = True

    def say(self, status: int, fields: list[tuple[str, str]], content: bytes, cut: bool = False) -> None:
        self.send_response_only(status)
        for name, value in fields:
            self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD" and status not in (204, 304):
            self.wfile.write(content[: len(content) // 2] if cut else content)
        self.close_connection = self.close_connection or cut

    do_GET = do_PUT = do_DELETE = do_HEAD = handle_one

    def log_message(self, *_: object) -> None:
        pass


class Desk:
    def __init__(self, program: str, folder: Path, port: int, key: str, secret: str):
        self.program, self.folder, self.port = program, folder, port
        own = {name: str(folder / name) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TMPDIR")}
        for path in own.values():
            Path(path).mkdir(exist_ok=True)
        self.environment = {"PATH": os.environ["PATH"], "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret} | own
        self.recipients: list[str] = []
        self.store = folder / "Recipes.sqlite"
        with sqlite3.connect(self.store) as made:
            made.executescript("PRAGMA journal_mode = WAL; CREATE TABLE tick(n); INSERT INTO tick VALUES (0); CREATE TABLE r(id INTEGER PRIMARY KEY, t)")
            made.executemany("INSERT INTO r(t) VALUES (?)", [(f"soup {each}",) for each in range(2000)])
        self.ticks, self.held = 0, -1

    def run(self, *words: str, device: str = "XDG_CONFIG_HOME") -> subprocess.CompletedProcess[str]:
        environment = self.environment | {"XDG_CONFIG_HOME": str(self.folder / device)}
        return subprocess.run([self.program, *words], env=environment, cwd=self.folder, capture_output=True, text=True, timeout=120)

    def key(self, device: str) -> str:
        made = self.run("identity", "--encryption-key", device=device)
        said(made, 0)
        return made.stdout.strip()

    @property
    def place(self) -> list[str]:
        return ["s3://bucket/kitchen", "--endpoint-url", f"http://127.0.0.1:{self.port}"]

    def publish(self, *more: str) -> subprocess.CompletedProcess[str]:
        return self.run("send", "Recipes.sqlite", "--to", *self.place, *more, *(word for key in self.recipients for word in ("--encrypt-to", key)))

    def receive(self) -> subprocess.CompletedProcess[str]:
        return self.run("receive", "--into", "inbox", "--from", *self.place, device="watch")

    def change(self, rows: int) -> None:
        self.ticks += 1
        with sqlite3.connect(self.store) as store:
            store.execute("UPDATE tick SET n = ?", (self.ticks,))
            store.executemany("INSERT INTO r(t) VALUES (?)", [(f"{self.ticks} {each} {os.urandom(9).hex()}",) for each in range(rows)])

    def check(self) -> None:
        path = self.folder / "inbox" / "Recipes.sqlite"
        if not path.exists():
            return
        found = sqlite3.connect(f"file:{path}?immutable=1", uri=True).execute("SELECT n FROM tick").fetchone()[0]
        assert self.held <= found <= self.ticks, f"the follower went from {self.held} to {found}, and there is {self.ticks}"
        self.held = found


def said(outcome: subprocess.CompletedProcess[str], *statuses: int) -> None:
    assert outcome.returncode in statuses, f"status {outcome.returncode}: {outcome.stderr}"


def wait_for(port: int) -> None:
    for _ in range(300):
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"nobody listens on {port}")


def with_faults(program: str, engines: Path, folder: Path, seed: int, rounds: int, encrypted: bool) -> None:
    port = free_port()
    key, secret = "AKIAEXAMPLE", "secret"
    moto = subprocess.Popen([engines / "moto_server", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/bucket", method="PUT", headers={"Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request"}))
        Proxy.port, Proxy.dice, Proxy.seen, Proxy.heads = port, random.Random(seed), {}, set()
        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        desk, dice = Desk(program, folder, proxy.server_address[1], key, secret), random.Random(seed)
        keys = [desk.key("watch"), desk.key("tablet")] if encrypted else []
        outcomes = {}
        for _ in range(rounds):
            Proxy.chance = dice.choice([0, 0.1, 0.4])
            # The tablet is a recipient now and then.
            desk.recipients = keys if dice.random() < 0.2 else keys[:1]
            desk.change(dice.choice([1, 1, 1, 20, 400]))
            for step in (desk.publish, desk.receive):
                status = step().returncode
                outcomes[status] = outcomes.get(status, 0) + 1
                desk.check()
        Proxy.chance = 0
        said(desk.publish(), 0)
        said(desk.receive(), 0)
        desk.check()
        assert desk.held == desk.ticks, f"the follower has {desk.held}, and there is {desk.ticks}"
        said(desk.run("publish", "--prune", *desk.place, "--grace", "0s"), 0)
        assert Proxy.heads == {b"SHIPSEAL" if encrypted else b"SHIPHEAD"}, f"heads begin with {Proxy.heads}"
        shutil.rmtree(folder / "inbox")
        desk.held = -1
        said(desk.receive(), 0)
        desk.check()
        assert desk.held == desk.ticks
        assert not list((folder / "TMPDIR").iterdir()), "something is left in the temporary folder"
        proxy.shutdown()
        print(f"moto, seed {seed}{', encrypted' if encrypted else ''}: {rounds} rounds, statuses {outcomes}, faults {Proxy.seen}")
    finally:
        moto.kill()


def without_conditions(program: str, engines: Path, folder: Path) -> None:
    port = free_port()
    (folder / "data" / "bucket").mkdir(parents=True)
    rclone = subprocess.Popen([engines / "rclone", "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", "key,secret", folder / "data"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        desk = Desk(program, folder, port, "key", "secret")
        refused = desk.publish()
        said(refused, 73)
        assert "--unconditional" in refused.stderr and not (folder / "data/bucket/kitchen/head").exists()
        for _ in range(3):
            desk.change(1)
            said(desk.publish("--unconditional"), 0)
            said(desk.receive(), 0)
            desk.check()
        assert desk.held == desk.ticks
        desk.environment["AWS_SECRET_ACCESS_KEY"] = "wrong"
        said(desk.receive(), 77)
        print("rclone: refused without --unconditional, and published with it")
    finally:
        rclone.kill()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("engines", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    program = str(Path(arguments.program).resolve())
    for encrypted in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            with_faults(program, arguments.engines, Path(folder), arguments.seed, arguments.rounds, encrypted)
    with tempfile.TemporaryDirectory() as folder:
        without_conditions(program, arguments.engines, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
