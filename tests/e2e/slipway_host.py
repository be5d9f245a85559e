# SPDX-License-Identifier: Apache-2.0
# tests/e2e/slipway_host.py - runs the built slipway and the e2e scripts, and prepares their roots and packages.

import hashlib
import os
import pathlib
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("SLIPWAY_BUILD", TREE / "build" / "release"))
KERNEL = "6.1.0-50-amd64"
TRAP_KERNEL = "6.1.0-56-amd64"
VERSION = "535.261.03"
EPOCH = "1767225600"


def run(argv, **options):
    """Runs a program with its output captured; never raises on its exit status."""
    return subprocess.run([str(word) for word in argv], text=True, capture_output=True, check=False, **options)


def must(argv, **options):
    done = run(argv, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{argv[0]} exited with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def script(name, *words):
    """Runs one of the shell scripts beside this file; returns its standard output."""
    return must(["bash", HERE / name, *words]).strip()


def debs_folder():
    """Returns the folder of NVIDIA's and the kernel's Debian packages; downloads missing ones."""
    return pathlib.Path(script("fetch-debs.sh").splitlines()[-1])


def makers_of_packages():
    """Returns a digest of the sources that determine a package's content."""
    digest = hashlib.sha256()
    for folder in ("plugins/driver", "core/action", "sandbox", "artifact/pack"):
        for path in sorted((HERE.parent.parent / folder).rglob("*.[ch]pp")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def real_package(slipway):
    """Returns the real package as an OCI layout, kept in the e2e cache: its modules take two minutes to compile."""
    debs = debs_folder()
    layout = debs.parent / f"driver-{VERSION}-{KERNEL}-{makers_of_packages()}"
    if not (layout / "index.json").exists():
        slipway.must("driver", "build", "--debs", debs, "--kernel", KERNEL, "--os", "debian12", "--with-source",
                     "--output", layout)
    return layout


def root_with_headers(root, kernel):
    """Creates a root in which modules can be compiled for `kernel`: the headers come from the .deb files."""
    script("make-root.sh", "--with-headers", "--with-libraries", str(root))
    if kernel == KERNEL:
        return root
    abi = kernel.removesuffix("-amd64")
    for name in (f"linux-headers-{kernel}_*", f"linux-headers-{abi}-common_*"):
        (deb,) = debs_folder().glob(name + ".deb")
        # `dpkg-deb -x` would replace the root's link /lib by a folder.
        must(["sh", "-c", 'dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2"', "sh", deb, root])
    return root


def environment():
    return dict(os.environ, SOURCE_DATE_EPOCH=EPOCH)


CACHING = ("init", "detect", "plan", "apply", "verify", "doctor", "rollback", "remove", "gc", "bugreport")  # take --cache


class Slipway:
    """slipway with its own cache. Calls return (status, stdout, stderr, seconds)."""

    def __init__(self, cache):
        self.cache = cache

    def __call__(self, *words, cwd=None):
        started = time.monotonic()
        caches = words[1] in ("pull", "inspect") if words[0] == "pkg" else words[0] in CACHING
        options = ["--cache", self.cache] if caches else []
        done = run([BUILD / "bin" / "slipway", *words, *options], env=environment(), cwd=cwd)
        return done.returncode, done.stdout, done.stderr, time.monotonic() - started

    def must(self, *words):
        status, out, err, _ = self(*words)
        if status != 0:
            raise RuntimeError(f"slipway {' '.join(map(str, words))} exited with {status}\n{out}\n{err}")
        return out


def install_into(root):
    """Installs slipway itself in a root, as its package would."""
    must(["cmake", "--install", BUILD], env=dict(os.environ, DESTDIR=str(root)))


def write_spec(path, source, hardware=None, others=(), **driver):
    """Returns a host spec with a driver and the components `others`; `source` is the artifact source as YAML,
    `driver` further keys."""
    keys = {"version": f'"{VERSION}"', "modules": "open", **driver}
    lines = "".join(f"      {key}: {value}\n" for key, value in keys.items())
    path.write_text("apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: e2e}\nspec:\n"
                    + (f"  hardware: {hardware}\n" if hardware else "") + "  components:\n    driver:\n"
                    f"{lines}      source: {source}\n" + "".join(f"    {name}: {{}}\n" for name in others), encoding="utf-8")
