#!/usr/bin/env python3
"""Runs the program on hostile input: tests/hostile/cases/*.toml, and with --random N as many calls with random options.

  run.py PROGRAM [--jobs N] [--long] [--random N] [--seed S] [--only WORD] [--keep FOLDER]

A case is data (see cases/README.md): what is made, what is called, the exit code and the words that must come. Whatever
a case says, it fails on a crash, a hang, a temporary file that stays, raw words of libraries in a message, and a failure
without a sentence. The last line counts the cases; the exit code is 1 where one failed.
"""
import argparse
import concurrent.futures
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import makers

HERE = Path(__file__).parent
CODES = (0, 1, 2, 3, 4, 130)
# What libraries say among themselves.
RAW_WORDS = ("json.exception", "filesystem error", "enforce fail", "map::at", "vector::", "basic_string", "std::", "c10::",
             "terminate called", "what():", "stoll", "stod", "unordered_map")
SECONDS = 120  # of one call on a busy machine

SMALL = ("--size 32 --batch-size 4 --steps 1 --lr 1e-3 --device cpu --threads 1 --workers 1 --picture-every 0 -q "
         "--data shapes:size=32,count=16,val=8,seed=1").split()
NETWORK = "--preset nano --width 32 --depth 1 --decoder-width 32 --decoder-depth 1".split()
TOKENIZER = ("--channels 8 --multipliers 1,2 --stem 2 --blocks 1 --groups 4 --codes 32 --code-width 4 --unit-codes "
             "--perceptual 0 --adversarial 0").split()
MODELS = (
    ("tokenizer", TOKENIZER),
    ("predictor", [*NETWORK, "--tokenizer", "{models}/tokenizer"]),
    ("addp", [*NETWORK, "--tokenizer", "{models}/tokenizer", "--predictor", "{models}/predictor"]),
    ("classifier", ["--preset", "nano", "--patch", "8"]),
    ("segmenter", ["--config", "configs/segmenter/tiny.toml"]),
    ("detector", ["--config", "configs/detector/tiny.toml"]),
)


class Failure(Exception):
    pass


def filled(value, names):
    """Puts {work}, {models}, ... into all strings of a case."""
    if isinstance(value, str):
        for name, text in names.items():
            value = value.replace("{" + name + "}", text)
        return value
    if isinstance(value, list):
        return [filled(item, names) for item in value]
    if isinstance(value, dict):
        return {key: filled(item, names) for key, item in value.items()}
    return value


def expanded(words):
    """@tokenizer in a command: a training of one step of that kind, without --out."""
    out = []
    for word in words:
        kinds = {"@" + name: ["train", name, *options, *SMALL] for name, options in MODELS}
        out += kinds.get(word, [word])
    return out


def argument(text):
    """An argument; \\xNN stands for a byte, which need not be UTF-8."""
    if "\\x" not in text:
        return text.encode()
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), text.encode())


