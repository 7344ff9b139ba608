# SPDX-License-Identifier: MIT
"""The report: what it holds, that hostile text stays text, and that equal inputs give equal bytes."""

import json
import re
import time
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from rtqual.base.errors import RunFailed
from rtqual.engine.analysis.difference.statement import undecided
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.verdict.model import Ground
from rtqual.engine.mission import Paper
from rtqual.reports.material import gather
from rtqual.reports.page.document import Beside, Table, TableCell, raised
from rtqual.reports.page.text import prose
from rtqual.reports.view import build
from support.report_material import HEADLINE, HOSTILE, Page, evidence, mission, records
from support.written_report import write_report


@pytest.mark.guest
def test_writes_the_three_formats_and_the_plots(written: Path) -> None:
    text = (written / "report.md").read_text()
    named = re.findall(r"\]\((plots/[^)]+)\)", text)
    assert len(named) >= 6
    assert {written / name for name in named} == set((written / "plots").iterdir())


def test_every_format_carries_the_headline(written: Path) -> None:
    headline = " ".join(prose(HEADLINE).split())  # nothing is said of the kind of its spaces
    assert headline in Page((written / "report.html").read_text()).text
    assert headline in Page(MarkdownIt().render((written / "report.md").read_text())).text
    assert headline in _pdf_text(written / "report.pdf")


