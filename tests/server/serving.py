"""What the tests of the service share: the program with throw-away models, started and stopped."""
import base64
import http.client
import io
import json
import os
import signal
import socket
import struct
import subprocess
import time
import urllib.error
import urllib.request
import zlib


class Server:
    """`addp serve` on a free port."""

    def __init__(self, program, models, *options, environment=None):
        words = [program, "serve", "--port", "0", "--threads", "1", "--precision", "fp32", "--json"]
        for model in models:
            words += ["--model", model]
        self.process = subprocess.Popen(words + list(options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the server did not start: " + self.process.stderr.read())
        self.address = json.loads(line)["address"].rstrip("/")
        self.port = json.loads(line)["port"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()

    def stop(self, with_signal=signal.SIGINT, seconds=20):
        self.process.send_signal(with_signal)
        _, errors = self.process.communicate(timeout=seconds)
        return self.process.returncode, errors

    def get(self, path, headers=None):
        return self.ask("GET", path, None, headers)

    def post(self, path, body, headers=None):
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            headers = {"Content-Type": "application/json", **(headers or {})}
        return self.ask("POST", path, body, headers)

    def ask(self, method, path, body=None, headers=None):
        """(status, headers, bytes)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        out = response.status, response.headers, response.read()
        connection.close()
        return out

    def json(self, path, body=None):
        status, _, data = self.get(path) if body is None else self.post(path, body)
        assert status == 200, (path, status, data[:300])
        return json.loads(data)

    def raw(self, data, seconds=5.0, shut=False):
        """What comes back for plain bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            try:
                connection.sendall(data)
                if shut:
                    connection.shutdown(socket.SHUT_WR)
                parts = []
                while part := connection.recv(65536):
                    parts.append(part)
            except (TimeoutError, ConnectionError):
                pass
            return b"".join(parts)

    def metric(self, name):
        text = self.get("/metrics")[2].decode()
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name) and line[len(name)] in " {")

    def events(self, path, body):
        """Server-sent events as (name, data), while they come."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert response.status == 200, response.read()
        assert response.headers["Content-Type"].startswith("text/event-stream")
        name = None
        for line in response:
            line = line.decode().rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                yield name, json.loads(line[6:])
        connection.close()


def png(width, height, pixel):
    """A PNG file of pixel(x, y) -> (r, g, b) or (r, g, b, a), without any library."""
    channels = len(pixel(0, 0))
    rows = b"".join(b"\0" + bytes(value for x in range(width) for value in pixel(x, y)) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 6 if channels == 4 else 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def pixels(data):
    """(width, height, rows of bytes) of an 8-bit RGB PNG file."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, width, height = 8, b"", 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, bits, color = struct.unpack(">IIBB", data[at + 8:at + 18])
            assert (bits, color) == (8, 2), (bits, color)
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    raw, stride, rows, last = zlib.decompress(packed), width * 3, [], bytes(width * 3)
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a = row[i - 3] if i >= 3 else 0
            b, c = last[i], last[i - 3] if i >= 3 else 0
            p = a + b - c
            near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[i] = (row[i] + (0, a, b, (a + b) // 2, near)[kind]) & 255
        rows.append(bytes(row))
        last = rows[-1]
    return width, height, rows


def form(fields, files):
    """(body, headers) of a multipart form; files: name -> (file name, bytes)."""
    edge, out = "edge-of-the-form", io.BytesIO()
    for name, value in fields.items():
        out.write(f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode())
    for name, (file, data) in files.items():
        out.write(f'--{edge}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\nContent-Type: image/png\r\n\r\n'.encode())
        out.write(data + b"\r\n")
    out.write(f"--{edge}--\r\n".encode())
    return out.getvalue(), {"Content-Type": f"multipart/form-data; boundary={edge}"}


def difference(a, b):
    """The largest and the mean difference of two PNG files' pixels."""
    (wa, ha, ra), (wb, hb, rb) = pixels(a), pixels(b)
    assert (wa, ha) == (wb, hb)
    gaps = [abs(x - y) for p, q in zip(ra, rb) for x, y in zip(p, q)]
    return max(gaps), sum(gaps) / len(gaps)
