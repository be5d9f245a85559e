#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/mps_control.py - the device plugin's MPS daemons with NVIDIA's real nvidia-cuda-mps-control 535; GPUs are simulated.
"""Without a GPU the control daemon starts, answers, and keeps limits; only its servers, which clients ask for, end at once. So
what is tried is all that slipway does with it, and no client: in a namespace, and as units of a booted machine (not with
--no-boot). Needs root."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import Checks
from engine_machine import EngineMachine
from slipway_host import BUILD, must, run, script

GPU = "nvidia.com/gpu"
MPS = pathlib.Path("/run/nvidia/mps")
STATUS = pathlib.Path("/run/slipway/deviceplugin/status.json")
REPLICAS = 4
WAIT = 60


def in_private(work):
    """Runs this program again, with private folders mounted over the machine's that the service writes to."""
    if "SLIPWAY_E2E_PRIVATE" in os.environ:
        return
    status = subprocess.run(["unshare", "-m", "--propagation", "private", sys.executable, __file__, *sys.argv[1:]], check=False,
                            env=os.environ | {"SLIPWAY_E2E_PRIVATE": str(work)}).returncode
    shutil.rmtree(work)
    sys.exit(status)


def lay_over(work):
    for path in ("/var/lib/kubelet", "/etc/slipway", "/run/slipway", "/run/nvidia"):
        folder = work / "over" / path.strip("/").replace("/", "-")
        folder.mkdir(parents=True)
        pathlib.Path(path).mkdir(parents=True, exist_ok=True)
        must(["mount", "--bind", folder, path])
    pathlib.Path("/var/lib/kubelet/device-plugins").mkdir()


def make_driver(work):
    """Creates a driver root: the real MPS programs, and a library that answers for two GPUs."""
    real = pathlib.Path(script("fetch-mps.sh").splitlines()[-1])
    driver = work / "driver"
    for name in ("usr/bin/nvidia-cuda-mps-control", "usr/sbin/nvidia-cuda-mps-server"):
        (driver / name).parent.mkdir(parents=True)
        shutil.copy(real / name, driver / name)
    libraries = driver / "usr/lib/x86_64-linux-gnu"
    libraries.mkdir(parents=True)
    sim = BUILD / "bin/slipway-sim"
    shutil.copy(pathlib.Path(must([sim, "library"]).strip()) / "libnvidia-ml.so.1", libraries)
    (driver / "run/slipway").mkdir(parents=True)
    must([sim, work / "machine", "make", "h100x2"])
    (driver / "run/slipway/sim").symlink_to(work / "machine")
    return driver


def write_config(replicas):
    sharing = f"sharing: {{mps: {{replicas: {replicas}}}}}\n" if replicas else ""
    fresh = pathlib.Path("/etc/slipway/dp.new")
    fresh.write_text("version: v1\n" + sharing)
    fresh.rename("/etc/slipway/dp.yaml")


class Service:
    def __init__(self, work):
        self.log_file = work / "service.log"
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen([BUILD / "bin/slipway", "service", "deviceplugin", "--boot"], stdout=log, stderr=log)

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait(60)

    def log(self):
        return self.log_file.read_text()


def healthy():
    try:
        status = json.loads(STATUS.read_text())
        return next((each["healthy"] for each in status["resources"] if each["name"] == GPU), None), status["problem"]
    except (OSError, ValueError):
        return None, ""


def eventually(holds):
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.1)
    return bool(holds())


