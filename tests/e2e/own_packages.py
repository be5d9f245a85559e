#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/own_packages.py - slipway's own Debian packages in a bookworm root: install, provision, upgrade, remove, return; and
# one of somebody else's plugin, built with the package of the SDK.

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checks import Checks, differences, picture  # noqa: E402
from slipway_host import BUILD, KERNEL, TREE, VERSION, must, run, script  # noqa: E402

HIGHER = "0.1.1"
MODPROBE = "etc/modprobe.d/slipway-nvidia.conf"
STATE = "var/lib/slipway/format"
SPEC = f"""apiVersion: slipway.dev/v1
kind: Host
metadata: {{name: packaged}}
spec:
  hardware: assume
  components:
    driver:
      version: "{VERSION}"
      modules: open
      source: {{repository: /srv/package, trust: unsigned}}
"""


class Root:
    """Mounts /proc in a bookworm root for the duration of the block."""

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        script("make-root.sh", "--with-libraries", str(self.folder))
        must(["mount", "-t", "proc", "proc", self.folder / "proc"])
        return self

    def __exit__(self, *_):
        must(["umount", self.folder / "proc"])

    def run(self, *words):
        """Runs a command inside: (status, output)."""
        done = run(["chroot", self.folder, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C",
                    "DEBIAN_FRONTEND=noninteractive", *words])
        return done.returncode, done.stdout + done.stderr

    def slipway(self, *words):
        """Runs slipway as for an image: on this root, which is not live."""
        return self.run("slipway", *words, "--root", "/", "--sim", "h100x8", "--kernel", KERNEL)

    def install(self, folder, names):
        inside = self.folder / "srv/debs"
        inside.mkdir(parents=True, exist_ok=True)
        files = []
        for name in names:
            (deb,) = folder.glob(name)
            (inside / deb.name).write_bytes(deb.read_bytes())
            files.append(f"/srv/debs/{deb.name}")
        return self.run("apt-get", "install", "-y", "-q", "--no-install-recommends", *files)

    def picture(self):
        """Returns the files that provisioning changes, without those of apt and dpkg."""
        seen = picture(self.folder, times=False)
        apart = ("proc/", "srv/", "var/lib/dpkg", "var/lib/apt", "var/cache/", "var/log", "usr/share/doc", "tmp/",
                 "lib/modules", "usr/lib/modules", "etc/ld.so.cache", "boot/initrd")
        return {path: what for path, what in seen.items() if not path.startswith(apart)}


def check_contents(checks, root):
    status, text = root.run("slipway", "version")
    checks.that(status == 0 and text == "slipway 0.1.0\n", "slipway version is that of the package", text)
    page = root.folder / "usr/share/man/man1/slipway.1.gz"
    checks.that(page.exists(), "the manual page is installed")
    shown = run(["man", "-l", page], env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "MANWIDTH": "100", "TERM": "dumb"})
    checks.that("slipway apply" in shown.stdout and "--locked" in shown.stdout and not shown.stderr,
                "man shows it without a complaint", shown.stdout[:500] + shown.stderr)
    status, text = root.run("bash", "-c", "set -u; . /usr/share/bash-completion/completions/slipway; COMP_WORDS=(slipway roll); "
                            "COMP_CWORD=1; _slipway; echo ${COMPREPLY[@]}")
    checks.that(status == 0 and text == "rollback\n", "the completion for bash loads and completes", text)
    for shell, path in (("zsh", "zsh/vendor-completions/_slipway"), ("fish", "fish/vendor_completions.d/slipway.fish")):
        file = root.folder / "usr/share" / path
        checks.that(file.exists(), f"the completion for {shell} is where {shell} looks")
        if run(["sh", "-c", f"command -v {shell}"]).returncode == 0:
            done = run([shell, "-n", file])
            checks.that(done.returncode == 0, f"{shell} reads it", done.stderr)
    status, text = root.run("slipway", "plugin", "list")
    checks.that(status == 0 and all(name in text for name in ("driver", "gfd", "dcgm", "cdi", "validator", "deviceplugin")),
                "slipway finds its plugins", text)