def test_pdf_has_pages_a_title_and_no_date(written: Path) -> None:
    data = (written / "report.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    assert b"/CreationDate" not in data
    assert b"/ModDate" not in data


@pytest.mark.guest
def test_equal_inputs_give_equal_bytes_whatever_it_took_and_the_order(written: Path, tmp_path: Path) -> None:
    found = evidence()
    later = records(found, wall_s=77.7)
    write_report(tmp_path, mission(), found, later[::-1], {})
    names = sorted(path.relative_to(written) for path in written.rglob("*.*"))
    assert names == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*"))
    for name in names:
        assert (written / name).read_bytes() == (tmp_path / name).read_bytes(), name


def test_html_is_well_formed_and_asks_for_nothing(written: Path) -> None:
    html = (written / "report.html").read_text()
    page = Page(html)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert page.addresses
    assert all(address.startswith("#") and address[1:] in page.ids for address in page.addresses)
    assert "@import" not in html
    assert set(re.findall(r"url\(\s*(.)", html)) <= {"#"}
    *own, samples = sorted(re.findall(r"<script([^>]*)>(.*?)</script>", html, re.DOTALL))
    assert page.tags.count("script") == 3
    assert json.loads(samples[1])["places"]
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', html)
    assert policy
    for _, code in own:
        assert b64encode(sha256(code.encode()).digest()).decode() in policy[1]
    assert page.tags.count("h1") == 1


def test_parameters_and_sizes_have_units(written: Path) -> None:
    text = Page((written / "report.html").read_text()).text
    assert "cycles = 3000, interval = 1 ms" in text
    assert "8.192 MiB" in text


def test_candidates_that_were_not_measured_are_named(written: Path) -> None:
    text = Page((written / "report.html").read_text()).text
    assert re.search(
        r"Candidates measured rt.*, stock.*, stock-full.*, here.* Not measured at this scale none Measured 20", text
    )
    assert "It measured 4 of the 4 candidates." in text


def test_who_is_there_for_comparison_is_said_where_candidates_are_listed() -> None:
    """Else a reader of the first page looks for it in the table of those that may fly."""
    found = evidence()
    flight, other = found.verdicts
    for ground, says in ((Ground.REFERENCE, True), (Ground.FLIGHT, False)):
        told = replace(found, verdicts=(flight, replace(other, ground=ground)))
        listed = dict(build(gather(mission(), told, records(told), {})).facts)["Candidates measured"]
        assert ("for comparison" in listed.rpartition("here")[2], listed.count("for comparison")) == (says, says)


def test_one_markdown_report_elsewhere_leaves_the_plots_of_others_there(tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "figure-fit.svg").write_text("mine")
    found = evidence()
    write_report(tmp_path, mission(), found, records(found), {}, ("md",), tmp_path / "report.md")
    assert (tmp_path / "plots" / "figure-fit.svg").read_text() == "mine"


def test_the_first_page_has_every_board_that_decides_and_what_is_kept_in_mind_of_each() -> None:
    found = evidence()
    alpha = replace(found.verdicts[0], board="alpha", ground=Ground.FLIGHT, fly="rt", caveats=("Of alpha.",))
    beta = replace(alpha, board="beta", caveats=("Of beta.",))
    both = replace(found, verdicts=(alpha, beta))
    page = build(gather(mission(), both, records(found), {})).decision
    assert page
    captions = [block.caption for block in page.blocks if isinstance(block, Table)]
    captions += [table.caption for block in page.blocks if isinstance(block, Beside) for table in block.tables]
    assert [caption.partition(":")[0] for caption in captions] == [
        "Requirements, alpha board",
        "Requirements, beta board",
    ]
    assert "Of alpha." in str(page.blocks)
    assert "Of beta." in str(page.blocks)


def test_the_decision_is_said_once_and_what_other_boards_give_beside_it(written: Path) -> None:
    boxes = re.findall(r'<section class="verdict .*?</section>', (written / "report.html").read_text(), re.DOTALL)
    heads = [Page("".join(re.findall(r"<h2.*?</h2>", box, re.DOTALL))).text.strip() for box in boxes]
    told = ["No verdict on the local board: no real-time priority", " ".join(prose(HEADLINE).split())]
    assert heads == [told[0], "Verdict, local board", told[1]]
    assert re.findall(r"> \*\*(.*)\*\*", (written / "report.md").read_text()) == told


def test_what_the_document_says_of_itself_is_cleaned() -> None:
    signed = mission().model_copy(update={"document": Paper(prepared="A\u202e\x1b[31mB", number="7")})
    shown = build(gather(signed, evidence(), records(evidence()), {}))
    assert "\x1b" not in str(shown.signatures)
    assert "\u202e" not in str(shown.signatures)


def test_needs_of_which_the_same_holds_are_one_row(written: Path) -> None:
    text = (written / "report.md").read_text()
    assert re.search(r"\| need usb +\| rt, stock, stock-full +\| ✓ met +\| CONFIG_USB=y", text)
    assert re.search(r"\| need usb +\| +✓ met \| +✓ met \| +✓ met \|", text)


def test_a_mark_that_a_whole_row_has_stands_once() -> None:
    row = [TableCell("max"), TableCell("1", marks="a"), TableCell("-"), TableCell("2", marks="a")]
    assert [cell.marks for cell in raised(row)] == ["a", "", "", ""]
    mixed = [TableCell("max"), TableCell("1", marks="a"), TableCell("2", marks="b")]
    assert raised(mixed) == mixed


@pytest.mark.guest
def test_comparisons_that_cannot_be_decided_are_one_sentence(tmp_path: Path) -> None:
    found = evidence()
    why = "1 and 1 run; an interval needs 10 of each"
    blind = [
        replace(c, difference=replace(c.difference, interval=None, why_no_interval=why), **undecided(why)._asdict())
        for c in found.comparisons
    ]
    bad = replace(found, comparisons=tuple(blind))
    write_report(tmp_path, mission(), bad, records(bad), {})
    text = (tmp_path / "report.md").read_text()
    assert f"- virtual board, 1 CPU: cyclictest: {why}." in text
    assert "Comparison: cyclictest" not in text


def test_states_the_reason_where_there_is_no_interval(written: Path) -> None:
    for text in (Page((written / "report.html").read_text()).text, (written / "report.md").read_text()):
        assert "samples give a maximum no upper end" in text
        assert "the true one is at least this" in text
        assert "bootstrap over runs, unless marked otherwise" in text
        assert "Interval: order statistics." in text


def test_failures_refusals_and_commands_are_in(written: Path) -> None:
    page = Page((written / "report.html").read_text()).text
    assert "stock: sysbench-mutex idle, virtual board, 1 CPU: the guest panicked" in page
    assert "here: cyclictest was given no real-time priority" in page
    assert "qemu-system-x86_64 -append 'console=ttyS0 quiet' -fw_cfg name=opt/seed,string=1" in page
    assert "10 runs, seeds 1 to 10" in page


@pytest.mark.guest
def test_hostile_text_stays_text(tmp_path: Path) -> None:
    found = evidence()
    bad = replace(
        found,
        summaries=tuple(
            replace(s, group=replace(s.group, candidate=HOSTILE) if s.group.candidate == "stock-full" else s.group,
                    problems=(HOSTILE,)) for s in found.summaries
        ),
        verdicts=tuple(replace(v, headline=HOSTILE, caveats=(HOSTILE,)) for v in found.verdicts),
        failures={},
    )  # fmt: skip
    write_report(
        tmp_path,
        mission(title=HOSTILE, purpose=HOSTILE),
        bad,
        records(bad),
        {HOSTILE: HOSTILE + "\n```\n# x"},
    )
    html = (tmp_path / "report.html").read_text()
    page = Page(html)
    assert page.tags.count("script") == 3  # our own, and the samples
    assert page.open == []
    assert all(address.startswith("#") for address in page.addresses)
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "<script>alert('x')</script> | a*b_c `d` [e](javascript:f) $g$ &amp;" in page.text
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render((tmp_path / "report.md").read_text())
    seen = Page(rendered)
    assert "script" not in seen.tags
    assert all(address.startswith("plots/") for address in seen.addresses)
    assert "<script>alert('x')</script> | a*b_c `d` [e](javascript:f) $g$ &amp;" in seen.text


def test_markdown_tables_keep_their_columns(written: Path) -> None:
    text = (written / "report.md").read_text()
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    html = Page((written / "report.html").read_text())
    assert rendered.count("<table>") == html.tags.count("table")
    assert len(re.findall(r"<t[dh][ >]", rendered)) == html.tags.count("td") + html.tags.count("th")


@pytest.mark.guest
def test_markdown_tables_are_aligned_and_long_code_stands_below(tmp_path: Path) -> None:
    found = evidence()
    long = "x" * 200
    made = [
        m.model_copy(update={"provenance": m.provenance.model_copy(update={"kernel_cmdline": long})})
        for m in records(found)
    ]
    write_report(tmp_path, mission(), found, made, {})
    text = (tmp_path / "report.md").read_text()
    rows = re.search(r"\*\*Table 1\.\*\*.*\n\n((?:\|.*\n)+)", text)
    assert rows
    assert len({len(line) for line in rows[1].splitlines()}) == 1
    assert re.search(r"\| kernel command line \| see¹ +\|", text)
    assert f"¹ {long}" in text
    assert not any(long in line for line in text.splitlines() if line.startswith("|"))


def test_a_report_of_nothing_is_still_a_report(tmp_path: Path) -> None:
    write_report(tmp_path, mission(), Evidence((), (), ()), [], {"rt: cyclictest idle": "no network"})
    page = Page((tmp_path / "report.html").read_text()).text
    assert "No verdict" in page
    assert "rt: cyclictest idle: no network" in page
    assert "Fly" not in page


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFailed, match=r"^[^\n]*cannot be written[^\n]*$"):
        write_report(tmp_path / "file", mission(), Evidence((), (), ()), [], {}, ("md",))


