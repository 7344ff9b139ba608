# SPDX-License-Identifier: MIT
"""Who reads the report alone can tell what was tested, by whom, when, with what, and what its tool is worth."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.campaign import sessions
from rtqual.engine.campaign.guests import GUESTS, Guest, Guests, Software
from rtqual.engine.campaign.lost import Lost
from rtqual.engine.campaign.sessions import SESSIONS
from rtqual.engine.mission import Mission, load_mission
from rtqual.face.terminal.verdict import as_dict, print_verdicts
from rtqual.protocols.record.schema import Record, Timing
from rtqual.reports.chapter import qualification
from rtqual.reports.machine.github import to_github
from rtqual.reports.machine.junit import to_junit
from rtqual.reports.machine.prometheus import to_prometheus
from rtqual.reports.machine.sbom_of_runs import to_sbom
from rtqual.reports.material import gather
from rtqual.reports.page.render import to_html, to_markdown
from rtqual.reports.told import Told
from rtqual.reports.view import build
from rtqual.stages.selection import Selection
from support.analysis_records import WAKE_UP, mission, wakeups
from support.command import mission_text
from support.report_material import HOSTILE, Page
from support.verdict_records import RANGE

DOCS = Path(__file__).parents[2] / "docs"
ORIGIN = {
    "id": "RT-010",
    "parent": "SYS-7",
    "rationale": "a tenth of the period",
    "waiver": "accepted by the board in March",
}
KERNEL = "6.1.0-56-rt-amd64 #1 SMP PREEMPT_RT Debian 6.1.192-2 (2026-11-16)"


def runs(candidate: str, largest_ns: int, **told: object) -> list[Record]:
    made = wakeups(candidate, [largest_ns] * 10, n=50)
    known = {
        "kernel": KERNEL, "kernel_cmdline": "quiet isolcpus=1", "tools": {"cyclictest": "2.40"},
        "started": "2026-11-26T17:09:31+00:00", "facts": {"package": "linux-image-6.1.0-56-rt-amd64 6.1.192-2"}, **told,
    }  # fmt: skip
    found = []
    for one in made:
        inputs = one.inputs.model_copy(update={"artefacts": {"kernel": "ab" * 32, "qemu": "7.2.22"}})
        provenance = one.manifest.provenance.model_copy(update=known)
        changed = one.manifest.model_copy(update={"provenance": provenance, "inputs": inputs})
        found.append(Record(changed, one.series))
    return found


def asked() -> Mission:
    return mission(requirements=[{**WAKE_UP, **ORIGIN}])


def report(records: list[Record], told: Told, annexes: dict[str, object]) -> tuple[str, str]:
    one = asked()
    found = analyse(one, "demo", records, {})
    manifests = [record.manifest for record in records]
    document = build(gather(one, found, manifests, {}, annexes, told))  # type: ignore[arg-type]
    return Page(to_html(document)).text, to_markdown(document)


def test_the_report_says_what_was_tested_when_by_whom_and_what_was_interrupted() -> None:
    records = [*runs("rt", 20_000), *runs("stock", 200_000)]
    called = {"by": "operator7", "system": "Linux 6.1", "processor": "Some CPU", "rtqual": "0.3"}
    known = sessions.Sessions(
        sessions=(
            sessions.CampaignSession(began="2026-11-26T17:09:30+00:00", **called),
            sessions.CampaignSession(began="2026-11-26T18:00:00+00:00", ended="2026-11-26T18:10:00+00:00", **called),
        )
    )
    lost = Lost(
        instrument="cyclictest", seed=4, repeat=0, played=2, reasons=["it hung"], died=1, inputs=records[0].inputs
    )
    told = Told("cd" * 32, {"rt": "ef" * 32}, {"abc-0": lost}, 3)
    for text in report(records, told, {SESSIONS.file: known}):
        for said in (
            "6.1.0-56-rt-amd64", "SMP PREEMPT_RT Debian 6.1.192-2 (2026-11-16)",
            "linux-image-6.1.0-56-rt-amd64 6.1.192-2", "ef" * 32, "ab" * 32, "isolcpus=1", "7.2.22", "2.40",
            "between 2026-11-26 17:09 and 2026-11-26 17:09 UTC", "3 runs more tested whether they repeat", "operator7",
            "interrupted", "2026-11-26 18:10", "it hung", "lost/abc-0.json", records[0].manifest.hash[:12],
            "Campaign, SHA-256: " + "cd" * 32, "same samples",
        ):  # fmt: skip
            assert said in text.replace("\\", ""), said


def test_what_hostile_records_say_of_themselves_is_text() -> None:
    records = [
        *runs(
            "rt", 20_000, kernel=HOSTILE, kernel_cmdline=HOSTILE, tools={HOSTILE: HOSTILE}, facts={"package": HOSTILE}
        ),
        *runs("stock", 200_000),
    ]
    known = sessions.Sessions(
        sessions=(
            sessions.CampaignSession(began=HOSTILE, by=HOSTILE, system=HOSTILE, processor=HOSTILE, rtqual=HOSTILE),
        )
    )
    one = asked()
    found = analyse(one, "demo", records, {})
    manifests = [record.manifest for record in records]
    document = build(gather(one, found, manifests, {}, {SESSIONS.file: known}, Told("cd" * 32, {"rt": HOSTILE})))
    page = to_html(document)
    assert "<script>alert" not in page and "\x1b" not in page and "\u202e" not in page
    assert Page(page).open == []
    listed = json.loads(to_sbom(one, manifests, {}))
    assert "\x1b" not in json.dumps(listed)


def test_where_a_requirement_comes_from_and_what_was_agreed_stands_in_every_form() -> None:
    one = asked()
    records = [*runs("rt", 20_000), *runs("stock", 200_000)]
    found = analyse(one, "demo", records, {})
    headline = found.verdicts[0].headline
    assert "'RT-010 wake-up under load' (200 us; at most 100 us asked, with a waiver)" in headline
    document = build(gather(one, found, [record.manifest for record in records], {}))
    selection = Selection(found, 20, {}, ())
    console = Console(record=True, width=400)
    print_verdicts(console, selection)
    forms = {
        "page": Page(to_html(document)).text,
        "markdown": to_markdown(document).replace("\\", ""),
        "junit": to_junit(one, found),
        "metrics": to_prometheus(one, found),
        "summary": to_github(one, found).replace("\\", ""),
        "terminal": console.export_text(),
        "json": json.dumps(as_dict(selection)),
    }
    for form, text in forms.items():
        for said in ORIGIN.values():
            assert said in text, (form, said)


def test_an_id_stands_before_the_name_once_and_is_nobody_elses(tmp_path: Path) -> None:
    again = Mission.model_validate(asked().model_dump(by_alias=True, exclude_defaults=True))
    assert again.requirements[0].name == "RT-010 wake-up under load"
    path = tmp_path / "mission.toml"
    text = mission_text("debian-rt")
    own = text[text.index("[[requirement]]") : text.index("[parameters")]
    numbered = own.replace("\n", '\nid = "A"\n', 1)
    path.write_text(text.replace(own, numbered + numbered.replace("wake-up", "late")))
    with pytest.raises(BadInput, match="'A' is the id of another requirement already"):
        load_mission(path)
    path.write_text(text.replace(own, own.replace("\n", '\nwaiver = "x"\ndeviation = "y"\n', 1)))
    with pytest.raises(BadInput, match="stands beside deviation"):
        load_mission(path)


def test_what_differs_and_what_a_score_rests_on_stands_in_junit_and_on_the_terminal() -> None:
    criterion = {
        "name": "range",
        "instrument": "cyclictest",
        "load": "hackbench",
        "statistic": "max-min",
        "weight": 1.0,
    }
    other = {**criterion, "name": "other", "instrument": "sysbench-cpu", "load": "none", "weight": 3.0}
    one = mission(requirements=[{**WAKE_UP}], criteria=[RANGE, other])
    found = analyse(one, "demo", [*runs("rt", 20_000), *runs("stock", 30_000, kernel_cmdline="quiet idle=poll")], {})
    cases = {case.get("name"): case for case in ElementTree.fromstring(to_junit(one, found)).iter("testcase")}  # noqa: S314
    skipped = cases["Boot parameters"].find("skipped")
    assert skipped is not None and "idle=poll" in str(skipped.get("message"))
    console = Console(record=True, width=200)
    print_verdicts(console, Selection(found, 20, {}, ()))
    assert "over 25 % of the weight)" in console.export_text()
    assert "Score, over 25 % of the weight" in to_github(one, found).replace("\\", "")


def test_the_list_of_software_names_packages_by_version_and_address() -> None:
    records = [*runs("rt", 20_000), *runs("here", 30_000)]
    known = Guests(
        guests=(
            Guest(
                candidate="rt",
                software=(
                    Software(name="libc6", version="1:2.36-9", architecture="amd64", sha256="ab" * 32),
                    Software(name="/usr/bin/probe", sha256="cd" * 32),
                ),
            ),
        )
    )
    manifests = [record.manifest for record in records]
    listed = json.loads(to_sbom(asked(), manifests, {GUESTS.file: known}))
    packages = {one["name"]: one for one in listed["packages"]}
    assert packages["libc6"]["externalRefs"][0]["referenceLocator"] == "pkg:deb/debian/libc6@1%3A2.36-9?arch=amd64"
    assert packages["/usr/bin/probe"]["checksums"] == [{"algorithm": "SHA256", "checksumValue": "cd" * 32}]
    assert packages["cyclictest"]["versionInfo"] == "2.40", "of what was not prepared, what its records name"
    held = {(one["spdxElementId"], one["relationshipType"]) for one in listed["relationships"]}
    assert held == {
        ("SPDXRef-DOCUMENT", "DESCRIBES"), ("SPDXRef-system-rt", "CONTAINS"), ("SPDXRef-system-here", "CONTAINS")
    }  # fmt: skip
    assert listed["creationInfo"]["created"] == "2026-11-26T17:09:31Z"
    assert to_sbom(asked(), manifests, {GUESTS.file: known}) == to_sbom(asked(), manifests, {GUESTS.file: known})


def test_the_qualification_of_the_tool_is_the_documents() -> None:
    text = (DOCS / "qualification.md").read_text()
    assert qualification.WHO in text
    for row in qualification.VERIFIED:
        assert f"| {' | '.join(row)} |\n" in text
    for fault in qualification.FAULTS:
        assert f"- {fault}\n" in text


def test_calls_are_noted_from_their_start(tmp_path: Path) -> None:
    sessions.begin(tmp_path)
    sessions.begin(tmp_path)
    sessions.end(tmp_path)
    first, second = sessions.sessions_in(tmp_path).sessions
    assert first.ended is None and second.ended is not None
    (tmp_path / SESSIONS.file).write_text("{")
    with pytest.raises(BadInput, match=SESSIONS.file):
        sessions.begin(tmp_path)


def test_page_one_says_by_whom_and_where_it_was_measured(tmp_path: Path) -> None:
    sessions.begin(tmp_path)
    (called,) = sessions.sessions_in(tmp_path).sessions
    asked, found = mission(["rt"], requirements=[WAKE_UP]), runs("rt", 20_000)
    annexes = {SESSIONS.file: sessions.sessions_in(tmp_path)}
    made = gather(asked, analyse(asked, "demo", found, {}), [one.manifest for one in found], {}, annexes)
    facts = dict(build(made).facts)
    assert facts["Measured by"] == called.by
    assert facts["Measured at"] == f"{called.processor}, {called.system}"
    paper = asked.document.model_copy(update={"tested": "N. N.", "place": "Room 5"})
    facts = dict(build(replace(made, mission=asked.model_copy(update={"document": paper}))).facts)
    assert facts["Measured by"] == "N. N."
    assert facts["Measured at"].startswith("Room 5; ")


def test_a_second_run_that_was_another_is_told_with_its_group() -> None:
    records = [
        Record(one.manifest.model_copy(update={"timing": Timing.HOST_TIMED}), one.series) for one in runs("rt", 20_000)
    ]
    for text in report(records, replace(Told(), again=1), {}):
        assert "other samples" in text and "1 run more tested" in text


def test_the_first_facts_name_each_kernels_release_and_the_days_and_no_version_is_called_a_hash() -> None:
    asked = mission(["rt", "stock"], requirements=[WAKE_UP])
    found = [*runs("rt", 20_000), *runs("stock", 20_000, kernel="9" * 5_000, started="2026-11-28T00:00:00+00:00")]
    inputs = [one.inputs.model_copy(update={"artefacts": {"kernel": KERNEL}}) for one in found]
    named = [one.manifest.model_copy(update={"inputs": its}) for one, its in zip(found, inputs, strict=True)]
    facts = dict(build(gather(asked, analyse(asked, "demo", found, {}), named, {})).facts)
    assert facts["Candidates measured"] == f"rt (6.1.0-56-rt-amd64), stock ({'9' * 64})"
    assert facts["Measured"] == "2026-11-26 to 2026-11-28"
    assert (facts["Measured by"], facts["Measured at"]) == ("not told", "not told")
    printed = to_markdown(build(gather(asked, analyse(asked, "demo", found, {}), named, {})))
    assert "Package" in printed and "Kernel image, SHA-256" not in printed
