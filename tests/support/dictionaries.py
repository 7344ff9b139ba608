# SPDX-License-Identifier: MIT
"""A small dictionary of each format, with an element of each kind that a reader must refuse when it is used."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

U8 = {"name": "U8", "kind": "integer", "size": 8, "signed": False}
U16 = {"name": "U16", "kind": "integer", "size": 16, "signed": False}
U32 = {"name": "U32", "kind": "integer", "size": 32, "signed": False}


def _named(name: str) -> dict[str, Any]:
    return {"name": name, "kind": "qualifiedIdentifier"}


def _parameters(**types: Any) -> list[dict[str, Any]]:
    return [{"name": name, "type": kind, "ref": False} for name, kind in types.items()]


FPRIME: dict[str, Any] = {
    "metadata": {"dictionarySpecVersion": "1.0.0"},
    "typeDefinitions": [
        {
            "kind": "enum", "qualifiedName": "Ref.Mode", "representationType": U8,
            "enumeratedConstants": [{"name": "OFF", "value": 0}, {"name": "ON", "value": 1}],
        },
        {
            "kind": "struct", "qualifiedName": "Ref.Pair",
            "members": {"b": {"type": U8, "index": 1, "size": 2}, "a": {"type": U16, "index": 0}},
        },
        {"kind": "array", "qualifiedName": "Ref.Cycle", "size": 2, "elementType": _named("Ref.Cycle")},
        {"kind": "array", "qualifiedName": "Ref.Three", "size": 3, "elementType": U8},
    ],
    "commands": [
        {"name": "Ref.cmdDisp.CMD_NO_OP", "commandKind": "async", "opcode": 0x500, "formalParams": []},
        {
            "name": "Ref.cmdDisp.CMD_TEST", "opcode": 0x501,
            "formalParams": _parameters(
                mode=_named("Ref.Mode"), text={"name": "string", "kind": "string", "size": 8}, pair=_named("Ref.Pair"),
                yes={"name": "bool", "kind": "bool", "size": 8},
            ),
        },
        {"name": "Ref.odd.MISSING", "opcode": 1, "formalParams": _parameters(a=_named("Nowhere"))},
        {"name": "Ref.odd.CYCLE", "opcode": 2, "formalParams": _parameters(a=_named("Ref.Cycle"))},
    ],
    "events": [
        {
            "name": "Ref.cmdDisp.OpCodeDispatched", "severity": "COMMAND", "id": 0x100,
            "formalParams": _parameters(opcode=U32),
        },
    ],
    "telemetryChannels": [
        {"name": "Ref.temp", "id": 0x200, "type": {"name": "F32", "kind": "float", "size": 32}},
        {"name": "Ref.three", "id": 0x201, "type": _named("Ref.Three")},
    ],
    "telemetryPacketSets": [{"name": "P", "members": [{"name": "one", "id": 1, "members": ["Ref.temp", "Ref.three"]}]}],
}  # fmt: skip

XTCE = """<?xml version="1.0"?>
<xtce:SpaceSystem name="SAT" xmlns:xtce="http://www.omg.org/spec/XTCE/20180204" xmlns="http://www.omg.org/spec/XTCE/20180204">
<TelemetryMetaData>
 <ParameterTypeSet>
  <IntegerParameterType name="u8"><IntegerDataEncoding sizeInBits="8"/></IntegerParameterType>
  <IntegerParameterType name="u16"><IntegerDataEncoding sizeInBits="16"/></IntegerParameterType>
  <AggregateParameterType name="head"><MemberList><Member name="apid" typeRef="u16"/></MemberList>
   </AggregateParameterType>
  <FloatParameterType name="volts"><IntegerDataEncoding sizeInBits="8"><DefaultCalibrator><PolynomialCalibrator>
   <Term coefficient="1" exponent="0"/><Term coefficient="2" exponent="1"/></PolynomialCalibrator></DefaultCalibrator>
   </IntegerDataEncoding></FloatParameterType>
  <BooleanParameterType name="state"><IntegerDataEncoding sizeInBits="8"/></BooleanParameterType>
 </ParameterTypeSet>
 <ParameterSet>
  <Parameter name="head" parameterTypeRef="head"/><Parameter name="apid" parameterTypeRef="u16"/>
  <Parameter name="length" parameterTypeRef="u16"/><Parameter name="function" parameterTypeRef="u8"/>
  <Parameter name="volts" parameterTypeRef="/SAT/volts"/><Parameter name="state" parameterTypeRef="state"/>
 </ParameterSet>
 <ContainerSet>
  <SequenceContainer name="Header"><EntryList><ParameterRefEntry parameterRef="head"/>
   <ParameterRefEntry parameterRef="length"/><ParameterRefEntry parameterRef="function"/></EntryList>
   </SequenceContainer>
  <SequenceContainer name="HK"><EntryList><ParameterRefEntry parameterRef="volts"/>
   <ParameterRefEntry parameterRef="state"/></EntryList>
   <BaseContainer containerRef="Header"><RestrictionCriteria><ComparisonList>
    <Comparison parameterRef="head/apid" value="5"/><Comparison parameterRef="function" value="9"/>
   </ComparisonList></RestrictionCriteria></BaseContainer></SequenceContainer>
  <SequenceContainer name="Self"><EntryList><ContainerRefEntry containerRef="Self"/></EntryList></SequenceContainer>
 </ContainerSet>
