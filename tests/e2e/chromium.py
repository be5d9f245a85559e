# SPDX-License-Identifier: Apache-2.0
# tests/e2e/chromium.py - controls Debian's chromium without a window, by its DevTools protocol over a pipe.

import base64
import json
import os
import select
import subprocess
import tempfile
import time


class Chromium:
    """One page. `messages` has its errors, including those of its Content-Security-Policy."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        # The program uses the descriptors 3 and 4 for the pipe.
        self._process = subprocess.Popen(
            ["sh", "-c", f'exec chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars '
             f'--remote-debugging-pipe --no-first-run --user-data-dir="$1" about:blank 3<&{to_read} 4>&{to_write}', "sh",
             self._folder.name],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._rest = b""
        self._number = 0
        self._session = None
        self.messages = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **parameters):
        """Sends a command and waits for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            got = self._next(30)
            if got.get("id") == self._number:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']}")
                return got["result"]

    def _next(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self._rest:
            if not select.select([self._read], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("chromium does not answer")
            piece = os.read(self._read, 1 << 16)
            if not piece:
                raise RuntimeError("chromium has ended")
            self._rest += piece
        message, self._rest = self._rest.split(b"\0", 1)
        got = json.loads(message)
        if got.get("method") == "Log.entryAdded" and got["params"]["entry"]["level"] == "error":
            self.messages.append(got["params"]["entry"]["text"])
        if got.get("method") == "Runtime.exceptionThrown":
            self.messages.append(json.dumps(got["params"]["exceptionDetails"]))
        return got

    def look(self, width, height, dark=False, script=True):
        """Sets the display for the next pages."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                 mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.ask("Emulation.setScriptExecutionDisabled", value=not script)

    def open(self, url):
        self.ask("Page.navigate", url=url)
        while self._next(30).get("method") != "Page.loadEventFired":
            pass

    def value(self, expression):
        """Evaluates an expression in the page, which works even if the page's own script is blocked."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return answer["result"].get("value")

    def picture(self, path, height=None):
        """Takes a PNG of the first pixels, that many; of the whole page by default."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": height or size["height"], "scale": 1}
        shot = self.ask("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        self._session = None
        try:
            self.ask("Browser.close")
            self._process.wait(10)
        except (OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()
