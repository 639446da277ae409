"""Reads the log of dm-log-writes, and makes of it what a disk may hold after a power cut.

Layout, little-endian: a super of magic, version, number of entries (8 bytes each) and sector size (4), in one sector; then for each entry a
sector of position, number of sectors, flags and length of the mark (8 bytes each; a mark's text follows in the same sector), and
after it the sectors written. Positions count sectors of that size. Source: Linux, drivers/md/dm-log-writes.c.

The kernel logs a write when the flush after it has been done, and a FUA write when it has been done. So all before a flush or a FUA in
the log is on the medium once that is done, and of the plain writes between two flushes any may be, as far as the log has come.
"""
import os
import random
import struct
import subprocess
from collections import namedtuple

FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
MAGIC, VERSION = 0x6A736677736872, 1
BLOCK = 4096  # what a disk writes as a whole, at most

Entry = namedtuple("Entry", "index flags position offset size text")  # bytes; the offset is that in the log
Cut = namedtuple("Cut", "entry kind")  # kind 0: what must be there; others: a seed of what else is


def entries(path):
    found = []
    with open(path, "rb") as log:
        magic, version, count, sector = struct.unpack("<QQQI", log.read(28))
        if (magic, version) != (MAGIC, VERSION):
            raise ValueError(f"{path} is no log of dm-log-writes")
        at = sector
        for index in range(count):
            log.seek(at)
            position, sectors, flags, length = struct.unpack("<QQQQ", log.read(32))
            text = log.read(length).decode() if flags & MARK else ""
            at += sector
            size = 0 if flags & (DISCARD | MARK) else sectors * sector
            found.append(Entry(index, flags, position * sector, at, size, text))
            at += size
    return found


class Disk:
    """The medium as the log goes on: what is on it for certain, and what may be."""

    def __init__(self, base, log, image):
        self.image = image
        subprocess.run(["cp", "--sparse=always", base, image], check=True)
        self.entries = entries(log)
        self.log = open(log, "rb")
        self.medium = os.open(image, os.O_RDWR)
        self.at = 0
        self.loose = []  # plain writes since the last flush, which the next one makes certain

    def close(self):
        os.close(self.medium)
        self.log.close()

    def _write(self, descriptor, entry, skip=0, size=None):
        os.pwrite(descriptor, os.pread(self.log.fileno(), size or entry.size, entry.offset + skip), entry.position + skip)

    def advance(self, end):
        """Goes on to the end of the entry before `end`."""
        while self.at < end:
            entry = self.entries[self.at]
            if entry.flags & FLUSH:
                for write in self.loose:
                    self._write(self.medium, write)
                self.loose = []
            if entry.size and entry.flags & (FUA | FLUSH):
                # A later write to the same place wins over an earlier one that is loose still.
                self.loose = [w for w in self.loose if w.position + w.size <= entry.position
                              or entry.position + entry.size <= w.position]
                self._write(self.medium, entry)
            elif entry.size:
                self.loose.append(entry)
            self.at += 1

    def image_at(self, cut, path):
        """Writes to `path` what the disk may hold at a cut."""
        self.advance(cut.entry + 1)
        subprocess.run(["cp", "--sparse=always", "--remove-destination", self.image, path], check=True)
        if not cut.kind:
            return
        chance = random.Random(f"{cut.entry} {cut.kind}")
        kept = chance.choice([0.1, 0.5, 0.9])
        torn = chance.random() < 0.5
        image = os.open(path, os.O_WRONLY)
        for write in self.loose:
            step = BLOCK if torn else write.size
            for skip in range(0, write.size, step):
                if chance.random() < kept:
                    self._write(image, write, skip, min(step, write.size - skip))
        os.close(image)


def cuts(log, count, seed):
    """All cuts at flushes, FUAs and marks after the mark `0`, and seeded ones between; `count` of them at most, the marks always."""
    found = entries(log)
    start = next(e.index for e in found if e.text == "0")
    marks = [Cut(e.index, 0) for e in found if e.text]
    certain, between, dirty, loose = [], [], False, False
    chance = random.Random(f"{seed} cuts")
    for entry in found[start:]:
        dirty |= entry.size > 0
        loose |= entry.size > 0 and not entry.flags & (FLUSH | FUA)
        if entry.flags & (FLUSH | FUA) and dirty:
            certain.append(Cut(entry.index, 0))
            dirty = False
        if entry.flags & FLUSH and loose:  # right before it, when all writes are under way
            between += [Cut(entry.index - 1, chance.randrange(1, 1 << 30)) for _ in range(3)]
            loose = False
        elif loose and entry.size:
            between.append(Cut(entry.index, chance.randrange(1, 1 << 30)))
    rest = certain + between
    chance.shuffle(rest)
    return sorted(set(marks + rest[:max(0, count - len(marks))]))
