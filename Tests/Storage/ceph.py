"""A Ceph cluster on loopback, without systemd and without anything outside of one folder: a monitor, three storage daemons that keep everything in memory,
and a gateway that speaks S3.

Source: docs.ceph.com/en/pacific/install/manual-deployment, and its pages on memstore and radosgw."""

import json, os, shutil, signal, socket, subprocess, time, uuid
from pathlib import Path

PROGRAMS = ("ceph", "ceph-authtool", "ceph-mon", "ceph-osd", "monmaptool", "radosgw", "radosgw-admin")
KEY, SECRET, OSDS, LIMIT = "key", "secret", 3, 120
CONF = """
[global]
fsid = {fsid}
mon host = {mon}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = cephx
keyring = {folder}/keyring
run dir = {folder}
admin socket = {folder}/$name.asok
log file = {folder}/$name.log
pid file = {folder}/$name.pid
crash dir = {folder}
osd pool default size = 3
osd pool default min size = 2
osd pool default pg num = 8
osd pool default pgp num = 8
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 2147483648
mon allow pool delete = true
mon warn on insecure global id reclaim allowed = false
mon data avail crit = 1
[mon]
mon data = {folder}/mon
[osd]
osd data = {folder}/osd$id
osd heartbeat grace = 6
[client.rgw]
rgw data = {folder}/rgw
rgw frontends = beast endpoint=127.0.0.1:{port} tcp_nodelay=1
rgw enable usage log = false
rgw dynamic resharding = false
"""


def missing() -> list[str]:
    return [each for each in PROGRAMS if not shutil.which(each)]


def free_port() -> int:
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return each.getsockname()[1]


class Ceph:
    key, secret = KEY, SECRET

    def __init__(self, folder: Path):
        self.folder, self.port, self.programs = folder, free_port(), {}
        self.conf, self.keyring = folder / "ceph.conf", folder / "keyring"
        self.mon = f"[v2:127.0.0.1:{free_port()},v1:127.0.0.1:{free_port()}]"

    def run(self, *words: object) -> str:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=LIMIT, env=os.environ | {"CEPH_CONF": str(self.conf)})
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    def ask(self, *words: object) -> str:
        return self.run("ceph", "-c", self.conf, "-k", self.keyring, *words)

    def start(self, name: str, *words: object) -> None:
        with open(self.folder / f"{name}.said", "ab") as said:
            self.programs[name] = subprocess.Popen([str(word) for word in (*words, "-c", self.conf, "-f")], stdout=said, stderr=said)

    def wait(self, until: object, what: str) -> None:
        deadline = time.monotonic() + LIMIT
        while not until():
            for name, program in self.programs.items():
                assert program.poll() is None or name.startswith("gone"), f"{name} ended: {(self.folder / f'{name}.said').read_text()[-2000:]}"
            assert time.monotonic() < deadline, f"after {LIMIT} s there is no {what}"
            time.sleep(0.2)

    def __enter__(self) -> "Ceph":
        try:
            self.begin()
        except BaseException:
            self.end()
            raise
        return self

    def begin(self) -> None:
        fsid = uuid.uuid4()
        self.conf.write_text(CONF.format(folder=self.folder, fsid=fsid, mon=self.mon, port=self.port))
        names = ["mon.", "client.admin", "client.rgw"] + [f"osd.{number}" for number in range(OSDS)]
        for number, name in enumerate(names):
            caps = [word for part in ("mon", "osd", "mgr") for word in ("--cap", part, "allow *")]
            self.run("ceph-authtool", *([] if number else ["--create-keyring"]), self.keyring, "--gen-key", "-n", name, *caps)
        self.run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", self.mon, self.folder / "monmap")
        self.run("ceph-mon", "-c", self.conf, "--mkfs", "-i", "a", "--monmap", self.folder / "monmap", "--keyring", self.keyring)
        self.start("mon", "ceph-mon", "-i", "a")
        for number in range(OSDS):
            made = uuid.uuid4()
            (self.folder / f"osd{number}").mkdir()
            self.ask("osd", "new", made)
            self.run("ceph-osd", "-c", self.conf, "-i", number, "--mkfs", "--osd-uuid", made)
            self.start(f"osd{number}", "ceph-osd", "-i", number)
        self.wait(lambda: json.loads(self.ask("osd", "stat", "--format", "json"))["num_up_osds"] == OSDS, "cluster")
        (self.folder / "rgw").mkdir()
        self.start("rgw", "radosgw", "-n", "client.rgw")
        self.wait(self.listens, "gateway")
        self.run("radosgw-admin", "-c", self.conf, "-n", "client.rgw", "user", "create", "--uid=t", "--display-name=t", f"--access-key={KEY}", f"--secret={SECRET}")

    def listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def kill_one(self, number: int) -> None:
        """A disk is gone for good, whatever is going on."""
        program = self.programs.pop(f"osd{number}")
        program.kill()
        program.wait()

    def end(self) -> None:
        for program in reversed(self.programs.values()):
            program.send_signal(signal.SIGTERM)
        for program in self.programs.values():
            try:
                program.wait(5)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()

    def __exit__(self, *_: object) -> None:
        self.end()