class Runner:
    def __init__(self, program, root):
        self.program = str(Path(program).resolve())
        self.root = Path(root)
        self.models = self.root / "models"
        (self.root / "cache").mkdir(parents=True, exist_ok=True)

    def environment(self, extra):
        plain = dict(os.environ, OMP_NUM_THREADS="1", XDG_CACHE_HOME=str(self.root / "cache"), LC_ALL="C.UTF-8")
        plain.update(extra)
        return plain

    def make_models(self):
        for name, options in MODELS:
            options = filled(options, {"models": str(self.models)})
            command = [self.program, "train", name, *options, *SMALL, "--out", str(self.models / name)]
            done = subprocess.run(command, capture_output=True, env=self.environment({}), stdin=subprocess.DEVNULL)
            if done.returncode != 0:
                raise SystemExit(f"the {name} for the cases cannot be made: {done.stderr.decode(errors='replace')}")

    def call(self, step, work):
        """Runs the program as a step says; returns its exit code, stdout and stderr."""
        limits = step.get("limits", {})

        def prepare():
            os.setpgid(0, 0)
            for name, value in limits.items():
                resource.setrlimit(getattr(resource, "RLIMIT_" + name.upper()), (value, value))
            for stream in step.get("closed", []):
                os.close({"stdin": 0, "stdout": 1, "stderr": 2}[stream])

        out, err = open(work / ".out", "w+b"), open(work / ".err", "w+b")
        full = {name: open("/dev/full", "wb") for name in step.get("full", [])}
        command = [self.program, *map(argument, step["run"])]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=full.get("stdout", out),
                                   stderr=full.get("stderr", err), env=self.environment(step.get("env", {})),
                                   preexec_fn=prepare, cwd=step.get("cwd", os.getcwd()))
        try:
            self.disturb(process, step, work)
            code = process.wait(timeout=step.get("seconds", SECONDS))
        except subprocess.TimeoutExpired:
            raise Failure(f"did not end within {step.get('seconds', SECONDS)} seconds") from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            for stream in full.values():
                stream.close()
        out.seek(0), err.seek(0)
        return code, out.read().decode(errors="replace"), err.read().decode(errors="replace")

    def disturb(self, process, step, work):
        """What happens to a running call: {after = FILE or seconds, beside = another call, send = "TERM", times = 2}."""
        rule = step.get("signal")
        if not rule:
            return
        if isinstance(rule["after"], str):
            deadline = time.monotonic() + SECONDS
            while not os.path.exists(rule["after"]) and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
        else:
            time.sleep(rule["after"])
        if "beside" in rule:
            beside = work / "beside"
            beside.mkdir()
            self.check(dict(rule["beside"], run=expanded(rule["beside"]["run"])), beside)
        for _ in range(rule.get("times", 1)):
            if process.poll() is None:
                process.send_signal(getattr(signal, "SIG" + rule["send"]))
                time.sleep(rule.get("pause", 0.01))

    def check(self, step, work):
        wanted = step.get("code", 0)
        code, out, err = self.call(step, work)
        told = f"{out[-600:]}\n{err[-1500:]}"
        wanted = wanted if isinstance(wanted, list) else [wanted]
        if code < 0 and code not in wanted:
            raise Failure(f"was ended by signal {-code}\n{told}")
        if code not in wanted:
            raise Failure(f"exit code {code} instead of {wanted}\n{told}")
        for name, text, words in (("stdout", out, step.get("out", [])), ("stderr", err, step.get("err", []))):
            for word in words:
                if word not in text:
                    raise Failure(f"no '{word}' on {name}\n{told}")
        self.invariants(code, out, err, step, work)
        self.nothing_runs(step, work)

    @staticmethod
    def nothing_runs(step, work):
        """No process that names the case's folder is left after so many seconds."""
        if "gone" not in step:
            return
        end = time.monotonic() + step["gone"]
        while True:
            left = []
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    if os.fsencode(str(work)) in (process / "cmdline").read_bytes():
                        left.append(process.name)
                except OSError:
                    pass  # it has just ended
            if not left:
                return
            if time.monotonic() > end:
                raise Failure(f"processes are left: {left}")
            time.sleep(0.2)

    @staticmethod
    def invariants(code, out, err, step, work):
        for word in RAW_WORDS:
            if word in err:
                raise Failure(f"'{word}' on stderr: {err[-800:]}")
        for text in (out, err):
            if re.search(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]", text.replace("\r", "")):
                raise Failure(f"control characters reach the terminal: {text[-400:]!r}")
        streams_there = "stderr" not in step.get("closed", []) + step.get("full", [])
        if code in (1, 2, 3, 4) and streams_there:
            # A list of differences may follow the sentence.
            if not any(line.startswith("addp: ") and len(line) > 20 for line in err.splitlines()):
                raise Failure(f"no sentence: {err[-400:]}")
        left = [str(p) for p in work.rglob("*.tmp-*")] if code >= 0 else []
        if left:
            raise Failure(f"temporary files stay: {left}")
        for path in step.get("exists", []):
            if not os.path.exists(argument(path)):
                raise Failure(f"{path} is not there")
        for path in step.get("absent", []):
            if os.path.exists(argument(path)):
                raise Failure(f"{path} is there")

    def case(self, case):
        work = Path(tempfile.mkdtemp(prefix="case-", dir=self.root))
        try:
            names = {"work": str(work), "models": str(self.models), "long": "a" * 5000}
            steps = [dict(step, run=expanded(step["run"])) for step in [case, *case.get("then", [])]]
            case, *then = filled(steps, names)
            makers.make(work, case.get("make", []))
            kept = {path: Path(path).read_bytes() for path in case.get("unchanged", [])}
            self.check(case, work)
            for step in then:
                makers.make(work, step.get("make", []))
                self.check(step, work)
            for path, content in kept.items():
                if Path(path).read_bytes() != content:
                    raise Failure(f"{path} was changed")
            return None
        except Failure as failure:
            return str(failure)
        finally:
            shutil.rmtree(work, ignore_errors=True)


# --- random options

