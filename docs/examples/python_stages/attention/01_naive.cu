// @title A thread per row of the result
// @requires D <= 128
// @launch attention grid(div(L + 63, 64), B) block(64)
__global__ void attention(const __half* q, const __half* k, const __half* v, float* o, float scale, int B, int L,
                          int D) {
  const int l = blockIdx.x * blockDim.x + threadIdx.x;
  if (l >= L) return;
  const long first = (long)blockIdx.y * L * D;
  float most = -INFINITY, sum = 0, total[128];
  for (int d = 0; d < D; ++d) total[d] = 0;
  for (int m = 0; m < L; ++m) {
    float score = 0;
    for (int d = 0; d < D; ++d)
      score += __half2float(q[first + (long)l * D + d]) * __half2float(k[first + (long)m * D + d]);
    score *= scale;
    const float next = fmaxf(most, score), kept = expf(most - next), weight = expf(score - next);
    sum = sum * kept + weight;
    for (int d = 0; d < D; ++d) total[d] = total[d] * kept + weight * __half2float(v[first + (long)m * D + d]);
    most = next;
  }
  for (int d = 0; d < D; ++d) o[first + (long)l * D + d] = total[d] / sum;
}
