# SPDX-License-Identifier: Apache-2.0
# bench/toolkit_bench.py - the work of bench/toolkit.sh: makes the simulated host, measures, compares the specs.

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO / "tests/e2e"))

import cdi_podman  # noqa: E402
from compare_specs import report  # noqa: E402
from side_by_side import WARM_UP, compare, compare_without, library_opener, once  # noqa: E402
from slipway_host import must, script  # noqa: E402

SLIPWAY, CTK, RUNTIME, SCRATCH, RUNS = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4]), int(sys.argv[5])
BIN = pathlib.Path(SLIPWAY).parent
HOOK = "/usr/bin/nvidia-cdi-hook"
CONFIG = """version = 2
[plugins."io.containerd.grpc.v1.cri".containerd]
  default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = true
"""
HOST = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: bench}
spec:
  components:
    runtime: {engines: [containerd], runtime_path: /usr/bin/nvidia-container-runtime}
"""


def make_driver_root(root):
    """Builds a whole system with the driver and the linker's cache."""
    script("engine-root.sh", "bookworm", root)
    overlay = SCRATCH / "driver-files"
    overlay.mkdir()
    cdi_podman.make_driver_root(overlay)
    cdi_podman.make_machine(overlay / "run/slipway/sim", ",costs=" + os.environ.get("SLIPWAY_BENCH_COSTS", "on"))
    must(["rm", "-rf", root / "dev"])
    # A plain copy would fail: the root's /lib is a link.
    must(["sh", "-c", 'tar -C "$1" -c . | tar -x --keep-directory-symlink -C "$2"', "sh", overlay, root])
    must(["ldconfig", "-r", root])


def bench_generate(root):
    print("\nA CDI spec of eight GPUs")
    ours, theirs = SCRATCH / "ours.yaml", SCRATCH / "theirs.yaml"
    flags = ["--driver-root", str(root), "--nvidia-cdi-hook-path", HOOK, "--output"]
    library = next(root.rglob("libnvidia-ml.so.1"))
    compare_without(RUNS, [("slipway", [SLIPWAY, "toolkit", "cdi", "generate", *flags, str(ours)]),
                           ("nvidia-ctk", [CTK, "cdi", "generate", *flags, str(theirs)]),
                           ("opening the library", [library_opener(SCRATCH), str(library)])])
    print("\nThe two specs, field by field")
    print(report(ours, theirs))


def bench_configure():
    print("\nOne runtime configuration (containerd): the tools, then an apply with journal, check and record")
    root = SCRATCH / "engine"
    config = root / "etc/containerd/config.toml"
    (SCRATCH / "host.yaml").write_text(HOST)

    def prepare():
        shutil.rmtree(root, ignore_errors=True)
        config.parent.mkdir(parents=True)
        config.write_text(CONFIG)
        (root / "var/lib/dpkg").mkdir(parents=True)
        (root / "var/lib/dpkg/status").write_text("Package: containerd\nStatus: install ok installed\nVersion: 1.7.24\n")
        program = root / "usr/bin/containerd"
        program.parent.mkdir(parents=True)
        program.write_text("")
        program.chmod(0o755)

    flags = ["runtime", "configure", "--runtime", "containerd", "--config", str(config), "--nvidia-runtime-path",
             "/usr/bin/nvidia-container-runtime"]
    drop_in = ["--drop-in-config", str(config.parent / "conf.d/99-nvidia.toml")]
    compare(RUNS, [
        ("slipway", [SLIPWAY, "toolkit", *flags, *drop_in]),
        ("nvidia-ctk", [CTK, *flags, *drop_in]),
        ("slipway, no drop-in", [SLIPWAY, "toolkit", *flags]),
        ("slipway apply", [SLIPWAY, "apply", "--without-slipway", "--root", str(root), "--cache", str(SCRATCH / "cache"), "-f",
                           str(SCRATCH / "host.yaml")])], prepare)


