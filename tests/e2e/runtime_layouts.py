#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/runtime_layouts.py - random layouts of engines' configurations, judged by containerd 1.6, 1.7, 2.1 and started dockerds.
"""Each seed writes a configuration as an admin might have it: imports that are nested, repeated, in loops and by patterns;
tables that a later file hides or that are merged; versions 1, 2, 3 and none; handlers and default handlers that others
made; a drop-in that the test requested; flags in a unit's drop-in. slipway applies, and the engine of the root says what
it makes of the files: the handler is there with what the default handler has, CDI is on, and nothing else has changed. A
second apply has nothing to do, and a removal brings back every byte.

SLIPWAY_E2E_SEEDS=FROM-TO runs other seeds than the usual ones (tests/e2e/run --long: 200 of each engine)."""

import difflib
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import tomllib

from checks import Checks
from slipway_host import BUILD, HERE, run, script

USUAL_SEEDS = (1, 25)
LONG_SEEDS = (1, 200)
RUNTIME = "/usr/bin/nvidia-container-runtime"
STATE = ("var/lib/slipway", "usr/lib/slipway", "etc/slipway")
CONFIGURED = ("etc/containerd", "etc/docker", "etc/nvidia-container-runtime", "etc/systemd/system/docker.service.d")
V1, V2, V3 = "cri", "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime"


def toml_text(value):
    """Writes tables with a header each."""
    lines = []

    def name_of(name):
        return name if name.replace("_", "").replace("-", "").isalnum() else json.dumps(name)

    def write(table, path):
        values = {key: item for key, item in table.items() if not isinstance(item, dict)}
        if path and (values or not table):
            lines.append(f"\n[{'.'.join(map(name_of, path))}]")
        lines.extend(f"{key} = {json.dumps(item)}" for key, item in values.items())
        for key, item in table.items():
            if isinstance(item, dict):
                write(item, [*path, key])

    write(value, [])
    return "\n".join(lines) + "\n"


class Layout:
    """Writes containerd's files by name below /etc/containerd, for one version of containerd."""

    def __init__(self, chance, major_minor):
        self.chance = chance
        self.engine = major_minor
        versions = [1, 2, 2, 2] if major_minor < (2, 0) else [2, 3, 3, 3, 0]
        self.version = chance.choice(versions)
        self.plugin = {1: V1, 2: V2, 3: V3, 0: V3}[self.version]
        self.files = {"config.toml": self.content(main=True)}
        self.drop_in = None
        if self.version != 1:
            self.add_imports()
            if chance.random() < 0.3:
                self.drop_in = f"/etc/containerd/{chance.choice(['conf.d', 'own', 'im'])}/{chance.choice(['99-nvidia', '50-x', 'a'])}.toml"
        self.as_default = chance.random() < 0.4

    def handler(self):
        table = {"runtime_type": "io.containerd.runc.v2"}
        if self.chance.random() < 0.6:
            table["options"] = {"SystemdCgroup": self.chance.random() < 0.7}
            if self.chance.random() < 0.3:
                table["options"]["BinaryName"] = "/opt/bin/" + self.chance.choice(["runc", "crun"])
        return table

    def table(self):
        """Returns some settings for the CRI plugin."""
        cri = {}
        if self.chance.random() < 0.4:
            cri["enable_selinux"] = True
        if self.chance.random() < 0.3:
            cri["max_container_log_line_size"] = self.chance.randrange(1000, 9000)
        if self.chance.random() < 0.7:
            runtimes = {"runc": self.handler()}
            if self.chance.random() < 0.3:
                runtimes["kata"] = {"runtime_type": "io.containerd.kata.v2"}
            if self.chance.random() < 0.15:
                runtimes["nvidia"] = {"runtime_type": "io.containerd.runc.v2", "options": {"BinaryName": RUNTIME}}
            cri["containerd"] = {"runtimes": runtimes}
            if self.chance.random() < 0.3:
                cri["containerd"]["default_runtime_name"] = self.chance.choice(sorted(runtimes))
        return cri

    def content(self, main=False):
        value = {}
        if self.version > 1 and (main or self.chance.random() < 0.8 or self.engine >= (2, 0)):
            value["version"] = self.version
        if self.chance.random() < 0.5:
            value["debug"] = {"level": self.chance.choice(["info", "warn"])}
        if self.chance.random() < 0.6:
            value["plugins"] = {self.plugin: self.table()}
        return value

    def add_imports(self):
        names = ["site.toml", "conf.d/10-a.toml", "conf.d/20-b.toml", "im/c.toml", "sub/x/d.toml"]
        there = [name for name in names if self.chance.random() < 0.5]
        self.files |= {name: self.content() for name in there}
        patterns = ["conf.d/*.toml", "im/*.toml", "sub/*/d.toml"]
        for name in ["config.toml", *there]:
            if self.chance.random() > (0.8 if name == "config.toml" else 0.25):
                continue
            # From 1.7.16 on (and 1.6.29, which no suite has) an import is relative to the folder of its file.
            relative = self.engine >= (1, 7) and self.chance.random() < 0.3
            base = "../" * name.count("/") if relative else "/etc/containerd/"
            imports = [base + pattern for pattern in patterns if self.chance.random() < 0.5]
            imports += [f"/etc/containerd/{other}" for other in there if self.chance.random() < 0.25]
            if name != "config.toml" and self.chance.random() < 0.2:
                imports.append("/etc/containerd/config.toml")
            self.chance.shuffle(imports)
            self.files[name] = {"imports": imports, **self.files[name]}

    def texts(self):
        comment = "# the admin's own words\n"
        return {name: comment + toml_text(value) for name, value in self.files.items()}


