# SPDX-License-Identifier: Apache-2.0
# tests/e2e/kubelet_log.py - the times of kubelet's actions, from its log (at --v=2, Kubernetes 1.31 or newer).

import datetime
import re


class KubeletLog:
    """Times of kubelet's own messages, from an offset in its log."""

    STARTED = "Starting device plugin registration server"
    REGISTERED = "Got registration request from device plugin|Registering plugin at endpoint"  # the second one is
                                                                                               # logged by kubelet's
                                                                                               # watcher
    PODS = '"SyncLoop ADD" source="api"'
    DENIED = '"Pod admission denied"'

    def __init__(self, node):
        self.node, self.begin = node, len(node.log("kubelet"))

    def lines(self, pattern):
        return [line for line in self.node.log("kubelet")[self.begin:].splitlines() if re.search(pattern, line)]

    def seconds(self, pattern, after=0.0):
        """Returns the time of the first message after that time, else None."""
        times = [self._time(line) for line in self.lines(pattern)]
        return next((each for each in times if each >= after), None)

    @staticmethod
    def _time(line):
        """Reads "I1127 14:56:31.301234 …", possibly after a vendor logger's prefix, as seconds of the year."""
        stamp = re.search(r"[IWE](\d{4} \d\d:\d\d:\d\d\.\d{6}) ", line)[1]
        return datetime.datetime.strptime(f"2000 {stamp}", "%Y %m%d %H:%M:%S.%f").timestamp()

    def denied(self):
        """Returns the pods that kubelet has rejected, and why; their status at the API server follows seconds later."""
        return dict(re.findall(r'pod="[^"/]*/([^"]+)" reason="[^"]*" message="([^"]*)"', "\n".join(self.lines(self.DENIED))))

    def registration(self):
        """Returns the milliseconds from kubelet's registration server to the plugin's registration and to kubelet's
        first look at pods."""
        started = self.seconds(self.STARTED)
        if started is None:
            return None, None
        times = [self.seconds(text, started) for text in (self.REGISTERED, self.PODS)]
        return [None if each is None else round(1000 * (each - started)) for each in times]
