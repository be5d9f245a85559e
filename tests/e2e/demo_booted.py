#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/demo_booted.py - the demonstration as a machine that boots: its services run under the units that the apply wrote.
"""examples/h100x8.yaml is applied to an image, as examples/demo/run does it. Then the image boots in qemu: slipway-boot.service
finishes it, and the services start by themselves, after a reboot as well. A GPU is lost and comes back, a plugin without end meets
its limit of memory, and everything is taken away again. The kernel modules are stand-ins that really load. The simulator is the package's libnvidia-ml, and its PCI devices lie over
those of the virtual machine; kubelet is the demonstration's. Needs root, and Debian's packages containerd and runc."""

import functools
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import types

from checks import Checks, differences
from engine_machine import add_libraries
from guest import Vm, make_image
from slipway_host import BUILD, KERNEL, TREE, VERSION, Slipway, install_into, must, root_with_headers
from standin import make_package
from units import KUBELET, LABELS, PLUGINS, SERVICES, STATUS, active, add_program, check_stop, log_of, logs, unit, wait_for

LIMIT = 900  # seconds: the machine is emulated
SIM = "/run/slipway/sim"
BAD_PLUGINS = "/usr/local/lib/bad-plugins"
# For an empty root, so that nothing changes on the machine, in a folder that FILES leaves out.
BAD_SPEC = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: bad}
spec:
  components:
    bad: {when: plan, how: allocate}
