#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/runtime_image.py - an image that slipway provisioned for GPU containers boots, and its containerd is then changed while it runs.
"""The image is Debian trixie with containerd 1.7; systemd-nspawn boots it. A unit stands in for the driver: it makes the
device nodes a while after the boot began. The simulator answers for the GPUs. Then the running machine: refusals of
containerd, a restart that fails, edits by an admin, removal."""

import pathlib
import subprocess
import sys
import tempfile
import time

from cdi_podman import GPUS, NODES
from checks import Checks
from cri import Cri
from engine_machine import IMAGE, EngineMachine
from slipway_host import BUILD, run

CONFIG = "/etc/containerd/config.toml"
OTHER = "/srv/containerd.toml"
SPEC = "/etc/slipway/host.yaml"
CDI = "/run/cdi/nvidia.com-gpu.yaml"
HOST = """apiVersion: slipway.dev/v1
kind: Host
metadata: {{name: image}}
spec:
  hardware: assume
  components:
    cdi: {{driver_root: /driver, char_links: true}}
    runtime: {{engines: [containerd], names: [{0}]}}
"""
ADMINS = """# the admin's own words
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  disable_cgroup = true   # this machine's groups have no controllers
  restrict_oom_score_adj = true
  sandbox_image = "docker.io/library/gpu:1"
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "native"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.kata]
  runtime_type = "io.containerd.kata.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  NoNewKeyring = true
"""
DRIVER = """[Unit]
Description=stands in for the driver: device nodes, a while after the boot began
DefaultDependencies=no
Before=slipway-boot.service
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'sleep 2; %s'
[Install]
WantedBy=multi-user.target
"""
# A containerd that does not start with this handler, although its configuration passes its own check.
PICKY = """[Service]
ExecStartPre=/bin/sh -c '! grep -q nvidia-sick /etc/containerd/config.toml'
"""
MOVED = f"""[Service]
ExecStart=
ExecStart=/usr/bin/containerd --config {OTHER}
"""


def make_nodes():
    words = [f"mknod -m 666 /dev/{name} c {major} {minor}" for name, major, minor in NODES]
    return DRIVER % "; ".join(words)


class Image(EngineMachine):
    """A machine that is provisioned before it boots."""

    def __init__(self, work):
        super().__init__(work, "trixie", {CONFIG: ADMINS, SPEC: HOST.format("nvidia"),
                                          "/etc/systemd/system/driver.service": make_nodes()})
        for path in (self.root / "driver/dev").iterdir():
            path.unlink()
        wants = self.root / "etc/systemd/system/multi-user.target.wants/driver.service"
        wants.symlink_to("/etc/systemd/system/driver.service")
        self.work = work

    def provision(self, command="apply"):
        without = ["--without-slipway"] if command in ("plan", "apply") else []
        return run([BUILD / "bin/slipway", command, *without, "--root", self.root, "--cache", self.work / "cache",
                    "-f", self.root / SPEC.lstrip("/")])

    def write(self, path, text):
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def text(self, path):
        return (self.root / path.lstrip("/")).read_text()

    def apply(self, names="nvidia"):
        self.write(SPEC, HOST.format(names))
        return self.slipway("apply", "-f", SPEC)

    def starts_of_containerd(self):
        return self.starts("containerd.service")

    def monotonic(self, unit, what):
        return int(self.must("systemctl", "show", "--value", f"--property={what}TimestampMonotonic", unit))

    def handlers(self, config=CONFIG):
        dump = self.must("containerd", "--config", config, "config", "dump")
        return sorted(line.split(".runtimes.")[1].rstrip("]") for line in dump.splitlines()
                      if ".runtimes." in line and ".options]" not in line)


def check_image(checks, image):
    done = image.provision()
    checks.that(done.returncode == 0, "slipway provisions the image", done.stdout + done.stderr)
    checks.that("runtimes.nvidia]" in image.text(CONFIG) and "enable_cdi = true" in image.text(CONFIG) and
                all(line in image.text(CONFIG).splitlines() for line in ADMINS.splitlines()),
                "containerd's configuration has the class nvidia and CDI, and all of the admin's lines", image.text(CONFIG))
    checks.that(not (image.root / CDI.lstrip("/")).exists(), "the CDI spec is left to the boot: an image has no devices")


def check_boot(checks, image):
    state = image.must("systemctl", "is-system-running").strip()
    failed = image.run("systemctl", "--failed", "--no-legend").stdout
    log = image.run("journalctl", "--unit", "slipway-boot", "--no-pager").stdout
    checks.that("slipway-boot" not in failed and "containerd" not in failed, f"the image boots ({state})", failed + log)
    done = image.run("systemd-analyze", "verify", "slipway-boot.service")
    checks.that(done.returncode == 0 and "slipway" not in done.stdout + done.stderr, "systemd-analyze verify is clean",
                done.stdout + done.stderr)
    checks.that(image.handlers() == ["kata", "nvidia", "runc"], "containerd is up with the right runtime classes",
                image.handlers())
    checks.that(image.starts_of_containerd() == 1, "and was started once, not again by slipway",
                image.starts_of_containerd())
    node, spec = (float(image.must("stat", "--format=%.Z", path)) for path in (f"/dev/nvidia{GPUS - 1}", CDI))
    checks.that(node <= spec, "the CDI spec was written at this boot, after the devices were there", (node, spec))
    ready = image.monotonic("slipway-boot.service", "ExecMainExit")
    started = image.monotonic("containerd.service", "ExecMainStart")
    checks.that(0 < ready <= started, "and before containerd was started", (ready, started))
    done = image.slipway("verify", "-f", SPEC)
    checks.that(done.returncode == 0 and "CRI plugin is loaded" in done.stdout and "cdi.links" in done.stdout,
                "slipway verify passes", done.stdout + done.stderr)
    done = image.slipway("plan", "-f", SPEC)
    checks.that(done.returncode == 0, "and nothing is left to do", done.stdout + done.stderr)


