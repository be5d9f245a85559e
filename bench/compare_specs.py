#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# bench/compare_specs.py A B - prints the differences of two CDI specs (YAML or JSON), field by field; exits 1 if there
# are any.
"""Elements of lists are matched by key: nodes by path, mounts by container path, devices by name, hooks by
their words, links of create-symlinks hooks one by one, so that order and grouping do not count as differences."""

import json
import pathlib
import sys


def read(path):
    text = pathlib.Path(path).read_text()
    if text.lstrip().startswith("{"):
        return json.loads(text)
    import yaml  # Debian: python3-yaml
    return yaml.safe_load(text)


def facts_of_edits(edits, where):
    """Returns one line for each edit."""
    for variable in edits.get("env", []):
        yield f"{where} env {variable}"
    for kind, key in (("deviceNodes", "path"), ("mounts", "containerPath")):
        for element in edits.get(kind, []):
            rest = {name: value for name, value in element.items() if name != key}
            yield f"{where} {kind} {element[key]} {json.dumps(rest, sort_keys=True)}"
    for hook in edits.get("hooks", []):
        yield from facts_of_hook(hook, where)
    for gid in edits.get("additionalGids", []):
        yield f"{where} additionalGids {gid}"
    for other in sorted(edits.keys() - {"env", "deviceNodes", "mounts", "hooks", "additionalGids"}):
        yield f"{where} {other} {json.dumps(edits[other], sort_keys=True)}"


def facts_of_hook(hook, where):
    words = hook.get("args", [])[1:]
    start = f"{where} hook {hook['hookName']} {hook['path']} env={hook.get('env', [])}"
    if not words:
        yield start
        return
    # An option and its value count as one, in any hook of that name.
    options = []
    for word in words[1:]:
        if word.startswith("--"):
            options.append([word])
        elif options:
            options[-1].append(word)
    if not options:
        yield f"{start} {words[0]}"
    for option in options:
        yield f"{start} {words[0]} {' '.join(option)}"


def facts_of(spec):
    yield f"cdiVersion {spec.get('cdiVersion')}"
    yield f"kind {spec.get('kind')}"
    yield from facts_of_edits(spec.get("containerEdits", {}), "all devices:")
    for device in spec.get("devices", []):
        yield f"device {device['name']}"
        yield from facts_of_edits(device.get("containerEdits", {}), f"device {device['name']}:")


def differences(first, second):
    """(only in the first, only in the second, in both)"""
    mine, theirs = set(facts_of(read(first))), set(facts_of(read(second)))
    return sorted(mine - theirs), sorted(theirs - mine), len(mine & theirs)


def report(first, second):
    only_first, only_second, both = differences(first, second)
    lines = [f"  {both} fields are the same"]
    lines += [f"  only in {pathlib.Path(first).name}:  {line}" for line in only_first]
    lines += [f"  only in {pathlib.Path(second).name}: {line}" for line in only_second]
    return "\n".join(lines)


if __name__ == "__main__":
    print(report(sys.argv[1], sys.argv[2]))
    sys.exit(1 if any(differences(sys.argv[1], sys.argv[2])[:2]) else 0)
