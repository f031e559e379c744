"""Checks the table of flags in docs/compatibility.md against the help of both programs: flags.py"""

import json
import os
import re
import subprocess
import sys

from compare import BENCHTOP, HERE, PYTHON, SOURCES


def main():
    listed = json.loads(subprocess.check_output([PYTHON, f"{HERE}/vllm_bench.py", SOURCES, "flags"]))
    vllm = {row["flags"][0] for row in listed}
    others = {flag for row in listed for flag in row["flags"][1:]}  # as --no-self-timed
    ours = set(
        re.findall(r"^\s+(--[a-z0-9-]+)", subprocess.check_output([BENCHTOP, "serve", "--help"], text=True), re.M)
    )
    problems, seen, own = [], set(), set()
    listing = seen
    with open(os.path.join(HERE, "../compatibility.md")) as f:
        for line in f:
            if line.startswith("## Flags of our own"):
                listing = own
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if not line.startswith("| `--") or len(cells) < 2:
                continue
            for flag in re.findall(r"`(--[a-z0-9-]+)`", cells[0]):
                if flag in seen | own:
                    problems.append(f"{flag} is in the table twice")
                listing.add(flag)
                if (cells[1] == "not there") == (flag in ours):
                    problems.append(
                        f"{flag}: the table says {cells[1]!r}, benchtop's help {'has' if flag in ours else 'does not have'} it"
                    )
    problems += [f"{flag} is not in the table" for flag in sorted(vllm - seen)]
    problems += [
        f"{flag} is in the table, vllm does not have it"
        for flag in sorted(seen - vllm - others)
        if not flag.startswith("--sonnet-")
    ]
    problems += [f"{flag} is among our own flags, vllm has it" for flag in sorted(own & vllm)]
    problems += [f"{flag} is in no table" for flag in sorted(ours - vllm - seen - own - {"--help"})]
    print("\n".join(problems) or f"{len(seen)} flags of vllm and {len(own)} of our own, the tables are right")
    sys.exit(1 if problems else 0)


main()
