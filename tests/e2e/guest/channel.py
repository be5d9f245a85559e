# SPDX-License-Identifier: Apache-2.0
# tests/e2e/guest/channel.py - the host's end of the agent's line: sends commands, gets status and output back.

import base64
import binascii
import dataclasses
import hashlib
import socket
import time

CHUNK = 1024  # a line must stay below the guest's terminal buffer of 4096


class ChannelError(Exception):
    """The guest did not answer as agreed: it hangs, it went down, or bytes were lost."""


@dataclasses.dataclass(frozen=True)
class Completed:
    """The result of one command. Status 124: the guest ended it at its time limit."""

    command: str
    status: int
    stdout: str
    stderr: str
    seconds: float

    def check(self):
        """Returns itself, or raises with all output of the command."""
        if self.status != 0:
            raise ChannelError(f"`{self.command}` ended with {self.status}\n{self.stdout}{self.stderr}")
        return self


class Channel:
    """A connection to the agent; `alive` returns whether the guest still runs."""

    def __init__(self, path, alive):
        self._alive = alive
        self._buffer = b""
        self._next_id = 1
        self._socket = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + 30
        while self._socket.connect_ex(path) != 0:
            if time.monotonic() > deadline or not alive():
                raise ChannelError(f"cannot connect to {path}")
            time.sleep(0.05)
        self._socket.settimeout(0.5)

    def close(self):
        self._socket.close()

    def _line(self, deadline):
        """Returns the next line from the guest, without its end."""
        while b"\n" not in self._buffer:
            if time.monotonic() > deadline:
                raise ChannelError("the guest did not answer in time")
            try:
                data = self._socket.recv(65536)
            except socket.timeout:
                data = None
            if data == b"" or (data is None and not self._alive()):
                raise ChannelError("the guest went down")
            self._buffer += data or b""
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line.decode("ascii", "replace").strip()

    def _line_with(self, word, deadline):
        """Returns the words of the next line that starts with `word`; skips others (terminal noise)."""
        while True:
            words = self._line(deadline).split()
            if words and words[0] == word:
                return words

    def wait_ready(self, timeout):
        """Waits for the agent's first message; returns the guest's boot id."""
        return self._line_with("READY", time.monotonic() + timeout)[1]

    def _send_line(self, line):
        self._socket.sendall(line.encode("ascii") + b"\n")

    def _payload(self, end, number, deadline):
        """Collects base64 lines up to the line `END NUMBER ...`; returns the bytes and that line's words."""
        text = ""
        while True:
            line = self._line(deadline)
            words = line.split()
            if words[:2] == [end, number]:
                return base64.b64decode(text), words
            text += line

    def send(self, command, timeout):
        """Starts a shell command in the guest without waiting for its end; returns its number."""
        number, self._next_id = str(self._next_id), self._next_id + 1
        text = base64.b64encode(command.encode()).decode()
        for line in ["BEGIN", *(f"DATA {text[at:at + CHUNK]}" for at in range(0, len(text), CHUNK))]:
            self._send_line(line)
            self._line_with("OK", time.monotonic() + 60)
        self._send_line(f"RUN {number} {int(timeout)}")
        return number

    def run(self, command, timeout):
        """Runs a shell command as root in the guest; after `timeout` seconds the guest ends it with status 124."""
        started = time.monotonic()
        number = self.send(command, timeout)
        deadline = time.monotonic() + timeout + 60
        self._payload("OUT", number, deadline)
        try:
            out, _ = self._payload("ERR", number, deadline)
            err, end = self._payload("END", number, deadline)
        except binascii.Error as error:
            raise ChannelError(f"bytes got lost on the line: {error}") from error
        if [hashlib.sha256(data).hexdigest() for data in (out, err)] != end[3:5]:
            raise ChannelError("bytes got lost on the line: the hashes differ")
        return Completed(command, int(end[2]), out.decode(errors="replace"), err.decode(errors="replace"),
                         time.monotonic() - started)
