#!/usr/bin/env python3
"""Faults while training: after each, the resumed run must end bit-equal to one that nothing disturbed.

  run.py PROGRAM [--sample] [--rounds N] [--seed S]     the matrix of stages and faults, each cell N times
  run.py PROGRAM --soak SECONDS [--seed S]              two stages, each killed every 3 to 90 seconds

Two runs are equal if last.safetensors, best.safetensors and model.safetensors are, byte for byte, and if the log has the
same figures for the same steps (but for the pictures a second). A soak has no end to wait for: it compares the last
checkpoints, at a step that both have saved, and the logs before it. One line for each cell; the exit code is 1 where one
differs.
"""
import argparse
import concurrent.futures
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
SHAPES = "--size 32 --data shapes:size=32,count=64,val=16,seed=1 --batch-size 4".split()
COMMON = "--device cpu --threads 1 --workers 1 --picture-every 5 --log-every 1 --save-every 3 --eval-every 4 --ema 0.9 --lr 1e-3 -q".split()
NETWORK = "--preset nano --width 32 --depth 1 --decoder-width 32 --decoder-depth 1".split()
CODEBOOK = ("--channels 8 --multipliers 1,2 --stem 2 --blocks 1 --groups 4 --codes 32 --code-width 4 --unit-codes "
            "--perceptual 0 --restart-every 4").split()
STAGES = {
    "tokenizer": CODEBOOK,
    "predictor": [*NETWORK, "--tokenizer", "{base}/tokenizer", "--token-views", "2"],
    "addp": [*NETWORK, "--tokenizer", "{base}/tokenizer", "--predictor", "{base}/predictor"],
    "classifier": ["--preset", "nano", "--patch", "8"],
    "probe": ["--model", "{base}/classifier", "--feature-views", "2"],
    "segmenter": ["--config", "{source}/configs/segmenter/tiny.toml"],
    "detector": ["--config", "{source}/configs/detector/tiny.toml"],
}
STEPS = 24
ENDLESS = 1000000  # steps that no soak comes to the end of
LIMIT = 600  # seconds of one run, on a busy machine
GROWTH = 16  # MiB that the second half of a long run may hold more than the first


class Bench:
    def __init__(self, program, root):
        self.program = str(Path(program).resolve())
        self.root = Path(root)
        self.base = self.root / "base"
        self.shim = self.root / "shim.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.shim, HERE / "shim.c", "-ldl"], check=True)
        self.times = {}

    def command(self, stage, steps, extra=()):
        names = {"base": str(self.base), "source": str(HERE.parent.parent)}
        own = [word.format(**names) for word in STAGES[stage]]
        return [self.program, "train", stage, *SHAPES, *own, *COMMON, "--steps", str(steps), *extra, "--out", "run"]

    def start(self, command, folder, environment=None, limits=None):
        folder.mkdir(parents=True, exist_ok=True)

        def prepare():
            for name, value in (limits or {}).items():
                resource.setrlimit(name, (value, value))

        return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=open(folder / "err", "ab"), preexec_fn=prepare if limits else None,
                                env=dict(os.environ, OMP_NUM_THREADS="1", **(environment or {})))

    def finish(self, command, folder, what):
        """The same command until it ends well; it must not need more than one try."""
        code = self.start(command, folder).wait(timeout=LIMIT)
        if code != 0:
            raise RuntimeError(f"{what}: the resumed run ended with {code}: {(folder / 'err').read_text()[-800:]}")

    def make_base(self):
        for stage in ("tokenizer", "predictor", "classifier"):
            work = self.root / ("make-" + stage)
            self.finish(self.command(stage, 2), work, stage)
            shutil.move(work / "run", self.base / stage)

    def reference(self, stage, steps, extra=()):
        folder = self.root / "-".join(["reference", stage, *[word.strip("-") for word in extra]])
        if not folder.exists():
            begin = time.monotonic()
            self.finish(self.command(stage, steps, extra), folder, stage)
            self.times[folder] = time.monotonic() - begin
        return folder


def figures(folder):
    lines = []
    for line in (folder / "run/log.jsonl").read_text().splitlines(keepends=True):
        if not line.endswith("\n"):
            break  # of a run that was killed while it wrote
        value = json.loads(line)
        value.pop("pictures_per_second", None)
        lines.append(value)
    return sorted(lines, key=lambda v: (v["step"], v["kind"]))


