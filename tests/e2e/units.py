#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/units.py - slipway's services on a booted machine with simulated GPUs, each under the unit that an apply writes.
"""cdi, deviceplugin, gfd and validator, as in examples/h100x8.yaml, and dcgm; a user space of Debian's with the simulator in it stands in
for the driver, and the demo's stand-in for kubelet is kubelet. The machine's PCI bus has no GPU, so the validator validates toolkit and plugin.
What a pod would be given becomes a container of the machine's containerd. Needs root."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from cdi_podman import GPUS
from checks import Checks, wait_for
from engine_machine import EngineMachine
from slipway_host import BUILD, TREE, must

LABELS = "/etc/kubernetes/node-feature-discovery/features.d/gfd"
PLUGINS = "/var/lib/kubelet/device-plugins"
STATUS = "/run/node-status"
WEB = "/etc/slipway/web-config.yaml"
SPEC = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: units}
spec:
  hardware: assume
  components:
    cdi: {driver_root: /driver}
    dcgm: {driver_root: /driver, interval: 1s, kubernetes: true, kubernetes_virtual_gpus: true}
    deviceplugin: {driver_root: /driver, quiet_seconds: 1}
    gfd: {driver_root: /driver, timestamp: false, interval: 1h}
    validator: {driver_root: /driver, port: 8000, web_config_file: /etc/slipway/web-config.yaml}
"""
KUBELET = f"""[Service]
ExecStart=/usr/local/bin/demo-kubelet /var/lib/kubelet {STATUS}
"""
SERVICES = ("deviceplugin", "gfd", "validator")  # of the demonstration
ALL_SERVICES = (*SERVICES, "dcgm")


def add_program(machine, program):
    """Copies a program with the libraries that the machine lacks."""
    target = machine.root / "usr/local/bin" / program.name
    shutil.copy(program, target)
    for line in must(["ldd", target]).splitlines():
        words = line.split()
        if len(words) > 2 and words[2].startswith("/") and not (machine.root / words[2].lstrip("/")).exists():
            shutil.copy(words[2], machine.root / "usr/local/lib" / words[0])
    must(["ldconfig", "-r", machine.root])


def prepare(machine, work):
    """Adds stand-ins for kubelet, and a certificate and a user for the gauges."""
    for program in ("bin/demo-kubelet", "tests/kubelet-allocate", "tests/kubelet-pods"):
        add_program(machine, BUILD / program)
    folder = machine.root / "etc/slipway"
    must(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
          "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"])
    (folder / "key.pem").chmod(0o600)
    hashed = must(["htpasswd", "-nbB", "-C", "5", "prometheus", "secret"]).strip().split(":", 1)[1]
    (machine.root / WEB.lstrip("/")).write_text(
        "tls_server_config: {cert_file: /etc/slipway/cert.pem, key_file: /etc/slipway/key.pem}\n"
        f"basic_auth_users: {{prometheus: '{hashed}'}}\n")
    (machine.root / WEB.lstrip("/")).chmod(0o600)
    shutil.copy(folder / "cert.pem", work / "cert.pem")


def unit(name):
    return f"slipway-{name}.service"


def log_of(machine, name):
    return machine.run("journalctl", "--boot", "--output=cat", "--unit", unit(name)).stdout


def logs(machine):
    return "".join(f"--- {name}\n{log_of(machine, name)[-1500:]}" for name in SERVICES)


def active(machine, name):
    return machine.run("systemctl", "is-active", unit(name)).stdout.strip() == "active"


def pid_of(machine, name):
    return machine.must("systemctl", "show", "--property=MainPID", "--value", unit(name)).strip()


def node_has(machine, healthy):
    text = machine.run("cat", STATUS).stdout
    return re.search(rf"Allocatable:\n  nvidia.com/gpu: {healthy}\n", text) is not None


def gauges(machine, work, *words):
    """Runs this machine's curl in the machine's network."""
    return subprocess.run(["nsenter", f"--target={machine.leader}", "--net", "curl", "--silent", "--show-error", "--max-time", "20",
                           "--cacert", str(work / "cert.pem"), "--output", "-", "--write-out", "\n%{http_code}", *words,
                           "https://127.0.0.1:8000/metrics"], text=True, capture_output=True, check=False)


