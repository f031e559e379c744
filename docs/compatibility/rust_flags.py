"""Prints the options of the Rust client in vLLM's package, as JSON in the form of vllm_bench.py's flags.

    rust_flags.py VLLM_RS

VLLM_RS is the binary vllm/vllm-rs of the package. Names, defaults and choices come from its help. The type of a value is that of the
error which the text "x" gets: the help has no types.
"""

import json
import re
import subprocess
import sys
import tempfile

OPTION = re.compile(r"^ +(?:-\w, )?(--[a-z0-9-]+)((?: <\w+>)*)(\.\.\.)?$")
NOTE = re.compile(r" \[(default|possible values|aliases): ([^\]]*(?:\"[^\"]*\"[^\]]*)*)\]")
ERRORS = {"invalid digit found in string": "int", "invalid float literal": "float"}


def main():
    program = sys.argv[1]
    text = subprocess.run([program, "bench", "serve", "--help"], capture_output=True, text=True, check=True).stdout
    options, lines = [], text.splitlines()
    for i, line in enumerate(lines):
        found = OPTION.match(line)
        if found and found[1] != "--help":
            options.append(option(program, *found.groups(), lines[i + 1]))
    print("[\n" + ",\n".join(map(json.dumps, options)) + "\n]")


def option(program, name, values, several, text):
    notes = dict(NOTE.findall(text))
    default = notes.get("default", "None" if values else "False")
    if default.startswith('"'):
        default = json.loads(default)
    count = values.count("<")
    choices = notes.get("possible values")
    return {
        "flags": [name, *notes.get("aliases", "").split(", ")] if "aliases" in notes else [name],
        "type": type_of(program, name) if count else "switch",
        "nargs": "+" if several else (None if count == 1 else count),
        "default": default,
        "choices": sorted(choices.split(", ")) if choices else None,
    }


def type_of(program, name):
    with tempfile.TemporaryDirectory() as folder:
        # Port 9 has no server, so that a value which is accepted leads no further.
        command = [program, "bench", "serve", name, "x", "--port" if name != "--port" else "--seed", "9", "--dry-run"]
        said = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=30).stderr
    return next((kind for error, kind in ERRORS.items() if f"for '{name} " in said and error in said), "str")


main()