</TelemetryMetaData>
<CommandMetaData>
 <ArgumentTypeSet>
  <IntegerArgumentType name="level"><IntegerDataEncoding sizeInBits="16" byteOrder="leastSignificantByteFirst"/>
   <ValidRangeSet><ValidRange minInclusive="0" maxInclusive="300"/></ValidRangeSet></IntegerArgumentType>
  <EnumeratedArgumentType name="mode"><IntegerDataEncoding sizeInBits="8"/><EnumerationList>
   <Enumeration value="0" label="OFF"/><Enumeration value="1" label="ON"/></EnumerationList></EnumeratedArgumentType>
  <BinaryArgumentType name="program"><BinaryDataEncoding><SizeInBits><FixedValue>8</FixedValue></SizeInBits>
   <FromBinaryTransformAlgorithm name="a"/></BinaryDataEncoding></BinaryArgumentType>
 </ArgumentTypeSet>
 <MetaCommandSet>
  <MetaCommand name="TC" abstract="true">
   <CommandContainer name="TC"><EntryList><ParameterRefEntry parameterRef="apid"/>
    <ParameterRefEntry parameterRef="length"/><ParameterRefEntry parameterRef="function"/></EntryList>
   </CommandContainer>
  </MetaCommand>
  <MetaCommand name="SET_LEVEL"><BaseMetaCommand metaCommandRef="TC"/>
   <ArgumentList><Argument name="level" argumentTypeRef="level"/>
    <Argument name="mode" argumentTypeRef="mode"/></ArgumentList>
   <CommandContainer name="SET_LEVEL"><EntryList><ArgumentRefEntry argumentRef="level"/>
    <ArgumentRefEntry argumentRef="mode"/><FixedValueEntry binaryValue="aa" sizeInBits="8"/></EntryList>
    <BaseContainer containerRef="TC"><RestrictionCriteria><ComparisonList><Comparison parameterRef="apid" value="5"/>
     <Comparison parameterRef="function" value="7"/></ComparisonList></RestrictionCriteria></BaseContainer>
   </CommandContainer>
   <VerifierSet><AcceptedVerifier/><CompleteVerifier/></VerifierSet>
  </MetaCommand>
  <MetaCommand name="BY_PROGRAM"><ArgumentList><Argument name="a" argumentTypeRef="program"/></ArgumentList>
   <CommandContainer name="P"><EntryList><ArgumentRefEntry argumentRef="a"/></EntryList></CommandContainer>
  </MetaCommand>
  <MetaCommand name="LOOP"><BaseMetaCommand metaCommandRef="LOOP"/></MetaCommand>
 </MetaCommandSet>
