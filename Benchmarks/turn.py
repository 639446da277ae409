"""One turn: a contender ships one store, timed, and what it installed is compared with the source."""
import contextlib
import dataclasses
import os
import shutil
import signal
import socket
import string
import subprocess
import threading
import time

from relay import Relay


class Failed(Exception):
    """The contender did not do its work; the text says how."""


class Failures:
    """Says what has failed, and goes on with the next. `some`: whether something has."""

    def __init__(self, subject, say):
        self.subject, self.say, self.some = subject, say, False

    @contextlib.contextmanager
    def told(self, what):
        try:
            yield
        except Failed as failure:
            self.some = True
            self.say(f"{self.subject}: {what}: FAILED: {failure}")


@dataclasses.dataclass
class Side:
    """What one side used: CPU of all its processes, memory of its largest."""
    cpu: float  # seconds
    memory: float  # MiB


@dataclasses.dataclass
class Turn:
    wall: float  # seconds, from the sender's start until both sides have ended
    bytes: int  # over the wire, both ways
    sender: Side
    receiver: Side


class Process:
    """A side's process, in a session of its own, under GNU time: a child that is started from Python would not report
    less memory than Python itself has, since execve(2) keeps the high-water mark; a child of time starts from time's."""

    def __init__(self, argv, folder, environment):
        os.mkdir(folder)
        self.usage, self.log = os.path.join(folder, ".usage"), os.path.join(folder, ".log")
        environment = {**os.environ, "SCRATCH": folder, **environment}
        if argv[0] != "bash":  # which does it by itself
            argv = [string.Template(word).safe_substitute(environment) for word in argv]
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(
                [shutil.which("time"), "-q", "-f", "%U %S %M", "-o", self.usage, *argv], env=environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.child.wait()

    @property
    def pid(self):
        """Of the program itself."""
        with open(f"/proc/{self.child.pid}/task/{self.child.pid}/children") as file:
            return int(file.read().split()[0])

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)

    def end(self, deadline):
        # Popen.wait(timeout) polls, at 31, 63, 113 ms and so on, which is what short runs would then seem to take.
        late = threading.Event()
        timer = threading.Timer(max(0, deadline - time.monotonic()), lambda: (late.set(), self.kill()))
        timer.start()
        code = self.child.wait()
        timer.cancel()
        if late.is_set():
            raise Failed("took too long")
        if code:
            with open(self.log, errors="replace") as log:
                raise Failed(f"exit code {code}: {log.read()[-300:].strip()}")

    def side(self):
        with open(self.usage) as usage:
            user, system, kibibytes = map(float, usage.read().split())
        return Side(user + system, kibibytes / 1024)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def wait_for_listener(port, process):
    """Until somebody listens there; asked of the kernel, as a trial connection would be taken for the sender."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and process.child.poll() is None:
        with open("/proc/net/tcp") as table:
            rows = [line.split() for line in table.readlines()[1:]]
        if any(row[3] == "0A" and int(row[1].split(":")[1], 16) == port for row in rows):
            return
        time.sleep(0.005)
    process.end(time.monotonic())
    raise Failed("ended before it was sent anything")


def content_digest(path):
    """The same for stores with the same schema and rows, whatever their pages look like."""
    statements = [".sha3sum --schema", "PRAGMA user_version", "PRAGMA application_id"]
    result = subprocess.run(["sqlite3", "-readonly", "-batch", path, *statements], capture_output=True, text=True)
    if result.returncode or result.stderr or len(result.stdout.split()) < 3:
        raise Failed(f"cannot read {os.path.basename(path)}: {result.stderr.strip()[-200:]}")
    return result.stdout


def take_turn(contender, store, digest, folder, link, timeout):
    """Ships `store`, whose content has `digest`, within the empty `folder`, which is gone afterwards.

    Raises Failed where a side fails, takes longer than `timeout` seconds, or installs something else.
    """
    name = os.path.splitext(os.path.basename(store))[0]
    inbox, port = os.path.join(folder, "inbox"), free_port()
    os.makedirs(inbox)
    # Of what was shipped before nobody remembers anything.
    environment = {"STORE": store, "NAME": name, "INBOX": inbox, "XDG_STATE_HOME": os.path.join(folder, "state")}
    os.sync()  # what the turn before left to write is not this one's
    try:
        with contextlib.ExitStack() as stack:
            receiver = stack.enter_context(
                Process(contender.receive, os.path.join(folder, "receiver"), {**environment, "PORT": str(port)}))
            wait_for_listener(port, receiver)
            relay = stack.enter_context(Relay(port, link))
            began = time.monotonic()
            sender = stack.enter_context(
                Process(contender.send, os.path.join(folder, "sender"), {**environment, "PORT": str(relay.port)}))
            sender.end(began + timeout)
            receiver.end(began + timeout)
            turn = Turn(time.monotonic() - began, relay.bytes, sender.side(), receiver.side())
        installed = os.path.join(inbox, name + ".sqlite")
        if not os.path.exists(installed):
            raise Failed("nothing was installed")
        if content_digest(installed) != digest:
            raise Failed("the installed store differs from the source")
        return turn
    finally:
        shutil.rmtree(folder)
