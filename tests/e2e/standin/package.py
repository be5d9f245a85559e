# SPDX-License-Identifier: Apache-2.0
# tests/e2e/standin/package.py - lays out and packs a stand-in driver package.

import json
import pathlib
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DEMO = HERE.parent.parent.parent / "examples" / "demo" / "src"
MODULES = ["nvidia", "nvidia-uvm", "nvidia-modeset", "nvidia-drm"]
LIBDIR = "usr/lib/x86_64-linux-gnu"
LIBRARIES = ["libcuda.so.1", "libnvidia-ml.so.1"]
SOURCE_FOLDER = "usr/src/nvidia-standin"


def _run(*argv, **options):
    done = subprocess.run([str(word) for word in argv], text=True, capture_output=True, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{argv[0]} exited with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")


def _userspace(top, version, nvml):
    folder = top / LIBDIR
    folder.mkdir(parents=True)
    (top / "usr/bin").mkdir(parents=True)
    for soname in LIBRARIES:
        real = soname.removesuffix(".1") + "." + version
        _run("gcc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", DEMO / "library.c", "-o", folder / real)
        (folder / soname).symlink_to(real)
    if nvml:
        shutil.copy(nvml, folder / f"libnvidia-ml.so.{version}")
    _run("gcc", DEMO / "tool.c", folder / f"libcuda.so.{version}", "-Wl,-rpath,$ORIGIN/../lib/x86_64-linux-gnu",
         "-o", top / "usr/bin/nvidia-smi")


def _firmware(top, version):
    (top / "nvidia" / version).mkdir(parents=True)
    (top / "nvidia" / version / "gsp_ga10x.bin").write_text("stand-in for tests: no firmware\n", encoding="utf-8")


def _source(top, version, refuses):
    """Creates the tree of the modules' source, with the version and the planned failure written into it."""
    shutil.copytree(HERE / "src", top / SOURCE_FOLDER)
    lines = [f'#define DRIVER_VERSION "{version}"']
    if refuses:
        lines.append("#define REFUSES_" + refuses.upper().replace("-", "_"))
    (top / SOURCE_FOLDER / "version.h").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return top / SOURCE_FOLDER


def _modules(top, source, kernel, headers_root):
    """Compiles the source inside a root that has the kernel's headers; the root is unchanged afterwards."""
    room = pathlib.Path(tempfile.mkdtemp(prefix="standin.", dir=headers_root / "tmp"))
    try:
        shutil.copytree(source, room / "src")
        _run("chroot", headers_root, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "make", "-C",
             f"/tmp/{room.name}/src", "modules", f"KERNEL_UNAME={kernel}", "KCFLAGS=-g0")
        (top / "kernel").mkdir(parents=True)
        for name in MODULES:
            _run("strip", "--strip-debug", room / "src" / f"{name}.ko", "-o", top / "kernel" / f"{name}.ko")
    finally:
        shutil.rmtree(room)


def make_modules(folder, version, kernel, headers_root):
    """Creates the stand-in modules of a version as files in a folder, without a package: for tests that load them
    directly."""
    with tempfile.TemporaryDirectory(prefix="standin.") as name:
        top = pathlib.Path(name)
        _modules(top / "modules", _source(top / "source", version, None), kernel, headers_root)
        shutil.copytree(top / "modules" / "kernel", folder)


def _layer(name, **notes):
    return {"directory": name, "mediaType": f"application/vnd.slipway.driver.{name}.v1.tar+zstd", "compression": "zstd",
            "annotations": {"dev.slipway.layer": name, **notes}}


def _describe(version, kernel, source):
    files = {"icds": [], "libdir": LIBDIR, "libraries": LIBRARIES, "tools": ["nvidia-smi"]}
    common = [_layer("userspace", **{"dev.slipway.driver.files": json.dumps(files)}), _layer("firmware")]
    manifests = []
    notes = {"dev.slipway.driver.version": version, "dev.slipway.driver.flavour": "open",
             "org.opencontainers.image.title": "stand-in for tests, no NVIDIA software"}
    if kernel:
        layer = _layer("modules", **{"dev.slipway.driver.modules": json.dumps([f"{name}.ko" for name in MODULES]),
                                     "dev.slipway.kernel.vermagic": f"{kernel} SMP preempt mod_unload modversions "})
        manifests.append({"tag": f"{version}-{kernel}-standin-open", "layers": [*common, layer],
                          "annotations": {**notes, "dev.slipway.kernel.release": kernel}})
    if source:
        tree = {"directory": SOURCE_FOLDER, "modules": MODULES}
        layer = _layer("source", **{"dev.slipway.driver.source": json.dumps(tree)})
        manifests.append({"tag": f"{version}-source-standin-open", "layers": [*common, layer], "annotations": notes})
    return {"artifactType": "application/vnd.slipway.driver.v1", "tag": f"{version}-standin",
            "annotations": {"dev.slipway.driver.version": version}, "manifests": manifests}


def make_package(slipway, layout, version, *, source=False, kernel=None, headers_root=None, refuses=None, nvml=None):
    """Adds a package to an OCI layout: its modules compiled for `kernel` inside `headers_root`, its source, or both.

    `refuses` names a module whose init function returns an error; `nvml` is a file that becomes its libnvidia-ml.so.1.
    """
    with tempfile.TemporaryDirectory(prefix="standin.") as name:
        top = pathlib.Path(name)
        _userspace(top / "userspace", version, nvml)
        _firmware(top / "firmware", version)
        tree = _source(top / "source", version, refuses)
        if kernel:
            _modules(top / "modules", tree, kernel, headers_root)
        # JSON is YAML too.
        (top / "package.yaml").write_text(json.dumps(_describe(version, kernel, source)), encoding="utf-8")
        slipway.must("pkg", "build", top, "--to", layout)