</CommandMetaData>
</xtce:SpaceSystem>
"""

# The kinds of types, entries and conditions that the one above lacks.
XTCE_KINDS = """<SpaceSystem name="SAT" xmlns="http://www.omg.org/spec/XTCE/20180204">
<TelemetryMetaData>
 <ParameterTypeSet>
  <IntegerParameterType name="u8"><IntegerDataEncoding sizeInBits="8"/></IntegerParameterType>
  <IntegerParameterType name="ones"><IntegerDataEncoding sizeInBits="8"
   encoding="onesComplement"/></IntegerParameterType>
  <IntegerParameterType name="sign"><IntegerDataEncoding sizeInBits="8"
   encoding="signMagnitude"/></IntegerParameterType>
  <IntegerParameterType name="twos" signed="true"><IntegerDataEncoding sizeInBits="16" encoding="twosComplement"
   byteOrder="leastSignificantByteFirst"/></IntegerParameterType>
  <FloatParameterType name="mil"><FloatDataEncoding sizeInBits="32" encoding="MILSTD_1750A"/></FloatParameterType>
  <FloatParameterType name="single"><FloatDataEncoding sizeInBits="32"/></FloatParameterType>
  <FloatParameterType name="spline"><IntegerDataEncoding sizeInBits="8"><DefaultCalibrator><SplineCalibrator>
   <SplinePoint raw="0" calibrated="1"/><SplinePoint raw="9" calibrated="4"/></SplineCalibrator></DefaultCalibrator>
   </IntegerDataEncoding></FloatParameterType>
  <StringParameterType name="fixed"><StringDataEncoding><SizeInBits><Fixed><FixedValue>16</FixedValue></Fixed>
   </SizeInBits></StringDataEncoding></StringParameterType>
  <StringParameterType name="ended"><StringDataEncoding encoding="US-ASCII"><SizeInBits><Fixed>
   <FixedValue>64</FixedValue></Fixed><TerminationChar>00</TerminationChar></SizeInBits></StringDataEncoding></StringParameterType>
  <StringParameterType name="tagged"><StringDataEncoding><Variable maxSizeInBits="80">
   <LeadingSize sizeInBitsOfSizeTag="8"/></Variable></StringDataEncoding></StringParameterType>
  <BinaryParameterType name="sized"><BinaryDataEncoding><SizeInBits><DynamicValue><ParameterInstanceRef
   parameterRef="count"/><LinearAdjustment slope="8" intercept="0"/></DynamicValue></SizeInBits></BinaryDataEncoding>
   </BinaryParameterType>
  <EnumeratedParameterType name="mode"><IntegerDataEncoding sizeInBits="8"/><EnumerationList>
   <Enumeration value="0" label="OFF"/><Enumeration value="1" maxValue="5" label="ON"/></EnumerationList>
   </EnumeratedParameterType>
  <ArrayParameterType name="list" arrayTypeRef="u8"><DimensionList><Dimension><StartingIndex><FixedValue>0</FixedValue>
   </StartingIndex><EndingIndex><DynamicValue><ParameterInstanceRef parameterRef="count"/></DynamicValue></EndingIndex>
   </Dimension></DimensionList></ArrayParameterType>
  <AbsoluteTimeParameterType name="time"><Encoding scale="0.1" offset="5"><IntegerDataEncoding sizeInBits="32"/>
   </Encoding><ReferenceTime><Epoch>UNIX</Epoch></ReferenceTime></AbsoluteTimeParameterType>
 </ParameterTypeSet>
 <ParameterSet>
  <Parameter name="kind" parameterTypeRef="u8"/><Parameter name="count" parameterTypeRef="u8"/>
  <Parameter name="ones" parameterTypeRef="ones"/><Parameter name="sign" parameterTypeRef="sign"/>
  <Parameter name="twos" parameterTypeRef="twos"/><Parameter name="mil" parameterTypeRef="mil"/>
  <Parameter name="single" parameterTypeRef="single"/><Parameter name="spline" parameterTypeRef="spline"/>
  <Parameter name="fixed" parameterTypeRef="fixed"/><Parameter name="ended" parameterTypeRef="ended"/>
  <Parameter name="tagged" parameterTypeRef="tagged"/><Parameter name="sized" parameterTypeRef="sized"/>
  <Parameter name="mode" parameterTypeRef="mode"/><Parameter name="list" parameterTypeRef="list"/>
  <Parameter name="time" parameterTypeRef="time"/>
 </ParameterSet>
 <ContainerSet>
  <SequenceContainer name="Head" abstract="true"><EntryList><ParameterRefEntry parameterRef="kind"/>
   <ParameterRefEntry parameterRef="count"/></EntryList></SequenceContainer>
  <SequenceContainer name="Numbers"><EntryList><ParameterRefEntry parameterRef="ones"/>
   <ParameterRefEntry parameterRef="sign"/><ParameterRefEntry parameterRef="twos"/>
   <ParameterRefEntry parameterRef="mil"/><ParameterRefEntry parameterRef="single"/>
   <ParameterRefEntry parameterRef="spline"/></EntryList></SequenceContainer>
  <SequenceContainer name="Whole"><EntryList><ContainerRefEntry containerRef="Numbers"/>
   <ParameterRefEntry parameterRef="mode"><IncludeCondition><Comparison parameterRef="count" comparisonOperator="&gt;"
    value="0"/></IncludeCondition></ParameterRefEntry>
   <ParameterRefEntry parameterRef="time"><LocationInContainerInBits><FixedValue>8</FixedValue>
    </LocationInContainerInBits></ParameterRefEntry>
   <ParameterRefEntry parameterRef="ones"><RepeatEntry><Count><FixedValue>2</FixedValue></Count></RepeatEntry>
    </ParameterRefEntry></EntryList>
   <BaseContainer containerRef="Head"><RestrictionCriteria><BooleanExpression><ANDedConditions><Condition>
    <ParameterInstanceRef parameterRef="kind" useCalibratedValue="false"/><ComparisonOperator>==</ComparisonOperator>
    <Value>1</Value></Condition><ORedConditions><Condition><ParameterInstanceRef parameterRef="count"/>
    <ComparisonOperator>&gt;=</ComparisonOperator><Value>2</Value></Condition><Condition><ParameterInstanceRef
    parameterRef="count"/><ComparisonOperator>!=</ComparisonOperator><Value>9</Value></Condition></ORedConditions>
    </ANDedConditions></BooleanExpression></RestrictionCriteria></BaseContainer></SequenceContainer>
  <SequenceContainer name="Texts"><EntryList><ParameterRefEntry parameterRef="fixed"/>
   <ParameterRefEntry parameterRef="ended"/><ParameterRefEntry parameterRef="tagged"/>
   <ParameterRefEntry parameterRef="sized"/><ArrayParameterRefEntry parameterRef="list"/></EntryList>
   <BaseContainer containerRef="Head"><RestrictionCriteria><Comparison parameterRef="kind" value="2"/>
   </RestrictionCriteria></BaseContainer></SequenceContainer>
 </ContainerSet>
