#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/runtime_containerd.py - the component runtime on roots with Debian's containerd, judged by containerd itself.

import pathlib
import subprocess
import sys
import tempfile

from checks import Checks
from slipway_host import BUILD, must, run

HOST = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: runtime}
spec:
  components:
    runtime: {engines: [containerd], runtime_path: /usr/bin/nvidia-container-runtime, set_as_default: true}
"""
VERSION_2 = """# the admin's own words
version = 2
oom_score = -999   # kept

[plugins."io.containerd.grpc.v1.cri".containerd]
  default_runtime_name = "runc"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.kata]
    runtime_type = "io.containerd.kata.v2"
"""
VERSION_1 = """[plugins.cri.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
  [plugins.cri.containerd.runtimes.runc.options]
    SystemdCgroup = true
"""
IMPORTING = 'version = 2\nimports = ["conf.d/10-cri.toml"]\n'


class Machine:
    """Creates a root with containerd, its list of packages, and one configuration."""

    def __init__(self, work, name, deb, files):
        self.root = work / name
        self.work = work
        must(["dpkg-deb", "-x", deb, self.root])
        fields = must(["dpkg-deb", "-f", deb, "Package", "Version"])
        status = self.root / "var/lib/dpkg/status"
        status.parent.mkdir(parents=True)
        status.write_text(fields.replace("\nVersion", "\nStatus: install ok installed\nVersion"))
        self.config = self.root / "etc/containerd/config.toml"
        for path, text in files.items():
            file = self.config.parent / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def slipway(self, *words):
        return run([BUILD / "bin/slipway", *words, "--root", self.root, "--cache", self.work / "cache"])

    def apply(self):
        return self.slipway("apply", "--without-slipway", "-f", self.work / "host.yaml")

    def dump(self):
        """Returns containerd's effective configuration, or its error."""
        done = run([self.root / "usr/bin/containerd", "--config", self.config, "config", "dump"])
        return done.stdout if done.returncode == 0 else "FAILED " + done.stderr


def handler(dump, name):
    """Returns the lines of a handler's table and its options."""
    lines = []
    inside = False
    for line in dump.splitlines():
        if line.strip().startswith("["):
            inside = f".runtimes.{name}]" in line or f".runtimes.{name}." in line
        elif inside and line.strip():
            lines.append(line.strip())
    return lines


def check_machine(checks, machine, what):
    before = {path: path.read_bytes() for path in machine.config.parent.rglob("*") if path.is_file()}
    old = machine.dump()
    done = machine.apply()
    if not checks.that(done.returncode == 0, f"{what}: apply works", done.stdout + done.stderr):
        return
    new = machine.dump()
    nvidia = handler(new, "nvidia")
    checks.that('BinaryName = "/usr/bin/nvidia-container-runtime"' in nvidia and "SystemdCgroup = true" in nvidia,
                f"{what}: containerd sees the handler, with what runc had", new[:300] + "\n".join(nvidia))
    checks.that('default_runtime_name = "nvidia"' in new, f"{what}: it is the default one")
    for other in ("runc", "kata"):
        checks.that(handler(new, other) == handler(old, other), f"{what}: {other} is as it was", handler(new, other))
    again = machine.apply()
    checks.that(again.returncode == 0 and "Nothing to do" in again.stdout, f"{what}: a second apply has nothing to do",
                again.stdout + again.stderr)
    done = machine.slipway("remove", "runtime", "--yes")
    after = {path: path.read_bytes() for path in machine.config.parent.rglob("*") if path.is_file()}
    checks.that(done.returncode == 0 and after == before, f"{what}: removal brings back every byte", done.stderr)


def main():
    checks = Checks()
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e."))
    try:
        (work / "host.yaml").write_text(HOST)
        work.chmod(0o755)
        must(["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", "containerd"], cwd=work)
        deb = next(work.glob("containerd_*.deb"))
        imported = VERSION_2.replace("version = 2\n", "").replace("oom_score = -999   # kept\n", "")
        for name, files in (("two", {"config.toml": VERSION_2}), ("one", {"config.toml": VERSION_1}),
                            ("imports", {"config.toml": IMPORTING, "conf.d/10-cri.toml": "version = 2\n" + imported})):
            check_machine(checks, Machine(work, name, deb, files), name)
        broken = Machine(work, "broken", deb, {"config.toml": "version = 2\n[plugins\n"})
        done = broken.apply()
        checks.that(done.returncode == 1 and "config.toml:2:" in done.stderr, "a broken configuration is named with its place",
                    done.stderr)
        checks.that(broken.config.read_text() == "version = 2\n[plugins\n", "and left alone")
        return checks.close()
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    sys.exit(main())
