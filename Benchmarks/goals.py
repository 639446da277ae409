"""The figures to reach, and whether they are."""
import bytes as weighing
import changes
import checks
import codec
import copying
import deltas
import following
import pairs
import publishing
import receivers
import resuming
import sessions
from contenders import BY_ROWS, GZIP, NO_BASE, OVER_TLS, PIGZ, PLAIN, SHIP_STORE, ZSTD, ZSTD_19
from tables import as_multiple, median, ratio, table


def wall(turn): return turn.wall
def sent(turn): return turn.bytes
def sender_memory(turn): return turn.sender.memory
def receiver_memory(turn): return turn.receiver.memory


# Store, what, of whom, measure, at most, as a multiple of which contender. Bytes are those of the codec: over loopback, which
# takes everything at once, ship-store left to itself saves time instead.
SHIPPING = [
    ("1 MB", "wall time", SHIP_STORE, wall, 0.75, GZIP),
    ("1 MB", "wall time", SHIP_STORE, wall, 1.25, ZSTD),
    ("20 MB", "wall time", SHIP_STORE, wall, 1.0, PIGZ),
    ("20 MB", "wall time", SHIP_STORE, wall, 0.9, ZSTD),
    ("200 MB", "wall time", SHIP_STORE, wall, 1.0, PIGZ),
    ("200 MB", "wall time", SHIP_STORE, wall, 0.8, ZSTD),
    ("1100 MB", "wall time", SHIP_STORE, wall, 1.0, ZSTD),
    ("20 MB", "wall time", SHIP_STORE, wall, 1.1, PLAIN),
    ("20 MB", "wall time", OVER_TLS, wall, 1.15, SHIP_STORE),
    ("20 MB at 250 kB/s", "wall time", SHIP_STORE, wall, 0.85, ZSTD_19),
    ("1 MB", "bytes", BY_ROWS, sent, 1.0, GZIP),
    ("20 MB", "bytes", BY_ROWS, sent, 1.0, GZIP),
    ("200 MB", "bytes", BY_ROWS, sent, 1.0, GZIP),
]

FIRST_CONNECTION = ("1 MB", 60)  # ms that TLS and its handshake take beyond plain TCP
MEMORY_OF = ("200 MB", "20 MB at 250 kB/s")
MEMORY = 64  # MiB, and beside that
MEMORY_A_ROW = 24  # bytes, for each row of the largest table that has an index
RESTORE = 1.5  # x of sqlite3
UNCHANGED = 400  # bytes
ONE_SESSION = 0.4  # x of one after the other
CHANGED = 20  # MB, of which these are
CHANGES = {  # bytes of a whole session over plain TCP
    changes.NOTHING: 400, changes.METADATA: 600, changes.ONE_ROW: 450, "1 % updated": 3000, "10 % appended": 760_000,
    "5 % deleted": 1900, "a new index": 650,
}
WITHOUT_BASE = {changes.ONE_ROW: 4000, "1 % updated": 165_000}  # the same where the sender has no copy of what the receiver holds
NOTHING_IN_COMMON = 1.02  # x of a whole shipment to who holds nothing
SERVED, SERVED_MEMORY, BESIDE_SLOW, HOPS = 5, 1, 1.2, 2  # x of serving one, MiB for each; x of without slow ones; x of one hop
FOLLOWED = {following.SHIP_STORE: (0.18, 0.35), following.OVER_SLOW: (0.5, 1.0), following.OVER_SLOWER: (1.5, 3.0)}  # s: median, p99
FOLLOWED_CPU = 0.12  # s of both sides
IDLE_CPU, IDLE_WAKEUPS = 10, 6  # ms and a number, a minute
IDLE_BYTES = {following.SHIP_STORE: 200, following.OVER_TLS: 500}
AT_WORK, AT_WORK_P99, AT_WORK_LOG = 1.05, 1.3, 1.05  # x of without a follower
LIMITED = 1.05  # x of what was asked for
LARGER_CPU = 1.0  # s of both sides, for a row of a store ten times as large
SOURCE_WRITES, RECEIVER_WRITES = 100, 1.0  # kB, and x of the store, on a disk that does not clone
MANY = 40  # MiB
PUBLISHER, FOLLOWER = (1, 1200), (1, 1500)  # requests, bytes: of a publisher up, of a follower down
POLL = 400  # bytes both ways
STORED = 0.8, 1.5  # s until a reader behind storage has a commit: median, p99
CHAIN = 3  # x of the one delta that leads there
PAIRS, PAIRS_MEAN = 0.25, 0.25  # x of the best of the peers for each
BESIDE_DELTA = 400  # bytes of a session
RESUMED = 1.02  # x of one session
RESUMED_BEYOND = 65_536  # bytes
ONE_ROW = 0.8  # x of a whole shipment of the same
ONE_ROW_SLOWLY = 1  # s
CHECKS = 1.3  # x of SHA-256 and quick_check alone
COPYING = 1.6  # x of VACUUM INTO alone
READ_COST = 1.05  # x of a bare DatabaseQueue
SWAP_P99 = 50  # ms

