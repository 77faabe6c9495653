"""Serves a reference.py: reads requests from a socket, a line of JSON each, and leaves results in shared memory.

Started as `python3 THIS SOCKET MEMORY`, with the numbers of open files. harness/measure/ladders/reference_process.cpp asks.
"""
import importlib.util
import json
import mmap
import os
import socket
import sys

sys.dont_write_bytecode = True

TYPES = {"f64": "float64", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
         "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64"}


class WrongReference(Exception):
    """What is returned is not what problem.json says; the text says so in one line."""


def view(numpy, memory, tensor, at, kind):
    shape = tuple(tensor["shape"])
    count = 1
    for extent in shape:
        count *= extent
    return numpy.frombuffer(memory, dtype=kind, count=count, offset=at).reshape(shape)


def named(outputs, returned):
    """What was returned, by the names of tensors and of their scales."""
    if isinstance(returned, dict):
        known = [one["name"] for one in outputs] + [one["name"] + "_scale" for one in outputs if "scale_at" in one]
        for name in returned:
            if name not in known:
                raise WrongReference(f"it returned '{name}', which is none of {', '.join(known)}")
        return returned
    if len(outputs) == 1:
        name = outputs[0]["name"]
        if isinstance(returned, tuple) and len(returned) == 2 and "scale_at" in outputs[0]:
            return {name: returned[0], name + "_scale": returned[1]}
        return {name: returned}
    raise WrongReference("there are several outputs: it has to return a dictionary with their names")


def write(numpy, memory, tensor, at, kind, found, name):
    place = view(numpy, memory, tensor, at, kind)
    array = numpy.asarray(found)
    if array.shape != place.shape:
        raise WrongReference(f"'{name}' has the shape {array.shape}, not {place.shape}")
    place[...] = array


def answer(numpy, function, memory, request):
    arguments = {}
    outputs = []
    for tensor in request["tensors"]:
        if tensor["role"] != "out":
            kind = TYPES[tensor["type"]]
            arguments[tensor["name"]] = view(numpy, memory, tensor, tensor["at"], kind).copy()
        if tensor["role"] != "in":
            outputs.append(tensor)
    for scalar in request["scalars"]:
        value = scalar["value"]
        arguments[scalar["name"]] = value if scalar["type"] == "f64" else int(value)
    arguments.update(request["dimensions"])
    results = named(outputs, function(**arguments))
    for tensor in outputs:
        name = tensor["name"]
        if results.get(name) is None:
            raise WrongReference(f"it did not return '{name}'")
        write(numpy, memory, tensor, tensor["at"], TYPES[tensor["type"]], results[name], name)
        scale = results.get(name + "_scale")
        if scale is not None:
            write(numpy, memory, tensor, tensor["scale_at"], "float64", scale, name + "_scale")


def load(path):
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not callable(getattr(module, "reference", None)):
        raise WrongReference("it does not define a function reference")
    return module.reference


def where(error):
    """ ' (line 7)' of the user's own file, innermost."""
    line = None
    trace = error.__traceback__
    while trace is not None:
        if os.path.basename(trace.tb_frame.f_code.co_filename) == "reference.py":
            line = trace.tb_lineno
        trace = trace.tb_next
    return f" (line {line})" if line else ""


def main():
    connection = socket.socket(fileno=int(sys.argv[1]))
    lines = connection.makefile("r", encoding="utf-8")
    hello = json.loads(lines.readline())
    memory = mmap.mmap(int(sys.argv[2]), hello["bytes"])
    failure = None
    numpy = function = None
    try:
        import numpy  # here, so that a machine without it gets one line
        function = load(hello["file"])
    except BaseException as error:  # whatever a module does when it is loaded
        failure = f"{type(error).__name__}: {error}{where(error)}"
    for line in lines:
        reply = {}
        try:
            if failure is None:
                answer(numpy, function, memory, json.loads(line))
        except BaseException as error:
            failure = f"{type(error).__name__}: {error}{where(error)}"
        if failure is not None:
            reply = {"status": "crashed", "reason": failure.replace("\n", " ")}
        connection.sendall((json.dumps(reply) + "\n").encode())


main()
