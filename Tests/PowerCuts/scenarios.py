"""What runs while the power goes, and what must hold afterwards.

The commands are shell. $S is the program, $D the disk whose power goes, $RUN a folder elsewhere, $STORES the versions of a store, and
shipments of them.
"""
import hashlib
import json
import os
import shutil
from dataclasses import dataclass, field

import stores


@dataclass
class Step:
    """One command that is acknowledged by its exit status, and what goes before it elsewhere than on the disk."""
    command: str
    before: str = ""
    done: tuple = ()  # what it may exit with, too, if it had been done before the cut


@dataclass
class Scenario:
    name: str
    setup: str
    steps: list
    look: object  # box -> what users find; raises ValueError for what is not whole
    found: list  # what that is before the first step, and after each
    sweep: str = ""  # what removes what a cut has left; the last step, once more, if this is empty
    stays: tuple = ()  # what is removed a time after a cut
    between: dict = field(default_factory=dict)  # what else it may be while a step is under way, by its number

    def problem(self, box, begun, acknowledged):
        """Says what is wrong after a cut; None if nothing is."""
        allowed = self.found[acknowledged:begun + 1] + (self.between.get(begun, []) if begun > acknowledged else [])
        seen = self.look(box)
        return None if seen in allowed else f"holds {seen}, and may hold {' or '.join(map(str, allowed))}"


class Numbers(Scenario):
    """A number that was given away may be missing, and never comes again."""

    def problem(self, box, begun, acknowledged):
        seen = self.look(box)
        return None if seen >= acknowledged else f"would give away {seen + 1} again, after {acknowledged}"


def served(box):
    """The version that an inbox serves, all that is in it verified."""
    inbox = box.path("inbox")
    if os.path.isdir(os.path.join(inbox, ".ship-store")):
        box.program("verify", inbox)
        box.program("list", "--into", inbox)
    return stores.version(os.path.join(inbox, "Recipes.sqlite"))


def shipped(*versions):
    """Sends and receives at once, with what the sender remembers on the same disk."""
    return [Step("$S send $RUN/app/Recipes.sqlite --to \"exec:$S receive --into $D/inbox --keep 2 --from -\"", lay(version))
            for version in versions]


def lay(version):
    return f"rm -rf $RUN/app && cp -a $STORES/{version} $RUN/app"


def from_file(version):
    # A file that says what has changed since the version before; the first is whole.
    return Step(f"$S receive --into $D/inbox --keep 2 --from - < $STORES/{version}.shipment")


def remembered(box):
    """The version that is served, where what the sender remembers can be read, too."""
    box.program("bases")
    return served(box)


def switched(box):
    """The version that is served, and whether the store is held."""
    version, held = served(box), False
    if version:
        for line in box.program("list", "--into", box.path("inbox"), "--json").splitlines():
            held |= "onHoldSince" in json.loads(line)
    return version, held


def kept(box, folder):
    """The names of the kept copies in a folder, each of which is whole and listed."""
    path = box.path(folder)
    names = [name for name in os.listdir(path) if not name.startswith(".")] if os.path.isdir(path) else []
    for name in names:
        if stores.version(os.path.join(path, name, "Recipes.sqlite")) == 0:
            raise ValueError(f"{path}/{name} is a kept copy without a store")
    if names and len(box.program("copies", "--in", path, "--json").splitlines()) != len(names):
        raise ValueError(f"not all copies in {path} are listed")
    return names


def copied(box):
    """The version of the named copy, and whether one is kept."""
    return stores.version(box.path("out/Copy.sqlite")), bool(kept(box, "kept"))


def live(box):
    kept(box, "app/.Recipes-safety")
    return stores.version(box.path("app/Recipes.sqlite"), live=True)


def placed(box):
    """The versions at the three places of a store that moves. One that is being removed counts as gone once its file is."""
    return tuple(stores.version(box.path(f"{place}/Recipes.sqlite"), live=True) for place in ("app", "group", "last"))


def trusted(box):
    """Who this device is, whether it can be told, and whom it trusts."""
    if not os.path.exists(box.path("config/ship-store/identity.pem")):
        return None
    known = [json.loads(line) for line in box.program("peers", "--json").splitlines()]
    return sorted((peer["name"], str(sorted(peer.get("stores") or []))) for peer in known)


def numbered(box):
    """The number of the device's last shipment."""
    try:
        with open(box.path("config/ship-store/counter")) as file:
            return int(file.read())
    except FileNotFoundError:
        return 0


