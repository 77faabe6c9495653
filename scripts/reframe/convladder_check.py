"""A run of convladder as a check of ReFrame 4: it passes if every case is verified; each case's time is a variable.

    reframe -c scripts/reframe/convladder_check.py -r --performance-report
    reframe -c scripts/reframe/convladder_check.py -r --distribute          one on every node of the partition
    ... -S convladder_check.program=/path/to/convladder
    ... -S convladder_check.choice='--layer lenet72.conv2 --batch 10,1000'  other cases, options of 'convladder run'
    ... -S convladder_check.references=site.json                            what this site measured, to compare with

The file of references has what ReFrame's 'reference' has: for each 'system:partition' and variable a value, how much
lower and how much higher it may be, as parts of it (null: as much as it likes), and the unit:

    {"daint:gpu": {"cuda/compile-time/lenet72.conv2/1000": [4.1e6, null, 0.1, "ns"]}}

Every variable is the median of the layer time in ns; the record, with intervals and samples, is kept as run.json.
"""

import json
import os
import shlex

import reframe as rfm
import reframe.core.builtins as builtins
import reframe.utility.sanity as sn

RECORD = os.path.join("record", "run.json")
NOT_FAILED = ("ok", "skipped", "unsupported")


def read_record(folder):
    """What the program wrote in the folder where the check ran."""
    with open(os.path.join(folder, RECORD), encoding="utf-8") as stream:
        return json.load(stream)


@rfm.simple_test
class convladder_check(rfm.RunOnlyRegressionTest):
    """One call of 'convladder run'."""

    program = builtins.variable(str, value=os.environ.get("CONVLADDER_PROGRAM", "convladder"))
    choice = builtins.variable(str, value="--layer lenet72.conv2 --batch 100")
    references = builtins.variable(str, value="")

    descr = "convladder: verified convolutions and their times"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    num_tasks = 1
    keep_files = [RECORD]

    @builtins.run_after("setup")
    def take_references(self):
        """Those of this site, if there are any."""
        if not self.references:
            return
        with open(self.references, encoding="utf-8") as stream:
            for place, variables in json.load(stream).items():
                for name, (value, lower, upper, unit) in variables.items():
                    self.reference[place + ":" + name] = (value, lower, upper, unit)

    @builtins.run_before("run")
    def set_command(self):
        """The program's line; a record of an earlier attempt must not stand in for one of this."""
        self.prerun_cmds = ["rm -rf " + os.path.dirname(RECORD)]
        self.executable = shlex.quote(self.program)
        self.executable_opts = ["run", self.choice, "--output", os.path.dirname(RECORD), "--quiet"]

    @builtins.sanity_function
    def every_case_is_verified(self):
        """The run is complete, something ran, and nothing was wrong. Some schedulers tell ReFrame no exit code: the
        record says it all."""
        return sn.all([sn.assert_true(sn.path_isfile(os.path.join(self.stagedir, RECORD)),
                                      msg="convladder wrote no record"), self._is_verified()])

    @sn.deferrable
    def _is_verified(self):
        record = read_record(self.stagedir)
        failed = [case["id"] + ": " + case["status"] for case in record["cases"] if case["status"] not in NOT_FAILED]
        sn.evaluate(sn.assert_eq(failed, [], msg="failed: {0}"))
        sn.evaluate(sn.assert_true(record["complete"], msg="the run is not complete"))
        return sn.assert_true(any(case["status"] == "ok" for case in record["cases"]), msg="no case could run here")

    @builtins.run_before("performance")
    def set_variables(self):
        """A variable for every case that was measured."""
        for case in read_record(self.stagedir)["cases"]:
            time = layer_time(case)
            if time is not None:
                self.perf_variables[case["id"]] = sn.make_performance_function(lambda found=time: found["median"],
                                                                               time["unit"])


def layer_time(case):
    """NCHW in to NCHW out, or the only time there is; None where nothing was measured."""
    times = [time for time in [case["time"], *case["other_times"]] if time]
    return next((time for time in times if time["of"] == "layer"), times[0] if times else None)
