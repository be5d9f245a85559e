#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/service_faults.py - the services gfd and validator through what GPUs and drivers do to them, in real time: a driver
# that is away for 30 seconds, a lost GPU, calls that hang. None ends, no label is lost, all is right again within an interval.

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
    """Both services over one simulated machine of two H100 below a folder."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "host.yaml").write_text(SPEC)
        self.running = {}
        for name in ("gfd", "validator"):
            log = open(folder / f"{name}.log", "wb")
            self.running[name] = subprocess.Popen(
                [BUILD / "bin/slipway", "service", name, "-f", folder / "host.yaml", "--sim",
                 "h100x2,driver=550.90.07", "--root", folder / "root"], stdout=log, stderr=log)

    def sim(self, *words):
        subprocess.run([BUILD / "bin/slipway-sim", self.folder / "root/run/slipway/sim", *words], check=True)

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
    took = seconds_until(lambda: services.labels().get("nvidia.com/cuda.driver-version.full") == "570.133.20", 60)
    checks.that(took is not None and took < INTERVAL + 1, "the new driver is in the labels within an interval",
                f"{took} s\n{services.logs()}")
    ready = seconds_until(services.driver_ready, 10)
    checks.that(ready is not None, "and the validator says ready again", services.logs())


def fault(checks, services, name, broken, mended, last):
    good = services.labels()
    log = services.folder / "gfd.log"
    before = log.read_text().count("up to date again")
    services.sim(*broken)
    gone = seconds_until(lambda: not services.driver_ready(), 20)
    checks.that(gone is not None, f"{name}: the validator takes its word back", services.logs())
    time.sleep(last)
    checks.that(services.labels() == good and services.alive(), f"{name}: no label is lost, no service ended",
                services.logs())
    services.sim(*mended)
    ready = seconds_until(services.driver_ready, 30)
    checks.that(ready is not None and ready < INTERVAL + 1, f"{name}: ready again within an interval", ready)
    took = seconds_until(lambda: log.read_text().count("up to date again") > before, 30)
    checks.that(took is not None and took < INTERVAL + 1, f"{name}: the labels are up to date again", services.logs())


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "root").mkdir()
        services = Services(folder)
        started = seconds_until(lambda: services.labels() and services.driver_ready(), 60)
        checks.that(started is not None, "both services work", services.logs())
        driver_away(checks, services)
        fault(checks, services, "GPU lost", ("gpu", "1", "lost"), ("gpu", "1", "found"), 2 * INTERVAL)
        fault(checks, services, "a call that hangs", ("gpu", "0", "hang"), ("gpu", "0", "resume"), 15)
        counts = json.dumps(services.labels().get("nvidia.com/gpu.count"))
        checks.that(counts == '"2"', "two GPUs are labelled at the end", counts)
        checks.that(services.stop() == [0, 0], "SIGTERM ends both with 0", services.logs())
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