def check_start(checks, machine):
    done = machine.slipway("apply", "--yes", "-f", "/etc/slipway/host.yaml")
    checks.that(done.returncode == 0, "the components are applied", done.stdout + done.stderr + logs(machine))
    for name in ALL_SERVICES:
        checks.that(wait_for(lambda name=name: active(machine, name)), f"{unit(name)} is active", log_of(machine, name))
    rated = {line.split()[1].strip("`"): float(line.split()[3]) for line in (TREE / "docs/units.md").read_text().splitlines()
             if line.startswith("| `slipway-")}
    for name in ALL_SERVICES:
        told = machine.run("systemd-analyze", "security", "--no-pager", unit(name)).stdout
        level = re.search(r"exposure level for [^:]*: ([0-9.]+)", told)
        # A drop-in lets the simulator's library write; it does not change the figure.
        checks.that(level and float(level[1]) <= rated[unit(name)], f"systemd rates the running {unit(name)} as the table does",
                    told[-400:])


def apply_unit(machine):
    told = machine.must("systemctl", "show", "--property=ActiveState,SubState,Result,ExecMainStatus", unit("apply"))
    return dict(line.split("=", 1) for line in told.split())


def check_apply(checks, machine):
    """Checks slipway-apply.service: no unit waits for it, it ends once the machine is as its spec says, and restarts
    on failure."""
    machine.must("systemctl", "start", unit("apply"))
    checks.that(wait_for(lambda: apply_unit(machine)["ActiveState"] == "inactive"), f"{unit('apply')} ends", log_of(machine, "apply"))
    told = apply_unit(machine)
    checks.that(told["Result"] == "success" and told["ExecMainStatus"] == "0", "and finds the machine as its spec says",
                f"{told}\n{log_of(machine, 'apply')}")
    machine.must("mv", "/etc/slipway/host.yaml", "/etc/slipway/kept.yaml")
    machine.must("sh", "-c", "echo nonsense >/etc/slipway/host.yaml")
    machine.must("systemctl", "start", unit("apply"))
    checks.that(wait_for(lambda: apply_unit(machine)["SubState"] == "auto-restart"), "with a broken spec it is to start anew",
                f"{apply_unit(machine)}\n{log_of(machine, 'apply')}")
    machine.must("mv", "/etc/slipway/kept.yaml", "/etc/slipway/host.yaml")
    machine.must("systemctl", "restart", unit("apply"))
    checks.that(wait_for(lambda: apply_unit(machine)["ActiveState"] == "inactive") and apply_unit(machine)["Result"] == "success",
                "and is done with one that is right again", f"{apply_unit(machine)}\n{log_of(machine, 'apply')}")
    told = machine.run("systemd-analyze", "verify", "--man=no", unit("apply"))  # the machine has no man
    checks.that(told.returncode == 0, "systemd finds nothing to complain of in it", told.stdout + told.stderr)


def check_work(checks, machine, work):
    checks.that(wait_for(lambda: f"nvidia.com/gpu.count={GPUS}\n" in machine.run("cat", LABELS).stdout), "gfd: the labels are there",
                log_of(machine, "gfd"))
    checks.that(wait_for(lambda: node_has(machine, GPUS)), "deviceplugin: kubelet has eight GPUs", log_of(machine, "deviceplugin"))
    ready = [f"/run/nvidia/validations/{name}-ready" for name in ("toolkit", "plugin")]
    checks.that(wait_for(lambda: machine.run("ls", *ready).returncode == 0), "validator: toolkit and plugin are ready",
                log_of(machine, "validator"))
    done = gauges(machine, work, "--user", "prometheus:secret")
    checks.that(done.stdout.endswith("\n200") and "gpu_operator_node" in done.stdout, "validator: gauges over TLS for who has the "
                "password", done.stdout[-500:] + done.stderr + log_of(machine, "validator"))
    for words in ((), ("--user", "prometheus:wrong")):
        done = gauges(machine, work, *words)
        checks.that(done.stdout.endswith("\n401") and "gpu_operator_node" not in done.stdout, f"validator: and for nobody else {words}",
                    done.stdout[-500:] + done.stderr)


