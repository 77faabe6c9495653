"""`convladder serve`: verdicts as planted, whatever its clients do; nothing lost, nothing left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Iterator

import jsonschema
import pytest

from conftest import PROGRAM, REPOSITORY, assert_refused, is_sanitized, run
from serve_client import PLANTED, PLANTED_CUDA, PLANTED_PYTHON, LineClient, facts, is_as_planted, mixed, started, submission, until
from submissions import source, write_ladder

sys.path.insert(0, str(REPOSITORY / "python"))

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
STAND_IN = PROGRAM.parent / "stand_in/libcudart.so.13"
with_cuda = pytest.mark.skipif(not NVCC or not STAND_IN.exists() or is_sanitized(),
                               reason="needs nvcc and the stand-in of a build without sanitizers")
MANY = int(os.environ.get("CONVLADDER_SERVE_SUBMISSIONS", "0"))
RIGHT = submission("right", source(1), measure=False)
QUICK = ("--timeout", 2, "--limit", 8)


def schema() -> Any:
    """A validator of answers."""
    folder = REPOSITORY / "results"
    schemas = {}
    for name in ("serve", "run"):
        one = json.loads((folder / f"{name}.schema.json").read_text(encoding="utf-8"))
        one.pop("$id", None)
        schemas[(folder / f"{name}.schema.json").as_uri()] = one
    base = (folder / "serve.schema.json").as_uri()
    return jsonschema.Draft7Validator(schemas[base], resolver=jsonschema.RefResolver(base, schemas[base], schemas))


@pytest.fixture(scope="module", name="ladder", autouse=True)
def _ladder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A problem, and a cache of its own."""
    folder = tmp_path_factory.mktemp("serve")
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    return write_ladder(folder / "ladder", ["R16C64"], {})


