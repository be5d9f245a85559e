#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/vm.py - boots a root filesystem in qemu and runs the commands of a script in it, one line each, as root.
#
# Lines of the script: a shell command, or one of @reboot, @cut (power cut, then boot), @started (waits for the end of
# the boot), @poweroff. Empty lines and lines that start with # are passed over. Exits 0 when every command did.
#
# Usage: vm.py run (--root DIR | --image IMG) [--script FILE] [COMMAND ...]     see --help

import argparse
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from guest import GuestError, Vm, make_image  # noqa: E402
from guest.accel import accel  # noqa: E402


def parse(arguments):
    parser = argparse.ArgumentParser(prog="vm.py", description="Runs commands in a booted root filesystem.")
    run = parser.add_subparsers(dest="verb", required=True).add_parser("run", help="boot, run the commands, power off")
    source = run.add_mutually_exclusive_group(required=True)
    source.add_argument("--root", help="folder to make a temporary image of")
    source.add_argument("--image", help="ext4 image to boot; what the guest writes stays in it")
    run.add_argument("--script", help="file with one command a line; - is standard input")
    run.add_argument("--kernel", help="kernel release (default: the newest in the image)")
    run.add_argument("--share", action="append", default=[], help="folder that the guest gets as a read-only disk")
    run.add_argument("--append", default="", help="further kernel options")
    run.add_argument("--memory", type=int, default=2048, help="MiB")
    run.add_argument("--timeout", type=int, default=300, help="seconds for one command or one boot")
    run.add_argument("--console", help="file that gets the console's log")
    run.add_argument("command", nargs="*", help="commands, run after the script's")
    return parser.parse_args(arguments)


def commands(options):
    text = []
    if options.script:
        text = (sys.stdin if options.script == "-" else open(options.script, encoding="utf-8")).read().splitlines()
    lines = [line.strip() for line in [*text, *options.command]]
    return [line for line in lines if line and not line.startswith("#")]


def step(vm, line, timeout):
    """Runs one line; returns whether it succeeded."""
    print(f"$ {line}", flush=True)
    if line == "@reboot":
        vm.reboot(timeout)
        print(f"[booted in {vm.boot_seconds[-1]:.1f} s]")
    elif line == "@cut":
        vm.cut_power()
        vm.start()
    elif line == "@poweroff":
        vm.power_off(timeout)
    elif line == "@started":
        print(vm.wait_until_started(timeout))
    else:
        done = vm.run(line, timeout)
        sys.stdout.write(done.stdout + done.stderr)
        print(f"[status {done.status}, {done.seconds:.1f} s]", flush=True)
        return done.status == 0
    return True


def main():
    options = parse(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="slipway-vm.") as work:
        image = options.image or os.path.join(work, "disk.img")
        if options.root:
            make_image(options.root, image)
        shares = [os.path.join(work, f"share{number}.img") for number, _ in enumerate(options.share)]
        for folder, share in zip(options.share, shares):
            make_image(folder, share, spare_mib=16)
        vm = Vm(image, release=options.kernel, memory_mib=options.memory, options=options.append, disks=shares,
                work=os.path.join(work, "vm"), boot_timeout=options.timeout)
        try:
            with vm:
                print(f"booted with {accel()} in {vm.boot_seconds[0]:.1f} s", flush=True)
                good = all([step(vm, line, options.timeout) for line in commands(options)])
                if vm.running:
                    vm.power_off(options.timeout)
        except (GuestError, OSError) as error:
            print(f"vm.py: {error}", file=sys.stderr)
            good = False
        if options.console:
            pathlib.Path(options.console).write_text(vm.console(), encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