@pytest.mark.full
def test_forty_groups_take_seconds_not_minutes(tmp_path: Path) -> None:
    found = evidence(("cyclictest", "hackbench", "sysbench-threads"), ("none", "hackbench", "stress-cpu", "wifi"))
    assert len(found.summaries) >= 38
    begin_s = time.process_time()
    write_report(tmp_path, mission(), found, records(found), {})
    assert time.process_time() - begin_s < 20  # about ten seen on two busy cores


def _pdf_text(path: Path, *options: str) -> str:
    """By way of poppler when it is there, else by the title that WeasyPrint writes into the outline."""
    import shutil
    import subprocess

    if tool := shutil.which("pdftotext"):
        done = subprocess.run([tool, *options, str(path), "-"], capture_output=True, text=True, check=True)
        return " ".join(done.stdout.split())
    pytest.fail("pdftotext is missing: `apt-get install poppler-utils`")


@pytest.mark.guest
def test_on_paper_page_one_is_the_decision_with_its_lines_to_sign(tmp_path: Path) -> None:
    found, one = evidence(), mission()
    others = tuple(one.candidates[0].model_copy(update={"name": f"debian-of-another-kind-{n}"}) for n in range(44))
    many = one.model_copy(update={"candidates": (*one.candidates, *others)})
    write_report(tmp_path, many, found, records(found), {}, formats=["pdf"])
    first = _pdf_text(tmp_path / "report.pdf", "-l", "1")
    assert all(text in first for text in ("Not measured at this scale", "Figure 1.", "Approved"))
