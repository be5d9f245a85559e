#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/cdi_podman.py - podman containers that get simulated GPUs by slipway's CDI spec and slipway-cdi-hook.
"""Driver root: Debian's real libraries and nvidia-smi, with the simulator as libnvidia-ml.so.VERSION. Container roots:
plain folders with a shell and nothing of NVIDIA's; without specs on the host as well, by slipway-runtime's mode jit-cdi under podman and
called as runc is. Needs root, podman, crun and runc."""

import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from checks import Checks
from slipway_host import BUILD, VERSION, must, run, script

LIB = "usr/lib/x86_64-linux-gnu/nvidia/current"
GPUS = 8
SIM = pathlib.Path(os.environ.get("SLIPWAY_SIM_BUILD", BUILD))
NODES = [("nvidiactl", 195, 255), ("nvidia-uvm", 508, 0), ("nvidia-uvm-tools", 508, 1)]
NODES += [(f"nvidia{i}", 195, i) for i in range(GPUS)]


def make_driver_root(root):
    """Debian's user space, the simulator instead of libnvidia-ml, and device nodes."""
    for deb in glob.glob(script("fetch-debs.sh") + f"/*_{VERSION}-1_amd64.deb"):
        if os.path.basename(deb).startswith(("lib", "nvidia-smi", "firmware")):
            must(["dpkg-deb", "-x", deb, root])
    library = root / LIB / f"libnvidia-ml.so.{VERSION}"
    library.unlink()
    shutil.copy(SIM / "lib/slipway/sim/libnvidia-ml.so.1", library)
    (root / "usr/bin").mkdir(parents=True, exist_ok=True)
    os.symlink("/usr/lib/nvidia/current/nvidia-smi", root / "usr/bin/nvidia-smi")  # absolute: valid inside the root
                                                                                   # only
    (root / "dev").mkdir()
    for name, major, minor in NODES:
        os.mknod(root / "dev" / name, 0o020666, os.makedev(major, minor))
        os.chmod(root / "dev" / name, 0o666)
    make_machine(root / "run/slipway/sim", "")


def make_machine(folder, more):
    folder.parent.mkdir(parents=True, exist_ok=True)
    must([SIM / "bin/slipway-sim", folder, "make", f"h100x{GPUS},driver={VERSION}{more}"])


def copy_program(root, program):
    """Copies a program of this machine with its libraries."""
    path = shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin")
    wanted = [path] + [word for word in must(["ldd", path]).split() if word.startswith("/")] if program != "ldconfig" else [path]
    for file in wanted:
        target = root / file.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            shutil.copy(file, target)


def make_container_root(root):
    for folder in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "etc", "proc", "sys", "dev", "run", "tmp"):
        (root / folder).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        os.symlink(f"usr/{name}", root / name)
    (root / "etc/debian_version").write_text("12\n")
    for program in ("sh", "ls", "cat", "readlink", "ldconfig"):
        copy_program(root, program)
    for library in ("libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"):  # nvidia-smi's libraries
        shutil.copy(f"/usr/lib/x86_64-linux-gnu/{library}", root / "usr/lib/x86_64-linux-gnu")


