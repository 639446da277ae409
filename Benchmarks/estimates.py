#!/usr/bin/env python3
"""Whether `inspect` says what shipping a store takes: for each store given, what it says beside the size of the shipment.

  estimates.py PROGRAM STORE...

Nothing of the stores is changed. It ends with status 1 if an estimate is off by more than a tenth.
"""
import json
import os
import subprocess
import sys
import tempfile

ALLOWED = 0.10


def main(program, stores):
    worst = 0.0
    print(f"{'store':24} {'level':>5} {'inspect':>11} {'shipment':>11} {'off by':>8}")
    with tempfile.TemporaryDirectory() as folder:
        # An identity would sign the shipments.
        environment = os.environ | {"XDG_CONFIG_HOME": folder}

        def run(*arguments):
            return subprocess.run([program, *arguments], check=True, capture_output=True, env=environment).stdout

        for store in stores:
            for level in ("auto", "6"):
                cost = json.loads(run("inspect", store, "--level", level, "--json"))["cost"]
                shipment = os.path.join(folder, "one.shipment")
                run("send", store, "--to", shipment, "--level", level, "--quiet")
                size = os.stat(shipment).st_size
                os.unlink(shipment)
                error = cost / size - 1
                worst = max(worst, abs(error))
                print(f"{os.path.basename(store)[:24]:24} {level:>5} {cost:11,} {size:11,} {error:+8.1%}", flush=True)
    print(f"at most {worst:.1%} off")
    return 0 if worst <= ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2:]))
