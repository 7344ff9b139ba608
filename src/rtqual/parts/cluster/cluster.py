# SPDX-License-Identifier: MIT
"""Emulated cells on other machines: an existing engine, dask.distributed, hands them out.

Any machine gives the same samples by the instruction clock, so it does not matter which one runs a cell, nor how often:
a worker that dies loses nothing but time. A record is taken where its inputs are those of here, to the last hash, and
the second run of a group, which tests that it repeats, goes to another worker than the first.

Whoever speaks to the scheduler runs programs on every worker: only TLS or this machine itself will do.
"""

import atexit
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtqual.base.errors import BadInput, RtqualError, RunFailed, SystemDied, first_line
from rtqual.base.scratch import scratch
from rtqual.base.words import clean
from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.lost import begun, ended
from rtqual.engine.campaign.runner import Runner
from rtqual.protocols.record.parquet import RAW, SAMPLES
from rtqual.protocols.record.schema import Inputs
from rtqual.protocols.record.store import MANIFEST, Store, read

if TYPE_CHECKING:
    from rtqual.engine.campaign.run import Campaign, Watcher

RESOURCE = "guest"
_LOOPBACK = re.compile(r"tcp://(?:127\.\d+\.\d+\.\d+|localhost|\[::1\]):\d+")
_TLS = re.compile(r"tls://[^\s/]+:\d+")
_CONNECT_S, _LOOK_S = 10, 5
_ALONE_LOOKS = 12  # in a row, without a worker: a minute

_campaigns: dict[tuple[bytes, str], "Campaign"] = {}  # of a worker, as long as it lives
_making = threading.Lock()


def require_safe(address: str) -> None:
    if not (_LOOPBACK.fullmatch(address) or _TLS.fullmatch(address)):
        raise BadInput(
            f"--cluster {address}: whoever reads along could run programs on every worker; give tls://HOST:PORT, "
            "or tcp://127.0.0.1:PORT on this machine"
        )


def measure(content: bytes, scale: str, number: int, inputs: dict[str, Any], repeat: int) -> dict[str, bytes]:
    """On a worker: the files of a cell's record. `number`: of the cell in the plan."""
    with _making:
        campaign = _campaigns.get((content, scale)) or _begun(content, scale)
        cell = campaign.cells[number]
        campaign.ready(cell)
    own = campaign.inputs(cell)
    if own.key() != Inputs.model_validate(inputs).key():
        asked, here = inputs["artefacts"], own.artefacts
        unlike = [name for name in here if asked.get(name) != here[name]]
        raise RunFailed(f"{cell}: a worker has another {', '.join(unlike) or 'rtqual'}: give all the same packages")
    campaign.measure(cell, own)
    path = campaign.store.path(own.key(), repeat)
    return {name: (path / name).read_bytes() for name in (MANIFEST, SAMPLES, RAW) if (path / name).exists()}


def _begun(content: bytes, scale: str) -> "Campaign":
    from rtqual.engine.campaign.run import Campaign  # noqa: PLC0415 - it imports this
    from rtqual.engine.mission import load_mission  # noqa: PLC0415

    kept = ExitStack()
    folder = kept.enter_context(scratch())
    atexit.register(kept.close)
    (folder / "mission.toml").write_bytes(content)
    campaign = Campaign(load_mission(folder / "mission.toml"), scale, folder / "campaign")
    _campaigns[content, scale] = campaign
    return campaign


@contextmanager
def _client(address: str) -> Iterator[Any]:
    from distributed import Client, Security  # noqa: PLC0415 - an extra

    require_safe(address)
    secure = Security(require_encryption=True) if address.startswith("tls") else None
    try:
        client = Client(address, timeout=_CONNECT_S, security=secure)
    except (OSError, TimeoutError, RuntimeError, ValueError, TypeError) as error:
        first = clean(first_line(error))
        raise RunFailed(f"--cluster {address}: no scheduler answers there: {first}") from None
    try:
        yield client
    finally:
        client.close(timeout=_LOOK_S)


def _workers(client: Any) -> list[str]:
    """The addresses of those that take guests."""
    known = client.scheduler_info(n_workers=-1)["workers"]
    return [address for address, item in known.items() if item["resources"].get(RESOURCE)]


