"""Charts and tables of a convladder run, drawn from run.json and nothing else."""
