#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/driver_live.py - a live machine without a GPU: apply compiles, loads, swaps, fails, rolls back and removes.
#
# The packages are stand-ins (standin/): their modules are compiled against the real kernel's headers and really load.

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checks import Checks, differences  # noqa: E402
from guest import Vm, make_image  # noqa: E402
from slipway_host import KERNEL, VERSION, Slipway, install_into, root_with_headers, write_spec  # noqa: E402
from standin import make_package  # noqa: E402

SECOND = "550.163.01"
REFUSING = "570.86.15"  # its nvidia-uvm returns an error from its init function
FOLDER = "/opt/e2e"
LOADED = ["nvidia", "nvidia_modeset", "nvidia_uvm"]

# Path, type, mode, owner, link target; size and time of files, or a hash if slipway may have written them again.
# ldconfig's own cache has times and inodes, so only its name counts. Left out: files that a running system writes, and
# slipway's downloads and builds.
TREE = r"""
skip='-path /var/log -o -path /var/tmp -o -path /tmp -o -path /var/lib/systemd -o -path /var/cache/slipway -o -path /root'
hashed="-path /etc/* -o -path /usr/lib/modules/*/modules.* -o -path /usr/lib/slipway/* -o -path /var/lib/slipway*"
notes='-path /var/cache/ldconfig/*'
[ -z "$narrow" ] || skip="$skip -o -path /usr/src -o -path /usr/share"
find / -xdev \( $skip \) -prune -o \( $hashed -o $notes \) -type f -printf '%p %y %m %U:%G\n' \
  -o -type f -printf '%p %y %m %U:%G %s %T@\n' -o -printf '%p %y %m %U:%G %l\n'
find / -xdev \( $skip \) -prune -o \( $hashed \) -type f -print0 | xargs -0 sha256sum
find /dev -name 'nvidia*' -printf '%p %m\n'
find /dev/char -lname '*nvidia*' -printf '%p %l\n'
"""


class Guest:
    """The machine under test; every answer comes from inside."""

    def __init__(self, vm):
        self._vm = vm

    def run(self, command, timeout=900):
        return self._vm.run(command, timeout)

    def slipway(self, words, timeout=1800):
        """Returns (status, both outputs, seconds)."""
        done = self._vm.run(f"slipway {words}", timeout)
        return done.status, done.stdout + done.stderr, done.seconds

    def apply(self, version):
        return self.slipway(f"apply -f {FOLDER}/{version}.yaml")

    def tree(self, whole=False):
        """Returns one entry for each line, so that differences() can name them. Without /usr/src and /usr/share, two
        thirds of all
        files, unless `whole` is set: an emulated machine needs a while to read each."""
        narrow = "" if whole else "narrow=yes\n"
        return {line: "" for line in self._vm.check("set -f\n" + narrow + TREE, 900).splitlines()}

    def loaded(self):
        """Returns the loaded modules of the driver, with their versions."""
        lines = self._vm.check("for m in /sys/module/nvidia*; do [ -e $m/refcnt ] && echo ${m##*/} $(cat $m/version); "
                               "done; true").splitlines()
        return dict(line.split() for line in lines)

    def says(self, *commands):
        return "\n".join(f"$ {command}\n{done.stdout}{done.stderr}"
                         for command in commands for done in [self.run(command)])


def whatever_the_boot(tree):
    """Removes numbers that may change at a boot: nvidia-uvm's device number is dynamic."""
    return {line: "" for line in tree if not line.startswith("/dev/char/") and "/slipway/components/driver.json" not in line}


def of_version(version):
    return dict.fromkeys(LOADED, version)


def says_why(text):
    """Recognizes the message about the package whose nvidia-uvm refuses; it has module names in the kernel's
    spelling."""
    named = "kernel module nvidia_uvm cannot be loaded" in text.replace("-", "_")
    return named and "this build refuses to start" in text


def check_failure_on_a_fresh_machine(checks, guest, before):
    status, text, seconds = guest.apply(REFUSING)
    checks.that(status == 1, f"a package whose module refuses to start makes apply fail ({seconds:.0f} s)", text)
    checks.that(says_why(text), "the message names the module and what the kernel said", text)
    checks.that(guest.loaded() == {}, "the modules that had been loaded are unloaded again", guest.says("lsmod"))
    after = guest.tree()
    checks.that(after == before, "and the root is as it was", differences(before, after))


def check_first_apply(checks, guest):
    status, text, seconds = guest.apply(VERSION)
    checks.that(status == 0, f"apply compiles for the running kernel, installs and loads ({seconds:.0f} s)", text)
    checks.that(guest.loaded() == of_version(VERSION), "the modules are loaded", guest.says("lsmod", "dmesg | tail -30"))
    info = guest.run("modinfo nvidia; modprobe --show-depends nvidia-modeset").stdout
    checks.that(f"vermagic:       {KERNEL} SMP" in info and "updates/slipway/nvidia.ko" in info,
                "they were compiled for the running kernel, and depmod knows them", info)
    nodes = guest.run("cd /dev && stat -c '%n %t:%T %a' nvidiactl nvidia-modeset nvidia-uvm nvidia-uvm-tools").stdout
    checks.that("nvidiactl c3:ff 666" in nodes and "nvidia-modeset c3:fe 666" in nodes and nodes.count("\n") == 4,
                "the control nodes are there", nodes)
    cache = guest.run("ldconfig -p; nvidia-smi").stdout
    checks.that("libcuda.so.1" in cache and "demonstration package" in cache, "libraries and tools are found", cache)
    status, text, _ = guest.slipway("verify")
    checks.that(status == 0 and "driver.loaded" in text, "verify passes", text)


