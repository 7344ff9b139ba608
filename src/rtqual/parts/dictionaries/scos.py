# SPDX-License-Identifier: MIT
"""A SCOS-2000 MIB: tab-separated tables, of which these are needed to command and to decode.

Columns as in the SCOS-2000 Database Import ICD 7.2; shorter and longer rows are taken. PTC and PFC as in ECSS-E-70-41A.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.parts.dictionaries import bounded_files
from rtqual.parts.dictionaries.bounded_files import attempt
from rtqual.parts.dictionaries.model import (
    MOST_COUNT,
    MOST_DEPTH,
    MOST_FIELDS,
    MOST_PACKET_FIELDS,
    All,
    Array,
    By,
    Coding,
    CommandType,
    Dictionary,
    Field,
    Number,
    Packet,
    Polynomial,
    Struct,
    Text,
    Type,
    Where,
    number,
)
from rtqual.protocols.dictionary import Refused

COLUMNS = {
    "ccf": "CNAME DESCR DESCR2 CTYPE CRITICAL PKTID TYPE STYPE APID NPARS PLAN EXEC ILSCOPE ILSTAGE SUBSYS HIPRI MAPID "
    "DEFSET RAPID ACK SUBSCHEDID",
    "cdf": "CNAME ELTYPE DESCR ELLEN BIT GRPSIZE PNAME INTER VALUE TMID",
    "cpc": "PNAME DESCR PTC PFC DISPFMT RADIX UNIT CATEG PRFREF CCAREF PAFREF INTER DEFVAL CORR OBTID",
    "pcdf": "TCNAME DESC TYPE LEN BIT PNAME VALUE RADIX",
    "pas": "NUMBR ALTXT ALVAL",
    "prv": "NUMBR MINVAL MAXVAL",
    "pid": "TYPE STYPE APID PI1 PI2 SPID DESCR UNIT TPSD DFHSIZE TIME INTER VALID CHECK EVENT EVID",
    "pic": "TYPE STYPE PI1OFF PI1WID PI2OFF PI2WID APID",
    "plf": "NAME SPID OFFBY OFFBI NBOCC LGOCC TIME TDOCC",
    "pcf": "NAME DESCR PID UNIT PTC PFC WIDTH VALID RELATED CATEG NATUR CURTX INTER USCON DECIM PARVAL SUBSYS VALPAR "
    "SPTYPE CORR",
    "txp": "NUMBR FROM TO ALTXT",
    "mcf": "IDENT DESCR POL1 POL2 POL3 POL4 POL5",
    "vpd": "TPSD POS NAME GRPSIZE FIXREP CHOICE PIDREF",
}
_SEVERITIES = {"I": "info", "W": "warning", "A": "alarm"}  # pid.EVENT
# The type and subtype of a PUS-A packet lie behind 6 octets of header and one of version.
_TYPE_BIT, _SUBTYPE_BIT, _APID_BIT, _APID_BITS = 56, 64, 5, 11
Row = Mapping[str, str]


def read(paths: Sequence[Path]) -> Dictionary:
    """Return what a MIB's folder holds. Raises BadInput where it has no tables."""
    if len(paths) != 1 or not paths[0].is_dir():
        raise BadInput(f"a MIB is one folder of tables (ccf.dat, pid.dat, ...), not {', '.join(map(str, paths))!r}")
    tables = {name: _table(paths[0] / f"{name}.dat", columns) for name, columns in COLUMNS.items()}
    if not tables["ccf"] and not tables["pid"]:
        raise BadInput(f"dictionary {str(paths[0])!r}: neither ccf.dat nor pid.dat has a row: no MIB")
    commands = _Commands(tables).read()
    packets, severities = _Packets(tables).read()
    return Dictionary(commands, packets, tuple(packets.values()), severities)


def _table(path: Path, columns: str) -> list[dict[str, str]]:
    if not path.exists():
        return []
    names = columns.split()
    rows = (line.split("\t") for line in bounded_files.lines(path, bounded_files.text(path, "latin-1")) if line.strip())
    return [dict(zip(names, row + [""] * len(names), strict=False)) for row in rows]


