// @title Rows in registers
// @builds-on warp-shuffles
// @hypothesis a row is read once, 16 bytes at a time, and what two passes cost is arithmetic in registers
// @requires C <= 16384
//
// Against stage 3, a row stays in the registers of its block: up to 1024 threads with up to 16 elements each. It is
// loaded once, as vectors of four; mean, variance (from the differences to the mean, as the definition says) and result
// follow from registers, with the two sums of stage 3, and gain, bias and y move as vectors too. One load of each
// element instead of three, in a quarter of the instructions: this is the least that can be moved. The block has as
// many threads as the row needs, so short rows waste few.
//
// When it loses: rows of more than 16384 elements do not fit into the registers of a block; stage 4 has no such limit.
// Registers that hold a row are not there for more warps. If C is no multiple of four, rows begin anywhere, and they
// are loaded element by element.
constexpr int kMostThreads = 1024;

__device__ float sum_of_warp(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
  return value;
}

/// The sum of the values of all threads; every thread gets it.
__device__ float sum_of_block(float value) {
  __shared__ float shared[kMostThreads / 32];
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  value = sum_of_warp(value);
  if (warps == 1) return value;
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  value = sum_of_warp(lane < warps ? shared[lane] : 0);
  __syncthreads();  // everyone has read before the next sum is put there
  return value;
}

/// A vector of floats that can also be accessed element by element.
template <typename Vector>
union Elements {
  static constexpr int kCount = sizeof(Vector) / sizeof(float);
  Vector vector;
  float element[kCount];
};

/// `Vector` is float4, or float where rows do not begin at multiples of 16 bytes; a thread has `count` vectors, which
/// lie a block's width apart, so that a warp loads neighbours.
template <typename Vector, int count>
__global__ void __launch_bounds__(kMostThreads)
    normalize(const float* x, const float* gain, const float* bias, float* y, float epsilon, int C) {
  using Some = Elements<Vector>;
  const size_t row = static_cast<size_t>(blockIdx.x) * C;
  const auto* from = reinterpret_cast<const Vector*>(x + row);
  auto* to = reinterpret_cast<Vector*>(y + row);
  const int vectors = C / Some::kCount;
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);

  Some values[count];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < count; ++k) {
    if (thread + k * threads >= vectors) continue;
    values[k].vector = from[thread + k * threads];
    for (int i = 0; i < Some::kCount; ++i) sum += values[k].element[i];
  }
  const float mean = sum_of_block(sum) / static_cast<float>(C);

  float squares = 0;
#pragma unroll
  for (int k = 0; k < count; ++k) {
    if (thread + k * threads >= vectors) continue;
    for (int i = 0; i < Some::kCount; ++i) {
      values[k].element[i] -= mean;
      squares += values[k].element[i] * values[k].element[i];
    }
  }
  const float factor = 1 / sqrtf(sum_of_block(squares) / static_cast<float>(C) + epsilon);

#pragma unroll
  for (int k = 0; k < count; ++k) {
    const int at = thread + k * threads;
    if (at >= vectors) continue;
    const Some gains{reinterpret_cast<const Vector*>(gain)[at]};
    const Some biases{reinterpret_cast<const Vector*>(bias)[at]};
    for (int i = 0; i < Some::kCount; ++i) {
      values[k].element[i] = values[k].element[i] * factor * gains.element[i] + biases.element[i];
    }
    to[at] = values[k].vector;
  }
}

template <typename Vector, int count>
void launch(const float* x, const float* gain, const float* bias, float* y, float epsilon, int R, int C) {
  const int vectors = C / Elements<Vector>::kCount;
  const int threads = ((vectors - 1) / count / 32 + 1) * 32;
  normalize<Vector, count><<<R, threads>>>(x, gain, bias, y, epsilon, C);
}

/// Launches with the fewest elements for a thread with which the row fits into a block of 256 threads, or 16 for longer
/// rows.
template <typename Vector>
void choose(const float* x, const float* gain, const float* bias, float* y, float epsilon, int R, int C) {
  constexpr int kWidth = Elements<Vector>::kCount;
  if (C <= 256 * 4) return launch<Vector, 4 / kWidth>(x, gain, bias, y, epsilon, R, C);
  if (C <= 256 * 8) return launch<Vector, 8 / kWidth>(x, gain, bias, y, epsilon, R, C);
  launch<Vector, 16 / kWidth>(x, gain, bias, y, epsilon, R, C);
}

extern "C" void solve(const float* x, const float* gain, const float* bias, float* y, float epsilon, int R, int C) {
  if (C % 4 == 0) {
    choose<float4>(x, gain, bias, y, epsilon, R, C);
  } else {
    choose<float>(x, gain, bias, y, epsilon, R, C);
  }
}
