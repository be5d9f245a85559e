#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/runtime_shim.py - containerd 1.6 and Docker 20.10, which do not support CDI, give GPUs through slipway-runtime.
"""A booted bookworm machine: its engines are configured by `slipway apply`, containers start by ctr, by CRI and by Docker, and
the real nvidia-smi in them says which GPUs they have."""

import json
import pathlib
import subprocess
import sys
import tempfile

from checks import Checks
from cri import Cri, CriError
from docker_api import DAEMON, Docker
from engine_machine import IMAGE, EngineMachine
from validator_container import check_container, finding_of

HOST = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: shim}
spec:
  hardware: assume
  components:
    runtime: {engines: [containerd, docker]}
"""
CONFIG = """# the admin's own words
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
DOCKER = json.dumps(DAEMON, indent=2)
SHIM = ["--runc-binary", "/usr/bin/slipway-runtime"]
VISIBLE = "NVIDIA_VISIBLE_DEVICES="


def check_ctr(checks, machine, uuids):
    machine.import_image()
    done = machine.ctr_run("one", "nvidia-smi -L; ls /dev", *SHIM, "--env", VISIBLE + "2")
    lines = [line for line in done.stdout.splitlines() if line.startswith("GPU ")]
    checks.that(done.returncode == 0 and len(lines) == 1 and uuids[2] in lines[0],
                "ctr: NVIDIA_VISIBLE_DEVICES=2 gives GPU 2 alone", done.stdout + done.stderr)
    nodes = [word for word in done.stdout.split() if word.startswith("nvidia")]
    checks.that(nodes == ["nvidia-uvm", "nvidia-uvm-tools", "nvidia2", "nvidiactl"], "and no other node", nodes)
    done = machine.ctr_run("two", "nvidia-smi -L", *SHIM, "--env", VISIBLE + f"{uuids[1]},5")
    checks.that(all(uuids[i] in done.stdout for i in (1, 5)) and len(done.stdout.splitlines()) == 2,
                "a UUID and an index give two", done.stdout + done.stderr)
    done = machine.ctr_run("note", "nvidia-smi -L", *SHIM, "--annotation", "cdi.k8s.io/test=nvidia.com/gpu=3")
    checks.that(uuids[3] in done.stdout and len(done.stdout.splitlines()) == 1, "a CDI annotation gives its GPU",
                done.stdout + done.stderr)
    done = machine.ctr_run("none", "ls /dev /usr/bin", *SHIM)
    checks.that(done.returncode == 0 and "nvidia" not in done.stdout, "a container that asks for none gets nothing",
                done.stdout + done.stderr)
    done = machine.ctr_run("wrong", "true", *SHIM, "--env", VISIBLE + "77")
    checks.that(done.returncode != 0 and "there is no device nvidia.com/gpu=77; there are: 0, 1, 2" in done.stderr,
                "containerd shows which devices there are when one is not", done.stdout + done.stderr)


def check_apply(checks, machine):
    path = "/etc/containerd/config.toml"
    dump = machine.must("containerd", "config", "dump").splitlines()
    starts = machine.starts("containerd.service")
    docker_starts = machine.starts("docker.service")
    done = machine.slipway("apply", "-f", "/etc/slipway/host.yaml")
    if not checks.that(done.returncode == 0, "slipway apply configures the running containerd", done.stdout + done.stderr):
        return False
    new = machine.must("containerd", "config", "dump").splitlines()
    added = [line.strip() for line in new if line not in dump]
    checks.that('BinaryName = "/usr/bin/slipway-runtime"' in added and
                '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]' in added,
                "its merged configuration has the class nvidia with slipway-runtime", added)
    checks.that([line for line in dump if line not in new] == [], "and loses nothing")
    checks.that(CONFIG.splitlines() == [line for line in machine.must("cat", path).splitlines() if line in CONFIG.splitlines()],
                "every line of the admin's file is still there")
    checks.that(machine.starts("containerd.service") == starts + 1, "it was restarted once", machine.starts("containerd.service"))
    checks.that(machine.starts("docker.service") == docker_starts + 1, "Docker as well", machine.starts("docker.service"))
    done = machine.slipway("apply", "-f", "/etc/slipway/host.yaml")
    checks.that(done.returncode == 0 and machine.starts("containerd.service") == starts + 1,
                "a second apply restarts nothing", done.stdout + done.stderr)
    done = machine.slipway("verify")
    checks.that(done.returncode == 0, "verify sees the class", done.stdout + done.stderr)
    return True