def bundle(name, devices):
    """Writes a bundle whose container asks for these devices, without cgroup settings that this machine may not
    support."""
    folder = SCRATCH / name
    cdi_podman.make_container_root(folder / "rootfs")
    must(["runc", "spec", "--bundle", folder])
    config = json.loads((folder / "config.json").read_text())
    config["process"].update(terminal=False, args=["/bin/sh", "-c", ":"], rlimits=[])
    config["root"]["readonly"] = False
    config["linux"]["resources"] = {}
    if devices:
        config["process"]["env"].append("NVIDIA_VISIBLE_DEVICES=" + devices)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def bench_start(root):
    print("\n`create` of a container, on top of runc (medians)")
    while subprocess.run(["umount", "/sys/fs/cgroup"], capture_output=True, check=False).returncode == 0:
        pass
    must(["mount", "-t", "cgroup2", "none", "/sys/fs/cgroup"])
    specs = SCRATCH / "cdi"
    must([SLIPWAY, "toolkit", "cdi", "generate", "--driver-root", root, "--nvidia-cdi-hook-path", BIN / "slipway-cdi-hook",
          "--output", specs / "nvidia.com-gpu.yaml"])
    settings = SCRATCH / "config.toml"
    settings.write_text(f'[nvidia-container-runtime]\nmode = "cdi"\n[nvidia-container-runtime.modes.cdi]\n'
                        f'spec-dirs = ["{specs}"]\n')
    os.environ["NVIDIA_CTK_CONFIG_FILE_PATH"] = str(settings)
    state = str(SCRATCH / "state")
    plain, gpu = bundle("plain", ""), bundle("gpu", "0")
    text = (gpu / "config.json").read_text()
    edited = bundle("edited", "0")
    done = subprocess.run([BIN / "slipway-runtime", "create", "--bundle", edited, "x"], check=False, capture_output=True,
                          env=dict(os.environ, PATH=only_true()))
    if done.returncode != 0:
        sys.exit(done.stderr.decode())
    sides = [("runc, no GPU", "runc", plain), ("slipway-runtime, no GPU", BIN / "slipway-runtime", plain),
             ("nvidia's, no GPU", RUNTIME, plain), ("runc, edited before", "runc", edited),
             ("slipway-runtime, a GPU", BIN / "slipway-runtime", gpu), ("nvidia's, a GPU", RUNTIME, gpu)]
    seen = {name: [] for name, _, _ in sides}
    for turn in range(WARM_UP + RUNS):
        for name, program, folder in sides:
            (gpu / "config.json").write_text(text)
            seconds = once([str(program), "--root", state, "create", "--bundle", str(folder), "bench"])
            must(["runc", "--root", state, "delete", "--force", "bench"])
            if turn >= WARM_UP:
                seen[name].append(seconds)
    medians = {name: statistics.median(values) * 1000 for name, values in seen.items()}
    for name, values in seen.items():
        print(f"{name:>24}: {medians[name]:6.2f} ms (least {min(values) * 1000:.2f})")
    for kind, base in (("no GPU", "runc, no GPU"), ("a GPU", "runc, edited before")):
        ours = medians[f"slipway-runtime, {kind}"] - medians[base]
        theirs = medians[f"nvidia's, {kind}"] - medians[base]
        print(f"{kind:>24}: slipway-runtime adds {ours:.2f} ms ({ours / medians[base]:.2f} of runc), NVIDIA's {theirs:.2f} ms "
              f"({theirs / medians[base]:.2f}); ratio {ours / theirs:.2f}")


def only_true():
    """Returns a PATH on which runc does nothing, so that only the bundle is edited."""
    folder = SCRATCH / "nothing"
    folder.mkdir(exist_ok=True)
    os.symlink("/bin/true", folder / "runc")
    return str(folder)


def main():
    root = SCRATCH / "driver"
    make_driver_root(root)
    bench_generate(root)
    bench_configure()
    if RUNTIME:
        bench_start(root)


main()
