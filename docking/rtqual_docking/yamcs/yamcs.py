# SPDX-License-Identifier: MIT
"""The configuration of Yamcs for the flight program: links, streams, files down, events, displays.

Two links lead to the one program, which serves four grounds: Yamcs's reader of PUS packets drops those without a
secondary header, as the files' are, so a second link with another reader takes those.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from rtqual_docking.packets.definition import TELECOMMAND, Definition
from rtqual_docking.yamcs.mission_database import SPACE, database

VERSION = "5.13.2"
MAIN = "org.yamcs.YamcsServer"
_CRC = {"type": "CRC-16-CCIIT"}  # so spelled
_BOARD, _GROUND = 1, 2  # entities of CFDP, as docking/flight/program/cfdp.h has them
_PDU_MOST = 512  # of what Yamcs sends: which parts of a file it lacks
_EVENTS = "etc/events.yaml"
_STREAMS = "etc/streams.sql"
MARK = "<groupId>rtqual</groupId>\n  <artifactId>ground</artifactId>"
_POM = f"""\
<project>
  <modelVersion>4.0.0</modelVersion>
  {MARK}
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.yamcs</groupId><artifactId>yamcs-core</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.yamcs</groupId><artifactId>yamcs-web</artifactId><version>{VERSION}</version></dependency>
  </dependencies>
