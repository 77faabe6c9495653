/* cuFFT on the stand-in: each kind of transform against a plain sum in double precision. */
#include <cuda_runtime.h>
#include <cufft.h>
#include <cufftXt.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <numbers>
#include <vector>

#include "../expect.h"

using Complex = std::complex<double>;
using Sizes = std::vector<int>;

/* The transform by its definition. */
static std::vector<Complex> plain(const std::vector<Complex>& in, const Sizes& sizes, int sign) {
  std::vector<Complex> from = in;
  std::vector<Complex> to(in.size());
  std::size_t inner = 1;
  for (std::size_t dimension = sizes.size(); dimension-- > 0;) {
    const auto size = static_cast<std::size_t>(sizes[dimension]);
    for (std::size_t at = 0; at < from.size(); ++at) {
      const std::size_t k = at / inner % size;
      Complex sum = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const double angle =
            2 * std::numbers::pi * sign * static_cast<double>(i * k % size) / static_cast<double>(size);
        sum += from[at - k * inner + i * inner] * std::polar(1.0, angle);
      }
      to[at] = sum;
    }
    from = to;
    inner *= size;
  }
  return from;
}

static double random_number() { return 2.0 * std::rand() / RAND_MAX - 1; }

/* Memory of the device with these numbers. */
template <typename T>
T* on_device(const std::vector<T>& numbers) {
  T* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, numbers.size() * sizeof(T)));
  EXPECT_OK(cudaMemcpy(memory, numbers.data(), numbers.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}
template <typename T>
std::vector<T> from_device(const T* memory, std::size_t count) {
  std::vector<T> numbers(count);
  EXPECT_OK(cudaMemcpy(numbers.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
  return numbers;
}

template <typename Real>
struct Types;
template <>
struct Types<float> {
  static constexpr cufftType kComplex = CUFFT_C2C, kToComplex = CUFFT_R2C, kToReal = CUFFT_C2R;
  static constexpr auto kExecute = cufftExecC2C;
  static constexpr auto kExecuteToComplex = cufftExecR2C;
  static constexpr auto kExecuteToReal = cufftExecC2R;
  using Complex = cufftComplex;
  static constexpr double kTolerance = 1e-6;
};
template <>
struct Types<double> {
  static constexpr cufftType kComplex = CUFFT_Z2Z, kToComplex = CUFFT_D2Z, kToReal = CUFFT_Z2D;
  static constexpr auto kExecute = cufftExecZ2Z;
  static constexpr auto kExecuteToComplex = cufftExecD2Z;
  static constexpr auto kExecuteToReal = cufftExecZ2D;
  using Complex = cufftDoubleComplex;
  static constexpr double kTolerance = 1e-14;
};

static cufftHandle plan_of(const Sizes& sizes, cufftType type, int batch) {
  cufftHandle plan = 0;
  if (batch == 1 && sizes.size() == 2) {
    EXPECT_OK(cufftPlan2d(&plan, sizes[0], sizes[1], type));
  } else if (batch == 1 && sizes.size() == 3) {
    EXPECT_OK(cufftPlan3d(&plan, sizes[0], sizes[1], sizes[2], type));
  } else if (sizes.size() == 1) {
    EXPECT_OK(cufftPlan1d(&plan, sizes[0], type, batch));
  } else {
    Sizes copy = sizes;
    EXPECT_OK(
        cufftPlanMany(&plan, static_cast<int>(sizes.size()), copy.data(), nullptr, 0, 0, nullptr, 0, 0, type, batch));
  }
  return plan;
}

template <typename Real>
bool is_near(const Complex& wanted, Real real, Real imaginary, double scale) {
  return std::abs(wanted - Complex(real, imaginary)) <= scale * Types<Real>::kTolerance;
}

/* All six kinds, in place and not, of a batch of transforms in the usual layout. */
template <typename Real>
void usual_layouts(const Sizes& sizes, int batch) {
  using Number = typename Types<Real>::Complex;
  std::size_t points = 1;
  for (const int size : sizes) points *= static_cast<std::size_t>(size);
  const auto last = static_cast<std::size_t>(sizes.back());
  const std::size_t half = last / 2 + 1;
  const std::size_t rows = points / last;
  const double scale = 4 * std::sqrt(static_cast<double>(points)) * std::log2(2.0 + static_cast<double>(points));
  std::vector<std::vector<Complex>> in, forward, backward, of_real;
  std::vector<Number> numbers;
  std::vector<Real> reals;
  for (int i = 0; i < batch; ++i) {
    std::vector<Complex> one, real;
    for (std::size_t k = 0; k < points; ++k) {
      const Number number = {static_cast<Real>(random_number()), static_cast<Real>(random_number())};
      numbers.push_back(number);
      reals.push_back(number.x);
      one.emplace_back(number.x, number.y);
      real.emplace_back(number.x, 0);
    }
    in.push_back(one);
    forward.push_back(plain(one, sizes, -1));
    backward.push_back(plain(one, sizes, 1));
    of_real.push_back(plain(real, sizes, -1));
  }
  const auto count = points * static_cast<std::size_t>(batch);
  for (const bool in_place : {false, true}) {
    for (const int direction : {CUFFT_FORWARD, CUFFT_INVERSE}) {
      Number* const from = on_device(numbers);
      Number* const to = in_place ? from : on_device(std::vector<Number>(count));
      const cufftHandle plan = plan_of(sizes, Types<Real>::kComplex, batch);
      EXPECT_OK(Types<Real>::kExecute(plan, from, to, direction));
      const auto result = from_device(to, count);
      bool all = true;
      for (std::size_t i = 0; i < count; ++i) {
        const auto& wanted = (direction == CUFFT_FORWARD ? forward : backward)[i / points];
        all = all && is_near(wanted[i % points], result[i].x, result[i].y, scale);
      }
      EXPECT(all);
      if (!in_place) EXPECT(from_device(from, 1)[0].x == numbers[0].x);
      EXPECT_OK(cufftDestroy(plan));
    }
    /* To complex numbers: rows of real ones are padded in place. */
    const std::size_t row = in_place ? 2 * half : last;
    std::vector<Real> padded;
    for (std::size_t i = 0; i < count; ++i) {
      padded.push_back(reals[i]);
      if (i % last + 1 == last) padded.resize(padded.size() + row - last);
    }
    Real* const from = on_device(padded);
    const std::size_t halves = rows * half * static_cast<std::size_t>(batch);
    auto* const to = in_place ? reinterpret_cast<Number*>(from) : on_device(std::vector<Number>(halves));
    const cufftHandle plan = plan_of(sizes, Types<Real>::kToComplex, batch);
    EXPECT_OK(Types<Real>::kExecuteToComplex(plan, from, to));
    const auto result = from_device(to, halves);
    bool all = true;
    for (std::size_t i = 0; i < halves; ++i) {
      const auto& wanted = of_real[i / (rows * half)];
      all = all && is_near(wanted[i / half % rows * last + i % half], result[i].x, result[i].y, scale);
    }
    EXPECT(all);
    if (!in_place) EXPECT(from_device(from, 1)[0] == reals[0]);
    EXPECT_OK(cufftDestroy(plan));
    /* And back: the points times as large. */
    Real* const back = in_place ? from : on_device(std::vector<Real>(count));
    const cufftHandle inverse = plan_of(sizes, Types<Real>::kToReal, batch);
    EXPECT_OK(Types<Real>::kExecuteToReal(inverse, to, back));
    const auto real = from_device(back, padded.size());
    all = true;
    for (std::size_t i = 0, at = 0; i < count; ++i, ++at) {
      all = all && is_near(Complex(reals[i] * static_cast<double>(points), 0), real[at], Real(0), scale);
      if (i % last + 1 == last) at += row - last;
    }
    EXPECT(all);
    if (!in_place) EXPECT(from_device(to, halves)[halves - 1].x == result[halves - 1].x);
    EXPECT_OK(cufftDestroy(inverse));
  }
}

/* Columns of a matrix, and a part of a larger array: the rest stays as it is. */
static void strides() {
  constexpr int kRows = 12, kColumns = 5;
  std::vector<cufftComplex> matrix;
  for (int i = 0; i < kRows * kColumns; ++i) {
    matrix.push_back({static_cast<float>(random_number()), static_cast<float>(random_number())});
  }
  cufftComplex* const memory = on_device(matrix);
  int size[] = {kRows};
  int embedded[] = {kRows};
  cufftHandle plan = 0;
  size_t bytes = 0;
  EXPECT_OK(cufftCreate(&plan));
  EXPECT_STATUS(CUFFT_INVALID_PLAN, cufftExecC2C(plan, memory, memory, CUFFT_FORWARD));
  EXPECT_OK(
      cufftMakePlanMany(plan, 1, size, embedded, kColumns, 1, embedded, kColumns, 1, CUFFT_C2C, kColumns - 1, &bytes));
  EXPECT_OK(cufftExecC2C(plan, memory, memory, CUFFT_FORWARD));
  const auto result = from_device(memory, matrix.size());
  for (int column = 0; column < kColumns; ++column) {
    std::vector<Complex> one;
    for (int row = 0; row < kRows; ++row)
      one.emplace_back(matrix[row * kColumns + column].x, matrix[row * kColumns + column].y);
    if (column + 1 < kColumns) one = plain(one, {kRows}, -1);
    for (int row = 0; row < kRows; ++row) {
      const cufftComplex& got = result[row * kColumns + column];
      EXPECT(is_near(one[row], got.x, got.y, 20));
    }
  }
  /* 3 x 4 of each of two 5 x 6, packed. */
  long long sizes[] = {3, 4}, outer[] = {5, 6}, inner[] = {3, 4};
  cufftComplex* const from = on_device(std::vector<cufftComplex>(matrix.begin(), matrix.end()));
  cufftComplex* const to = on_device(std::vector<cufftComplex>(24));
  EXPECT_OK(cufftCreate(&plan));
  EXPECT_OK(cufftMakePlanMany64(plan, 2, sizes, outer, 1, 30, inner, 1, 12, CUFFT_C2C, 2, &bytes));
  EXPECT_OK(cufftXtExec(plan, from, to, CUFFT_INVERSE));
  const auto parts = from_device(to, 24);
  for (int part = 0; part < 2; ++part) {
    std::vector<Complex> one;
    for (int i = 0; i < 12; ++i) {
      const cufftComplex& number = matrix[part * 30 + i / 4 * 6 + i % 4];
      one.emplace_back(number.x, number.y);
    }
    one = plain(one, {3, 4}, 1);
    for (int i = 0; i < 12; ++i) EXPECT(is_near(one[i], parts[part * 12 + i].x, parts[part * 12 + i].y, 20));
  }
}

static void settings_and_errors() {
  cufftHandle plan = 0;
  EXPECT_STATUS(CUFFT_INVALID_SIZE, cufftPlan1d(&plan, 0, CUFFT_C2C, 1));
  EXPECT_STATUS(CUFFT_INVALID_TYPE, cufftPlan1d(&plan, 8, static_cast<cufftType>(7), 1));
  EXPECT_STATUS(CUFFT_INVALID_PLAN, cufftDestroy(12345));
  size_t bytes = 0;
  EXPECT_OK(cufftEstimate1d(8, CUFFT_C2C, 2, &bytes));
  EXPECT(bytes >= 2 * 8 * sizeof(cufftComplex));
  cufftComplex* const memory = on_device(std::vector<cufftComplex>(8, {1, 0}));
  EXPECT_OK(cufftPlan1d(&plan, 8, CUFFT_C2C, 1));
  EXPECT_STATUS(CUFFT_INVALID_TYPE, cufftExecZ2Z(plan, reinterpret_cast<cufftDoubleComplex*>(memory),
                                                 reinterpret_cast<cufftDoubleComplex*>(memory), CUFFT_FORWARD));
  EXPECT_STATUS(CUFFT_INVALID_VALUE, cufftExecC2C(plan, memory, memory, 7));
  EXPECT_STATUS(CUFFT_INVALID_VALUE, cufftExecC2C(plan, nullptr, memory, CUFFT_FORWARD));
  EXPECT_OK(cufftSetAutoAllocation(plan, 0));
  EXPECT_STATUS(CUFFT_NO_WORKSPACE, cufftExecC2C(plan, memory, memory, CUFFT_FORWARD));
  EXPECT_OK(cufftSetWorkArea(plan, memory));
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cufftSetStream(plan, stream));
  /* Twice in a graph: eight times as much, turned round; of equal numbers only the first is left after one. */
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cufftExecC2C(plan, memory, memory, CUFFT_FORWARD));
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_OK(cudaGraphInstantiate(&executable, graph, 0));
  EXPECT(from_device(memory, 1)[0].x == 1);
  EXPECT_OK(cudaGraphLaunch(executable, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(from_device(memory, 2)[0].x == 8 && from_device(memory, 2)[1].x == 0);
  EXPECT_OK(cudaGraphLaunch(executable, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(from_device(memory, 2)[0].x == 8 && from_device(memory, 2)[1].x == 8);
  int version = 0;
  EXPECT_OK(cufftGetVersion(&version));
  EXPECT(version == CUFFT_VERSION);
  EXPECT_STATUS(CUFFT_NOT_SUPPORTED, cufftXtSetCallback(plan, nullptr, CUFFT_CB_LD_COMPLEX, nullptr));
}

int main() {
  for (const Sizes& sizes :
       {Sizes{1}, Sizes{2}, Sizes{16}, Sizes{15}, Sizes{31}, Sizes{6, 5}, Sizes{8, 8}, Sizes{3, 4, 6}}) {
    for (const int batch : {1, 3}) {
      usual_layouts<float>(sizes, batch);
      usual_layouts<double>(sizes, batch);
    }
  }
  usual_layouts<float>({1000}, 1);
  strides();
  settings_and_errors();
  return outcome();
}
