#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/roots_live.py - booted machines: one that a container acts on through /host, and one image that boots as two machines.
"""Machines of Debian trixie, booted by systemd-nspawn, with the portable folder in /opt and simulated GPUs. The container is a mount
namespace with a root of its own, in which the machine's root is mounted on /host, as a privileged pod has it. Needs root."""

import pathlib
import shutil
import sys
import tempfile

from cdi_podman import NODES, make_driver_root
from checks import Checks, differences, picture
from engine_machine import EngineMachine, let_services_simulate
from portable import LABELS, text_of
from slipway_host import BUILD, TREE, VERSION, must, run, script

FOLDER = "/opt/slipway"
CDI = "/run/cdi/nvidia.com-gpu.yaml"
HOST = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: roots}
spec:
  hardware: assume
  components:
    cdi: {driver_root: /driver, hook_path: /opt/slipway/bin/slipway-cdi-hook}
    gfd: {driver_root: /driver}
"""
DRIVER = """[Unit]
Description=stands in for the driver: device nodes
DefaultDependencies=no
Before=slipway-boot.service
[Service]
Type=oneshot
ExecStart=/bin/sh -c '%s'
[Install]
WantedBy=multi-user.target
"""


class Machine(EngineMachine):
    """Creates a copy of an unbooted image, with this many GPUs of its own."""

    def __init__(self, work, image, name, gpus):
        self._prepare(work, name, lambda root: must(["cp", "-a", image, root]))
        state = self.root / "driver/run/slipway/sim"
        shutil.rmtree(state, ignore_errors=True)
        must([BUILD / "bin/slipway-sim", state, "make", f"h100x{gpus},driver={VERSION}"])
        let_services_simulate(self.root)

    def slipway(self, *words):
        return self.run(f"{FOLDER}/bin/slipway", *words)

    def text(self, path):
        return self.run("cat", path).stdout


def make_image(work):
    """Creates trixie with slipway in /opt and a driver root; a unit creates the device nodes, as a driver would."""
    image = work / "image"
    script("engine-root.sh", "trixie", image)
    must([TREE / "deploy/portable/make-folder", BUILD, image / FOLDER.lstrip("/")])
    (image / "driver").mkdir()
    make_driver_root(image / "driver")
    for node in (image / "driver/dev").iterdir():
        node.unlink()
    (image / "etc/slipway").mkdir()
    (image / "etc/slipway/host.yaml").write_text(HOST)
    nodes = "; ".join(f"mknod -m 666 /dev/{name} c {major} {minor}" for name, major, minor in NODES)
    (image / "etc/systemd/system/driver.service").write_text(DRIVER % nodes)
    wants = image / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / "driver.service").symlink_to("/etc/systemd/system/driver.service")
    return image


def in_container(machine, *words):
    """Runs slipway in a privileged container of the machine, which has the machine's root on /host."""
    inner = ("set -e; mkdir -p /srv/pod; mount -t tmpfs tmpfs /srv/pod; cd /srv/pod; mkdir host proc sys dev tmp opt etc usr; "
             "mount --rbind / host; mount --rbind /proc proc; mount --rbind /sys sys; mount --rbind /dev dev; "
             "cp -a /opt/slipway opt/slipway; exec chroot . /opt/slipway/bin/slipway \"$@\"")
    return machine.run("unshare", "--mount", "--propagation", "private", "sh", "-c", inner, "sh", *words)


