#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/guest_cuts.py - the power of a machine is cut at random moments of an apply: it boots, and the same apply then
# ends as undisturbed.
#
# qemu is killed, so what the guest's kernel had not written yet is lost. The modules are stand-ins (standin/) that are
# compiled beforehand and really load. power_cuts.py is about lost and torn writes, and many more moments.

import argparse
import json
import pathlib
import random
import shutil
import sys
import tempfile

from checks import Checks, differences
from driver_live import FOLDER, Guest, of_version, whatever_the_boot
from guest import Vm, make_image
from slipway_host import KERNEL, VERSION, Slipway, install_into, root_with_headers, write_spec
from standin import make_package

RECORD = "/var/lib/slipway/generations/1.json"
APPLY = f"apply --yes -f {FOLDER}/{VERSION}.yaml"


def make_machine(slipway, work):
    """Creates a disk with slipway and a package, without an apply, and boots it once."""
    root, image = work / "root", work / "base.img"
    root_with_headers(root, KERNEL)
    install_into(root)
    folder = root / FOLDER.lstrip("/")
    folder.mkdir(parents=True)
    make_package(slipway, folder / "packages", VERSION, kernel=KERNEL, headers_root=root)
    write_spec(folder / f"{VERSION}.yaml", f"{{repository: {FOLDER}/packages, trust: unsigned}}", hardware="assume",
               version=f'"{VERSION}"')
    make_image(str(root), str(image))
    with Vm(str(image), work=str(work / "first"), boot_timeout=900) as vm:
        vm.wait_until_started(900)
        vm.power_off()
    return image


def state_of(guest):
    """Returns the tree, with the generation's record itself instead of its hash: the record has the time of the
    apply, which is
    another time after each cut."""
    seen = {line: "" for line in whatever_the_boot(guest.tree()) if not line.endswith(f"  {RECORD}")}
    record = json.loads(guest.run(f"cat {RECORD}").stdout)
    record.pop("time")
    seen[f"{RECORD} without its time: {json.dumps(record, sort_keys=True)}"] = ""
    return seen


class Cuts:
    def __init__(self, checks, work, base):
        self.checks, self.work, self.base = checks, work, base

    def _boot_copy(self):
        image = self.work / "disk.img"
        shutil.copyfile(self.base, image)
        vm = Vm(str(image), work=str(self.work / "vm"), boot_timeout=900)
        return vm

    def undisturbed(self):
        with self._boot_copy() as vm:
            vm.wait_until_started(900)
            guest = Guest(vm)
            status, text, self.seconds = guest.slipway(APPLY)
            vm.reboot(900)
            state = vm.wait_until_started(900)
            self.wanted = state_of(guest)
            self.checks.that(status == 0 and state == "running" and guest.loaded() == of_version(VERSION),
                             f"undisturbed, the apply takes {self.seconds:.1f} s, and the machine boots with the driver",
                             text + state)
            vm.power_off()

    def cut(self, moment):
        """Returns the problem after a cut that many seconds after the start of the apply; empty: none."""
        with self._boot_copy() as vm:
            vm.wait_until_started(900)
            vm.run(f"(slipway {APPLY} >/root/log 2>&1 &) </dev/null; sleep {moment:.2f}", 900)
            vm.cut_power()
            vm.start()
            state = vm.wait_until_started(900)
            guest = Guest(vm)
            if state != "running":
                return f"the machine is {state} after its boot: {guest.says('systemctl --failed --no-legend', 'journalctl -b -p 4 --no-pager')}"
            status, text, _ = guest.slipway(APPLY)
            if status != 0:
                return f"the next apply ended with {status}: {text[-1500:]}"
            if guest.loaded() != of_version(VERSION):
                return f"loaded is {guest.loaded()}"
            return differences(self.wanted, state_of(guest))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true", help="100 cuts instead of 5")
    parser.add_argument("--full", action="store_true", help="the same here")
    parser.add_argument("--no-boot", action="store_true", help="leaves it out: it boots a machine")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="of an earlier run")
    arguments = parser.parse_args()
    if arguments.no_boot:
        print("left out: it boots a machine")
        return 0
    checks = Checks()
    print(f"--seed {arguments.seed} chooses the same moments again", flush=True)
    chance = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="slipway-e2e.") as name:
        work = pathlib.Path(name)
        cuts = Cuts(checks, work, make_machine(Slipway(work / "cache"), work))
        cuts.undisturbed()
        for _ in range(100 if arguments.long else 5):
            moment = chance.uniform(0.1, cuts.seconds)
            problem = cuts.cut(moment)
            checks.that(not problem, f"power cut {moment:.1f} s after the begin: the machine boots, and the same apply ends as "
                        "undisturbed", problem)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