def check_needs(checks, root):
    """Checks the programs that slipway runs on a machine: ./dev installs them for the demo and the tests, the
    packages depend on them."""
    (line,) = [line for line in (TREE / "dev").read_text(encoding="utf-8").splitlines() if line.startswith("RUN=(")]
    _, text = root.run("dpkg-query", "-W", "-f", "${Depends}, ${Recommends}, ", "slipway", "slipway-plugins")
    named = {word.split()[0] for word in text.split(",") if word.strip()}
    missing = [name for name in line.removeprefix("RUN=(").removesuffix(")").split() if name not in named]
    checks.that(not missing, "the packages depend on or recommend what slipway runs", f"missing {missing} in {text}")


def check_provisioning(checks, root, package):
    must(["cp", "-a", package, root.folder / "srv/package"])
    spec = root.folder / "etc/slipway/host.yaml"
    spec.parent.mkdir(exist_ok=True)
    spec.write_text(SPEC)
    before = root.picture()
    status, text = root.slipway("plan")
    checks.that(status == 2 and MODPROBE in text, "plan shows the driver", text)
    status, text = root.slipway("apply")
    checks.that(status == 0 and (root.folder / MODPROBE).exists(), "apply provisions it", text)
    status, text = root.run("slipway", "log", "-o", "jsonl")
    checks.that(status == 0 and '"result":"done"' in text and '"root":"/"' in text, "the log tells of it", text)
    return before


def check_upgrade(checks, root, higher):
    before = root.picture()
    status, text = root.install(higher, ["slipway_*.deb", "slipway-plugins_*.deb", "slipway-sim_*.deb"])
    checks.that(status == 0, f"the packages are upgraded to {HIGHER}", text)
    _, text = root.run("dpkg-query", "-W", "-f", "${Version}\n", "slipway")
    checks.that(text == f"{HIGHER}\n", "dpkg has the higher version", text)
    after = root.picture()
    kept = {path for path in before if path.startswith(("var/lib/slipway", "etc/modprobe.d", "usr/lib/slipway/store"))}
    checks.that(kept and all(before[path] == after.get(path) for path in kept), "state and driver are as they were",
                differences({path: before[path] for path in kept}, {path: after.get(path) for path in kept}))
    status, text = root.slipway("apply")
    checks.that(status == 0 and "Nothing to do" in text, "and the new version has nothing to do", text)


def build_plugin_package(work, packages):
    """Builds the package of examples/plugins/rocm with the contents of slipway-sdk-dev."""
    (sdk,) = packages.glob("slipway-sdk-dev_*.deb")
    must(["dpkg-deb", "-x", sdk, work / "sdk"])
    must(["cp", "-r", TREE / "examples/plugins/rocm", work / "rocm"])
    return run(["env", "-C", work / "rocm", f"CMAKE_PREFIX_PATH={work}/sdk/usr", "DEB_BUILD_OPTIONS=parallel=2 noopt",
                "dpkg-buildpackage", "-b", "-us", "-uc", "-d"])


def check_plugin_package(checks, root, work, packages):
    built = build_plugin_package(work, packages)
    checks.that(built.returncode == 0, "the plugin rocm is packed with the package of the SDK",
                (built.stdout + built.stderr)[-4000:])
    status, text = root.install(work, ["slipway-rocm_*.deb"])
    checks.that(status == 0, "apt installs slipway-rocm beside slipway", text)
    status, text = root.run("slipway", "plugin", "list")
    checks.that(status == 0 and "rocm-cdi" in text and "deviceplugin" in text, "slipway has its components and its own", text)
    for name in ("mi300x8.yaml", "node.yaml"):
        must(["cp", TREE / "examples/plugins/rocm" / name, root.folder / "srv"])
    (root.folder / "srv/amd/etc").mkdir(parents=True)
    command = ["--root", "/srv/amd", "--sim", "/srv/mi300x8.yaml"]
    status, text = root.run("slipway", "apply", "--yes", "-f", "/srv/node.yaml", *command)
    checks.that(status == 0 and (root.folder / "srv/amd/etc/cdi/amd.json").exists(), "they provision an AMD machine", text)
    status, text = root.run("slipway", "verify", *command)
    checks.that(status == 0 and "8 GPUs on the PCI bus" in text, "and verify it", text)
    status, text = root.run("slipway", "remove", "--yes", "--all", *command)
    checks.that(status == 0 and not (root.folder / "srv/amd/etc/cdi").exists(), "and are removed from it", text)
    root.run("apt-get", "purge", "-y", "-q", "slipway-rocm")
    status, text = root.run("slipway", "plugin", "list")
    checks.that(status == 0 and "rocm" not in text, "without the package there are slipway's own", text)


