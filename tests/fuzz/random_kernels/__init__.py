"""Random CUDA kernels and the CPU emulation that they are held against: random_kernels.py beside this folder runs them."""
