#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/apt_sources.py - prints "URI SUITE" for every enabled binary source that this machine's apt knows.
#
# Reads both styles: one-line (*.list) and deb822 (*.sources). The test environment takes its Debian mirror from here,
# so that no host name stands in the repository.
#
# Usage: apt_sources.py [ETC_APT]      (default /etc/apt)

import pathlib
import re
import sys


def one_line_entries(text):
    """Yields (uri, suite) of each `deb [options] URI SUITE COMPONENT...` line."""
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[[^\]]*\]\s*)?(\S+)\s+(\S+)", line)
        if match:
            yield match.group(1), match.group(2)


def deb822_fields(paragraph):
    """Returns a paragraph's fields, names in lower case; a line that starts with a space continues the one before."""
    fields, name = {}, None
    for line in paragraph.splitlines():
        if line.startswith("#"):
            continue
        if line[:1].isspace() and name:
            fields[name] += " " + line.strip()
        elif ":" in line:
            name, value = line.split(":", 1)
            name = name.strip().lower()
            fields[name] = value.strip()
    return fields


def deb822_entries(text):
    """Yields (uri, suite) for every combination that each enabled `Types: deb` paragraph lists."""
    for paragraph in re.split(r"\n\s*\n", text):
        fields = deb822_fields(paragraph)
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() in ("no", "false"):
            continue
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield uri, suite


def resolved(uri):
    """Follows `mirror+file:PATH` (cloud images use it) to the first mirror that the file lists."""
    match = re.match(r"mirror\+file:(?://)?(/.*)", uri)
    if not match:
        return uri
    words = re.findall(r"^\s*(?!#)(\S+)", pathlib.Path(match.group(1)).read_text(encoding="utf-8"), re.MULTILINE)
    return words[0] if words else uri


def main():
    etc = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/etc/apt")
    lists = [etc / "sources.list", *sorted(etc.glob("sources.list.d/*.list"))]
    entries = [e for path in lists if path.is_file() for e in one_line_entries(path.read_text(encoding="utf-8"))]
    for path in sorted(etc.glob("sources.list.d/*.sources")):
        entries += deb822_entries(path.read_text(encoding="utf-8"))
    for uri, suite in entries:
        print(resolved(uri).rstrip("/"), suite)


if __name__ == "__main__":
    main()