def paired(box):
    """Whether the sender trusts the receiver, whether the receiver trusts it, and what has come of it."""
    return tuple(len(box.program("peers", "--json", "--identity", box.path(side)).splitlines())
                 for side in ("phone", "watch")) + (served(box),)


def added(box):
    """The versions of the copies that were added for every receiver, each of which is what it was."""
    versions = []
    for base in map(json.loads, box.program("bases", "--json").splitlines()):
        with open(base["path"], "rb") as file:
            content = file.read()
        if hashlib.sha256(content).hexdigest() != base["sha256"]:
            raise ValueError(f"{base['path']} is not what was added")
        versions.append(int.from_bytes(content[60:64], "big"))  # PRAGMA user_version
    return versions


def passed(box):
    """The versions that a relay holds, and the device that it passes them on to."""
    watch = os.path.join(box.disk, "watch")
    if os.path.isdir(os.path.join(watch, ".ship-store")):
        box.program("verify", watch)
    return served(box), stores.version(os.path.join(watch, "Recipes.sqlite"))


def passed_on(version, order):
    """A version that its maker has signed comes to a relay, and from there to the device behind it: later, or while that one follows."""
    get = f"$S receive --into $D/inbox --from - < $RUN/{version}.signed"
    watch = "$S receive --into $D/watch --from unix:$TMPDIR/relay --identity $D/watch-identity"
    deliver = f"{get} && {watch}" if order == "later" else f"""
held() {{ sqlite3 $D/watch/Recipes.sqlite 'PRAGMA user_version'; }}; had=$(held)
# One that cannot read what it holds takes that anew first: what counts is the generation that has this version.
acknowledged() {{ for i in $(seq 150); do test "$(held)" = {version} && break; sleep 0.1; done
  number=$(basename $(readlink $D/watch/.ship-store/Recipes/current)); told "installed Recipes, generation ${{number%%-*}},"; }}
{watch} --follow >> $TMPDIR/told 2>&1 & watch=$!
told 'unchanged|installed' && {get} && {{ test "$had" = {version} || acknowledged; }}; outcome=$?
kill $watch; wait $watch && test $outcome = 0"""
    return Step(f"""
: > $TMPDIR/told; rm -f $TMPDIR/relay
told() {{ for i in $(seq 150); do grep -qE "$1" $TMPDIR/told && return; sleep 0.1; done; false; }}
$S send --inbox $D/inbox --listen unix:$TMPDIR/relay --follow >> $TMPDIR/told 2>&1 & relay=$!
told 'listening on' && {{ {deliver}
}}; passed=$?
kill $relay; wait $relay && exit $passed
""")


SIGNED = """
id=$($S identity --identity $RUN/maker)
$S trust $id --name maker --role sender --store Recipes; $S trust $id --name maker --role sender --store Recipes --identity $D/watch-identity
for version in 1 2 3; do
  rm -rf $RUN/app && cp -a $STORES/$version $RUN/app && $S send $RUN/app/Recipes.sqlite --sign --identity $RUN/maker --to $RUN/$version.signed
done
"""


PAIRING = """
: > $TMPDIR/told  # before the other process opens it
$S receive --into $D/inbox --listen 127.0.0.1:0 --identity $D/watch --pair --peer-name phone --once >> $TMPDIR/told 2>&1 & receiver=$!
for i in $(seq 400); do grep -q 'pairing code' $TMPDIR/told && break; sleep 0.05; done
place=$(sed -n 's/listening on //p' $TMPDIR/told)
code=$(sed -n 's/pairing code: \\([0-9-]*\\).*/\\1/p' $TMPDIR/told)
$S send $RUN/app/Recipes.sqlite --to $place --pair $code --identity $D/phone --peer-name watch && wait $receiver && exit
kill $receiver; exit 1
"""


def followed(version):
    """A session in which a version goes, and the next one once the store has changed. hostfs does not tell of changes, so it is in memory."""
    return Step(f"""
: > $TMPDIR/told
$S send $TMPDIR/app/Recipes.sqlite --follow --settle 0ms --to "exec:$S receive --into $D/inbox --keep 2 --from -" \\
  >> $TMPDIR/told 2>&1 & sender=$!
told() {{ for i in $(seq 150); do test $(grep -cE "$1" $TMPDIR/told) -gt $2 && return; sleep 0.1; done; false; }}
# Of the files that come before their rows it may say that nothing has changed.
told 'installed Recipes as|unchanged: the receiver' 0 && before=$(grep -c 'installed Recipes as' $TMPDIR/told)
cp -a $STORES/{version + 1}/.Recipes_SUPPORT $TMPDIR/app &&
  sqlite3 $TMPDIR/app/Recipes.sqlite ".restore $STORES/{version + 1}/Recipes.sqlite" && told 'installed Recipes as' $before; outcome=$?
kill $sender && wait $sender && exit $outcome
""", lay(version).replace("$RUN", "$TMPDIR"))


