#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/fuzz/large_seeds.py TARGET FOLDER - writes large inputs for a target into a folder, to start the search from:
lists as long as etcd and the engines allow for a pod, which would be too large to commit. Some targets have none."""

import json
import pathlib
import sys

DEVICES = ",".join(f"nvidia.com/gpu={number}" for number in range(60_000))
PATHS = [f"/m/{number}/../{number}/." for number in range(20_000)]


def member(number, content):
    """A member of a protobuf message: texts and messages."""
    content = content.encode() if isinstance(content, str) else content
    size, length = len(content), b""
    while size > 0x7F:
        length, size = length + bytes([size & 0x7F | 0x80]), size >> 7
    return bytes([*([number << 3 & 0x7F | 2] if number < 16 else [(number << 3 | 2) & 0x7F | 0x80, number >> 4])]) \
        + length + bytes([size]) + content


def question(container):
    """Returns CreateContainer in an engine's form."""
    pod = member(2, "train-0") + member(4, "team-a")
    request = member(1, pod) + member(2, member(3, "cuda") + container)
    payload = member(1, "nri.pkg.api.v1alpha1.Plugin") + member(2, "CreateContainer") + member(3, request)
    message = len(payload).to_bytes(4, "big") + (1).to_bytes(4, "big") + b"\1\0" + payload
    return (1).to_bytes(4, "big") + len(message).to_bytes(4, "big") + message


def annotation(value):
    return member(6, member(1, "cdi.k8s.io/x") + member(2, value))


def nri():
    mounts = b"".join(member(9, member(1, path) + member(3, "/h")) for path in PATHS)
    channels = b"".join(member(9, member(1, f"/var/run/nvidia-container-devices/imex/{number}") + member(3, "/dev/null"))
                        for number in range(5_000))
    variables = b"".join(member(8, f"V{number}=x") for number in range(50_000))
    yield "annotation", question(annotation(DEVICES))
    yield "mounts", question(member(8, "NVIDIA_VISIBLE_DEVICES=GPU-0") + mounts)
    yield "channels", question(annotation("nvidia.com/gpu=GPU-0") + channels)
    yield "variables", question(variables + member(8, "NVIDIA_VISIBLE_DEVICES=" + DEVICES))


def bundle_edit():
    process = {"env": ["NVIDIA_VISIBLE_DEVICES=0"] + [f"V{number}=x" for number in range(50_000)]}
    mounts = [{"destination": path, "source": "/h"} for path in PATHS]
    few = [{"destination": path, "source": "/h"} for path in PATHS[:9_000]]
    yield "devices", json.dumps({"process": {"env": ["NVIDIA_VISIBLE_DEVICES=" + DEVICES]}}).encode()
    yield "mounts", json.dumps({"process": process, "mounts": mounts}).encode()
    yield "few-mounts", json.dumps({"process": process, "mounts": few}).encode()
    yield "annotations", json.dumps({"process": {}, "annotations": {
        f"cdi.k8s.io/{number}": f"vendor.com/nic={number}" for number in range(4_000)}}).encode()


def ld_conf():
    include = "include /etc/ld.so.conf.d/*.conf\n"
    folders = "".join(f"/opt/{number}\n" for number in range(60_000))
    yield "folders", folders.encode()
    yield "includes", ("\0".join([include * 15_000] * 8)).encode()
    yield "pattern", ("include /etc/ld.so.conf.d/" + "*1" * 200_000 + "\n").encode()


def toml_merge():
    yield "line", b"{}\nx = {" + b",".join(b"k%d=1" % number for number in range(90_000)) + b"}\n"
    yield "array", b"{}\nx = [" + b",".join("'é%d'".encode() % number for number in range(60_000)) + b"]\n"


def main():
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    makers = {maker.__name__: maker for maker in (nri, bundle_edit, ld_conf, toml_merge)}
    for name, content in makers.get(target, lambda: ())():
        (folder / f"large-{name}").write_bytes(content)


main()
