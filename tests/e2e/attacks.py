#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/attacks.py - attacks on the release build, by each attacker of docs/threat-model.md: the author of an image, an ordinary
# user of the machine, a registry, clients of the metrics port. Where it can be, each is first shown to reach its aim.
"""Usage: attacks.py      (needs root, busybox-static, strace; the packages are those of the demonstration)"""

import contextlib
import http.server
import os
import pathlib
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

from checks import Checks, wait_for
from demo_driver import SLIPWAY, VERSIONS, DemoDriver
from slipway_host import BUILD, KERNEL, must, run
from traced import Stopped, TracedSlipway, tracing

ATTACKER = BUILD / "bin/sandbox-attacker"
NOBODY = 65534
LIMIT = 300  # limit in seconds for a command with a hostile root; a loaded machine may need much of it
# Number of processes that the fork bomb tries to start: far more than the sandbox's limit (sandbox.hpp).
BOMB = max(2000, 2 * (512 + 16 * os.cpu_count()))
CLIENTS = 32
# The image's ldconfig. It notes what it reached; $1 is the handle of a folder beside the root.
LDCONFIG = f"""#!/bin/sh
exec >/etc/reached 2>&1
attack() {{ echo "$1 ${{2##*/}}: $(/opt/attacker "$@")"; }}
echo "handle: $(/opt/attacker handle "$(cat /etc/handle)" /etc)"
attack write /proc/sys/kernel/core_pattern
attack write /proc/sysrq-trigger
attack block-device /etc/disk
attack character-device /etc/memory
attack chroot /etc
n=0
while [ $n -lt {BOMB} ]; do /bin/busybox sleep 3600 & n=$((n + 1)); done 2>/dev/null
set -- /proc/[0-9]*
echo "processes: $#"
"""


class Nobody:
    """Runs commands as an ordinary user."""

    def __call__(self, *words):
        return run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *words])

    def reads(self, path):
        return self("sh", "-c", 'cat "$1" >/dev/null', "sh", path).returncode == 0

    @contextlib.contextmanager
    def holding_a_lock(self, path):
        """Locks any file that may be opened with flock(2)."""
        process = subprocess.Popen(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "flock", "--no-fork", "-x",
                                    path, "sh", "-c", "echo held; exec sleep 600"], stdout=subprocess.PIPE, text=True)
        try:
            yield process.stdout.readline().strip() == "held"
        finally:
            process.kill()
            process.wait()


def apply_within(driver, root, *options, limit=LIMIT):
    """Runs an apply in a session of its own, which is ended completely. Returns (exit status or None on timeout,
    output, seconds)."""
    words = [*driver.words(driver.scenarios["install"][1], root), *options]
    started = time.monotonic()
    with subprocess.Popen(words, env=driver.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=limit)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            output, status = process.communicate()[0], None
    return status, output, time.monotonic() - started


def make_root(driver, name):
    root = driver.work / name
    driver.prepare(root, [])
    root.chmod(0o755)
    return root


# --- the author of an image ---------------------------------------------------------------------------------------------


def make_hostile_root(driver, name, beside):
    """Creates a root whose ldconfig is the attacker's."""
    root = make_root(driver, name)
    for folder in ("bin", "sbin", "opt", "lib64", "proc", "sys", "dev", "tmp", "usr/bin", "etc/ld.so.conf.d"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    shutil.copy("/bin/busybox", root / "bin/busybox")
    for applet in ("sh", "cat"):
        (root / "bin" / applet).symlink_to("busybox")
    shutil.copy(ATTACKER, root / "opt/attacker")
    (root / "etc/handle").write_text(must([ATTACKER, "handle-of", beside]).strip())
    (root / "sbin/ldconfig").write_text(LDCONFIG)
    (root / "sbin/ldconfig").chmod(0o755)
    return root


def reached(root):
    lines = (root / "etc/reached").read_text().splitlines() if (root / "etc/reached").exists() else []
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def image_programs(checks, driver):
    """The image's ldconfig attacks through a file handle, sysctls, device nodes, and as many processes as possible."""
    beside = driver.work / "beside"
    beside.mkdir()
    root = make_hostile_root(driver, "hostile-programs", beside)
    run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
         'mount -t proc proc "$1/proc" && chroot "$1" /sbin/ldconfig', "sh", root], timeout=LIMIT)
    seen = reached(root)
    checks.that(seen.get("handle") == "reached" and (beside / "written").exists(),
                "as root without the sandbox, the image's ldconfig writes beside its root", seen)
    checks.that(seen.get("block-device disk") == seen.get("character-device memory") == "reached", "and makes device nodes", seen)
    checks.that(int(seen.get("processes", 0)) > BOMB * 0.9, f"and has {BOMB} processes at once", seen)
    for left in (beside / "written", root / "etc/reached", root / "etc/disk", root / "etc/memory"):
        left.unlink(missing_ok=True)
    status, output, seconds = apply_within(driver, root)
    seen = reached(root)
    checks.that(len(seen) >= 6, "an apply runs the image's ldconfig", f"{status}\n{output}\n{seen}")
    checks.that(status is not None, f"the apply has an end ({seconds:.0f} s)", output)
    checks.that(not (beside / "written").exists() and seen.get("handle") != "reached",
                "in the sandbox it does not write beside its root", seen)
    for attack in ("write core_pattern", "write sysrq-trigger", "block-device disk", "character-device memory", "chroot etc"):
        checks.that(seen.get(attack) not in (None, "reached"), f"in the sandbox, {attack} is refused", seen)
    nodes = [path for path in (root / "etc").iterdir() if stat.S_ISBLK(path.lstat().st_mode) or stat.S_ISCHR(path.lstat().st_mode)]
    checks.that(not nodes, "no device node is left in the root", nodes)
    checks.that(int(seen.get("processes", 0)) < BOMB * 0.9, f"in the sandbox it does not have {BOMB} processes at once", seen)
    sleeping = run(["pgrep", "-c", "-f", "^/bin/busybox sleep 3600$"]).stdout.strip()
    checks.that(sleeping == "0", "none of its processes outlives the apply", sleeping)