# Over the file of a generation that is gone the next one is written, from a MiB on, two seconds after it was current.
REUSE = """
rm -f $TMPDIR/socket; $S receive --into $D/inbox --keep 1 --listen unix:$TMPDIR/socket & receiver=$!
for i in $(seq 200); do test -S $TMPDIR/socket && break; sleep 0.05; done
for version in 1 2 3; do
  test $version = 3 && sleep 2.2
  rm -rf $TMPDIR/app && cp -a $STORES/$version $TMPDIR/app && sqlite3 $TMPDIR/app/Recipes.sqlite "CREATE TABLE pad (text);
    WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000) INSERT INTO pad SELECT printf('%0200d', i) FROM n" &&
  $S send $TMPDIR/app/Recipes.sqlite --to unix:$TMPDIR/socket || exit
done
kill $receiver && wait $receiver
"""


def published(box):
    """The version that whoever begins gets from a publication."""
    if not os.path.exists(box.path("place/head")):
        return 0
    box.shell('rm -rf "$TMPDIR/watched" && "$S" receive --into "$TMPDIR/watched" --from "dir:$D/place" --identity "$RUN/watch"')
    inbox = os.path.join(box.values["TMPDIR"], "watched")
    try:
        return stores.version(os.path.join(inbox, "Recipes.sqlite"))
    finally:
        shutil.rmtree(inbox)


def publish(version, *more):
    return Step(" ".join(["$S send $RUN/app/Recipes.sqlite --to dir:$D/place", *more]), lay(version))


def fetched(version):
    """Takes from a publication elsewhere what has been published there before."""
    return Step("$S receive --into $D/inbox --keep 2 --from dir:$RUN/place --identity $RUN/watch",
                lay(version) + "; XDG_STATE_HOME=$RUN/state $S send $RUN/app/Recipes.sqlite --to dir:$RUN/place --identity $RUN/phone")


WATCH = "$S identity --identity $RUN/watch"
FOR_WATCH = "--encrypt-to $($S identity --identity $RUN/watch --encryption-key)"
IDS = [f"$(cat $STORES/id{n})" for n in (1, 2)]
APP = "mkdir $D/app && cp -a $STORES/1/. $D/app"

SOCKET = ("tmp/SOCKET",)  # a listener's before it has its name, for a minute

