#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/component/artifact/stage_bench.py - measures staging a layer, compared with `tar --zstd -x` and one `sync -f`.
"""Usage: stage_bench.py MODULE.so FOLDER [ROUNDS]

Packs FOLDER into an OCI layout with one zstd layer, then unpacks it ROUNDS times in turn with tar and with the
`stage` operation of the shared object (each time into a new folder, the layer dropped from the page cache before), and
prints the medians, their ratio and the peak memory of a process that only stages.
"""
import ctypes
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

WRITE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)


class Reply(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("write", WRITE)]


CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t,
                        ctypes.POINTER(Reply))


class Plugin(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("context", ctypes.c_void_p), ("call", CALL)]


def ask(module, op, request):
    """Runs one operation through the C entry."""
    plugin = Plugin(size=ctypes.sizeof(Plugin))
    if ctypes.CDLL(module).slipway_plugin_open(None, ctypes.byref(plugin)) != 0:
        sys.exit(f"{module} cannot be opened")
    answer = []
    reply = Reply(None, WRITE(lambda _context, text, length: answer.append(ctypes.string_at(text, length))))
    text = json.dumps(request).encode()
    if plugin.call(plugin.context, op.encode(), text, len(text), ctypes.byref(reply)) != 0:
        sys.exit(f"{op} failed: {answer}")
    return json.loads(answer[0])


def pack(folder, work):
    """Creates an OCI layout with one layer. Returns the layer's file and the stage request for it."""
    blobs = os.path.join(work, "layout", "blobs", "sha256")
    os.makedirs(blobs)
    tar = os.path.join(work, "layer.tar.zst")
    subprocess.run(["tar", "--sort=name", "--owner=0", "--group=0", "-I", "zstd -10", "-cf", tar, "-C", folder, "."],
                   check=True)
    with open(tar, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    path = os.path.join(blobs, digest)
    os.rename(tar, path)
    with open(os.path.join(work, "layout", "oci-layout"), "w") as file:
        file.write('{"imageLayoutVersion":"1.0.0"}')
    with open(os.path.join(work, "layout", "index.json"), "w") as file:
        file.write('{"schemaVersion":2,"manifests":[]}')
    layer = {"mediaType": "application/vnd.slipway.layer.v1.tar+zstd", "digest": "sha256:" + digest,
             "size": os.path.getsize(path)}
    return path, {"source": {"repository": os.path.join(work, "layout"), "trust": "unsigned"}, "layer": layer}


def cold(path):
    """Drops the layer from the page cache."""
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def timed(layer, out, action):
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run(["sync", "-f", os.path.dirname(out)], check=True)
    cold(layer)
    start = time.monotonic()
    action(out)
    return time.monotonic() - start


def by_tar(layer, out):
    os.mkdir(out)
    subprocess.run(["tar", "--zstd", "-xf", layer, "-C", out], check=True)
    subprocess.run(["sync", "-f", out], check=True)


def memory(key):
    """Returns a line of /proc/self/status in KiB."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key + ":"))


def stage_in_child(module, request):
    """Stages in a separate process. Returns its peak memory in KiB."""
    child = [sys.executable, __file__, "--stage", module, json.dumps(request)]
    return int(subprocess.run(child, check=True, capture_output=True, text=True).stdout)


def main():
    if sys.argv[1] == "--stage":
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # resets the peak: this process is a fork of a larger one
        before = memory("VmRSS")
        ask(sys.argv[2], "stage", json.loads(sys.argv[3]))
        print(memory("VmHWM") - before)
        return
    module, folder = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as work:
        layer, request = pack(folder, work)
        out = os.path.join(work, "out")
        request["into"] = out
        tar, stage = [], []
        for _ in range(rounds):
            tar.append(timed(layer, out, lambda folder: by_tar(layer, folder)))
            stage.append(timed(layer, out, lambda _folder: ask(module, "stage", request)))
        size = sum(os.lstat(os.path.join(at, name)).st_size for at, _, names in os.walk(out) for name in names)
        shutil.rmtree(out)
        peak = stage_in_child(module, request)
    print(f"files     {size / 1e6:.0f} MB, layer {request['layer']['size'] / 1e6:.0f} MB, median of {rounds}")
    print(f"tar+sync  {statistics.median(tar):.3f} s   ({min(tar):.3f} - {max(tar):.3f})")
    print(f"stage     {statistics.median(stage):.3f} s   ({min(stage):.3f} - {max(stage):.3f})")
    print(f"ratio     {statistics.median(stage) / statistics.median(tar):.2f}")
    print(f"memory    {peak / 1024:.1f} MiB more than an idle Python")


main()
