"""Mounts what a disk may hold after a power cut, and says what is wrong with it."""
import os
import re
import subprocess
import time

import scenarios


class Box:
    """A mounted disk, and the environment in which the commands of a scenario run."""

    def __init__(self, work, job, program):
        self.disk = os.path.join(work, "disk")
        self.values = environment(work, job, program)

    def path(self, name):
        return os.path.join(self.disk, name)

    def program(self, *arguments):
        """Raises ValueError if the program exits with something else than 0."""
        return self.shell('"$S" "$@"', *arguments)

    def shell(self, command, *arguments, done=()):
        try:
            result = subprocess.run(["sh", "-c", command, "sh", *arguments], env={**os.environ, **self.values}, text=True,
                                    capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
        except subprocess.TimeoutExpired as error:
            raise ValueError(f"`{command}` is not done after a minute") from error
        if result.returncode not in (0, *done):
            raise ValueError(f"`{' '.join([command, *arguments])}` exited with {result.returncode}: {result.stderr.strip()[-400:]}")
        return result.stdout

    def names(self):
        """The names of all that is there, without what differs from run to run."""
        found = set()
        for folder, folders, files in os.walk(self.disk):
            for name in folders + files:
                found.add(plain(os.path.relpath(os.path.join(folder, name), self.disk)))
        return found


def environment(work, job, program):
    disk = os.path.join(work, "disk")
    return {"S": program, "D": disk, "RUN": os.path.join(job, "run"), "STORES": os.path.join(work, "stores"), "HOME": disk,
            "TMPDIR": os.path.join(work, "tmp"), "XDG_STATE_HOME": f"{disk}/state", "XDG_CONFIG_HOME": f"{disk}/config"}


def plain(name):
    """A name without times, numbers and digests in it."""
    name = re.sub(r"[0-9A-F]{8}-[0-9A-F-]{27}", "UUID", name)
    name = re.sub(r"\d{8}T\d{6}(-\d+)?", "TIME", name)
    name = re.sub(r"\b\d+-[0-9a-f]{8}\b", "GENERATION", name)
    name = re.sub(r"\b[0-9a-f]{64}$", "DIGEST", name)
    name = re.sub(r"(?<=/)\.s[0-9a-f]{2}[0-9A-F]{2}$", "SOCKET", name)
    return re.sub(r"(?<=turns/)\w+", "TURN", name)


def moments(entries):
    """For each entry of a log, how many steps had been begun, and how many acknowledged."""
    begun = acknowledged = 0
    for entry in entries:
        if entry.text.startswith("begin-"):
            begun = int(entry.text[6:])
        elif entry.text.isdigit():
            acknowledged = int(entry.text)
        yield begun, acknowledged


def examine(scenario, box, image, kind, begun, acknowledged, belongs):
    """Mounts an image, looks at it, repeats what was not acknowledged, and looks again.

    Returns what is wrong; None if nothing is."""
    flags = ["-o", "loop,nouuid" if kind == "xfs" else "loop"]
    mounted = subprocess.run(["mount", "-t", kind, *flags, image, box.disk], capture_output=True, text=True)
    if mounted.returncode:
        return f"no disk that can be mounted: {mounted.stderr.strip()}"
    try:
        found = scenario.problem(box, begun, acknowledged)
        if found:
            return found
        for index, step in enumerate(scenario.steps[acknowledged:], acknowledged + 1):
            if step.before:
                box.shell(step.before)
            box.shell(step.command, done=step.done if index == begun else ())
        last = len(scenario.steps)
        found = scenario.problem(box, last, last)
        if not found:
            box.shell(scenario.sweep or scenario.steps[-1].command, done=scenario.steps[-1].done)
            found = scenario.problem(box, last, last)
        if found:
            return f"after all was done again: {found}"
        left = sorted(name for name in box.names() - belongs - set(scenario.stays) if not name.startswith("lost+found"))
        return f"leaves {', '.join(left)}" if left else None
    except ValueError as error:
        return str(error)
    finally:
        # A receiver whose sender has just been ended may still be at its own end.
        for _ in range(100):
            if subprocess.run(["umount", box.disk], stderr=subprocess.DEVNULL).returncode == 0:
                break
            time.sleep(0.1)
        else:
            raise RuntimeError(f"{box.disk} is in use")


def by_name(name):
    return next(scenario for scenario in scenarios.SCENARIOS if scenario.name == name)