</TelemetryMetaData>
<CommandMetaData>
<ArgumentTypeSet>
 <StringArgumentType name="tagged"><StringDataEncoding><Variable maxSizeInBits="80">
  <LeadingSize sizeInBitsOfSizeTag="8"/></Variable></StringDataEncoding></StringArgumentType>
 <EnumeratedArgumentType name="mode"><IntegerDataEncoding sizeInBits="8"/><EnumerationList>
  <Enumeration value="0" label="OFF"/><Enumeration value="1" label="ON"/></EnumerationList></EnumeratedArgumentType>
 <FloatArgumentType name="spline"><IntegerDataEncoding sizeInBits="8"><DefaultCalibrator><SplineCalibrator>
  <SplinePoint raw="0" calibrated="0"/><SplinePoint raw="9" calibrated="4"/></SplineCalibrator></DefaultCalibrator>
  </IntegerDataEncoding></FloatArgumentType>
</ArgumentTypeSet>
<MetaCommandSet>
 <MetaCommand name="SEND"><ArgumentList><Argument name="text" argumentTypeRef="tagged"/><Argument name="mode"
  argumentTypeRef="mode"/><Argument name="curve" argumentTypeRef="spline"/></ArgumentList>
  <CommandContainer name="SEND"><EntryList><FixedValueEntry binaryValue="aa" sizeInBits="8"/>
  <ArgumentRefEntry argumentRef="text"/><ArgumentRefEntry argumentRef="mode"/><ArgumentRefEntry argumentRef="curve"/>
  </EntryList></CommandContainer></MetaCommand>
