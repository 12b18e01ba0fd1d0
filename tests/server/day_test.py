"""A day condensed: many requests of all kinds, one in ten hostile, with an eye on answers and memory.

  python day_test.py PROGRAM MODELS [REQUESTS]

Wrong answers and memory that grows after the first tenth (at least 1,000 requests) end it with code 1. 20,000 requests
take tens of minutes on two cores; `serve_test.sh` makes the models."""
import base64
import concurrent.futures
import json
import os
import random
import socket
import sys
import threading

from serving import Server, difference, form, png

PROGRAM, MODELS = sys.argv[1], sys.argv[2]
REQUESTS = int(sys.argv[3]) if len(sys.argv) > 3 else 20000
CLIENTS = 16
GROWTH = 0.10  # of the memory after the warm-up
PICTURE = png(40, 32, lambda x, y: (6 * x, 8 * y, (x * y) % 256))
RAW = {"Content-Type": "image/png"}


class Day:
    def __init__(self, server):
        self.server, self.lock, self.wrong, self.done = server, threading.Lock(), [], 0
        self.known = {}  # pictures by seed: asked again, they must be the same
        self.memory = []

    def fail(self, what, detail):
        with self.lock:
            self.wrong.append((what, str(detail)[:300]))

    def expect(self, what, answer, *statuses):
        if answer[0] not in statuses:
            self.fail(what, answer[0:1] + answer[2:])
        return answer[0] == 200

    # --- what an honest client asks
    def generate(self, rng):
        seed = rng.randrange(40)
        answer = self.server.post("/api/generate", {"seed": seed, "steps": 2})
        if not self.expect("generate", answer, 200, 503):
            return
        picture = base64.b64decode(json.loads(answer[2])["pictures"][0]["png"])
        with self.lock:
            before = self.known.setdefault(seed, picture)
        if difference(before, picture)[1] > 1:
            self.fail("generate", f"seed {seed} gave another picture")

    def stream(self, rng):
        names = [name for name, _ in self.server.events("/api/generate", {"seed": rng.randrange(9), "steps": 3, "count": 2, "stream": True})]
        if names[0] != "start" or names[-1] != "done" or names.count("step") != 6 or names.count("picture") != 2:
            self.fail("stream", names)

    def inpaint(self, rng):
        body, headers = form({"steps": 2, "box": "4,4,9,9"}, {"image": ("a.png", PICTURE)})
        self.expect("inpaint", self.server.post("/api/inpaint", body, headers), 200, 503)

    def openai(self, rng):
        self.expect("openai", self.server.post("/v1/images/generations", {"prompt": "a ring", "n": 1, "steps": 2}), 200, 503)

    def recognise(self, rng):
        route = rng.choice(["classify", "features", "segment", "detect"])
        self.expect(route, self.server.post("/api/" + route, PICTURE, RAW), 200, 503)

    def look(self, rng):
        path = rng.choice(["/", "/app.js", "/api/models", "/healthz", "/metrics", "/v1/models", "/api/runs", "/api/openapi.json"])
        self.expect(path, self.server.get(path), 200)

    # --- what a hostile one does
    def hostile(self, rng):
        port = self.server.port
        host = f"Host: 127.0.0.1:{port}\r\n".encode()
        kind = rng.randrange(10)
        if kind == 0:
            self.server.raw(rng.randbytes(rng.randrange(1, 4000)), seconds=1, shut=True)
        elif kind == 1:
            self.expect("deep", self.server.post("/api/generate", b"[" * 60000, {"Content-Type": "application/json"}), 400)
        elif kind == 2:
            self.expect("junk picture", self.server.post("/api/classify", rng.randbytes(2000), RAW), 400)
        elif kind == 3:
            bad = bytearray(PICTURE)
            for _ in range(8):
                bad[rng.randrange(8, len(bad))] = rng.randrange(256)
            self.expect("broken picture", self.server.post("/api/segment", bytes(bad), RAW), 200, 400, 413)
        elif kind == 4:
            self.expect("rebinding", self.server.get("/api/models", {"Host": "evil.example"}), 421)
        elif kind == 5:
            self.expect("other site", self.server.post("/api/generate", {"steps": 1}, {"Origin": "http://evil.example"}), 403)
        elif kind == 6:  # goes away in the middle
            body = json.dumps({"steps": 200, "count": 32, "stream": bool(rng.randrange(2))}).encode()
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(b"POST /api/generate HTTP/1.1\r\n" + host + b"Content-Type: application/json\r\n" + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        elif kind == 7:  # promises more than it sends
            self.server.raw(b"POST /api/classify HTTP/1.1\r\n" + host + b"Content-Type: image/png\r\nContent-Length: 30000\r\n\r\n" + b"x" * 100, seconds=1, shut=True)
        elif kind == 8:
            self.expect("too much", self.server.post("/api/generate", {"count": 10 ** 9}), 400)
        else:
            self.expect("path", self.server.get("/api/runs/picture?run=..%2F..&picture=..%2Fetc%2Fpasswd"), 404)

    def one(self, number):
        rng = random.Random(number)
        try:
            if rng.random() < 0.1:
                self.hostile(rng)
            else:
                rng.choices([self.generate, self.stream, self.inpaint, self.openai, self.recognise, self.look], [40, 8, 6, 10, 16, 20])[0](rng)
        except Exception as error:  # a connection that ends without an answer is wrong, too
            self.fail("exception", repr(error))
        with self.lock:
            self.done += 1
            note = self.done % max(1, REQUESTS // 20) == 0
        if note:
            self.memory.append((self.done, self.server.metric("process_resident_memory_bytes")))
            print(f"{self.done} requests, {self.memory[-1][1] / 2 ** 20:.1f} MiB, {len(self.wrong)} wrong", flush=True)


def main():
    with Server(PROGRAM, [os.path.join(MODELS, name) for name in ("addp", "classifier", "detector", "segmenter")], "--watch", MODELS) as server:
        day = Day(server)
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            for _ in pool.map(day.one, range(REQUESTS)):
                pass
        for what, detail in day.wrong[:20]:
            print("WRONG", what, detail)
        warm = [bytes for done, bytes in day.memory if done >= max(1000, REQUESTS // 10)]
        growth = warm[-1] / warm[0] - 1 if len(warm) > 1 else 0
        print(f"{day.done} requests, {len(day.wrong)} answered wrongly, memory {100 * growth:+.1f}% after the warm-up")
        code, _ = server.stop()
        return 1 if day.wrong or growth > GROWTH or code != 130 else 0


if __name__ == "__main__":
    sys.exit(main())
