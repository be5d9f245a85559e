#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/component/cli/tamper.py - makes a copy of an OCI layout with the damage of an attacker, a broken disk or a
# broken network.
#
# Usage: tamper.py LAYOUT COPY HOW
#   flip, truncate      the user space layer's bytes no longer are what its digest says
#   dotdot, absolute, link-out, hard-link-out, setuid, device
#                       the user space layer is another archive, with digests that are right all the way up
#   bomb                the same, with 2 GiB of zeros in it

import hashlib
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile
import threading


class Layout:
    """The blobs of an OCI layout folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def path(self, digest):
        return self.folder / "blobs" / digest.replace(":", "/")

    def read(self, descriptor):
        return json.loads(self.path(descriptor["digest"]).read_bytes())

    def store(self, descriptor, content):
        """Writes a blob and points the descriptor at it."""
        descriptor["digest"] = "sha256:" + hashlib.sha256(content).hexdigest()
        descriptor["size"] = len(content)
        self.path(descriptor["digest"]).write_bytes(content)


def userspace(manifest):
    roles = [layer.get("annotations", {}).get("dev.slipway.layer") for layer in manifest["layers"]]
    return manifest["layers"][roles.index("userspace")]


def entry(name, kind=tarfile.REGTYPE, content=b"", link="", mode=0o644):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.size = kind, link, mode, len(content)
    return info, content


def archive(how):
    entries = {
        "dotdot": [entry("../../../../../../escaped", content=b"evil")],
        "absolute": [entry("/escaped", content=b"evil")],
        "link-out": [entry("out", tarfile.SYMTYPE, link="/"), entry("out/escaped", content=b"evil")],
        "hard-link-out": [entry("out", tarfile.LNKTYPE, link="../../../../../../../etc/passwd")],
        "setuid": [entry("usr/bin/su", content=b"evil", mode=0o4755)],
        "device": [entry("dev/mem", tarfile.CHRTYPE)],
        "bomb": [],
    }[how]
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for info, content in [entry("usr/share/first", content=b"harmless")] + entries:
            tar.addfile(info, io.BytesIO(content))
    if how == "bomb":
        info = tarfile.TarInfo("zeros")
        info.size = 2 << 30
        head = stream.getvalue()[:1024]
        return compress_zeros(head + info.tobuf(), info.size)
    return subprocess.run(["zstd", "-q", "-c"], input=stream.getvalue(), stdout=subprocess.PIPE, check=True).stdout


def compress_zeros(head, count):
    process = subprocess.Popen(["zstd", "-q", "-c"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def feed():
        process.stdin.write(head)
        for _ in range(count >> 20):
            process.stdin.write(bytes(1 << 20))
        process.stdin.write(bytes(1024))
        process.stdin.close()

    feeder = threading.Thread(target=feed)
    feeder.start()
    packed = process.stdout.read()
    feeder.join()
    return packed


def replace_layer(layout, how):
    """Creates a new layer, and new manifests and index for it, for every manifest of the layout."""
    index_file = layout.folder / "index.json"
    index = json.loads(index_file.read_bytes())
    packed = archive(how)

    def replace(descriptor):
        body = layout.read(descriptor)
        for child in body.get("manifests", []):
            replace(child)
        if "layers" in body:
            layer = userspace(body)
            layer.get("annotations", {}).pop("dev.slipway.layer.size", None)
            layout.store(layer, packed)
        layout.store(descriptor, json.dumps(body).encode())

    for descriptor in index["manifests"]:
        replace(descriptor)
    index_file.write_text(json.dumps(index))


def damage(layout, how):
    index = json.loads((layout.folder / "index.json").read_bytes())
    blob = layout.path(userspace(layout.read(index["manifests"][0]))["digest"])
    content = bytearray(blob.read_bytes())
    if how == "flip":
        content[len(content) // 2] ^= 0x20
    else:
        del content[len(content) // 2 :]
    blob.write_bytes(content)


def main():
    source, copy, how = sys.argv[1:]
    shutil.copytree(source, copy)
    layout = Layout(copy)
    if how in ("flip", "truncate"):
        damage(layout, how)
    else:
        replace_layer(layout, how)


if __name__ == "__main__":
    main()