</MetaCommandSet></CommandMetaData>
</SpaceSystem>
"""

# Containers that double with each level, of nothing and of a field.
_LEVELS = "".join(
    f'<SequenceContainer name="{name}{n}"><EntryList><ContainerRefEntry containerRef="{name}{n + 1}"/>'
    f'<ContainerRefEntry containerRef="{name}{n + 1}"/></EntryList></SequenceContainer>'
    for name in ("Nothing", "Field")
    for n in range(25)
)
XTCE_DOUBLED = f"""<SpaceSystem name="S"><TelemetryMetaData>
<ParameterTypeSet><IntegerParameterType name="u8"><IntegerDataEncoding/></IntegerParameterType></ParameterTypeSet>
<ParameterSet><Parameter name="a" parameterTypeRef="u8"/></ParameterSet>
<ContainerSet>{_LEVELS}<SequenceContainer name="Nothing25"><EntryList/></SequenceContainer>
<SequenceContainer name="Field25"><EntryList><ParameterRefEntry parameterRef="a"/></EntryList></SequenceContainer>
</ContainerSet></TelemetryMetaData></SpaceSystem>"""

COSMOS = """\
# A comment with an apostrophe: it's read over.
COMMAND <%= target_name %> COLLECT BIG_ENDIAN "Starts a collect"
  APPEND_ID_PARAMETER ID 16 UINT 0 65535 0x0102 "Identity"
  APPEND_PARAMETER LEN 16 UINT MIN MAX 3 "Length" LITTLE_ENDIAN
  APPEND_PARAMETER TYPE 8 UINT MIN_UINT8 MAX_UINT8 0 "Type"
    REQUIRED
    STATE NORMAL 0
    STATE SPECIAL 1 HAZARDOUS "It's special"
  APPEND_PARAMETER DURATION 32 FLOAT 0.0 10.0 5.0 \\
    "Seconds"
  APPEND_PARAMETER TEXT 64 STRING "hi" "Text"
COMMAND <%= target_name %> CONVERTED BIG_ENDIAN
  APPEND_PARAMETER A 8 UINT 0 1 0
    GENERIC_WRITE_CONVERSION_START
      value * 2
      COMMAND is no keyword here
    GENERIC_WRITE_CONVERSION_END
COMMAND <%= target_name %> JSON BIG_ENDIAN
  ACCESSOR JsonAccessor
  APPEND_PARAMETER A 8 UINT 0 1 0
COMMAND <%= target_name %> ODD MIDDLE_ENDIAN
  APPEND_PARAMETER A 8 UINT 0 1 0
TELEMETRY <%= target_name %> HEALTH BIG_ENDIAN "Health"
  APPEND_ID_ITEM ID 8 UINT 7 "Identity"
  APPEND_ITEM TEMP 8 UINT "Temperature"
    POLY_READ_CONVERSION 10 2
    UNITS Celsius C
    LIMITS DEFAULT 1 ENABLED -80 -70 60 80
  APPEND_ARRAY_ITEM ARRAY 8 UINT 16 "Array"
  APPEND_ITEM REST 0 BLOCK "Rest"
  ITEM RECEIVED 0 0 DERIVED "Derived"
TELEMETRY <%= target_name %> UNKNOWN BIG_ENDIAN "No identity"
  APPEND_ITEM A 8 UINT
