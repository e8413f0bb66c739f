"""Structured results of tools against their output schemas, with Python's jsonschema.

    python3 schemas.py FILE

FILE is what schemas.mjs writes: by tool its schema and results. Exit status 0: all fit.
"""

import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator

for tool, checked in json.loads(Path(sys.argv[1]).read_text()).items():
    Draft202012Validator.check_schema(checked["schema"])
    validator = Draft202012Validator(checked["schema"])
    for result in checked["results"]:
        for fault in validator.iter_errors(result):
            sys.exit(f"{tool}: {fault.json_path}: {fault.message}")