class Podman:
    """Runs containers in a mount namespace with its own cgroup2, CDI folder and settings of slipway-runtime."""

    def __init__(self, work, specs, machine):
        self.work, self.specs, self.machine = work, specs, machine
        self.settings = work / "settings"
        self.settings.mkdir()
        # podman decides by the runtime's name whether it can start containers without cgroups, as crun behind
        # slipway-runtime can.
        (work / "containers.conf").write_text(f'[engine]\nruntime_supports_nocgroup = ["crun", "slipway"]\n'
                                              f'[engine.runtimes]\nslipway = ["{BUILD}/bin/slipway-runtime"]\n')

    def __call__(self, root, devices, command, *options, runtime="crun"):
        words = ["podman", "--root", self.work / "podman", "--runroot", self.work / "podman-run", "--runtime", runtime,
                 "--cgroup-manager=cgroupfs", "run", "--rm", "--network=none", "--cgroups=disabled",
                 "--security-opt=seccomp=unconfined", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024",
                 "-v", f"{self.machine}:/run/slipway/sim", *options]
        for device in devices:
            words += ["--device", device]
        words += ["--rootfs", root, "/bin/sh", "-c", command]
        return self.inside(words)

    def inside(self, words):
        """Any command there."""
        inner = ("set -e; while umount /sys/fs/cgroup 2>/dev/null; do :; done; mount -t cgroup2 none /sys/fs/cgroup; "
                 'mkdir -p /etc/cdi /etc/nvidia-container-runtime; mount --bind "$1" /etc/cdi; '
                 'mount --bind "$2" /etc/nvidia-container-runtime; shift 2; exec "$@"')
        own = self.work / "podman-tmp"  # files that podman and crun leave are removed with the test's folder
        own.mkdir(mode=0o700, exist_ok=True)
        return run(["unshare", "-m", "--propagation", "private", "sh", "-c", inner, "sh", self.specs, self.settings, "env",
                    f"XDG_RUNTIME_DIR={own}", f"TMPDIR={own}", f"CONTAINERS_CONF={self.work}/containers.conf", *words])


def generate(output, driver_root, *options):
    return run([BUILD / "bin/slipway", "toolkit", "cdi", "generate", "--driver-root", driver_root, "--output", output,
                "--nvidia-cdi-hook-path", BUILD / "bin/slipway-cdi-hook", *options])


def check_spec(checks, spec_file):
    done = run([BUILD / "bin/slipway", "toolkit", "cdi", "validate", spec_file])
    checks.that(done.returncode == 0 and "valid" in done.stdout, "the spec keeps the rules", done.stdout + done.stderr)
    spec = json.loads(spec_file.read_text())
    names = [device["name"] for device in spec["devices"]]
    wanted = {str(i) for i in range(GPUS)} | {"all"}
    checks.that(wanted <= set(names) and len(names) == 2 * GPUS + 1, "it names 8 GPUs by index and UUID, and all", names)
    listed = run([BUILD / "bin/slipway", "toolkit", "cdi", "list", "--spec-dir", spec_file.parent]).stdout.split()
    checks.that("nvidia.com/gpu=0" in listed and len(listed) == len(names), "list shows them", listed)
    return spec


def check_one_gpu(checks, podman, root, spec):
    paths = " ".join(mount["containerPath"] for mount in spec["containerEdits"]["mounts"])
    done = podman(root, ["nvidia.com/gpu=0"],
                  f"nvidia-smi -L; echo == nodes; ls /dev; echo == links; readlink /{LIB}/libcuda.so /{LIB}/libcuda.so.1; "
                  f"echo == cache; ldconfig -p; echo == files; ls -d {paths}")
    parts = dict(part.partition("\n")[::2] for part in ("smi\n" + done.stdout).split("== "))
    if not checks.that(done.returncode == 0 and "files" in parts, "a container with one GPU runs", done.stdout + done.stderr):
        return
    uuid = next(d["name"] for d in spec["devices"] if d["name"].startswith("GPU-") and
                d["containerEdits"]["deviceNodes"][0]["path"] == "/dev/nvidia0")
    lines = parts["smi"].strip().splitlines()
    checks.that(len(lines) == 1 and uuid in lines[0], "nvidia-smi -L inside lists that one GPU", parts["smi"])
    nodes = [name for name in parts["nodes"].split() if name.startswith("nvidia")]
    checks.that(nodes == ["nvidia-uvm", "nvidia-uvm-tools", "nvidia0", "nvidiactl"], "only its nodes are inside", nodes)
    checks.that(parts["links"].split() == ["libcuda.so.1", f"libcuda.so.{VERSION}"], "libcuda has its links", parts["links"])
    cached = [line.split()[0] for line in parts["cache"].splitlines()[1:] if line.strip()]
    checks.that({"libcuda.so.1", "libnvidia-ml.so.1", "libnvcuvid.so.1"} <= set(cached),
                "the linker's cache inside has the driver's libraries", cached)
    checks.that(parts["files"].split() == sorted(paths.split(), key=lambda p: p) or
                set(parts["files"].split()) == set(paths.split()), "everything that the spec mounts is inside", parts["files"])