""".replace("5.0 \\\n", "5.0 &\n")  # COSMOS goes on in the next line by &

MIB: dict[str, list[dict[str, str]]] = {
    "ccf": [
        {"CNAME": name, "DESCR": name, "PKTID": "HEAD", "TYPE": "8", "STYPE": "1", "APID": "5", "ACK": "1"}
        for name in ("SETMODE", "LIST")
    ],
    "pcdf": [
        {"TCNAME": "HEAD", "TYPE": "F", "LEN": "5", "BIT": "0", "VALUE": "3", "RADIX": "D"},
        {"TCNAME": "HEAD", "TYPE": "A", "LEN": "11", "BIT": "5"},
        {"TCNAME": "HEAD", "TYPE": "F", "LEN": "4", "BIT": "16", "VALUE": "1", "RADIX": "D"},
        {"TCNAME": "HEAD", "TYPE": "K", "LEN": "4", "BIT": "20"},
        {"TCNAME": "HEAD", "TYPE": "T", "LEN": "8", "BIT": "24"},
        {"TCNAME": "HEAD", "TYPE": "S", "LEN": "8", "BIT": "32"},
    ],
    "cdf": [
        {"CNAME": "SETMODE", "ELTYPE": "E", "ELLEN": "8", "BIT": "0", "GRPSIZE": "0", "PNAME": "MODE", "INTER": "R"},
        {"CNAME": "SETMODE", "ELTYPE": "A", "ELLEN": "16", "BIT": "8", "GRPSIZE": "0", "VALUE": "ff"},
        {"CNAME": "LIST", "ELTYPE": "E", "ELLEN": "8", "BIT": "0", "GRPSIZE": "1", "PNAME": "COUNT", "INTER": "R"},
        {"CNAME": "LIST", "ELTYPE": "E", "ELLEN": "16", "BIT": "8", "GRPSIZE": "0", "PNAME": "VALUE", "INTER": "R"},
    ],
    "cpc": [
        {"PNAME": "MODE", "PTC": "3", "PFC": "4", "PAFREF": "MODES", "CATEG": "N"},
        {"PNAME": "COUNT", "PTC": "3", "PFC": "4", "CATEG": "N"},
        {"PNAME": "VALUE", "PTC": "3", "PFC": "12", "CATEG": "N", "PRFREF": "R100"},
    ],
    "pas": [
        {"NUMBR": "MODES", "ALTXT": "IDLE", "ALVAL": "1"},
        {"NUMBR": "MODES", "ALTXT": "SAFE", "ALVAL": "2"},
    ],
    "prv": [{"NUMBR": "R100", "MINVAL": "0", "MAXVAL": "100"}],
    "pid": [
        {"TYPE": "3", "STYPE": "25", "APID": "5", "PI1": "7", "PI2": "0", "SPID": "1001", "DESCR": "house keeping",
         "TPSD": "-1", "DFHSIZE": "3", "EVENT": "N"},
        {"TYPE": "5", "STYPE": "1", "APID": "5", "PI1": "0", "PI2": "0", "SPID": "1002", "DESCR": "event", "TPSD": "1",
         "DFHSIZE": "3", "EVENT": "W"},
    ],
    "pic": [{"TYPE": "3", "STYPE": "25", "PI1OFF": "9", "PI1WID": "8", "PI2OFF": "-1", "PI2WID": "0", "APID": ""}],
    "plf": [{"NAME": "VOLTS", "SPID": "1001", "OFFBY": "10", "OFFBI": "0", "NBOCC": "1", "LGOCC": "0"}],
    "pcf": [
        {"NAME": "VOLTS", "PTC": "3", "PFC": "12", "CATEG": "N", "CURTX": "TWO"},
        {"NAME": "COUNT", "PTC": "3", "PFC": "4", "CATEG": "N"},
        {"NAME": "VALUE", "PTC": "3", "PFC": "12", "CATEG": "N"},
    ],
    "mcf": [{"IDENT": "TWO", "POL1": "1", "POL2": "2"}],
    "vpd": [
        {"TPSD": "1", "POS": "1", "NAME": "COUNT", "GRPSIZE": "1", "FIXREP": "0", "CHOICE": "N"},
        {"TPSD": "1", "POS": "2", "NAME": "VALUE", "GRPSIZE": "0", "FIXREP": "0", "CHOICE": "N"},
    ],
}  # fmt: skip


def write_mib(folder: Path, tables: Mapping[str, Sequence[Mapping[str, str]]]) -> Path:
    """Write tables as a MIB has them, and return the folder."""
    from rtqual.parts.dictionaries.scos import COLUMNS

    folder.mkdir()
    for name, rows in tables.items():
        lines = ("\t".join(row.get(column, "") for column in COLUMNS[name].split()) for row in rows)
        (folder / f"{name}.dat").write_text("".join(f"{line}\n" for line in lines))
    return folder