def daemons():
    """Returns the processes that are the control daemon."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"driver/usr/bin/nvidia-cuda-mps-control") and b"-f" in words:
            found.append(int(entry.name))
    return found


def ask(driver, command):
    environment = {"CUDA_MPS_PIPE_DIRECTORY": str(MPS / GPU / "pipe"), "CUDA_MPS_LOG_DIRECTORY": str(MPS / GPU / "log")}
    return run([driver / "usr/bin/nvidia-cuda-mps-control"], input=command, env=environment, timeout=30).stdout.strip()


def limits(driver):
    words = [f"get_default_device_pinned_mem_limit {index}" for index in (0, 1)] + ["get_default_active_thread_percentage"]
    return [ask(driver, command) for command in words]


def environment_of(pid):
    return dict(line.split("=", 1) for line in pathlib.Path(f"/proc/{pid}/environ").read_text().split("\0") if line)


def first_start(checks, driver, service):
    checks.that(eventually(lambda: healthy()[0] == 2 * REPLICAS), "the resource is ready once the real daemon is", service.log())
    (pid,) = daemons()
    libraries = ":".join(str(driver / folder) for folder in ("usr/lib/x86_64-linux-gnu", "usr/lib64"))
    environment = environment_of(pid)
    for name in ("PATH", "PWD", "OLDPWD", "SHLVL", "_"):  # variables that a shell adds
        environment.pop(name, None)
    checks.that(environment == {"CUDA_MPS_PIPE_DIRECTORY": str(MPS / GPU / "pipe"), "LD_LIBRARY_PATH": libraries,
                                "CUDA_MPS_LOG_DIRECTORY": str(MPS / GPU / "log")}, "it has the two folders and no more", environment)
    mounts = pathlib.Path(f"/proc/{pid}/mountinfo").read_text()
    own = [line for line in mounts.splitlines() if line.split()[4] == "/dev/shm"][-1]
    shared = [line for line in mounts.splitlines() if line.split()[4] == str(MPS / "shm")][-1]
    checks.that(own.split()[2] == shared.split()[2], "its /dev/shm is the one that clients get", mounts)
    checks.that(limits(driver) == ["19G", "19G", "25.0"], "it has the limits: 20389 MiB, told in whole gigabytes", limits(driver))
    checks.that(ask(driver, "get_server_list") == "", "it has no servers before a client comes")
    log = (MPS / GPU / "log/control.log").read_text()
    checks.that("Starting control daemon" in log, "what it says is in log/control.log", log)
    return pid


def killed(checks, driver, service, pid):
    program = driver / "usr/bin/nvidia-cuda-mps-control"
    aside = program.with_name("aside")
    program.rename(aside)
    os.kill(pid, signal.SIGKILL)
    checks.that(eventually(lambda: healthy()[0] == 0), "killed, and while it cannot start, nothing is handed out", service.log())
    checks.that(eventually(lambda: GPU in healthy()[1]), "and the status says why", healthy())
    aside.rename(program)
    checks.that(eventually(lambda: healthy()[0] == 2 * REPLICAS), "it is started again", service.log())
    checks.that(daemons() not in ([], [pid]) and limits(driver) == ["19G", "19G", "25.0"], "with its limits", limits(driver))


def restarted(checks, driver, service, work):
    before = daemons()
    service.end(signal.SIGKILL)
    checks.that(daemons() == before, "it outlives a service that is killed", daemons())
    service = Service(work)
    checks.that(eventually(lambda: "took over the MPS control daemon" in service.log()), "the next service takes it over")
    checks.that(eventually(lambda: healthy()[0] == 2 * REPLICAS) and daemons() == before, "and goes on with it", service.log())
    write_config(2)
    checks.that(eventually(lambda: healthy()[0] == 4), "a changed number of replicas is used", service.log())
    checks.that(limits(driver) == ["39G", "39G", "50.0"] and daemons() == before, "in the same daemon", limits(driver))
    return service


UNIT = "slipway-mps-nvidia.com-gpu.service"
SPEC = """apiVersion: slipway.dev/v1
kind: Host
metadata: {{name: mps}}
spec:
  hardware: assume
  components:
    deviceplugin: {{driver_root: /driver, config: {{version: v1{0}}}}}
"""


def attacked(checks, machine, pid_of, ready):
    """Does what a pod with the folder can do: replaces the lock, then a socket. Both times another daemon starts."""
    pipe = f"{MPS}/{GPU}/pipe"
    for name, kind in (("control_lock", "a pipe in the place of its lock"), ("control_privileged", "no socket where it listens")):
        before = pid_of(UNIT)
        machine.must("mkfifo", f"{pipe}/fresh")
        waits = machine.run("timeout", "1", "sh", "-c", f": >{pipe}/fresh").returncode
        checks.that(waits == 124, "systemd: who opens such a pipe plainly, waits", waits)
        machine.must("mv", "-f", f"{pipe}/fresh", f"{pipe}/{name}")
        if name != "control_lock":  # the service asks when it starts
            machine.must("systemctl", "restart", "slipway-deviceplugin.service")
        checks.that(eventually(lambda: pid_of(UNIT) not in ("", "0", before) and ready()),
                    f"systemd: {kind} ends the daemon, and another one comes", machine.run("journalctl", "--boot").stdout)
        checks.that(len(daemons()) == 1, "systemd: alone", daemons())
        left = machine.run("ls", "-la", pipe).stdout
        checks.that("control_lock" in left and not any(line.startswith("p") and not line.endswith(" log") for line in left.splitlines()),
                    "systemd: in a folder without what was put there", left)


ASIDE = "slipway-mps-aside-"  # prefix of unit names, one for each folder
# The privileges of a unit that empties a folder, printed by a shell that runs before its program.
TELL = f"""[Service]
ExecStartPre=/bin/sh -c 'grep CapBnd /proc/self/status; for each in /etc /run/slipway {MPS}/{GPU}/log {MPS}/{GPU}/pipe; do \\
  touch $$each/x && echo wrote $$each; done; true'