def difference(one, other):
    for name in ("last.safetensors", "best.safetensors", "model.safetensors"):
        if (one / "run" / name).read_bytes() != (other / "run" / name).read_bytes():
            return f"{name} differs"
    return "" if figures(one) == figures(other) else "the log differs"


# --- faults: each disturbs the run in `folder` once; the caller then finishes it


def saved(folder):
    return (folder / "run/last.safetensors").exists()


def wait_moment(process, folder, numbers, whole):
    """A random moment of the run, the start included."""
    end = time.monotonic() + numbers.uniform(0.05, 0.95) * whole
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)


def stop_with(signals):
    def fault(bench, command, folder, numbers, whole):
        process = bench.start(command, folder)
        wait_moment(process, folder, numbers, whole)
        for number in signals:
            if process.poll() is None:
                process.send_signal(number)
                time.sleep(0.02)
        process.wait(timeout=LIMIT)
        return command

    return fault


def full_disk(bench, command, folder, numbers, whole):
    size = max((bench.reference_state.stat().st_size * numbers.choice([1, 5, 9])) // 10, 512)
    process = bench.start(command, folder, limits={resource.RLIMIT_FSIZE: size})
    if process.wait(timeout=LIMIT) != 1:
        raise RuntimeError("a full disk must end with 1")
    return command


def lost_rank(bench, command, folder, numbers, whole):
    process = bench.start(command, folder)
    wait_moment(process, folder, numbers, whole)
    ranks = subprocess.run(["ps", "--ppid", str(process.pid), "-o", "pid="], capture_output=True, text=True).stdout.split()
    if ranks:
        os.kill(int(numbers.choice(ranks)), signal.SIGKILL)
    process.wait(timeout=LIMIT)
    return command


def damaged(bench, command, folder, numbers, whole):
    process = bench.start(command, folder)
    while process.poll() is None and not (folder / "run/previous.safetensors").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    path = folder / "run/last.safetensors"
    content = bytearray(path.read_bytes())
    if numbers.random() < 0.5:
        content[numbers.randrange(len(content))] ^= 1 << numbers.randrange(8)
    else:
        del content[numbers.randrange(len(content)):]
    # A file of its own: where the kill came between the two names of a state, they still share one.
    torn = folder / "run/torn"
    torn.write_bytes(content)
    torn.rename(path)
    return command


def shimmed(name, value):
    def fault(bench, command, folder, numbers, whole):
        process = bench.start(command, folder, {"LD_PRELOAD": str(bench.shim), name: str(value)})
        wait_moment(process, folder, numbers, whole)
        process.send_signal(numbers.choice([signal.SIGKILL, signal.SIGTERM]))
        process.wait(timeout=LIMIT)
        return command

    return fault


FAULTS = {
    "kill": stop_with([signal.SIGKILL]),
    "term": stop_with([signal.SIGTERM]),
    "int-int-term": stop_with([signal.SIGINT, signal.SIGINT, signal.SIGTERM]),
    "hang-up": stop_with([signal.SIGHUP]),
    "full-disk": full_disk,
    "damaged": damaged,
    "slow-disk": shimmed("ADDP_SLOW", 3000),
    "clock-jump": shimmed("ADDP_CLOCK", 86400 * 400),
    "lost-rank": lost_rank,
}
SAMPLE = [("tokenizer", "kill"), ("tokenizer", "int-int-term"), ("tokenizer", "damaged"), ("classifier", "term"),
          ("classifier", "full-disk"), ("segmenter", "kill")]


def cell(bench, stage, fault, number, seed):
    extra = ("--processes", "2") if fault == "lost-rank" else ()
    reference = bench.reference(stage, STEPS, extra)
    bench.reference_state = reference / "run/last.safetensors"
    numbers = random.Random(f"{seed} {stage} {fault} {number}")
    folder = bench.root / f"{stage}-{fault}-{number}"
    command = bench.command(stage, STEPS, extra)
    try:
        FAULTS[fault](bench, command, folder, numbers, bench.times.get(reference, 5))
        bench.finish(command, folder, f"{stage}, {fault}")
        problem = difference(reference, folder)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{stage:<11} {fault:<13} {number}: {problem or 'equal'}", flush=True)
    return not problem


def matrix(bench, options):
    cells = SAMPLE if options.sample else [(stage, fault) for stage in STAGES for fault in FAULTS]
    results = [cell(bench, stage, fault, number, options.seed) for number in range(options.rounds) for stage, fault in cells]
    print(f"{len(results)} faults, {results.count(False)} runs differ, seed {options.seed}")
    return 1 if False in results else 0


# --- soak


def resident(process):
    try:
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def live(bench, command, folder, seconds):
    """One life of a run, ended by SIGKILL after so many seconds: whether it was, its exit code, its memory four times a
    second in KiB."""
    process, memory = bench.start(command, folder), []
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        memory.append(resident(process))
        time.sleep(0.25)
    killed = process.poll() is None
    if killed:
        process.kill()
    return killed, process.wait(), memory


def growth(memory):
    """How much more a run held in its second half than in its first, in MiB. The first tenth is left out: there it
    starts."""
    memory = memory[len(memory) // 10:]
    middle = len(memory) // 2
    return (max(memory[middle:], default=0) - max(memory[:middle], default=0)) / 1024


def killed_again(bench, command, folder, seconds, numbers):
    """The run under SIGKILL for so many seconds: how often, and the code it ended with by itself, which it should not."""
    kills, end = 0, time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        killed, code, _ = live(bench, command, folder, min(numbers.uniform(3, 90), left))
        if not killed:
            return kills, code
        kills += 1
    return kills, None


def checkpoint(folder, wanted=0):
    """The step of a run's last checkpoint, and its bytes if it has come to the wanted one. Between two renames there may be
    none."""
    for name in ("last", "previous"):
        try:
            with open(folder / f"run/{name}.safetensors", "rb") as file:
                length = file.read(8)
                header = file.read(int.from_bytes(length, "little"))
                step = int(json.loads(header)["__metadata__"]["addp.step"])
                return step, length + header + file.read() if step >= wanted else b""
        except FileNotFoundError:
            continue
    return 0, b""


def meet(bench, command, one, other):
    """Goes on with the run that is behind until it has saved the other's step: that step, and what differs there."""
    behind, ahead = sorted((one, other), key=lambda run: checkpoint(run)[0])
    (step, state), (wanted, goal) = checkpoint(behind), checkpoint(ahead)
    process = bench.start(command, behind)
    while step < wanted and process.poll() is None:
        time.sleep(0.02)
        step, state = checkpoint(behind, wanted)
    process.kill()
    process.wait()
    if (step, state) != (wanted, goal):
        return wanted, f"the checkpoints differ (steps {step} and {wanted})"
    # What is logged of the step itself may come after its checkpoint, and the run was killed there.
    until = [[line for line in figures(run) if line["step"] < step] for run in (one, other)]
    return wanted, "" if until[0] == until[1] else "the log differs"


def soak_stage(bench, stage, seconds, seed):
    """A run that is killed beside one that is not. When the time is up both are, and are compared where they meet."""
    print(f"{stage}: seed {seed}", flush=True)
    command = bench.command(stage, ENDLESS)
    straight, folder = bench.root / f"{stage}-straight", bench.root / f"{stage}-soak"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        undisturbed = pool.submit(live, bench, command, straight, seconds)
        kills, code = killed_again(bench, command, folder, seconds, random.Random(f"{seed} {stage}"))
        killed, straight_code, memory = undisturbed.result()
    more = growth(memory)
    steps, problem = 0, ""
    if code is not None or not killed:
        problem = f"ended with {code}, the undisturbed run with {straight_code}: {(folder / 'err').read_text()[-800:]}"
    else:
        steps, problem = meet(bench, command, straight, folder)
        problem = problem or ("memory grows" if more > GROWTH else "")
    print(f"{stage}: {steps} steps, {kills} kills in {seconds:.0f} seconds, {problem or 'equal'}; "
          f"memory of the undisturbed run {max(memory) // 1024} MiB, second half {more:+.1f} MiB", flush=True)
    return not problem


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--soak", type=float, default=0)
    options = parser.parse_args()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup the program would rightly ignore it
    root = tempfile.mkdtemp(prefix="addp-faults-")
    try:
        bench = Bench(options.program, root)
        bench.make_base()
        if options.soak:
            with concurrent.futures.ThreadPoolExecutor(2) as pool:  # each waits for its processes
                soak = lambda stage: soak_stage(bench, stage, options.soak, options.seed)
                return 1 if False in list(pool.map(soak, ("tokenizer", "classifier"))) else 0
        return matrix(bench, options)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
