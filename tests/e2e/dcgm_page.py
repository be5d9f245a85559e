#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/dcgm_page.py - the page of the service dcgm in Debian's chromium, as wide as a screen and as a telephone, light and dark,
# with its script and without.
"""The service over a simulated machine of eight H100, two of them in MIG mode, one lost, with processes and XIDs. Chromium, which is
installed when it is missing, must show all of it, with nothing that its policy refuses, and no wider than the screen.

--pictures FOLDER  puts the pictures of docs/ there"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from checks import Checks
from chromium import Chromium
from slipway_host import BUILD, must

PORT = 19456
SPEC = f"""apiVersion: slipway.dev/v1
kind: Host
metadata: {{name: page}}
spec:
  components:
    dcgm: {{listen: "127.0.0.1:{PORT}", interval: 2s, node: node-1}}
"""
URL = f"http://127.0.0.1:{PORT}/"
MACHINE = "h100x8,driver=580.159.04,mig=3g.40gb/2g.20gb/1g.10gb"
WITHOUT_MIG = range(6)
HOSTILE = "<img/src=x/onerror=alert(1)>"
LOADS = (92, 87, 0, 64, 0, 0, 35, 12)
SCREENS = {"screen": (1280, 900), "telephone": (390, 844)}


class Service:
    def __init__(self, folder):
        self.folder = folder
        (folder / "host.yaml").write_text(SPEC)
        (folder / "root").mkdir()
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [BUILD / "bin/slipway", "service", "dcgm", "-f", folder / "host.yaml", "--sim",
                 MACHINE, "--root", folder / "root"], stdout=log, stderr=log)

    def sim(self, words):
        must([BUILD / "bin/slipway-sim", self.folder / "root/run/slipway/sim", *words.split(" ")])

    def overview(self):
        try:
            with urllib.request.urlopen(URL + "overview.json", timeout=5) as answer:
                return json.load(answer)
        except OSError:
            return None

    def comes_to(self, holds):
        for _ in range(300):
            now = self.overview()
            if now and holds(now):
                return True
            time.sleep(0.1)
        return False

    def stop(self):
        self.process.terminate()
        self.process.wait()


def make_busy(service):
    for gpu in WITHOUT_MIG:
        service.sim(f"gpu {gpu} mig off")
    for gpu, load in enumerate(LOADS):
        service.sim(f"gpu {gpu} load {load}")
    service.sim("process add 0 20417 61440 compute /usr/bin/python3")
    service.sim("process add 1 20502 40960 compute /usr/bin/python3")
    service.sim("process add 3 31044 9216 compute " + HOSTILE)
    service.sim("gpu 1 xid 63")
    service.sim("gpu 5 lost")


def check_page(checks, browser, screen, dark, script):
    how = f"{screen}, {'dark' if dark else 'light'}, {'with' if script else 'without'} its script"
    browser.look(*SCREENS[screen], dark=dark, script=script)
    browser.messages.clear()
    browser.open(URL)
    text = browser.value("document.body.innerText") or ""
    for shown in ("GPUs of node-1", "8 x NVIDIA H100 80GB HBM3", "driver 580.159.04", "20417", "XID 63", "NVML_ERROR_GPU_IS_LOST", "3g.40gb", "All GPUs"):
        checks.that(shown in text, f"{how}: it says '{shown}'", text)
    width = SCREENS[screen][0]
    wide = browser.value("document.documentElement.scrollWidth")
    checks.that(wide <= width, f"{how}: no wider than {width}", wide)
    checks.that(browser.value("document.querySelectorAll('section.tile').length") == 8, f"{how}: a tile for each GPU")
    checks.that(browser.value("document.querySelectorAll('img').length") == 0, f"{how}: a process's name is no markup")
    refused = [each for each in browser.messages if "favicon" not in each]
    checks.that(not refused, f"{how}: nothing is refused", refused)
    ground = browser.value("getComputedStyle(document.body).backgroundColor")
    checks.that(ground == ("rgb(13, 17, 23)" if dark else "rgb(244, 246, 248)"), f"{how}: in its colours", ground)


def check_refresh(checks, browser, service):
    """The script shows new values, and says when there are none."""
    browser.look(*SCREENS["screen"])
    browser.open(URL)
    service.sim("gpu 2 load 77")
    for _ in range(100):
        if "77 %" in browser.value("document.body.innerText"):
            break
        time.sleep(0.1)
    checks.that("77 %" in browser.value("document.body.innerText"), "the script brings new values")
    checks.that(browser.value("document.getElementById('stale').hidden") is True, "and nothing is old")
    service.stop()
    for _ in range(100):
        if browser.value("document.getElementById('stale').hidden") is False:
            break
        time.sleep(0.1)
    checks.that(browser.value("document.getElementById('stale').hidden") is False, "it says when the service is gone")


def take_pictures(browser, folder):
    browser.look(*SCREENS["screen"])
    browser.open(URL)
    browser.picture(folder / "dcgm-page.png")
    browser.look(*SCREENS["screen"], dark=True)
    browser.open(URL)
    browser.picture(folder / "dcgm-page-dark.png", 900)
    for name, dark in (("dcgm-page-phone", False), ("dcgm-page-phone-dark", True)):
        browser.look(*SCREENS["telephone"], dark=dark)
        browser.open(URL)
        browser.picture(folder / f"{name}.png", 1500)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=pathlib.Path)
    arguments, _ = parser.parse_known_args()
    if not shutil.which("chromium"):
        must(["apt-get", "install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"])
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        service = Service(pathlib.Path(name))
        browser = Chromium()
        try:
            if not checks.that(service.comes_to(lambda now: len(now["gpus"]) == 8), "the service answers", service.log.read_text()):
                return checks.close()
            make_busy(service)
            checks.that(service.comes_to(lambda now: now["gpus"][5]["health"] == "bad" and now["gpus"][1]["xids"]
                                         and now["gpus"][0]["values"]["utilizationPercent"] == LOADS[0]),
                        "it has seen what the GPUs do", service.overview())
            for screen in SCREENS:
                for dark in (False, True):
                    check_page(checks, browser, screen, dark, script=True)
                check_page(checks, browser, screen, dark=False, script=False)
            if arguments.pictures:
                take_pictures(browser, arguments.pictures)
            check_refresh(checks, browser, service)
        finally:
            browser.close()
            service.stop()
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