class Root:
    """The root of a suite, with its real engines."""

    def __init__(self, work, suite):
        self.work = work
        self.root = work / suite
        script("engine-root.sh", suite, self.root)
        for name in ("usr/bin/slipway-runtime", RUNTIME.lstrip("/")):
            (self.root / name).write_text("#!/bin/sh\n")
            (self.root / name).chmod(0o755)
        version = run(["chroot", self.root, "containerd", "--version"]).stdout.split()[2].lstrip("v")
        self.engine = tuple(int(number) for number in version.split(".")[:2])
        self.docker = ()
        if (self.root / "usr/sbin/dockerd").exists():
            version = run(["chroot", self.root, "dockerd", "--version"]).stdout.split()[2]
            self.docker = tuple(int(number) for number in version.split(".")[:2])

    def reset(self, files):
        for name in (*STATE, *CONFIGURED):
            shutil.rmtree(self.root / name, ignore_errors=True)
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def files(self):
        return {str(path.relative_to(self.root)): path.read_bytes() for name in CONFIGURED
                for path in (self.root / name).rglob("*") if path.is_file()}

    def slipway(self, *words):
        return run([BUILD / "bin/slipway", *words, "--root", self.root, "--cache", self.work / "cache"])

    def apply(self, settings):
        spec = {"apiVersion": "slipway.dev/v1", "kind": "Host", "metadata": {"name": "layout"},
                "spec": {"hardware": "assume", "components": {"runtime": settings}}}
        (self.work / "host.yaml").write_text(json.dumps(spec))
        return self.slipway("apply", "--without-slipway", "-f", self.work / "host.yaml")

    def dump(self):
        done = run(["chroot", self.root, "containerd", "--config", "/etc/containerd/config.toml", "config", "dump"])
        return tomllib.loads(done.stdout) if done.returncode == 0 else done.stderr


def cri_of(dump):
    return dump["plugins"].get(V3) or dump["plugins"][V2]


def without_ours(dump, as_default):
    """Removes settings that slipway does not manage. If no handler is set, slipway sets runc, so runc's options are
    compared."""
    dump = json.loads(json.dumps(dump))
    dump.pop("imports", None)
    cri = cri_of(dump)
    cri.pop("enable_cdi", None)
    runtimes = cri["containerd"]["runtimes"] or {}
    runtimes.pop("nvidia", None)
    if "runc" in runtimes:
        options = runtimes["runc"].get("options", {})
        runtimes["runc"] = [runtimes["runc"]["runtime_type"], options.get("SystemdCgroup", False),
                            options.get("BinaryName", "")]
    if as_default:
        cri["containerd"].pop("default_runtime_name", None)
    return dump


def differing(old, new):
    return "\n".join(difflib.unified_diff(*(json.dumps(one, indent=1, sort_keys=True).splitlines() for one in (old, new)),
                                          lineterm="", n=2))


