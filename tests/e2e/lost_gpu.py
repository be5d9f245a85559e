#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/lost_gpu.py - a container of a real runc loses its GPU by `systemctl daemon-reload`; doctor says so before and after.
"""A booted bookworm: runc 1.1.5 with systemd's control groups, of version 2 and of version 1. The GPU is a device node that was made
by hand, with no module behind it: opening it fails with ENXIO where the device rules permit it, and with EPERM where they do not.
What the driver would show in /proc is mounted there."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checks import Checks  # noqa: E402
from guest import Vm, make_image  # noqa: E402
from slipway_host import install_into, script  # noqa: E402

HOST = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: node}
spec:
  hardware: assume
  components:
    runtime: {engines: [containerd], restart: false}
"""
NAME = "gpu-job"
BUNDLE = "/srv/bundle"
# The PCI address is that of any device of the machine.
DRIVER = r"""
set -e
address=$(ls /sys/bus/pci/devices | head -n 1)
mkdir -p /run/driver/nvidia/gpus/$address
echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.261.03  Thu" >/run/driver/nvidia/version
printf 'Model: \t\t stand-in\nDevice Minor: \t 0\n' >/run/driver/nvidia/gpus/$address/information
mount --bind /run/driver /proc/driver
{ cat /proc/modules; echo "nvidia 56000 0 - Live 0x0000000000000000"; } >/run/modules
mount --bind /run/modules /proc/modules
mknod -m 666 /dev/nvidia0 c 195 0
mknod -m 666 /dev/nvidiactl c 195 255
rm -f /dev/char/195:*
"""
REFUSED = "Operation not permitted"
REACHED = "No such device or address"


def container_config():
    """Writes the configuration that an engine would write for a container with a CDI device."""
    nodes = [{"path": "/dev/nvidia0", "type": "c", "major": 195, "minor": 0, "fileMode": 0o666},
             {"path": "/dev/nvidiactl", "type": "c", "major": 195, "minor": 255, "fileMode": 0o666}]
    rules = [{"allow": True, "type": "c", "major": 195, "minor": node["minor"], "access": "rw"} for node in nodes]
    folders = [{"destination": f"/{name}", "type": "bind", "source": f"/{name}", "options": ["rbind", "ro"]}
               for name in ("usr", "bin", "lib", "lib64")]
    return {"ociVersion": "1.0.2", "root": {"path": "rootfs"}, "hostname": NAME,
            "process": {"user": {"uid": 0, "gid": 0}, "args": ["/bin/sleep", "infinity"], "cwd": "/",
                        "env": ["PATH=/usr/bin:/bin", "NVIDIA_VISIBLE_DEVICES=void"]},
            "annotations": {"io.kubernetes.cri.sandbox-namespace": "team-a", "io.kubernetes.cri.sandbox-name": "train-0",
                            "io.kubernetes.cri.container-name": "trainer"},
            "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
                       {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]}, *folders],
            "linux": {"namespaces": [{"type": name} for name in ("pid", "mount", "ipc", "uts")],
                      "cgroupsPath": f"system.slice:runc:{NAME}", "devices": nodes,
                      "resources": {"devices": [{"allow": False, "access": "rwm"}, *rules]}}}


def start(vm):
    vm.run(f"runc --systemd-cgroup delete --force {NAME}")
    vm.check(f"cd {BUNDLE} && runc --systemd-cgroup run --detach {NAME} </dev/null >/run/job.log 2>&1 || {{ cat /run/job.log; exit 1; }}")


def opens(vm):
    """Returns the result of opening the node in the container."""
    done = vm.run(f"runc exec {NAME} /bin/sh -c 'exec 3<>/dev/nvidia0'")
    return done.stdout + done.stderr


def doctor(vm):
    done = vm.run("slipway doctor runtime -f /etc/slipway/host.yaml -o json", 600)
    try:
        found = json.loads(done.stdout)["components"]["runtime"]
    except (ValueError, KeyError):
        return {}, done.stdout + done.stderr
    return {each["name"]: each for each in found}, done.stdout


def has_no_findings(checks, vm, when):
    found, text = doctor(vm)
    checks.that(found and "runtime.lost-gpu" not in found and "runtime.gpu-at-risk" not in found, f"doctor names no container {when}", text)


