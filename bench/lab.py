# SPDX-License-Identifier: MIT
"""What a lab's site costs: 500 boards x 100 versions, from made-up digests (tests/support/made_lab.py).

`rtqual site` writes all, writes again with nothing new, and with a campaign of one board more; then a query over all
figures. Each runs in a process of its own: CPU seconds, and the largest resident set (getrusage). asv publish took 25 s
of CPU for one figure of as many (500 machines), wrote 1,019 files, and writes all of them each time.

    PYTHONPATH=tests .venv/bin/python bench/lab.py [BOARDS VERSIONS]
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

QUERY = "SELECT figure, count(*) FROM figures GROUP BY ALL"
RTQUAL = str(Path(sys.executable).with_name("rtqual"))
MAKE = """
import sys
from pathlib import Path
from support.made_lab import campaign, lab
folder, boards, versions = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
lab(folder / "campaigns", boards, versions)
campaign(folder / "one/v-new", [("board-007", 41_000.0)], versions)
"""


@dataclass(frozen=True)
class Cost:
    cpu_s: float
    peak_mib: float
    said: str


def cost(*command: str) -> Cost:
    with tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(child.pid, 0)
        assert status == 0, f"failed: {command}"
        output.seek(0)
        return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output.read())


def main() -> None:
    boards, versions = sys.argv[1:3] or ("500", "100")
    with tempfile.TemporaryDirectory() as place:
        subprocess.run((sys.executable, "-c", MAKE, place, boards, versions), check=True)
        campaigns, one, public = f"{place}/campaigns", f"{place}/one", f"{place}/public"
        runs = {
            "site, all": (RTQUAL, "site", campaigns, "--out", public, "--json"),
            "site, nothing new": (RTQUAL, "site", campaigns, "--out", public, "--json"),
            "site, a board's campaign more": (RTQUAL, "site", campaigns, one, "--out", public, "--json"),
            "query over all figures": (RTQUAL, "query", QUERY, campaigns, "--json"),
        }  # fmt: skip
        print("| | CPU s | peak MiB | files | written | MB written | largest file |\n|---|--:|--:|--:|--:|--:|--:|")
        for title, command in runs.items():
            found = cost(*command)
            said = json.loads(found.said)
            files = " | | | "
            if "files" in said:
                size = f"{said['octets'] / 1e6:.1f} | {said['largest'][1] / 1e3:.0f} kB"
                files = f"{said['files']:,} | {said['written']:,} | {size}"
            print(f"| {title} | {found.cpu_s:.1f} | {found.peak_mib:.0f} | {files} |", flush=True)


if __name__ == "__main__":
    main()