def runc_bundle(work, root, machine, devices):
    """Writes a bundle like a hand-made one, without cgroup settings that this machine may not support."""
    folder = work / "bundle"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    must(["runc", "spec", "--bundle", folder])
    config = json.loads((folder / "config.json").read_text())
    config["root"] = {"path": str(root), "readonly": False}
    config["process"].update(terminal=False, args=["/bin/sh", "-c", "nvidia-smi -L; ls /dev"], rlimits=[])
    config["process"]["env"].append("NVIDIA_VISIBLE_DEVICES=" + devices)
    config["mounts"].append({"destination": "/run/slipway/sim", "type": "bind", "source": str(machine), "options": ["rbind", "rw"]})
    config["linux"]["resources"] = {}
    config["linux"]["namespaces"] = [each for each in config["linux"]["namespaces"] if each["type"] != "cgroup"]
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def check_made_at_start(checks, work, podman, driver, root):
    """Mode jit-cdi: the folder of specs is empty, and the GPUs are the current ones."""
    for path in podman.specs.iterdir():
        path.unlink()
    log = work / "runtime.log"
    (podman.settings / "config.toml").write_text(
        f'[nvidia-container-cli]\nroot = "{driver}"\n[nvidia-container-runtime]\nmode = "jit-cdi"\ndebug = "{log}"\n'
        'runtimes = ["crun"]\n')
    shim = BUILD / "bin/slipway-runtime"

    def start(devices, command="nvidia-smi -L"):
        return podman(root, [], command, "-e", "NVIDIA_VISIBLE_DEVICES=" + devices, runtime="slipway")

    def sim(*words):
        must([SIM / "bin/slipway-sim", driver / "run/slipway/sim", *words])

    done = start("2", "nvidia-smi -L; ls /dev")
    nodes = [name for name in done.stdout.split() if name.startswith("nvidia")]
    checks.that(done.returncode == 0 and done.stdout.count("GPU 0:") == 1 and nodes == ["nvidia-uvm", "nvidia-uvm-tools", "nvidia2", "nvidiactl"],
                "podman with slipway-runtime in mode jit-cdi gives a GPU without a spec on the host", done.stdout + done.stderr)
    checks.that(not list(podman.specs.iterdir()), "and writes none")
    sim("gpu", "2", "lost")
    done = start("2")
    checks.that(done.returncode != 0 and "GPU 2" in done.stderr and "lost" in done.stderr, "one that is lost by now is an error that names it",
                done.stdout + done.stderr)
    done = start("all", "ls /dev")
    nodes = [name for name in done.stdout.split() if name.startswith("nvidia") and name[6:].isdigit()]
    checks.that(done.returncode == 0 and len(nodes) == GPUS - 1 and "nvidia2" not in nodes, "all are those that are there",
                done.stdout + done.stderr)
    checks.that(log.exists() and "GPU 2 is lost" in log.read_text(), "and the log names the one that is not",
                log.exists() and log.read_text())
    sim("gpu", "2", "found")

    settings = (podman.settings / "config.toml").read_text()
    (podman.settings / "config.toml").write_text(settings.replace('"crun"', '"runc"'))
    bundle = runc_bundle(work, root, podman.machine, "2,5")
    done = podman.inside([shim, "--root", work / "runc", "run", "--bundle", bundle, "by-hand"])
    nodes = [name for name in done.stdout.split() if name.startswith("nvidia") and name[6:].isdigit()]
    checks.that(done.returncode == 0 and done.stdout.count("GPU ") == 2 and nodes == ["nvidia2", "nvidia5"],
                "called by hand in runc's place it gives two GPUs", done.stdout + done.stderr)
    bundle = runc_bundle(work, root, podman.machine, "77")
    before = (bundle / "config.json").read_text()
    done = podman.inside([shim, "--root", work / "runc", "run", "--bundle", bundle, "by-hand"])
    checks.that(done.returncode != 0 and "77" in done.stderr and (bundle / "config.json").read_text() == before,
                "and refuses one that is missing, with the bundle as it was", done.stdout + done.stderr)


