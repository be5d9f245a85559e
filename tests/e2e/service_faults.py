#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/service_faults.py - the services gfd and validator during faults of GPUs and drivers, in real time: a driver
# that is away for 30 seconds, a lost GPU, calls that hang. None ends, no label of another GPU is lost, all is right again soon.

import json
import pathlib
import subprocess
import sys
import tempfile
import time

from checks import Checks

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build/release"
INTERVAL = 5  # seconds between two passes of gfd
AWAY = 30
SPEC = f"""apiVersion: slipway.dev/v1
kind: Host
metadata: {{name: faults}}
spec:
  components:
    gfd: {{interval: {INTERVAL}s}}
    validator: {{port: 0, node: faults, checks: [driver]}}
"""


class Services:
    """Both services on one simulated machine of two H100 below a folder."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "host.yaml").write_text(SPEC)
        (folder / "root/dev").mkdir()
        (folder / "root/dev/kmsg").touch()
        self.running = {}
        for name in ("gfd", "validator"):
            log = open(folder / f"{name}.log", "wb")
            self.running[name] = subprocess.Popen(
                [BUILD / "bin/slipway", "service", name, "-f", folder / "host.yaml", "--sim",
                 "h100x2,driver=550.90.07", "--root", folder / "root"], stdout=log, stderr=log)

    def sim(self, *words):
        subprocess.run([BUILD / "bin/slipway-sim", self.folder / "root/run/slipway/sim", *words], check=True)

    def kernel(self, line):
        """Writes a line of the driver to the kernel's log, as it would follow sim()."""
        with open(self.folder / "root/dev/kmsg", "a") as log:
            log.write(f"4,1,1,-;{line}\n")

    def labels(self):
        file = self.folder / "root/etc/kubernetes/node-feature-discovery/features.d/gfd"
        try:
            return dict(line.split("=", 1) for line in file.read_text().splitlines())
        except FileNotFoundError:
            return {}

    def driver_ready(self):
        return (self.folder / "root/run/nvidia/validations/driver-ready").exists()

    def alive(self):
        return all(service.poll() is None for service in self.running.values())

    def logs(self):
        return "\n".join((self.folder / f"{name}.log").read_text()[-1500:] for name in self.running)

    def stop(self):
        for service in self.running.values():
            service.terminate()
        return [service.wait(30) for service in self.running.values()]


def seconds_until(holds, most):
    start = time.monotonic()
    while not holds():
        if time.monotonic() - start > most:
            return None
        time.sleep(0.05)
    return time.monotonic() - start


def driver_away(checks, services):
    good = services.labels()
    services.sim("driver", "unloaded")
    services.kernel("nvidia-nvlink: Unregistered Nvlink Core, major device number 235")
    gone = seconds_until(lambda: not services.driver_ready(), 10)
    checks.that(gone is not None and gone < 3, "the validator takes its word back soon", gone)
    end = time.monotonic() + AWAY
    kept = True
    while time.monotonic() < end:
        kept = kept and services.labels() == good
        time.sleep(0.2)
    checks.that(kept, f"{AWAY} seconds without a driver: every label stays, each time one looks")
    checks.that(services.alive(), "both services are still the same processes", services.logs())
    services.sim("driver", "570.133.20")
    services.kernel("NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.133.20")
    took = seconds_until(lambda: services.labels().get("nvidia.com/cuda.driver-version.full") == "570.133.20", 60)
    checks.that(took is not None and took < INTERVAL + 1, "the new driver is in the labels within an interval",
                f"{took} s\n{services.logs()}")
    ready = seconds_until(services.driver_ready, 10)
    checks.that(ready is not None, "and the validator says ready again", services.logs())


def fault(checks, services, name, broken, xid, mended):
    good = services.labels()
    services.sim(*broken)
    services.kernel(f"NVRM: Xid (PCI:0000:{'2a' if broken[1] == '1' else '18'}:00): {xid}")
    gone = seconds_until(lambda: not services.driver_ready(), 20)
    checks.that(gone is not None, f"{name}: the validator takes its word back", services.logs())
    left = seconds_until(lambda: services.labels().get("nvidia.com/gpu.count") == "1", 30)
    checks.that(left is not None and services.labels().keys() == good.keys() and services.alive(),
                f"{name}: every label stays, and counts the other GPU alone; no service ended", services.logs())
    services.sim(*mended)
    ready = seconds_until(services.driver_ready, 30)
    checks.that(ready is not None, f"{name}: ready again", services.logs())
    took = seconds_until(lambda: services.labels() == good, 60)
    checks.that(took is not None, f"{name}: the labels are as before", services.logs())


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "root").mkdir()
        services = Services(folder)
        started = seconds_until(lambda: services.labels() and services.driver_ready(), 60)
        checks.that(started is not None, "both services work", services.logs())
        driver_away(checks, services)
        fault(checks, services, "GPU lost", ("gpu", "1", "lost"), "79, GPU has fallen off the bus.", ("gpu", "1", "found"))
        fault(checks, services, "a call that hangs", ("gpu", "0", "hang"), "119, Timeout waiting for RPC from GSP0!",
              ("gpu", "0", "resume"))
        counts = json.dumps(services.labels().get("nvidia.com/gpu.count"))
        checks.that(counts == '"2"', "two GPUs are labelled at the end", counts)
        checks.that(services.stop() == [0, 0], "SIGTERM ends both with 0", services.logs())
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
