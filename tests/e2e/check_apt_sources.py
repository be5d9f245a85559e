#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/check_apt_sources.py - checks that apt_sources.py reads every form in which a machine can name its mirror.

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).with_name("apt_sources.py")


class AptSources(unittest.TestCase):
    def sources(self, files):
        with tempfile.TemporaryDirectory() as etc:
            for name, text in files.items():
                path = pathlib.Path(etc, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text.replace("ETC", etc), encoding="utf-8")
            done = subprocess.run([sys.executable, TOOL, etc], check=True, capture_output=True, text=True)
        return done.stdout.splitlines()

    def test_reads_a_one_line_source_with_options_and_drops_the_last_slash(self):
        text = "deb [arch=amd64 signed-by=/k] http://m.example/debian/ bookworm main\n# deb http://no.example x y\n"
        self.assertEqual(self.sources({"sources.list": text}), ["http://m.example/debian bookworm"])

    def test_gives_every_pair_of_a_deb822_paragraph(self):
        text = "Types: deb deb-src\nURIs: http://a.example\n http://b.example\nSuites: x y\n"
        self.assertEqual(self.sources({"sources.list.d/a.sources": text}),
                         ["http://a.example x", "http://a.example y", "http://b.example x", "http://b.example y"])

    def test_passes_over_disabled_and_source_only_paragraphs(self):
        text = ("Types: deb\nURIs: http://a.example\nSuites: x\nEnabled: no\n\n"
                "Types: deb-src\nURIs: http://b.example\nSuites: x\n")
        self.assertEqual(self.sources({"sources.list.d/a.sources": text}), [])

    def test_follows_a_mirror_list_to_its_first_mirror(self):
        files = {"m.list": "# comment\nhttp://c.example/s\nhttp://d.example/s\n",
                 "sources.list.d/a.sources": "Types: deb\nURIs: mirror+file:ETC/m.list\nSuites: x\n"}
        self.assertEqual(self.sources(files), ["http://c.example/s x"])


if __name__ == "__main__":
    unittest.main()
