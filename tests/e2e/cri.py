# SPDX-License-Identifier: Apache-2.0
# tests/e2e/cri.py - the few calls of the Container Runtime Interface (v1) that start a container, as a kubelet makes them.
"""gRPC through curl: a message is five bytes of head and protobuf; field numbers are those of cri-api's api.proto."""

import pathlib
import struct
import tempfile

from slipway_host import run

HOST_NETWORK = 2


def _varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """Encodes one field: a number, a text, bytes (a message), or a list of these."""
    if isinstance(value, list):
        return b"".join(field(number, one) for one in value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _read_varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def fields(data):
    """Yields (number, value) of a message; fixed-width fields do not occur in the messages that are read here."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        if key & 7 == 0:
            value, at = _read_varint(data, at)
        else:
            size, at = _read_varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


class CriError(RuntimeError):
    pass


class Cri:
    def __init__(self, socket):
        self._socket = socket

    def call(self, method, message=b""):
        with tempfile.TemporaryDirectory(prefix="slipway-cri.") as folder:
            request, reply, head = (pathlib.Path(folder) / name for name in ("request", "reply", "head"))
            request.write_bytes(struct.pack(">BI", 0, len(message)) + message)
            done = run(["curl", "--silent", "--show-error", "--max-time", "60", "--http2-prior-knowledge", "--unix-socket",
                        self._socket, "--header", "content-type: application/grpc", "--header", "te: trailers",
                        "--data-binary", f"@{request}", "--dump-header", head, "--output", reply,
                        f"http://localhost/runtime.v1.RuntimeService/{method}"])
            if done.returncode != 0:
                raise CriError(f"{method}: {done.stderr}")
            lines = dict(line.split(": ", 1) for line in head.read_text().splitlines() if ": " in line)
            if lines.get("grpc-status", "0") != "0":
                raise CriError(f"{method}: {lines.get('grpc-message', lines['grpc-status'])}")
            return dict(fields(reply.read_bytes()[5:])) if reply.exists() else {}

    def run_pod(self, name, handler, annotations=None):
        """Creates a pod in the host's network, so that no network plugin is needed. Returns the argument for
        create()."""
        options = field(1, HOST_NETWORK)
        metadata = field(1, name) + field(2, "uid-" + name) + field(3, "default")
        config = field(1, metadata) + field(8, field(2, field(1, options)))
        for key, value in (annotations or {}).items():
            config += field(7, field(1, key) + field(2, value))
        pod = self.call("RunPodSandbox", field(1, config) + field(2, handler))[1].decode()
        return pod, config

    def start(self, pod, name, image, environment=None, mounts=None, cdi_devices=()):
        """Creates and starts a container with the image's own command; returns its id."""
        config = field(1, field(1, name)) + field(2, field(1, image))
        for key, value in (environment or {}).items():
            config += field(6, field(1, key) + field(2, value))
        for inside, outside in (mounts or {}).items():
            config += field(7, field(1, inside) + field(2, outside))
        for device in cdi_devices:
            config += field(17, field(1, device))
        container = self.call("CreateContainer", field(1, pod[0]) + field(2, config) + field(3, pod[1]))[1].decode()
        self.call("StartContainer", field(1, container))
        return container

    def execute(self, container, *command):
        """Returns (exit status, standard output, standard error)."""
        answer = self.call("ExecSync", field(1, container) + field(2, list(command)) + field(3, 30))
        return answer.get(3, 0), answer.get(1, b"").decode(), answer.get(2, b"").decode()

    def remove_pod(self, pod):
        self.call("StopPodSandbox", field(1, pod[0]))
        self.call("RemovePodSandbox", field(1, pod[0]))
