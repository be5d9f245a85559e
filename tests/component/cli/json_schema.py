# SPDX-License-Identifier: Apache-2.0
# json_schema.py - says which documents a JSON Schema takes, with python3-jsonschema.
#
# Usage: json_schema.py SCHEMA FILE...   files are YAML (and so JSON); .jsonl: each line a document
# Prints "good FILE" or "bad FILE: why" for each. Exit 2: the schema itself is not a schema of draft 2020-12.
import json
import sys

import jsonschema
import yaml


def documents(path):
    with open(path, encoding="utf-8") as file:
        if path.endswith(".jsonl"):
            return [json.loads(line) for line in file]
        return [yaml.safe_load(file)]


def judged(validator, path):
    for document in documents(path):
        error = jsonschema.exceptions.best_match(validator.iter_errors(document))
        if error is not None:
            return f"bad {path}: {'.'.join(map(str, error.absolute_path))}: {error.message[:300]}"
    return f"good {path}"


def main(schema_path, paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.exceptions.SchemaError as error:
        print(f"no schema: {error.message}")
        return 2
    validator = jsonschema.Draft202012Validator(schema)
    for path in paths:
        print(judged(validator, path))
    return 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