def _by(rows: Sequence[Row], key: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    return groups


def _group(row: Row) -> int:
    """How many rows behind this one repeat."""
    group = int(row["GRPSIZE"] or 0)
    if group < 0:
        raise Refused(f"a group of {group}")
    return group


def _typed(row: Row) -> Type:  # noqa: PLR0911
    """By ECSS's codes for a parameter's type and format."""
    code, form = int(row["PTC"]), int(row["PFC"])
    if code == 1:
        return Number(bits=1)
    if code in (2, 6) and form:
        return Number(bits=form)
    if code in (3, 4) and form <= 16:
        bits = form + 4 if form <= 12 else {13: 24, 14: 32, 15: 48, 16: 64}[form]
        return Number(Coding.UNSIGNED if code == 3 else Coding.TWOS, bits)
    if code == 5 and form in (1, 2, 3):
        return Number(Coding.MIL if form == 3 else Coding.IEEE, 64 if form == 2 else 32)
    if code in (7, 8):
        return Text(form * 8 if form else None, None if code == 7 else "utf-8", tag_bits=0 if form else 8)
    if code in (9, 10) and form in (1, 2):
        return Text(48 if form == 1 else 64, None)
    if code in (9, 10) and 3 <= form <= 18:  # CUC of so many octets, coarse and fine
        return Text(8 * ((form - 3) // 4 + 1 + (form - 3) % 4), None)
    if code == 13:
        return Text(None, None)
    raise Refused(f"a parameter of PTC {code}, PFC {form}")


def _known(types: dict[str, Type | Refused], name: str, read: Callable[[Row], Type], row: Row) -> Type:
    """A parameter's type, read once. Raises Refused."""
    if name not in types:
        types[name] = attempt(f"parameter {name}", read, row)
    kind = types[name]
    if isinstance(kind, Refused):
        raise kind
    return kind


class _Commands:
    def __init__(self, tables: Mapping[str, Sequence[Row]]) -> None:
        self.rows = tables["ccf"]
        self.elements, self.headers = _by(tables["cdf"], "CNAME"), _by(tables["pcdf"], "TCNAME")
        self.parameters = {row["PNAME"]: row for row in tables["cpc"]}
        self.texts, self.ranges = _by(tables["pas"], "NUMBR"), _by(tables["prv"], "NUMBR")
        self.types: dict[str, Type | Refused] = {}
        self.times: Counter[str] = Counter()  # that a command has an argument

    def read(self) -> dict[str, CommandType]:
        commands = {}
        for row in self.rows:
            name = row["CNAME"]
            command = attempt(name, self._command, row)
            commands[name] = CommandType(name, command) if isinstance(command, Refused) else command
        return commands

    def _command(self, row: Row) -> CommandType:
        self.times.clear()
        fields, assigned = self._header(row)
        size = max((field.at + field.type.bits for field in fields), default=0)  # type: ignore[operator, union-attr]
        rows = sorted(self.elements.get(row["CNAME"], ()), key=lambda element: int(element["BIT"]))
        arguments: dict[str, Type] = {}
        defaults: dict[str, object] = {}
        at = 0
        while at < len(rows):
            element = rows[at]
            group = _group(element)
            if group:  # the element tells how often the next ones come
                counter, counted = self._argument(element, arguments, assigned, defaults)
                fields.append(Field(counter, counted, size + int(element["BIT"])))
                members = [self._member(element) for element in rows[at + 1 : at + 1 + group]]
                if len(members) != group:
                    raise Refused("a group that is longer than the command")
                if at + 1 + group < len(rows):
                    raise Refused("elements behind a group that repeats")
                listed = Array(Struct(tuple(members)), (By(counter),))
                arguments[f"{counter} entries"] = listed
                fields.append(Field(f"{counter} entries", listed))
                break
            if element["ELTYPE"] == "A":
                fixed = int(element["VALUE"], 16) if element["VALUE"] else 0
                fields.append(
                    Field(f"spare {at}", Number(bits=int(element["ELLEN"])), size + int(element["BIT"]), fixed=fixed)
                )
            else:
                name, kind = self._argument(element, arguments, assigned, defaults)
                fields.append(Field(name, kind, size + int(element["BIT"])))
            at += 1
        return CommandType(row["CNAME"], tuple(fields), arguments, assigned, defaults)

    def _header(self, row: Row) -> tuple[list[Field], dict[str, object]]:
        """The packet's header is data here: fixed values, and those that the command's row holds."""
        fields: list[Field] = []
        assigned: dict[str, object] = {}
        of_row = {"A": "APID", "T": "TYPE", "S": "STYPE", "K": "ACK"}
        for n, part in enumerate(sorted(self.headers.get(row["PKTID"], ()), key=lambda part: int(part["BIT"]))):
            name = f"header {n}"
            value = row[of_row[part["TYPE"]]] if part["TYPE"] in of_row else part["VALUE"]
            fields.append(Field(name, Number(bits=int(part["LEN"])), int(part["BIT"])))
            hexadecimal = part["TYPE"] == "F" and part["RADIX"] == "H"
            assigned[name] = int(value, 16) if hexadecimal and value else number(value) or 0
        return fields, assigned

    def _argument(
        self, element: Row, arguments: dict[str, Type], assigned: dict[str, object], defaults: dict[str, object]
    ) -> tuple[str, Type]:
        """The element's name, numbered where a command has it twice, and type; notes its value."""
        member = self._member(element)
        count = self.times[member.name] + 1
        while (name := member.name if count == 1 else f"{member.name}_{count}") in arguments:
            count += 1
        self.times[member.name] = count
        arguments[name] = kind = member.type
        parameter = self.parameters[element["PNAME"]]
        value: object = (parameter["DEFVAL"] if element["INTER"] == "D" else element["VALUE"]) or None
        if value is not None and element["INTER"] == "R" and parameter["RADIX"] == "H":
            value = int(str(value), 16)
        if value is not None:
            (assigned if element["ELTYPE"] == "F" else defaults)[name] = value
        return name, kind

    def _member(self, element: Row) -> Field:
        parameter = self.parameters.get(element["PNAME"])
        if parameter is None:
            raise Refused(f"there is no parameter {element['PNAME']!r:.40}")
        if parameter["CATEG"] in ("A", "P"):
            raise Refused("an argument that is a command or a parameter of telemetry")
        return Field(element["PNAME"], _known(self.types, element["PNAME"], self._ranged, parameter))

    def _ranged(self, parameter: Row) -> Type:
        kind = _typed(parameter)
        if not isinstance(kind, Number):
            return kind
        texts = self.texts.get(parameter["PAFREF"], ()) if parameter["PAFREF"] else ()
        labels = {int(value): row["ALTXT"] for row in texts if (value := number(row["ALVAL"])) is not None}
        if labels:
            return Number(kind.coding, kind.bits, labels=labels)
        ranges = self.ranges.get(parameter["PRFREF"], ()) if parameter["PRFREF"] else ()
        if len(ranges) != 1:  # several ranges: the value of none of them is refused here
            return kind
        least, most = number(ranges[0]["MINVAL"]), number(ranges[0]["MAXVAL"] or ranges[0]["MINVAL"])
        return Number(kind.coding, kind.bits, least=least, most=most)


class _Packets:
    def __init__(self, tables: Mapping[str, Sequence[Row]]) -> None:
        self.rows = tables["pid"]
        self.identities = {(row["TYPE"], row["STYPE"], row["APID"]): row for row in reversed(tables["pic"])}
        self.places, self.variable = _by(tables["plf"], "SPID"), _by(tables["vpd"], "TPSD")
        self.parameters = {row["NAME"]: row for row in tables["pcf"]}
        self.texts = _by(tables["txp"], "NUMBR")
        self.polynomials = {row["IDENT"]: row for row in tables["mcf"]}
        self.types: dict[str, Type | Refused] = {}
        self.fields = 0

    def read(self) -> tuple[dict[str, Packet], dict[str, str]]:
        """Packets, those first that are known by most, and the severities of events."""
        packets, severities = [], {}
        for row in self.rows:
            name = f"{row['DESCR'] or 'packet'} ({row['SPID']})"
            packet = Packet(name)
            read = attempt(name, self._packet, row)
            if isinstance(read, Refused):
                packet.fields = read
                packet.where = All((Where("apid", "==", row["APID"]), Where("type", "==", row["TYPE"])))
            else:
                packet.where, packet.fields = read
            packets.append(packet)
            if row["EVENT"] in _SEVERITIES:
                severities[name] = _SEVERITIES[row["EVENT"]]
        packets.sort(key=lambda packet: -len(packet.where.parts) if isinstance(packet.where, All) else 0)
        return {packet.name: packet for packet in packets}, severities

    def _packet(self, row: Row) -> tuple[All, tuple[Field, ...]]:
        fields = [
            Field("apid", Number(bits=_APID_BITS), _APID_BIT),
            Field("type", Number(), _TYPE_BIT),
            Field("subtype", Number(), _SUBTYPE_BIT),
        ]
        where = [
            Where(name, "==", row[column])
            for name, column in (("apid", "APID"), ("type", "TYPE"), ("subtype", "STYPE"))
        ]
        identity = self._identity(row)
        for n in ("1", "2"):
            if identity and identity[f"PI{n}OFF"] not in ("", "-1"):
                bits = Number(bits=int(identity[f"PI{n}WID"]))
                fields.append(Field(f"pi{n}", bits, int(identity[f"PI{n}OFF"]) * 8))
                where.append(Where(f"pi{n}", "==", row[f"PI{n}"] or "0"))
        if row["TPSD"] not in ("", "-1"):
            fields += self._variable(row)
        else:
            fields += self._fixed(row)
        return All(tuple(where)), tuple(fields)

    def _identity(self, row: Row) -> Row | None:
        service = row["TYPE"], row["STYPE"]
        return self.identities.get((*service, row["APID"])) or self.identities.get((*service, ""))

    def _count(self, fields: int) -> None:
        """Packets may share their fields, and a field may come often."""
        self.fields += fields
        if fields > MOST_PACKET_FIELDS or self.fields > MOST_FIELDS:
            raise Refused(f"more than {MOST_PACKET_FIELDS} fields, or {MOST_FIELDS} in the whole database")

    def _fixed(self, row: Row) -> list[Field]:
        places = sorted(self.places.get(row["SPID"], ()), key=lambda place: (int(place["OFFBY"]), int(place["OFFBI"])))
        fields: list[Field] = []
        for place in places:
            at, kind = int(place["OFFBY"]) * 8 + int(place["OFFBI"]), self._typed(place["NAME"])
            often, apart = int(place["NBOCC"] or 1), int(place["LGOCC"] or 0)
            if often < 1:
                raise Refused(f"{place['NAME']}: {often} times")
            self._count(often)
            fields += [
                Field(place["NAME"] if often == 1 else f"{place['NAME']}_{n + 1}", kind, at + n * apart)
                for n in range(often)
            ]
        return fields

    def _variable(self, row: Row) -> list[Field]:
        rows = sorted(self.variable.get(row["TPSD"], ()), key=lambda part: int(part["POS"]))
        self._count(len(rows))
        start = int(row["DFHSIZE"] or 0) * 8 + 48
        fields, rest = self._parts(rows, set())
        if rest:
            raise Refused("a group that is longer than the packet")
        return [Field(f.name, f.type, start if n == 0 else None, f.gap, f.when, f.count) for n, f in enumerate(fields)]

    def _parts(self, rows: Sequence[Row], names: set[str], depth: int = 0) -> tuple[list[Field], int]:
        """Fields in their order; a row with GRPSIZE repeats so many rows behind it, by its value or FIXREP times."""
        fields: list[Field] = []
        at = 0
        while at < len(rows):
            row, group = rows[at], _group(rows[at])
            if row["CHOICE"] == "Y" or depth > 8:
                raise Refused("a structure that another parameter chooses")
            name = row["NAME"]
            while name in names:
                name += "'"
                if len(name) > len(row["NAME"]) + MOST_DEPTH:
                    raise Refused(f"{row['NAME']}: there too often")
            names.add(name)
            often: By | int | None = int(row["FIXREP"]) if group and row["FIXREP"] not in ("", "0") else None
            if not group or often is None:
                fields.append(Field(name, self._typed(row["NAME"])))
            if group:
                members, missing = self._parts(rows[at + 1 : at + 1 + group], set(names), depth + 1)
                if missing or len(rows) < at + 1 + group:
                    return fields, 1
                fields.append(Field(f"{name} entries", Array(Struct(tuple(members)), (often or By(name),))))
                at += group
            at += 1
        return fields, 0

    def _typed(self, name: str) -> Type:
        row = self.parameters.get(name)
        if row is None:
            raise Refused(f"there is no parameter {name!r:.40}")
        return _known(self.types, name, self._read, row)

    def _read(self, row: Row) -> Type:
        kind = _typed(row)
        if not isinstance(kind, Number) or not row["CURTX"]:
            return kind
        if row["CATEG"] == "S":
            return Number(kind.coding, kind.bits, labels=self._labels(row["CURTX"]))
        if curve := self.polynomials.get(row["CURTX"]):
            return Number(
                kind.coding, kind.bits, calibration=Polynomial(tuple(float(curve[f"POL{n}"] or 0) for n in range(1, 6)))
            )
        return kind

    def _labels(self, reference: str) -> dict[int, str]:
        labels: dict[int, str] = {}
        count = 0
        for row in self.texts.get(reference, ()):
            first, last = number(row["FROM"]), number(row["TO"])
            if isinstance(first, int) and isinstance(last, int) and 0 <= last - first < MOST_COUNT:
                count += last - first + 1
                if count > MOST_COUNT:
                    raise Refused(f"more than {MOST_COUNT} labels")
                labels |= dict.fromkeys(range(first, last + 1), row["ALTXT"])
        return labels
