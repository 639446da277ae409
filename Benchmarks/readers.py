"""What readers pay, as `serving-bench` (in `serving/`) measures it."""
import json
import subprocess

RUNS = 3


def measure(program, say):
    """The figures of the run in the middle, by its longest wait; each is a median or a quantile of many already."""
    runs = []
    for number in range(RUNS):
        done = subprocess.run([program], capture_output=True, text=True, check=True, timeout=300)
        runs.append(json.loads(done.stdout))
        say(f"readers: run {number + 1} of {RUNS}: " + ", ".join(f"{each['ratio']:.3f}x" for each in runs[-1]["reads"]))
    return sorted(runs, key=lambda run: run["swap"]["p99"])[RUNS // 2]
