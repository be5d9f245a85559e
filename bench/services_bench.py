# SPDX-License-Identifier: Apache-2.0
"""Measures a running service while nothing happens. Used by bench/services.sh.

    services_bench.py rest TITLE PID SECONDS SIM MACHINE [PORT]

Wake-ups are the voluntary context switches of all its threads: each is the end of a sleep. Processor time is the kernel's own count for the
processes, which has nanoseconds, and that of children which ended. Started threads and processes are counted by the
last process id that the kernel assigned in this pid namespace, which no other program may use meanwhile. With PORT,
the port of `slipway service dcgm`, it also prints the processor time of a sample, beside the cost of the simulated
driver's calls for it; it then begins and ends after a sample."""

import pathlib
import subprocess
import sys
import time
import urllib.request

SIMULATOR = "slipway-sim-machine"


def family(pid):
    """Returns the process and all below it, without those that simulate the machine."""
    pids, at = [pid], 0
    while at < len(pids):
        for task in pathlib.Path(f"/proc/{pids[at]}/task").iterdir():
            pids += [int(child) for child in (task / "children").read_text().split()]
        at += 1
    return [pid for pid in pids if SIMULATOR not in pathlib.Path(f"/proc/{pid}/cmdline").read_text()]


def wake_ups(pids):
    """By thread."""
    counts = {}
    for pid in pids:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            try:
                lines = (task / "status").read_text().splitlines()
            except FileNotFoundError:
                continue
            counts[int(task.name)] = next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
    return counts


def processor_seconds(pids):
    """The clock id of another process' CLOCK_PROCESS_CPUTIME_ID is computed from its process id
    (clock_getcpuclockid(3)); it counts threads that ended as well."""
    spent = 0.0
    for pid in pids:
        spent += time.clock_gettime((~pid << 3) | 2)
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        spent += (int(fields[13]) + int(fields[14])) / 100
    return spent


def memory_mb(pids):
    pss = 0
    for pid in pids:
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                pss += int(line.split()[1])
    return pss * 1024 / 1e6


def last_number():
    return int(pathlib.Path("/proc/sys/kernel/ns_last_pid").read_text())


def samples(port):
    page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
    return next(int(line.split()[1]) for line in page.splitlines() if line.startswith("slipway_dcgm_samples_total "))


def costs(sim, machine):
    """Returns by function, and for "all": the calls, and the microseconds that they cost."""
    text = subprocess.run([sim, machine, "costs"], check=True, capture_output=True, text=True).stdout
    return {name: (int(calls), int(spent)) for name, calls, spent in (line.split() for line in text.splitlines())}


def difference(before, after):
    return {name: tuple(now - then for now, then in zip(each, before.get(name, (0, 0)))) for name, each in after.items()}


def after_a_sample(sim, machine):
    """Waits until calls of NVML have started and ended: asks the simulated machine, not the service."""
    def calls():
        return costs(sim, machine)["all"][0]

    before = calls()
    while (now := calls()) == before:
        time.sleep(0.2)
    while (later := calls()) != now:
        now = later
        time.sleep(0.5)


def rest(title, pid, seconds, sim, machine, port=0):
    pids = family(pid)
    if port:
        after_a_sample(sim, machine)
    looks, before = (samples(port) if port else 0), costs(sim, machine)
    begin, number = time.monotonic(), last_number()
    woken, spent = wake_ups(pids), processor_seconds(pids)
    time.sleep(seconds)
    number_now = last_number()  # the program that asks the machine is a process too
    if port:
        after_a_sample(sim, machine)
    after, spent = wake_ups(pids), processor_seconds(pids) - spent
    took, started = time.monotonic() - begin, number_now - number
    ups = sum(count - woken.get(thread, 0) for thread, count in after.items())
    nvml = difference(before, costs(sim, machine))
    calls, cost = nvml.pop("all")
    print(f"{title:<32} {ups / took:6.1f} wake-ups/s  {spent / took * 100:6.3f} % of a core  PSS {memory_mb(pids):5.1f} MB  "
          f"{len(pids)} processes, {len(after)} threads, {started} started  {calls / took:6.1f} calls/s of NVML")
    most = sorted((name for name in nvml if nvml[name][0]), key=lambda name: -nvml[name][1])[:3]
    if most:
        print(f"{'':<32} most of it: " + ", ".join(f"{name} {nvml[name][0] / took:.2f}/s {nvml[name][1] / took / 1e3:.3f} ms/s" for name in most))
    if port:
        looks = max(samples(port) - looks, 1)
        print(f"{'':<32} a sample: {spent / looks * 1e3:.1f} ms of the processor, of it {cost / looks / 1e3:.1f} ms for {calls / looks:.0f} calls "
              f"of NVML; {looks} samples")


def main():
    words = sys.argv[2:]
    rest(words[0], int(words[1]), float(words[2]), words[3], words[4], *(int(word) for word in words[5:]))


main()
