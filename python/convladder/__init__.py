"""convladder in Python: runs are measured, read as tables and drawn. The program itself does it all; docs/use/python_package.md.

    import convladder

    run = convladder.run(layer="lenet72.conv2", batch=100, budget=0.2)
    run.cases[["variant", "median_ns", "low_ns", "high_ns"]]
    run.ladder()
    run.pictures["ladder"]
"""

from convladder.calls import compare, duel, run, simulate
from convladder.program import ConvladderError, version
from convladder.records import Comparison, Duel, Record, Run, Simulation, load
from convladder.serving import Finding, Server, Verdict

__all__ = ["Comparison", "ConvladderError", "Duel", "Finding", "Record", "Run", "Server", "Simulation", "Verdict", "compare", "duel",
           "load", "run", "simulate", "version"]

pytest_plugins = ("convladder.simulated.pytest_plugin",)  # for `pytest -p convladder`