VALUES = ["0", "1", "-1", "2", "7", "0.5", "1e-9", "1e300", "-1e300", "nan", "inf", "-0", "9223372036854775807", "1e18",
          "", " ", "true", "auto", "cpu", "cuda:9", "all", "train", "1,2,3", ",", "1,,2", "left=10%", "ring", "../..", "/",
          "/dev/null", "/proc/self/mem", "\\xff\\xfe", "\\x1b[2J", "a" * 300, "shapes", "shapes:size=8,count=2",
          "shapes:size=-1", "shapes:count=99999999999999", "{work}/a.png", "{work}/cut.png", "{work}/text.txt",
          "{work}/pictures", "{work}/nowhere", "{work}/pipe", "{models}/addp", "{models}/classifier", "{models}/tokenizer",
          "{models}/segmenter", "{models}/detector/model.safetensors"]
BOUNDED = {"steps": "1", "epochs": "0", "batch-size": "2", "count": "1", "n": "1", "size": "32", "seconds": "0.1",
           "threads": "1", "workers": "1", "batch": "2", "limit": "2", "views": "1", "processes": "1",
           "dry-run": "true", "measure": "false"}
# No time, no end, or the network.
NEVER = {"demo", "weights", "bench images", "bench train", "bench generate", "bench growth", "serve"}


def commands_of(runner):
    """{command: [option, ...]} as the program's own help lists them."""
    ask = lambda *words: subprocess.run([runner.program, *words], capture_output=True, text=True).stdout
    found = {}
    for line in ask("--help").splitlines():
        match = re.match(r"  ([a-z]+(?: [a-z]+)?)  +\S", line)
        if match and match[1] not in NEVER:
            found[match[1]] = re.findall(r"^  (?:-., )?--([a-z0-9-]+)", ask(*match[1].split(), "--help-all"), re.M)
    return {name: options for name, options in found.items() if options}


def random_case(commands, numbers, index):
    name = numbers.choice(sorted(commands))
    options = commands[name]
    run = name.split()
    for option in options:
        value = None
        if option in ("help", "print-config"):
            continue
        if option == "out":
            value = numbers.choice(["{work}/out", "{work}/out", "{work}/text.txt", "\\xff", "/proc/x"])
        elif option == "model":
            value = "{models}/" + numbers.choice(["addp", "predictor", "classifier", "segmenter", "detector", "nowhere"])
        elif option in ("tokenizer", "predictor"):
            value = "{models}/" + numbers.choice([option, option, "classifier"])
        elif option == "data":
            value = numbers.choice(["shapes:size=32,count=8,val=4", "{work}/pictures", "{work}/text.txt"])
        elif option in BOUNDED:
            value = BOUNDED[option]
        if numbers.random() < 3 / len(options):
            value = numbers.choice(VALUES)
        if value is not None:
            run.append(f"--{option}={value}")
    run += [numbers.choice(VALUES) for _ in range(numbers.choice([0, 0, 1, 2]))]
    steps = [["png", "a.png"], ["cut_png", "cut.png"], ["text", "text.txt", "some text\n"], ["pictures", "pictures", 4],
             ["pipe", "pipe"]]
    # 130 and 137 are nobody's answer to options.
    return {"name": f"random {index}: {' '.join(run)}", "make": steps, "run": run, "cwd": "{work}", "code": [0, 1, 2, 3, 4]}


def load_cases(only, long):
    cases = []
    for file in sorted((HERE / "cases").glob("*.toml")):
        for case in tomllib.loads(file.read_text())["case"]:
            case["name"] = f"{file.stem}: {case['name']}"
            if only in case["name"] and (long or not case.get("long")):
                cases.append(case)
    return cases


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--long", action="store_true", help="the slow cases, too")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", help="a folder for the models, which are then used again")
    options = parser.parse_args()
    os.chdir(HERE.parent.parent)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup the program would rightly ignore it
    root = Path(options.keep or tempfile.mkdtemp(prefix="addp-hostile-")).resolve()
    try:
        runner = Runner(options.program, root)
        if not (runner.models / "detector" / "model.safetensors").exists():
            runner.make_models()
        cases = load_cases(options.only, options.long)
        if options.random:
            commands, numbers = commands_of(runner), random.Random(options.seed)
            cases += [random_case(commands, numbers, i) for i in range(options.random)]
        begin, failed = time.monotonic(), 0
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for case, problem in zip(cases, pool.map(runner.case, cases)):
                if problem:
                    failed += 1
                    print(f"FAILED {case['name']}: {problem}", flush=True)
        print(f"{len(cases)} cases, {failed} failed, {time.monotonic() - begin:.0f} seconds, seed {options.seed}")
        return 1 if failed or not cases else 0
    finally:
        if not options.keep:
            shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