def check_loss(checks, vm, groups):
    start(vm)
    checks.that(REACHED in opens(vm), f"{groups}: a container of runc reaches its GPU", opens(vm))
    found, text = doctor(vm)
    risk = found.get("runtime.gpu-at-risk", {"text": "", "remedy": ""})
    checks.that("pod team-a/train-0, container trainer: /dev/nvidia0 (195:0)" in risk["text"] and "runc 1.1.3 to 1.1.6" in risk["text"],
                "without the link in /dev/char doctor warns of the next reload, and names the container",
                text + vm.run("cat /run/systemd/transient/runc-*").stdout)
    vm.check("systemctl daemon-reload")
    checks.that(REFUSED in opens(vm), "systemctl daemon-reload takes the GPU away: EPERM", opens(vm))
    found, text = doctor(vm)
    lost = found.get("runtime.lost-gpu", {"text": "", "remedy": ""})
    checks.that(lost.get("status") == "fail" and "pod team-a/train-0, container trainer" in lost["text"]
                and "daemon-reload" in lost["text"] and "/dev/char" in lost["text"],
                "doctor names the container, the node and the cause", text)
    return lost["remedy"]


def check_way_back(checks, vm, remedy):
    command = re.search(r"`(systemctl set-property [^`]+)`", remedy)
    done = vm.run(command.group(1)) if command else None
    checks.that(done and done.status == 0 and REACHED in opens(vm), "the command that doctor names gives it back, without a restart",
                remedy + (done.stderr if done else "") + opens(vm))
    found, text = doctor(vm)
    checks.that("/dev/nvidia0" not in found.get("runtime.lost-gpu", {"text": ""})["text"], "and doctor sees that", text)


def check_prevention(checks, vm):
    vm.check("ln -s ../nvidia0 /dev/char/195:0; ln -s ../nvidiactl /dev/char/195:255")
    start(vm)
    has_no_findings(checks, vm, "that was made while the links of the component cdi are there")
    vm.check("systemctl daemon-reload")
    checks.that(REACHED in opens(vm), "and such a one keeps its GPU when systemd reloads its units", opens(vm))
    has_no_findings(checks, vm, "afterwards")


def check_other_causes(checks, vm):
    vm.check("mv /dev/nvidia0 /dev/aside")
    found, text = doctor(vm)
    checks.that("host has no such device node" in found.get("runtime.lost-gpu", {"text": ""})["text"], "a node that the host lost is named",
                text)
    vm.check("mv /dev/aside /dev/nvidia0")
    vm.check("nsenter -m -t $(runc list -q | head -n 1 | xargs runc state | sed -n 's/.*\"pid\": \\([0-9]*\\).*/\\1/p') rm /dev/nvidia0")
    found, text = doctor(vm)
    checks.that("no longer in the container's /dev" in found.get("runtime.lost-gpu", {"text": ""})["text"],
                "and one that the container lost", text)
    vm.check(f"runc delete --force {NAME}")
    has_no_findings(checks, vm, "once it has ended")


def make_root(root):
    script("make-root.sh", "--with-libraries", "--with-containers", str(root))
    install_into(root)
    for name in ("rootfs/usr", "rootfs/bin", "rootfs/lib", "rootfs/lib64", "rootfs/proc", "rootfs/dev"):
        (root / BUNDLE.lstrip("/") / name).mkdir(parents=True)
    (root / BUNDLE.lstrip("/") / "config.json").write_text(json.dumps(container_config()))
    (root / "etc/slipway").mkdir(exist_ok=True)
    (root / "etc/slipway/host.yaml").write_text(HOST)


def check_machine(checks, image, work, groups, options):
    with Vm(str(image), work=str(work / groups), boot_timeout=900, options=options) as vm:
        vm.wait_until_started(900)
        vm.check(DRIVER)
        remedy = check_loss(checks, vm, groups)
        check_way_back(checks, vm, remedy)
        check_prevention(checks, vm)
        check_other_causes(checks, vm)
        vm.power_off()


def main():
    if "--no-boot" in sys.argv:
        print("left out: it boots a machine")
        return 0
    checks = Checks()
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e."))
    try:
        make_root(work / "root")
        make_image(str(work / "root"), str(work / "disk.img"))
        check_machine(checks, work / "disk.img", work, "cgroup2", "")
        check_machine(checks, work / "disk.img", work, "cgroup1", "systemd.unified_cgroup_hierarchy=0 systemd.legacy_systemd_cgroup_controller=1")
        return checks.close()
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    sys.exit(main())
