#!/usr/bin/env python3
"""Lets the system calls of the built program fail, at each place in the program that makes one, and judges what becomes of it.

A site is a call and the functions that lead to it. In each scenario (those of the power cuts), the first and the last call of each site
fails, in each way in which it may, once or from then on; or the program is killed there. Or it has only so many descriptors, so much memory,
a disk with so much room, or the clock jumps by years. After each run: the exit status, the message, no hang; the store is old or new, whole; the
same command, run again, succeeds, and nothing is left behind.
"""
import argparse
import collections
import os
import random
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "PowerCuts"))
import judge  # noqa: E402
import scenarios  # noqa: E402
import stores  # noqa: E402

LONGEST = 60  # seconds that a command may take
# What these calls may fail with [their manual pages]. A call that is made, and fails then, is one whose answer is lost, as on a network.
CHANGES = "eio enospc edquot eio-after"
WAYS = {
    **dict.fromkeys(("rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "mkdir", "mkdirat"), CHANGES),
    **dict.fromkeys(("unlink", "unlinkat", "rmdir", "remove"), "eio eio-after"),
    **dict.fromkeys(("write", "pwrite"), "eio enospc edquot eintr short"),
    **dict.fromkeys(("writev", "pwritev", "sendfile", "copy_file_range"), "eio enospc"),
    **dict.fromkeys(("send", "sendto", "sendmsg"), "econnreset eintr"),
    **dict.fromkeys(("read", "pread"), "eio eintr short"),
    **dict.fromkeys(("recv", "recvfrom", "recvmsg"), "econnreset eintr"),
    **dict.fromkeys(("fsync", "fdatasync", "syncfs"), "eio enospc"),
    **dict.fromkeys(("ftruncate", "truncate", "fallocate"), "eio enospc"),
    **dict.fromkeys(("open", "mkstemp", "mkostemp", "mkdtemp"), "eio enospc emfile erofs"),
    "open-read": "eio emfile enomem",
    **dict.fromkeys(("stat", "lstat", "fstatat", "readdir", "fgetxattr"), "eio"),
    **dict.fromkeys(("fchmod", "fchmodat", "chmod", "fchown", "chown", "futimens", "utimensat", "fsetxattr"), "eio eperm"),
    **dict.fromkeys(("flock", "lock"), "enolck"),  # neither waits
    **dict.fromkeys(("fdopendir", "mmap"), "enomem"),
    **dict.fromkeys(("socket", "pipe2", "dup", "epoll_create1", "inotify_init1"), "emfile"),
    "inotify_add_watch": "enospc", "connect": "econnreset", "accept4": "emfile", "shutdown": "econnreset",
}
# What a process has at most; with less it cannot be loaded.
DESCRIPTORS = range(4, 61)
# Seconds by which the clock jumps, and the look at it from which on it does.
JUMPS = [f"{sign}{years * 31_557_600}@{look}" for sign in ("", "-") for years in (3, 30) for look in (1, 2, 5, 20)]
# Limits of addresses and of data, in KiB: too few for the loader, for threads, for a store, and just enough.
MEMORY = [f"-{which} {kib}" for which, least, most in (("v", 70_000, 700_000), ("d", 1_000, 400_000)) for kib in range(least, most, 15_000)]
# What a disk is short of: inodes, room in KiB, as much until something is removed some ms after the start, all that is written.
DISK = ([f"nr_inodes {n}" for n in range(16)] + [f"size {kib}" for kib in range(0, 400, 8)]
        + [f"size {kib} {ms}" for kib in range(0, 100, 20) for ms in (10, 30, 60, 100, 200)] + ["ro"])
KINDS = ("calls", "descriptors", "clock", "memory", "disk")
Call = collections.namedtuple("Call", "site name path")
Fault = collections.namedtuple("Fault", "role site name path at way")


class Stage:
    """A scenario in a folder, in which it is run from each of its steps on."""

    def __init__(self, work, number, program, shim, scenario):
        self.folder = os.path.join(work, f"{number:02}-{scenario.name}")
        for name in ("disk", "tmp", "job/run"):
            os.makedirs(os.path.join(self.folder, name), 0o700)
        os.symlink(os.path.join(work, "stores"), os.path.join(self.folder, "stores"))
        self.scenario, self.shim, self.program = scenario, shim, program
        self.box = judge.Box(self.folder, os.path.join(self.folder, "job"), program)
        # Faults come in one of the processes that a command starts.
        self.wrapper = os.path.join(self.folder, "program")
        with open(self.wrapper, "w") as file:
            file.write('#!/bin/sh\nif test "$1" = "$FAULT_ROLE"; then export LD_PRELOAD="$FAULT_SHIM"; ${FAULT_LIMIT:+ulimit $FAULT_LIMIT}; '
                       'else unset LD_PRELOAD; fi\n'
                       f'exec setarch -R {shlex.quote(program)} "$@"\n')
        os.chmod(self.wrapper, 0o700)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def save(self, name):
        shutil.rmtree(self.path(name), ignore_errors=True)
        os.mkdir(self.path(name))
        for folder in ("disk", "job", "tmp"):
            subprocess.run(["cp", "-a", self.path(folder), self.path(name)], check=True)

    def bring_back(self, name):
        unmount(self.path("disk"))
        for folder in ("disk", "job", "tmp"):
            shutil.rmtree(self.path(folder))
            subprocess.run(["cp", "-a", self.path(name, folder), self.folder], check=True)

    def shorten(self, what, amount=0, ms=None):
        """Puts the disk on a file system of its own that has so much left, for ever or for some ms."""
        disk, whole = self.path("disk"), self.path("whole")
        os.rename(disk, whole)
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=700", "room", disk], check=True)
        subprocess.run(["cp", "-a", whole + "/.", disk], check=True)
        shutil.rmtree(whole)
        room = os.statvfs(disk)
        if what == "nr_inodes":
            amount = room.f_files - room.f_ffree + int(amount)
        elif what == "size":
            amount = max((room.f_blocks - room.f_bfree) * room.f_frsize + int(amount) * 1024, 4096)  # 0: no limit
        subprocess.run(["mount", "-o", f"remount,{what}" + (f"={amount}" if amount else ""), disk], check=True)
        if ms:
            threading.Timer(int(ms) / 1000, self.widen).start()

    def widen(self):
        subprocess.run(["mount", "-o", "remount,rw,size=50%,nr_inodes=100000", self.path("disk")], stderr=subprocess.DEVNULL)

    def names(self):
        """The names of all that is there, without what differs from run to run."""
        found = self.box.names()
        for folder, folders, files in os.walk(self.path("tmp")):
            found |= {judge.plain(os.path.join("tmp", os.path.relpath(os.path.join(folder, name), self.path("tmp")))) for name in folders + files}
        return found

    def age_sockets(self):
        """A socket that a listener did not come to name is removed once it is a minute old: these are."""
        for name in os.listdir(self.path("tmp")):
            path = os.path.join(self.path("tmp"), name)
            if name.startswith(".s") and stat.S_ISSOCK(os.lstat(path).st_mode):
                os.utime(path, (0, 0))

    def run(self, command, **environment):
        """Returns the exit status, None for one that hangs, and what was said."""
        # A process that waits for one that has failed goes with the shell.
        said = open(self.path("said"), "w+", errors="replace")
        shell = subprocess.Popen(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True,
                                 env={**os.environ, **self.box.values, "S": self.wrapper, "FAULT_SHIM": self.shim, **environment})
        try:
            shell.wait(timeout=LONGEST)
            said.seek(0)
            words = said.read()
            if os.path.exists(self.path("tmp/told")):
                with open(self.path("tmp/told"), errors="replace") as file:
                    words += file.read()
            return shell.returncode, words
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            try:
                os.killpg(shell.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            shell.wait()
            said.close()

    def calls(self, command, role):
        """The calls of one of the processes, in their order."""
        log = self.path("calls")
        status, words = self.run(command, FAULT_ROLE=role, SHIP_STORE_FAULT_LOG=log, SHIP_STORE_FAULT_SITE="0", SHIP_STORE_FAULT_ONLY="all",
                                 SHIP_STORE_FAULT_PROGRAM=os.path.basename(self.program))
        if status != 0:
            raise ValueError(f"{self.scenario.name}: `{command}` exited with {status} without a fault: {brief(words)}")
        found = []
        if os.path.exists(log):
            with open(log, errors="replace") as file:
                for line in file:
                    _, site, name, path = (line.rstrip("\n").split(" ", 3) + [""])[:4]
                    found.append(Call(site, name, path))
            os.unlink(log)
        return found


def brief(words):
    """What was said of errors, and last."""
    errors = [line[:300] for line in words.splitlines() if "error: " in line]
    return " / ".join([*errors, words[-300:]])


def wants(role):
    """What one process may lack."""
    for kind, values in (("descriptors", DESCRIPTORS), ("clock", JUMPS), ("memory", MEMORY)):
        for value in values:
            yield Fault(role, "", kind, "", str(value), kind)


def faults(stage, command, role, names):
    """All that may befall the calls of these names in one process."""
    of_site = collections.defaultdict(list)
    for call in stage.calls(command, role):
        # What the loader and the runtime look for elsewhere is not the program's.
        if call.name in names and (stage.folder in call.path or not call.path.startswith("/")):
            of_site[call.site, call.name].append(call)
    for (site, name), calls in of_site.items():
        for at in sorted({1, len(calls)}):
            for way in WAYS[name].split() + ["kill"]:
                yield Fault(role, site, name, calls[at - 1].path, str(at), way)
        for way in WAYS[name].split()[:2]:
            if way != "eintr":
                yield Fault(role, site, name, calls[0].path, "1+", way)


def environment(stage, fault):
    """With which a command meets a fault."""
    way, _, when = fault.way.partition("-")
    if way == "descriptors":
        special = {"FAULT_LIMIT": f"-n {fault.at}"}
    elif way == "memory":
        special = {"FAULT_LIMIT": fault.at}
    elif way == "disk":
        special = {}
    elif way == "clock":
        special = {"SHIP_STORE_FAULT_CLOCK": fault.at}
    else:
        special = {"SHIP_STORE_FAULT_SITE": fault.site, "SHIP_STORE_FAULT_AT": fault.at, "SHIP_STORE_FAULT_ACTION": way,
                   "SHIP_STORE_FAULT_WHEN": when, "SHIP_STORE_FAULT_ONLY": "all"}
    return {"FAULT_ROLE": fault.role, "SHIP_STORE_FAULT_PROGRAM": os.path.basename(stage.program), **special}


def judged(stage, index, fault, clean):
    """Runs one step with one fault. Returns what is wrong, or None."""
    scenario, step = stage.scenario, stage.scenario.steps[index]
    way = fault.way
    if way == "disk":
        stage.shorten(*fault.at.split())
    status, words = stage.run(step.command, **environment(stage, fault))
    if way == "disk":
        stage.widen()
    if status is None:
        return f"it hangs: not done after {LONGEST} s"
    # Who gets no memory dies, as if somebody had killed it.
    if way not in ("kill", "memory"):
        if status < 0 or status > 128:
            return f"it died: {status}: {brief(words)}"
        if "Fatal error" in words or "BrokenInvariant" in words or status == 70:
            return f"an internal error, {status}: {brief(words)}"
        # What follows goes on, and warns.
        if status != 0 and "error: " not in words and "warning: " not in words and "not installed: " not in words:
            return f"{status} without a word: {brief(words)}"
    try:
        problem = scenario.problem(stage.box, index + 1, index + 1 if status == 0 else index)
    except ValueError as error:
        # What is published by a clock that is years behind has expired by ours.
        problem = None if way == "clock" and "has expired" in str(error) else str(error)
    if problem:
        return f"{status}: {problem}; {brief(words)}"
    if way in ("short", "eintr"):
        if status != 0:
            return f"{status} for what can be tried again: {brief(words)}"
    # What could not be removed goes the next time.
    if status != 0 or way == "kill" or stage.names() - clean:
        stage.age_sockets()
        if step.before:
            stage.run(step.before)
        status, words = stage.run(step.command)
        if status not in (0, *step.done):
            return f"once more, it exits with {status}: {brief(words)}"
        try:
            problem = scenario.problem(stage.box, index + 1, index + 1)
        except ValueError as error:
            problem = str(error)
        if problem:
            return f"once more: {problem}"
    left = stage.names() - clean - set(scenario.stays)
    return f"left behind: {', '.join(sorted(left))[:300]}" if left else None


def run_scenario(work, number, program, shim, scenario, chance, options, report):
    """Returns how many faults there were, and how many were bad."""
    stage = Stage(work, number, program, shim, scenario)
    total = bad = 0
    if scenario.setup:
        stage.run(scenario.setup)
    for index, step in enumerate(scenario.steps):
        if step.before:
            stage.run(step.before)
        stage.save("before")
        roles = sorted(set(re.findall(r"\$S (\w+)", step.command)))
        wanted = []
        for role in roles:
            stage.bring_back("before")
            if "calls" in options.kinds:
                wanted += faults(stage, step.command, role, options.calls)
            wanted += [fault for fault in wants(role) if fault.way in options.kinds]
        if "disk" in options.kinds:
            wanted += [Fault("", "", "disk", "", at, "disk") for at in DISK]
        clean = stage.names()
        if step.before:
            stage.run(step.before)
        stage.run(step.command)
        clean |= stage.names()
        most = min(len(wanted), options.most or len(wanted))
        for fault in chance.sample(wanted, most):
            stage.bring_back("before")
            problem = judged(stage, index, fault, clean)
            total += 1
            if problem:
                bad += 1
                report(scenario, index, fault, problem.replace(stage.folder + "/", ""))
        stage.bring_back("before")
        stage.run(step.command)
    shutil.rmtree(stage.folder)
    return total, bad


def unmount(folder):
    if os.path.ismount(folder):
        subprocess.run(["umount", "--lazy", folder], check=True)


def may_mount():
    try:
        return subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "room", "/tmp"], stderr=subprocess.DEVNULL).returncode == 0
    except FileNotFoundError:
        return False


def commas(text):
    return set(text.split(","))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--most", type=int, help="faults of each step, drawn from all by the seed")
    parser.add_argument("--scenarios", type=commas, default={s.name for s in scenarios.SCENARIOS})
    parser.add_argument("--calls", type=commas, default=WAYS, help="names of calls; all if it is not given")
    parser.add_argument("--kinds", type=commas, default=KINDS, help=", ".join(KINDS))
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if "disk" in options.kinds:
        if not may_mount():
            print("faults: no disks that are short of room: they may not be mounted here")
            options.kinds = set(options.kinds) - {"disk"}
        elif "FAULTS_MOUNTS" not in os.environ:
            # Other processes must not keep what is mounted here.
            os.environ["FAULTS_MOUNTS"] = "own"
            os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
    program = os.path.abspath(options.program)
    work = tempfile.mkdtemp(prefix="faults-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    started = time.monotonic()

    def report(scenario, index, fault, problem):
        print(f"faults: SEED={options.seed} {scenario.name}, step {index + 1}, {fault.role}: {fault.name} {fault.path} ({fault.site}, {fault.at}) "
              f"{fault.way}: {problem}".replace(work, ""), flush=True)

    try:
        shim = os.path.join(work, "faultshim.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", shim, os.path.join(HERE, "faultshim.c"), "-ldl"], check=True)
        os.mkdir(os.path.join(work, "stores"))
        stores.make_with_shipments(os.path.join(work, "stores"), program)
        print(f"faults: SEED={options.seed}", flush=True)
        with ThreadPoolExecutor(options.processes) as pool:
            jobs = [pool.submit(run_scenario, work, number, program, shim, scenario, random.Random(f"{options.seed} {scenario.name}"),
                                options, report)
                    for number, scenario in enumerate(scenarios.SCENARIOS) if scenario.name in options.scenarios]
            results = [job.result() for job in jobs]
    finally:
        for folder in os.listdir(work):
            unmount(os.path.join(work, folder, "disk"))
        shutil.rmtree(work, ignore_errors=True)
    total, bad = (sum(column) for column in zip(*results))
    print(f"faults: {total} faults, {bad} bad, in {(time.monotonic() - started) / 60:.1f} minutes, SEED={options.seed}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