def check_pod(checks, image, what):
    image.import_image("k8s.io")
    cri = Cri(f"/proc/{image.leader}/root/run/containerd/containerd.sock")
    pod = cri.run_pod("pod", "nvidia")
    container = cri.start(pod, "gpu", IMAGE, None, {"/run/slipway/sim": "/sim"}, ["nvidia.com/gpu=2"])
    status, out, err = cri.execute(container, "nvidia-smi", "-L")
    checks.that(status == 0 and len(out.splitlines()) == 1, f"{what}: a pod with one CDI device sees that one GPU", out + err)
    cri.remove_pod(pod)


def check_refusal(checks, image):
    starts = image.starts_of_containerd()
    good = image.text(CONFIG)
    for text, why, where in ((good + "[plugins\n", "it is not TOML", f"{CONFIG}:{len(good.splitlines()) + 1}:"),
                             ("oom_score = \"high\"\n" + good, "containerd refuses its configuration", CONFIG)):
        image.write(CONFIG, text)
        done = image.apply("nvidia, nvidia-new")
        checks.that(done.returncode == 1 and why in done.stderr and where in done.stderr,
                    f"a configuration of which {why}: said with its place", done.stdout + done.stderr)
        checks.that(image.text(CONFIG) == text and image.starts_of_containerd() == starts,
                    "it is left as it was, and containerd is not restarted")
    image.write(CONFIG, good)


def check_rollback(checks, image):
    image.write("/etc/systemd/system/containerd.service.d/picky.conf", PICKY)
    image.must("systemctl", "daemon-reload")
    before = image.text(CONFIG)
    done = image.apply("nvidia, nvidia-sick")
    checks.that(done.returncode == 1 and "containerd.service" in done.stderr, "a restart that fails is an error",
                done.stdout + done.stderr)
    checks.that(image.text(CONFIG) == before, "the former configuration is back, byte for byte")
    state = image.must("systemctl", "is-active", "containerd").strip()
    checks.that(state == "active" and image.slipway("plan", "-f", SPEC).returncode == 2,
                "containerd runs with it, and the action is still planned", state)
    image.must("rm", "/etc/systemd/system/containerd.service.d/picky.conf")
    image.must("systemctl", "daemon-reload")


def check_change(checks, image):
    starts = image.starts_of_containerd()
    done = image.apply("nvidia, nvidia-cdi")
    checks.that(done.returncode == 0 and image.handlers() == ["kata", "nvidia", "nvidia-cdi", "runc"] and
                image.starts_of_containerd() == starts + 1, "another class comes with one restart", done.stdout + done.stderr)
    done = image.apply("nvidia, nvidia-cdi")
    checks.that(done.returncode == 0 and "Nothing to do" in done.stdout and image.starts_of_containerd() == starts + 1,
                "the same again changes and restarts nothing", done.stdout + done.stderr)


def check_moved_daemon(checks, image):
    """Gives containerd another file through its unit: slipway follows the running process."""
    image.write(OTHER, ADMINS)
    image.write("/etc/systemd/system/containerd.service.d/moved.conf", MOVED)
    image.must("systemctl", "daemon-reload")
    image.must("systemctl", "restart", "containerd")
    done = image.run("env", f"CONTAINERD_CONFIG={CONFIG}", "slipway", "plan", "-f", SPEC)
    checks.that(OTHER not in done.stdout, "CONTAINERD_CONFIG outranks what the running containerd says", done.stdout)
    done = image.apply()
    checks.that(done.returncode == 0 and "runtimes.nvidia]" in image.text(OTHER) and image.text(CONFIG) == ADMINS,
                "the file that containerd really runs with is changed, the other one given back",
                done.stdout + done.stderr + image.text(CONFIG))
    checks.that("nvidia" in image.handlers(OTHER), "and containerd has the class from there", image.handlers(OTHER))


def check_removal(checks, image):
    """An administrator has added a handler since."""
    starts = image.starts_of_containerd()
    more = '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun]\n  runtime_type = "io.containerd.runc.v2"\n'
    image.write(OTHER, image.text(OTHER) + more)
    done = image.slipway("remove", "runtime", "--yes")
    checks.that(done.returncode == 0 and image.text(OTHER) == ADMINS + more,
                "removal takes our keys only out of a file that was edited since", done.stdout + done.stderr + image.text(OTHER))
    deadline = time.monotonic() + 10
    while image.starts_of_containerd() != starts + 1 and time.monotonic() < deadline:
        time.sleep(0.2)
    checks.that(image.starts_of_containerd() == starts + 1 and image.must("systemctl", "is-active", "containerd"),
                "with one restart")


def main():
    checks = Checks()
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e."))
    try:
        image = Image(work)
        check_image(checks, image)
        with image:
            check_boot(checks, image)
            check_pod(checks, image, "after the boot")
            check_refusal(checks, image)
            check_rollback(checks, image)
            check_change(checks, image)
            check_moved_daemon(checks, image)
            check_removal(checks, image)
        return checks.close()
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    sys.exit(main())
