#!/usr/bin/env python3
"""Publishes into S3-compatible storage, and follows it, with the built program and real engines: `make test-storage`.

    storage.py PROGRAM [--at FOLDER] [--seed N] [--rounds N] [--engines moto,ceph,rclone] [--optional]

FOLDER has `moto_server`, `rclone`, and a `python` that has boto3; what is not there is looked for on the path. Between the program and moto or Ceph stands a proxy that loses requests and
answers, says that something failed which did not, cuts what is sent, and answers with statuses of its own. One of Ceph's disks dies while something is
published. After each round the follower has one committed state, never an older one than before, and at the end the newest; and boto3 and rclone find what is to be
there, and nothing else."""

import argparse, contextlib, http.client, http.server, json, os, random, shutil, socket, sqlite3, subprocess, sys, tempfile, threading, time
from pathlib import Path

import ceph

FAULTS = ("lose", "answer-lost", "503", "500-after", "409", "412", "429", "cut", "slow")


def free_port() -> int:
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return each.getsockname()[1]


class Programs:
    """Where the programs of engines are."""

    def __init__(self, folder: Path | None):
        self.path = os.pathsep.join([str(folder)] * (folder is not None) + [os.environ["PATH"]])

    def __getitem__(self, name: str) -> str:
        return shutil.which(name, path=self.path) or sys.exit(f"{name} is missing: make test-storage installs it")

    def missing(self, engine: str) -> list[str]:
        """What an engine lacks."""
        lacks = [] if engine == "rclone" or self.has_boto() else ["boto3"]
        return lacks + [name for name in {"moto": ["moto_server"], "rclone": ["rclone"], "ceph": []}[engine] if not shutil.which(name, path=self.path)]

    def has_boto(self) -> bool:
        return shutil.which("python", path=self.path) is not None and subprocess.run([self["python"], "-c", "import boto3"], capture_output=True).returncode == 0