@pytest.fixture(name="served")
def _served(ladder: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A server and its socket."""
    path = tmp_path / "s"
    server = started(ladder, path, *QUICK)
    yield server, path
    if server.poll() is None:
        server.terminate()
        assert server.wait(20) == 0
    assert not path.exists()


def test_verdicts_are_as_planted(served: tuple[subprocess.Popen[str], Path]) -> None:
    client = LineClient(served[1])
    client.send(*(submission(name, text, measure=False) for name, (_, text) in PLANTED.items()))
    answers = client.answers(len(PLANTED))
    validator = schema()
    for name, (status, _) in PLANTED.items():
        answer = answers[name]
        assert [error.message for error in validator.iter_errors(answer)] == []
        assert is_as_planted(answer["status"], status), answer
        assert (answer["reason"] is None) == (status == "OK")
    typo = answers["typo"]["findings"][0]
    assert (typo["kind"], typo["file"], typo["line"]) == ("compiler", "solve.cpp", 1) and "flaot" in typo["text"]
    assert answers["no head"]["findings"][0]["line"] == 1
    assert answers["right"]["sizes"][0]["verification"]["before"]["passed"] is True
    assert answers["right"]["sizes"][0]["time"] is None
    client.send(submission("timed", source(1), sizes=["R8C32", "R16C64"]), {"do": "status"}, {"do": "problem", "id": 2.5})
    for _ in range(3):
        answer = client.answer()
        assert [error.message for error in validator.iter_errors(answer)] == []
        if answer["id"] == "timed":
            assert answer["status"] == "OK", answer
            assert [one["size"] for one in answer["sizes"]] == ["R8C32", "R16C64"]
            for one in answer["sizes"]:
                assert one["time"]["median"] > 0 and len(one["time"]["samples"]) >= 3
        elif answer["id"] == 2.5:
            assert answer["problem"]["name"] == "row-sums" and "solve(" in answer["problem"]["languages"]["cpp"]
        else:
            assert sum(answer["server"]["answered"].values()) == len(PLANTED)
    client.close()


@pytest.mark.skipif(is_sanitized(), reason="Python cannot load a library with sanitizers")
def test_verdicts_of_python_are_as_planted(served: tuple[subprocess.Popen[str], Path]) -> None:
    client = LineClient(served[1])
    client.send(*(submission(name, text, "py", measure=False) for name, (_, text) in PLANTED_PYTHON.items()))
    answers = client.answers(len(PLANTED_PYTHON))
    for name, (status, _) in PLANTED_PYTHON.items():
        assert is_as_planted(answers[name]["status"], status), answers[name]
    assert "solve.py:3: ValueError: no" in answers["raises"]["reason"]
    assert answers["typo"]["findings"][0]["line"] == 1


@with_cuda
def test_verdicts_of_cuda_are_as_planted(served: tuple[subprocess.Popen[str], Path]) -> None:
    client = LineClient(served[1])
    client.send(*(submission(name, text, "cu") for name, (_, text) in PLANTED_CUDA.items()))
    answers = client.answers(len(PLANTED_CUDA))
    for name, (status, _) in PLANTED_CUDA.items():
        assert is_as_planted(answers[name]["status"], status), answers[name]
    finding = answers["racy"]["findings"][0]
    assert (finding["kind"], finding["file"]) == ("racecheck", "solve.cu") and finding["line"] > 0
    assert answers["right"]["sizes"][0]["counters"]["totals"]
    client.close()


@pytest.mark.parametrize("line, says", [
    ("{", "request"), ("[1]", "object"), ("7", "object"), ("\x00\x01junk", "request"), ('{"id": [1]}', "number or a string"),
    ('{"source": "x"}', "language"), ('{"source": "", "language": "cpp"}', "source"), ('{"source": 1, "language": "cpp"}', "string"),
    ('{"source": "x", "language": "fortran"}', "unknown language 'fortran'; known: "), ('{"do": "dance"}', "unknown do 'dance'"),
    ('{"source": "x", "language": "cpp", "speed": 1}', "unknown field"), ('{"do": "status", "source": "x"}', "unknown field"),
    ('{"source": "x", "language": "cpp", "sizes": "R1C1"}', "list"), ('{"id": 1, "id": 2}', "twice"),
    (json.dumps(submission(1, source(1), sizes=["Z9"])), "Z9"), (json.dumps(submission(1, source(1), device="gpu")), "unknown device 'gpu'"),
    (json.dumps(submission(1, source(1), device="cuda")), "cuda is no device for a source in cpp"),
])
def test_what_is_no_request_is_refused_in_one_line(ladder: Path, line: str, says: str) -> None:
    done = run("serve", ladder, input=line + "\n" + json.dumps({"id": "next", "do": "status"}))
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(one) for one in done.stdout.splitlines()]
    bad = next(one for one in answers if one["status"] == "BAD_REQUEST")
    assert len(answers) == 2 and says in bad["reason"] and "\n" not in bad["reason"]
    assert schema().is_valid(bad)


def test_unkind_clients_cost_nobody_anything(served: tuple[subprocess.Popen[str], Path]) -> None:
    server, path = served
    never_reads = LineClient(path)
    never_reads.stream.settimeout(1)
    try:
        for _ in range(2000):
            never_reads.send({"do": "problem"})
    except (TimeoutError, socket.timeout):
        pass
    gone = LineClient(path)
    gone.send(*(submission(i, source(1)) for i in range(50)))
    gone.close()
    half = LineClient(path)
    half.stream.sendall(b'{"id": 1, "sour')
    half.close()
    junk = LineClient(path)
    junk.send(os.urandom(5000).replace(b"\n", b""))
    assert junk.answer()["status"] == "BAD_REQUEST"
    junk.send(b"x" * (5 << 20), {"id": "after", "do": "status"})
    assert "longer than" in junk.answer()["reason"]
    assert junk.answer()["id"] == "after"
    junk.send(submission("last", source(1), measure=False))
    junk.stream.shutdown(socket.SHUT_WR)
    answer = json.loads(junk.rest())
    assert (answer["id"], answer["status"]) == ("last", "OK")
    assert server.poll() is None
    never_reads.close()
    probe = LineClient(path)
    assert until(lambda: (probe.send({"do": "status"}), probe.answer()["server"]["queued"])[1] == 0)
    probe.close()


def test_the_socket_is_the_owners_and_one_servers(served: tuple[subprocess.Popen[str], Path], ladder: Path, tmp_path: Path) -> None:
    _, path = served
    assert path.stat().st_mode & 0o777 == 0o600
    assert_refused(run("serve", ladder, "--socket", path), str(path), "a server listens there already")
    assert path.is_socket()
    plain = tmp_path / "plain"
    plain.write_text("mine", encoding="utf-8")
    assert_refused(run("serve", ladder, "--socket", plain), "no socket")
    assert plain.read_text(encoding="utf-8") == "mine"
    assert_refused(run("serve", ladder, "--socket", tmp_path / ("x" * 200)), "at most")
    assert_refused(run("serve", ladder, "--socket", tmp_path / "none/s"), "none")
    assert_refused(run("serve", ladder, "--mcp", "--socket", path), "--mcp and --socket")
    assert_refused(run("serve", tmp_path), "problem.json")
    assert_refused(run("serve", "max-pooling-of-mine"), "max-pooling-of-mine")


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_server_that_is_ended_leaves_nothing(ladder: Path, tmp_path: Path, signal_number: int) -> None:
    path = tmp_path / "s"
    server = started(ladder, path, "--timeout", 60)
    client = LineClient(path)
    client.send(submission("hangs", PLANTED["hanger"][1]), submission("waits", source(1)))
    assert until(lambda: (client.send({"do": "status"}), client.answer()["server"])[1]["running"] == 1)
    time.sleep(0.2)
    server.send_signal(signal_number)
    code = server.wait(20)
    if signal_number == signal.SIGKILL:
        assert path.is_socket()  # nobody was left to remove it: the next server does
        path_again = started(ladder, path)
        path_again.terminate()
        assert path_again.wait(20) == 0
    else:
        assert code == 0
        assert {name: one["status"] for name, one in client.answers(2).items()} == {"hangs": "CANCELLED", "waits": "CANCELLED"}
    assert not path.exists()
    client.close()
    left = [one for one in (ladder.parent / "cache/convladder/stages/served").rglob("*") if one.suffix in (".cpp", ".new")]
    assert left == []


def test_old_compiled_sources_are_forgotten(ladder: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    server = started(ladder, path, "--keep", 1)
    client = LineClient(path)
    for i in range(2):
        client.send(submission(i, source(1) + f"// {i}\n", measure=False))
        assert client.answer()["status"] == "OK"
    client.send(submission("again", source(1) + "// 1\n", measure=False))
    assert client.answer()["seconds"]["compile"] < 0.2
    client.close()
    server.terminate()
    assert server.wait(20) == 0
    server = started(ladder, path, "--keep", 1)  # it looks after the folder at its begin
    libraries = list((ladder.parent / "cache/convladder/stages/served/0").glob("*.so"))
    assert len(libraries) == 1
    server.terminate()
    assert server.wait(20) == 0


def kept_waiting() -> float:
    """By how much longer a process takes here than it needs, as others use the processors."""
    began, needed = time.monotonic(), time.process_time()
    while time.process_time() - needed < 0.1:
        pass
    return (time.monotonic() - began) / 0.1


def test_a_verdict_is_soon_there(served: tuple[subprocess.Popen[str], Path]) -> None:
    client = LineClient(served[1])
    seconds = []
    for i in range(20):
        before = kept_waiting()
        client.send(submission(i, source(1)))
        answer = client.answer()
        assert answer["status"] == "OK", answer
        seconds.append(answer["seconds"]["verdict"] / max(before, kept_waiting()))
        if min(seconds[1:], default=1) < 1:
            break
    client.close()
    if not is_sanitized():
        assert min(seconds[1:]) < 1, seconds


def mcp(number: int | None, method: str, **parameters: Any) -> str:
    """A message of the Model Context Protocol."""
    identity = {} if number is None else {"id": number}
    return json.dumps({"jsonrpc": "2.0", **identity, "method": method, "params": parameters})


def test_the_model_context_protocol(ladder: Path) -> None:
    client = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines = [mcp(1, "initialize", **client), mcp(None, "notifications/initialized"), mcp(2, "ping"), mcp(3, "tools/list"),
             mcp(4, "tools/call", name="problem", arguments={}), mcp(5, "tools/call", name="nope"), mcp(6, "nope"), "{", "[]", '{"id": 7}',
             mcp(8, "tools/call", name="submit", arguments={"source": "x"}),
             mcp(9, "tools/call", name="submit", arguments={"source": source(1), "language": "cpp", "measure": False}),
             mcp(10, "tools/call", name="submit", arguments={"source": PLANTED["wrong"][1], "language": "cpp", "measure": False})]
    done = run("serve", ladder, "--mcp", input="\n".join(lines) + "\n")
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines) - 1 and all(one["jsonrpc"] == "2.0" for one in answers)
    results = {one["id"]: one["result"] for one in answers if "result" in one}
    assert results[1]["protocolVersion"] == "2025-03-26" and results[1]["serverInfo"]["name"] == "convladder" and results[2] == {}
    tools = {one["name"]: one["inputSchema"] for one in results[3]["tools"]}
    assert set(tools) == {"problem", "submit"} and tools["submit"]["required"] == ["source", "language"]
    jsonschema.Draft7Validator.check_schema(tools["submit"])
    assert results[4]["structuredContent"]["name"] == "row-sums" and not results[4]["isError"]
    assert [(one["id"], one["error"]["code"]) for one in answers if "error" in one] == [
        (5, -32602), (6, -32601), (None, -32700), (None, -32600), (7, -32600)]
    assert results[8]["isError"] and results[8]["structuredContent"]["status"] == "BAD_REQUEST"
    assert not results[9]["isError"] and results[9]["structuredContent"]["status"] == "OK"
    assert json.loads(results[10]["content"][0]["text"]) == results[10]["structuredContent"]
    assert results[10]["structuredContent"]["status"] == "WRONG" and not results[10]["isError"]


def test_from_python(ladder: Path, served: tuple[subprocess.Popen[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    import convladder

    monkeypatch.setenv("CONVLADDER_PROGRAM", str(PROGRAM))
    with convladder.Server(ladder, timeout=2) as server:
        verdict = server.submit(source(1), language="cpp")
        assert verdict.ok and verdict.median_ns["R16C64"] > 0 and verdict.reason is None
        typo = server.submit(PLANTED["typo"][1], language="cpp")
        assert typo.status == "COMPILE_ERROR" and typo.findings[0].line == 1 and not typo.sizes
        assert server.submit(source(1), language="basic").status == "BAD_REQUEST"
        assert server.problem()["name"] == "row-sums"
        assert server.status()["answered"] == {"OK": 1, "COMPILE_ERROR": 1}
    with convladder.Server(socket=served[1]) as server:
        found: list[str] = []
        threads = [threading.Thread(target=lambda one=one: found.append(server.submit(one, language="cpp", measure=False).status))
                   for one in (source(1), PLANTED["wrong"][1], PLANTED["typo"][1])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == ["COMPILE_ERROR", "OK", "WRONG"]
        served[0].terminate()
        assert served[0].wait(20) == 0
        with pytest.raises(convladder.ConvladderError):
            server.submit(source(1), language="cpp")
    with pytest.raises(convladder.ConvladderError, match="no server listens there"):
        convladder.Server(socket=served[1])
    with pytest.raises(convladder.ConvladderError, match="problem.json"):
        convladder.Server(ladder.parent).submit(source(1), language="cpp")


@pytest.mark.skipif(not MANY, reason="takes long; CONVLADDER_SERVE_SUBMISSIONS=1000 names how many")
def test_many_submissions_leave_no_trace(ladder: Path, tmp_path: Path) -> None:
    """At most fifty sources in any order: statuses as planted, memory and files flat. Prints the latencies."""
    path = tmp_path / "s"
    server = started(ladder, path, "--timeout", 2, "--limit", 8)
    sources: dict[str, tuple[str, str, str]] = {}
    for i in range(3):  # the same sources with another comment are other sources
        sources |= {f"{name} {i}": (status, f"{text}\n// {i}\n", "cpp") for name, (status, text) in PLANTED.items() if name != "hanger"}
    sources["hanger"] = (*PLANTED["hanger"], "cpp")
    sources |= {f"python {name}": (status, text, "py") for name, (status, text) in PLANTED_PYTHON.items()}
    if NVCC and STAND_IN.exists():
        sources |= {f"cuda {name}": (status, text, "cu") for name, (status, text) in PLANTED_CUDA.items()}
    assert len(sources) <= 50
    client = LineClient(path)
    latencies: list[float] = []
    seen: list[dict[str, int]] = []
    begin = time.monotonic()
    done = 0
    order = list(mixed({name: one[:2] for name, one in sources.items()}, MANY))
    for at in range(0, len(order), 50):
        some = order[at:at + 50]
        client.send(*(submission(number, sources[name][1], sources[name][2], measure=False) for number, name in some))
        answers = client.answers(len(some))
        for number, name in some:
            answer = answers[number]
            assert is_as_planted(answer["status"], sources[name][0]), (name, answer)
            latencies.append(answer["seconds"]["verdict"])
            done += 1
        if done >= min(MANY // 5, 200):
            seen.append(facts(server.pid))
    cuts = statistics.quantiles(latencies, n=100)
    print(f"\n{done} submissions of {len(sources)} sources in {time.monotonic() - begin:.0f} s; verdict beyond compiling: "
          f"p50 {cuts[49]:.3f} s, p99 {cuts[98]:.3f} s; first {seen[0]}, last {seen[-1]}")
    client.close()
    server.terminate()
    assert server.wait(20) == 0
    assert seen[-1]["files"] <= seen[0]["files"] + 2 and seen[-1]["threads"] <= seen[0]["threads"] + 1
    assert seen[-1]["rss"] <= seen[0]["rss"] * 1.1 + 4096
