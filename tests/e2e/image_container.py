#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/image_container.py - an image built inside a container, as by RUN in a Dockerfile: by root and rootless, without the
# right to mount; by buildah.
"""A real root of Debian bookworm with slipway and the demonstration driver in it. Each RUN is a container of buildah (isolation
chroot: it starts in containers too). Rootless is a user namespace with 65536 users, none of which is the machine's root. Needs root
and buildah."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from checks import Checks, differences, picture
from slipway_host import BUILD, EPOCH, KERNEL, TREE, install_into, must, run, script

FIRST = 100000  # first user id of the rootless users
DOCKERFILE = """FROM scratch
ADD root.tar /
COPY host.yaml /etc/slipway/host.yaml
COPY package /srv/package
RUN SOURCE_DATE_EPOCH={epoch} slipway apply --yes --image
RUN slipway verify --image && rm -r /srv/package
"""
SPEC = """apiVersion: slipway.dev/v1
kind: Host
metadata: {{name: image}}
spec:
  components:
    driver: {{version: "535.261.03", modules: open, source: {{repository: "{package}", trust: unsigned}}}}
    cdi: {{}}
    deviceplugin: {{}}
    gfd: {{}}
{more}"""


class Users:
    """A user namespace of 65536 users, like a rootless container's; processes in it run as its root."""

    def __enter__(self):
        self.process = subprocess.Popen(["unshare", "--user", "sleep", "infinity"])
        space = f"/proc/{self.process.pid}/ns/user"
        while os.readlink(space) == os.readlink("/proc/self/ns/user"):
            if self.process.poll() is not None:
                raise RuntimeError("unshare --user ended by itself: are user namespaces allowed here?")
            time.sleep(0.01)
        for name in ("uid_map", "gid_map"):
            pathlib.Path(f"/proc/{self.process.pid}/{name}").write_text(f"0 {FIRST} 65536\n")
        return ["nsenter", "--user", "--target", str(self.process.pid), "--setuid", "0", "--setgid", "0"]

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Buildah:
    """buildah with its own storage; `before` is the command prefix that starts it."""

    def __init__(self, work, before=()):
        self.work = work
        self.words = [*before, "env", f"HOME={work}", f"XDG_RUNTIME_DIR={work}", "BUILDAH_ISOLATION=chroot", "buildah", "--root",
                      work / "storage", "--runroot", work / "run", "--storage-driver", "vfs"]

    def must(self, *words):
        return must([*self.words, *words]).strip()

    def run(self, container, *words):
        """Runs RUN of a Dockerfile."""
        done = run([*self.words, "run", container, "--", "env", f"SOURCE_DATE_EPOCH={EPOCH}", *words])
        return done.returncode, done.stdout + done.stderr

    def container(self, context):
        """Creates a container from the root, with the files that a build copies in."""
        name = self.must("from", "scratch")
        self.must("add", "--quiet", name, context / "root.tar", "/")
        self.must("copy", "--quiet", name, context / "host.yaml", "/etc/slipway/host.yaml")
        self.must("copy", "--quiet", name, context / "package", "/srv/package")
        return name, pathlib.Path(self.must("mount", name))


def make_context(work):
    """Creates the build context."""
    context = work / "context"
    context.mkdir()
    script("make-root.sh", "--with-libraries", str(work / "root"))
    install_into(work / "root")
    subprocess.run([TREE / "examples/demo/make-package", "--slipway", BUILD / "bin/slipway", "--kernel", KERNEL,
                    "--checksums-of", work / "root", context / "package"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    must(["tar", "--create", "--numeric-owner", "--file", context / "root.tar", "--directory", work / "root", "."])
    (context / "host.yaml").write_text(SPEC.format(package="/srv/package", more=""))
    (context / "Dockerfile").write_text(DOCKERFILE.format(epoch=EPOCH))
    must(["chmod", "-R", "a+rX", work])
    return context


def strip(seen):
    """Removes the times from a picture: tools wrote some files again."""
    return {path: entry[:5] for path, entry in seen.items()}


def check_run(checks, who, buildah, context):
    """Checks the output of RUN, and the files that it leaves."""
    container, top = buildah.container(context)
    buildah.run(container, "true")  # buildah's own files exist after the first RUN
    before = picture(top, folder_times=False)
    status, said = buildah.run(container, "slipway", "apply", "--yes")
    checks.that(status == 64 and "--image" in said and "--live" in said and "modules may not be loaded" in said,
                f"{who}: apply asks whether it is an image or a machine", f"{status}\n{said}")
    status, said = buildah.run(container, "slipway", "plan", "--image")
    checks.that(status == 2 and "libcuda.so.1" in said, f"{who}: plan --image shows what would change", f"{status}\n{said}")
    after = picture(top, folder_times=False)
    checks.that(after == before, f"{who}: neither changes anything", differences(before, after))
    status, said = buildah.run(container, "slipway", "apply", "--yes", "--image")
    listed = (top / f"usr/lib/modules/{KERNEL}/modules.dep").read_text()
    checks.that(status == 0 and "driver: changed" in said and "nvidia.ko" in listed, f"{who}: apply --image installs the driver",
                f"{status}\n{said}")
    for command in ("verify", "doctor"):
        status, said = buildah.run(container, "slipway", command, "--image")
        checks.that(status == 0 and "fail" not in said, f"{who}: {command} --image is clean", f"{status}\n{said}")
    left = [path for path in ("run/slipway", "var/cache/slipway") if (top / path).exists()]
    left += [str(path) for path in (top / "tmp").iterdir()]
    checks.that(not left, f"{who}: no cache or lock is left in the image", left)
    log = (top / "var/log/slipway/history.jsonl").read_text()
    checks.that('"command":"apply"' in log and not any(f'"{name}"' in log for name in ("user", "pid", "boot_id")),
                f"{who}: the image's log has the apply, and nothing of who built it", log)
    status, said = buildah.run(container, "slipway", "apply", "--yes", "--image")
    checks.that(status == 0 and "Nothing to do" in said, f"{who}: a second RUN has nothing to do", f"{status}\n{said}")
    (top / "srv/runtime.yaml").write_text(SPEC.format(package="/srv/package", more="    runtime: {}\n"))
    status, said = buildah.run(container, "slipway", "apply", "--yes", "--image", "-f", "/srv/runtime.yaml")
    checks.that(status == 1 and "no container engine is installed" in said,
                f"{who}: a component that cannot be installed is an error", f"{status}\n{said}")
    status, said = buildah.run(container, "slipway", "remove", "--yes", "--all", "--image")
    (top / "srv/runtime.yaml").unlink()
    # depmod and ldconfig wrote their files again.
    changed = differences(strip(before), strip(picture(top)))
    checks.that(status == 0 and not changed, f"{who}: remove --image leaves the image as it was", f"{status}\n{said}\n{changed}")


def check_dockerfile(checks, buildah, context):
    done = run([*buildah.words, "bud", "--tag", "node", context])
    said = done.stdout + done.stderr
    checks.that(done.returncode == 0 and "driver: changed" in said and "Verified." in said,
                "a Dockerfile with `RUN slipway apply --image` builds an image", said)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="slipway-e2e.") as name:
        work = pathlib.Path(name)
        context = make_context(work)
        (work / "of-root").mkdir()
        check_run(checks, "root", Buildah(work / "of-root"), context)
        with Users() as inside:
            (work / "rootless").mkdir()
            os.chown(work / "rootless", FIRST, FIRST)
            buildah = Buildah(work / "rootless", inside)
            check_run(checks, "rootless", buildah, context)
            check_dockerfile(checks, buildah, context)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
