__device__ int of_other_file(int x) { return x; }
