#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/image_guide.py - runs the commands of docs/build-an-image.md and compares their output.
"""Blocks marked `sh` run here, those marked `sh guest` in the machine that boots the page's disk.img; a block marked `text` after
one is what that printed, where `…` stands for anything; `text example` and all others are only read.

The blocks run in their order, in one shell and one folder, as a user would type them; the test ends at the first that fails. Mirror
and registry are variables of the page's first block and get real values here. Debian's packages come from the e2e cache where it has
them: apt-get finds them in place. Needs root."""

import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from checks import Checks
from guest import Vm
from slipway_host import BUILD, KERNEL, TREE, debs_folder, run

PAGE = TREE / "docs/build-an-image.md"
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIMIT = 1800  # seconds for one block, which may compile the real driver
END = "-- end of the block --"


class Shell:
    """One bash that runs the blocks in turn; the first command that fails ends it."""

    def __init__(self, work):
        self.work, self.folder = work, work / "guide"
        self.folder.mkdir()
        (work / "tmp").mkdir()
        storage = work / "storage.conf"
        storage.write_text(f'[storage]\ndriver = "vfs"\ngraphroot = "{work}/storage"\nrunroot = "{work}/storage-run"\n')
        where = dict(os.environ, PATH=f"{BUILD / 'bin'}:{os.environ['PATH']}", TMPDIR=str(work / "tmp"),
                     CONTAINERS_STORAGE_CONF=str(storage), BUILDAH_ISOLATION="chroot")  # isolation that works inside
                                                                                        # containers too
        self.process = subprocess.Popen(["bash", "-eu", "-o", "pipefail"], cwd=self.folder, env=where, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # with all processes that the page has started
        except ProcessLookupError:
            pass
        self.process.wait()

    def run(self, block):
        """Returns whether the block succeeded, and its output."""
        file = self.work / "block.sh"
        file.write_text(block)
        try:
            self.process.stdin.write(f". '{file}' </dev/null\nprintf '\\n%s\\n' '{END}'\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            return False, "the shell has ended"
        text, deadline = b"", time.monotonic() + LIMIT
        while not text.endswith(f"\n{END}\n".encode()):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not data:
                return False, text.decode(errors="replace") + ("" if ready else f"\nno end after {LIMIT} s")
            text += data
        return True, text.decode(errors="replace").removesuffix(f"\n{END}\n")


class Guest:
    """The machine that boots the page's disk.img, started by the first block that runs there."""

    def __init__(self, work):
        self.work, self.vm = work, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.vm:
            self.vm.__exit__()

    def run(self, block):
        if not self.vm:
            self.vm = Vm(str(self.work / "guide/disk.img"), work=str(self.work / "vm"), boot_timeout=900).__enter__()
            self.vm.wait_until_started(900)
        done = self.vm.run(f"set -eu\n{block}", 600)
        return done.status == 0, done.stdout + done.stderr


def mirror_of(suite):
    sources = [line.split() for line in run([sys.executable, TREE / "tests/e2e/apt_sources.py"]).stdout.splitlines()]
    return next((uri for uri, name in sources if name == suite), None)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def with_real_values(page):
    """Returns the page with this machine's mirrors and a free port; raises when it does not define these variables."""
    real = {"MIRROR": mirror_of("bookworm"), "SECURITY": mirror_of("bookworm-security"), "REGISTRY": f"127.0.0.1:{free_port()}"}
    for name, value in real.items():
        written = re.search(rf"^{name}=(\S+)$", page, re.MULTILINE)
        if not written:
            raise RuntimeError(f"{PAGE.name} does not set {name}")
        page = re.sub(re.escape(written[1]) + r"(?![\w-])", value or written[1], page)
    return page


def blocks_of(page):
    """Yields (heading, language, text) of each block."""
    heading = ""
    for part in re.split(r"^(## .*)$", page, flags=re.MULTILINE):
        if part.startswith("## "):
            heading = part.removeprefix("## ")
        for language, text in BLOCK.findall(part):
            yield heading, language.strip(), text


def not_in(output, shown):
    """Returns the lines that the page shows and the output lacks."""
    lines = [line.strip() for line in shown.splitlines() if line.strip(" …")]
    return [line for line in lines if not re.search(".*".join(re.escape(part) for part in line.split("…")), output)]


def first_line(block):
    return next(line.removesuffix(" \\") for line in block.splitlines() if line.strip() not in ("", "("))


def check_packages(checks, page):
    """Checks that this machine has the packages that the page installs: otherwise its blocks would depend on other
    packages."""
    (names,) = re.findall(r"^apt install ((?!\./).*)$", page, re.MULTILINE)
    missing = [name for name in names.split() if run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev}", name]).stdout[:2] != "ii"]
    checks.that(not missing, "the packages that the page names are installed", "not installed: " + " ".join(missing))


def check_blocks(checks, page, runs):
    output = None
    for heading, language, text in blocks_of(page):
        if language in runs:
            well, output = runs[language].run(text)
            if not checks.that(well, f"{heading}: {first_line(text)}", f"{text}--- it printed:\n{output}"):
                return
        elif language.startswith("sh"):
            output = None  # skipped: no output to compare with
        elif language == "text" and output is not None:
            missing = not_in(output, text)
            checks.that(not missing, f"{heading}: and it prints what the page shows: {first_line(text)}",
                        "not there: " + "\nnot there: ".join(missing) + f"\n--- it printed:\n{output}")


def take_from_cache(page, folder):
    """Returns the packages in the e2e cache that the page downloads."""
    words = page.replace("${KERNEL%-amd64}", KERNEL.removesuffix("-amd64")).replace("$KERNEL", KERNEL)
    debs = debs_folder()
    headers = next(debs.glob(f"linux-headers-{KERNEL}_*.deb")).name.split("_")[1]
    (folder / "debs").mkdir()
    for deb in debs.glob("*.deb"):
        package, version = deb.name.split("_")[:2]
        if f" {package}=" in words and (version == headers or not package.startswith("linux-")):
            shutil.copy(deb, folder / "debs")


def main():
    checks = Checks()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that started processes end
    page = with_real_values(PAGE.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="slipway-e2e.") as name:
        work = pathlib.Path(name)
        with Shell(work) as shell, Guest(work) as guest:
            take_from_cache(page, shell.folder)
            runs = {"sh": shell, "sh guest": guest}
            if "--no-boot" in sys.argv:
                del runs["sh guest"]
            check_packages(checks, page)
            check_blocks(checks, page, runs)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
