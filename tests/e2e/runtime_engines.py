#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/runtime_engines.py - containerd 1.7 and 2.1, which support CDI, and Docker 26, configured by slipway and then used.
"""Booted machines of newer Debian suites. Their running containerd is configured by `slipway apply`, judged by its own
`config dump`, and starts containers with CDI devices, as a kubelet with a device plugin asks for them. dockerd judges the
file that slipway writes for it by `dockerd --validate`."""

import json
import pathlib
import subprocess
import sys
import tempfile

from checks import Checks, wait_for
from cri import Cri
from docker_api import DAEMON, Docker
from engine_machine import IMAGE, EngineMachine
from validator_container import check_container

HOST = """apiVersion: slipway.dev/v1
kind: Host
metadata: {{name: engines}}
spec:
  hardware: assume
  components:
    runtime: {{engines: [{0}]}}
"""
VERSION_2 = """# the admin's own words
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  disable_cgroup = true
  restrict_oom_score_adj = true
  sandbox_image = "docker.io/library/gpu:1"
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "native"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  NoNewKeyring = true
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.kata]
  runtime_type = "io.containerd.kata.v2"
"""
VERSION_3 = """# the admin's own words
version = 3
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "native"
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "docker.io/library/gpu:1"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
  NoNewKeyring = true
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.kata]
  runtime_type = "io.containerd.kata.v2"
"""
# containerd 2.1 sets CPU shares for each pod and no longer has disable_cgroup; the machine's cgroup2 has no
# controllers.
RUNC = """#!/bin/sh
for word; do
  [ "$last" != --bundle ] || sed -i 's/"cpu":{"shares":[0-9]*}/"cpu":{}/' "$word/config.json"
  last=$word
done
exec /usr/sbin/runc "$@"
"""
CONFIG = "/etc/containerd/config.toml"
SPEC = "/etc/slipway/host.yaml"
DOCKER = json.dumps({**DAEMON, "features": {"containerd-snapshotter": False}}, indent=2)


def check_apply(checks, machine, what, before):
    dump = machine.must("containerd", "config", "dump").splitlines()
    starts = machine.starts("containerd.service")
    done = machine.slipway("apply", "-f", SPEC)
    if not checks.that(done.returncode == 0, f"{what}: slipway apply configures the running containerd",
                       done.stdout + done.stderr):
        return False
    new = machine.must("containerd", "config", "dump").splitlines()
    added = [line.strip() for line in new if line not in dump]
    checks.that(any(line.endswith(".containerd.runtimes.nvidia]") for line in added) and
                any(line.strip() == "enable_cdi = true" for line in new),
                f"{what}: its merged configuration has the class nvidia and CDI", "\n".join(added))
    lost = [line.strip() for line in dump if line not in new]
    checks.that(lost in ([], ["enable_cdi = false"]), f"{what}: and loses nothing", lost)
    text = machine.must("cat", CONFIG).splitlines()
    checks.that([line for line in text if line in before.splitlines()] == before.splitlines(),
                f"{what}: every line of the admin's file is still there")
    checks.that(machine.starts("containerd.service") == starts + 1, f"{what}: it was restarted once")
    done = machine.slipway("apply", "-f", SPEC)
    checks.that(done.returncode == 0 and "Nothing to do" in done.stdout and
                machine.starts("containerd.service") == starts + 1,
                f"{what}: a second apply does and restarts nothing", done.stdout + done.stderr)
    return True


def check_pods(checks, machine, uuids, what):
    machine.import_image("k8s.io")
    cri = Cri(f"/proc/{machine.leader}/root/run/containerd/containerd.sock")
    mounts = {"/run/slipway/sim": "/sim"}
    for handler, environment, devices, gpu in (("", None, ["nvidia.com/gpu=2"], 2),
                                               ("nvidia", None, [f"nvidia.com/gpu={uuids[3]}"], 3),
                                               ("nvidia", {"NVIDIA_VISIBLE_DEVICES": "5"}, [], 5)):
        pod = cri.run_pod(f"pod{gpu}", handler)
        container = cri.start(pod, "gpu", IMAGE, environment, mounts, devices)
        status, out, err = cri.execute(container, "nvidia-smi", "-L")
        asked = f"CDI device {devices[0]}" if devices else "NVIDIA_VISIBLE_DEVICES=5"
        checks.that(status == 0 and len(out.splitlines()) == 1 and uuids[gpu] in out,
                    f"{what}: a pod of the class {handler or 'runc'} with {asked.replace(uuids[3], 'UUID')} sees that one GPU",
                    out + err)
        cri.remove_pod(pod)