def problem_of_end(root, settings, bytes_before):
    """Returns the problem with a second apply and a removal; empty: none."""
    again = root.apply(settings)
    if again.returncode != 0 or "Nothing to do" not in again.stdout:
        return "a second apply has something to do: " + again.stdout + again.stderr
    removed = root.slipway("remove", "runtime", "--yes")
    if removed.returncode != 0 or root.files() != bytes_before:
        return "removal does not bring back every byte: " + removed.stderr
    return ""


def problem_of_containerd(root, layout, settings):
    """Returns the problem with one layout; empty: none."""
    root.reset({"etc/containerd/" + name: text for name, text in layout.texts().items()})
    bytes_before = root.files()
    before = root.dump()
    if isinstance(before, str):
        return "the layout is none that containerd takes: " + before
    done = root.apply(settings)
    if done.returncode != 0:
        refused = layout.drop_in and "takes the settings of its CRI plugin from there" in " ".join(done.stderr.split())
        return "" if refused and root.files() == bytes_before else "apply fails: " + done.stderr
    after = root.dump()
    if isinstance(after, str):
        return "containerd refuses it: " + after
    cri = cri_of(after)
    runtimes = cri["containerd"]["runtimes"]
    nvidia = runtimes.get("nvidia", {})
    if nvidia.get("options", {}).get("BinaryName") != RUNTIME:
        return f"the handler is missing: {nvidia}"
    chosen = cri_of(before)["containerd"]["default_runtime_name"] or "runc"
    there = cri_of(before)["containerd"]["runtimes"] or {}
    if there.get(chosen, {}).get("runtime_type", "").startswith("io.containerd.kata"):  # of another kind: runc's
                                                                                        # options apply
        chosen = "runc"
    base = there.get(chosen, {})
    for option in ("SystemdCgroup", "Root"):
        if (nvidia.get("options", {}).get(option) or False) != (base.get("options", {}).get(option) or False):
            return f"it has another {option} than {chosen}: {nvidia} {base}"
    if settings.get("set_as_default") and cri["containerd"]["default_runtime_name"] != "nvidia":
        return "it is not the default one: " + cri["containerd"]["default_runtime_name"]
    if root.engine >= (1, 7) and cri.get("enable_cdi") is not True:
        return "CDI is off"
    kept = without_ours(before, settings.get("set_as_default"))
    now = without_ours(after, settings.get("set_as_default"))
    if kept != now:
        return f"something else has changed:\n{differing(kept, now)}"
    return problem_of_end(root, settings, bytes_before)


def check_containerd(checks, root, seeds):
    what = f"containerd {root.engine[0]}.{root.engine[1]}"
    failed = 0
    for seed in range(seeds[0], seeds[1] + 1):
        layout = Layout(random.Random(f"{what} {seed}"), root.engine)
        settings = {"engines": ["containerd"], "runtime_path": RUNTIME}
        if layout.as_default:
            settings["set_as_default"] = True
        if layout.drop_in:
            settings["containerd_drop_in"] = layout.drop_in
        problem = problem_of_containerd(root, layout, settings)
        if problem:
            failed += 1
            files = "".join(f"--- {name}\n{text}" for name, text in layout.texts().items())
            checks.that(False, f"{what}, seed {seed}", f"{problem}\n{settings}\n{files}")
    checks.that(failed == 0, f"{what}: {seeds[1] - seeds[0] + 1} random layouts are configured, settle and come back")


def random_docker(chance):
    """Returns daemon.json, flags of dockerd, and the file that has them: a drop-in's variable, or an environment
    file."""
    value = {}
    flags = []
    if chance.random() < 0.5:
        value["log-driver"] = "json-file"
    if chance.random() < 0.4:
        value["features"] = {"containerd-snapshotter": False}
    if chance.random() < 0.5:
        value["runtimes"] = {"crun": {"path": "/usr/local/bin/crun"}}
        if chance.random() < 0.5:
            value["default-runtime"] = "crun"
    if chance.random() < 0.15:
        value.setdefault("runtimes", {})["nvidia"] = {"runtimeType": "io.containerd.runsc.v1"}
    if chance.random() < 0.3 and "default-runtime" not in value:
        flags += ["--default-runtime=" + chance.choice(["runc", "nvidia"])]
    if chance.random() < 0.2:
        flags += ["--add-runtime=" + chance.choice(["nvidia", "other"]) + "=" + RUNTIME]
    if chance.random() < 0.2:
        flags += ["--label=a=b"]
    return value, flags, chance.random() < 0.5


