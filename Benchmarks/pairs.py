"""What it costs to ship one version of a store to somebody who holds the one before, beside what others make of the two files."""
import dataclasses
import os
import shutil
import statistics
from dataclasses import dataclass

import contenders
import frames
from bytes import vacuumed
from contenders import BY_ROWS
from deltas import PEERS, desk, differences
from tables import as_multiple, table
from turn import Failed


@dataclass
class Pair:
    """All in bytes."""
    name: str
    whole: int  # of the newer version, to somebody who holds nothing: its parts alone, without frames
    store: int  # of what goes of the store, without frames
    is_delta: bool
    session: int  # both ways, frames, greetings, manifest and receipt included
    others: dict  # by peer

    @property
    def best(self):
        return min(self.others.values())


def weigh(name, contender, old, new, folder):
    path, stream = os.path.join(folder, "store.sqlite"), os.path.join(folder, "stream")
    options = ["--allow-missing-external"]  # nothing but a copy can be made of external files
    with desk(contender, folder) as at:
        shutil.copyfile(new, path)
        at.ship(path, options=options, record=stream)
        _, whole = frames.store_as_sent(stream)
    with desk(contender, folder) as at:
        shutil.copyfile(old, path)
        at.ship(path, options=options)
        shutil.copyfile(new, path)  # the file stays the same one, as in an app
        session = at.ship(path, options=options, record=stream).bytes
        encoding, store = frames.store_as_sent(stream)
    older, newer = os.path.join(folder, "older.sqlite"), os.path.join(folder, "newer.sqlite")
    vacuumed(old, older)
    vacuumed(new, newer)
    return Pair(name, whole, store, encoding == frames.DELTA, session, differences(older, newer, folder))


def measure(program, paths, folder, say):
    """Of pairs of paths, the older version first. What was weighed, and whether something failed."""
    contender = contenders.ship_store(program, *BY_ROWS.split()[1:])
    # An app may have made its store anew.
    contender = dataclasses.replace(contender, receive=[*contender.receive, "--replace", "store"])
    results, failed = [], False
    for number, (old, new) in enumerate(zip(paths[::2], paths[1::2])):
        name, place = os.path.splitext(os.path.basename(new))[0], os.path.join(folder, str(number))
        os.mkdir(place)
        try:
            results.append(weigh(name, contender, old, new, place))
            say(f"pairs: {name}: {results[-1].store:,} bytes")
        except (Failed, frames.NotAShipment) as failure:
            failed = True
            say(f"pairs: {name}: FAILED: {failure}")
        shutil.rmtree(place)
    return results, failed


def changed_little(results):
    """Those of which the best difference is smaller than the whole."""
    return [each for each in results if each.others and each.best < each.whole]


def together(results):
    """x of the best of the peers for each, of those that changed little; None without any."""
    some = changed_little(results)
    return sum(each.store for each in some) / sum(each.best for each in some) if some else None


def mean(results):
    some = [each for each in results if each.others]
    return statistics.geometric_mean(each.store / each.best for each in some) if some else None


def figures(results):
    rows = [["newer version", "whole", "sent", "as", "whole session", *PEERS, "to the best"]]
    for each in results:
        rows.append([each.name, f"{each.whole:,}", f"{each.store:,}", "a delta" if each.is_delta else "a whole", f"{each.session:,}",
                     *(f"{each.others[peer]:,}" if peer in each.others else "–" for peer in PEERS),
                     as_multiple(each.store / each.best, 3) if each.others else "–"])
    return table(rows)
