"""Public CUDA programs on the stand-in for the CUDA runtime: what is known of each, and how it is tried."""
