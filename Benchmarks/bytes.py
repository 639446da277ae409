"""What a shipment weighs, beside what other compressors make of the vacuumed file."""
import concurrent.futures
import dataclasses
import os
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import urllib.parse
import zlib

import frames
import stores
from tables import as_multiple, table
from turn import Failed, content_digest

COMPRESSORS = {
    "zstd -19 --long": [["zstd", "-19", "--long", "-T1", "-q", "-c"]],
    "xz -9e": [["xz", "-9e", "-T1", "-c"]],
    # The smaller one counts: a larger window is not always better, and takes a header of its own.
    "brotli -q 11": [["brotli", "-q", "11", "-w", "24", "-c"], ["brotli", "-q", "11", "--large_window=28", "-c"]],
}
ZLIB, ZSTD, XZ = "zlib -9", "zstd -19 --long", "xz -9e"


@dataclasses.dataclass
class Weighed:
    """Of one store; all sizes in bytes."""
    name: str
    is_core_data: bool
    vacuumed: int
    others: dict  # of the vacuumed file, by compressor
    shipped: int  # the whole stream, frames and manifest included
    plain: int  # the same with --plain
    by_rows: bool
    is_canonical: bool

    def to_zlib(self, size):
        return size / self.others[ZLIB]


def vacuumed(store, target):
    """- Returns: whether Core Data made it."""
    connection = sqlite3.connect(f"file:{urllib.parse.quote(store)}?mode=ro", uri=True)
    try:
        connection.execute("VACUUM INTO ?", (target,))
        return bool(connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'Z_METADATA'").fetchone()[0])
    except sqlite3.Error as error:
        raise Failed(f"cannot be vacuumed: {error}") from None
    finally:
        connection.close()


def with_zlib(path):
    compressor, size = zlib.compressobj(9), 0
    with open(path, "rb") as file:
        while data := file.read(1 << 20):
            size += len(compressor.compress(data))
    return size + len(compressor.flush())


def with_program(argv, path):
    return len(subprocess.run([*argv, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout)


def with_all(path):
    """Sizes by compressor, as many at a time as there are cores."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        sizes = {name: [pool.submit(with_program, argv, path) for argv in ways] for name, ways in COMPRESSORS.items()}
        sizes[ZLIB] = [pool.submit(with_zlib, path)]
        return {name: min(size.result() for size in ways) for name, ways in sizes.items()}


def run(*argv):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"{os.path.basename(argv[0])} {argv[1]}: exit code {done.returncode}: {done.stderr.strip()[-300:]}")


def shipped(program, store, content, folder, *options):
    """Ships a store to a file, and installs it from there. Gives the path of both; raises Failed where they differ."""
    name = os.path.basename(store)[:-7]
    shipment, inbox = os.path.join(folder, "store.shipment"), os.path.join(folder, "inbox")
    # Without the external files, which nothing but a copy can be made of.
    run(program, "send", store, "--to", shipment, "--name", name, "--allow-missing-external", "--quiet", *options)
    run(program, "receive", "--into", inbox, "--from", shipment, "--quiet")
    installed = os.path.join(inbox, name + ".sqlite")
    if content_digest(installed) != content:
        raise Failed("the installed store differs from the source")
    return shipment, installed


def is_canonical(store):
    """Whether a store is in canonical form: VACUUM leaves its version in the header (Protocol/CANONICAL.md 3)."""
    with open(store, "rb") as file:
        return file.read(100)[96:] == bytes(4)


def weigh(program, name, store, folder):
    copy = os.path.join(folder, "vacuumed.sqlite")
    is_core_data = vacuumed(store, copy)
    content = content_digest(copy)
    sizes = []
    for number, options in enumerate(([], ["--plain"])):
        place = os.path.join(folder, str(number))
        os.mkdir(place)
        shipment, installed = shipped(program, store, content, place, *options)
        sizes.append(os.path.getsize(shipment))
        if not options:
            by_rows, canonical = frames.goes_by_rows(shipment), is_canonical(installed)
    return Weighed(name, is_core_data, os.path.getsize(copy), with_all(copy), *sizes, by_rows, canonical)


def measure(program, paths, say):
    """What was weighed, store by store, and whether all stores could be."""
    results, any_failed = [], False
    with tempfile.TemporaryDirectory(prefix="bytes-of-ship-store-") as folder:
        for name, path in stores.chosen(paths, folder):
            place = os.path.join(folder, "one")
            os.mkdir(place)
            try:
                results.append(weigh(program, name, path, place))
                say(f"bytes: {name}: {results[-1].shipped:,}, "
                    f"{as_multiple(results[-1].to_zlib(results[-1].shipped), 3)} of zlib -9")
            except (Failed, frames.NotAShipment) as failure:
                any_failed = True
                say(f"bytes: {name}: FAILED: {failure}")
            finally:
                shutil.rmtree(place)
    return results, any_failed


def total(results):
    """Of all stores together, x of zlib -9."""
    return sum(each.shipped for each in results) / sum(each.others[ZLIB] for each in results)


def mean(results, size=lambda each: each.shipped):
    """The geometric mean of what each store is, x of zlib -9; None without stores."""
    return statistics.geometric_mean(each.to_zlib(size(each)) for each in results) if results else None


def figures(results):
    others = list(COMPRESSORS)
    rows = [["", "vacuumed", "zlib -9", "ship-store", "to zlib -9", "--plain", *others, "goes"]]
    for each in results:
        went = "by rows" if each.by_rows else "as it is" if each.is_canonical else "as it is: no canonical form"
        rows.append([
            each.name + (" (Core Data)" if each.is_core_data else ""), f"{each.vacuumed:,}", f"{each.others[ZLIB]:,}",
            f"{each.shipped:,}", as_multiple(each.to_zlib(each.shipped), 3), as_multiple(each.to_zlib(each.plain), 3),
            *(as_multiple(each.to_zlib(each.others[name]), 3) for name in others), went])
    if not results:
        return table(rows)
    sizes = [lambda each: each.shipped, lambda each: each.plain,
             *(lambda each, name=name: each.others[name] for name in others)]
    zlib_all = sum(each.others[ZLIB] for each in results)
    rows.append(["**all**", f"{sum(each.vacuumed for each in results):,}", f"{zlib_all:,}",
                 f"{sum(each.shipped for each in results):,}",
                 *(as_multiple(sum(map(size, results)) / zlib_all, 3) for size in sizes), ""])
    core_data = [each for each in results if each.is_core_data]
    for name, some in ("geometric mean", results), ("the same, Core Data", core_data):
        if some:
            rows.append([f"**{name}**", "", "", "", *(as_multiple(mean(some, size), 3) for size in sizes), ""])
    by_rows, odd = sum(each.by_rows for each in results), sum(not each.is_canonical for each in results)
    return [*table(rows), "", f"{by_rows} of {len(results)} stores go by their rows; {odd} have no canonical form."]