# x of zlib -9
TOTAL, MEAN, CORE_DATA_MEAN, WORST = 0.2135, 0.34, 0.415, 1.00
GRACE = 64  # bytes that the worst may be above
SMALLER = 0.9  # of all stores

ENCODING, ENCODING_DEAREST = 0.6, 2.5  # x of zlib -6
DECODING = 3.0  # x of inflating and REINDEX


def verdict(is_reached):
    return "not measured" if is_reached is None else "reached" if is_reached else "NOT reached"


def at_most(limit, value, name, unit, shown):
    """- Parameter shown: Says a value, without its unit."""
    return [name, f"at most {limit:g}{unit}", "–" if value is None else shown(value),
            verdict(None if value is None else value <= limit)]


def multiple(limit, value, name, of):
    return at_most(limit, value, name, f"x of {of}", lambda value: as_multiple(value, 3))


def of_shipping(results):
    """- Parameter results: `Shipped`, by title."""
    rows = []
    for title, what, who, measure, limit, peer in SHIPPING:
        if title not in results:
            continue
        turns = results[title].turns
        rows.append(multiple(limit, ratio(turns.get(who), turns.get(peer), measure),
                             f"{title}: {what}" + (f" of {who}" if who != SHIP_STORE else ""), peer))
    title, limit = FIRST_CONNECTION
    if title in results and all(results[title].turns.get(name) for name in (OVER_TLS, SHIP_STORE)):
        secured, plain = (median(results[title].turns[name], wall) for name in (OVER_TLS, SHIP_STORE))
        rows.append(at_most(limit, (secured - plain) * 1000, f"{title}: {OVER_TLS}, beyond plain TCP", " ms",
                            "{:.0f} ms".format))
    for title in MEMORY_OF:
        if title not in results:
            continue
        shipped = results[title]
        limit = MEMORY + MEMORY_A_ROW * shipped.indexed_rows / 2**20
        for side, measure in ("sender", sender_memory), ("receiver", receiver_memory):
            values = [median(shipped.turns[name], measure) for name in (SHIP_STORE, BY_ROWS) if shipped.turns.get(name)]
            rows.append(at_most(round(limit, 1), max(values, default=None), f"{title}: {side}'s memory", " MiB",
                                lambda value: f"{value:.1f} MiB"))
    return rows


def of_restores(restores):
    return [multiple(RESTORE, ratio(restores["ship-store"], restores["sqlite3"], wall), "a restore", "sqlite3")]


def of_sessions(measured):
    one, each = (measured.many[way] for way in (sessions.ONE, sessions.EACH))
    return [
        at_most(UNCHANGED, measured.unchanged, "a store that has not changed, whole session", " bytes", "{} bytes".format),
        multiple(ONE_SESSION, ratio(one, each, lambda seconds: seconds), f"{sessions.STORES} stores in one session", sessions.EACH),
    ]


def of_deltas(measured):
    rows = []
    if measured.size == CHANGED:
        rows += [at_most(limit, measured.bytes[name].get(BY_ROWS), f"{name}: whole session of {BY_ROWS}", " bytes", "{:,} bytes".format)
                 for name, limit in CHANGES.items()]
        rows += [at_most(limit, measured.bytes[name].get(NO_BASE), f"{name}: whole session of {NO_BASE}", " bytes", "{:,} bytes".format)
                 for name, limit in WITHOUT_BASE.items()]
        rows += [multiple(NOTHING_IN_COMMON, some / none, f"{what} are held: bytes", "a whole shipment") for what, some, none in measured.other]
        known = measured.bytes[deltas.BUNDLED].get(BY_ROWS)
        rows.append(at_most(BESIDE_DELTA, measured.adopted and known and measured.adopted - known,
                            f"an adopted base, {deltas.BUNDLED} since: first session, beyond the delta", " bytes", "{:+,} bytes".format))
        slow = median(measured.slow, deltas.seconds) if measured.slow else None
        rows.append(at_most(ONE_ROW_SLOWLY, slow, f"{changes.ONE_ROW} at 250 kB/s, send to receipt", " s", "{:.2f} s".format))
    for size, (ones, wholes) in measured.rows.items():
        rows.append(multiple(ONE_ROW, ratio(ones, wholes, wall), f"{changes.ONE_ROW} of {size} MB: wall time", "a whole shipment"))
        rows.append(at_most(MEMORY, deltas.memory(ones), f"{changes.ONE_ROW} of {size} MB: memory of either side", " MiB", "{:.1f} MiB".format))
    return rows