def check_validator_by_ctr(checks, machine, what):
    given = "slipway-runtime" if what == "containerd 1.7" else "nvidia.com/gpu=all"  # ctr supports CDI from 2.0 on
    check_container(checks, machine, what, f"containerd started a container with {given}",
                    lambda: machine.must("ctr", "namespaces", "list"))


def check_mending(checks, machine, what, before):
    """Another program rewrites the file, as nodeadm does at each boot: `on_drift: replace` restores the class."""
    (machine.root / SPEC.lstrip("/")).write_text(HOST.format("containerd").replace("]}", "], on_drift: replace}"))
    done = machine.slipway("apply", "-f", SPEC)
    checks.that(done.returncode == 0, f"{what}: on_drift: replace is applied", done.stdout + done.stderr)
    starts = machine.starts("containerd.service")
    (machine.root / CONFIG.lstrip("/")).write_text(before)
    mended = wait_for(lambda: machine.starts("containerd.service") > starts and
                      "containerd.runtimes.nvidia]" in machine.run("containerd", "config", "dump").stdout, 120)
    journal = machine.run("journalctl", "--no-pager", "-u", "slipway-runtime-mend.path", "-u", "slipway-runtime-mend.service")
    checks.that(mended, f"{what}: a configuration that is written anew is mended by slipway-runtime-mend.path", journal.stdout)
    idle = wait_for(lambda: machine.run("systemctl", "is-active", "slipway-runtime-mend.service").stdout.strip() == "inactive", 120)
    status = json.loads(machine.slipway("status", "-o", "json").stdout)["components"]["runtime"]
    checks.that(idle and status.get("put_back", {}).get("times") == 1, f"{what}: once, which status says", status)


def check_removal(checks, machine, what, before):
    done = machine.slipway("remove", "runtime", "--yes")
    checks.that(done.returncode == 0 and machine.must("cat", CONFIG) == before, f"{what}: removal brings back every byte",
                done.stdout + done.stderr)


def check_docker(checks, machine, uuids):
    (machine.root / SPEC.lstrip("/")).write_text(HOST.format("docker"))
    starts = machine.starts("docker.service")
    done = machine.slipway("apply", "-f", SPEC)
    checks.that(done.returncode == 0 and machine.starts("docker.service") == starts + 1,
                "Docker 26: slipway apply configures it with one restart", done.stdout + done.stderr)
    text = machine.must("cat", "/etc/docker/daemon.json")
    config = json.loads(text)
    checks.that({**config["features"], "cdi": None} == {"containerd-snapshotter": False, "cdi": None} and
                config["features"]["cdi"] is True, "Docker 26: CDI is on, other features stay", text)
    done = machine.run("dockerd", "--validate", "--config-file", "/etc/docker/daemon.json")
    checks.that(done.returncode == 0, "Docker 26: dockerd --validate accepts it", done.stdout + done.stderr)
    docker = Docker(f"/proc/{machine.leader}/root/run/docker.sock")
    docker.load(machine.root / "var/tmp/gpu.tar")
    status, out = docker.run(IMAGE, "nvidia-smi -L", cdi_devices=["nvidia.com/gpu=6"], binds=["/sim:/run/slipway/sim"])
    checks.that(status == 0 and len(out.splitlines()) == 1 and uuids[6] in out,
                "Docker 26: a container with a CDI device sees that one GPU", out)
    check_container(checks, machine, "Docker 26", "Docker started a container with nvidia.com/gpu=all", docker.list)
    done = machine.slipway("apply", "-f", SPEC)
    checks.that(done.returncode == 0 and machine.starts("docker.service") == starts + 1,
                "Docker 26: a second apply restarts nothing", done.stdout + done.stderr)


def main():
    checks = Checks()
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e."))
    try:
        for suite, what, config in (("trixie", "containerd 1.7", VERSION_2), ("forky", "containerd 2.1", VERSION_3)):
            files = {CONFIG: config, SPEC: HOST.format("containerd"), "/etc/docker/daemon.json": DOCKER}
            if suite == "forky":
                files["/usr/local/sbin/runc"] = RUNC
            with EngineMachine(work, suite, files) as machine:
                uuids = machine.generate_cdi()
                if check_apply(checks, machine, what, config):
                    check_pods(checks, machine, uuids, what)
                    check_validator_by_ctr(checks, machine, what)
                    check_mending(checks, machine, what, config)
                    check_removal(checks, machine, what, config)
                if suite == "trixie":
                    check_docker(checks, machine, uuids)
        return checks.close()
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    sys.exit(main())