</project>
"""

_STREAMS_SQL = """\
create stream cfdp_in as select substring(packet, 6) as pdu from tm_files where extract_short(packet, 0) = {down}
create stream cfdp_out (gentime TIMESTAMP, entityId long, seqNum int, pdu binary)
insert into tc_files select gentime, 'files' as origin, seqNum, '/yamcs/cfdp/upload' as cmdName, \
unhex('{up}') + pdu as binary from cfdp_out
"""


@dataclass(frozen=True)
class GroundPlace:
    """Where the flight program listens, or who carries its serial line; and where Yamcs is to."""

    host: str
    port: int
    web_port: int


def configuration(definition: Definition, instance: str, place: GroundPlace) -> dict[str, str]:
    """File -> text, in the folder that Yamcs is started in."""
    return {
        "pom.xml": _POM,
        "etc/yamcs.yaml": _yaml(_server(instance, place.web_port)),
        f"etc/yamcs.{instance}.yaml": _yaml(_instance(place)),
        "etc/processor.yaml": _yaml(_PROCESSOR),
        _STREAMS: _streams(definition),
        _EVENTS: _yaml(_events(definition)),
        "mdb/flight.xml": database(definition),
        **{f"displays/{name}.par": json.dumps(table, indent=1) + "\n" for name, table in _displays(definition).items()},
    }


def _yaml(value: object) -> str:
    text: str = yaml.safe_dump(value, sort_keys=False, width=120)
    return text


def _server(instance: str, web_port: int) -> Mapping[str, Any]:
    return {
        "services": [{"class": "org.yamcs.http.HttpServer", "args": {"address": "127.0.0.1", "port": web_port}}],
        "instances": [instance],
        "dataDir": "data",
        "buckets": [{"name": name, "path": name} for name in ("displays", "stacks", "files")],
    }


_PROCESSOR = {
    "realtime": {
        "services": [
            {"class": f"org.yamcs.{name}"}
            for name in (
                "StreamTmPacketProvider",
                "StreamTcCommandReleaser",
                "tctm.StreamParameterProvider",
                "algorithms.AlgorithmManager",
            )
        ],
        "config": {"subscribeAll": True, "generateEvents": True},
    }
}


def _instance(place: GroundPlace) -> Mapping[str, Any]:
    return {
        "services": [
            {"class": "org.yamcs.archive.XtceTmRecorder", "args": {"streams": ["tm_realtime"]}},
            *({"class": f"org.yamcs.archive.{name}"} for name in (
                "ParameterRecorder", "EventRecorder", "CommandHistoryRecorder")),
            {"class": "org.yamcs.parameterarchive.ParameterArchive"},
            {"class": "org.yamcs.timeline.TimelineService"},  # runs stacks at a time
            {"class": "org.yamcs.ProcessorCreatorService", "args": {"name": "realtime", "type": "realtime"}},
            {"class": "org.yamcs.pus.PusEventDecoder", "args": {
                "eventIdParameter": f"/{SPACE}/event", "eventTemplateFile": _EVENTS}},
            {"class": "org.yamcs.cfdp.CfdpService", "name": "files", "args": {
                "incomingBucket": "files", "entityIdLength": 1, "sequenceNrLength": 4, "maxPduSize": _PDU_MOST,
                "localEntities": [{"name": "ground", "id": _GROUND, "bucket": "files"}],
                "remoteEntities": [{"name": "board", "id": _BOARD}],
                "hasDownloadCapability": False, "hasFileListingCapability": False}},
        ],
        "dataLinks": [
            _link("board", place, "realtime", "org.yamcs.pus.PusPacketPreprocessor", {
                # CUC with its P-field; TAI since 1970.
                "pktTimeOffset": 13, "timeEncoding": {
                    "type": "CUC", "epoch": "CUSTOM", "epochUTC": "1970-01-01T00:00:00Z",
                    "timeIncludesLeapSeconds": True, "implicitPfield": False}}),
            _link("files", place, "files", "org.yamcs.tctm.GenericPacketPreprocessor", {
                "timestampOffset": -1, "seqCountOffset": 0}),
        ],
        "mdb": [{"type": "xtce", "spec": "mdb/flight.xml"}],
        "streamConfig": {
            "tm": [{"name": "tm_realtime", "processor": "realtime"}, {"name": "tm_files"}],
            "tc": [{"name": "tc_realtime", "processor": "realtime", "tcPatterns": [f"/{SPACE}/.*"]},
                   {"name": "tc_files"}],
            "cmdHist": ["cmdhist_realtime"],
            "event": ["events_realtime"],
            "param": ["pp_realtime", "sys_param", "proc_param"],
            "sqlFile": _STREAMS,
        },
    }  # fmt: skip


def _link(name: str, place: GroundPlace, streams: str, reader: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "name": name,
        "class": "org.yamcs.tctm.TcpTcTmDataLink",
        "host": place.host,
        "port": place.port,
        "tmStream": f"tm_{streams}",
        "tcStream": f"tc_{streams}",
        "packetInputStreamClassName": "org.yamcs.tctm.CcsdsPacketInputStream",
        "packetPreprocessorClassName": reader,
        "packetPreprocessorArgs": {"errorDetection": _CRC, **arguments},
        "commandPostprocessorClassName": "org.yamcs.pus.PusCommandPostprocessor",
        "commandPostprocessorArgs": {
            "errorDetection": _CRC,
            "timeEncoding": {"implicitPfield": False, "pfield": 0x2F},
        },
    }


def _streams(definition: Definition) -> str:
    """PDUs out of their packets and into them; Yamcs fills in sequence count, length and checksum."""
    apid = definition.apid + 1
    return _STREAMS_SQL.format(down=apid, up=f"{0x1000 | apid:04X}C0000000")


def _events(definition: Definition) -> list[Mapping[str, str]]:
    return [
        {"eventId": name, "template": "".join((
            f"{name}: {event.doc}", f" ({event.value}: {{event_value}}" if event.value else " (",
            f", {event.detail}: {{event_detail}})" if event.detail else ")"))}
        for name, event in definition.events.items()
    ]  # fmt: skip


def _displays(definition: Definition) -> dict[str, Mapping[str, Any]]:
    """A table for each structure of housekeeping."""
    return {
        name: {"scroll": False, "parameters": [f"/{SPACE}/{field.name}" for field in report.fields]}
        for name, report in definition.reports.items()
        if (report.service, report.subtype) == (3, 25) and not any(field.kind == TELECOMMAND for field in report.fields)
    }
