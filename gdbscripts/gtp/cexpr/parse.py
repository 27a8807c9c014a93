# SPDX-License-Identifier: GPL-2.0-only
"""Parses text into nodes: C's grammar of expressions without the comma operator, and GDB's @, {type} address and ::."""
from gtp.cexpr import syntax
from gtp.cexpr.error import Error
from gtp.cexpr.tokens import tokens, unescaped

LEVELS = [("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("@",),
          ("+", "-"), ("*", "/", "%")]
PREFIX = ("+", "-", "!", "~", "*", "&")
ASSIGNING = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
DEEP = "it has too many brackets"  # for a RecursionError of those who walk through the nodes
QUALIFIERS = {"const", "volatile", "restrict", "__restrict", "__user", "__rcu", "__iomem", "__percpu", "__force"}
BASIC = {"char", "short", "int", "long", "signed", "unsigned", "void", "_Bool", "float", "double", "__int128"}
TYPEOF = {"typeof", "__typeof__", "__typeof", "typeof_unqual"}
SIZEOF = {"sizeof": False, "_Alignof": True, "__alignof__": True, "alignof": True}
TYPE_FIRST = {"offsetof": 0, "__builtin_offsetof": 0, "container_of": 1, "container_of_const": 1, "list_entry": 1,
              "hlist_entry": 1, "rb_entry": 1, "list_first_entry": 1, "list_last_entry": 1,
              "list_first_entry_or_null": 1, "list_entry_rcu": 1, "list_first_or_null_rcu": 1, "hlist_entry_safe": 1,
              "rb_entry_safe": 1}
# The second argument of these calls is the name of a member, even if a type has that name, too.
MEMBER_SECOND = {"list_next_entry", "list_prev_entry"}


class Parser:
    """The parser of one expression. is_type(name) distinguishes typedef names from variables."""

    def __init__(self, text, is_type):
        self.text, self.is_type = text, is_type
        self.tokens = tokens(text)
        self.at = 0

    # Tokens

    @property
    def next(self):
        return self.tokens[self.at]

    def after(self, n=1):
        return self.tokens[min(self.at + n, len(self.tokens) - 1)]

    def take(self):
        token = self.next
        self.at += 1
        return token

    def sees(self, *ops):
        return self.next.kind == "op" and self.next.text in ops

    def accept(self, *ops):
        return self.take() if self.sees(*ops) else None

    def expect(self, op):
        if not self.sees(op):
            raise Error("%s is expected here" % op, self.next.start)
        return self.take()

    def done(self, start, kind, *args):
        """Return a node whose text is from START to the end of the last token that was read."""
        return kind(start, self.tokens[self.at - 1].end, *args)

    # Expressions

    def whole(self):
        """Parse the whole text as one expression."""
        if self.next.kind == "end":
            raise Error("an expression is expected", 0)
        node = self.expression()
        self.must_end()
        return node

    def must_end(self):
        if self.sees(","):
            raise Error("the comma operator has no use here", self.next.start, "Write one expression.")
        if self.next.kind != "end":
            raise Error("an operator is expected before %s" % self.next.text, self.next.start)

    def expression(self):
        left = self.conditional()
        if self.sees(*ASSIGNING):
            op = self.take().text
            value = self.expression()
            return syntax.Assign(left.start, value.end, left, op, value)
        return left

    def conditional(self):
        test = self.binary(0)
        if not self.accept("?"):
            return test
        yes = test if self.sees(":") else self.expression()
        self.expect(":")
        no = self.conditional()
        return syntax.Conditional(test.start, no.end, test, yes, no)

    def binary(self, level):
        if level == len(LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.sees(*LEVELS[level]):
            op = self.take()
            right = self.binary(level + 1)
            left = syntax.Binary(left.start, right.end, op.text, left, right, op.start)
        return left

    def unary(self):
        token = self.next
        if self.sees("++", "--"):
            self.take()
            return self.step(token, self.unary())
        if self.sees("&&"):
            raise Error("an operand is expected before &&", token.start)
        if self.sees(*PREFIX):
            self.take()
            operand = self.unary()
            return syntax.Unary(token.start, operand.end, token.text, operand)
        if token.kind == "name" and token.text in SIZEOF:
            return self.size_of()
        if self.sees("(") and self.type_begins(1):
            return self.cast()
        if self.sees("{"):
            return self.braces()
        return self.postfix(self.primary())

    def step(self, token, operand):
        """Parse ++x or x++, which only a trace state variable allows."""
        one = syntax.Number(token.start, token.end, 1, "1", (4, False))
        return syntax.Assign(min(token.start, operand.start), max(token.end, operand.end), operand,
                             token.text[0] + "=", one)

    def cast(self):
        start = self.expect("(").start
        kind = self.type_name()
        self.expect(")")
        if self.sees("{"):
            raise Error("compound literals cannot be made at a hit", self.next.start)
        operand = self.unary()
        return syntax.Cast(start, operand.end, kind, operand)

    def braces(self):
        """Parse GDB's {type} address."""
        start = self.expect("{").start
        kind = self.type_name()
        self.expect("}")
        kind.derived.append("*")
        operand = self.unary()
        return syntax.Unary(start, operand.end, "*", syntax.Cast(start, operand.end, kind, operand))

    def size_of(self):
        word = self.take()
        if self.sees("(") and self.type_begins(1):
            self.take()
            operand = self.type_name()
            self.expect(")")
        else:
            operand = self.unary()
        return self.done(word.start, syntax.SizeOf, operand, SIZEOF[word.text])

    def postfix(self, node):
        while True:
            token = self.next
            if self.accept("["):
                index = self.expression()
                self.expect("]")
                node = self.done(node.start, syntax.Index, node, index)
            elif self.accept(".", "->"):
                name = self.member_name(token)
                node = syntax.Member(node.start, name.end, node, name.text, token.text == "->", name.start)
            elif self.accept("++", "--"):
                node = self.step(token, node)
            elif self.sees("("):
                raise Error("a function cannot be called at a hit", node.start)
            else:
                return node

    def member_name(self, token):
        if self.next.kind != "name":
            raise Error("a member's name is expected after %s" % token.text, self.next.start)
        return self.take()

    def primary(self):
        token = self.take()
        if token.kind == "number":
            return number(token)
        if token.kind == "char":
            return character(token)
        if token.kind == "string":
            return self.string(token)
        if token.kind == "dollar":
            return self.dollar(token)
        if token.kind == "scope":
            return self.scoped(token)
        if token.kind == "name":
            return self.call(token) if self.sees("(") else syntax.Name(token.start, token.end, token.text)
        if token.text == "(":
            return self.parenthesised(token)
        raise Error("an operand is expected" + (" before %s" % token.text if token.text else ""), token.start)

    def parenthesised(self, token):
        if self.sees("{"):
            raise Error("statements cannot be evaluated at a hit", token.start)
        node = self.expression()
        if self.sees(","):
            raise Error("the comma operator has no use here", self.next.start, "Write one expression.")
        self.expect(")")
        return node

    def dollar(self, token):
        if self.sees("(") and token.text.startswith("$_"):
            return self.call(token)
        return syntax.Dollar(token.start, token.end, token.text[1:])

    def scoped(self, token):
        name = self.take()
        if name.kind != "name":
            raise Error("a name is expected after ::", name.start)
        scope = token.text.rstrip(": \t").strip("'")
        return syntax.Name(token.start, name.end, name.text, scope)

    def string(self, token):
        data = unescaped(token.text[1:-1], token.start)
        while self.next.kind == "string":
            more = self.take()
            data += unescaped(more.text[1:-1], more.start)
        return self.done(token.start, syntax.String, data)

    def call(self, name):
        self.expect("(")
        arguments = []
        while not self.sees(")"):
            typed = TYPE_FIRST.get(name.text) == len(arguments)
            if name.text not in TYPE_FIRST and not (name.text in MEMBER_SECOND and len(arguments) == 1):
                typed = self.type_begins(0)
            arguments.append(self.type_name() if typed else self.expression())
            if not self.accept(","):
                break
        self.expect(")")
        return self.done(name.start, syntax.Call, name.text, arguments)

    # Types

    def type_begins(self, ahead):
        token = self.after(ahead)
        if token.kind == "scope":
            return self.after(ahead + 1).kind == "name" and self.is_type(token.text + self.after(ahead + 1).text)
        if token.kind != "name":
            return False
        return (token.text in BASIC or token.text in QUALIFIERS or token.text in TYPEOF or
                token.text in ("struct", "union", "enum") or self.is_type(token.text))

    def type_name(self):
        start = self.next.start
        base = self.specifiers()
        node = self.done(start, syntax.TypeName, base, self.declarator())
        node.end = self.tokens[self.at - 1].end
        return node

    def specifiers(self):
        """Parse the base type of a declaration. Return its words as written, or the operand of typeof."""
        words = [self.take().text + self.take().text] if self.next.kind == "scope" else []
        while self.next.kind == "name" and not (words and "::" in words[0]):
            word = self.next.text
            if word in QUALIFIERS:
                self.take()
            elif word in TYPEOF and not words:
                return self.type_of()
            elif word in ("struct", "union", "enum") and not words:
                words = [self.take().text, self.tag(word)]
                break
            elif word in BASIC:
                words.append(self.take().text)
            elif not words:
                words.append(self.take().text)
                break
            else:
                break
        while self.next.kind == "name" and self.next.text in QUALIFIERS:
            self.take()
        if not words:
            raise Error("a type is expected", self.next.start)
        return " ".join(words)

    def tag(self, word):
        scope = self.take().text if self.next.kind == "scope" else ""
        if self.next.kind != "name":
            raise Error("the name of a %s is expected" % word, self.next.start)
        return scope + self.take().text

    def type_of(self):
        self.take()
        self.expect("(")
        node = self.type_name() if self.type_begins(0) else self.expression()
        self.expect(")")
        return node

    def declarator(self):
        """Parse an abstract declarator: pointers, then (declarator) or arrays. Return the list of derivations."""
        pointers = self.pointers()
        inner = []
        if self.sees("(") and self.after().text in ("*", "("):
            self.take()
            inner = self.declarator()
            self.expect(")")
        if self.sees("("):
            return pointers + self.function() + inner
        arrays = []
        while self.accept("["):
            arrays.insert(0, None if self.sees("]") else self.expression())
            self.expect("]")
        return pointers + arrays + inner

    def pointers(self):
        found = []
        while True:
            if self.accept("*"):
                found.append("*")
            elif self.next.kind == "name" and self.next.text in QUALIFIERS:
                self.take()
            else:
                return found

    def function(self):
        """Skip the parameters of a function type: all pointers to functions are treated alike."""
        depth = 0
        while True:
            token = self.take()
            if token.kind == "end":
                raise Error(") is expected", token.start)
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if depth == 0:
                return ["()"]


def number(token):
    """Return a literal with the type that C gives it."""
    digits = token.text.rstrip("uUlL")
    suffix = token.text[len(digits):].lower()
    if digits[:2].lower() in ("0x", "0b"):
        value = int(digits, 0)
    elif digits[0] == "0" and len(digits) > 1:
        if not digits.isdigit() or set(digits) & set("89"):
            raise Error("%s is not an octal number" % digits, token.start)
        value = int(digits, 8)
    else:
        value = int(digits)
    if suffix not in ("", "u", "l", "ul", "lu", "ll", "ull", "llu"):
        raise Error("%s is not a suffix of a number" % suffix, token.start)
    kind = literal_kind(value, "u" in suffix, "l" in suffix, digits[0] == "0")
    if kind is None:
        raise Error("the number does not fit in 64 bits", token.start)
    return syntax.Number(token.start, token.end, value, token.text, kind)


def literal_kind(value, unsigned, long, based):
    """Return the first type of C 6.4.4.1 that can hold the value. A decimal number without u is unsigned only if no
    other type can."""
    kinds = [(4, False), (4, True), (8, False), (8, True)]
    if long:
        kinds = kinds[2:]
    for size, is_unsigned in kinds:
        if (unsigned and not is_unsigned) or (is_unsigned and not (unsigned or based or size == 8)):
            continue
        if value < 1 << (8 * size - (not is_unsigned)):
            return size, is_unsigned
    return None


def character(token):
    data = unescaped(token.text[1:-1], token.start)
    if len(data) != 1:
        raise Error("a character constant has one character", token.start, 'A string has double quotes: "%s"' %
                    token.text[1:-1])
    value = data[0]
    return syntax.Char(token.start, token.end, value - 256 if value > 127 else value)


def split(text):
    """Return the expressions of a list, as (offset, text). Commas in parentheses and quotes do not separate
    expressions."""
    pieces = []
    depth = start = 0
    for token in tokens(text):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0) if token.kind == "op" else 0
        if token.kind == "end" or (token.kind == "op" and token.text == "," and depth == 0):
            piece = text[start:token.start]
            if not piece.strip():
                raise Error("an expression is expected", token.start)
            pieces.append((start + len(piece) - len(piece.lstrip()), piece.strip()))
            start = token.end
    return pieces
