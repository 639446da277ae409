"""What the codec costs in time on one core, as `codec-bench` (in `codec/`) measures it."""
import json
import os
import subprocess
import tempfile

import stores
from tables import as_multiple, table


def on_one_core():
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def measure(program, runs, paths, say):
    """Figures, store by store; and whether all could be measured."""
    results, any_failed = [], False
    with tempfile.TemporaryDirectory(prefix="codec-of-ship-store-") as folder:
        for name, path in stores.chosen(paths, folder):
            done = subprocess.run([program, str(runs), path], capture_output=True, text=True, preexec_fn=on_one_core,
                                  env={**os.environ, "TMPDIR": folder})
            if done.returncode:
                any_failed = True
                say(f"codec: {name}: FAILED: {done.stderr.strip()[-300:]}")
                continue
            figures = json.loads(done.stdout)[0]
            results.append({**figures, "store": name})
            columns = figures.get("columns")
            say(f"codec: {name}: " + (f"encoding {as_multiple(columns['encodeRatio'])}, "
                                      f"decoding {as_multiple(columns.get('decodeRatio'))}" if columns
                                      else f"no canonical form: {figures.get('flaw')}"))
    return results, any_failed


def by_rows(results):
    return [each for each in results if "columns" in each]


def worst(results, name):
    return max((each["columns"][name] for each in by_rows(results) if each["columns"].get(name)), default=None)


def total(results, ours, theirs):
    """Seconds of all stores together, as a multiple; of those alone that have both."""
    pairs = [(each["columns"][ours], each["columns"][theirs]) for each in by_rows(results) if each["columns"].get(theirs)]
    return sum(first for first, _ in pairs) / sum(second for _, second in pairs) if pairs else None


def milliseconds(seconds):
    return "–" if seconds is None else f"{seconds * 1000:.1f}"


def figures(results):
    rows = [["", "vacuumed", "canonical form ms", "encoding ms", "zlib -6 ms", "ratio", "decoding ms",
             "inflate + REINDEX ms", "ratio"]]
    for each in results:
        if not (columns := each.get("columns")):
            rows.append([each["store"], f"{each['bytes']:,}", "none", *["–"] * 6])
            continue
        rows.append([
            each["store"], f"{each['bytes']:,}", milliseconds(columns["canonicalize"]),
            milliseconds(columns["encode"]), milliseconds(columns["deflate"]), as_multiple(columns["encodeRatio"]),
            milliseconds(columns["decode"]), milliseconds(columns.get("inflateAndReindex")),
            as_multiple(columns.get("decodeRatio"))])
    rows.append(["**all**", "", "", "", "", as_multiple(total(results, "encode", "deflate")), "", "",
                 as_multiple(total(results, "decode", "inflateAndReindex"))])
    return table(rows)
