# SPDX-License-Identifier: Apache-2.0
# tests/e2e/demo_driver.py - the demonstration driver in two versions, the four commands that move a root between its
# states, and what such a root looks like.

import os
import pathlib
import subprocess

from checks import differences, picture
from slipway_host import BUILD, KERNEL, TREE

VERSIONS = ("535.261.03", "550.90.07")
SLIPWAY = BUILD / "bin/slipway"


class DemoDriver:
    """Packages, specs and a cache below `work`, and the command line that runs slipway with them."""

    def __init__(self, work):
        self.work = pathlib.Path(work)
        (self.work / "tmp").mkdir(exist_ok=True)
        self.environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "TMPDIR": str(self.work / "tmp")}
        for version in VERSIONS:
            subprocess.run([TREE / "examples/demo/make-package", "--slipway", SLIPWAY, "--version", version, "--kernel",
                            KERNEL, self.work / f"package-{version}"], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        first, second = (self._apply(version) for version in VERSIONS)
        # By name: the commands that make the root, and the command that is disturbed.
        self.scenarios = {"install": ([], first), "upgrade": ([first], second),
                          "rollback": ([first, second], ["rollback", "1"]), "remove": ([first], ["remove", "--all"])}

    def _apply(self, version):
        file = self.work / f"host-{version}.yaml"
        file.write_text(f"""apiVersion: slipway.dev/v1
kind: Host
metadata: {{name: crash}}
spec:
  hardware: assume
  components:
    driver: {{version: "{version}", modules: open, source: {{repository: "{self.work}/package-{version}", trust: unsigned}}}}
""")
        return ["apply", "--yes", "--without-slipway", "-f", str(file)]

    def words(self, command, root):
        return [str(SLIPWAY), *command, "--root", str(root), "--kernel", KERNEL, "--cache", str(self.work / "cache")]

    def run(self, command, root):
        """Returns (exit status, both outputs)."""
        done = subprocess.run(self.words(command, root), env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=180)
        return done.returncode, done.stdout.decode(errors="replace")

    def prepare(self, root, commands):
        """Creates a nearly empty root, and runs these commands on it. It has no /var, which slipway creates and
        removes."""
        (root / "etc").mkdir(parents=True)
        (root / "etc/hostname").write_text("node\n")
        for command in commands:
            status, said = self.run(command, root)
            if status != 0:
                raise RuntimeError(f"{command} ended with {status}: {said[-2000:]}")


def look(root):
    """Returns the tree without the journal's database, which differs each time and must only be readable, and without
    the
    log: an interrupted apply and its resumption are two entries, and the log is written last, so that it may be
    missing after a kill. Its folder is the only thing in /var/log here; left behind by a removal, it shows as /var."""
    seen = picture(root, times=False)
    apart = ("var/lib/slipway/journal", "var/log")
    return {path: what for path, what in seen.items() if not path.startswith(apart)}


def between(old, new, now, done):
    """Returns the problem with a root after a command failed (or, with `done`, succeeded) on the way from old to new;
    empty: none."""
    rests = _rests(old, new, now)
    for part in ("driver", "slipway-boot"):
        is_, was, will = (_part_of(part, seen, rests) for seen in (now, old, new))
        if is_ not in (was, will):
            return (f"{part} is neither the old nor the new one; from the old one:\n{differences(was, is_, 6)}\nfrom the new "
                    f"one:\n{differences(will, is_, 6)}")
        if done and (is_ != will or _missing(old, new, now)):
            return f"it said that it was done: {_missing(old, new, now)[:6]}\n{differences(will, is_, 6)}"
    return ""


def _missing(old, new, now):
    """Returns paths of the new state's layers that are missing or wrong."""
    return [path for path, what in new.items()
            if path.startswith("usr/lib/slipway/store/") and path not in old and now.get(path) != what]


def _rests(old, new, now):
    """Returns layers of only one of the two states, which are in use only if the link `current` leads to them, files
    of triggers
    made, and the state folder under its other name, with the folders around them: they may wait for the next run."""
    waiting = {path for path in {*now, *old, *new} if path.startswith(("etc/ld.so.cache", f"lib/modules/{KERNEL}/modules."))
               or path.startswith("usr/lib/slipway/store/") and (path in old) != (path in new)
               or ".slipway-state" in pathlib.PurePath(path).parts}
    around = {str(parent) for path in waiting for parent in pathlib.PurePath(path).parents}
    return waiting | {path for path in around if path in now and (path not in old or path not in new)}


def _part_of(component, seen, rests):
    """Returns a component's paths, without slipway's own records."""
    settled = {path: what for path, what in seen.items() if path not in rests and not path.startswith("var")
               and not path.startswith(("etc/ld.so.cache", f"lib/modules/{KERNEL}/modules."))}
    return {path: what for path, what in settled.items() if path.startswith("etc/systemd") == (component == "slipway-boot")}