"""


def fill(pipe):
    """Does what a pod can do, which is root there and has the folder: closed folders, other owners, a link, and paths
    beyond the limit."""
    for name in ("closed", "sticky"):
        (pipe / name).mkdir()
        (pipe / name / "file").write_text("")
        (pipe / name / "link").symlink_to("/srv/outside")
        os.chown(pipe / name, 1000, 1000)
    (pipe / "sticky").chmod(0o1777)
    (pipe / "closed").chmod(0)
    above = os.open(pipe, os.O_RDONLY)
    for _ in range(500):
        os.mkdir("a-long-name", dir_fd=above)
        inner = os.open("a-long-name", os.O_RDONLY, dir_fd=above)
        os.fchown(inner, 1001, 1001)
        os.fchmod(inner, 0)
        os.close(above)
        above = inner
    os.close(above)
    os.chown(pipe, 1000, 1000)
    pipe.chmod(0o1000)


def filled(checks, machine, pid_of, ready):
    """A folder that the service cannot empty is moved aside, and removed soon, without help and without a restart."""
    folder = pathlib.Path(f"/proc/{machine.leader}/root{MPS}/{GPU}")
    machine.must("sh", "-c", "mkdir /srv/outside && echo text >/srv/outside/file")
    machine.must("mkdir", f"/run/systemd/system/{ASIDE}.service.d")
    (folder.parents[4] / f"run/systemd/system/{ASIDE}.service.d/tell.conf").write_text(TELL)
    before, service = pid_of(UNIT), pid_of("slipway-deviceplugin.service")
    fill(folder / "pipe")
    (folder / "pipe/control_lock").unlink()
    checks.that(eventually(lambda: pid_of(UNIT) not in ("", "0", before) and ready()),
                "systemd: a folder that a pod gave away is replaced, and another daemon comes", machine.run("journalctl", "--boot").stdout)
    checks.that(eventually(lambda: "aside" not in machine.run("ls", "-A", MPS / "nvidia.com").stdout),
                "systemd: the other one is removed", machine.run("journalctl", "--boot").stdout)
    checks.that(pid_of("slipway-deviceplugin.service") == service, "systemd: and nothing started anew")
    checks.that(machine.run("cat", "/srv/outside/file").stdout == "text\n", "systemd: what its links lead to is there")
    said = machine.run("journalctl", "--boot", "--output=cat", "--unit", f"{ASIDE}*").stdout
    checks.that("CapBnd:\t000000000000000a\n" in said and said.count("Read-only file system") >= 4 and "wrote" not in said,
                "systemd: who removed it has two capabilities, and could write to that folder alone", said)


def add_restrictions(checks, machine, pid):
    """Checks in the kernel which privileges the daemon's unit removes."""
    status = dict(line.split(":", 1) for line in machine.must("cat", f"/proc/{pid}/status").splitlines())
    kept = sum(1 << number for number in (0, 1, 3, 5, 6, 7, 14, 19, 23, 24))  # this machine may lack some of them
    checks.that(int(status["CapBnd"], 16) & ~kept == 0, "systemd: it has no other capabilities than its unit's", status["CapBnd"])
    checks.that(status["NoNewPrivs"].strip() == "1" and status["Seccomp"].strip() == "2", "systemd: and a filter of system calls", status)
    mounts = [line.split() for line in machine.must("cat", f"/proc/{pid}/mountinfo").splitlines()]
    places = {words[4]: words for words in mounts}
    checks.that(all("ro" in places[each][5].split(",") for each in ("/", "/run")), "systemd: and sees the machine read-only", mounts)
    checks.that(places["/dev/shm"][2] == places[str(MPS / "shm")][2], "systemd: its /dev/shm is the one that clients get", mounts)