"""
PLAN_BAD = f"""
mkdir -p /var/tmp/bad/root/etc
printf %s {shlex.quote(BAD_SPEC)} >/var/tmp/bad/host.yaml
SLIPWAY_PLUGIN_PATH={BAD_PLUGINS} slipway plan --without-slipway --root /var/tmp/bad/root --cache /var/tmp/bad/cache -f /var/tmp/bad/host.yaml
"""
HARDWARE = f"h100x8,driver={VERSION}"
# Simulates files that a kernel would show, none of them slipway's. A device is a folder here: the real /sys/devices has
# no target for a link.
SIMULATE = f"""#!/bin/sh
set -e
slipway-sim {SIM} make {HARDWARE}
slipway-sim {SIM} tree {HARDWARE} /run/tree
cd /run/tree/sys/bus/pci
mv devices links
for each in links/*; do
  mkdir -p "devices/${{each#links/}}"
  cp -r "$each/." "devices/${{each#links/}}"
done
rm -r links
mount --bind . /sys/bus/pci
"""
SIMULATE_UNIT = """[Unit]
DefaultDependencies=no
After=local-fs.target systemd-udev-trigger.service
Before=slipway-boot.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/simulate
[Install]
WantedBy=sysinit.target
"""
# Type, mode, owner and content of everything except the files that a running system writes.
FILES = r"""
skip=''
for path in proc sys dev run tmp root lost+found etc/machine-id etc/resolv.conf etc/.updated etc/cni var/.updated var/log var/tmp \
  var/lib/systemd var/lib/containerd var/lib/dbus var/lib/kubelet var/cache/ldconfig var/cache/slipway; do
  skip="$skip -path ./$path -o"
done
find . \( ${skip% -o} \) -prune -o -type d -printf '%p %y %m %U:%G\n' -o -type f -printf '%p %y %m %U:%G %s\n' -o -printf '%p %y %m %U:%G %l\n'
find . \( ${skip% -o} \) -prune -o -type f -print0 | xargs -0 sha256sum
"""
wait = functools.partial(wait_for, limit=LIMIT)


class Node:
    """The booted machine, with the interface that units.py uses."""

    def __init__(self, vm):
        self.vm = vm

    def run(self, *words):
        done = self.vm.run(shlex.join(words), LIMIT)
        return subprocess.CompletedProcess(words, done.status, done.stdout, done.stderr)

    def must(self, *words):
        return self.vm.check(shlex.join(words), LIMIT)

    def slipway(self, *words):
        return self.run("slipway", *words)


def add_containerd(root):
    """Lists this machine's containerd and runc with all their files."""
    listed = must(["dpkg", "-L", "containerd", "runc"]).splitlines()
    files = sorted({path for path in listed if pathlib.Path(path).is_file() and not path.startswith("/usr/share")})
    must(["sh", "-c", 'root="$1"; shift; tar -c "$@" | tar -x --keep-directory-symlink -C "$root"', "sh", root,
          *(path.lstrip("/") for path in files)], cwd="/")


def make_root(root):
    """Creates a bookworm root with containerd, slipway, the simulator and the stand-in for kubelet."""
    root_with_headers(root, KERNEL)
    install_into(root)
    add_libraries(root)
    add_containerd(root)
    (root / BAD_PLUGINS.lstrip("/")).mkdir()
    shutil.copy(BUILD / "tests/component/bad_plugins/plugins/bad.so", root / BAD_PLUGINS.lstrip("/"))
    for program in ("slipway-sim", "demo-kubelet"):
        add_program(types.SimpleNamespace(root=root), BUILD / "bin" / program)
    files = {"/usr/local/sbin/simulate": SIMULATE, "/etc/systemd/system/simulate.service": SIMULATE_UNIT,
             "/etc/systemd/system/kubelet.service": KUBELET + "[Install]\nWantedBy=multi-user.target\n", f"{PLUGINS}/.keep": ""}
    for name in (*SERVICES, "verify"):  # the simulator's library, unlike a driver's, writes to a file
        files[f"/etc/systemd/system/{unit(name)}.d/simulator.conf"] = f"[Service]\nReadWritePaths=-{SIM}\n"
    for path, text in files.items():
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755 if text.startswith("#!") else 0o644)
    must(["systemctl", f"--root={root}", "enable", "simulate.service", "kubelet.service", "containerd.service"])


def says(node, text, *command):
    return text in node.slipway(*command).stdout


def node_is(node, capacity, allocatable):
    status = node.run("cat", STATUS).stdout
    return (f"Capacity:\n  nvidia.com/gpu: {capacity}\n" in status and f"Allocatable:\n  nvidia.com/gpu: {allocatable}\n" in status)


def check_image(checks, slipway, root, work):
    """The demonstration's spec uses ../demo-root/package."""
    library = pathlib.Path(must([BUILD / "bin/slipway-sim", "library"]).strip()) / "libnvidia-ml.so.1"
    (work / "demo-root").mkdir()
    make_package(slipway, work / "demo-root/package", VERSION, kernel=KERNEL, headers_root=root, nvml=library)
    (work / "examples").mkdir()
    spec = shutil.copy(TREE / "examples/h100x8.yaml", work / "examples")
    status, out, err, _ = slipway("apply", "--yes", "--root", root, "--sim", "h100x8", "-f", spec)
    enabled = must(["systemctl", f"--root={root}", "list-unit-files", "slipway-*.service"])
    return checks.that(status == 0 and all(unit(name) in enabled for name in (*SERVICES, "boot")),
                       "the demo's spec is applied to an image, with a unit for each service", out + err + enabled)


def failing(text):
    """Returns the failed findings in the output of verify or its unit's log."""
    return [found.group(1) for found in re.finditer(r"^(?:.*: )?  fail +(\S+)", text, re.MULTILINE)]


def check_boot(checks, node):
    node.vm.wait_until_started(LIMIT)
    failed = node.run("systemctl", "--failed", "--no-legend", "--plain").stdout
    checks.that([line.split()[0] for line in failed.splitlines()] == [unit("verify")],
                f"the machine boots, and nothing fails but its verification ({node.vm.boot_seconds[-1]:.0f} s)", failed)
    said = log_of(node, "verify")
    checks.that(failing(said) == ["validator.cuda:"], "which finds the stand-in that is no libcuda, and nothing else", said)
    result = node.run("systemctl", "show", "--property=ActiveState,Result", unit("boot")).stdout
    checks.that("ActiveState=active\n" in result and "Result=success\n" in result, f"{unit('boot')} has finished the image",
                result + log_of(node, "boot"))
    ready = node.run("systemctl", "is-active", "slipway-ready.target").stdout
    checks.that(ready == "inactive\n", "so slipway-ready.target is not reached", ready)
    loaded = node.run("lsmod").stdout
    checks.that(all(f"\n{name} " in loaded for name in ("nvidia", "nvidia_uvm", "nvidia_modeset")), "the modules are loaded", loaded)
    for name in SERVICES:
        checks.that(wait(lambda name=name: active(node, name)), f"{unit(name)} has started by itself", log_of(node, name))
    checks.that(node.run("grep", "-c", "name: GPU-", "/run/cdi/nvidia.com-gpu.yaml").stdout == "8\n", "the GPUs are CDI devices",
                node.run("ls", "/run/cdi").stdout)
    checks.that(wait(lambda: node_is(node, 8, 8)), "kubelet sees eight GPUs", node.run("cat", STATUS).stdout + logs(node))


def check_services(checks, node):
    checks.that(wait(lambda: "nvidia.com/gpu.count=8\n" in node.run("cat", LABELS).stdout), "there are labels", logs(node))
    ready = "ready: driver, plugin, toolkit; not ready: cuda"
    checks.that(wait(lambda: says(node, ready, "status")), "driver, plugin and toolkit are validated, and CUDA is not",
                node.slipway("status").stdout + log_of(node, "validator"))
    done = node.slipway("verify")
    checks.that(done.returncode == 1 and failing(done.stdout) == ["validator.cuda:"], "verify passes, but for the stand-in that is no libcuda",
                done.stdout + done.stderr)


def check_lost_gpu(checks, node):
    node.must("slipway-sim", SIM, "gpu", "3", "lost")
    checks.that(wait(lambda: node_is(node, 8, 7)), "a GPU falls off the bus: kubelet sees seven of eight", logs(node))
    checks.that(wait(lambda: says(node, "GPU 3 (0000:5d:00.0) is unhealthy", "status")), "status says which one",
                node.slipway("status").stdout)
    checks.that(wait(lambda: says(node, "not ready: cuda, driver", "status")), "the validator sees it", node.slipway("status").stdout)
    done = node.slipway("doctor")
    checks.that(done.returncode == 1 and "5d:00.0" in done.stdout, "doctor finds it", done.stdout + done.stderr)
    node.must("slipway-sim", SIM, "gpu", "3", "found")
    checks.that(wait(lambda: node_is(node, 8, 8)), "it comes back, and kubelet gets it again", logs(node))


def killed_in_a_worker_group(node):
    """Returns how often since the boot the kernel has killed a process because the cgroup of a plugin's worker was
    full."""
    return node.must("dmesg").count("oom_memcg=/slipway-worker-")


def check_memory_limit(checks, node):
    """Checks the limit of a plugin's worker with cgroup version 2: slipway runs in the root group, because other
    groups do not pass the memory controller on."""
    before = killed_in_a_worker_group(node)
    done = node.vm.run("echo $$ >/sys/fs/cgroup/cgroup.procs\n" + PLAN_BAD, LIMIT)
    checks.that(done.status != 0 and "ran out of memory, of which it may use 1024 MiB" in done.stderr + done.stdout,
                "a plugin that takes memory without end is ended at its limit", done.stdout + done.stderr)
    checks.that(killed_in_a_worker_group(node) > before, "by the kernel, which holds the limit of the worker's cgroup",
                node.run("dmesg").stdout[-4000:])


def check_reboot(checks, node):
    node.vm.reboot(LIMIT)
    check_boot(checks, node)


def files_of(text):
    return dict.fromkeys(text.splitlines(), "")


def check_removal(checks, node, before):
    done = node.slipway("remove", "--all", "--yes")
    checks.that(done.returncode == 0, "everything is taken away again", done.stdout + done.stderr)
    units = node.run("systemctl", "list-units", "--all", "--no-legend", "--plain", "slipway-*").stdout
    # Without the unit that runs this test's commands, and names that only other units' ordering mentions.
    left = [line for line in units.splitlines() if not line.startswith("slipway-e2e.") and " not-found inactive " not in line]
    checks.that(not left, "no unit of slipway's is left", "\n".join(left))
    after = files_of(node.vm.check("cd /\n" + FILES, LIMIT))
    checks.that(after == before, "and the image's files are as they were", differences(before, after))


def main():
    checks = Checks()
    if "--no-boot" in sys.argv:
        print("left out: it boots a machine")
        return 0
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e.", dir="/var/tmp"))
    try:
        root, image = work / "root", work / "disk.img"
        make_root(root)
        before = files_of(must(["sh", "-c", FILES], cwd=root))
        if check_image(checks, Slipway(work / "cache"), root, work):
            make_image(str(root), str(image))
            with Vm(str(image), work=str(work / "vm"), boot_timeout=LIMIT) as vm:
                node = Node(vm)
                check_boot(checks, node)
                check_services(checks, node)
                check_lost_gpu(checks, node)
                check_memory_limit(checks, node)
                check_reboot(checks, node)
                check_stop(checks, node)
                check_removal(checks, node, before)
                vm.power_off(LIMIT)
        return checks.close()
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    sys.exit(main())
