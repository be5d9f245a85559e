# SPDX-License-Identifier: Apache-2.0
# tests/e2e/kube_test.py - the setup and cleanup that each test on a Kubernetes node shares.
"""    class MyTest:
        def __init__(self, checks, work, long): ...   # has `machine`, a context, and `node`
        def start(self): ...                          # what is there before the machine boots
        def run(self): ...                            # the test, while the machine runs
        def close(self): ...

    sys.exit(main_of(MyTest))
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from checks import Checks


def main_of(test_class, newer=False):
    """Runs such a test in a mount namespace and a folder of its own, which `--keep` leaves. @return its exit status

    @param newer  it needs the kubelet that SLIPWAY_E2E_KUBERNETES names"""
    if newer and not os.environ.get("SLIPWAY_E2E_KUBERNETES"):
        print("left out: SLIPWAY_E2E_KUBERNETES is missing: a folder with Kubernetes 1.36")
        return 0
    if "--no-boot" in sys.argv:
        print("left out: it boots a machine")
        return 0
    if "--inside" not in sys.argv:
        os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, sys.argv[0], "--inside",
                              *sys.argv[1:]])
    checks = Checks()
    work = pathlib.Path(tempfile.mkdtemp(prefix="sw-e2e.", dir="/var/tmp"))
    test = test_class(checks, work, "--long" in sys.argv)
    try:
        test.start()
        with test.machine:  # kubelet's folder must exist to be bound
            test.run()
        return checks.close()
    finally:
        test.close()
        if "--keep" not in sys.argv:
            subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)
