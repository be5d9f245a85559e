# SPDX-License-Identifier: Apache-2.0
# tests/e2e/docker_api.py - the few calls of Docker's API that run a container, as its command line makes them; by curl.

import json

from slipway_host import run

# Settings with which dockerd runs in a machine without a network of its own.
DAEMON = {"storage-driver": "vfs", "bridge": "none", "iptables": False, "ip-forward": False}


class Docker:
    def __init__(self, socket):
        self._socket = socket

    def call(self, method, path, body=None, file=None):
        """Returns the answer's text; a failure is an error with Docker's text."""
        words = ["curl", "--silent", "--show-error", "--max-time", "120", "--unix-socket", self._socket, "--request", method,
                 "--write-out", "\n%{http_code}"]
        if file:
            words += ["--header", "content-type: application/x-tar", "--data-binary", f"@{file}"]
        if body is not None:
            words += ["--header", "content-type: application/json", "--data", json.dumps(body)]
        done = run([*words, "http://localhost" + path])
        text, _, status = done.stdout.rpartition("\n")
        if done.returncode != 0 or not status.startswith("2"):
            raise RuntimeError(f"{method} {path}: {status} {text} {done.stderr}")
        return text

    def load(self, archive):
        return self.call("POST", "/images/load", file=archive)

    def list(self):
        """Returns the names of all images and containers, including those that have ended."""
        images = json.loads(self.call("GET", "/images/json?all=1"))
        containers = json.loads(self.call("GET", "/containers/json?all=1"))
        return f"{sorted(str(each['RepoTags']) for each in images)} {sorted(str(each['Names']) for each in containers)}"

    def run(self, image, command, environment=(), cdi_devices=(), runtime="", binds=()):
        """Returns (exit status, output)."""
        host = {"NetworkMode": "none", "Binds": list(binds), "Runtime": runtime}
        if cdi_devices:
            host["DeviceRequests"] = [{"Driver": "cdi", "DeviceIDs": list(cdi_devices)}]
        request = {"Image": image, "Cmd": ["/bin/sh", "-c", command], "Env": list(environment), "Tty": True, "HostConfig": host}
        name = json.loads(self.call("POST", "/containers/create", request))["Id"]
        self.call("POST", f"/containers/{name}/start")
        status = json.loads(self.call("POST", f"/containers/{name}/wait"))["StatusCode"]
        text = self.call("GET", f"/containers/{name}/logs?stdout=1&stderr=1")
        self.call("DELETE", f"/containers/{name}?force=1")
        return status, text
