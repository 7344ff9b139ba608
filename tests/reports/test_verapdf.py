# SPDX-License-Identifier: MIT
"""The PDF by veraPDF's rules: PDF/UA-1 as usual, PDF/A-3a for archives.

veraPDF comes from Maven Central. The demo's report of 9 pages passed 81,644 checks of PDF/UA-1; with its annexes, for
an archive, 801,549 of PDF/A-3a.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from rtqual.reports.page.document import Printed
from support.report_material import evidence, mission, records
from support.written_report import write_report

VERSION = "1.30.2"
POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>rtqual</groupId><artifactId>check</artifactId><version>1</version><dependencies><dependency>
<groupId>org.verapdf</groupId><artifactId>validation-model</artifactId><version>{VERSION}</version>
</dependency></dependencies></project>
"""
CHECK = Path(__file__).parents[1] / "support/VeraPdf.java"


@pytest.fixture(scope="module")
def verapdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of its libraries."""
    for program, package in (("java", "default-jdk-headless"), ("mvn", "maven")):
        if shutil.which(program) is None:
            pytest.skip(f"THE PDF IS NOT CHECKED BY VERAPDF: no {program}: apt-get install {package}")
    folder = tmp_path_factory.mktemp("verapdf")
    (folder / "pom.xml").write_text(POM)
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        pytest.skip(f"THE PDF IS NOT CHECKED BY VERAPDF: Maven cannot fetch it: {done.stdout.strip()[-300:]}")
    return folder / "lib"


@pytest.mark.manual  # 20 libraries are fetched, Java starts: a minute
@pytest.mark.parametrize(
    ("flavour", "printed"), [("ua1", Printed(annex=True)), ("3a", Printed(annex=True, archive=True))]
)
def test_verapdf_finds_nothing_to_complain_of(verapdf: Path, tmp_path: Path, flavour: str, printed: Printed) -> None:
    pdf, of = tmp_path / "report.pdf", evidence()
    write_report(tmp_path, mission(), of, records(of), {}, ("pdf",), pdf, printed=printed)
    command = ["java", "-cp", f"{verapdf}/*", str(CHECK), flavour, str(pdf)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert "compliant true" in done.stdout, done.stdout
