# SPDX-License-Identifier: MIT
"""What rtqual reads of others, each with how a mutated input of it is made and read.

A row is made once, with an empty folder, and then called once for each input. It returns whether the input was taken.
What may not be taken is refused by BadInput or, where it comes from a guest, by RunFailed; anything else is a fault.
"""

import io
import json
import random
import shutil
import tarfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from rich.console import Console

from rtqual.base.cache import sha256_of
from rtqual.base.errors import BadInput, RtqualError, RunFailed
from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.folder import Result
from rtqual.engine.campaign.foresee import foresee
from rtqual.engine.kernel.lint.judged_system import from_config, read_config
from rtqual.engine.kernel.lint.lint_rules import lint
from rtqual.engine.mission import load_mission
from rtqual.face.terminal.record import show_record
from rtqual.parts.tailor.configure.tree import open_tree
from rtqual.protocols.board import Command, Job, jobscript
from rtqual.protocols.record.schema import Measurement, Record, Scalar, Timing, digest
from rtqual.protocols.record.store import MANIFEST, Store, make, read, read_manifest
from rtqual.reports.machine.bencher import to_bencher
from rtqual.reports.machine.github import to_github
from rtqual.reports.machine.junit import to_junit
from rtqual.reports.machine.prometheus import to_prometheus
from rtqual.stages.selection import evidence_of
from rtqual_docking.approach import APPROACH, HEIGHT, WIDTH, Approach, Sight
from support.analysis_records import wakeups
from support.command import mission_text
from support.instrument_outputs import CAPTURED, captured_text, read_text
from support.kernel_trees import write_tree
from support.lint_findings import TEXT
from support.mission_texts import GOOD
from support.mutated import mutated, mutated_value
from support.store_records import record, vouch

ROOT = Path(__file__).parents[2]
Try = Callable[[random.Random], bool]
LOADS = (Command(("hackbench",)),)
FLOWN = Approach(sights=(Sight(distance_m=1.0, status="not found"),), pictured=0, picture=(7,) * (WIDTH * HEIGHT))


def taken(read_it: Callable[[], object], *, of_guest: bool = False) -> bool:
    try:
        read_it()
    except RtqualError as error:
        assert isinstance(error, RunFailed if of_guest else BadInput), f"{type(error).__name__}: {error}"
        assert len(str(error).splitlines()) == 1, repr(str(error))
        assert len(str(error)) < 3000, repr(str(error))
        return False
    return True


@cache
def _mission_seeds() -> tuple[bytes, ...]:
    folders = (ROOT / "missions", ROOT / "docking/missions", ROOT / "tests/data/missions")
    paths = [path for folder in folders for path in sorted(folder.glob("*.toml")) if path.name != "docking.toml"]
    return (GOOD.encode(), GOOD.encode(), *(path.read_bytes() for path in paths))


def missions(folder: Path) -> Try:
    path, seeds = folder / "mission.toml", _mission_seeds()

    def one(rng: random.Random) -> bool:
        path.write_bytes(mutated(rng, seeds, seeds))
        return taken(lambda: load_mission(path))

    return one


def missions_checked(folder: Path) -> Try:
    """As `rtqual mission check` does."""
    path, seeds = folder / "mission.toml", _mission_seeds()

    def check() -> None:
        mission = load_mission(path)
        for scale in mission.scales:
            foresee(mission, scale).lines(scale)

    def one(rng: random.Random) -> bool:
        path.write_bytes(mutated(rng, seeds, seeds))
        return taken(check)

    return one


def manifests(folder: Path) -> Try:
    """As the disk or a careless hand damages them."""
    path = Store(folder).write(record())
    whole = (path / MANIFEST).read_bytes()

    def one(rng: random.Random) -> bool:
        (path / MANIFEST).write_bytes(mutated(rng, [whole], [whole]))
        return taken(lambda: read_manifest(path))

    return one


def _records() -> list[Record]:
    made = wakeups("debian-rt", [12_000, 13_000])
    scalars = {"rate": Scalar(value=0.1, unit="1/s")}
    return [
        make(one.inputs, Measurement(one.series, scalars), one.manifest.provenance, timing=Timing.REAL, repeat=0)
        for one in made
    ]