def of_receivers(found):
    rows = []
    if shares := receivers.of_loads(found):
        count = found.loads[1].receivers
        rows += [multiple(SERVED, shares[0], f"{count} receivers: CPU of the sender", "serving one"),
                 at_most(SERVED_MEMORY, shares[1], f"{count} receivers: memory of the sender for each", " MiB", "{:.2f} MiB".format),
                 multiple(BESIDE_SLOW, shares[2], f"{found.loads[2].slow} slow ones of {count}: a commit until the others have it", "without them")]
    rows.append(multiple(HOPS, receivers.of_hops(found), "a row that is passed on: a commit until a reader has it", "one hop"))
    return rows


def of_resuming(results):
    rows = []
    for size, found in results.items():
        if found.link == resuming.SLOW:
            rows.append(multiple(RESUMED, resuming.total(found) / found.whole, f"{size} MB, cut ten times: bytes", "one session"))
            rows.append(at_most(RESUMED_BEYOND, resuming.total(found) - found.whole, f"{size} MB, cut ten times: beyond that", " bytes",
                                "{:,} bytes".format))
        rows.append(at_most(MEMORY, max(found.memory), f"{size} MB, cut ten times: memory of either side", " MiB", "{:.1f} MiB".format))
    return rows


def of_following(found):
    rows = []
    for name, limits in FOLLOWED.items():
        for limit, what, of in zip(limits, ("median", "p99"), (following.median, following.p99)):
            rows.append(at_most(limit, of(found.delays[name]) if name in found.delays else None,
                                f"a commit until {name} has it, {what}", " s", "{:.3f} s".format))
    rows.append(at_most(FOLLOWED_CPU, found.cpu.get(following.SHIP_STORE), "CPU of both sides for a commit", " s", "{:.3f} s".format))
    for name, limit in IDLE_BYTES.items():
        if name in found.idle:
            idle = found.idle[name]
            rows += [at_most(IDLE_CPU, idle.cpu * 1000, f"{name}, an idle minute: CPU of both sides", " ms", "{:.1f} ms".format),
                     at_most(IDLE_WAKEUPS, idle.wakeups, f"{name}, an idle minute: wake-ups", "", "{:.0f}".format),
                     at_most(limit, idle.bytes, f"{name}, an idle minute: on the wire", " bytes", "{:.0f} bytes".format)]
    if {following.ALONE, following.SHIP_STORE} <= found.apps.keys():
        mine, without = found.apps[following.SHIP_STORE], found.apps[following.ALONE]
        for limit, what, of in ((AT_WORK, "median", following.median), (AT_WORK_P99, "p99", following.p99)):
            rows.append(multiple(limit, of(mine.took) / of(without.took), f"an app's commits under --follow, {what}", "without"))
        rows.append(multiple(AT_WORK_LOG, mine.log / without.log, "largest -wal under --follow", "without"))
    for size, cost in found.costs.items():
        if size == found.size:
            rows += [at_most(SOURCE_WRITES, cost.source / 1000, f"a row of {size} MB: written at the source", " kB", "{:,.1f} kB".format),
                     multiple(RECEIVER_WRITES, cost.receiver / cost.size, f"a row of {size} MB: written at the receiver", "the store")]
        else:
            rows.append(at_most(LARGER_CPU, cost.cpu, f"a row of {size} MB: CPU of both sides", " s", "{:.3f} s".format))
    rows.append(at_most(MANY, found.many and found.many / 1048576, f"{following.MANY} stores followed: memory of the sender", " MiB",
                        "{:.1f} MiB".format))
    rows.append(multiple(LIMITED, found.limited and found.limited / following.RATE, f"--limit-rate, over any {following.WINDOW} s",
                         "what was asked for"))
    return rows


