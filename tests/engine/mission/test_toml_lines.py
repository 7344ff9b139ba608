# SPDX-License-Identifier: MIT
"""On which line each key of a TOML file is."""

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.engine.mission.toml_lines import KeyPath, key_lines


def paths_in(value: object, path: KeyPath = ()) -> set[KeyPath]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path} | {deeper for key, one in inner for deeper in paths_in(one, (*path, key))}


def test_every_key_is_found() -> None:
    tricky = """\
a = 1.5 # = [
"b.c".'d]' = \"\"\"
x = 1\"y\"\"\\"
\"\"\"\"\"
e = [ 1, # [
 "]", {x = 1979-05-27 07:32:00, y.z=[]}, [
 '''
 ]''']
]
[[k.m]]
n = ''
[ k . m . o ]
p = -1e5
[[k.m]]
[[k.m.q]]
[[k.m.q]]
r = inf
[k.s]
"""
    lines = key_lines(tricky)
    assert lines.keys() | {()} == paths_in(tomllib.loads(tricky))
    expected: dict[KeyPath, int] = {
        ("b.c", "d]"): 2,
        ("e",): 5,
        ("e", 2, "y", "z"): 6,
        ("e", 3, 0): 7,
        ("k", "m", 0, "o", "p"): 13,
        ("k", "m", 1): 14,
        ("k", "m", 1, "q", 1, "r"): 17,
        ("k", "s"): 18,
    }
    assert {path: lines[path] for path in expected} == expected


KEYS = st.sampled_from(["a", "b-1", '"a.b"', "'c]'", '"\\t"', "a.b", "1.2", '"#"', "'='"])
SCALARS = st.sampled_from(
    ["1", "1.5", '"]"', "'}'", '"\\"["', "''", '""', "'''\n#'''", '"""a""\n"""', "07:32:00", "nan"]
)
TOML_VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[ #[\n" + "\n,".join(items) + "\n]"),
        st.tuples(KEYS, inner).map(lambda pair: f"{{ {pair[0]} = {pair[1]} }}"),
    ),
    max_leaves=6,
)
STATEMENTS = st.one_of(
    st.tuples(KEYS, TOML_VALUES).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    KEYS.map(lambda key: f"[{key}]"),
    KEYS.map(lambda key: f"[[ {key} ]] # ="),
    st.just(""),
)


@settings(max_examples=300, deadline=None)
@given(statements=st.lists(STATEMENTS, max_size=8))
def test_whatever_tomllib_accepts_is_found(statements: list[str]) -> None:
    text = "\n".join(statements)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    lines = key_lines(text)
    assert lines.keys() | {()} == paths_in(document)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())