def problem_of_started_dockerd(root, value, flags, settings):
    """Starts dockerd, because `dockerd --validate` accepts settings with which it does not start; 20.10 has no
    --validate."""
    started = run([HERE / "started-dockerd.sh", root.root, *flags])
    (root.root / "etc/docker/key.json").unlink(missing_ok=True)  # which 20.10 makes
    if started.returncode != 0:
        return "dockerd does not start: " + started.stderr
    info = json.loads(started.stdout)
    if info["Runtimes"].get("nvidia", {}).get("path") != RUNTIME:
        return f"dockerd does not know the runtime: {info['Runtimes']}"
    chosen = [flag.split("=")[1] for flag in flags if flag.startswith("--default-runtime=")]
    expected = chosen[0] if chosen else "nvidia" if settings.get("set_as_default") else value.get("default-runtime", "runc")
    if info["DefaultRuntime"] != expected:
        return f"dockerd's default runtime is {info['DefaultRuntime']} instead of {expected}"
    if root.docker >= (25, 0) and not info["CDISpecDirs"]:
        return "CDI is off"
    return ""


def problem_of_docker(root, value, flags, in_file, settings):
    indent = 2 if len(value) % 2 else None
    files = {"etc/docker/daemon.json": json.dumps(value, indent=indent)}
    if flags:
        files["etc/systemd/system/docker.service.d/flags.conf"] = (
            "[Service]\n" + ("EnvironmentFile=-/etc/docker/flags\n" if in_file else f'Environment="FLAGS={" ".join(flags)}"\n') +
            "ExecStart=\nExecStart=/usr/sbin/dockerd -H fd:// $FLAGS\n")
    if flags and in_file:
        files["etc/docker/flags"] = "# of the distribution\nFLAGS=\"" + " \\\n".join(flags) + "\"\n"
    root.reset(files)
    bytes_before = root.files()
    done = root.apply(settings)
    if done.returncode != 0:
        text = " ".join(done.stderr.split())
        named = any(flag.split("=")[0] in text for flag in flags) or "is of another kind" in text
        return "" if named and root.files() == bytes_before else "apply fails: " + done.stderr
    if problem := problem_of_started_dockerd(root, value, flags, settings):
        return problem
    now = json.loads((root.root / "etc/docker/daemon.json").read_text())
    by_flag = any(flag.startswith("--add-runtime=nvidia=") for flag in flags)
    if not by_flag and now["runtimes"]["nvidia"]["path"] != RUNTIME:
        return f"the runtime is missing: {now}"
    now["runtimes"] = {name: one for name, one in now.get("runtimes", {}).items() if name != "nvidia"}
    if not value.get("runtimes") and not now["runtimes"]:
        now.pop("runtimes")
    now.get("features", {}).pop("cdi", None)
    if not value.get("features") and not now.get("features", True):
        now.pop("features")
    if settings.get("set_as_default"):
        now.pop("default-runtime", None)
        value = {name: one for name, one in value.items() if name != "default-runtime"}
    if now != value:
        return f"something else has changed: {now}"
    return problem_of_end(root, settings, bytes_before)


def check_docker(checks, root, seeds):
    what = f"Docker {root.docker[0]}"
    failed = 0
    for seed in range(seeds[0], seeds[1] + 1):
        chance = random.Random(f"{what} {seed}")
        value, flags, in_file = random_docker(chance)
        settings = {"engines": ["docker"], "runtime_path": RUNTIME}
        if chance.random() < 0.5:
            settings["set_as_default"] = True
        problem = problem_of_docker(root, value, flags, in_file, settings)
        if problem:
            failed += 1
            checks.that(False, f"{what}, seed {seed}", f"{problem}\n{settings}\n{json.dumps(value)}\n{flags} {in_file}")
    checks.that(failed == 0, f"{what}: {seeds[1] - seeds[0] + 1} random layouts are configured, settle and come back")


def main():
    checks = Checks()
    seeds = LONG_SEEDS if "--long" in sys.argv else USUAL_SEEDS
    if asked := os.environ.get("SLIPWAY_E2E_SEEDS"):
        seeds = tuple(int(number) for number in asked.split("-"))
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e."))
    work.chmod(0o755)
    try:
        for suite in os.environ.get("SLIPWAY_E2E_SUITES", "bookworm trixie forky").split():
            root = Root(work, suite)
            check_containerd(checks, root, seeds)
            if root.docker:
                check_docker(checks, root, seeds)
        return checks.close()
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    sys.exit(main())
