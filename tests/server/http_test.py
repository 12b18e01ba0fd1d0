"""The service over HTTP: python http_test.py PROGRAM MODELS, where MODELS has addp, predictor, classifier, detector,
segmenter and runs."""
import base64
import concurrent.futures
import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib

from serving import Server, difference, form, pixels, png

PROGRAM, MODELS = sys.argv.pop(1), sys.argv.pop(1)
NAMES = ["addp", "predictor", "classifier", "detector", "segmenter"]
PATHS = [os.path.join(MODELS, name) for name in NAMES]
PICTURE = png(40, 32, lambda x, y: (6 * x, 8 * y, (x * y) % 256))
RAW = {"Content-Type": "image/png"}


def b64(data):
    return base64.b64encode(data).decode()


class Service(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(PROGRAM, PATHS, "--watch", MODELS, "--data", "shapes:size=32,count=12,val=4")

    @classmethod
    def tearDownClass(cls):
        code, _ = cls.server.stop()
        assert code == 130, code

    def made(self, **request):
        return [base64.b64decode(one["png"]) for one in self.server.json("/api/generate", {"steps": 3, **request})["pictures"]]

    # --- making
    def test_pictures_are_those_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as out:
            subprocess.run([PROGRAM, "generate", "--model", PATHS[0], "-n", "3", "--steps", "3", "--seed", "7", "--class", "ring",
                            "--guidance", "2", "--threads", "1", "--precision", "fp32", "--out", out, "-q"], check=True, stdout=subprocess.DEVNULL)
            served = self.made(seed=7, count=3, **{"class": "ring", "guidance": 2})
            for i, data in enumerate(served):
                with open(os.path.join(out, f"{i:06}.png"), "rb") as file:
                    self.assertLessEqual(difference(data, file.read())[0], 1)

    def test_a_picture_does_not_depend_on_its_batch(self):
        alone = self.made(seed=11)[0]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            futures = [pool.submit(self.made, seed=seed) for seed in [11, *range(100, 115)]]
        self.assertLessEqual(difference(futures[0].result()[0], alone)[0], 1)
        self.assertGreater(difference(futures[1].result()[0], alone)[0], 1)

    def test_pictures_carry_their_recipe(self):
        data = self.made(seed=3, first=2, **{"class": "star", "guidance": 1.5, "top-p": 0.9})[0]
        for text in (b"addp:seed", b"addp:number", b"addp:top-p", b"addp:class", b"addp:command", b"addp:model-sha256", b"star"):
            self.assertIn(text, data)

    def test_steps_arrive_as_events(self):
        events = list(self.server.events("/api/generate", {"count": 2, "steps": 4, "stream": True}))
        names = [name for name, _ in events]
        self.assertEqual(names[0], "start")
        self.assertEqual(names[-1], "done")
        self.assertEqual(names.count("step"), 8)
        self.assertEqual(names.count("picture"), 2)
        start = events[0][1]
        last = [data for name, data in events if name == "step" and data["picture"] == 0][-1]
        self.assertEqual(len(last["tokens"]), start["grid"]["width"] * start["grid"]["height"])
        self.assertEqual(set(last["reliable"]), {"1"})
        self.assertTrue(last["image"].startswith("data:image/jpeg;base64,"))

    def test_a_predictor_streams_too(self):
        names = [name for name, _ in self.server.events("/api/generate", {"model": "predictor", "steps": 2, "stream": True})]
        self.assertEqual(names, ["start", "step", "step", "picture", "done"])

    # --- editing
    def test_edited_pictures_carry_their_recipe(self):
        request = {"image": b64(PICTURE), "box": [0, 0, 9, 9], "steps": 2, "passes": 1, "match": False, "feather": 3}
        data = base64.b64decode(self.server.json("/api/inpaint", request)["pictures"][0]["png"])
        for text in (b"addp inpaint", b"--passes 1", b"--no-match", b"--feather 3", b"addp:passes", b"addp:match"):
            self.assertIn(text, data)

    def test_the_steps_of_both_passes_are_counted_as_one_run(self):
        request = {"image": b64(PICTURE), "box": [0, 0, 9, 9], "steps": 3, "passes": 2, "stream": True}
        events = list(self.server.events("/api/inpaint", request))
        steps = [data for name, data in events if name == "step"]
        self.assertEqual([data["steps"] for name, data in events if name == "window"], [len(steps)])
        self.assertEqual([step["step"] for step in steps], list(range(len(steps))))
        self.assertEqual({step["steps"] for step in steps}, {len(steps)})

    def test_only_hidden_pixels_change(self):
        width, height, before = pixels(PICTURE)
        mask = png(width, height, lambda x, y: (255,) * 3 if 8 <= x < 20 and 4 <= y < 16 else (0,) * 3)
        body, headers = form({"steps": 3, "count": 2}, {"image": ("a.png", PICTURE), "mask": ("m.png", mask)})
        status, _, data = self.server.post("/api/inpaint", body, headers)
        self.assertEqual(status, 200, data[:200])
        for one in json.loads(data)["pictures"]:
            _, _, after = pixels(base64.b64decode(one["png"]))
            changed = 0
            for y in range(height):
                for x in range(width):
                    same = after[y][3 * x:3 * x + 3] == before[y][3 * x:3 * x + 3]
                    if not (8 <= x < 20 and 4 <= y < 16):
                        self.assertTrue(same, (x, y))
                    changed += not same
            self.assertGreater(changed, 70)

    def test_box_and_margins(self):
        answer = self.server.json("/api/inpaint", {"image": b64(PICTURE), "left": 8, "bottom": 4, "steps": 2})
        self.assertEqual((answer["pictures"][0]["width"], answer["pictures"][0]["height"]), (48, 36))
        self.server.json("/api/inpaint", {"image": "data:image/png;base64," + b64(PICTURE), "box": [0, 0, 9, 9], "steps": 2})
        for bad in ({}, {"box": [1, 2]}, {"box": [100, 100, 5, 5]}, {"left": 8192, "right": 8192, "top": 8192, "bottom": 8192}):
            status, _, data = self.server.post("/api/inpaint", {"image": b64(PICTURE), **bad})
            self.assertIn(status, (400, 413), (bad, data))
        self.assertEqual(self.server.post("/api/inpaint", {"image": b64(PICTURE), "box": [0, 0, 9, 9], "model": "predictor"})[0], 404)

    # --- recognising
    def test_recognition(self):
        status, _, data = self.server.post("/api/classify?top=3", PICTURE, RAW)
        classes = json.loads(data)["classes"]
        self.assertEqual((status, len(classes)), (200, 3))
        self.assertGreaterEqual(classes[0]["probability"], classes[1]["probability"])
        found = json.loads(self.server.post("/api/detect?score=0", PICTURE, RAW)[2])
        self.assertEqual((found["width"], found["height"]), (40, 32))
        for one in found["detections"]:
            self.assertEqual(one["segmentation"]["size"], [32, 40])
        labels = json.loads(self.server.post("/api/segment", PICTURE, RAW)[2])
        self.assertAlmostEqual(sum(one["share"] for one in labels["classes"]), 1, places=6)
        for one in labels["classes"]:
            self.assertEqual(one["color"] is None, one["name"] == "background", one)  # the ground stays as it is
        feature = json.loads(self.server.post("/api/features", PICTURE, RAW)[2])["feature"]
        self.assertGreater(len(feature), 8)

    def test_recognition_agrees_with_the_command_line(self):
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            file.write(PICTURE)
            file.flush()
            out = subprocess.run([PROGRAM, "classify", "--model", PATHS[2], file.name, "--top", "2", "--threads", "1", "--json"],
                                 check=True, capture_output=True).stdout
        wanted = json.loads(out)[0]["classes"]
        got = json.loads(self.server.post("/api/classify?top=2", PICTURE, RAW)[2])["classes"]
        self.assertEqual([one["name"] for one in got], [one["name"] for one in wanted])
        self.assertAlmostEqual(got[0]["probability"], wanted[0]["probability"], places=4)

    def test_neighbours(self):
        for _ in range(100):
            answer = json.loads(self.server.post("/api/neighbours?count=3", PICTURE, RAW)[2])
            if answer["known"] == answer["total"]:
                break
            time.sleep(0.1)
        self.assertEqual(len(answer["neighbours"]), 3)
        self.assertGreaterEqual(answer["neighbours"][0]["similarity"], answer["neighbours"][2]["similarity"])

    # --- what is around
    def test_descriptions(self):
        info = self.server.json("/api/models")
        self.assertEqual([one["name"] for one in info["models"]], NAMES)
        self.assertTrue(all(setting["help"] for setting in info["make"]))
        spec = self.server.json("/api/openapi.json")
        for path in spec["paths"]:
            if "get" in spec["paths"][path]:
                self.assertNotIn(self.server.get(path)[0], (405, 500), path)
        self.assertEqual(self.server.json("/healthz")["status"], "ok")
        self.assertIn("addp_requests_total", self.server.get("/metrics")[2].decode())
        runs = self.server.json("/api/runs")["runs"]
        self.assertIn("addp", [run["name"] for run in runs])
        self.assertGreater(len(self.server.json("/api/runs/log?run=addp&from=0")["lines"]), 0)

    def test_the_page_is_safe(self):
        status, headers, data = self.server.get("/")
        self.assertEqual(status, 200)
        policy = headers["Content-Security-Policy"]
        self.assertIn("script-src 'self'", policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertNotIn(b"http://", data.replace(b"http://www.w3.org", b""))
        self.assertEqual(self.server.get("/app.js")[1]["Content-Type"].split(";")[0], "text/javascript")
        tag = self.server.get("/app.js")[1]["ETag"]
        self.assertEqual(self.server.get("/app.js", {"If-None-Match": tag})[0], 304)

    def test_wrong_requests_say_what_is_wrong(self):
        for body, word in (({"steps": 0}, "steps"), ({"count": 1000}, "count"), ({"model": "nobody"}, "nobody"), ({"class": "unicorn"}, "unicorn"),
                           ({"seed": -1}, "seed"), ({"stepps": 3}, "steps"), ({"guidance": 3}, "class"), ({"steps": {"a": 1}}, "steps"), ([], "object")):
            status, _, data = self.server.post("/api/generate", body)
            self.assertIn(status, (400, 404), body)
            self.assertIn(word, json.loads(data)["error"]["message"], body)
            self.assertNotIn("--", json.loads(data)["error"]["message"])
        for data, kind in ((b"{", "application/json"), (b"x", "text/plain"), (b"[" * 100000, "application/json")):
            self.assertIn(self.server.post("/api/generate", data, {"Content-Type": kind})[0], (400, 415))
        for data in (b"", b"no picture", PICTURE[:60], png(2, 2, lambda x, y: (0, 0, 0))[:-20]):
            self.assertEqual(self.server.post("/api/classify", data, RAW)[0], 400)
        huge = bytearray(PICTURE)  # 65.6 megapixels, says its header, and the file is long enough for it
        huge[16:24] = (8100).to_bytes(4, "big") * 2
        huge[29:33] = zlib.crc32(huge[12:29]).to_bytes(4, "big")
        huge += bytes(200000)
        for route, body, headers in (("/api/classify", bytes(huge), RAW), ("/api/inpaint", *form({"box": "0,0,9,9"}, {"image": ("a", bytes(huge))})),
                                     ("/v1/images/edits", *form({"prompt": "a"}, {"image": ("a", PICTURE), "mask": ("m", bytes(huge))}))):
            status, _, data = self.server.post(route, body, headers)
            self.assertEqual(status, 413, route)
            self.assertIn(b"megapixels", data)
        # All of it is sent before the answer is read.
        self.assertEqual(self.server.post("/api/classify", bytes(33 << 20), RAW)[0], 413)
        self.assertEqual(self.server.get("/nowhere")[0], 404)
        self.assertEqual(self.server.get("/api/generate")[0], 404)
        self.assertEqual(self.server.get("/../../etc/passwd")[0], 404)
        self.assertEqual(self.server.get("/api/runs/log?run=../&from=0")[0], 404)
        self.assertEqual(self.server.get("/api/runs/picture?run=addp&picture=..%2Flog.jsonl")[0], 404)

    def test_odd_bytes(self):
        host = f"Host: 127.0.0.1:{self.server.port}\r\n"
        for data, status in ((f"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
                             (f"GET /api/models HTTP/1.1\r\n{host}Origin: http://evil.example\r\n\r\n", 403),
                             (f"POST /api/generate HTTP/1.1\r\n{host}Content-Length: 99999999999\r\n\r\n", 413),
                             (f"POST /api/generate HTTP/1.1\r\n{host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
                             (f"GET / HTTP/1.1\r\n\r\n", 400),
                             (f"GET /{'a' * 3000} HTTP/1.1\r\n{host}\r\n", 414),
                             (f"GET / HTTP/1.1\r\n{host}X: {'a' * 30000}\r\n\r\n", 431)):
            answer = self.server.raw(data.encode(), shut=True)
            self.assertTrue(answer.startswith(f"HTTP/1.1 {status} ".encode()), (data[:80], answer[:120]))
        for junk in (b"\0" * 5000, b"\x16\x03\x01\x00\xa5", os.urandom(3000), b"GET / HTTP/1.1\r\nHost"):
            self.server.raw(junk, shut=True)
        # Many ranges, deep paths, methods that are not served.
        self.assertNotEqual(self.server.get("/app.js", {"Range": "bytes=" + ",".join("0-" for _ in range(200))})[0], 500)
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
            self.assertIn(self.server.ask(method, "/api/generate", b"{}")[0], (400, 404, 405))
        self.assertEqual(self.server.json("/healthz")["status"], "ok")

    # --- load
    def test_many_clients_at_once(self):
        before = self.server.metric("addp_batches_total")
        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            made = list(pool.map(lambda seed: self.made(seed=seed)[0], range(200, 264)))
        self.assertEqual(len(set(made)), 64)
        self.assertLess(self.server.metric("addp_batches_total") - before, 40)

    def test_a_client_that_goes_frees_its_place(self):
        def leave(route, **request):
            body = json.dumps({"steps": 256, **request}).encode()
            connection = socket.create_connection(("127.0.0.1", self.server.port))
            connection.sendall(f"POST {route} HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\nContent-Type: application/json\r\n"
                               f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
            time.sleep(0.3)
            connection.close()
        edit = {"image": b64(PICTURE), "box": [0, 0, 30, 30], "count": 16}
        for route, request in (("/api/generate", {"count": 64, "stream": False}), ("/api/generate", {"count": 64, "stream": True}),
                               ("/api/inpaint", edit), ("/v1/images/generations", {"prompt": "a", "n": 64})):
            before = self.server.metric("addp_cancelled_total")
            leave(route, **request)
            for _ in range(600):
                if self.server.metric("addp_cancelled_total") > before and self.server.metric("addp_running_pictures") == 0:
                    break
                time.sleep(0.05)
            self.assertEqual(self.server.metric("addp_cancelled_total"), before + 1)
            self.assertEqual(self.server.metric("addp_queue_pictures"), 0)
            self.assertEqual(self.server.metric("addp_running_pictures"), 0)


class Starting(unittest.TestCase):
    def test_a_full_queue_answers_at_once(self):
        with Server(PROGRAM, PATHS[:1], "--queue", "8", "--batch", "4") as server:
            busy = threading.Thread(target=server.post, args=("/api/generate", {"steps": 100, "count": 8}))
            busy.start()
            while server.metric("addp_queue_pictures") != 4:  # the first four of it are being computed
                time.sleep(0.05)
            status, headers, _ = server.post("/api/generate", {"steps": 100, "count": 8})
            self.assertEqual((status, headers["Retry-After"]), (503, "1"))
            code, _ = server.stop()
            self.assertEqual(code, 130)
            busy.join()

    def test_interrupts_cancel_and_answer(self):
        for which in (signal.SIGINT, signal.SIGTERM):
            with Server(PROGRAM, PATHS[:1]) as server:
                answers = []
                client = threading.Thread(target=lambda: answers.append(server.post("/api/generate", {"steps": 256, "count": 64})[0]))
                client.start()
                while server.metric("addp_running_pictures") == 0:
                    time.sleep(0.05)
                self.assertEqual(server.stop(which)[0], 130)
                client.join()
                self.assertEqual(answers, [503])

    def test_a_kill_in_the_middle_leaves_nothing(self):
        server = Server(PROGRAM, PATHS[:1])
        events = server.events("/api/generate", {"steps": 256, "count": 16, "stream": True})
        next(events)
        server.process.kill()
        server.process.communicate()
        try:
            for _ in events:
                pass
        except (OSError, http.client.HTTPException):
            pass
        with Server(PROGRAM, PATHS[:1], "--port", str(server.port)) as again:
            self.assertEqual(again.json("/healthz")["status"], "ok")

    def test_other_addresses_need_a_token(self):
        def refused(*options):
            return subprocess.run([PROGRAM, "serve", "--model", PATHS[0], "--port", "0", *options], capture_output=True, text=True)
        self.assertEqual(refused("--host", "0.0.0.0").returncode, 2)
        self.assertEqual(refused("--host", "0.0.0.0", "--token", "short").returncode, 2)
        self.assertEqual(refused("--token", "a", "--token-file", "b").returncode, 2)
        self.assertEqual(refused("--watch", "/nowhere").returncode, 3)
        self.assertIn("cannot be served", refused("--model", os.path.join(MODELS, "tokenizer")).stderr)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("quite a long secret\nmore\n")
            file.flush()
            with Server(PROGRAM, PATHS[:1], "--host", "0.0.0.0", "--token-file", file.name) as server:
                self.assertEqual(server.get("/api/models")[0], 401)
                self.assertEqual(server.get("/api/models", {"Authorization": "Bearer quite a long secreT"})[0], 401)
                self.assertEqual(server.get("/api/models", {"Authorization": "Bearer quite a long secret"})[0], 200)
                self.assertEqual(server.get("/")[0], 200)
                code, errors = server.stop()
                self.assertEqual(code, 130)
                self.assertIn("plain HTTP", errors)

    def test_fast_where_the_model_has_it(self):
        with Server(PROGRAM, [os.path.join(MODELS, "addp"), os.path.join(MODELS, "fast")]) as server:
            self.assertEqual([one["fast"] for one in server.json("/api/models")["models"]], [False, True])
            ask = {"model": "fast", "steps": 4, "seed": 3, "fast": True}
            made = lambda: pixels(base64.b64decode(server.json("/api/generate", ask)["pictures"][0]["png"]))
            self.assertEqual(made(), made())
            steps = [data for name, data in server.events("/api/generate", {**ask, "stream": True}) if name == "step"]
            self.assertEqual(len([step for step in steps if step["image"]]), 4)  # decoded for those who watch
            status, _, answer = server.post("/api/generate", {**ask, "model": "addp"})
            self.assertEqual(status, 400)
            self.assertIn(b"addp distil", answer)
            body = {"image": b64(PICTURE), "box": [4, 4, 12, 12], "model": "fast", "fast": True, "steps": 4}
            self.assertEqual(server.post("/api/inpaint", body)[0], 200)

    def test_other_sizes(self):
        with Server(PROGRAM, PATHS[:1]) as server:
            made = server.json("/api/generate", {"size": "48x24", "steps": 2})["pictures"][0]["png"]
            width, height = struct.unpack(">II", base64.b64decode(made)[16:24])
            self.assertEqual((width, height), (48, 24))
            start = next(data for name, data in server.events("/api/generate", {"size": "48x24", "steps": 2, "stream": True}) if name == "start")
            self.assertEqual((start["width"], start["height"]), (48, 24))
            self.assertEqual(start["grid"]["width"], 2 * start["grid"]["height"])
            for size, word in (("50x50", b"multiples"), ("big", b"size"), ("8000x8000", b"tokens")):
                status, _, answer = server.post("/v1/images/generations", {"prompt": "a", "size": size})
                self.assertEqual(status, 400, size)
                self.assertIn(word, answer)
            self.assertEqual(server.post("/v1/images/generations", {"prompt": "a", "size": "64x32", "steps": 2})[0], 200)
            self.assertEqual(server.post("/v1/images/generations", {"prompt": "a", "size": "auto", "steps": 2})[0], 200)

    def test_without_a_model_it_serves_those_that_have_names(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "dots"))
            for kind in NAMES + ["tokenizer"]:
                os.symlink(os.path.abspath(os.path.join(MODELS, kind, "model.safetensors")), os.path.join(folder, "dots", kind + ".safetensors"))
            with Server(PROGRAM, [], environment={"ADDP_MODELS": folder}) as server:
                names = [model["name"] for model in server.json("/api/models")["models"]]
                self.assertEqual([name for name in names if name.startswith("dots/")], ["dots/" + kind for kind in NAMES])
                self.assertIn("cells/predictor", names)  # ships with the program
                self.assertFalse([name for name in names if name.endswith("tokenizer")])
                made = server.json("/api/generate", {"model": "dots/addp", "steps": 2})
                self.assertEqual(made["model"], "dots/addp")

    def test_a_port_that_is_taken(self):
        with Server(PROGRAM, PATHS[:1]) as server:
            other = subprocess.run([PROGRAM, "serve", "--model", PATHS[0], "--port", str(server.port)], capture_output=True, text=True)
            self.assertEqual(other.returncode, 1)
            self.assertIn("--port", other.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
