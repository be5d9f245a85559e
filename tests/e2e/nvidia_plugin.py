# SPDX-License-Identifier: Apache-2.0
# tests/e2e/nvidia_plugin.py - NVIDIA's own device plugin, as SLIPWAY_BENCH_DEVICE_PLUGIN names it, on simulated GPUs.

import json
import os
import subprocess

from cdi_podman import SIM
from kube_node import LIMIT, NAME


class NvidiaPlugin:
    """NVIDIA's plugin, as a process beside kubelet, on the same simulated GPUs."""

    name = "NVIDIA's"

    def __init__(self, program, work, sim, config=None):
        self.program, self.work, self.sim = program, work, sim
        self.config = work / "nvidia-device-plugin.json"
        self.config.write_text(json.dumps({"version": "v1", **(config or {})}))
        self.process = None

    def start(self):
        environment = {"SLIPWAY_SIM": str(self.sim), "LD_LIBRARY_PATH": str(SIM / "lib/slipway/sim"), "NODE_NAME": NAME}
        with open(self.work / "nvidia-device-plugin.log", "ab") as log:
            self.process = subprocess.Popen([self.program, f"--config-file={self.config}"], stdout=log, stderr=log,
                                            env=os.environ | environment)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(LIMIT)
        self.process = None

    def log(self):
        return (self.work / "nvidia-device-plugin.log").read_text()
