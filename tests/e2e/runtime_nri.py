# SPDX-License-Identifier: Apache-2.0
# tests/e2e/runtime_nri.py - containerd 2.1 with an unchanged configuration; its containers get GPUs through NRI.
"""A booted machine of a newer Debian suite. `slipway apply` with `runtime: {mode: nri}` starts a service; containerd's
configuration and process stay as they are. Containers ask by variable and by annotation; the engine is restarted, the
service killed and stopped, the component removed."""

import pathlib
import subprocess
import sys
import tempfile

from checks import Checks, wait_for
from cri import Cri, CriError
from engine_machine import IMAGE, EngineMachine
from runtime_engines import CONFIG, RUNC, SPEC, VERSION_3

HOST = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: nri}
spec:
  hardware: assume
  components:
    runtime:
      engines: [containerd]
      mode: nri
      requests: [{namespaces: [default], devices: ["nvidia.com/gpu=*"]}]  # there is no kubelet that gives devices
"""
NO_NRI = VERSION_3 + """[plugins."io.containerd.nri.v1.nri"]
  disable = true
"""
SERVICE = "slipway-runtime.service"
MOUNTS = {"/run/slipway/sim": "/sim"}
LOOK = "echo made; nvidia-smi -L; for node in /dev/nvidia*; do echo $node; done"


def pid_of(machine, unit):
    return machine.must("systemctl", "show", "--property=MainPID", "--value", unit).strip()


def registrations(machine):
    """Returns how often containerd has logged that it accepted the plugin."""
    log = machine.must("journalctl", "--boot", "--output=cat", "--unit", "containerd.service")
    return sum("10-slipway" in line and "connected and synchronized" in line for line in log.splitlines())


class Pods:
    def __init__(self, machine):
        self._machine = machine
        self._count = 0

    def look_inside(self, environment=None, annotations=None, devices=()):
        """Runs a container in its own pod, and returns "made", its visible GPUs and their nodes; else the error."""
        cri = Cri(f"/proc/{self._machine.leader}/root/run/containerd/containerd.sock")
        self._count += 1
        pod = cri.run_pod(f"pod{self._count}", "", annotations)
        try:
            container = cri.start(pod, "gpu", IMAGE, environment, MOUNTS, devices)
            _, out, err = cri.execute(container, "/bin/sh", "-c", LOOK)
            return out + err
        except CriError as problem:
            return f"not made: {problem}"
        finally:
            cri.remove_pod(pod)


def gpus(out):
    return [line for line in out.splitlines() if line.startswith("GPU ")]


def sees_none(out):
    return out.startswith("made\n") and not gpus(out) and "/dev/nvidia0" not in out and "/dev/nvidiactl" not in out


def check_apply(checks, machine):
    before = pid_of(machine, "containerd.service")
    done = machine.slipway("apply", "-f", SPEC)
    checks.that(done.returncode == 0, "slipway apply starts the service", done.stdout + done.stderr)
    checks.that(machine.must("cat", CONFIG) == VERSION_3 and pid_of(machine, "containerd.service") == before,
                "containerd's configuration and process are those of before")
    checks.that(wait_for(lambda: registrations(machine) == 1), "containerd's log says that it has taken the plugin in",
                machine.run("journalctl", "--boot", "--output=cat", "--unit", "containerd.service").stdout[-3000:])
    done = machine.slipway("verify", "-f", SPEC)
    checks.that(done.returncode == 0 and "registered with containerd" in done.stdout, "slipway verify says so too",
                done.stdout + done.stderr)
    done = machine.slipway("apply", "-f", SPEC)
    checks.that(done.returncode == 0 and "Nothing to do" in done.stdout, "a second apply does nothing",
                done.stdout + done.stderr)


def check_requests(checks, pods, uuids):
    for what, gpu, asked in (("the variable, by index", 2, {"environment": {"NVIDIA_VISIBLE_DEVICES": "2"}}),
                             ("the variable, by UUID", 3, {"environment": {"NVIDIA_VISIBLE_DEVICES": uuids[3]}}),
                             ("an annotation of the pod", 4, {"annotations": {"cdi.k8s.io/gpu": "nvidia.com/gpu=4"}}),
                             ("containerd's own CDI, and the variable that a kubelet sets beside it", 5,
                              {"environment": {"NVIDIA_VISIBLE_DEVICES": "5"}, "devices": ["nvidia.com/gpu=5"]})):
        out = pods.look_inside(**asked)
        checks.that(len(gpus(out)) == 1 and uuids[gpu] in out and f"/dev/nvidia{gpu}\n" in out, f"a container that asks by {what} sees that one GPU",
                    out)
    out = pods.look_inside(environment={"NVIDIA_VISIBLE_DEVICES": "all"})
    checks.that(all(uuid in out for uuid in uuids), "one that asks for all sees all", out)
    out = pods.look_inside()
    checks.that(sees_none(out), "one that asks for nothing sees none", out)
    for device in ("management.nvidia.com/gpu=all", "nvidia.com/gds=all"):
        out = pods.look_inside(annotations={"cdi.k8s.io/x": device})
        checks.that(out.startswith("not made") and f"requests: [{{namespaces: [default], devices: [{device}]}}]" in out,
                    f"a pod whose annotation names {device}, which no rule has, is not made, and the rule is named", out)
    out = pods.look_inside(environment={"NVIDIA_VISIBLE_DEVICES": "management.nvidia.com/gpu=all"})
    checks.that(sees_none(out), "a variable that names it gives nothing", out)
    out = pods.look_inside(environment={"NVIDIA_VISIBLE_DEVICES": "99"})
    checks.that(out.startswith("not made") and "there is no device nvidia.com/gpu=99" in out,
                "one that asks for a GPU that is missing is not made, with the reason", out)


def check_restarts(checks, machine, pods, uuids):
    asked = {"environment": {"NVIDIA_VISIBLE_DEVICES": "6"}}
    machine.must("systemctl", "restart", "containerd.service")
    checks.that(wait_for(lambda: registrations(machine) == 2), "the plugin comes back when containerd was restarted")
    out = pods.look_inside(**asked)
    checks.that(uuids[6] in out, "and gives GPUs", out)
    killed = pid_of(machine, SERVICE)
    machine.must("systemctl", "kill", "--signal=KILL", SERVICE)
    checks.that(wait_for(lambda: registrations(machine) == 3) and pid_of(machine, SERVICE) != killed,
                "the plugin comes back when the service was killed")
    out = pods.look_inside(**asked)
    checks.that(uuids[6] in out, "and gives GPUs", out)
    machine.must("systemctl", "stop", SERVICE)
    out = pods.look_inside(**asked)
    checks.that(sees_none(out), "a stopped service gives none, and stops no container", out)
    done = machine.slipway("verify", "-f", SPEC)
    checks.that(done.returncode != 0 and "does not run" in done.stdout, "slipway verify says that it does not run",
                done.stdout + done.stderr)
    machine.must("systemctl", "start", SERVICE)


def check_removal(checks, machine, pods):
    before = pid_of(machine, "containerd.service")
    done = machine.slipway("remove", "runtime", "--yes")
    unit = machine.run("systemctl", "cat", SERVICE)
    checks.that(done.returncode == 0 and unit.returncode != 0, "removal takes the service away", done.stdout + done.stderr)
    checks.that(machine.must("cat", CONFIG) == VERSION_3 and pid_of(machine, "containerd.service") == before,
                "and leaves containerd alone")
    out = pods.look_inside(environment={"NVIDIA_VISIBLE_DEVICES": "7"})
    checks.that(sees_none(out), "containers are made as before slipway", out)


def check_modes(checks, machine, pods, uuids):
    """Switches from the other mode to this one, which reverts the changes of the other."""
    spec = machine.root / SPEC.lstrip("/")
    spec.write_text(HOST.replace("mode: nri", "mode: config"))
    done = machine.slipway("apply", "-f", SPEC)
    checks.that(done.returncode == 0 and machine.must("cat", CONFIG) != VERSION_3,
                "mode: config changes containerd's configuration", done.stdout + done.stderr)
    starts, seen = machine.starts("containerd.service"), registrations(machine)
    spec.write_text(HOST)
    done = machine.slipway("apply", "-f", SPEC)
    checks.that(done.returncode == 0 and machine.must("cat", CONFIG) == VERSION_3 and
                machine.starts("containerd.service") == starts + 1,
                "going back to mode: nri brings back every byte, with one restart", done.stdout + done.stderr)
    checks.that(wait_for(lambda: registrations(machine) > seen), "and the plugin is registered again")
    out = pods.look_inside(environment={"NVIDIA_VISIBLE_DEVICES": "1"})
    checks.that(len(gpus(out)) == 1 and uuids[1] in out, "and gives GPUs", out)
    machine.must("/usr/bin/slipway", "remove", "runtime", "--yes")


def check_switched_off(checks, machine):
    (machine.root / CONFIG.lstrip("/")).write_text(NO_NRI)
    machine.must("systemctl", "restart", "containerd.service")
    done = machine.slipway("apply", "-f", SPEC)
    said = done.stdout + done.stderr
    checks.that(done.returncode != 0 and "runs and does not listen" in said and "disable = false" in said,
                "where NRI is switched off the plan is refused, with the way to switch it on", said)
    checks.that(machine.run("systemctl", "cat", SERVICE).returncode != 0, "and no service is started")


def main():
    checks = Checks()
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e."))
    try:
        files = {CONFIG: VERSION_3, SPEC: HOST, "/usr/local/sbin/runc": RUNC}
        with EngineMachine(work, "forky", files) as machine:
            uuids = machine.generate_cdi()
            machine.import_image("k8s.io")
            pods = Pods(machine)
            check_apply(checks, machine)
            check_requests(checks, pods, uuids)
            check_restarts(checks, machine, pods, uuids)
            check_removal(checks, machine, pods)
            check_modes(checks, machine, pods, uuids)
            check_switched_off(checks, machine)
        return checks.close()
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    sys.exit(main())
