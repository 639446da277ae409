#!/usr/bin/env python3
"""Cuts the power of a disk under the program, at every flush and between, and examines what is left. See README.md."""
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import judge
import scenarios
import stores
import writelog

HERE = os.path.dirname(os.path.abspath(__file__))
KERNEL = "linux.uml"
# Type, options of the file system, size in MB, and how to make it.
DISKS = {
    "ext4": ("ext4", "data=ordered", 64, "mkfs.ext4 -q -F -E lazy_itable_init=0"),
    "writeback": ("ext4", "data=writeback", 64, "mkfs.ext4 -q -F -E lazy_itable_init=0"),
    "xfs": ("xfs", "defaults", 300, "mkfs.xfs -q"),
    "btrfs": ("btrfs", "defaults", 128, "mkfs.btrfs -q"),
}
JOBS_AT_ONCE = 7  # each has two of the 16 disks that User Mode Linux takes
LOG_SIZE = 1 << 30  # bytes, of a file with holes


class Job:
    """One run of a scenario on a file system, and the log of its writes."""

    def __init__(self, folder, scenario=None, disk=None, is_busy=False, omitted=""):
        self.folder = folder
        if scenario is None:
            with open(os.path.join(folder, "job.json")) as file:
                scenario, disk, is_busy, omitted = json.load(file)
        self.facts = [scenario, disk, is_busy, omitted]
        self.scenario, self.disk, self.is_busy, self.omitted = judge.by_name(scenario), disk, is_busy, omitted

    def __str__(self):
        return f"{self.scenario.name} on {self.disk}{' (busy)' if self.is_busy else ''}{self.omitted and ' without ' + self.omitted}"

    def path(self, name):
        return os.path.join(self.folder, name)

    def prepare(self, work, number, program, shim):
        """Writes what the guest reads: the disk, and the steps as a script."""
        kind, options, size, make = DISKS[self.disk]
        os.makedirs(self.path("run"))
        with open(self.path("job.json"), "w") as file:
            json.dump(self.facts, file)
        base = os.path.join(work, f"{self.disk}.base")
        if not os.path.exists(base):
            with open(base, "wb") as image:
                image.truncate(size << 20)
            subprocess.run([*make.split(), base], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(["cp", "--sparse=always", base, self.path("image")], check=True)
        with open(self.path("log"), "wb") as log:
            log.truncate(LOG_SIZE)
        with open(self.path("disk"), "w") as file:
            letters = [chr(ord("a") + 2 * number + n) for n in range(2)]
            file.write(f"disk=/dev/ubd{letters[0]} log=/dev/ubd{letters[1]} type={kind} options={options}\n")
        preload = f"LD_PRELOAD={shim} POWERCUT_SITES={self.path('sites')} POWERCUT_OMIT={self.omitted}" if shim else ""
        lines = [f"export {name}='{value}'" for name, value in judge.environment(work, self.folder, program).items()]
        lines += [f"( {self.scenario.setup or ':'} ) || echo setup >> {self.path('failed')}", "sync"]
        if self.is_busy:
            # What is not synced may reach the disk all the same, in any order.
            lines += ["echo 10 > /proc/sys/vm/dirty_writeback_centisecs", "echo 10 > /proc/sys/vm/dirty_expire_centisecs",
                      "while :; do echo x > $D/lost+found.noise; sync $D/lost+found.noise; sleep 0.03; done & noise=$!"]
        else:
            lines += ["echo 0 > /proc/sys/vm/dirty_writeback_centisecs", "noise="]
        lines += ["mark 0"]
        for index, step in enumerate(self.scenario.steps, 1):
            script = self.path(f"step{index}")
            with open(script, "w") as file:
                file.write(step.command)
            lines += [f"( {step.before or ':'} )", f"mark begin-{index}",
                      f"if {preload} timeout 60 sh {script}; then mark {index}; else echo {index} >> {self.path('failed')}; fi"]
        lines += ["test -z \"$noise\" || kill $noise", "mark end", f"cd $D; find . -mindepth 1 > {self.path('names')}; cd /"]
        with open(self.path("steps"), "w") as file:
            file.write("\n".join(lines) + "\n")

    def failure(self):
        """What went wrong without any cut; None if nothing did."""
        try:
            with open(self.path("failed")) as file:
                return f"did not succeed undisturbed: step {' '.join(file.read().split())}"
        except FileNotFoundError:
            return None if os.path.exists(self.path("names")) else "was not run: see guest.log"

    def belongs(self):
        with open(self.path("names")) as file:
            return {judge.plain(line.strip()[2:]) for line in file}


def run_jobs(work, jobs, program, shim):
    """Runs the jobs in a User Mode Linux, one after the other."""
    shutil.rmtree(os.path.join(work, "tmp"), ignore_errors=True)
    os.mkdir(os.path.join(work, "tmp"), 0o700)
    for number, job in enumerate(jobs):
        job.prepare(work, number, program, shim)
    disks = [f"ubd{2 * n + m}={job.path(name)}" for n, job in enumerate(jobs) for m, name in enumerate(("image", "log"))]
    with open(os.path.join(work, "kernel.log"), "w") as log:
        machine = subprocess.Popen([KERNEL, "mem=512M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", f"init={HERE}/guest.sh",
                        f"POWERCUT={work}", "con=null", "con0=null,fd:1", *disks], stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=log, start_new_session=True, env={**os.environ, "TMPDIR": work})
        try:
            machine.wait(len(jobs) * 90)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if machine.poll() is None:
                os.killpg(machine.pid, signal.SIGKILL)  # it is several processes
                machine.wait()


def examine(work, job, program, cuts, report):
    """Examines the images of a job. Returns how many there were, and how many of them were bad."""
    bad = 0
    kind = DISKS[job.disk][0]
    disk = writelog.Disk(os.path.join(work, f"{job.disk}.base"), job.path("log"), os.path.join(work, "medium"))
    moments = list(judge.moments(disk.entries))
    box, belongs = judge.Box(work, job.folder, program), job.belongs()
    image = os.path.join(work, "image")
    for cut in cuts:
        disk.image_at(cut, image)
        begun, acknowledged = moments[cut.entry]
        problem = judge.examine(job.scenario, box, image, kind, begun, acknowledged, belongs)
        if problem:
            bad += 1
            report(job, cut, f"begun {begun}, acknowledged {acknowledged}: {problem}")
    disk.close()
    return len(cuts), bad


def impediment():
    if os.geteuid() != 0:
        return "only root may mount what a disk held"
    for tool in (KERNEL, "dmsetup", "insmod", "losetup", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs"):
        if not shutil.which(tool):
            return f"{tool} is missing"
    if subprocess.run(["losetup", "-f"], capture_output=True).returncode:
        return "there is no loop device"
    return None


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--images", type=int, default=40, help="of each scenario on each file system")
    parser.add_argument("--disks", default=",".join(DISKS))
    parser.add_argument("--scenarios", default=",".join(s.name for s in scenarios.SCENARIOS))
    parser.add_argument("--busy", choices=("any", "yes", "no"), default="any",
                        help="whether something else syncs the disk, and what is not synced is written early")
    parser.add_argument("--omit", metavar="SITE,...", help="leave out the syncs of each of these call sites in turn; `none`: of none")
    parser.add_argument("--sites", default=".", help="with --omit: the folder for the lists of the call sites")
    parser.add_argument("--again", metavar="JOB", help="the folder of a job that was kept")
    parser.add_argument("--cut", metavar="ENTRY.KIND", help="with --again: this cut alone")
    parser.add_argument("--optional", action="store_true", help="be content where it cannot run")
    return parser.parse_args()


def main():
    options = arguments()
    program = os.path.abspath(options.program)
    reason = impediment()
    if reason:
        print(f"powercut: skipped: {reason}")
        return 0 if options.optional else 69
    if "POWERCUT_MOUNTS" not in os.environ:
        # Other processes must not keep what is mounted here, and none of it stays when this one ends.
        os.environ["POWERCUT_MOUNTS"] = "own"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
    if options.again:
        job = Job(os.path.abspath(options.again))
        work = os.path.dirname(os.path.dirname(job.folder))
        cuts = ([writelog.Cut(*map(int, options.cut.split(".")))] if options.cut
                else writelog.cuts(job.path("log"), options.images, options.seed))
        count, bad = examine(work, job, program, cuts, lambda job, cut, problem: print(f"{job}: {cut.entry}.{cut.kind}: {problem}"))
        print(f"powercut: {count} images, {bad} bad")
        return 1 if bad else 0
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    work = tempfile.mkdtemp(prefix="powercut-", dir=place)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        for name in ("disk", "jobs", "stores"):
            os.mkdir(os.path.join(work, name))
        stores.make_with_shipments(os.path.join(work, "stores"), program)
        print(f"powercut: SEED={options.seed} IMAGES={options.images}, in {work}", flush=True)
        return run(work, options, program)
    except (KeyboardInterrupt, SystemExit):
        # Who stops it has nothing to look into.
        subprocess.run(["umount", "--lazy", os.path.join(work, "disk")], stderr=subprocess.DEVNULL)
        shutil.rmtree(work)
        raise


def run(work, options, program):
    shim = None
    if options.omit:
        shim = os.path.join(work, "omitsync.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim, os.path.join(HERE, "omitsync.c"), "-ldl"], check=True)
    chance = random.Random(options.seed)
    wanted = [(scenario, disk, options.busy == "yes" or options.busy == "any" and chance.random() < 0.5, omitted)
              for scenario in options.scenarios.split(",") for disk in options.disks.split(",")
              for omitted in (options.omit or "").split(",")]
    started = time.monotonic()
    total = failed = 0

    def report(job, cut, problem):
        print(f"powercut: SEED={options.seed} {job}: cut at {cut.entry}.{cut.kind}, {problem}\n"
              f"  again: Tests/PowerCuts/powercut.py {options.program} --again {job.folder} --cut {cut.entry}.{cut.kind}", flush=True)

    for first in range(0, len(wanted), JOBS_AT_ONCE):
        jobs = [Job(os.path.join(work, "jobs", f"{number:04}"), *facts)
                for number, facts in enumerate(wanted[first:first + JOBS_AT_ONCE], first)]
        run_jobs(work, jobs, program, shim)
        if options.optional and not any(os.path.exists(job.path("names")) for job in jobs):
            print(f"powercut: skipped: {KERNEL} does not run here, see {work}/kernel.log")
            return 0
        for job in jobs:
            problem = job.failure()
            if problem:
                failed += 1
                print(f"powercut: SEED={options.seed} {job} {problem}", flush=True)
                continue
            count, bad = examine(work, job, program, writelog.cuts(job.path("log"), options.images, options.seed), report)
            print(f"powercut: {job}: {count} images, {bad} bad", flush=True)
            total, failed = total + count, failed + bad
            if options.omit:
                shutil.copy(job.path("sites"), os.path.join(options.sites, f"{job.scenario.name}-{job.disk}"))
            if not bad:
                shutil.rmtree(job.folder)
    print(f"powercut: {total} images, {failed} bad, in {(time.monotonic() - started) / 60:.1f} minutes, SEED={options.seed}")
    if not failed:
        shutil.rmtree(work)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