def check_removal(checks, root):
    driver = (root.folder / MODPROBE).read_text()
    status, text = root.run("apt-get", "remove", "-y", "-q", "slipway")
    checks.that(status == 0 and not (root.folder / "usr/bin/slipway").exists(), "apt removes the packages", text)
    checks.that("stay" in text and "`slipway remove --all`" in text, "and says what stays and what would remove it", text)
    checks.that((root.folder / MODPROBE).read_text() == driver and (root.folder / STATE).exists() and
                (root.folder / "usr/lib/slipway/store/driver/current").is_symlink(), "driver and state are still there")
    status, text = root.run("apt-get", "purge", "-y", "-q", "slipway")
    checks.that(status == 0 and not (root.folder / "var/log/slipway").exists() and (root.folder / STATE).exists(),
                "a purge takes the log and not the state", text)


def check_return(checks, root, folder, before):
    status, text = root.install(folder, ["slipway_*.deb", "slipway-plugins_*.deb", "slipway-sim_*.deb"])
    checks.that(status == 0, "the packages are installed again", text)
    status, text = root.slipway("verify")
    checks.that(status == 0, "slipway still knows what it holds", text)
    status, text = root.slipway("remove", "--all")
    checks.that(status == 0, "slipway remove --all", text)
    after = root.picture()
    checks.that(after == before, "returns the tree", differences(before, after))
    status, text = root.run("apt-get", "purge", "-y", "-q", "slipway", "slipway-sim")
    left = [str(path) for path in (root.folder / "var/log/slipway", root.folder / "var/lib/slipway",
                                   root.folder / "usr/lib/slipway") if path.exists()]
    checks.that(status == 0 and not left and "stay" not in text, "a purge then leaves nothing of slipway", text + str([str(path) for each in left for path in pathlib.Path(each).rglob("*")]))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="slipway-packages-") as name:
        work = pathlib.Path(name)
        for folder, version in (("first", []), ("higher", [HIGHER])):
            done = run([TREE / "deploy/build-debs", BUILD, work / folder, *version])
            checks.that(done.returncode == 0, "lintian is content with the packages" + (f" of {HIGHER}" if version else ""),
                        done.stdout + done.stderr)
        depends = pathlib.Path(script("own-packages-debs.sh").splitlines()[-1])
        must([TREE / "examples/demo/make-package", "--slipway", BUILD / "bin/slipway", "--version", VERSION, "--kernel",
              KERNEL, work / "package"])
        with Root(work / "root") as root:
            status, text = root.install(depends, ["libmicrohttpd12_*.deb", "libprotobuf-lite32_*.deb"])
            checks.that(status == 0, "the libraries are installed", text)
            status, text = root.install(work / "first", ["slipway_*.deb", "slipway-plugins_*.deb", "slipway-sim_*.deb"])
            checks.that(status == 0, "apt installs slipway, slipway-plugins and slipway-sim", text)
            check_contents(checks, root)
            check_needs(checks, root)
            before = check_provisioning(checks, root, work / "package")
            check_upgrade(checks, root, work / "higher")
            check_plugin_package(checks, root, work, work / "higher")
            check_removal(checks, root)
            check_return(checks, root, work / "higher", before)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
