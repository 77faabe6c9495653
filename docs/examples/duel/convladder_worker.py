"""A worker of `convladder duel --worker` for any Python callable. Copy it beside your benchmark.

    from convladder_worker import serve
    serve({"sort": lambda: sorted(data), "parse": lambda: json.loads(text)})

    convladder duel --worker --cases cases.txt --same-output \\
        --base-command '.venv-old/bin/python bench.py' --new-command '.venv-new/bin/python bench.py'

The protocol is lines of JSON on the standard input and output; "case" is left out where a duel has no cases:
    {"op": "slot", "calls": 100, "case": "sort"}  ->  {"seconds": 0.0123}      the time of all 100 calls together
    {"op": "output", "case": "sort"}              ->  {"output": "5f3c…"}      what the last call returned, or a digest
    what fails                                    ->  {"error": "ValueError: …"}
Beside "seconds" there may be {"metrics": {"rate": 17.5}}, for --metric rate.
"""

import gc
import hashlib
import json
import os
import sys
import time


def serve(functions, digest=None):
    """Answers until the standard input ends. `functions`: one callable, or a dict of them by case. `digest` turns a
    result into what is compared; without it that is the SHA-256 of its bytes (numpy's arrays, bytes) or of its repr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the callables print must not be taken for an answer
    results = {}
    for line in sys.stdin:
        request = json.loads(line)
        case = request.get("case", "")
        try:
            function = functions[case] if isinstance(functions, dict) else functions
            if request["op"] == "slot":
                answer = {"seconds": _seconds(function, request["calls"], results, case)}
            elif request["op"] == "output":
                if case not in results:
                    results[case] = function()
                answer = {"output": (digest or _digest)(results[case])}
            else:
                answer = {"error": "unknown request: " + str(request["op"])}
        except Exception as error:  # pylint: disable=broad-except
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


def _seconds(function, calls, results, case):
    collects = gc.isenabled()
    gc.disable()  # as timeit does: a collection would fall into one slot and not into the next
    try:
        begin = time.perf_counter()
        for _ in range(calls):
            result = function()
        seconds = time.perf_counter() - begin
    finally:
        if collects:
            gc.enable()
    results[case] = result
    return max(seconds, 1e-9)


def _digest(result):
    data = result.tobytes() if hasattr(result, "tobytes") else result
    data = data if isinstance(data, bytes) else repr(data).encode()
    return hashlib.sha256(data).hexdigest()
