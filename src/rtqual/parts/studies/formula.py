# SPDX-License-Identifier: MIT
"""Formulas over printed figures, as the data files write them: '(max - min) / max', 'mean(fig3.others.avg)'.

A dotted name stands for a figure, or for several where it names a group of rows; several are reduced to one by least,
greatest, mean or count.
"""

import ast
import re
from collections.abc import Callable, Mapping
from decimal import Decimal

from rtqual.parts.studies.rounded import Rounded, greatest, least, mean

Figures = tuple[Rounded, ...]
Lookup = Callable[[tuple[str, ...]], Figures]

_OPERATORS: Mapping[type[ast.operator], Callable[[Rounded, Rounded], Rounded]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}
_OF_SEVERAL: Mapping[str, Callable[[Figures], Rounded]] = {
    "least": least,
    "greatest": greatest,
    "mean": mean,
    "count": lambda several: Rounded.exact(Decimal(len(several))),
}
_OF_ONE: Mapping[str, Callable[[Rounded], Rounded]] = {
    "squared": Rounded.squared,
    "sqrt": Rounded.sqrt,
    "about": lambda rounded: Rounded.about(rounded.value),
    "almost": lambda rounded: Rounded.almost(rounded.value),
}
_RELATIONS: Mapping[str, Callable[[Rounded, Rounded], bool]] = {
    "==": Rounded.agrees,
    "<=": lambda a, b: a.low <= b.high,
    "<": lambda a, b: a.low < b.high,
    ">=": lambda a, b: a.high >= b.low,
    ">": lambda a, b: a.high > b.low,
}
_RELATION = re.compile(r"\s*(==|<=|>=|<|>)\s*(.*)", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def split_relation(text: str) -> tuple[str, str]:
    """('<', '0.5') of '< 0.5'; without a relation the figures have to be equal."""
    match = _RELATION.fullmatch(text)
    return (match[1], match[2]) if match else ("==", text.strip())


def may_hold(left: Rounded, relation: str, right: Rounded) -> bool:
    """Whether the relation holds for some of what rounding leaves open."""
    return _RELATIONS[relation](left, right)


def figure_named(text: str) -> tuple[str, ...] | None:
    """The dotted name, where the whole formula is nothing but that: a copy."""
    return tuple(text.strip().split(".")) if re.fullmatch(r"\s*[A-Za-z_][\w.]*\s*", text) else None


def evaluate(text: str, lookup: Lookup) -> Rounded:
    """The one figure a formula gives. A number in it is exact. Raises ValueError when it cannot be read."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise ValueError(f"{text!r} is not a formula: {error.msg}") from None
    return _single(_Reader(text.strip(), lookup).read(tree.body), text)


def bound(relation: str, text: str, lookup: Lookup) -> Rounded:
    """The right side of a relation. A bare number that something is to equal was printed, so it was rounded."""
    if relation == "==" and _NUMBER.fullmatch(text):
        return Rounded.printed(Decimal(text))
    return evaluate(text, lookup)


def _single(figures: Figures, text: str) -> Rounded:
    if len(figures) != 1:
        raise ValueError(f"{text!r} names {len(figures)} figures; take least, greatest, mean or count of them")
    return figures[0]


class _Reader:
    def __init__(self, text: str, lookup: Lookup) -> None:
        self.text = text
        self.lookup = lookup

    def read(self, node: ast.expr) -> Figures:
        match node:
            case ast.Constant(value=int() | float()):
                # the source, not the value: a float has lost the digits
                return (Rounded.exact(Decimal(ast.get_source_segment(self.text, node) or "")),)
            case ast.Name() | ast.Attribute():
                return self.lookup(tuple(ast.unparse(node).split(".")))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return (-self.one(operand),)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return (_OPERATORS[type(op)](self.one(left), self.one(right)),)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _OF_SEVERAL:
                return (_OF_SEVERAL[name](tuple(rounded for arg in args for rounded in self.read(arg))),)
            case ast.Call(func=ast.Name(id=name), args=[arg], keywords=[]) if name in _OF_ONE:
                return (_OF_ONE[name](self.one(arg)),)
        raise ValueError(f"{ast.unparse(node)!r} has no meaning in a formula")

    def one(self, node: ast.expr) -> Rounded:
        return _single(self.read(node), ast.unparse(node))