def in_a_machine(checks, work):
    """Runs it as its unit under systemd, where the daemons are units of their own."""
    machine = EngineMachine(work, "bookworm", {"/etc/mps.yaml": SPEC.format(f", sharing: {{mps: {{replicas: {REPLICAS}}}}}"),
                                               "/etc/none.yaml": SPEC.format(""), "/var/lib/kubelet/device-plugins/x": ""})
    real = pathlib.Path(script("fetch-mps.sh").splitlines()[-1])
    for name in ("usr/bin/nvidia-cuda-mps-control", "usr/sbin/nvidia-cuda-mps-server"):
        (machine.root / "driver" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(real / name, machine.root / "driver" / name)

    def pid_of(unit):
        return machine.run("systemctl", "show", "--property=MainPID", "--value", unit).stdout.strip()

    def ready():
        return machine.run("slipway", "deviceplugin", "status", "-o", "json").stdout.count(f'"healthy": {8 * REPLICAS},') == 1

    with machine:
        applied = machine.slipway("apply", "--yes", "-f", "/etc/mps.yaml")
        checks.that(applied.returncode == 0, "systemd: the component is applied", applied.stdout + applied.stderr)
        checks.that(eventually(ready), "systemd: the resource is ready", machine.run("journalctl", "--boot").stdout)
        first = pid_of(UNIT)
        checks.that(len(daemons()) == 1, "systemd: there is one daemon", daemons())
        where = machine.run("systemctl", "show", "--property=Slice", "--value", UNIT).stdout.strip()
        checks.that(first not in ("", "0") and where == "slipway-mps.slice", "systemd: the daemon is a unit in its slice", where)
        log = machine.run("journalctl", "--boot", "--unit", UNIT).stdout
        checks.that("Starting control daemon" in log, "systemd: its log is in the journal", log)
        add_restrictions(checks, machine, first)
        attacked(checks, machine, pid_of, ready)
        filled(checks, machine, pid_of, ready)
        first = pid_of(UNIT)
        service = pid_of("slipway-deviceplugin.service")
        machine.must("systemctl", "kill", "--signal=KILL", "slipway-deviceplugin.service")
        checks.that(eventually(lambda: pid_of("slipway-deviceplugin.service") not in ("0", service) and ready()),
                    "systemd: the service is killed, and started again")
        checks.that(pid_of(UNIT) == first, "systemd: the daemon outlives it", pid_of(UNIT))
        log = machine.run("journalctl", "--boot", "--unit", "slipway-deviceplugin").stdout
        checks.that("took over the MPS control daemon" in log, "systemd: and is taken over", log)
        applied = machine.slipway("apply", "--yes", "-f", "/etc/none.yaml")
        checks.that(applied.returncode == 0, "systemd: a spec without MPS is applied", applied.stdout + applied.stderr)
        checks.that(eventually(lambda: not daemons()), "systemd: no daemon is left", daemons())  # they are visible on
                                                                                                 # the host too
        slices = machine.run("systemctl", "cat", "slipway-mps.slice")
        checks.that(slices.returncode != 0, "systemd: and no slice", slices.stdout)


def main():
    work = pathlib.Path(os.environ.get("SLIPWAY_E2E_PRIVATE") or tempfile.mkdtemp(prefix="slipway-mps-"))
    in_private(work)
    checks = Checks()
    lay_over(work)
    driver = make_driver(work)
    write_config(REPLICAS)
    pathlib.Path("/etc/slipway/host.yaml").write_text(json.dumps({
        "apiVersion": "slipway.dev/v1", "kind": "Host", "metadata": {"name": "mps"}, "spec": {"hardware": "assume", "components": {
            "deviceplugin": {"driver_root": str(driver), "quiet_seconds": 1, "config_file": "/etc/slipway/dp.yaml"}}}}))
    (work / "root/etc/slipway").mkdir(parents=True)
    must(["mount", "--bind", "/etc/slipway", work / "root/etc/slipway"])
    must([BUILD / "bin/slipway", "apply", "--yes", "--without-slipway", "--root", work / "root", "-f", "/etc/slipway/host.yaml"])
    service = Service(work)
    try:
        pid = first_start(checks, driver, service)
        killed(checks, driver, service, pid)
        service = restarted(checks, driver, service, work)
        write_config(0)
        checks.that(eventually(lambda: healthy()[0] == 2), "without MPS there are two whole GPUs", service.log())
        checks.that(eventually(lambda: not daemons()), "and no daemon is left", daemons())
        write_config(REPLICAS)
        checks.that(eventually(lambda: healthy()[0] == 2 * REPLICAS), "MPS comes back with the config", service.log())
        service.end(signal.SIGTERM)
        checks.that(not daemons(), "a daemon without clients ends with the service", daemons())
    finally:
        if service.process.poll() is None:
            service.end(signal.SIGTERM)
        for pid in daemons():
            os.kill(pid, signal.SIGKILL)
        run(["umount", "-l", MPS / "shm"])
    if "--no-boot" not in sys.argv:
        in_a_machine(checks, work)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
