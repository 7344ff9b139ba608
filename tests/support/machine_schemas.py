# SPDX-License-Identifier: MIT
"""What may stand in the reports for machines, as those who take them define it."""

from collections.abc import Mapping
from xml.etree import ElementTree

# What Jenkins' schema (junit-10.xsd of its xUnit plugin) allows: element -> its required attributes, its others, its
# children. Everything else is an error there.
SCHEMA: Mapping[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "testcase": (
        {"name"},
        {"time", "classname", "group"},
        {"skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure", "flakyError", "system-out",
         "system-err"},
    ),
    "failure": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
    "skipped": (set(), {"type", "message"}, set()),
    "system-out": (set(), set(), set()),
}  # fmt: skip


def valid(text: str) -> ElementTree.Element:
    """Parsed, and checked against the schema; counts are those of the cases."""
    root = ElementTree.fromstring(text)  # noqa: S314 - ours
    assert root.tag == "testsuites"
    for element in root.iter():
        required, others, children = SCHEMA[element.tag]
        assert required <= set(element.attrib) <= required | others
        assert {child.tag for child in element} <= children
    for suite in root.iter("testsuite"):
        cases = suite.findall("testcase")
        counts = {"tests": len(cases)}
        for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            counts[name] = sum(case.find(kind) is not None for case in cases)
        assert {name: int(suite.attrib[name]) for name in counts} == counts
        assert all(len({"failure", "error", "skipped"} & {child.tag for child in case}) <= 1 for case in cases)
    for name in ("tests", "failures", "errors"):
        assert int(root.attrib[name]) == sum(int(suite.attrib[name]) for suite in root)
    return root


# As bencher.dev/docs/reference/bencher-metric-format gives it, with nothing else allowed beside the values.
BENCHER = {
    "type": "object",
    "patternProperties": {
        ".+": {
            "type": "object",
            "patternProperties": {
                "^.{1,64}$": {
                    "type": "object",
                    "properties": {name: {"type": "number"} for name in ("value", "lower_value", "upper_value")},
                    "required": ["value"],
                    "additionalProperties": False,
                }
            },
            "additionalProperties": False,
        }
    },
}