HOST = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: cdi}
spec:
  components:
    cdi: {names: [index, uuid, type-index]}
"""


def check_component(checks, work, driver):
    """Runs the component on the same machine, simulated completely: its root is the driver root."""
    (work / "host.yaml").write_text(HOST)
    host = ["--root", driver, "--sim", f"h100x{GPUS},driver={VERSION}", "--cache", work / "cache"]
    spec = driver / "run/cdi/nvidia.com-gpu.yaml"

    def slipway(command, *more):
        return run([BUILD / "bin/slipway", command, *host, *more])

    done = slipway("apply", "-f", work / "host.yaml")
    checks.that(done.returncode == 0 and spec.exists(), "the component cdi writes the spec", done.stdout + done.stderr)
    valid = run([BUILD / "bin/slipway", "toolkit", "cdi", "validate", spec])
    checks.that(valid.returncode == 0, "which keeps the rules", valid.stderr)
    done = slipway("plan", "-f", work / "host.yaml")
    checks.that(done.returncode == 0, "a second plan has nothing to do", done.stdout + done.stderr)
    done = slipway("verify")
    checks.that(done.returncode == 0 and "cdi.current" in done.stdout, "verify finds it current", done.stdout + done.stderr)
    done = slipway("remove", "cdi", "--yes")
    checks.that(done.returncode == 0 and not spec.exists(), "removal takes it away", done.stdout + done.stderr)


def main():
    checks = Checks()
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e."))
    try:
        driver, specs = work / "driver", work / "cdi"
        driver.mkdir()
        make_driver_root(driver)
        make_machine(work / "sim", ",visible=nodes")
        podman = Podman(work, specs, work / "sim")
        spec_file = specs / "nvidia.json"
        done = generate(spec_file, driver)
        if not checks.that(done.returncode == 0, "cdi generate works on a driver root", done.stdout + done.stderr):
            return checks.close()
        spec = check_spec(checks, spec_file)

        root = work / "root"
        make_container_root(root)
        check_one_gpu(checks, podman, root, spec)
        done = podman(root, ["nvidia.com/gpu=all"], "nvidia-smi -L")
        checks.that(len(done.stdout.splitlines()) == GPUS, "all gives every GPU", done.stdout + done.stderr)
        done = podman(root, ["nvidia.com/gpu=2", "nvidia.com/gpu=5"], "ls /dev")
        nodes = [name for name in done.stdout.split() if name.startswith("nvidia") and name[6:].isdigit()]
        checks.that(nodes == ["nvidia2", "nvidia5"], "two devices give two nodes", done.stdout + done.stderr)

        plain = work / "plain"
        make_container_root(plain)
        must(["ldconfig", "-r", plain])
        generate(spec_file, driver, "--disable-hook", "all")
        done = podman(plain, ["nvidia.com/gpu=0"], "nvidia-smi -L")
        checks.that(done.returncode == 0 and len(done.stdout.splitlines()) == 1,
                    "without hooks nvidia-smi finds its library by the names it is mounted under", done.stdout + done.stderr)

        check_made_at_start(checks, work, podman, driver, root)
        check_component(checks, work, driver)
        spec_file = work / "former.json"
        generate(spec_file, driver)
        os.unlink(driver / "dev/nvidia3")
        before = spec_file.read_text()
        done = generate(spec_file, driver)
        checks.that(done.returncode == 1 and "/dev/nvidia3 of GPU 3" in done.stderr, "a missing node is refused by name",
                    done.stderr)
        checks.that(spec_file.read_text() == before, "and the spec that was there stays")
        return checks.close()
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    sys.exit(main())
