# SPDX-License-Identifier: Apache-2.0
"""Scrapes a running `slipway service dcgm`, and reads the memory and time that its processes take. Used by
bench/dcgm.sh."""

import argparse
import http.client
import pathlib
import subprocess
import time


def scrape(port):
    """Returns the page, and how long it took, in milliseconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    begin = time.perf_counter()
    connection.request("GET", "/metrics")
    page = connection.getresponse().read()
    took = (time.perf_counter() - begin) * 1000
    connection.close()
    return page.decode(), took


def family(pid):
    """Returns the process and all below it."""
    pids, at = [pid], 0
    while at < len(pids):
        for task in pathlib.Path(f"/proc/{pids[at]}/task").iterdir():
            pids += [int(child) for child in (task / "children").read_text().split()]
        at += 1
    return pids


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def processor_seconds(pids):
    ticks = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / 100


def calls(arguments):
    """Returns the calls of NVML so far, by function."""
    text = subprocess.run([arguments.sim, arguments.folder, "calls"], check=True, capture_output=True, text=True).stdout
    return {name: int(count) for name, count in (line.split() for line in text.splitlines())}


def series(page):
    return {line.rsplit(" ", 1)[0] for line in page.splitlines() if line.startswith("DCGM_")}


def value(page, metric):
    return [line.rsplit(" ", 1)[1] for line in page.splitlines() if line.startswith(metric + " ")][0]


def measure_scrapes(arguments):
    took = sorted(scrape(arguments.port)[1] for _ in range(arguments.scrapes))
    page = scrape(arguments.port)[0]
    print(f"  {len(took)} scrapes of {len(page)} bytes, {len(series(page))} series: median {took[len(took) // 2]:.2f} ms, "
          f"p99 {took[int(len(took) * 0.99)]:.2f} ms, longest {took[-1]:.2f} ms")


def measure_memory(arguments):
    each = sorted((resident(pid) for pid in family(arguments.pid)), reverse=True)
    print(f"  resident memory: {', '.join(f'{mib:.1f}' for mib in each)} MiB (the service first, then what watches it)")


def measure_hour(arguments):
    """Takes an hour's worth of samples and scrapes, one per second, in a tenth of the time: one of each every 100
    ms."""
    begin = time.monotonic()
    memory = {}
    for number in range(arguments.hour):
        scrape(arguments.port)
        if number in (arguments.hour // 60, arguments.hour - 1):
            memory[number] = max(resident(pid) for pid in family(arguments.pid))
        time.sleep(max(0.0, begin + 0.1 * (number + 1) - time.monotonic()))
    samples = value(scrape(arguments.port)[0], "slipway_dcgm_samples_total")
    early, late = memory.values()
    print(f"  {arguments.hour} scrapes beside {samples} samples: {early:.1f} MiB after a sixtieth of them, {late:.1f} MiB at the end")


def measure_real_hour(arguments):
    """Scrapes once a second for the requested number of seconds, with the memory at the start, each ten minutes and
    at the end."""
    pids = family(arguments.pid)
    used, nvml = processor_seconds(pids), calls(arguments)
    samples = int(value(scrape(arguments.port)[0], "slipway_dcgm_samples_total"))
    took, sizes, begin = [], [], time.monotonic()
    for number in range(arguments.real_hour):
        time.sleep(max(0.0, begin + number - time.monotonic()))
        page, milliseconds = scrape(arguments.port)
        took.append(milliseconds)
        if number % 600 == 60:
            sizes.append(max(resident(pid) for pid in pids))
    seconds = time.monotonic() - begin
    used = processor_seconds(pids) - used
    looks = max(int(value(page, "slipway_dcgm_samples_total")) - samples, 1)
    more = sum(calls(arguments).values()) - sum(nvml.values())
    each = sorted((resident(pid) for pid in family(arguments.pid)), reverse=True)
    took.sort()
    print(f"{arguments.title}: {len(took)} scrapes in {seconds:.0f} s of {len(page)} bytes, {len(series(page))} series, "
          f"beside {looks} samples\n"
          f"  scrape: median {took[len(took) // 2]:.2f} ms, p99 {took[int(len(took) * 0.99)]:.2f} ms, longest {took[-1]:.2f} ms\n"
          f"  resident memory of the service after a minute, then each ten minutes: {', '.join(f'{mib:.1f}' for mib in sizes)} MiB; "
          f"at the end {each[0]:.1f} MiB\n"
          f"  with the processes that start and watch it: {', '.join(f'{mib:.1f}' for mib in each)} MiB\n"
          f"  processor: {used / seconds * 100:.2f} % of a core, {more / looks:.0f} calls of NVML a sample")


def measure_time(arguments):
    pids = family(arguments.pid)
    before, first, samples = processor_seconds(pids), calls(arguments), value(scrape(arguments.port)[0], "slipway_dcgm_samples_total")
    time.sleep(arguments.seconds)
    used, last = processor_seconds(pids) - before, calls(arguments)
    looks = max(int(value(scrape(arguments.port)[0], "slipway_dcgm_samples_total")) - int(samples), 1)
    more = sum(last.values()) - sum(first.values())
    print(f"  every {arguments.interval} s: {used / arguments.seconds * 100:.2f} % of a core, {more / looks:.0f} calls of NVML a sample")
    print("   ", ", ".join(f"{name} {(last[name] - first.get(name, 0)) / looks:.0f}" for name in
                           sorted(last, key=lambda name: first.get(name, 0) - last[name])[:8]))


def measure_reloads(arguments):
    expected = series(scrape(arguments.port)[0])
    slowest, missing = 0.0, 0
    for _ in range(arguments.reloads):
        for state in ("unloaded", "loaded"):
            subprocess.run([arguments.sim, arguments.folder, "driver", state], check=True, capture_output=True)
            if state == "unloaded":
                while series(scrape(arguments.port)[0]):
                    time.sleep(0.05)
        begin, found = time.monotonic(), set()
        while time.monotonic() - begin < 10 and found != expected:
            found = series(scrape(arguments.port)[0])
            time.sleep(0.05)
        missing += len(expected - found)
        slowest = max(slowest, time.monotonic() - begin)
    print(f"  {arguments.reloads} reloads of the driver: {missing} series missing afterwards, all were there after {slowest:.1f} s at most")


def main():
    parser = argparse.ArgumentParser()
    for name, kind in (("port", int), ("pid", int), ("sim", str), ("folder", str), ("scrapes", int), ("seconds", int),
                       ("interval", int), ("reloads", int), ("hour", int)):
        parser.add_argument("--" + name, type=kind, required=True)
    parser.add_argument("--real-hour", type=int, default=0)
    parser.add_argument("--title", default="")
    arguments = parser.parse_args()
    if arguments.real_hour:
        return measure_real_hour(arguments)
    if arguments.hour:
        return measure_hour(arguments)
    if arguments.scrapes:
        measure_scrapes(arguments)
        measure_memory(arguments)
    measure_time(arguments)
    if arguments.reloads:
        measure_reloads(arguments)


main()
