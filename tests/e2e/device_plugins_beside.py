#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/device_plugins_beside.py - other device plugins for the same GPUs, with a real kubelet: another slipway, and NVIDIA's.
"""kubelet, API server, etcd and containerd are real, as in device_plugin_kubelet.py. A second `slipway service deviceplugin` runs in a
mount namespace of its own and shares only kubelet's folder with the first: one of them serves, the other waits and takes over. With
NVIDIA's nvidia-device-plugin as SLIPWAY_BENCH_DEVICE_PLUGIN, that offers the same GPUs under another name. Needs root."""

import os
import signal
import subprocess
import sys
import time

from cdi_podman import GPUS
from device_plugin_kubelet import GPU, UNIT, Test
from kube_test import main_of
from kubelet_log import KubeletLog
from nvidia_plugin import NvidiaPlugin
from slipway_host import BUILD, must

SHARED = "nvidia.com/gpu.shared"
RENAMED = {"sharing": {"timeSlicing": {"renameByDefault": True, "resources": [{"name": GPU, "replicas": 4}]}}}
CALM = 15  # seconds in which two competing plugins would register again and again


class SecondSlipway:
    """Another container's view: its own /etc and /run, the same kubelet."""

    def __init__(self, work, driver):
        self.work = work / "second"
        root = self.work / "root"
        (root / "etc/slipway").mkdir(parents=True)
        spec = self.work / "host.yaml"
        spec.write_text('{"apiVersion": "slipway.dev/v1", "kind": "Host", "metadata": {"name": "e2e"}, "spec": {"components": '
                        f'{{"deviceplugin": {{"driver_root": "{driver}"}}}}}}}}')
        must([BUILD / "bin/slipway", "apply", "--yes", "--without-slipway", "--root", root, "-f", spec])
        self.process = None

    def start(self):
        inside = ('mkdir -p /etc/slipway /run/slipway && mount --bind "$1" /etc/slipway && mount -t tmpfs tmpfs /run/slipway && '
                  'shift && exec "$@"')
        with open(self.work / "log", "ab") as log:
            self.process = subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c", inside, "sh",
                                             self.work / "root/etc/slipway", BUILD / "bin/slipway", "service", "deviceplugin",
                                             "--boot"], stdout=log, stderr=log)

    def end(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
        self.process = None

    def log(self):
        return (self.work / "log").read_text()


class BesideTest(Test):
    def calm(self, sentence):
        """Checks that no plugin registers any more, and kubelet has all GPUs."""
        log = KubeletLog(self.node)
        time.sleep(CALM)
        seen = log.lines(log.REGISTERED)
        self.that(not seen and self.amounts({GPU: GPUS}), f"{sentence}: kubelet has {GPUS} GPUs, and within {CALM} s nobody registers again",
                  "\n".join(seen[-10:]) + self.seen())

    def another_slipway(self):
        second = SecondSlipway(self.work, self.root)
        try:
            second.start()
            waits = "another slipway device plugin"
            self.that(self.node.wait(lambda: waits in second.log(), "", 60), "a second slipway in another mount namespace says that it waits",
                      second.log()[-2000:])
            self.calm("two slipway device plugins")
            log = KubeletLog(self.node)
            self.machine.must("systemctl", "stop", UNIT)
            self.that(self.node.wait(lambda: log.lines(log.REGISTERED), "", 60), "the second registers once the first has ended",
                      second.log()[-2000:])
            self.machine.must("systemctl", "start", "--no-block", UNIT)
            self.that(self.node.wait(lambda: waits in self.plugin.log(), "", 60), "the first, started again, waits in its turn",
                      self.plugin.log()[-2000:])
            self.calm("in turned roles")
            status = self.machine.slipway("deviceplugin", "status").stdout
            self.that(waits in " ".join(status.split()), "its status says so", status)
            log = KubeletLog(self.node)
            second.end()
            self.that(self.node.wait(lambda: log.lines(log.REGISTERED), "", 60), "and registers once the second has ended",
                      self.plugin.log()[-2000:])
            self.calm("the first alone")
        finally:
            second.end()

    def nvidias(self, program):
        other = NvidiaPlugin(program, self.work, self.root / "run/slipway/sim", RENAMED)
        try:
            other.start()
            self.that(self.node.wait(lambda: self.node.amounts("allocatable").get(SHARED) == 4 * GPUS, "", 120),
                      f"NVIDIA's device plugin offers the same GPUs as {SHARED}", other.log()[-2000:])
            for words in (("plan", "-f", "/etc/slipway/host.yaml"), ("verify",), ("doctor",)):
                done = self.machine.slipway(*words)
                self.that(SHARED in done.stdout + done.stderr, f"slipway {words[0]} names it", done.stdout + done.stderr)
        finally:
            other.stop()

    def run(self):
        self.apply("the service is applied", quiet_seconds=1)
        self.that(self.amounts({GPU: GPUS}), f"kubelet {self.node.version} has eight GPUs", self.seen())
        self.another_slipway()
        if program := os.environ.get("SLIPWAY_BENCH_DEVICE_PLUGIN"):
            self.nvidias(program)
        self.under_its_unit("at the end")


if __name__ == "__main__":
    sys.exit(main_of(BesideTest, newer=True))