def scraped(machine, path):
    """Runs this machine's curl in the other's network."""
    return subprocess.run(["nsenter", f"--target={machine.leader}", "--net", "curl", "--silent", "--show-error", "--max-time", "20",
                           "--write-out", "\n%{http_code}", f"http://127.0.0.1:9400{path}"], text=True, capture_output=True, check=False)


def check_metrics(checks, machine):
    """Checks dcgm: the unit has few privileges, and its metrics cover all GPUs."""
    name = "DCGM_FI_DEV_GPU_TEMP{"
    checks.that(wait_for(lambda: scraped(machine, "/metrics").stdout.count(f"\n{name}") == GPUS), "dcgm: metrics of eight GPUs",
                scraped(machine, "/metrics").stdout[-1500:] + log_of(machine, "dcgm"))
    done = scraped(machine, "/health")
    checks.that(done.stdout.endswith("\n200"), "dcgm: it says that it is well", done.stdout + done.stderr)
    state = machine.root / "driver/run/slipway/sim"
    must([BUILD / "bin/slipway-sim", state, "gpu", "3", "lost"])
    checks.that(wait_for(lambda: scraped(machine, "/metrics").stdout.count(f"\n{name}") == GPUS - 1),
                "dcgm: a lost GPU has none, the others have", scraped(machine, "/metrics").stdout[-1500:] + log_of(machine, "dcgm"))
    must([BUILD / "bin/slipway-sim", state, "gpu", "3", "found"])
    checks.that(wait_for(lambda: scraped(machine, "/metrics").stdout.count(f"\n{name}") == GPUS), "dcgm: and has them again",
                log_of(machine, "dcgm"))
    seen = machine.run("nsenter", f"--target={pid_of(machine, 'dcgm')}", "--mount", "sh", "-c",
                       "touch /etc/x && echo wrote; touch /var/lib/kubelet/x && echo wrote; touch /run/slipway/x && rm /run/slipway/x && echo own").stdout
    checks.that(seen == "own\n", "dcgm: it writes to its own folders alone", seen)


def start_pod(machine, name, uid, user):
    """Creates a process in a cgroup where kubelet would put a pod's. @return its process id, as NVML would report it"""
    group = f"/sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{uid.replace('-', '_')}.slice/cri-1.scope"
    machine.must("mkdir", "-p", group, f"/var/log/pods/team_{name}_{uid}")
    return int(machine.must("sh", "-c", f"setpriv --reuid={user} --clear-groups sleep 3600 >/dev/null 2>&1 </dev/null & "
                            f"echo $! >{group}/cgroup.procs; echo $!"))


def check_pods(checks, machine):
    """Checks dcgm: the unit is confined, and still sees which pods use a GPU, and how much of its memory."""
    state = machine.root / "driver/run/slipway/sim"
    uuid = re.search(r'slipway_dcgm_gpu_up\{gpu="0",UUID="([^"]*)"', scraped(machine, "/metrics").stdout)[1]
    uids = {"train-0": "0b5c1d2e-1111-4222-8333-444455556666", "train-1": "7e6f5a4b-9999-4888-a777-666655554444"}
    pids = [start_pod(machine, "train-0", uids["train-0"], 0), start_pod(machine, "train-1", uids["train-1"], 65534)]
    for pid, mib in zip(pids, (3072, 1024)):
        must([BUILD / "bin/slipway-sim", state, "process", "add", "0", str(pid), str(mib), "compute", "/usr/bin/python3"])
    # kubelet creates the folder after the service has started.
    machine.must("mkdir", "-p", "/var/lib/kubelet/pod-resources")
    machine.must("systemd-run", "--unit=kubelet-pods", "kubelet-pods", "/var/lib/kubelet/pod-resources/kubelet.sock",
                 *(word for number, name in enumerate(uids) for word in (f"team/{name}/cuda", "nvidia.com/gpu", f"{uuid}::{number}")))

    def used(pod):
        found = re.search(rf'^DCGM_FI_DEV_FB_USED\{{gpu="0",[^}}]*namespace="team",pod="{pod}",vgpu="[01]"\}} ([0-9]+)$',
                          scraped(machine, "/metrics").stdout, re.MULTILINE)
        return found and int(found[1])

    checks.that(wait_for(lambda: (used("train-0"), used("train-1")) == (3072, 1024)),
                "dcgm: pods that share a GPU have their own memory, whoever their processes belong to",
                f"{used('train-0')} {used('train-1')}\n{scraped(machine, '/metrics').stdout[-3000:]}{log_of(machine, 'dcgm')}")
    checks.that(re.search(r'DCGM_FI_DEV_GPU_TEMP\{gpu="0",[^}]*container="cuda",namespace="team",pod="train-0"', scraped(machine, "/metrics").stdout),
                "dcgm: and are in the labels of the GPU", log_of(machine, "dcgm"))
    machine.must("systemctl", "stop", "kubelet-pods.service")
    for pid in pids:
        must([BUILD / "bin/slipway-sim", state, "process", "remove", str(pid)])
        machine.must("sh", "-c", f"kill {pid}")
    checks.that(wait_for(lambda: "slipway_dcgm_pods_up 0\n" in scraped(machine, "/metrics").stdout
                         and scraped(machine, "/metrics").stdout.count("\nDCGM_FI_DEV_GPU_TEMP{") == GPUS),
                "dcgm: without kubelet the metrics go on, and say so", scraped(machine, "/metrics").stdout[-1500:])