def run_on(
    address: str,
    content: bytes,
    scale: str,
    cells: Mapping[Cell, tuple[int, Inputs]],
    folder: Path,
    store: Store,
    watcher: "Watcher",
) -> dict[Group, str]:
    """Cells that fail, and why. Raises RunFailed where there is no scheduler, or no worker takes guests."""
    with _client(address) as client:
        if not _workers(client):
            raise RunFailed(
                f"--cluster {address}: no worker takes guests: start them with --resources {RESOURCE}=1, or as many as "
                "a machine has pairs of cores"
            )
        return _Run(client, content, scale, cells, folder, store, watcher).all()


@dataclass
class _Run:
    _client: Any
    _content: bytes
    _scale: str
    _cells: Mapping[Cell, tuple[int, Inputs]]
    _folder: Path
    _store: Store
    _watcher: "Watcher"
    _running: dict[Any, Cell] = field(default_factory=dict)
    _first: dict[str, tuple[str, str]] = field(default_factory=dict)  # key -> worker, hash of the run that came first
    _failures: dict[Group, str] = field(default_factory=dict)

    def all(self) -> dict[Group, str]:
        firsts = {inputs.key() for cell, (_, inputs) in self._cells.items() if not cell.repeat}
        seconds = [cell for cell, (_, inputs) in self._cells.items() if cell.repeat and inputs.key() in firsts]
        self._submit([cell for cell in self._cells if cell not in set(seconds)])
        alone = 0
        try:
            while self._running:
                for future in self._ended():
                    cell = self._running.pop(future)
                    self._take(cell, future)
                    key = self._cells[cell][1].key()
                    again = [second for second in seconds if not cell.repeat and self._cells[second][1].key() == key]
                    self._submit(again, apart=self._first.get(key, ("", ""))[0])
                alone = 0 if _workers(self._client) else alone + 1
                if alone >= _ALONE_LOOKS:
                    raise RunFailed("the cluster has no worker any more that takes guests; finished records are kept")
        finally:
            self._client.cancel(list(self._running))
        return self._failures

    def _submit(self, cells: Sequence[Cell], apart: str = "") -> None:
        """`apart`: the worker that is not to run them, where there is another."""
        others = [worker for worker in _workers(self._client) if worker != apart] if apart else []
        for cell in cells:
            number, inputs = self._cells[cell]
            future = self._client.submit(
                measure, self._content, self._scale, number, inputs.model_dump(mode="json"), cell.repeat,
                resources={RESOURCE: 1}, pure=False, workers=others or None, allow_other_workers=bool(others),
            )  # fmt: skip
            begun(self._folder, self._name(cell), inputs, cell.repeat)
            self._watcher.started(cell)
            self._running[future] = cell

    def _ended(self) -> list[Any]:
        from distributed import wait  # noqa: PLC0415

        try:
            return list(wait(list(self._running), timeout=_LOOK_S, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            return []

    def _take(self, cell: Cell, future: Any) -> None:
        failure, died = None, False
        try:
            files, worker = future.result(), next(iter(self._client.who_has([future])[future.key]), "")
            self._keep(cell, files, worker)
        except RtqualError as error:
            failure, died = str(error), isinstance(error, SystemDied)
        except Exception as error:
            failure = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        ended(self._folder, self._name(cell), failure, died=died)
        self._watcher.finished(cell, failure)
        if failure:
            self._failures[cell.group] = clean(failure)

    def _name(self, cell: Cell) -> str:
        return self._store.path(self._cells[cell][1].key(), cell.repeat).name

    def _keep(self, cell: Cell, files: Mapping[str, bytes], worker: str) -> None:
        """A record like any other's: nothing of it is believed but what its hashes say."""
        inputs = self._cells[cell][1]
        with scratch() as folder:
            for name in (MANIFEST, SAMPLES, RAW):
                if name in files:
                    (folder / name).write_bytes(files[name])
            record = read(folder)
            if (record.inputs.key(), record.manifest.repeat) != (inputs.key(), cell.repeat):
                raise RunFailed(f"{cell}: a worker gave the record of another run")
            self._store.write(record)
        before = self._first.setdefault(inputs.key(), (worker, record.manifest.hash))
        if before[1] != record.manifest.hash:
            self._watcher.warning(f"{cell}: other samples on {worker} than on {before[0]}: they are no counted figures")


def _check(address: str) -> None:
    require_safe(address)
    import distributed  # noqa: F401, PLC0415 - an extra, asked for before anything is prepared


CLUSTER = Runner(_check, run_on)
