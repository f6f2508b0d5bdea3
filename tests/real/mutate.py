"""Changes C sources as a programmer would have got them wrong, by descriptions that are data (mutations.json).

A mutation is a list of edits of one file, each inside one function:

  {"remove": CALL, "nth": N}                  the Nth call is left out; of TX_SET the store stays
  {"move": CALL, "nth": N, "after": TEXT}     the Nth call comes after the statement with this text ("before": in front of it)
  {"double": CALL, "nth": N}                  the Nth call is made twice
  {"replace": TEXT, "by": TEXT, "nth": N}     any other text; there must be no more of it than told (nth: 1 if there is one)

Beside its edits it has "in", the scenario that shows it, and "function"; where needed also "found_as" (the class of what is found, if it
is another), "at" (functions in which that lies, too), "says" (a pattern of lines that the mutated program prints besides) and "reached"
(false: only a restart after a crash comes by there).

CALL is a function's or macro's name; N counts from 1 and is 1 if it isn't given. TEXT is matched with any white space for a blank.
No line changes its number: what is reported of a mutated program can be read with the original source.
"""

import re


class Misfit(Exception):
    """The description does not fit the source."""


def body_of(text, function):
    """(begin, end) of a function's body. PMDK's style: its name begins a line, braces stand in the first column."""
    found = re.search(rf"^{re.escape(function)}\(", text, re.MULTILINE)
    if not found:
        raise Misfit(f"no function {function}")
    begin = text.index("\n{", found.start()) + 2
    return begin, text.index("\n}", begin)


def end_of_statement(text, at):
    """Behind the semicolon that ends the statement that `at` lies in; those in parentheses don't."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if text[i] == ";" and depth <= 0:
            return i + 1
    raise Misfit("a statement without end")


def pattern_of(wanted):
    return r"\s+".join(map(re.escape, wanted.split()))


def nth_match(pattern, text, span, edit, only=False):
    matches = [m for m in re.finditer(pattern, text) if span[0] <= m.start() < span[1]]
    number = edit.get("nth", 1)
    if len(matches) < number or (only and "nth" not in edit and len(matches) > 1):
        raise Misfit(f"{len(matches)} of {pattern}, wanted number {number}")
    return matches[number - 1]


def call_of(text, span, edit, name):
    """(begin, end) of the statement that is the Nth call of a function."""
    found = nth_match(rf"\b{re.escape(name)}\(", text, span, edit)
    return found.start(), end_of_statement(text, found.start())


def arguments_of(call):
    inside, depth, arguments = call[call.index("(") + 1:call.rindex(")")], 0, [""]
    for character in inside:
        depth += {"(": 1, ")": -1, "[": 1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += character
    return [argument.strip() for argument in arguments]


def without_lines(text):
    return " ".join(text.split())


def lines_of(text):
    return "\n" * text.count("\n")


def remains_of(call):
    """What is left of a call that is left out: nothing, and of TX_SET(o, field, value), which logs and stores, the store."""
    if not call.startswith("TX_SET("):
        return ";" + lines_of(call)
    where, field, value = arguments_of(call)
    return f"D_RW({without_lines(where)})->{without_lines(field)} = ({without_lines(value)});" + lines_of(call)


def apply_edit(text, function, edit):
    """The changed text, and where in it the change is."""
    span = body_of(text, function)
    if "remove" in edit:
        begin, end = call_of(text, span, edit, edit["remove"])
        return text[:begin] + remains_of(text[begin:end]) + text[end:], begin
    if "double" in edit:
        begin, end = call_of(text, span, edit, edit["double"])
        return text[:end] + " " + without_lines(text[begin:end]) + text[end:], end
    if "move" in edit:
        begin, end = call_of(text, span, edit, edit["move"])
        moved = without_lines(text[begin:end])
        text = text[:begin] + ";" + lines_of(text[begin:end]) + text[end:]
        where = "after" if "after" in edit else "before"
        found = nth_match(pattern_of(edit[where]), text, body_of(text, function), {}, only=True)
        at = end_of_statement(text, found.start()) if where == "after" else found.start()
        return text[:at] + " " + moved + " " + text[at:], at
    found = nth_match(pattern_of(edit["replace"]), text, span, edit, only=True)
    # As many lines as before: no line of the file may change its number.
    new = without_lines(edit["by"]) + lines_of(found.group())
    return text[:found.start()] + new + text[found.end():], found.start()


def statement_before(text, at):
    """Where the statement begins that `at` lies in: behind the last end of another."""
    return max(text.rfind(mark, 0, at) for mark in ";{}") + 1


def mutate(text, mutation, trap=False):
    """The source with the mutation. `trap`: dies where the last edit is, which shows that a run comes by there."""
    for edit in mutation["edits"]:
        text, at = apply_edit(text, edit.get("function", mutation["function"]), edit)
    if not trap:
        return text
    # What is left of a removed call is an expression or an empty statement: a trap goes into it, also without braces around it.
    if "remove" in mutation["edits"][-1]:
        return text[:at] + "__builtin_trap()" + ("" if text[at] == ";" else ", ") + text[at:]
    at = statement_before(text, at)
    return text[:at] + " __builtin_trap(); " + text[at:]
