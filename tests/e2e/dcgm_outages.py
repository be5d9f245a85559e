#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/dcgm_outages.py - the service dcgm with Debian's Prometheus during fifty reloads of the driver and losses of GPUs.
"""The service over a simulated machine of eight H100, scraped each second. The driver is unloaded and loaded fifty times, and each time
a GPU is lost and found. After each recovery Prometheus has every series that it had before, the exporter answered each scrape, and each
outage can be seen in what Prometheus has kept."""

import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from checks import Checks
from slipway_host import BUILD, must

OUTAGES = 50
GPUS = 8
LIMIT = 60  # seconds; a loaded machine needs more time
SERIES = 'count({__name__=~"DCGM_.*"})'


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def started(words, log):
    with open(log, "wb") as file:
        return subprocess.Popen([str(word) for word in words], stdout=file, stderr=file)


class Machine:
    """The service, and the Prometheus that scrapes it."""

    def __init__(self, folder):
        self.folder = folder
        port, self.prometheus_port = free_port(), free_port()
        (folder / "root").mkdir()
        (folder / "host.yaml").write_text(f"""apiVersion: slipway.dev/v1
kind: Host
metadata: {{name: outages}}
spec: {{components: {{dcgm: {{listen: "127.0.0.1:{port}", interval: 1s, node: node-1}}}}}}
""")
        (folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
            f"scrape_configs: [{{job_name: gpus, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]\n")
        self.processes = [
            started([BUILD / "bin/slipway", "service", "dcgm", "-f", folder / "host.yaml", "--sim", "h100x8,driver=580.159.04",
                     "--root", folder / "root"], folder / "service.log"),
            started(["prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'tsdb'}",
                     f"--web.listen-address=127.0.0.1:{self.prometheus_port}"], folder / "prometheus.log")]

    def sim(self, *words):
        must([BUILD / "bin/slipway-sim", self.folder / "root/run/slipway/sim", *words])

    def asked(self, query):
        """Returns the results of an instant query; empty while Prometheus does not answer."""
        url = f"http://127.0.0.1:{self.prometheus_port}/api/v1/query?query={urllib.parse.quote(query)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]["result"]
        except OSError:
            return []

    def number(self, query):
        results = self.asked(query)
        return float(results[0]["value"][1]) if len(results) == 1 else None

    def comes_to(self, query, value):
        """Returns how long it takes, in seconds; None when it does not happen."""
        begin = time.monotonic()
        while time.monotonic() - begin < LIMIT:
            if self.number(query) == value:
                return time.monotonic() - begin
            time.sleep(0.1)
        return None

    def names(self):
        return {json.dumps(each["metric"], sort_keys=True) for each in self.asked('{__name__=~"DCGM_.*"}')}

    def stop(self):
        for process in self.processes:
            process.terminate()
        return [process.wait(timeout=LIMIT) for process in self.processes]


def go_through_outages(machine, expected):
    """@return series that were missing after a recovery, the outages that Prometheus never saw, and the slowest
    recovery"""
    missing, unseen, slowest = set(), [], 0.0
    for number in range(OUTAGES):
        lost = number % GPUS
        machine.sim("driver", "unloaded")
        if machine.comes_to("slipway_dcgm_driver_up", 0) is None:
            unseen.append(f"driver {number}")
        machine.sim("driver", "loaded")
        took = machine.comes_to(SERIES, len(expected))
        missing |= expected - machine.names()
        machine.sim("gpu", str(lost), "lost")
        if machine.comes_to(f'slipway_dcgm_gpu_up{{gpu="{lost}"}}', 0) is None:
            unseen.append(f"GPU {lost} {number}")
        machine.sim("gpu", str(lost), "found")
        again = machine.comes_to(SERIES, len(expected))
        missing |= expected - machine.names()
        slowest = max(slowest, took or LIMIT, again or LIMIT)
    return missing, unseen, slowest


def main():
    checks = Checks()
    if not shutil.which("prometheus"):
        must(["apt-get", "install", "--yes", "--no-install-recommends", "prometheus"])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e.", dir="/tmp"))  # a short path: sockets lie in it
    machine = Machine(folder)
    try:
        begin = time.time()
        checks.that(machine.comes_to('count(DCGM_FI_DEV_GPU_TEMP)', GPUS) is not None, "Prometheus has all GPUs",
                    (folder / "service.log").read_text() + (folder / "prometheus.log").read_text()[-2000:])
        time.sleep(3)  # every field has been read
        expected = machine.names()
        first = machine.number("slipway_dcgm_driver_outages_total")
        missing, unseen, slowest = go_through_outages(machine, expected)
        checks.that(not missing, f"after {OUTAGES} reloads of the driver and as many lost GPUs none of {len(expected)} series is missing",
                    "\n".join(sorted(missing)))
        checks.that(not unseen, "and each outage was seen by Prometheus while it lasted", unseen)
        print(f"the slowest recovery, as Prometheus saw it at a scrape a second, took {slowest:.1f} s")
        counted = machine.number("slipway_dcgm_driver_outages_total")
        checks.that(counted is not None and first is not None and counted - first == OUTAGES, "the exporter counts the outages of the driver",
                    f"{first} {counted}")
        window = f"[{int(time.time() - begin)}s]"
        checks.that(machine.number(f"min_over_time(up{window})") == 1, "the exporter answered every scrape",
                    machine.asked(f"count_over_time((up == 0){window}:1s])"))
        checks.that(machine.number(f"resets(slipway_dcgm_samples_total{window})") == 0, "and was the same process all the while")
        exits = machine.stop()
        checks.that(exits[0] == 0, "it ends without a failure", (folder / "service.log").read_text()[-2000:])
        return checks.close()
    finally:
        for process in machine.processes:
            process.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