def check_host_folder(checks, work, image):
    with Machine(work, image, "hosted", 2) as machine:
        on_host = ("--root", "/host", "--live")
        done = in_container(machine, "plan", *on_host)
        checks.that(done.returncode == 2 and CDI in done.stdout, "live with root /host: plan shows what is to be done", text_of(done))
        note = "install slipway there" in done.stdout
        done = in_container(machine, "apply", "--yes", *on_host)
        checks.that(machine.text(CDI) and "cdi: changed" in done.stdout, "live with root /host: apply writes the machine's files",
                    text_of(done))
        # slipway is in the container, so units use the path where the machine's slipway would be.
        unit = machine.text("/etc/systemd/system/slipway-gfd.service")
        checks.that("ExecStart=/usr/bin/slipway service gfd" in unit and note and done.returncode == 1
                    and "gfd.labels" in done.stdout, "live with root /host: the unit names an installed slipway; that there is none "
                    "is said beforehand and found afterwards", unit + text_of(done))
        enabled = machine.run("systemctl", "is-enabled", "slipway-gfd.service").stdout.strip()
        checks.that(enabled == "enabled", "live with root /host: the machine's systemd knows the unit", enabled)
        done = in_container(machine, "remove", "--yes", "--all", *on_host)
        checks.that(done.returncode == 0 and not machine.text(CDI)
                    and not machine.run("ls", "/etc/systemd/system/slipway-gfd.service").stdout,
                    "live with root /host: and remove takes them away", text_of(done))
        # With slipway on the machine's own disk, a call through the container's mounts uses that path.
        inner = "mount --rbind / /mnt; exec /mnt/opt/slipway/bin/slipway \"$@\""
        done = machine.run("unshare", "--mount", "--propagation", "private", "sh", "-c", inner, "sh", "apply", "--yes", "--root",
                           "/mnt", "--live")
        state = machine.run("systemctl", "is-active", "slipway-gfd.service").stdout.strip()
        checks.that(done.returncode == 0 and state == "active", "live with another root: the machine's systemd runs the service "
                    "from the machine's folder", state + text_of(done) + machine.text("/etc/systemd/system/slipway-gfd.service"))


def look(machine):
    """Returns the booted machine's changes to the image."""
    spec = machine.text(CDI)
    return {"id": machine.text("/etc/machine-id").strip(), "boot": machine.text("/proc/sys/kernel/random/boot_id").strip(),
            "gpus": spec.count("name: GPU-"), "labels": machine.text(LABELS),
            "status": machine.slipway("status").stdout, "verified": machine.slipway("verify"),
            "unit": machine.text("/etc/systemd/system/slipway-boot.service")}


def holds(folder, words):
    """Returns the files below a folder that contain one of the words."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            text = path.read_bytes()
            found += [f"{path}: {word}" for word in words if word.encode() in text]
    return found


def failures_without_slipway(machine):
    """Returns the units of slipway that fail when they are restarted after slipway is removed, as after a boot."""
    machine.run("rm", "-rf", FOLDER)
    machine.run("systemctl", "restart", "slipway-boot.service", "slipway-gfd.service")
    return [line for line in machine.run("systemctl", "--no-legend", "--plain", "list-units", "--state=failed,activating").stdout.splitlines()
            if "slipway" in line]


def check_two_machines(checks, work, image):
    """systemd-nspawn may give both the same machine id here, so the test only checks that slipway's files do not
    contain it."""
    done = run([image / FOLDER.lstrip("/") / "bin/slipway", "apply", "--yes", "--root", image, "--cache", work / "cache", "-f",
                image / "etc/slipway/host.yaml"])
    checks.that(done.returncode == 0 and not (image / CDI.lstrip("/")).exists(), "one image is provisioned; what is a machine's is "
                "left to its boot", text_of(done))
    kept = picture(image / "var/lib/slipway", times=False)
    of_image = kept.pop("components/cdi.json", None)  # its units; the boot of a machine adds the spec
    seen = {}
    for name, gpus in (("one", 2), ("other", 5)):
        with Machine(work, image, name, gpus) as machine:
            seen[name] = look(machine)
            failed = failures_without_slipway(machine)
            root = machine.root
        one = seen[name]
        checks.that(f"{FOLDER}/bin/slipway apply --boot" in one["unit"] and one["gpus"] == gpus,
                    f"machine {name}: its boot made the CDI spec of its {gpus} GPUs", one)
        checks.that(one["verified"].returncode == 0 and f"nvidia.com/gpu.count={gpus}\n" in one["labels"]
                    and "eneration 1" in one["status"], f"machine {name}: verified, with its own labels", one)
        now = picture(root / "var/lib/slipway", times=False)
        own = now.pop("components/cdi.json", None)
        checks.that(own and own != of_image and now == kept, f"machine {name}: the state is the image's still, and what the boot made is noted beside it",
                    differences(kept, now))
        checks.that(not failed, f"machine {name}: once slipway is gone, its units are passed over and do not fail", failed)
        checks.that(not holds(root / "var/lib/slipway", (one["id"], one["boot"])) and not holds(root / "etc/slipway", (one["id"],)),
                    f"machine {name}: no machine's or boot's id is in it")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="slipway-e2e.") as name:
        work = pathlib.Path(name)
        image = make_image(work)
        check_host_folder(checks, work, image)
        check_two_machines(checks, work, image)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
