#!/usr/bin/env python3
"""Publishes into a folder, and follows it through real web servers and caches, with the built program: `make test-web`.

    web.py PROGRAM [--seed N] [--rounds N] [--crowd N] [--optional]

nginx shows the folder as Documentation/PUBLISHING.md says. Receivers follow it there, through a cache of nginx's, and through varnish. Beside them a crowd
polls each cache once a second, as receivers do that find nothing new. While a sender publishes, each receiver has a committed state at any moment, never an
older one than before, and at the end the newest; and it is counted what of all this comes to the folder."""

import argparse, asyncio, os, random, resource, shutil, signal, socket, sqlite3, subprocess, sys, tempfile, threading, time
from pathlib import Path

POLL, LIMIT = 1.0, 60.0  # s between two polls, and at most until all have a state
ENGINES = ("nginx", "varnishd")
ORIGIN = """
%(user)s daemon off; pid %(folder)s/nginx.pid; error_log %(folder)s/error.log; worker_rlimit_nofile 8192;
events { worker_connections 4096; }
http {
  access_log off; client_body_temp_path %(folder)s/t1; proxy_temp_path %(folder)s/t2; fastcgi_temp_path %(folder)s/t3; uwsgi_temp_path %(folder)s/t4;
  scgi_temp_path %(folder)s/t5; keepalive_requests 100000;
  log_format asked '$request_method $uri $status';
  proxy_cache_path %(folder)s/cache keys_zone=kitchen:1m;
  # One each, so that it is seen by which way a request came.
%(origins)s
  server {
    listen 127.0.0.1:%(cache)d;
    location / {
      proxy_pass http://127.0.0.1:%(behind_nginx)d; proxy_http_version 1.1; proxy_cache kitchen; proxy_cache_lock on;
      proxy_cache_revalidate on; proxy_cache_use_stale updating; proxy_cache_background_update on;
    }
  }
}
"""
SHOWN = """
  server {
    listen 127.0.0.1:%(port)d; root %(public)s; access_log %(log)s asked;
    location /kitchen/objects/ { add_header Cache-Control "public, max-age=31536000, immutable"; }
    location /kitchen/head { add_header Cache-Control "public, max-age=0, s-maxage=2, stale-while-revalidate=2"; }
  }
"""


def free_port() -> int:
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return each.getsockname()[1]


def wait_for(port: int) -> None:
    for _ in range(300):
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"nobody listens on {port}")


class Servers:
    """The folder's server, and the caches before it."""

    def __init__(self, folder: Path, public: Path):
        self.folder, self.logs = folder, {}
        direct, behind_nginx, behind_varnish, cache, varnish = (free_port() for _ in range(5))
        origins = ""
        for name, port in (("direct", direct), ("nginx", behind_nginx), ("varnish", behind_varnish)):
            self.logs[name] = folder / f"{name}.log"
            origins += SHOWN % {"port": port, "public": public, "log": self.logs[name]}
        user = "user root;" if os.geteuid() == 0 else ""
        (folder / "nginx.conf").write_text(ORIGIN % {"user": user, "folder": folder, "origins": origins, "cache": cache, "behind_nginx": behind_nginx})
        (folder / "varnish").mkdir()
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.programs = [
            subprocess.Popen(["nginx", "-p", folder, "-c", folder / "nginx.conf"], **quiet),
            subprocess.Popen(["varnishd", "-j", "none", "-F", "-n", folder / "varnish", "-a", f"127.0.0.1:{varnish}", "-b", f"127.0.0.1:{behind_varnish}", "-s", "malloc,64m"], **quiet)]
        self.ports = {"direct": direct, "nginx": cache, "varnish": varnish}
        for port in self.ports.values():
            wait_for(port)

    def asked(self, way: str) -> int:
        """Requests that have come to the folder."""
        return self.logs[way].read_text().count("\n")

    def end(self) -> None:
        for program in self.programs:
            program.send_signal(signal.SIGTERM)
        for program in self.programs:
            try:
                program.wait(10)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()


class Crowd(threading.Thread):
    """Asks for the head once a second, each over a connection of its own, with the tag that came last."""

    def __init__(self, port: int, count: int):
        super().__init__(daemon=True)
        self.port, self.count, self.held, self.polls, self.failures, self.over = port, count, [b""] * count, 0, [], False

    def run(self) -> None:
        asyncio.run(self.all())

    async def all(self) -> None:
        await asyncio.gather(*(self.one(number) for number in range(self.count)))

    async def one(self, number: int) -> None:
        await asyncio.sleep(POLL * number / self.count)
        tag, link = b"", None
        while not self.over:
            start = time.monotonic()
            try:
                if link is None:
                    link = await asyncio.open_connection("127.0.0.1", self.port)
                condition = b"If-None-Match: " + tag + b"\r\n" if tag else b""
                link[1].write(b"GET /kitchen/head HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: identity\r\n" + condition + b"\r\n")
                fields = (await asyncio.wait_for(link[0].readuntil(b"\r\n\r\n"), LIMIT)).split(b"\r\n")
                named = {name.lower(): value.strip() for name, _, value in (each.partition(b":") for each in fields[1:])}
                status = int(fields[0].split()[1])
                if status == 200:
                    self.held[number] = await link[0].readexactly(int(named[b"content-length"]))
                    tag = named.get(b"etag", b"")
                elif status != 304:
                    raise ValueError(f"status {status}")
                self.polls += 1
            except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
                self.failures.append(repr(error))
                link = None
            await asyncio.sleep(max(0, POLL - (time.monotonic() - start)))
        if link:
            link[1].close()


