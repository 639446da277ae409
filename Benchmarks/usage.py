"""What a running process has used so far."""
import contextlib
import os
import time

TICK = os.sysconf("SC_CLK_TCK")


def cpu(pid):
    """Seconds of the processor: its own, to the nanosecond, and those of its children that have ended, in ticks."""
    clock = ~pid << 3 | 2  # CPUCLOCK_SCHED of that process, as clock_getcpuclockid(3) makes it
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return time.clock_gettime(clock) + (int(fields[13]) + int(fields[14])) / TICK


def field(path, name):
    with open(path) as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name + ":"))


def resident(pid):
    """Bytes that are its own."""
    return field(f"/proc/{pid}/status", "RssAnon") * 1024


def peak(pid):
    """The most bytes that it has had in memory, those of files included."""
    return field(f"/proc/{pid}/status", "VmHWM") * 1024


def wakeups(pid):
    """How often each of its threads has waited for something, and gone on: by thread."""
    counts = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            counts[thread] = field(f"/proc/{pid}/task/{thread}/status", "voluntary_ctxt_switches")
    return counts


def written(pid):
    """Bytes that it has had written to disks, as the kernel counts them when it makes pages dirty."""
    return field(f"/proc/{pid}/io", "write_bytes")


def held(pid):
    """Bytes of memory that are its own, with files that lie in memory alone (memfd_create(2))."""
    files = 0
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{descriptor}"
        with contextlib.suppress(OSError):
            if os.readlink(path).startswith("/memfd:"):
                files += os.stat(path).st_blocks * 512
    return resident(pid) + files
