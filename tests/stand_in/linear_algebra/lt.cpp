// cuBLASLt: products with all orders, epilogues and types, and sums of matrices.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "walk.hpp"

namespace {

constexpr int kM = 24;
constexpr int kN = 10;
constexpr int kK = 12;
cublasLtHandle_t handle;

template <typename T>
constexpr cudaDataType type_of() {
  if constexpr (std::is_same_v<T, float>) return CUDA_R_32F;
  if constexpr (std::is_same_v<T, double>) return CUDA_R_64F;
  if constexpr (std::is_same_v<T, __half>) return CUDA_R_16F;
  if constexpr (std::is_same_v<T, __nv_bfloat16>) return CUDA_R_16BF;
  if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) return CUDA_R_8F_E4M3;
  if constexpr (std::is_same_v<T, __nv_fp8_e5m2>) return CUDA_R_8F_E5M2;
  if constexpr (std::is_same_v<T, std::int8_t>) return CUDA_R_8I;
  return CUDA_R_32I;
}

template <typename T>
double number_of(T value) {
  return static_cast<double>(static_cast<float>(value));
}

/// A matrix that lies by columns or by rows.
template <typename T>
struct Laid : OnDevice<T> {
  Laid(int row_count, int column_count, bool by_row_order, double step = 1)
      : OnDevice<T>(numbers(row_count, column_count, by_row_order, step)),
        rows(row_count),
        columns(column_count),
        by_rows(by_row_order) {
    EXPECT_OK(cublasLtMatrixLayoutCreate(&layout, type_of<T>(), rows, columns, leading(rows, columns, by_rows)));
    if (!by_rows) return;
    const cublasLtOrder_t order = CUBLASLT_ORDER_ROW;
    EXPECT_OK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
  }
  ~Laid() { EXPECT_OK(cublasLtMatrixLayoutDestroy(layout)); }

  static int leading(int rows, int columns, bool by_rows) { return (by_rows ? columns : rows) + 3; }
  static std::vector<T> numbers(int rows, int columns, bool by_rows, double step) {
    std::vector<T> all(static_cast<std::size_t>(leading(rows, columns, by_rows) * (by_rows ? rows : columns)));
    for (T& one : all) one = T(static_cast<float>(random_number() * step));
    return all;
  }
  double of(const std::vector<T>& all, int row, int column) const {
    const int ld = leading(rows, columns, by_rows);
    return number_of(all[static_cast<std::size_t>(by_rows ? row * ld + column : row + column * ld)]);
  }

  int rows;
  int columns;
  bool by_rows;
  cublasLtMatrixLayout_t layout = nullptr;
};

template <typename Value>
void set(cublasLtMatmulDesc_t settings, cublasLtMatmulDescAttributes_t attribute, const Value& value) {
  EXPECT_OK(cublasLtMatmulDescSetAttribute(settings, attribute, &value, sizeof value));
}

double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

struct Case {
  bool turns_a = false;
  bool turns_b = false;
  bool a_by_rows = false;
  bool d_by_rows = false;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  double step = 1;
  double scale = 1;  ///< of A
};

template <typename In, typename Out, typename Scale>
double matmul(const Case& one, cublasComputeType_t compute, double allowed) {
  cublasLtMatmulDesc_t settings = nullptr;
  EXPECT_OK(cublasLtMatmulDescCreate(&settings, compute, type_of<Scale>()));
  set(settings, CUBLASLT_MATMUL_DESC_TRANSA, one.turns_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(settings, CUBLASLT_MATMUL_DESC_TRANSB, one.turns_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(settings, CUBLASLT_MATMUL_DESC_EPILOGUE, one.epilogue);
  const Laid<In> a(one.turns_a ? kK : kM, one.turns_a ? kM : kK, one.a_by_rows, one.step);
  const Laid<In> b(one.turns_b ? kN : kK, one.turns_b ? kK : kN, false, one.step);
  const Laid<Out> c(kM, kN, one.d_by_rows, one.step);
  const Laid<Out> d(kM, kN, one.d_by_rows, one.step);
  const OnDevice<Out> bias(Laid<Out>::numbers(kM, 1, false, 1));
  const OnDevice<float> scale(std::vector<float>{static_cast<float>(one.scale)});
  const bool has_bias = (one.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
  if (has_bias) set(settings, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(bias.at));
  if (one.scale != 1) set(settings, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, static_cast<const void*>(scale.at));
  cublasLtMatmulPreference_t preference = nullptr;
  EXPECT_OK(cublasLtMatmulPreferenceCreate(&preference));
  const std::size_t workspace = 1 << 20;
  EXPECT_OK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                                 sizeof workspace));
  cublasLtMatmulHeuristicResult_t found_algorithm{};
  int count = 0;
  EXPECT_OK(cublasLtMatmulAlgoGetHeuristic(handle, settings, a.layout, b.layout, c.layout, d.layout, preference, 1,
                                           &found_algorithm, &count));
  EXPECT(count == 1);
  const Scale alpha = Scale(static_cast<float>(2));
  const Scale beta = Scale(static_cast<float>(1));
  EXPECT_OK(cublasLtMatmul(handle, settings, &alpha, a.at, a.layout, b.at, b.layout, &beta, c.at, c.layout, d.at,
                           d.layout, &found_algorithm.algo, nullptr, 0, nullptr));
  const std::vector<Out> found = d.get();
  double error = 0;
  for (int column = 0; column < kN; ++column) {
    for (int row = 0; row < kM; ++row) {
      double wanted = 0;
      for (int k = 0; k < kK; ++k) {
        wanted += (one.turns_a ? a.of(a.host, k, row) : a.of(a.host, row, k)) *
                  (one.turns_b ? b.of(b.host, column, k) : b.of(b.host, k, column));
      }
      wanted = 2 * one.scale * wanted + c.of(c.host, row, column);
      if (has_bias) wanted += number_of(bias.host[static_cast<std::size_t>(row)]);
      if ((one.epilogue & CUBLASLT_EPILOGUE_RELU) != 0) wanted = std::max(wanted, 0.0);
      if ((one.epilogue & CUBLASLT_EPILOGUE_GELU) != 0) wanted = gelu(wanted);
      const double off = std::abs(d.of(found, row, column) - wanted) / std::max(1.0, std::abs(wanted));
      error = std::isnan(off) ? 1e9 : std::max(error, off);
    }
  }
  EXPECT_OK(cublasLtMatmulPreferenceDestroy(preference));
  EXPECT_OK(cublasLtMatmulDescDestroy(settings));
  return error / allowed;
}

}  // namespace

