#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/device_plugin_container.py - the device plugin's service with a stand-in for kubelet that requests GPUs over
# gRPC; its answer becomes a real podman container, in which the real nvidia-smi sees those GPUs and no other.
"""What device_plugin_kubelet shows with a real kubelet, without the ten minutes that building one takes, and with the service run
by hand. Needs root, podman and crun."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from cdi_podman import GPUS, Podman, generate, make_container_root, make_driver_root, make_machine
from checks import Checks
from slipway_host import BUILD, VERSION, run

GPU = "nvidia.com/gpu"
CDI = {"version": "v1", "flags": {"plugin": {"deviceListStrategy": ["envvar", "cdi-cri"]}}}


class Plugin:
    """Runs the service `deviceplugin` without a unit, on a root whose GPUs are simulated."""

    def __init__(self, work, root, **section):
        spec, self.log_file, self.root = work / "host.yaml", work / "plugin.log", root
        spec.write_text(json.dumps({"apiVersion": "slipway.dev/v1", "kind": "Host", "metadata": {"name": "e2e"},
                                    "spec": {"components": {"deviceplugin": section}}}))
        words = [BUILD / "bin/slipway", "service", "deviceplugin", "-f", spec, "--root", root,
                 "--sim", f"h100x{GPUS},driver={VERSION}"]
        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log,
                                            env=os.environ | {"SLIPWAY_PLUGIN_PATH": str(BUILD / "lib/slipway/plugins")})

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def log(self):
        return self.log_file.read_text()

    def uuids(self):
        status = json.loads((self.root / "run/slipway/deviceplugin/status.json").read_text())
        return [gpu["uuid"] for gpu in status["gpus"]]


def ask(root, count):
    """Returns kubelet's result for a container with `count` GPUs: (JSON or None, output)."""
    done = run([BUILD / "tests/kubelet-allocate", root / "var/lib/kubelet/device-plugins", GPU, count])
    return json.loads(done.stdout) if done.returncode == 0 else None, done.stderr


def run_container(podman, image, answer):
    """Runs the container that an engine would create from kubelet's result: its CDI devices and its environment."""
    options = [word for name, value in answer["envs"].items() for word in ("--env", f"{name}={value}")]
    return podman(image, answer["cdi_devices"], "echo visible $NVIDIA_VISIBLE_DEVICES; nvidia-smi -L; ls /dev", *options)


def check_container(checks, root, podman, image, plugin, count):
    answer, said = ask(root, count)
    if not checks.that(answer, f"kubelet is given {count} GPUs", f"{said}\n{plugin.log()}"):
        return
    ids, devices = answer["ids"], answer["cdi_devices"]
    checks.that(answer["capacity"] == GPUS and len(ids) == count and set(ids) <= set(plugin.uuids()),
                f"out of {GPUS} that it was offered", answer)
    done = run_container(podman, image, answer)
    if not checks.that(done.returncode == 0 and len(devices) == count,
                       f"a container with the CDI devices of the answer runs: {len(devices)}", f"{answer}\n{done.stderr}"):
        return
    lines = done.stdout.splitlines()
    checks.that(set(answer["envs"]["NVIDIA_VISIBLE_DEVICES"].split(",")) == set(ids) and lines[0] == "visible void",
                "the answer's environment names them for engines without CDI; with it the spec says void, so that no runtime adds any",
                f"{answer}\n{lines[0]}")
    seen = [line for line in lines if line.startswith("GPU ")]
    checks.that(len(seen) == count and all(any(id in line for line in seen) for id in ids),
                "the real nvidia-smi -L inside lists exactly those", f"{ids}\n{done.stdout}")
    nodes = [line for line in lines if line.startswith("nvidia") and line[6:].isdigit()]
    checks.that(len(nodes) == count, "and so many device nodes are inside", nodes)


def main():
    checks = Checks()
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e."))
    plugin = None
    try:
        root, image, specs = work / "driver", work / "image", work / "cdi"
        root.mkdir()
        make_driver_root(root)
        make_container_root(image)
        make_machine(work / "sim", ",visible=nodes")  # as containers see it: only the nodes in their /dev
        done = generate(specs / "nvidia.json", root)
        if not checks.that(done.returncode == 0, "cdi generate works on the driver root", done.stdout + done.stderr):
            return checks.close()
        (root / "var/lib/kubelet/device-plugins").mkdir(parents=True)
        plugin = Plugin(work, root, config=CDI)
        podman = Podman(work, specs, work / "sim")
        for count in (1, 3):
            check_container(checks, root, podman, image, plugin, count)
        checks.that(plugin.process.poll() is None, "the service lives on", plugin.log())
        return checks.close()
    finally:
        if plugin:
            plugin.end()
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    sys.exit(main())