def check_second_apply(checks, guest):
    seen = guest.tree()
    status, text, seconds = guest.apply(VERSION)
    checks.that(status == 0 and "Nothing to do" in text, f"a second apply has nothing to do ({seconds:.1f} s)", text)
    after = guest.tree()
    checks.that(after == seen, "and changes nothing", differences(seen, after))


def check_reboot(checks, guest, vm):
    seen = whatever_the_boot(guest.tree())
    vm.reboot(900)
    state = vm.wait_until_started(900)
    after = whatever_the_boot(guest.tree())
    checks.that(state == "running" and guest.loaded() == of_version(VERSION) and after == seen,
                "after a reboot the modules are loaded again, and the nodes are there",
                state + differences(seen, after) + guest.says("journalctl -u slipway-boot --no-pager"))


def check_other_version(checks, guest):
    status, text, seconds = guest.apply(SECOND)
    checks.that(status == 0, f"apply of another version replaces the unused modules ({seconds:.0f} s)", text)
    checks.that(guest.loaded() == of_version(SECOND), "those of the new version are loaded", guest.says("lsmod"))
    status, text, _ = guest.slipway("verify")
    checks.that(status == 0, "verify passes", text)


def check_failure_in_activate(checks, guest):
    seen = guest.tree()
    status, text, seconds = guest.apply(REFUSING)
    checks.that(status == 1 and says_why(text), f"a version whose module refuses fails, and says why ({seconds:.0f} s)",
                text)
    checks.that("not restored" not in text, "everything was brought back", text)
    checks.that(guest.loaded() == of_version(SECOND), "the former generation's modules are loaded",
                guest.says("lsmod", "dmesg | tail -30"))
    after = guest.tree()
    remembered = [line for line in after if "/var/lib/slipway/failing.json" in line]
    checks.that(remembered, "how the apply ended is remembered", "")
    after = {line: "" for line in after if line not in remembered}
    checks.that(after == seen, "its files are back", differences(seen, after))
    status, text, _ = guest.slipway("verify")
    checks.that(status == 0 and "warning  driver.apply" in text, "and it verifies, with a word on the apply that failed", text)
    status, text, _ = guest.slipway(f"plan -f {FOLDER}/{SECOND}.yaml")
    checks.that(status == 0, "its plan has nothing left to do", text)


def check_rollback(checks, guest):
    status, text, seconds = guest.slipway("rollback")
    checks.that(status == 0, f"rollback brings the first version back ({seconds:.0f} s)", text)
    checks.that(guest.loaded() == of_version(VERSION), "its modules are loaded", guest.says("lsmod"))
    status, text, _ = guest.slipway("verify")
    checks.that(status == 0, "verify passes", text)


def check_modules_in_use(checks, guest):
    guest.run("exec sleep 100000 </dev/nvidia-uvm >/dev/null 2>&1 & echo $! >/run/holder; sleep 1")
    seen = guest.tree()
    status, text, _ = guest.apply(SECOND)
    checks.that(status == 1 and "is in use, so it was left as it is" in text and "sleep (pid " in text,
                "while a process uses the driver, another version is refused, and the process is named", text)
    checks.that(guest.loaded() == of_version(VERSION), "and the loaded ones stay", guest.says("lsmod"))
    after = {line: "" for line in guest.tree() if "/var/lib/slipway/failing.json" not in line}
    checks.that(after == seen, "with their files", differences(seen, after))
    guest.run("kill $(cat /run/holder); sleep 1")
    status, text, _ = guest.apply(SECOND)
    checks.that(status == 0 and guest.loaded() == of_version(SECOND), "once they are free, apply replaces them",
                text + guest.says("lsmod"))


def check_remove(checks, guest, before):
    status, text, seconds = guest.slipway("remove --all")
    checks.that(status == 0, f"remove takes everything away ({seconds:.0f} s)", text)
    checks.that(guest.loaded() == {}, "the modules are unloaded", guest.says("lsmod"))
    after = guest.tree(whole=True)
    checks.that(after == before, "and the root is as it was before the first apply", differences(before, after))


def make_root(slipway, root):
    """Creates a bookworm root with slipway, headers, the packages and a spec for each version."""
    root_with_headers(root, KERNEL)
    install_into(root)
    folder = root / FOLDER.lstrip("/")
    folder.mkdir(parents=True)
    make_package(slipway, folder / "packages", VERSION, source=True)
    make_package(slipway, folder / "packages", SECOND, kernel=KERNEL, headers_root=root)
    make_package(slipway, folder / "packages", REFUSING, kernel=KERNEL, headers_root=root, refuses="nvidia-uvm")
    for version in (VERSION, SECOND, REFUSING):
        write_spec(folder / f"{version}.yaml", f"{{repository: {FOLDER}/packages, trust: unsigned}}", hardware="assume",
                   version=f'"{version}"')


def main():
    if "--no-boot" in sys.argv:
        print("left out: it boots a machine")
        return 0
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="slipway-e2e.") as name:
        work = pathlib.Path(name)
        root, image = work / "root", work / "disk.img"
        make_root(Slipway(work / "cache"), root)
        make_image(str(root), str(image))
        with Vm(str(image), work=str(work / "vm"), boot_timeout=900) as vm:
            state = vm.wait_until_started(900)
            checks.that(state == "running", f"the machine boots ({vm.boot_seconds[0]:.0f} s)", state)
            guest = Guest(vm)
            before = guest.tree(whole=True)
            check_failure_on_a_fresh_machine(checks, guest, guest.tree())
            check_first_apply(checks, guest)
            check_second_apply(checks, guest)
            check_reboot(checks, guest, vm)
            check_other_version(checks, guest)
            check_failure_in_activate(checks, guest)
            check_rollback(checks, guest)
            check_modules_in_use(checks, guest)
            check_remove(checks, guest, before)
            vm.power_off()
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