def check_cri(checks, machine, uuids):
    machine.import_image("k8s.io")
    cri = Cri(f"/proc/{machine.leader}/root/run/containerd/containerd.sock")
    pod = cri.run_pod("pod", "nvidia")
    container = cri.start(pod, "gpu", IMAGE, {"NVIDIA_VISIBLE_DEVICES": "4"}, {"/run/slipway/sim": "/sim"})
    status, out, err = cri.execute(container, "nvidia-smi", "-L")
    checks.that(status == 0 and len(out.splitlines()) == 1 and uuids[4] in out,
                "CRI: a container of the class nvidia sees its one GPU", out + err)
    try:
        cri.start(pod, "wrong", IMAGE, {"NVIDIA_VISIBLE_DEVICES": "GPU-none"})
        said = "it started"
    except CriError as problem:
        said = str(problem)
    checks.that("there is no device nvidia.com/gpu" in said, "the kubelet is told which devices there are", said)
    cri.remove_pod(pod)


def check_docker(checks, machine, uuids):
    docker = Docker(f"/proc/{machine.leader}/root/run/docker.sock")
    docker.load(machine.root / "var/tmp/gpu.tar")
    simulator = ["/sim:/run/slipway/sim"]
    status, out = docker.run(IMAGE, "nvidia-smi -L", [VISIBLE + "1"], runtime="nvidia", binds=simulator)
    checks.that(status == 0 and len(out.splitlines()) == 1 and uuids[1] in out,
                "Docker 20.10: a container of the runtime nvidia sees its one GPU", out)
    try:
        docker.run(IMAGE, "true", [VISIBLE + "77"], runtime="nvidia")
        said = "it started"
    except RuntimeError as problem:
        said = str(problem)
    checks.that("there is no device nvidia.com/gpu=77" in said, "Docker shows why one does not start", said)


def check_validator(checks, machine):
    docker = Docker(f"/proc/{machine.leader}/root/run/docker.sock")
    check_container(checks, machine, "Docker 20.10", "Docker started a container with the runtime nvidia", docker.list)
    before = docker.list()
    machine.must("mkdir", "/var/lib/slipway/container-check-docker-00000000000047ab")
    machine.must("docker", "tag", IMAGE, "slipway-check-00000000000047ab")
    finding_of(machine)
    checks.that(docker.list() == before and "container-check" not in machine.must("ls", "/var/lib/slipway"),
                "Docker 20.10: verify removes what a verify left that was killed", docker.list())
    machine.must("systemctl", "stop", "docker.service")
    check_container(checks, machine, "containerd 1.6", "containerd started a container with slipway-runtime",
                    lambda: machine.must("ctr", "namespaces", "list"))
    states = [machine.run("systemctl", "is-active", unit).stdout.strip() for unit in ("docker.socket", "docker.service")]
    checks.that(states == ["active", "inactive"], "verify does not make systemd start Docker", states)
    machine.must("systemctl", "start", "docker.service")


def check_removal(checks, machine):
    starts = machine.starts("containerd.service")
    done = machine.slipway("remove", "runtime", "--yes")
    text = machine.must("cat", "/etc/containerd/config.toml") + machine.must("cat", "/etc/docker/daemon.json")
    checks.that(done.returncode == 0 and text == CONFIG + DOCKER, "removal brings back every byte", done.stderr + text)
    checks.that(machine.starts("containerd.service") == starts + 1, "with one restart")


def main():
    checks = Checks()
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e."))
    try:
        files = {"/etc/containerd/config.toml": CONFIG, "/etc/docker/daemon.json": DOCKER, "/etc/slipway/host.yaml": HOST}
        with EngineMachine(work, "bookworm", files) as machine:
            uuids = machine.generate_cdi()
            check_ctr(checks, machine, uuids)
            if check_apply(checks, machine):
                check_cri(checks, machine, uuids)
                check_docker(checks, machine, uuids)
                check_validator(checks, machine)
                check_removal(checks, machine)
        return checks.close()
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    sys.exit(main())