def manifests_sealed(folder: Path) -> Try:
    """As somebody changes them who makes all hashes anew; what is taken is shown and summarised."""
    path = Store(folder).write(_records()[0])
    whole = json.loads((path / MANIFEST).read_text())
    nowhere = Console(file=io.StringIO(), width=100)

    def use() -> None:
        one = read(path)
        show_record(nowhere, path)
        for group, members in groups([one]).items():
            measure(group, members)

    def one(rng: random.Random) -> bool:
        (path / MANIFEST).write_bytes(_sealed(mutated_value(rng, whole)))
        nowhere.file.seek(0)
        return taken(use)

    return one


def samples(folder: Path) -> Try:
    """Parquet files whose hashes were made to fit."""
    path = Store(folder).write(record())
    manifest = (path / MANIFEST).read_bytes()
    whole = {file.name: file.read_bytes() for file in path.glob("*.parquet")}

    def one(rng: random.Random) -> bool:
        (path / MANIFEST).write_bytes(manifest)
        for name, content in whole.items():
            (path / name).write_bytes(content)
        name = rng.choice(sorted(whole))
        content = bytearray(whole[name])
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(len(content)) if rng.random() < 0.5 else max(0, len(content) - rng.randrange(1, 400))
            content[at : at + rng.randrange(0, 4)] = rng.randbytes(rng.randrange(0, 4))
        (path / name).write_bytes(content)
        vouch(path)
        return taken(lambda: read(path))

    return one


def _campaign(folder: Path) -> Path:
    runs = tuple(_records())
    for one in runs:
        Store(folder / kept.RECORDS).write(one)
    result = Result(runs, {}, {"debian-rt": TEXT}, {APPROACH.file: FLOWN})
    kept.keep(folder, mission_text("debian-rt").encode(), "demo", result)
    return folder


def campaigns(folder: Path) -> Try:
    """campaign.json as the disk or a careless hand damages it."""
    path = _campaign(folder) / kept.CAMPAIGN
    whole = path.read_bytes()

    def one(rng: random.Random) -> bool:
        path.write_bytes(mutated(rng, [whole], [whole]))
        return taken(lambda: kept.load(folder))

    return one


def campaigns_sealed(folder: Path) -> Try:
    """A campaign of which something was changed and all hashes made anew; what is taken is judged and reported."""
    campaign = json.loads((_campaign(folder) / kept.CAMPAIGN).read_text())
    name = campaign["records"][0]
    place = folder / kept.RECORDS / name / MANIFEST
    manifest = place.read_bytes()
    mission, config, approach = mission_text("debian-rt").encode(), TEXT.encode(), FLOWN.model_dump(mode="json")
    flown = (folder / APPROACH.file).read_bytes()

    def use() -> None:
        loaded = kept.load(folder)
        if loaded.result.records:
            evidence = evidence_of(loaded)
            for form in (to_junit, to_prometheus, to_bencher, to_github):
                form(loaded.mission, evidence)

    def one(rng: random.Random) -> bool:
        what = rng.choice(("campaign", "campaign", "manifest", "manifest", "mission", "config", "approach"))
        index = json.loads(json.dumps(campaign))
        place.write_bytes(_sealed(mutated_value(rng, json.loads(manifest))) if what == "manifest" else manifest)
        _put(index, "manifests", name, place)
        texts = {kept.MISSION: mission, f"{kept.CONFIGS}/debian-rt.config": config, APPROACH.file: flown}
        if what in ("mission", "config"):
            at = kept.MISSION if what == "mission" else f"{kept.CONFIGS}/debian-rt.config"
            texts[at] = mutated(rng, [texts[at]], [mission])
        if what == "approach":
            changed = mutated_value(rng, {**approach, "picture": []})
            changed["picture"] = changed.get("picture") or approach["picture"]
            texts[APPROACH.file] = json.dumps(changed).encode()
        for at, content in texts.items():
            (folder / at).write_bytes(content)
            _put(index, "files", at, folder / at)
        if what == "mission":
            index["mission_sha256"] = sha256_of(texts[kept.MISSION])
        if what == "campaign":  # its hashes of what it names stay as they were changed
            index = mutated_value(rng, campaign)
        index["sha256"] = digest({key: value for key, value in index.items() if key != "sha256"})
        (folder / kept.CAMPAIGN).write_text(json.dumps(index))
        return taken(use)

    return one


def _sealed(manifest: Any) -> bytes:
    manifest["hash"] = digest([manifest.get("inputs"), manifest.get("samples_sha256")])
    manifest["manifest_sha256"] = digest({key: value for key, value in manifest.items() if key != "manifest_sha256"})
    return json.dumps(manifest).encode()


