# SPDX-License-Identifier: MIT
"""`rtqual gate` on campaign folders: exit codes, and bad input."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtqual.base.errors import BadInput
from rtqual.engine.campaign import folder as kept
from rtqual.protocols.record.schema import Record
from rtqual.protocols.record.store import Store
from support.analysis_records import wakeups
from support.command import Run
from support.gate_records import finished


def folder(path: Path, records: Sequence[Record]) -> Path:
    from rtqual.protocols.record.schema import Measurement
    from rtqual.protocols.record.store import make

    store = Store(path / "records")
    for one in records:
        manifest = one.manifest
        measurement = Measurement(one.series, manifest.scalars, tuple(manifest.problems))
        store.write(make(manifest.inputs, measurement, manifest.provenance, timing=manifest.timing, repeat=0))
    return path


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A baseline and what is worse by 1 ns on one of two seeds."""
    root = tmp_path_factory.mktemp("gate")
    return (
        folder(root / "base", wakeups("rt", [12_000, 12_010], n=50)),
        folder(root / "worse", wakeups("rt", [12_000, 12_011], n=50)),
    )


def test_exit_codes_and_what_is_printed(rtqual: Run, folders: tuple[Path, Path], tmp_path: Path) -> None:
    base, worse = folders
    assert rtqual("gate", base, base).returncode == 0
    assert rtqual("gate", worse, base).returncode == 0
    done = rtqual("gate", base, worse, "--junit", tmp_path / "new" / "gate.xml")
    assert (done.returncode, done.stderr) == (1, "")
    assert "max" in done.stdout
    assert ElementTree.parse(tmp_path / "new" / "gate.xml").getroot().attrib["failures"] == "2"  # noqa: S314
    done = rtqual("gate", base, worse, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["failed"] is True
    assert rtqual("gate", base, worse, "--github").stdout.startswith("## ❌")
    assert rtqual("gate", base, worse, "--tolerance", "1").returncode == 0


def test_what_is_wrong_is_bad_input(fails: Callable[..., str], folders: tuple[Path, Path], tmp_path: Path) -> None:
    base, worse = folders
    assert "give one" in fails(2, "gate", base, worse, "--github", "--json")
    for tolerance in ("-1", "100", "nan"):
        assert "--tolerance" in fails(2, "gate", base, worse, "--tolerance", tolerance)
    assert str(tmp_path / "nowhere") in fails(2, "gate", base, tmp_path / "nowhere")
    assert "--mission-only" in fails(2, "gate", base, worse, "--mission-only")
    other = folder(tmp_path / "other", wakeups("rt", [12_000], n=50, parameters={"cycles": 50}))
    assert "cycles is not set in" in fails(2, "gate", base, other)
    assert "cannot be written" in fails(3, "gate", base, worse, "--junit", tmp_path)


def test_the_only_campaign_below_out_is_judged_and_several_are_not_guessed_at(
    rtqual: Run, fails: Callable[..., str], campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "no finished campaign below out/" in fails(2, "gate", campaign)
    finished(tmp_path / "out" / "now", campaign)
    done = rtqual("gate", campaign)
    assert done.returncode == 0, done.stderr
    assert "now out/now" in done.stdout
    finished(tmp_path / "out" / "base", campaign)
    assert rtqual("gate", "out/base").returncode == 0  # the other one
    assert "several finished campaigns below out/ (base, now)" in fails(2, "gate", campaign)


def test_a_damaged_record_is_named(fails: Callable[..., str], campaign: Path, tmp_path: Path) -> None:
    copy = finished(tmp_path / "copy", campaign)
    first = next((copy / kept.RECORDS).glob("*-0"))
    (first / "samples.parquet").write_bytes(b"PAR1")
    assert str(first) in fails(2, "gate", campaign, copy)
    shutil.rmtree(first)
    assert str(first) in fails(2, "gate", campaign, copy)


def test_the_examples_of_the_document_work(
    rtqual: Run, campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (Path(__file__).parents[2] / "docs" / "ci.md").read_text()
    commands = re.findall(r"^[^|\n]*?rtqual ((?:report|gate)(?: [\w./-]+)+)", text.partition("## The gate")[2], re.M)
    commands += re.findall(r"^    rtqual (report(?: [\w./-]+)+ --out [\w./-]+)", text, re.M)
    assert len(commands) == 3
    finished(tmp_path / "out" / "mine-demo", campaign)
    shutil.copytree(tmp_path / "out" / "mine-demo", tmp_path / "baseline")
    monkeypatch.chdir(tmp_path)
    for command in commands:
        done = rtqual(*command.split())
        assert done.returncode == 0, (command, done.stderr)
    assert Path("results/junit.xml").exists()


CAMPAIGN_FILE = {
    "schema_version": 1, "mission_sha256": "0", "scale": "demo", "records": ["a-0"],
    "failures": [{"instrument": "x", "load": "y", "board": "z", "cpus": 1, "candidate": "c", "reason": "r"}],
}  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=60),
        st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists).map(
            lambda value: json.dumps(value).encode()
        ),
        st.sampled_from(sorted(CAMPAIGN_FILE)).flatmap(
            lambda key: (st.none() | st.integers() | st.text(max_size=9) | st.lists(st.text(max_size=9))).map(
                lambda value: json.dumps({**CAMPAIGN_FILE, key: value}).encode()
            )
        ),
    )
)
def test_any_other_campaign_file_is_bad_input(tmp_path: Path, content: bytes) -> None:
    (tmp_path / kept.CAMPAIGN).write_bytes(content)
    with pytest.raises(BadInput):
        kept.load(tmp_path)
