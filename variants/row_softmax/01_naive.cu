// @title One thread per row
// @hypothesis the memory's rate is out of reach: the 32 loads of a warp lie in 32 rows
//
// As the definition reads, a thread for each row, three times along it: for the largest element, which is subtracted so
// that no exponential overflows; for the exponentials and their sum; for the quotients.
//
// What it costs: neighbouring threads are C floats apart, so each load of a warp touches 32 sectors of 32 bytes for the
// sake of 4. Seven of the eight floats are wanted in the next steps, if the L1 can keep 32 sectors for each warp until
// then. There are only as many threads as rows, too few for a GPU, and each sums one after the other: with many columns
// its sum of float32 has rounded a thousand times.
constexpr int kThreads = 128;

__global__ void softmax(const float* x, float* y, int R, int C) {
  const int row = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (row >= R) return;
  x += static_cast<size_t>(row) * C;
  y += static_cast<size_t>(row) * C;

  float largest = x[0];
  for (int c = 1; c < C; ++c) largest = fmaxf(largest, x[c]);
  float sum = 0;
  for (int c = 0; c < C; ++c) sum += expf(x[c] - largest);
  for (int c = 0; c < C; ++c) y[c] = expf(x[c] - largest) / sum;
}

extern "C" void solve(const float* x, float* y, int R, int C) {
  softmax<<<(R - 1) / kThreads + 1, kThreads>>>(x, y, R, C);
}
