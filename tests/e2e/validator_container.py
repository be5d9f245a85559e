# SPDX-License-Identifier: Apache-2.0
# tests/e2e/validator_container.py - `slipway verify validator` by the engines of a booted machine (engine_machine.py).
"""No driver serves the simulated GPUs' nodes, so that opening them fails. For these checks the CDI spec gives
containers
the kernel's own null device under each GPU's name, and once a device that the container's cgroup refuses."""

import json

SPEC = "/run/cdi/nvidia.com-gpu.json"
HOST_FILE = "/etc/slipway/validator.yaml"
HOST = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: validator}
spec:
  hardware: assume
  components:
    validator: {checks: [toolkit]}
"""
NULL = {"type": "c", "major": 1, "minor": 3}
REFUSED = {"type": "c", "major": 1, "minor": 11, "permissions": "r"}  # /dev/kmsg, which a container does not get by
                                                                      # default


def give(machine, spec, refused=""):
    """Writes the spec with other devices under the names of the nodes."""
    spec = json.loads(spec)
    for device in [spec, *spec["devices"]]:
        for node in device.get("containerEdits", {}).get("deviceNodes", []):
            node.update(REFUSED if node["path"] == refused else NULL)
    (machine.root / SPEC.lstrip("/")).parent.mkdir(exist_ok=True)
    target = f"/proc/{machine.leader}/root{SPEC}"  # the machine's /run is a file system of its own
    with open(target, "w", encoding="utf-8") as file:
        json.dump(spec, file)


def finding_of(machine):
    """Returns the finding about the container, without the one about the validator's service, which was not applied."""
    done = machine.slipway("verify", "validator", "--file", HOST_FILE, "--output", "json")
    try:
        findings = json.loads(done.stdout)
    except ValueError:
        findings = done.stdout + done.stderr
    found = [each for each in every_object(findings) if each.get("name") == "validator.container"]
    return found[0] if found else {"text": done.stdout + done.stderr}


def every_object(value):
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from every_object(each)


def check_container(checks, machine, what, said, left):
    """`said`: how the finding begins. `left`: the engine's objects, as a text that is the same before and after."""
    (machine.root / HOST_FILE.lstrip("/")).write_text(HOST)
    spec = machine.must("cat", SPEC)
    before = left()
    give(machine, spec)
    found = finding_of(machine)
    checks.that(found.get("status") == "pass" and found["text"].startswith(said) and "can open each" in found["text"],
                f"{what}: verify starts a container, which opens each node of the GPUs", found)
    give(machine, spec, "/dev/nvidia5")
    found = finding_of(machine)
    checks.that(found.get("status") == "fail" and "/dev/nvidia5: Operation not permitted" in found["text"],
                f"{what}: verify fails when the container is refused a node", found)
    with open(f"/proc/{machine.leader}/root{SPEC}", "w", encoding="utf-8") as file:
        file.write(spec)
    checks.that(left() == before and "container-check" not in machine.must("ls", "/var/lib/slipway"),
                f"{what}: nothing is left of the containers", left())