@contextlib.contextmanager
def moto(engines: Programs, _: Path):
    port = free_port()
    server = subprocess.Popen([engines["moto_server"], "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield Engine("moto", port, "AKIAEXAMPLE", "secret", engines)
    finally:
        server.kill()


@contextlib.contextmanager
def cluster(engines: Programs, folder: Path):
    (folder / "ceph").mkdir()
    with ceph.Ceph(folder / "ceph") as found:
        yield Engine("Ceph", found.port, found.key, found.secret, engines, found.kill_one)


class Engine:
    """S3-compatible storage with a bucket, and what boto3 and rclone see there."""

    def __init__(self, name: str, port: int, key: str, secret: str, engines: Programs, lose_disk=None):
        self.name, self.port, self.key, self.secret, self.engines, self.lose_disk = name, port, key, secret, engines, lose_disk
        self.boto("s3.create_bucket(Bucket='bucket')")

    def boto(self, lines: str) -> str:
        made = f"import boto3, hashlib, json; s3 = boto3.client('s3', endpoint_url='http://127.0.0.1:{self.port}', region_name='us-east-1', aws_access_key_id={self.key!r}, aws_secret_access_key={self.secret!r})\n"
        done = subprocess.run([self.engines["python"], "-c", made + lines], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def objects(self) -> dict[str, list]:
        """Of each key what caches may do with it, its size, and whether its digest is its name."""
        return json.loads(self.boto("""
found = {}
for page in s3.get_paginator('list_objects_v2').paginate(Bucket='bucket'):
    for each in page.get('Contents', []):
        got = s3.get_object(Bucket='bucket', Key=each['Key'])
        body = got['Body'].read()
        found[each['Key']] = [got.get('CacheControl', ''), len(body), hashlib.sha256(body).hexdigest() == each['Key'][-64:]]
print(json.dumps(found))"""))

    def seen_by_rclone(self) -> dict[str, int]:
        """The size of each key."""
        options = {"provider": "Other", "endpoint": f"http://127.0.0.1:{self.port}", "access-key-id": self.key, "secret-access-key": self.secret}
        words = [f"--s3-{name}={value}" for name, value in options.items()]
        done = subprocess.run([self.engines["rclone"], "lsjson", ":s3:bucket", "--recursive", "--files-only", "--config", os.devnull, *words], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return {each["Path"]: each["Size"] for each in json.loads(done.stdout)}

    def unfinished(self) -> int:
        return int(self.boto("print(len(s3.list_multipart_uploads(Bucket='bucket').get('Uploads', [])))"))


class Proxy(http.server.BaseHTTPRequestHandler):
    """Stands before the storage at `port`; `chance` of the requests go wrong."""

    protocol_version = "HTTP/1.1"
    port, chance, dice, seen, heads, parts = 0, 0.0, random.Random(0), {}, set(), 0

    def handle_one(self) -> None:
        fault = self.dice.choice(FAULTS) if self.dice.random() < self.chance else "none"
        self.seen[fault] = self.seen.get(fault, 0) + 1
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.command == "PUT" and self.path.endswith("/head"):
            self.heads.add(body[:8])
        if "partNumber=" in self.path:
            Proxy.parts += 1
        if fault == "lose":
            return self.drop()
        if fault in ("503", "409", "412", "429"):
            return self.say(int(fault), [], b"<Error><Code>Made</Code></Error>")
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            link.request(self.command, self.path, body, dict(self.headers))
            answer = link.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            return self.drop()
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
        try:
            if self.command != "HEAD" and status not in (204, 304):
                self.wfile.write(content[: len(content) // 2] if cut else content)
        except (BrokenPipeError, ConnectionResetError):
            cut = True  # a program that was killed
        self.close_connection = self.close_connection or cut

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one

    def log_message(self, *_: object) -> None:
        pass


class Desk:
    def __init__(self, program: str, folder: Path, port: int, key: str, secret: str, name: str = "kitchen"):
        self.program, self.folder, self.port, self.name = program, folder, port, name
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
        return [f"s3://bucket/{self.name}", "--endpoint-url", f"http://127.0.0.1:{self.port}"]

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


def proxied(engine: Engine, dice: random.Random) -> http.server.ThreadingHTTPServer:
    Proxy.port, Proxy.dice, Proxy.seen, Proxy.heads, Proxy.parts, Proxy.chance = engine.port, dice, {}, set(), 0, 0.0
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    return proxy


def with_faults(program: str, engine: Engine, folder: Path, seed: int, rounds: int, encrypted: bool) -> None:
    proxy = proxied(engine, random.Random(seed))
    desk, dice = Desk(program, folder, proxy.server_address[1], engine.key, engine.secret, "encrypted" if encrypted else "kitchen"), random.Random(seed)
    keys = [desk.key("watch"), desk.key("tablet")] if encrypted else []
    outcomes = {}
    for number in range(rounds):
        Proxy.chance = dice.choice([0, 0.1, 0.4])
        # The tablet is a recipient now and then.
        desk.recipients = keys if dice.random() < 0.2 else keys[:1]
        desk.change(dice.choice([1, 1, 1, 20, 400]))
        if engine.lose_disk and number == rounds // 2 and not encrypted:
            threading.Timer(dice.uniform(0, 0.3), engine.lose_disk, [dice.randrange(ceph.OSDS)]).start()
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
    objects = engine.objects()
    if not engine.engines.missing("rclone"):
        assert engine.seen_by_rclone() == {key: size for key, (_, size, _) in objects.items()}
    for key, (caching, _, is_named) in objects.items():
        if not key.startswith(f"{desk.name}/"):
            continue
        isHead = key == f"{desk.name}/head"
        assert caching == ("max-age=0,s-maxage=2,stale-while-revalidate=2" if isHead else "public, max-age=31536000, immutable"), f"{key} is kept as {caching!r}"
        assert isHead or encrypted or is_named, f"{key} is another object"
    shutil.rmtree(folder / "inbox")
    desk.held = -1
    said(desk.receive(), 0)
    desk.check()
    assert desk.held == desk.ticks
    assert not list((folder / "TMPDIR").iterdir()), "something is left in the temporary folder"
    proxy.shutdown()
    print(f"{engine.name}, seed {seed}{', encrypted' if encrypted else ''}: {rounds} rounds, statuses {outcomes}, faults {Proxy.seen}")


def in_parts(program: str, engine: Engine, folder: Path, seed: int) -> None:
    """What is large goes in parts; a link that breaks costs few of them again, and what a killed sender leaves is given up."""
    proxy = proxied(engine, random.Random(seed))
    desk = Desk(program, folder, proxy.server_address[1], engine.key, engine.secret, "large")
    with sqlite3.connect(desk.store) as store:
        store.executescript("CREATE TABLE film(bytes)")
        store.executemany("INSERT INTO film VALUES (?)", [(os.urandom(1_000_000),) for _ in range(70)])
    desk.change(1)
    sender = subprocess.Popen([program, "send", "Recipes.sqlite", "--to", *desk.place], env=desk.environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while Proxy.parts < 2 and sender.poll() is None:
        time.sleep(0.01)
    sender.kill()
    sender.wait()
    assert engine.unfinished() == 1, f"{engine.unfinished()} uploads are unfinished"
    Proxy.chance = 0.1
    attempts = 0
    while desk.publish().returncode and attempts < 20:
        attempts += 1
    Proxy.chance = 0
    said(desk.publish(), 0)
    said(desk.run("publish", "--prune", *desk.place, "--grace", "0s"), 0)
    assert engine.unfinished() == 0, f"{engine.unfinished()} uploads stay unfinished"
    said(desk.receive(), 0)
    desk.check()
    assert desk.held == desk.ticks and Proxy.parts >= 7
    proxy.shutdown()
    print(f"{engine.name}, seed {seed}: 70 MB in parts, {Proxy.parts} sent, after {attempts} that failed; faults {Proxy.seen}")


def without_conditions(program: str, engines: Programs, folder: Path) -> None:
    port = free_port()
    (folder / "data" / "bucket").mkdir(parents=True)
    rclone = subprocess.Popen([engines["rclone"], "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", "key,secret", folder / "data"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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
        # Once somebody has published there it is no other storage.
        desk.change(1)
        said(desk.publish(), 73)
        desk.environment["AWS_SECRET_ACCESS_KEY"] = "wrong"
        said(desk.receive(), 77)
        print("rclone: refused without --unconditional, and published with it")
    finally:
        rclone.kill()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--at", metavar="FOLDER", type=Path, help="where the engines are, if not on the path")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--engines", default="moto,ceph,rclone", help="which of these; without Ceph's programs it goes without")
    parser.add_argument("--optional", action="store_true", help="go without the others, too, where their programs are not there")
    arguments = parser.parse_args()
    program, engines = str(Path(arguments.program).resolve()), Programs(arguments.at)
    wanted = []
    for name in arguments.engines.split(","):
        missing = (ceph.missing() if name == "ceph" else []) + engines.missing(name)
        if missing and (arguments.optional or name == "ceph"):
            print(f"{name}: skipped, without {', '.join(missing)}")
        elif missing:
            sys.exit(f"{name}: {', '.join(missing)} missing")
        else:
            wanted.append(name)
    for name, opened in (("moto", moto), ("ceph", cluster)):
        if name in wanted:
            with tempfile.TemporaryDirectory() as place, opened(engines, Path(place)) as engine:
                for encrypted in (False, True):
                    with tempfile.TemporaryDirectory() as folder:
                        with_faults(program, engine, Path(folder), arguments.seed, arguments.rounds, encrypted)
                with tempfile.TemporaryDirectory() as folder:
                    in_parts(program, engine, Path(folder), arguments.seed)
    if "rclone" in wanted:
        with tempfile.TemporaryDirectory() as folder:
            without_conditions(program, engines, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