def image_state(checks, driver):
    """Contents that an image may have in place of slipway's state: pipes, an endless journal, records of another
    kind."""
    for name in ("format", "products.json", "failing.json", "components/driver.json", "generations/current", "origin.json",
                 "journal.sqlite"):
        root = make_root(driver, "pipe-" + name.replace("/", "-"))
        file = root / "var/lib/slipway" / name
        file.parent.mkdir(parents=True)
        os.mkfifo(file)
        if name != "format":
            (root / "var/lib/slipway/format").write_text("2 0.1.0\n")
        status, output, seconds = apply_within(driver, root, limit=120)
        checks.that(status is not None, f"a pipe as {name} keeps no apply waiting ({seconds:.0f} s)", output)
        checks.that(run(["flock", "-n", "-x", root, "true"]).returncode == 0, "nor the root locked")
    for name, file, text in (("record", "components/driver.json", '{"component": 5}'), ("generation", "generations/1.json", "[]")):
        root = make_root(driver, "damaged-" + name)
        files = {"format": "2 0.1.0\n", file: text, **({"generations/current": "1\n"} if name == "generation" else {})}
        for each, content in files.items():
            path = root / "var/lib/slipway" / each
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        status, output, _ = apply_within(driver, root)
        checks.that(status == 1 and file in output and "bug in slipway" not in output,
                    f"a {name} that is none of slipway's is named", output)
    root = make_root(driver, "endless-journal")
    folder = root / "var/lib/slipway"
    folder.mkdir(parents=True)
    (folder / "format").write_text("2 0.1.0\n")
    must(["python3", "-c", "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.executescript(sys.argv[2])", folder / "journal.sqlite",
          "CREATE VIEW step AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x AS id, 'driver' AS component, "
          "'{}' AS action, '{}' AS image, 0 AS removal, 0 AS done FROM c"])
    status, output, seconds = apply_within(driver, root, limit=120)
    checks.that(status is not None and "journal" in output, f"a journal without end is refused ({seconds:.0f} s)", output)


def image_links(checks, driver):
    """Uses an absolute link in place of the folder of modules, to one of the building machine."""
    outside = driver.work / "modules-of-this-machine"
    outside.mkdir()
    (outside / "modules.dep").write_text("kernel/a.ko:\n")
    root = make_root(driver, "link-out")
    (root / "usr/lib/modules").mkdir(parents=True)
    (root / "lib").symlink_to("usr/lib")
    (root / "usr/lib/modules" / KERNEL).symlink_to(outside)
    hollow = must(["sh", "-c", 'cp -a "$1" "$2" && ln -sfn "$2" "$3/usr/lib/modules/$4" && depmod -b "$3" "$4" 2>&1; cat "$2/modules.dep"; '
                   'ln -sfn "$1" "$3/usr/lib/modules/$4"', "sh", outside, driver.work / "copy", root, KERNEL])
    checks.that("kernel/a.ko" not in hollow, "depmod -b by itself empties a file of this machine behind an image's link", hollow)
    status, output, _ = apply_within(driver, root)
    checks.that((outside / "modules.dep").read_text() == "kernel/a.ko:\n" and list(outside.iterdir()) == [outside / "modules.dep"],
                "an apply leaves it alone", f"{status}\n{output}")


# --- an ordinary user ---------------------------------------------------------------------------------------------------


