#!/usr/bin/env python3
"""What a million followers of a publication take in requests, bytes and money: `scale.py --help`. See SCALE.md.

What one poll and one change take is what publishing.py has measured, as it stands in README.md. When somebody asks, what a cache shows then,
and how far a follower is behind is simulated, for one of many caches that are alike. The same seed gives the same figures."""
import argparse
import itertools
import json
import os
import random
from dataclasses import dataclass

from tables import number, put_figures, table, tables

HERE = os.path.dirname(os.path.abspath(__file__))
BEGIN, END = "<!-- figures, by scale.py --write -->\n", "<!-- end of figures -->\n"
DAY, MONTH = 86_400, 30  # s, days
POLLS = {"2 s": 2, "1 min": 60, "15 min": 900, "1 h": 3600, "6 h": 21_600}
MOST_POLLS, LEAST = 1_500_000, 600  # that are simulated; s
STORE = 20  # MB, of what README.md says how much a whole and a row of it take

# USD, list prices without free tiers, as known on 2026-11-26: aws.amazon.com/s3/pricing (us-east-1), aws.amazon.com/cloudfront/pricing (US and
# Europe), developers.cloudflare.com/r2/pricing. Looked up in copies of these pages were R2's and CloudFront's for transfer; the others were not.
# Transfer is in steps: GB a month, and the price of each.
PRICES = {
    "S3": {"put": 5e-6, "get": 0.4e-6, "transfer": [[10_000, 0.09], [40_000, 0.085], [100_000, 0.07], [None, 0.05]]},
    "R2": {"put": 4.5e-6, "get": 0.36e-6, "transfer": [[None, 0]]},
    "CloudFront": {"get": 1e-6, "transfer": [[10_000, 0.085], [40_000, 0.08], [100_000, 0.06], [350_000, 0.04], [524_000, 0.03], [4_000_000, 0.025], [None, 0.02]]},
}
S3_RATE = 5500  # GETs a second that S3 promises for one prefix


@dataclass
class Measured:
    """What one of each takes, by README.md."""
    poll: float  # bytes down, where nothing has changed
    behind: list  # from how many publishes to how many, requests, bytes down
    puts: float  # of a publish
    whole: float  # bytes of a shipment of the whole store

    def change(self, behind):
        """Requests and bytes of a follower that is so many publishes behind: beyond what was measured in proportion, as they grow."""
        for _, most, requests, bytes in self.behind:
            if behind <= most:
                return requests, bytes
        least, most, requests, bytes = self.behind[-1]
        factor = behind / ((least + most) / 2)
        return requests * factor, bytes * factor


@dataclass
class Day:
    """Of one cache and its followers."""
    requests: float = 0  # to the cache
    bytes: float = 0  # from it
    storage: float = 0  # requests to the storage
    storage_bytes: float = 0
    delay: float = 0  # s from a publish until a follower has it, in the mean


def measured():
    with open(os.path.join(HERE, "README.md")) as file:
        found = tables(file.read())
    rows = found[f"Publishing a store of {STORE} MB"]

    def row(column, name):
        return next(each for each in rows if each.get(column, "").startswith(name))

    poll, mean = row("nothing changes, a minute", "ship-store"), row("one row, in the mean of all", "ship-store")
    column = next(name for each in rows for name in each if name.startswith("after "))
    behind = [(*map(int, each[column].split(" to ")), number(each["requests"]), number(each["bytes"])) for each in rows if column in each]
    [whole] = [number(each["bytes"]) for each in found[f"{STORE} MB"] if each[""] == "ship-store --level 6"]
    return Measured(number(poll["follower: down"]) / number(poll["follower: requests"]), behind, number(mean["publisher: requests"]), whole)