def check_reload(checks, machine):
    for name in ALL_SERVICES:
        before = pid_of(machine, name)
        done = machine.run("systemctl", "reload", unit(name))
        checks.that(done.returncode == 0 and wait_for(lambda name=name: active(machine, name)) and pid_of(machine, name) == before,
                    f"{unit(name)} is reloaded, by the same process", f"{before} {pid_of(machine, name)}\n{done.stderr}{log_of(machine, name)[-1500:]}")


def check_stop(checks, machine, services=SERVICES):
    """Checks systemd's and the journal's records of services that are told to stop."""
    for name in services:
        done = machine.run("systemctl", "stop", unit(name))
        result = machine.run("systemctl", "show", "--property=ActiveState,Result", unit(name)).stdout
        said = log_of(machine, name)
        checks.that(done.returncode == 0 and "ActiveState=inactive\n" in result and "Result=success\n" in result
                    and "crashed" not in said, f"{unit(name)} stops without a failure", result + said[-3000:])


def check_shut_in(checks, machine):
    """Checks that privileges removed by the units are really gone: for gfd, as its own process sees the machine."""
    main_pid = pid_of(machine, "gfd")
    seen = machine.run("nsenter", f"--target={main_pid}", "--mount", "--net", "sh", "-c",
                       "touch /etc/x && echo wrote; touch /run/slipway/x && rm /run/slipway/x && echo own; cat /proc/net/route /proc/net/tcp").stdout
    checks.that("wrote" not in seen and "own" in seen and len(seen.splitlines()) == 3,
                "gfd: it writes to its own folders alone, and has no network", seen)


def check_containers(checks, machine):
    """Runs containers from the device plugin's answers to kubelet: the real nvidia-smi in them sees only the GPUs of
    its answer."""
    machine.must("systemctl", "start", "containerd.service")
    machine.import_image()
    machine.must("systemctl", "stop", "kubelet.service")
    for count in (1, 3):
        done = machine.run("kubelet-allocate", PLUGINS, "nvidia.com/gpu", str(count))
        if not checks.that(done.returncode == 0, f"deviceplugin: kubelet is given {count} GPUs", done.stderr + log_of(machine, "deviceplugin")):
            continue
        answer = json.loads(done.stdout)
        options = ["--runc-binary", "/usr/bin/slipway-runtime"]
        for name, value in answer["envs"].items():
            options += ["--env", f"{name}={value}"]
        done = machine.ctr_run(f"pod-{count}", "nvidia-smi -L", *options)
        seen = [line for line in done.stdout.splitlines() if line.startswith("GPU ")]
        checks.that(len(seen) == count == len(answer["ids"]) and all(any(each in line for line in seen) for each in answer["ids"]),
                    "and a container with that answer sees exactly those", f"{answer}\n{done.stdout}{done.stderr}")
    machine.must("systemctl", "start", "kubelet.service")
    checks.that(wait_for(lambda: node_has(machine, GPUS)), "deviceplugin: the next kubelet has eight GPUs", log_of(machine, "deviceplugin"))


