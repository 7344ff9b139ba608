# SPDX-License-Identifier: MIT
"""The mission database for Yamcs: XTCE 1.2, made from the definition.

Of lists it has the first entry: a command with a list carries one, of a report with a list the first is shown.
Inserting into the schedule is left out, since Yamcs wraps any command for service 11 itself.
"""

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rtqual_docking.packets.definition import (
    TELECOMMAND,
    WHOLE,
    CommandDefinition,
    Definition,
    PacketField,
    ReportDefinition,
)

SPACE = "rtqual"  # Yamcs calls everything /rtqual/NAME
_NAMESPACE = "http://www.omg.org/spec/XTCE/20180204"
_UNSIGNED = (1, 3, 4, 8, 11, 14, 16, 24, 32)
_DATA_BIT = 168  # after the primary header, 6 octets, and the secondary one, 15
_HEADER = {
    "apid": "u11", "seqcount": "u14", "service": "u8", "subtype": "u8", "counter": "u16", "destination": "u16",
    "time_field": "u8", "time_seconds": "u32", "time_fraction": "u24", "ack_apid": "u11", "ack_seq": "u14",
    "report_id": "u8", "entries": "u8",
}  # fmt: skip
# Subtype, and how long Yamcs waits for it: a scheduled telecommand starts later, and a file takes its time.
_STAGES = (
    ("ReceivedVerifier", "Accepted", 1, "PT5S"), ("ExecutionVerifier", "Started", 3, "PT10M"),
    ("CompleteVerifier", "Completed", 7, "PT10M"),
)  # fmt: skip
# What org.yamcs.pus.Pus1Verifier compares.
_VERIFIED = (
    ("/yamcs/cmd/arg/apid", "sentApid"), ("/yamcs/cmdHist/ccsds-seqcount", "sentSeq"), ("ack_apid", "rcvdApid"),
    ("ack_seq", "rcvdSeq"), ("subtype", "subtype"), ("failure", "errorCode"),
)  # fmt: skip


def database(definition: Definition) -> str:
    """The XML document."""
    root = Element("SpaceSystem", name=SPACE, xmlns=_NAMESPACE)
    telemetry = SubElement(root, "TelemetryMetaData")
    _types(telemetry, "Parameter", definition)
    parameters = SubElement(telemetry, "ParameterSet")
    for parameter, kind in _parameters(definition).items():
        SubElement(parameters, "Parameter", name=parameter, parameterTypeRef=kind)
    _containers(SubElement(telemetry, "ContainerSet"), definition)
    commands = SubElement(root, "CommandMetaData")
    _types(commands, "Argument", definition)
    every = SubElement(commands, "MetaCommandSet")
    _header_command(every, definition)
    for command in definition.commands.values():
        if sent_by_yamcs(command):
            _command(every, command)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def sent_by_yamcs(command: CommandDefinition) -> bool:
    """All but the one that carries others."""
    return not any(field.kind == TELECOMMAND for field in command.entries)


def _types(parent: Element, of: str, definition: Definition) -> None:
    types = SubElement(parent, f"{of}TypeSet")
    for bits in _UNSIGNED:
        kind = SubElement(types, f"Integer{of}Type", name=f"u{bits}", signed="false")
        SubElement(kind, "IntegerDataEncoding", sizeInBits=str(bits))
    kind = SubElement(types, f"Integer{of}Type", name="i32", signed="true")
    SubElement(kind, "IntegerDataEncoding", sizeInBits="32", encoding="twosComplement")
    kind = SubElement(types, f"Float{of}Type", name="f32")
    SubElement(kind, "FloatDataEncoding", sizeInBits="32")
    for name, labels in {**definition.enums, "failure": definition.failures}.items():
        kind = SubElement(types, f"Enumerated{of}Type", name=name)
        SubElement(kind, "IntegerDataEncoding", sizeInBits="16" if name == "failure" else "8")
        listed = SubElement(kind, "EnumerationList")
        for label, value in labels.items():
            SubElement(listed, "Enumeration", value=str(value), label=label)


def _shown(report: ReportDefinition) -> list[PacketField]:
    """Its fields and those of its first entry; what follows a telecommand in it has no fixed place."""
    fields: list[PacketField] = []
    for field in (*report.fields, *report.entries):
        if field.kind == TELECOMMAND:
            break
        if field.kind == "time":
            fields += [PacketField(f"{field.name}_{part}", kind, 0) for part, kind in
                       (("field", "u8"), ("seconds", "u32"), ("fraction", "u24"))]  # fmt: skip
        elif field.kind != "request":
            fields.append(field)
    return fields


def _parameters(definition: Definition) -> dict[str, str]:
    found = dict(_HEADER)
    for report in definition.reports.values():
        for field in _shown(report):
            if found.setdefault(field.name, field.kind) != field.kind:
                raise ValueError(f"{report.name}: {field.name} has two types")
    return found


def _container(
    parent: Element,
    name: str,
    entries: Iterable[tuple[str, int | None]],
    base: str | None = None,
    where: Sequence[tuple[str, int]] = (),
) -> None:
    """`entries`: parameter, and its first bit, where it does not follow the one before."""
    container = SubElement(parent, "SequenceContainer", name=name)
    listed = SubElement(container, "EntryList")
    for parameter, bit in entries:
        entry = SubElement(listed, "ParameterRefEntry", parameterRef=parameter)
        if bit is not None:
            place = SubElement(entry, "LocationInContainerInBits", referenceLocation="containerStart")
            SubElement(place, "FixedValue").text = str(bit)
    if base:
        criteria = SubElement(SubElement(container, "BaseContainer", containerRef=base), "RestrictionCriteria")
        compared = SubElement(criteria, "ComparisonList")
        for parameter, value in where:
            SubElement(compared, "Comparison", parameterRef=parameter, value=str(value))