class Desk:
    def __init__(self, program: str, folder: Path):
        self.program, self.folder = program, folder
        own = {name: str(folder / name) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TMPDIR")}
        for path in own.values():
            Path(path).mkdir()
        self.environment = {"PATH": os.environ["PATH"], "no_proxy": "127.0.0.1"} | own
        self.public, self.store = folder / "public", folder / "Recipes.sqlite"
        self.public.mkdir()
        with sqlite3.connect(self.store) as made:
            made.executescript("PRAGMA journal_mode = WAL; CREATE TABLE tick(n); INSERT INTO tick VALUES (0); CREATE TABLE r(id INTEGER PRIMARY KEY, t)")
            made.executemany("INSERT INTO r(t) VALUES (?)", [(f"soup {each}",) for each in range(20_000)])
        self.ticks, self.held, self.flaws = 0, {}, []

    def start(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        with open(self.folder / f"{name}.said", "wb") as said:
            return subprocess.Popen([self.program, *words], env=self.environment, cwd=self.folder, stdout=said, stderr=said)

    def publish(self) -> None:
        done = subprocess.run([self.program, "send", "Recipes.sqlite", "--to", "dir:public/kitchen"], env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr

    def change(self, rows: int) -> None:
        self.ticks += 1
        with sqlite3.connect(self.store) as store:
            store.execute("UPDATE tick SET n = ?", (self.ticks,))
            store.executemany("UPDATE r SET t = ? WHERE id = ?", [(f"{self.ticks} {os.urandom(9).hex()}", 1 + each * 7 % 20_000) for each in range(rows)])

    def look(self, way: str) -> int:
        """The state that a receiver has."""
        path = self.folder / f"inbox-{way}" / "Recipes.sqlite"
        if not path.exists():
            return -1
        found = sqlite3.connect(f"file:{path}?immutable=1", uri=True).execute("SELECT n FROM tick").fetchone()[0]
        if not self.held.get(way, -1) <= found <= self.ticks:
            self.flaws.append(f"by way of {way} a receiver went from {self.held.get(way)} to {found}, and there is {self.ticks}")
        self.held[way] = found
        return found


def follow(program: str, folder: Path, seed: int, rounds: int, crowd: int) -> None:
    desk, dice = Desk(program, folder), random.Random(seed)
    desk.publish()
    servers = Servers(folder, desk.public)
    crowds = {way: Crowd(servers.ports[way], crowd) for way in ("nginx", "varnish")}
    receivers = {way: desk.start(way, "receive", "--into", f"inbox-{way}", "--from", f"http://127.0.0.1:{port}/kitchen", "--follow", "--poll", f"{POLL:.0f}s") for way, port in servers.ports.items()}
    most, times = {way: 0 for way in crowds}, []
    try:
        for each in crowds.values():
            each.start()
        for number in range(rounds + 1):
            before, start = {way: servers.asked(way) for way in crowds}, time.monotonic()
            if number:
                desk.change(dice.choice([1, 1, 20, 3000, 20_000]))
                desk.publish()
            head = (desk.public / "kitchen" / "head").read_bytes()
            while True:
                states = [desk.look(way) for way in receivers]
                crowded = [held == head for each in crowds.values() for held in each.held]
                if all(state == desk.ticks for state in states) and all(crowded):
                    break
                assert time.monotonic() - start < LIMIT, f"after {LIMIT} s receivers have {states} of {desk.ticks}, and {crowded.count(False)} of the crowd an old head"
                time.sleep(0.02)
            if number:
                times.append(time.monotonic() - start)
                for way in crowds:
                    most[way] = max(most[way], servers.asked(way) - before[way])
            time.sleep(dice.uniform(0, 3))
        for way, receiver in receivers.items():
            assert receiver.poll() is None, (folder / f"{way}.said").read_text()
    finally:
        for each in crowds.values():
            each.over = True
        for receiver in receivers.values():
            receiver.send_signal(signal.SIGTERM)
        for receiver in receivers.values():
            receiver.wait(20)
        for each in crowds.values():
            if each.is_alive():
                each.join(LIMIT)
        servers.end()
    failures = [failure for each in crowds.values() for failure in each.failures]
    assert not desk.flaws and not failures, f"{desk.flaws} {failures[:3]}"
    polls = sum(each.polls for each in crowds.values())
    print(f"web, seed {seed}: {rounds} publishes, {crowd} followers through each cache, {polls} polls; until all had a state {max(times):.1f} s at most; "
          f"meanwhile requests for the folder: through nginx {most['nginx']} at most, through varnish {most['varnish']}")
    # A cache asks once in two seconds, and a receiver for an object or two.
    assert max(most.values()) <= 10 + 2 * max(times), "caches keep nobody away"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--crowd", type=int, default=1000)
    parser.add_argument("--optional", action="store_true", help="be content where the servers are not there")
    arguments = parser.parse_args()
    missing = [engine for engine in ENGINES if not shutil.which(engine, path=os.environ["PATH"] + ":/usr/sbin")]
    if missing and arguments.optional:
        return print(f"web: skipped, without {' and '.join(missing)}")
    os.environ["PATH"] += ":/usr/sbin"
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    with tempfile.TemporaryDirectory() as folder:
        follow(str(Path(arguments.program).resolve()), Path(folder), arguments.seed, arguments.rounds, arguments.crowd)


if __name__ == "__main__":
    sys.exit(main())
