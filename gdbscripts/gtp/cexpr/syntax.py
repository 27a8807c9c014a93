# SPDX-License-Identifier: GPL-2.0-only
"""The nodes of a parsed expression. start and end are offsets into the text, where error messages put their caret."""
from dataclasses import dataclass, field
from typing import Any, List, Optional


@dataclass
class Node:
    start: int
    end: int


@dataclass
class Number(Node):
    """A literal: its value, as it was written, and how C types it: (bytes, unsigned)."""
    value: int
    text: str
    kind: tuple


@dataclass
class Char(Node):
    value: int


@dataclass
class String(Node):
    data: bytes


@dataclass
class Name(Node):
    """An identifier; scope is the 'file.c' or function before ::, without the quotes."""
    name: str
    scope: Optional[str] = None


@dataclass
class Dollar(Node):
    """$name: a trace state variable, a register, or one of GDB's convenience variables."""
    name: str


@dataclass
class Unary(Node):
    op: str
    operand: Any


@dataclass
class Binary(Node):
    op: str
    left: Any
    right: Any
    at: int = 0


@dataclass
class Conditional(Node):
    test: Any
    yes: Any
    no: Any


@dataclass
class Member(Node):
    base: Any
    name: str
    arrow: bool
    at: int = 0


@dataclass
class Index(Node):
    base: Any
    index: Any


@dataclass
class Call(Node):
    name: str
    arguments: List[Any] = field(default_factory=list)


@dataclass
class Cast(Node):
    type: Any
    operand: Any


@dataclass
class SizeOf(Node):
    """sizeof or _Alignof of a TypeName or an expression."""
    operand: Any
    align: bool = False


@dataclass
class Assign(Node):
    """$name op= value; nothing else can be assigned to."""
    target: Any
    op: str
    value: Any


@dataclass
class TypeName(Node):
    """A type as written: base is words like "struct sock", or a node for typeof; then pointers and arrays.

    derived lists the derivations from the base, in order: "*", or a number of elements.
    """
    base: Any
    derived: List[Any] = field(default_factory=list)


def children(node):
    """Yield the child nodes of a node."""
    for value in vars(node).values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Node):
                yield item


def walk(node):
    yield node
    for child in children(node):
        yield from walk(child)
