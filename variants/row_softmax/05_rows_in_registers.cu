// @title Rows in registers
// @builds-on warp-shuffles
// @hypothesis a row is read once, 16 bytes at a time, and each exponential is worked out once
// @requires C <= 32768
//
// Against stage 3, a row stays in the registers of its block: up to 1024 threads with up to 32 elements each. It is
// loaded once, as vectors of four; largest element, exponentials, sum and quotients follow from registers, with the two
// reductions of stage 3, and y is stored as vectors. One load of each element instead of three, in a quarter of the
// instructions, and one exponential instead of two: this is the least that can be moved. The block has as many threads
// as the row needs, so short rows waste few.
//
// When it loses: rows of more than 32768 elements do not fit into the registers of a block; stage 4 has no such limit.
// Registers that hold a row are not there for more warps. If C is no multiple of four, rows begin anywhere, and they
// are loaded element by element.
constexpr int kMostThreads = 1024;

template <typename Combine>
__device__ float of_warp(float value, Combine combine) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffff, value, distance));
  }
  return value;
}

/// Combines the values of all threads with `combine`; every thread gets the result. `neutral` changes nothing when it
/// is combined.
template <typename Combine>
__device__ float of_block(float value, float neutral, Combine combine) {
  __shared__ float shared[kMostThreads / 32];
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  value = of_warp(value, combine);
  if (warps == 1) return value;
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  value = of_warp(lane < warps ? shared[lane] : neutral, combine);
  __syncthreads();  // everyone has read before the next reduction writes there
  return value;
}

/// `Vector` is float4, or float where rows do not begin at multiples of 16 bytes; a thread has `count` vectors, which
/// lie a block's width apart, so that a warp loads neighbours.
template <typename Vector, int count>
__global__ void __launch_bounds__(kMostThreads) softmax(const float* x, float* y, int C) {
  constexpr int kWidth = sizeof(Vector) / sizeof(float);
  const size_t row = static_cast<size_t>(blockIdx.x) * C;
  const int vectors = C / kWidth;
  union {
    Vector vector[count];
    float element[count * kWidth];
  };

  float largest = -INFINITY;
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const int at = static_cast<int>(threadIdx.x + k * blockDim.x);
    if (at < vectors) {
      vector[k] = reinterpret_cast<const Vector*>(x + row)[at];
    } else {
      for (int i = 0; i < kWidth; ++i) element[k * kWidth + i] = -INFINITY;  // its exponential is 0
    }
    for (int i = 0; i < kWidth; ++i) largest = fmaxf(largest, element[k * kWidth + i]);
  }
  largest = of_block(largest, -INFINITY, [](float a, float b) { return fmaxf(a, b); });

  float sum = 0;
#pragma unroll
  for (int i = 0; i < count * kWidth; ++i) {
    element[i] = expf(element[i] - largest);
    sum += element[i];
  }
  const float factor = 1 / of_block(sum, 0, [](float a, float b) { return a + b; });
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const int at = static_cast<int>(threadIdx.x + k * blockDim.x);
    for (int i = 0; i < kWidth; ++i) element[k * kWidth + i] *= factor;
    if (at < vectors) reinterpret_cast<Vector*>(y + row)[at] = vector[k];
  }
}

template <typename Vector, int count>
void launch(const float* x, float* y, int R, int C) {
  const int vectors = C / static_cast<int>(sizeof(Vector) / sizeof(float));
  const int threads = ((vectors - 1) / count / 32 + 1) * 32;
  softmax<Vector, count><<<R, threads>>>(x, y, C);
}

/// Launches with the fewest elements for a thread with which the row fits into a block of 256 threads, or 32 for longer
/// rows.
template <typename Vector>
void choose(const float* x, float* y, int R, int C) {
  constexpr int kWidth = sizeof(Vector) / sizeof(float);
  if (C <= 256 * 4) return launch<Vector, 4 / kWidth>(x, y, R, C);
  if (C <= 256 * 8) return launch<Vector, 8 / kWidth>(x, y, R, C);
  if (C <= 256 * 16) return launch<Vector, 16 / kWidth>(x, y, R, C);
  launch<Vector, 32 / kWidth>(x, y, R, C);
}

extern "C" void solve(const float* x, float* y, int R, int C) {
  if (C % 4 == 0) {
    choose<float4>(x, y, R, C);
  } else {
    choose<float>(x, y, R, C);
  }
}
