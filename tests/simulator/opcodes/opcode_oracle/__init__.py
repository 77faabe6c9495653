"""What the PTX ISA says an instruction computes, in exact arithmetic: the simulated device is tested against this."""