def _containers(parent: Element, definition: Definition) -> None:
    _container(parent, "ccsds", [("apid", 5), ("seqcount", 18)])
    header: list[tuple[str, int | None]] = [
        ("service", 56), ("subtype", 64), ("counter", 72), ("destination", 88), ("time_field", 104),
        ("time_seconds", None), ("time_fraction", None),
    ]  # fmt: skip
    _container(parent, "tm", header, "ccsds", [("apid", definition.apid)])
    request: list[tuple[str, int | None]] = [("ack_apid", _DATA_BIT + 5), ("ack_seq", _DATA_BIT + 18)]
    _container(parent, "verification", request, "tm", [("service", 1)])
    named = set()
    for report in definition.reports.values():
        where = [("service", report.service), ("subtype", report.subtype)]
        if report.service == 1:
            after: list[tuple[str, int | None]] = [(field.name, None) for field in _shown(report)]
            _container(parent, report.name, after, "verification", where[1:])
            continue
        base, first = "tm", _DATA_BIT
        if report.id is not None:
            base, first = f"report_{report.service}_{report.subtype}", _DATA_BIT + 8
            if base not in named:
                named.add(base)
                _container(parent, base, [("report_id", _DATA_BIT)], "tm", where)
            where = [("report_id", report.id)]
        names = ["entries"] * bool(report.entries) + [field.name for field in _shown(report)]
        _container(parent, report.name, [(name, None if at else first) for at, name in enumerate(names)], base, where)


def _fixed(parent: Element, name: str, value: int, bits: int) -> None:
    text = f"{value:0{(bits + 7) // 8 * 2}X}"
    SubElement(parent, "FixedValueEntry", name=name, binaryValue=text, sizeInBits=str(bits))


def _header_command(parent: Element, definition: Definition) -> None:
    command = SubElement(parent, "MetaCommand", name="tc", abstract="true")
    arguments = SubElement(command, "ArgumentList")
    for name, kind, default in (
        ("apid", "u11", str(definition.apid)), ("acks", "u4", "15"), ("service", "u8", ""), ("subtype", "u8", ""),
        ("source_id", "u16", "0"),
    ):  # fmt: skip
        SubElement(
            arguments,
            "Argument",
            {"name": name, "argumentTypeRef": kind} | ({"initialValue": default} if default else {}),
        )
    entries = SubElement(SubElement(command, "CommandContainer", name="tc"), "EntryList")
    for name, value, bits in (("version", 0, 3), ("telecommand", 1, 1), ("secondary", 1, 1)):
        _fixed(entries, name, value, bits)
    SubElement(entries, "ArgumentRefEntry", argumentRef="apid")
    # Yamcs fills in sequence count and length.
    for name, value, bits in (("flags", 3, 2), ("seq", 0, 14), ("length", 0, 16), ("pus", 2, 4)):
        _fixed(entries, name, value, bits)
    for name in ("acks", "service", "subtype", "source_id"):
        SubElement(entries, "ArgumentRefEntry", argumentRef=name)
    verifiers = SubElement(command, "VerifierSet")
    for tag, name, stage, patience in _STAGES:
        verifier = SubElement(verifiers, tag, name=name)
        algorithm = SubElement(verifier, "CustomAlgorithm", name=f"v{stage}")
        SubElement(
            algorithm, "AlgorithmText", language="Java"
        ).text = f'org.yamcs.pus.Pus1Verifier({{stage: {stage}, template: "{{errorCode}}"}})'
        inputs = SubElement(algorithm, "InputSet")
        for reference, alias in _VERIFIED:
            SubElement(inputs, "InputParameterInstanceRef", parameterRef=reference, inputName=alias)
        SubElement(verifier, "CheckWindow", timeToStopChecking=patience, timeWindowIsRelativeTo="commandRelease")


def _command(parent: Element, command: CommandDefinition) -> None:
    element = SubElement(parent, "MetaCommand", name=command.name, shortDescription=command.doc)
    assigned = SubElement(SubElement(element, "BaseMetaCommand", metaCommandRef="tc"), "ArgumentAssignmentList")
    for name, value in (("service", command.service), ("subtype", command.subtype)):
        SubElement(assigned, "ArgumentAssignment", argumentName=name, argumentValue=str(value))
    fields = (*command.arguments, *command.entries)
    if fields:
        arguments = SubElement(element, "ArgumentList")
        for field in fields:
            argument = SubElement(arguments, "Argument", name=field.name, argumentTypeRef=field.kind)
            _range(argument, field)
    container = SubElement(element, "CommandContainer", name=command.name)
    entries = SubElement(container, "EntryList")
    for at, value in enumerate(command.fixed):
        _fixed(entries, f"fixed{at}", value, 8)
    for field in command.arguments:
        SubElement(entries, "ArgumentRefEntry", argumentRef=field.name)
    if command.entries:
        _fixed(entries, "entries", 1, 8)
    for field in command.entries:
        SubElement(entries, "ArgumentRefEntry", argumentRef=field.name)
    SubElement(container, "BaseContainer", containerRef="tc")


def _range(argument: Element, field: PacketField) -> None:
    """XTCE keeps ranges with types, so a narrower one is told as a description."""
    if field.kind in WHOLE and (field.least, field.most) != WHOLE[field.kind][1:]:
        argument.set("shortDescription", f"{field.least} to {field.most}")
