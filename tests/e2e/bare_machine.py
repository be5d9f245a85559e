#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/bare_machine.py - the README's first commands on a Debian bookworm that has nothing installed.
"""Usage: bare_machine.py [--long | --full]      (with either also ./dev test, which takes as long as it does anywhere)

A minimal bookworm (debootstrap's minbase: no compiler, no python, no kmod), the committed sources in it, and this machine's
compiler cache as the only cache. There `./dev demo` has to install what it needs and to end well. Needs root.

SLIPWAY_BARE_CCACHE names the folder of the compiler cache: another one, or "" for an empty one that is thrown away after."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import Checks, differences, picture
from slipway_host import TREE, must, run, script

# In the same path as here, so that objects compiled in this folder are found in the compiler's cache.
SOURCES = str(TREE).lstrip("/")
CCACHE = "root/.cache/ccache"
# Programs that ./dev must install, and that must therefore be missing before.
ABSENT = ("g++", "cmake", "python3", "depmod", "modinfo", "git", "xz", "zstd", "make", "openssl")
SPEC = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: bare}
spec:
  components:
    driver: {version: "535.261.03", modules: open, source: {repository: /srv/package, trust: unsigned}}
"""
SUMMARY = re.compile(r"(\d+)% tests passed, (\d+) tests failed out of (\d+)")


def compiler_cache(work):
    """Returns the folder for the compiler's cache, which is kept, or an empty one below `work`."""
    given = os.environ.get("SLIPWAY_BARE_CCACHE")
    if given == "":
        folder = work / "ccache"
    else:
        folder = pathlib.Path(given or os.environ.get("CCACHE_DIR") or pathlib.Path.home() / ".cache/ccache")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Machine:
    """The bare root. Mounts for a command end with it: it runs in its own mount and pid namespaces."""

    def __init__(self, folder, ccache):
        self.folder, self.ccache = folder, ccache
        script("bare-root.sh", str(folder))
        (folder / SOURCES).mkdir(parents=True)
        (folder / CCACHE).mkdir(parents=True)
        archive = subprocess.run(["git", "-c", "safe.directory=*", "-C", TREE, "archive", "HEAD"], check=True,
                                 stdout=subprocess.PIPE).stdout
        subprocess.run(["tar", "-x", "--no-same-owner", "-C", folder / SOURCES], check=True, input=archive)

    def run(self, command, show=False):
        """Runs a shell command in the sources' folder: (status, seconds, output)."""
        inside = ('set -e; cd "$1"; mount -t proc proc proc; mount -t sysfs -o ro sysfs sys; '
                  'mount -t tmpfs -o mode=755 tmpfs dev; mkdir dev/pts dev/shm; mount -t tmpfs tmpfs dev/shm; '
                  'mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts; ln -s pts/ptmx dev/ptmx; '
                  'for name in null zero full random urandom tty fuse kmsg; do [ ! -e /dev/$name ] || '
                  '{ : >dev/$name; mount --bind /dev/$name dev/$name; }; done; '
                  'ln -s /proc/self/fd dev/fd; ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr; '
                  f'mount -t tmpfs tmpfs run; mount --bind "$2" {CCACHE}; '
                  'exec chroot . env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin '
                  f'SLIPWAY_JOBS="$4" sh -c "cd /{SOURCES} && $3"')
        started = time.monotonic()
        process = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "sh",
                                    "-c", inside, "sh", self.folder, self.ccache, command,
                                    os.environ.get("SLIPWAY_JOBS", str(os.cpu_count()))],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors="replace")
        lines = []
        try:
            for line in process.stdout:
                lines.append(line)
                if show:
                    print("    " + line.rstrip(), flush=True)
            status = process.wait()
        finally:
            process.kill()  # if a signal ends the test: all processes in it end before the root is removed
            process.wait()
        return status, time.monotonic() - started, "".join(lines)

    def slipway(self, words):
        return self.run(f"build/release/bin/slipway {words} --root /srv/root --sim h100x8 --cache /srv/cache")


def check_is_bare(checks, machine):
    _, _, there = machine.run("for name in " + " ".join(ABSENT) + "; do command -v $name || :; done")
    checks.that(not there, "the machine is bare: none of " + ", ".join(ABSENT), there)


def check_demo(checks, machine):
    status, seconds, text = machine.run("./dev demo", show=True)
    checks.that(status == 0, f"./dev demo ends with status 0, after {seconds:.0f} s", f"status {status}\n{text}")
    said = [line for line in text.splitlines() if re.search(r"was skipped: neither|command not found", line)]
    checks.that(not said, "and no program was missing on the way", "\n".join(said))
    return status == 0


def check_what_was_built(checks, machine):
    """Runs slipway on its own root there: no program is missing, and a missing one is reported before a change."""
    (machine.folder / "srv/host.yaml").write_text(SPEC)
    status, _, text = machine.run("examples/demo/make-package --slipway build/release/bin/slipway /srv/package")
    checks.that(status == 0, "the demonstration package is made there", text)
    root = machine.folder / "srv/root"
    root.mkdir()
    before = picture(root, folder_times=False)
    hide, show = ("mv /sbin/depmod /sbin/depmod.away", "mv /sbin/depmod.away /sbin/depmod")
    machine.run(hide)
    for command in ("plan", "apply --yes"):
        status, _, text = machine.slipway(command + " -f /srv/host.yaml")
        checks.that(status == 1 and "depmod" in text and "kmod" in text and picture(root, folder_times=False) == before,
                    f"without depmod, {command} says so and changes nothing", text)
    machine.run(show)
    for command, expected in (("plan", 2), ("apply --yes", 0), ("apply --yes", 0), ("verify", 0), ("plan", 0)):
        status, _, text = machine.slipway(command + " -f /srv/host.yaml")
        checks.that(status == expected and "was skipped: neither" not in text, f"{command} exits {expected}", text)
    status, _, text = machine.slipway("remove --all")
    after = picture(root, folder_times=False)
    checks.that(status == 0 and after == before, "remove brings the root back", text + differences(before, after))


def check_demo_again(checks, machine):
    """The second run uses what the first run built and installed: it asks no package server, and ends the same."""
    (machine.folder / "etc/apt/sources.list").rename(machine.folder / "etc/apt/sources.list.away")
    status, seconds, text = machine.run("./dev demo")
    (machine.folder / "etc/apt/sources.list.away").rename(machine.folder / "etc/apt/sources.list")
    checks.that(status == 0, f"a second ./dev demo needs no package server, {seconds:.0f} s", f"status {status}\n{text}")
    checks.that("installing" not in text, "and installs nothing", text)


def check_tests(checks, machine):
    status, seconds, text = machine.run("./dev test", show=True)
    summary = SUMMARY.search(text)
    checks.that(status == 0 and summary is not None and summary[2] == "0",
                f"./dev test ends with status 0, after {seconds:.0f} s: {summary[0] if summary else 'no summary'}",
                f"status {status}\n{text}")


def main():
    long = {"--long", "--full"} & set(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the machine ends too
    checks = Checks()
    commit = must(["git", "-c", "safe.directory=*", "-C", TREE, "log", "-1", "--format=%h %s"]).strip()
    print(f"the committed sources: {commit}", flush=True)
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-bare-", dir=os.environ.get("TMPDIR", "/var/tmp")))
    try:
        machine = Machine(work / "root", compiler_cache(work))
        check_is_bare(checks, machine)
        if check_demo(checks, machine):  # otherwise it is not built
            check_what_was_built(checks, machine)
            check_demo_again(checks, machine)
        if long:
            check_tests(checks, machine)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    checks.that(not work.exists(), "nothing of the machine is left")
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