def of_publishing(found):
    rows = []
    if changes := found.changes.get(publishing.S3):
        for side, way, (most, bytes) in (("publisher", "up", PUBLISHER), ("follower", "down", FOLLOWER)):
            rows += [at_most(most, following.median(publishing.of(changes, side, publishing.requests)), f"one row: requests of a {side}", "",
                             "{:g}".format),
                     at_most(bytes, following.median(publishing.of(changes, side, lambda counts: counts[1 if way == "up" else 2])),
                             f"one row: {side}, {way}", " bytes", "{:,.0f} bytes".format)]
        for limit, what, of in zip(STORED, ("median", "p99"), (following.median, following.p99)):
            rows.append(at_most(limit, of([each.delay for each in changes]), f"a commit until a reader behind storage has it, {what}", " s",
                                "{:.3f} s".format))
    if polls := found.polls.get(publishing.S3):
        rows += [at_most(60, polls[0], "nothing changed: requests of a follower, a minute", "", "{:.0f}".format),
                 at_most(POLL, publishing.both_ways(polls) / max(1, polls[0]), "nothing changed: a poll, both ways", " bytes", "{:.0f} bytes".format),
                 at_most(MEMORY, max(found.memory[publishing.S3]), "publishing: memory of either side", " MiB", "{:.1f} MiB".format)]
    if found.chains:
        rows.append(multiple(CHAIN, publishing.worst(found.chains),
                             f"after {publishing.PUBLISHED:,} publishes, from any of the last {publishing.RECENT}: bytes", "the one delta"))
    return rows


def of_pairs(results):
    best = "the best difference of each"
    rows = [
        multiple(PAIRS, pairs.together(results), "versions that changed little, together", best),
        multiple(PAIRS_MEAN, pairs.mean(results), "versions, geometric mean", best),
    ]
    if some := [each for each in results if each.is_delta]:
        rows.append(at_most(BESIDE_DELTA, max(each.session - each.store for each in some), "a session beside the delta in it", " bytes",
                            "{:,} bytes".format))
    if results:
        rows.append(multiple(WORST, max(each.store / each.whole for each in results), "a version, the worst", "the whole"))
    return rows


def of_checks(turns):
    return [multiple(CHECKS, ratio(turns["ship-store"], turns[checks.ALONE], wall), "checks of a received store", checks.ALONE)]


def of_copies(copies):
    """- Parameter copies: Turns by contender, by megabytes."""
    return [multiple(COPYING, ratio(turns["ship-store"], turns[copying.ALONE], wall), f"taking and digesting a copy, {size:,} MB",
                     copying.ALONE) for size, turns in copies.items()]


def of_readers(reads):
    return [
        multiple(READ_COST, max(each["ratio"] for each in reads["reads"]), "a read, the dearest", "a bare DatabaseQueue"),
        at_most(SWAP_P99, reads["swap"]["p99"], "from the receipt to another process, p99", " ms", "{:.1f} ms".format),
    ]


def of_bytes(results):
    if not results:
        return []
    zlib = weighing.ZLIB
    rows = [
        multiple(TOTAL, weighing.total(results), "bytes of all stores together", zlib),
        multiple(MEAN, weighing.mean(results), "bytes, geometric mean", zlib),
    ]
    if core_data := [each for each in results if each.is_core_data]:
        rows.append(multiple(CORE_DATA_MEAN, weighing.mean(core_data), "bytes, geometric mean of Core Data stores", zlib))
    for peer in weighing.XZ, weighing.ZSTD:
        smaller = sum(each.shipped < each.others[peer] for each in results)
        rows.append([f"stores smaller than with {peer}", f"at least {SMALLER:.0%}", f"{smaller} of {len(results)}",
                     verdict(smaller >= SMALLER * len(results))])
    for name, size in ((zlib, lambda each: each.others[zlib]), ("--plain", lambda each: each.plain)):
        worst = max(results, key=lambda each: (each.shipped - GRACE) / size(each))
        over = worst.shipped - size(worst)
        rows.append([f"bytes, the worst store ({worst.name})", f"at most {WORST:g}x of {name}, and {GRACE} bytes",
                     f"{as_multiple(worst.shipped / size(worst), 3)} ({over:+,} bytes)",
                     verdict(worst.shipped <= WORST * size(worst) + GRACE)])
    return rows


def of_codec(results):
    if not results:
        return []
    rows = []
    for together, dearest, what, name, pair, of in (
            (ENCODING, ENCODING_DEAREST, "encoding", "encodeRatio", ("encode", "deflate"), "zlib -6"),
            (DECODING, DECODING, "decoding", "decodeRatio", ("decode", "inflateAndReindex"), "inflating and REINDEX")):
        rows.append(multiple(dearest, codec.worst(results, name), f"{what}, the dearest store", of))
        rows.append(multiple(together, codec.total(results, *pair), f"{what}, all stores together", of))
    return rows


def as_table(rows):
    return table([["figure", "to reach", "measured", ""], *rows])
