# SPDX-License-Identifier: MIT
"""`rtqual site`: the site's files; one whose octets would not change is not touched."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from rtqual.base import unlinked
from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.words import clean
from rtqual.parts.site.data import OUTCOMES, Links, changes, files
from rtqual.parts.site.lab import Lab, LabRow, lab, short_hash
from rtqual.stages.digests import campaigns_in

PAGE = Path(__file__).parent / "page"
MARK = "rtqual-site.json"  # says whose the folder is, and which files are ours
_MOST_LISTED = 100  # of a table for readers without scripts


@dataclass(frozen=True)
class WrittenSite:
    """What became of the site's files."""

    page: Path
    campaigns: int
    rows: int
    versions: int
    changes: int
    files: int
    written: int
    removed: int
    octets: int  # of those written
    largest: tuple[str, int]


def site(
    folders: Sequence[Path],
    out: Path,
    *,
    by_kernel: bool = False,
    reports: str = "",
    tell: Callable[[str], None] = lambda _: None,
) -> WrittenSite:
    """Write a site over the campaigns. Raises BadInput for a folder without one, and for an `out` that is no site."""
    if reports and (reports.startswith("//") or not reports.startswith(("https://", "http://", "/", "./", "../"))):
        raise BadInput(f"--reports {reports}: give an address (https://...) or a path (../campaigns)")
    ours = _ours(out)
    found = lab(campaigns_in(folders), by_kernel=by_kernel, tell=tell)
    contents = dict(contents_of(found, Links(out, reports)))
    written = octets = 0
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            if not _same(out, name, content):
                unlinked.write(out, name, content)
                written, octets = written + 1, octets + len(content)
        gone = sorted(ours - contents.keys())
        for name in gone:
            unlinked.remove(out, name)
        kept = json.dumps({"files": sorted(contents)}, indent=0).encode()
        if not _same(out, MARK, kept):
            unlinked.write(out, MARK, kept)
    except OSError as error:
        raise RunFailed(f"{out}: cannot be written ({error.strerror}): choose another folder with --out") from None
    largest = max(((name, len(content)) for name, content in contents.items()), key=lambda pair: pair[1])
    marks = sum(len(course.changes) for row in found.rows for course in row.courses.values())
    return WrittenSite(
        out / "index.html", found.campaigns, len(found.rows), len(found.versions), marks, len(contents), written,
        len(gone), octets, largest,
    )  # fmt: skip


def contents_of(found: Lab, links: Links) -> Iterator[tuple[str, bytes]]:
    """Every file of the site by its name."""
    environment = Environment(
        loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    said = changes(found)
    page = environment.get_template("index.html.j2").render(
        lab=found, verdicts=list(_latest(found))[:_MOST_LISTED], changes=_listed(found, said), most=_MOST_LISTED
    )
    yield "index.html", page.encode()
    for name in ("site.css", "site.js", "draw.js"):
        yield name, (PAGE / name).read_bytes()
    yield "changes.xml", _feed(found, said)
    yield from files(found, links)


def _ours(out: Path) -> set[str]:
    """The files that an earlier site left in the folder. Raises BadInput where it holds others and no site."""
    if not out.exists():
        return set()
    if not out.is_dir():
        raise BadInput(f"--out {out}: is no folder")
    try:
        names = json.loads(unlinked.read(out, MARK))["files"]
        if not all(isinstance(name, str) for name in names):
            raise BadInput(f"{out / MARK}: damaged: delete the folder, and write the site anew")
        return set(names)
    except FileNotFoundError:
        if any(out.iterdir()):
            raise BadInput(
                f"--out {out}: holds files, and no site of rtqual's: give a new or an empty folder"
            ) from None
        return set()
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadInput(f"{out / MARK}: damaged: delete the folder, and write the site anew") from None


def _same(out: Path, name: str, content: bytes) -> bool:
    try:
        return unlinked.read(out, name) == content
    except (FileNotFoundError, NotADirectoryError):
        return False


def _latest(found: Lab) -> Iterator[tuple[LabRow, str, str, str]]:
    """The newest verdict of each board's candidate, those that are not met first."""
    newest: dict[tuple[str, str, str], LabRow] = {}
    for row in found.rows:
        key = row.board, row.name, row.group.candidate
        if key not in newest or newest[key].seen[-1].began < row.seen[-1].began:
            newest[key] = row
    told = [(row, *row.seen[-1].campaign.of(row.group)) for row in newest.values()]
    order = ["not met", "undecided"]
    told.sort(key=lambda each: order.index(each[1]) if each[1] in order else len(order))
    for row, outcome, _, reason in told:
        yield row, outcome if outcome in OUTCOMES else "", row.seen[-1].version, reason


def _listed(found: Lab, said: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """The changes in words: version, where, figure, by how much."""
    versions, lines = list(found.versions), []
    for version, n, figure, before, after, new, _, _ in said["changes"][:_MOST_LISTED]:
        row = found.rows[n]
        by = f"{(after / before - 1) * 100:+.1f} %" if before else f"{before} to {after}"
        what = f"{row.place}, {row.group.candidate}, {row.group.instrument}, load {row.group.load}"
        lines.append((versions[version], what, found.figures[figure], by + (" (new)" if new else "")))
    return lines


def _feed(found: Lab, said: dict[str, Any]) -> bytes:
    """Confirmed changes as an Atom feed. Its entries are dated by when their version was first measured."""
    versions = list(found.versions.items())
    entries, newest = [], "1970-01-01T00:00:00Z"
    for version, n, figure, before, after, new, _, _ in said["changes"][:_MOST_LISTED]:
        label, began = versions[version]
        if new:
            continue
        when = f"{began[:10]}T00:00:00Z" if began else newest
        newest = max(newest, when)
        row = found.rows[n]
        by = f"{(after / before - 1) * 100:+.1f} %" if before else f"{before} to {after}"
        title = f"{row.place}, {row.group.candidate}: {found.figures[figure]} {by} since {label}"
        name = quote(found.figures[figure])
        link = quoteattr(f"index.html#row={row.id}&figure={name}")
        entries.append(
            f"<entry><title>{escape(clean(title))}</title><id>urn:rtqual:{row.id}:{name}:{short_hash(label)}</id>"
            f"<updated>{when}</updated><link href={link}/></entry>"
        )
    head = (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><title>Changes</title>'
        f"<id>urn:rtqual:changes</id><updated>{newest}</updated><author><name>rtqual</name></author>"
    )
    return "\n".join([head, *entries, "</feed>\n"]).encode()