def user_lock(checks, driver, nobody):
    root = make_root(driver, "locked-by-a-user")
    with nobody.holding_a_lock(root) as held:
        checks.that(held, "an ordinary user can lock the root folder")
        status, output, _ = apply_within(driver, root)
        checks.that(status == 0, "an apply goes on meanwhile", output)
    ours = [path for path in (root / "var/lib/slipway").rglob("*") if "lock" in path.name] + list((root / "run").glob("slipway/lock*"))
    for path in ours:
        with nobody.holding_a_lock(path) as held:
            checks.that(not held, f"an ordinary user cannot lock {path.relative_to(root)}")


def user_journal(checks, driver, nobody):
    """The journal of a killed apply has the content of files that only root may read."""
    traced = TracedSlipway(driver.work)
    root = make_root(driver, "interrupted")
    words = [str(word) for word in driver.words(driver.scenarios["install"][1], root)][1:]
    calls = ("renameat2", "renameat", "rename", "linkat", "symlinkat", "fchmodat")
    must(traced.core(tracing(calls), [str(word) for word in driver.words(driver.scenarios["install"][1], make_root(driver, "undisturbed"))][1:]),
         env=driver.environment)
    steps = traced.steps(calls)
    stopped = Stopped(traced, words, driver.environment, *steps[len(steps) * 2 // 3])
    files = list((root / "var/lib/slipway").glob("journal.sqlite*"))
    checks.that(stopped.pid is not None and files, "an apply is stopped while its journal is there", files)
    for path in files:
        checks.that(not nobody.reads(path), f"an ordinary user cannot read {path.name}", oct(path.stat().st_mode))
    (driver.work / "open").mkdir()
    for path in files:
        shutil.copy(path, driver.work / "open")
        (driver.work / "open" / path.name).chmod(0o644)
        checks.that(nobody.reads(driver.work / "open" / path.name), f"with mode 0644, {path.name} could be read")
    stopped.kill("both")
    stopped.end()


def user_plugins(checks, driver, nobody):
    """Runs slipway as root with a plugin folder in the environment that other users may write to."""
    folder = driver.work / "plugins-of-a-user"
    folder.mkdir()
    shutil.copy(BUILD / "lib/slipway/plugins/gfd.so", folder / "gfd.so")
    environment = {**driver.environment, "SLIPWAY_PLUGIN_PATH": str(folder)}
    done = run([SLIPWAY, "plugin", "list"], env=environment)
    checks.that(done.returncode == 0 and done.stdout.startswith("gfd "), "a plugin in a folder of root's own is taken by root",
                done.stdout + done.stderr)
    os.chown(folder, NOBODY, NOBODY)
    done = run([SLIPWAY, "plugin", "list"], env=environment)
    checks.that(done.returncode == 1 and f"{folder} belongs to user {NOBODY}" in done.stderr,
                "a plugin in a folder of an ordinary user is not taken by root", done.stdout + done.stderr)


# --- services -------------------------------------------------------------------------------------------------------------


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def service(driver, name, section):
    """Runs a service on a simulated machine; yields (process, root, log)."""
    root = driver.work / f"service-{name}"
    root.mkdir()
    spec = driver.work / f"{name}.yaml"
    spec.write_text("apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: attacks}\nspec:\n  components:\n"
                    f"    {name}: {section}\n")
    log = driver.work / f"{name}.log"
    with open(log, "wb") as out:
        process = subprocess.Popen([SLIPWAY, "service", name, "-f", spec, "--sim", "h100x2,driver=550.90.07", "--root", root],
                                   stdout=out, stderr=out, env=driver.environment)
    try:
        yield process, root, log
    finally:
        process.terminate()
        process.wait(30)


def connects(nobody, path):
    return nobody("python3", "-c", "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])", path).returncode == 0


def ask(port, limit):
    """Returns the first line of the answer to GET /metrics, or the error without one."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=limit) as client:
            client.settimeout(limit)
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return client.recv(4096).split(b"\r\n")[0].decode()
    except OSError as problem:
        return repr(problem)


def listens_everywhere(port):
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path("/proc/net", table).read_text().splitlines()[1:]:
            address, state = line.split()[1], line.split()[3]
            if state == "0A" and int(address.rsplit(":", 1)[1], 16) == port and not address.rsplit(":", 1)[0].strip("0"):
                return True
    return False


@contextlib.contextmanager
def unbounded_listener():
    """Opens a port with the former behaviour of the service's listener: at most CLIENTS connections, which are never
    ended."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=256)

    def answer():
        with contextlib.suppress(OSError):  # it was shut
            while True:
                client, _ = listening.accept()
                with client, contextlib.suppress(OSError):
                    request = b""
                    while b"\r\n\r\n" not in request and (part := client.recv(4096)):
                        request += part
                    client.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")

    threads = [threading.Thread(target=answer) for _ in range(CLIENTS)]
    for each in threads:
        each.start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        for each in threads:
            each.join()
        listening.close()


def slow_clients_without_bounds(checks):
    """The control experiment of services()."""
    with unbounded_listener() as port:
        checks.that(ask(port, 10).endswith("200 OK"), "a listener without bounds answers as long as nobody is slow")
        slow = SlowClients(port, CLIENTS)
        try:
            time.sleep(3)
            answer = ask(port, 10)
            checks.that(not answer.endswith("200 OK"), f"and does not while {CLIENTS} clients are slow (the control)", answer)
        finally:
            slow.close()


class SlowClients:
    """Connections that send a byte each second, and never a whole request."""

    def __init__(self, port, count):
        self.sockets = []
        for _ in range(count):
            with contextlib.suppress(OSError):
                self.sockets.append(socket.create_connection(("127.0.0.1", port), timeout=2, source_address=("127.0.0.2", 0)))
        self._going = True
        self._thread = threading.Thread(target=self._drip)
        self._thread.start()

    def _drip(self):
        while self._going:
            for each in self.sockets:
                with contextlib.suppress(OSError):
                    each.send(b"G")
            time.sleep(1)

    def close(self):
        self._going = False
        self._thread.join()
        for each in self.sockets:
            each.close()


def services(checks, driver, nobody):
    slow_clients_without_bounds(checks)
    port = free_port()
    with service(driver, "validator", f"{{port: {port}, node: attacks, checks: [driver]}}") as (process, root, log):
        up = wait_for(lambda: ask(port, 5).endswith("200 OK"))
        checks.that(up, "the validator answers GET /metrics", log.read_text())
        checks.that(not listens_everywhere(port), "it listens on loopback alone unless told otherwise")
        slow = SlowClients(port, CLIENTS)
        try:
            time.sleep(3)
            answer = ask(port, 10)
            checks.that(answer.endswith("200 OK"), f"and answers while {CLIENTS} clients are slow", answer)
        finally:
            slow.close()
        control = root / "run/slipway/service/validator.sock"
        checks.that(control.exists() and not connects(nobody, control), "an ordinary user cannot connect to its control socket")
        mode = control.stat().st_mode
        control.chmod(0o666)
        checks.that(connects(nobody, control), "which they could if it were open to all")
        control.chmod(stat.S_IMODE(mode))
        checks.that(process.poll() is None, "the service still runs", log.read_text())


# --- a registry -----------------------------------------------------------------------------------------------------------


class Endless(http.server.BaseHTTPRequestHandler):
    """A registry whose manifests, tags and errors never end, as long as they are read."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200 if "/manifests/" in self.path or "tags" in self.path else 404)
        self.send_header("Content-Type", "application/vnd.oci.image.index.v1+json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        chunk = b'{"manifests":[' + b" " * 65000
        with contextlib.suppress(OSError):
            while self.server.going:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                self.server.sent += len(chunk)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


def registry(checks, driver):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    server.going, server.sent, server.daemon_threads = True, 0, True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    spec = driver.work / "endless.yaml"
    spec.write_text(f"""apiVersion: slipway.dev/v1
kind: Host
metadata: {{name: endless}}
spec:
  hardware: assume
  components:
    driver: {{version: "{VERSIONS[0]}", modules: open,
             source: {{repository: "oci://127.0.0.1:{server.server_port}/driver", trust: unsigned}}}}
""")
    root = make_root(driver, "endless-registry")
    words = [SLIPWAY, "apply", "--yes", "--without-slipway", "-f", spec, "--root", root, "--kernel", KERNEL, "--cache",
             driver.work / "cache-endless"]
    started = time.monotonic()
    done = run(words, env=driver.environment, timeout=600)
    server.going = False
    server.shutdown()
    checks.that(done.returncode == 1 and "127.0.0.1" in done.stderr, "an apply from a registry whose answers have no end fails",
                done.stdout + done.stderr)
    checks.that(0 < server.sent < 256 << 20, "after no more than 256 MiB of them", server.sent)
    checks.that(time.monotonic() - started < 300, "within five minutes", time.monotonic() - started)
    checks.that(not (root / "usr").exists() and not (root / "var/lib/slipway/components").exists(), "and leaves nothing in the root",
                [str(path) for path in root.rglob("*")][:20])


def main():
    checks = Checks()
    nobody = Nobody()
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-attacks-", dir=os.environ.get("TMPDIR", "/var/tmp")))
    work.chmod(0o755)
    try:
        driver = DemoDriver(work)
        image_programs(checks, driver)
        image_state(checks, driver)
        image_links(checks, driver)
        user_lock(checks, driver, nobody)
        user_journal(checks, driver, nobody)
        user_plugins(checks, driver, nobody)
        services(checks, driver, nobody)
        registry(checks, driver)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