def simulate(count, poll, publishes, lifetime, costs, seed):
    """A day of one cache with `count` followers, of which each asks every `poll` seconds.

    - Parameters:
      - publishes: How many a day, at random times.
      - lifetime: Seconds for which the cache shows a head, and for which it may show it once more while it asks for the next."""
    dice, day = random.Random(seed), Day()
    span = max(LEAST, min(DAY * 7, MOST_POLLS / count * poll) // poll * poll)
    times = list(itertools.takewhile(lambda time: time < span, itertools.accumulate(
        itertools.repeat(0), lambda time, _: time + dice.expovariate(publishes / DAY), initial=-poll - lifetime)))
    sums = list(itertools.accumulate(times, initial=0))
    phases = sorted(dice.uniform(0, poll) for _ in range(count))
    newest, holds = 0, []
    for phase in phases:  # what each has heard when it last asked
        while newest < len(times) and times[newest] <= phase - poll:
            newest += 1
        holds.append(newest)
    fetched, shown, seen = -2 * lifetime - 1, holds[0], 0
    newest = holds[0]
    for cycle in range(round(span / poll)):
        for each, phase in enumerate(phases):
            now = cycle * poll + phase
            while newest < len(times) and times[newest] <= now:
                newest += 1
            age, served = now - fetched, shown
            if age > lifetime:
                day.storage += 1
                day.storage_bytes += costs.change(1)[1] if shown != newest else costs.poll
                fetched, shown = now, newest
                if age > 2 * lifetime:
                    served = newest
            if behind := max(0, served - holds[each]):
                requests, bytes = costs.change(behind)
                day.requests, day.bytes = day.requests + requests, day.bytes + bytes
                day.delay += behind * now - (sums[served] - sums[holds[each]])
                seen += behind
                holds[each] = served
            else:
                day.requests, day.bytes = day.requests + 1, day.bytes + costs.poll
    return Day(*(value * DAY / span for value in (day.requests, day.bytes, day.storage, day.storage_bytes)), day.delay / max(1, seen))


def transfer(price, gigabytes):
    cost = 0
    for step, each in price["transfer"]:
        some = gigabytes if step is None else min(step, gigabytes)
        cost, gigabytes = cost + some * each, gigabytes - some
    return cost


def costs_of(prices, day, puts):
    """USD a month: of S3 alone, of S3 behind CloudFront, of R2 alone. `day` is of all caches together."""
    month = {name: getattr(day, name) * MONTH for name in ("requests", "bytes", "storage")}
    alone = {name: prices[name]["put"] * puts * MONTH + prices[name]["get"] * month["requests"] + transfer(prices[name], month["bytes"] / 1e9)
             for name in ("S3", "R2")}
    cached = (prices["S3"]["put"] * puts * MONTH + prices["S3"]["get"] * month["storage"] + prices["CloudFront"]["get"] * month["requests"]
              + transfer(prices["CloudFront"], month["bytes"] / 1e9))
    return alone["S3"], cached, alone["R2"]


def figures(args, costs, prices):
    rows = [["each follower asks every", "has a publish after", "requests a day, million", "GB a day", "to the storage, a second",
             "without caches, a second", "S3 alone", "S3 behind CloudFront", "R2 alone"]]
    for name, poll in POLLS.items():
        one = simulate(args.followers // args.caches, poll, args.publishes, args.head_cache, costs, args.seed)
        day = Day(*(getattr(one, each) * args.caches for each in ("requests", "bytes", "storage", "storage_bytes")), one.delay)
        # An object goes to each cache once; who is not far behind needs none.
        if poll * args.publishes / DAY > costs.behind[0][1]:
            day.storage += (costs.puts - 2) * args.publishes * args.caches
        rows.append([name, f"{day.delay:,.1f} s", f"{day.requests / 1e6:,.0f}", f"{day.bytes / 1e9:,.0f}", f"{day.storage / DAY:,.1f}",
                     f"{day.requests / DAY:,.0f}", *(f"{cost:,.0f}" for cost in costs_of(prices, day, costs.puts * args.publishes))])
    first = args.followers * costs.whole / 1e9
    return [*table(rows), "", f"The last three columns are USD a month. A first copy of {STORE} MB for each of {args.followers:,} followers, once: "
            f"{first:,.0f} GB, {transfer(prices['S3'], first):,.0f} USD from S3, {transfer(prices['CloudFront'], first):,.0f} USD from CloudFront. "
            f"S3 promises {S3_RATE:,} GETs a second for one prefix: that is the limit without caches."]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--followers", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--caches", type=int, default=100, metavar="N", help="that ask the storage, each for itself")
    parser.add_argument("--publishes", type=float, default=DAY / 60, metavar="N", help="a day, of one row each (default: one a minute)")
    parser.add_argument("--head-cache", type=float, default=2, metavar="S", help="as of `send --head-cache`")
    parser.add_argument("--prices", metavar="FILE", help="JSON as PRICES in scale.py")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--write", action="store_true", help="put the figures into SCALE.md")
    args = parser.parse_args()
    prices = PRICES
    if args.prices:
        with open(args.prices) as file:
            prices = json.load(file)
    text = "\n".join(figures(args, measured(), prices)) + "\n"
    print(text, end="")
    if args.write:
        put_figures(os.path.join(HERE, "SCALE.md"), BEGIN, END, text)


if __name__ == "__main__":
    main()