SCENARIOS = [
    Scenario("receive", "", [
        Step("$S send $RUN/app/Recipes.sqlite --to - | $S receive --into $D/inbox --from -", lay(version)) for version in (1, 2, 3)],
        served, [0, 1, 2, 3]),
    Scenario("delta", "", [from_file(1), from_file(2), from_file(3), from_file(4)], served, [0, 1, 2, 3, 4]),
    Scenario("session", "", shipped(1, 2, 3, 4), remembered, [0, 1, 2, 3, 4]),
    Scenario("socket", "", [Step(
        "rm -f $TMPDIR/socket; $S receive --into $D/inbox --listen unix:$TMPDIR/socket --once & "
        "for i in $(seq 200); do test -S $TMPDIR/socket && break; sleep 0.05; done; "
        "$S send $RUN/app/Recipes.sqlite --to unix:$TMPDIR/socket && wait $!", lay(version)) for version in (1, 2)],
        remembered, [0, 1, 2], stays=SOCKET),
    Scenario("reuse", "", [Step(REUSE)], remembered, [0, 3], between={1: [1, 2]}, stays=SOCKET),
    Scenario("copy", APP, [
        Step("$S copy $D/app/Recipes.sqlite --to $D/out --as Copy.sqlite"),
        Step("$S copy $D/app/Recipes.sqlite --keep-in $D/kept"),
        Step("$S copy $STORES/2/Recipes.sqlite --to $D/out --as Copy.sqlite")],
        copied, [(0, False), (1, False), (1, True), (2, True)],
        "$S copy $STORES/2/Recipes.sqlite --keep-in $D/kept && $S copy $STORES/2/Recipes.sqlite --to $D/out --as Copy.sqlite"),
    Scenario("restore", APP, [
        Step(f"$S restore $STORES/{version}/Recipes.sqlite --over $D/app/Recipes.sqlite") for version in (2, 3)],
        live, [1, 2, 3]),
    Scenario("move", APP, [
        Step("$S move $D/app/Recipes.sqlite --to $D/group", done=(73,)),
        Step("$S move $D/group/Recipes.sqlite --to $D/last --remove-old", done=(66, 73)),
        Step("$S destroy $D/app/Recipes.sqlite", done=(66,))],
        placed, [(1, 0, 0), (1, 1, 0), (1, 0, 1), (0, 0, 1)],
        "$S move $D/last/Recipes.sqlite --to $D/group --remove-old && $S move $D/group/Recipes.sqlite --to $D/last --remove-old",
        between={2: [(1, 1, 1)]}),
    Scenario("rollback", "; ".join(from_file(v).command for v in (1, 2, 3)), [
        Step("$S rollback Recipes --into $D/inbox --to 2"),
        Step("$S rollback Recipes --into $D/inbox --release"),
        from_file(4),
        Step("$S prune --into $D/inbox --keep 1"),
        Step("$S forget Recipes --into $D/inbox", done=(66,))],
        switched, [(3, False), (2, True), (2, False), (4, False), (4, False), (0, False)]),
    Scenario("trust", "", [
        Step("$S identity"),
        Step(f"$S trust {IDS[0]} --name watch --role receiver"),
        Step(f"$S trust {IDS[1]} --name phone --role sender --store Recipes"),
        Step("$S trust phone --store Tea"),
        Step("$S distrust watch", done=(66,))],
        trusted, [None, [], [("watch", "[]")], [("phone", "['Recipes']"), ("watch", "[]")],
                  [("phone", "['Recipes', 'Tea']"), ("watch", "[]")], [("phone", "['Recipes', 'Tea']")]]),
    Numbers("number", "", [  # with --no-remember the number is the last thing that is synced
        Step(f"$S send $STORES/{version}/Recipes.sqlite --sign {remember} --to $RUN/{version}.shipment")
        for version, remember in ((1, "--replace"), (2, "--no-remember"), (3, "--no-remember"))],
        numbered, [0, 1, 2, 3], "$S send $STORES/3/Recipes.sqlite --replace --sign --to $RUN/3.shipment"),
    Scenario("adopt", "", [
        Step("$S adopt $RUN/Recipes.base.sqlite --into $D/inbox",
             "cd $RUN; test -e Recipes.base.sqlite || $S copy $STORES/1/Recipes.sqlite --as Recipes.base.sqlite"),
        from_file(2)],
        served, [0, 1, 2]),
    Scenario("follow", "", [followed(1), followed(3)], remembered, [0, 2, 4],
             f"{followed(3).before}; {followed(3).command}", between={1: [1], 2: [3]},
             stays=("inbox/.ship-store/.failed",)),  # the end of the sender may break one more shipment off
    Scenario("publish", WATCH, [*map(publish, (1, 2, 3, 4)), Step("$S publish --prune dir:$D/place --grace 0s")], published, [0, 1, 2, 3, 4, 4],
             publish(4).command + " && $S publish --prune dir:$D/place --grace 0s"),
    # The second makes it one for recipients, and the last takes the next one's place.
    Scenario("encrypted", WATCH, [publish(1), publish(2, FOR_WATCH), publish(3, FOR_WATCH), publish(4, FOR_WATCH, "--rollout 100%")],
             published, [0, 1, 2, 3, 4]),
    Scenario("fetch", WATCH, [fetched(1), fetched(2), fetched(3)], served, [0, 1, 2, 3],
             stays=("inbox/.ship-store/.objects/DIGEST",)),  # a part of a shipment, for a day
    Scenario("relay", SIGNED, [passed_on(1, "later"), passed_on(2, "while it follows"), passed_on(3, "later")], passed, [(0, 0), (1, 1), (2, 2), (3, 3)],
             between={1: [(1, 0)], 2: [(2, 1)], 3: [(3, 2)]}, stays=SOCKET),
    Scenario("bases", "; ".join(f"$S copy $STORES/{version}/Recipes.sqlite --to $RUN/{version} --as Recipes.base.sqlite" for version in (1, 2)), [
        Step("$S bases --add $RUN/1/Recipes.base.sqlite $STORES/1/Recipes.sqlite"),
        Step("$S bases --remove Recipes", done=(66,)),
        Step("$S bases --add $RUN/2/Recipes.base.sqlite $STORES/2/Recipes.sqlite")],
        added, [[], [1], [], [2]]),
    Scenario("pair", "", [Step(PAIRING, lay(1))], paired, [(0, 0, 0), (1, 1, 1)], between={1: [(1, 0, 0), (0, 1, 0), (1, 1, 0)]}),
]