def check_folder_made_again(checks, machine):
    """`kubeadm reset` and `kubeadm join`: kubelet's folder is emptied while the services run."""
    before = {name: pid_of(machine, name) for name in SERVICES}
    machine.must("systemctl", "stop", "kubelet.service")
    # The service recreates a removed socket at once, possibly before the folder is removed.
    machine.must("sh", "-c", f"for i in 1 2 3 4 5; do rm -rf {PLUGINS} && break; done && mkdir {PLUGINS}")
    checks.that(wait_for(lambda: pid_of(machine, "deviceplugin") not in ("0", before["deviceplugin"])),
                "deviceplugin: it starts again when kubelet's folder was made again", log_of(machine, "deviceplugin"))
    machine.must("systemctl", "start", "kubelet.service")
    checks.that(wait_for(lambda: node_has(machine, GPUS)), "deviceplugin: and kubelet has eight GPUs again",
                log_of(machine, "deviceplugin"))
    said = log_of(machine, "deviceplugin")
    checks.that("the service restarts" in said and PLUGINS in said, "deviceplugin: its log says why", said)
    folder = LABELS.rpartition("/")[0]
    machine.must("rm", "-rf", folder)
    checks.that(wait_for(lambda: machine.run("test", "-s", LABELS).returncode == 0), "gfd: a label folder that is removed comes back "
                "with its labels", log_of(machine, "gfd"))
    time.sleep(5)
    now = {name: pid_of(machine, name) for name in SERVICES}
    time.sleep(10)
    checks.that(now == {name: pid_of(machine, name) for name in SERVICES} and now["validator"] == before["validator"],
                "each goes on then, and the validator was left alone", f"{before} {now}")


def check_closed_device(checks, machine):
    """A device class that the unit does not allow stands in for one whose driver was loaded while the service
    started."""
    machine.must("sed", "-i", 's/"nvidia\\*"/"nvidia*", "misc"/', "/etc/slipway/services/gfd.json")
    machine.must("mknod", "-m", "666", "/dev/late", "c", "10", "183")
    machine.must("systemctl", "restart", unit("gfd"))
    said = "got its device number after the service had started"
    checks.that(wait_for(lambda: said in log_of(machine, "gfd")), "gfd: it starts again for a device that its unit was too early for",
                log_of(machine, "gfd"))
    checks.that(wait_for(lambda: active(machine, "gfd")), "gfd: and is active again")
    first = pid_of(machine, "gfd")
    time.sleep(20)
    checks.that(pid_of(machine, "gfd") == first and log_of(machine, "gfd").count(said) == 1, "gfd: once, since that did not open it",
                log_of(machine, "gfd"))


def main():
    checks = Checks()
    if "--no-boot" in sys.argv:
        print("left out: it boots a machine")
        return 0
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e.", dir="/var/tmp"))
    try:
        files = {"/etc/slipway/host.yaml": SPEC, "/etc/systemd/system/kubelet.service": KUBELET,
                 f"{PLUGINS}/.keep": ""}
        machine = EngineMachine(work, "bookworm", files)
        prepare(machine, work)
        with machine:
            machine.must("systemctl", "start", "kubelet.service")
            # No driver serves the nodes of the simulated GPUs, so that a verify cannot open them in any engine's
            # container.
            machine.must("systemctl", "stop", "docker.socket", "docker.service", "containerd.service")
            machine.must("rm", "-f", "/run/containerd/containerd.sock", "/run/docker.sock")
            check_start(checks, machine)
            check_apply(checks, machine)
            check_work(checks, machine, work)
            check_metrics(checks, machine)
            check_pods(checks, machine)
            check_reload(checks, machine)
            check_stop(checks, machine, ALL_SERVICES)
            machine.must("systemctl", "start", *map(unit, ALL_SERVICES))
            checks.that(wait_for(lambda: node_has(machine, GPUS)), "and they start again", logs(machine))
            check_shut_in(checks, machine)
            check_containers(checks, machine)
            check_folder_made_again(checks, machine)
            check_closed_device(checks, machine)
            for name in ALL_SERVICES:
                checks.that(active(machine, name), f"{unit(name)} is active at the end", log_of(machine, name))
        return checks.close()
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    sys.exit(main())
