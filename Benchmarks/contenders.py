"""What is compared: ship-store, and what a careful user would write by hand instead.

All do the same work: one consistent copy of the live store, sent compressed over TCP; on the other side compared with
its SHA-256, synced, renamed into place, the folder synced, and checked by SQLite.
"""
import dataclasses
import os
import shutil
import subprocess

# $STORE is the live store, $INBOX the consumer's folder, $NAME the store's name, $SCRATCH a folder of the side's own,
# $PORT where to listen or connect.
SEND = """set -euo pipefail
sqlite3 "$STORE" "VACUUM INTO '$SCRATCH/copy'"
{seed}
{{ sha256sum < "$SCRATCH/copy"; {pack} < "$SCRATCH/copy"; }} | nc -N 127.0.0.1 "$PORT"
"""
RECEIVE = """set -euo pipefail
nc -d -l 127.0.0.1 "$PORT" | {{
    IFS= read -r wanted
    got=$({unpack} | tee "$INBOX/.part" | sha256sum)
    test "$got" = "$wanted"
}}
sync "$INBOX/.part"
mv "$INBOX/.part" "$INBOX/$NAME.sqlite"
sync "$INBOX"
test "$(sqlite3 -readonly "$INBOX/$NAME.sqlite" 'PRAGMA quick_check')" = ok
"""


@dataclasses.dataclass
class Contender:
    name: str
    send: list  # argv; $NAMES as above are replaced by the environment of the same name
    receive: list
    needs: list

    def missing(self):
        return [program for program in self.needs if not shutil.which(program)]


def by_hand(name, pack, unpack, seed=""):
    return Contender(
        name, ["bash", "-c", SEND.format(pack=pack, seed=seed)], ["bash", "-c", RECEIVE.format(unpack=unpack)],
        ["sqlite3", "nc", pack.split()[0]])


def ship_store(program, *options):
    return Contender(
        " ".join(["ship-store", *options]),
        [program, "send", "$STORE", "--to", "127.0.0.1:$PORT", "--quiet", *options],
        [program, "receive", "--into", "$INBOX", "--listen", "127.0.0.1:$PORT", "--once", "--quiet"],
        [program])


def over_tls(program, folder):
    """ship-store between two devices that trust each other; makes them in `folder`."""
    devices = {role: os.path.join(folder, role) for role in ("sender", "receiver")}

    def run(*arguments):
        return subprocess.run([program, *arguments, "--quiet"], check=True, capture_output=True, text=True).stdout

    ids = {role: run("identity", "--identity", path).strip() for role, path in devices.items()}
    run("trust", ids["receiver"], "--identity", devices["sender"], "--role", "receiver")
    run("trust", ids["sender"], "--identity", devices["receiver"], "--role", "sender")
    plain = ship_store(program)
    return Contender(
        OVER_TLS, [*plain.send, "--identity", devices["sender"]], [*plain.receive, "--identity", devices["receiver"]],
        plain.needs)


# As it is by itself, with the effort that suits the link; always by rows; never by rows, and in the least time; and by rows, over what it
# has no copy of.
SHIP_STORE, BY_ROWS, PLAIN = "ship-store", "ship-store --level 6", "ship-store --level 1 --plain"
NO_BASE = "ship-store --level 6 --no-remember"
OVER_TLS = "ship-store over TLS"
GZIP, PIGZ, ZSTD, ZSTD_19 = "gzip -6", "pigz -6 -p 2", "zstd -3", "zstd -19"


def all_of_them(program, folder):
    return [
        *(ship_store(program, *name.split()[1:]) for name in (SHIP_STORE, BY_ROWS, PLAIN)),
        over_tls(program, folder),
        by_hand(GZIP, "gzip -6 -c", "gzip -dc"),
        by_hand(PIGZ, "pigz -6 -p 2 -c", "pigz -dc -p 2"),
        by_hand(ZSTD, "zstd -3 -q -c", "zstd -d -q -c"),
    ]


def for_a_slow_link(program):
    """What somebody takes who waits for the link, and not for the processor."""
    return [ship_store(program), by_hand(ZSTD_19, "zstd -19 -q -c", "zstd -d -q -c")]


# Loses the last row on its way: a harness that calls this one correct is worth nothing.
FORGETFUL = by_hand(
    "forgetful", "gzip -6 -c", "gzip -dc",
    seed="""sqlite3 "$SCRATCH/copy" 'DELETE FROM track WHERE id = (SELECT max(id) FROM track)'""")
