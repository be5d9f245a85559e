#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/generations_model.py - random sequences of apply, remove, rollback, boot, gc, edit and kill on scratch roots, against
# a model of what should be there: engine_component_test's GenerationsModel, 1,000 of them (--long), 100 without.

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from checks import Checks

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "build/release/tests/engine_component_test"
IN_MEMORY = "/dev/shm"  # each command syncs its files, which takes most of its time on a disk


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--long", action="store_true")
    sequences = 1000 if options.parse_known_args()[0].long else 100
    checks = Checks()
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if os.path.isdir(IN_MEMORY) else None) as folder:
        environment = dict(os.environ, SLIPWAY_TEST_SEQUENCES=str(sequences), TMPDIR=folder)
        done = subprocess.run([PROGRAM, "--gtest_filter=GenerationsModel.*"],
                              env=environment,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT,
                              text=True,
                              check=False)
    checks.that(done.returncode == 0 and "[  PASSED  ] 1 test." in done.stdout,
                f"{sequences} random sequences, and no difference to the model", done.stdout[-4000:])
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
