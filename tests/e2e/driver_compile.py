#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/driver_compile.py - compiles the real source inside an apply; its modules are those of the package.

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checks import Checks, differences, picture  # noqa: E402
from slipway_host import KERNEL, VERSION, Slipway, must, real_package, root_with_headers, write_spec  # noqa: E402

STORE = f"usr/lib/slipway/store/driver/current/modules/{KERNEL}/kernel"


def blob(layout, digest):
    return layout / "blobs" / digest.replace(":", "/")


def packaged_modules(layout, folder):
    """Returns the hash by name of the modules that the package has for the kernel."""
    for entry in json.loads((layout / "index.json").read_text())["manifests"]:
        if entry.get("annotations", {}).get("dev.slipway.kernel.release") != KERNEL:
            continue
        layers = json.loads(blob(layout, entry["digest"]).read_text())["layers"]
        (layer,) = [layer for layer in layers if layer["annotations"]["dev.slipway.layer"] == "modules"]
        folder.mkdir()
        must(["tar", "--zstd", "-xf", blob(layout, layer["digest"]), "-C", folder])
        return hashes(folder / "kernel")
    return {}


def hashes(folder):
    found = {}
    for path in folder.iterdir():
        tool = {".xz": ["xz", "-dc"], ".zst": ["zstd", "-dc"]}.get(path.suffix, ["cat"])
        data = subprocess.run([*tool, path], check=True, capture_output=True).stdout
        found[path.name.split(".")[0] + ".ko"] = hashlib.sha256(data).hexdigest()
    return found


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="slipway-e2e.") as name:
        work = pathlib.Path(name)
        slipway = Slipway(work / "cache")
        layout = real_package(slipway)
        root = root_with_headers(work / "root", KERNEL)
        before = picture(root, times=False)
        spec = work / "host.yaml"
        write_spec(spec, f"{{repository: {layout}, trust: unsigned}}", precompiled="never")
        words = ["apply", "--without-slipway", "--root", root, "--kernel", KERNEL, "-f", spec]
        status, out, err, seconds = slipway(*words)
        checks.that(status == 0, f"apply compiles the real source ({seconds:.0f} s)", out + err)
        built = hashes(root / STORE) if status == 0 else {}
        checks.that({"nvidia.ko", "nvidia-uvm.ko", "nvidia-modeset.ko", "nvidia-drm.ko"} <= built.keys(),
                    "all modules are there", built)
        for module in sorted(built):
            info = must(["modinfo", root / STORE / module])
            checks.that(f"vermagic:       {KERNEL} SMP" in info, f"{module} is for this kernel", info)
        info = must(["modinfo", "-b", root, "-k", KERNEL, "nvidia"])
        checks.that(f"version:        {VERSION}" in info and "updates/slipway/nvidia.ko" in info,
                    "modinfo finds nvidia by its name", info)
        packaged = packaged_modules(layout, work / "packaged")
        checks.that(built and built == packaged, "they are byte for byte those of the ready-made package",
                    differences(built, packaged))
        status, out, err, seconds = slipway(*words)
        checks.that(status == 0 and "Nothing to do" in out, f"a second apply compiles nothing ({seconds * 1000:.0f} ms)",
                    out + err)
        status, out, err, _ = slipway("remove", "--all", "--root", root)
        after = picture(root, times=False)
        checks.that(status == 0 and after == before, "remove returns the root", out + err + differences(before, after))
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