void walk_lt() {
  EXPECT_OK(cublasLtCreate(&handle));
  double error = 0;
  const auto add = [&error](double one) { error = std::max(error, one); };
  for (const bool turns_a : {false, true}) {
    for (const bool turns_b : {false, true}) {
      for (const bool by_rows : {false, true}) {
        add(matmul<float, float, float>({turns_a, turns_b, by_rows, !by_rows}, CUBLAS_COMPUTE_32F, 1e-5));
      }
    }
  }
  for (const cublasLtEpilogue_t epilogue : {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS,
                                            CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS}) {
    add(matmul<float, float, float>({true, false, false, false, epilogue}, CUBLAS_COMPUTE_32F, 1e-5));
    add(matmul<__half, __half, float>({true, false, false, true, epilogue}, CUBLAS_COMPUTE_32F, 1.0 / 1024));
    add(matmul<__nv_bfloat16, __nv_bfloat16, float>({false, false, false, false, epilogue}, CUBLAS_COMPUTE_32F,
                                                    1.0 / 128));
  }
  add(matmul<double, double, double>({}, CUBLAS_COMPUTE_64F, 1e-6));
  add(matmul<__half, float, float>({}, CUBLAS_COMPUTE_32F_FAST_16F, 1e-5));
  add(matmul<std::int8_t, std::int32_t, std::int32_t>({.step = 100}, CUBLAS_COMPUTE_32I, 1e-9));
  add(matmul<__nv_fp8_e4m3, __half, float>({.turns_a = true, .scale = 0.5}, CUBLAS_COMPUTE_32F, 1.0 / 1024));
  add(matmul<__nv_fp8_e5m2, __nv_bfloat16, float>({.turns_a = true}, CUBLAS_COMPUTE_32F, 1.0 / 128));
  say("cublasLtMatmul", error, 1);

  const Laid<float> a(kM, kN, true);
  const Laid<float> b(kN, kM, false);
  const Laid<float> c(kM, kN, false);
  cublasLtMatrixTransformDesc_t settings = nullptr;
  EXPECT_OK(cublasLtMatrixTransformDescCreate(&settings, CUDA_R_32F));
  const cublasOperation_t turned = CUBLAS_OP_T;
  EXPECT_OK(
      cublasLtMatrixTransformDescSetAttribute(settings, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, &turned, sizeof turned));
  const float alpha = 2;
  const float beta = 3;
  EXPECT_OK(cublasLtMatrixTransform(handle, settings, &alpha, a.at, a.layout, &beta, b.at, b.layout, c.at, c.layout,
                                    nullptr));
  EXPECT_OK(cublasLtMatrixTransformDescDestroy(settings));
  const std::vector<float> found = c.get();
  error = 0;
  for (int column = 0; column < kN; ++column) {
    for (int row = 0; row < kM; ++row) {
      const double wanted = 2 * a.of(a.host, row, column) + 3 * b.of(b.host, column, row);
      error = std::max(error, std::abs(c.of(found, row, column) - wanted));
    }
  }
  say("cublasLtMatrixTransform", error, 1e-6);
  EXPECT_OK(cublasLtDestroy(handle));
}
