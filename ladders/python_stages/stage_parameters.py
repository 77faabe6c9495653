"""A kernel's parameters as the launch lays them out: a list of fields for each, which ladders/launch_plan.cpp fills.

A field is {"type": TYPE, KIND: …}: "tensor" or "scalar" with a name of problem.json, "value" with an expression that is a whole number,
"scratch" with bytes for each block, or "null". Fields are aligned as C aligns them.
"""
from stage_errors import StageError

BYTES = {"i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "u64": 8, "f64": 8}


def field_of(argument):
    """The one field of an argument that is passed as it is."""
    if argument["kind"] == "tensor":
        return {"type": "ptr", "tensor": argument["text"]}
    if argument["kind"] == "scalar":
        return {"type": argument["type"], "scalar": argument["text"]}
    return {"type": "i32", "value": argument["text"]}


def whole(text, kind="i64"):
    return {"type": kind, "value": str(text)}


def strides(shape, unit=1):
    """Row-major strides of a shape of expressions, as expressions, in units of `unit`."""
    found = []
    step = str(unit)
    for extent in reversed(shape):
        found.insert(0, step)
        step = f"({extent}) * {step}"
    return found


def count(shape):
    return " * ".join(f"({extent})" for extent in shape) or "1"


def matched(names, launch, request, place, given=()):
    """The arguments for a kernel's parameters of these names: those of args(…) in their order, else by name. Parameters in `given` have a
    value already: args(…) leaves them out, or lists every parameter."""
    listed = launch["arguments"]
    if listed is not None:
        wanted = [name for name in names if name not in given]
        if len(listed) == len(names):
            wanted = names
        if len(listed) != len(wanted):
            raise StageError(f"{place}: the kernel takes {', '.join(wanted) or 'nothing'}: {len(wanted)} arguments, and gets {len(listed)}")
        return dict(zip(wanted, listed))
    known = {one["text"]: one for one in request["names"]}
    found = {}
    for name in names:
        if name in given:
            continue
        if name not in known:
            raise StageError(f"{place}: what is '{name}'? The problem has no such name: give args(…), or a @parameter {name}")
        found[name] = known[name]
    return found