def _put(index: dict[str, Any], where: str, name: str, path: Path) -> None:
    if isinstance(index.get(where), dict) and name in index[where]:
        index[where][name] = sha256_of(path.read_bytes())


def configs(folder: Path) -> Try:
    """Kernel configurations for the lint."""
    path = folder / "config"
    seeds = [TEXT.encode(), (TEXT + _longer()).encode()]

    def one(rng: random.Random) -> bool:
        path.write_bytes(mutated(rng, seeds, seeds))
        boot = mutated(rng, [b'isolcpus=1 nohz_full=1-3 "a b=c d" -- init'], [b"idle=poll"]).decode(errors="replace")
        return taken(lambda: lint(from_config(read_config(path), str(path), parameters=boot)))

    return one


def _longer() -> str:
    from rtqual.engine.kernel.lint.lint_rules import rules

    symbols = sorted({symbol for rule in rules() for check in rule.check for symbol in check.symbol or ()})
    return "".join(f"CONFIG_{symbol}=y\n" for symbol in symbols)


def trees(folder: Path) -> Try:
    """A kernel's Makefile and its architecture's Kconfig."""
    tree = folder / "tree"
    tree.mkdir()
    write_tree(tree, "")
    places = [tree / "Makefile", tree / "arch/x86/Kconfig"]
    whole = [place.read_bytes() for place in places]

    def one(rng: random.Random) -> bool:
        for place, content in zip(places, whole, strict=True):
            place.write_bytes(mutated(rng, [content], whole))
        return taken(lambda: open_tree(tree).number)

    return one


def frames(folder: Path) -> Try:
    """What a guest sends back: damaged on its way, or sent so by a guest that means harm."""
    shutil.rmtree(folder)
    job = Job(Command(("true",)), loads=LOADS)
    files = {
        "facts": "kernel=6.1.0 #1 SMP\ncpus=1\n",
        "measure.out": "1\n",
        "measure.status": "exit 0\nminor_faults 3\n",
        "measure.threads": "106 1 80 0 cyclictest\n",
    }

    def frame(content: dict[str, bytes]) -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            for name, text in content.items():
                info = tarfile.TarInfo(f"./{name}")
                info.size = len(text)
                tar.addfile(info, io.BytesIO(text))
        return out.getvalue()

    def use(content: bytes) -> None:
        found = jobscript.unpack(content, "debian on the virtual board")
        jobscript.check(job, found, "debian on the virtual board")
        jobscript.outcome(found, jobscript.facts(found), console="", wall_s=1.0, command=())

    def one(rng: random.Random) -> bool:
        content = {name: text.encode() for name, text in files.items()}
        for _ in range(rng.randrange(3)):
            name = rng.choice(sorted(content))
            content[name] = mutated(rng, [content[name] or b"setup1\n", b"load0\n", b"setup9999\n"], [content["facts"]])
        body = frame(content)
        if rng.random() < 0.4:
            body = mutated(rng, [body], [body])
        whole = b"RTQUAL1 %d %08x\n" % (len(body), zlib.crc32(body)) + body
        if rng.random() < 0.3:
            whole = mutated(rng, [whole], [whole])
        return taken(lambda: use(whole), of_guest=True)

    return one


def instruments(folder: Path) -> Try:
    """What the programs that measure printed."""
    shutil.rmtree(folder)
    texts = {name: captured_text(name).encode() for name in CAPTURED}

    def one(rng: random.Random) -> bool:
        name = rng.choice(sorted(texts))
        text = mutated(rng, [texts[name]], [texts[rng.choice(sorted(texts))]]).decode(errors="replace")
        return taken(lambda: read_text(name, text), of_guest=True)

    return one


# name -> how to make one, and the inputs of it in a thousand (of what is not an importer's)
PARSERS: dict[str, tuple[Callable[[Path], Try], int]] = {
    "missions": (missions, 200),
    "missions, checked": (missions_checked, 10),
    "manifests": (manifests, 150),
    "manifests, sealed anew": (manifests_sealed, 100),
    "samples, vouched for anew": (samples, 40),
    "campaigns": (campaigns, 100),
    "campaigns, sealed anew": (campaigns_sealed, 50),
    "kernel configurations": (configs, 100),
    "kernel trees": (trees, 50),
    "frames of guests": (frames, 100),
    "outputs of instruments": (instruments, 100),
}
