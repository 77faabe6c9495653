// Products of matrices: one, batches at equal distances, batches by pointers, of all element types.
#include <algorithm>

#include "simulator/stand_in/libraries/cublas/factor.hpp"

using namespace convladder::stand_in;

namespace {

/// An operand: one matrix, those at equal distances, or an array of pointers to them on the device.
struct Operand {
  cudaDataType type = CUDA_R_32F;
  const void* at = nullptr;
  std::int64_t stride = 0;
  bool is_array = false;
};

struct Gemm {
  cublasOperation_t of_a = CUBLAS_OP_N;
  cublasOperation_t of_b = CUBLAS_OP_N;
  ProductShape shape;
  Operand a;
  Operand b;
  Operand c;
  cudaDataType factors = CUDA_R_32F;  ///< the type of alpha and beta
  cudaDataType sums = CUDA_R_32F;     ///< in which is added up: CUDA_R_32F, CUDA_R_64F, complex
  std::int64_t batch = 1;
  bool is_tf32 = false;
};

template <typename T>
T narrowed(Wide value) {
  if constexpr (is_complex<T>) {
    return T(value);
  } else {
    return static_cast<T>(value.real());
  }
}

/// One product, of which all memory is there.
template <typename T>
void multiply_one(const Gemm& gemm, Wide alpha, const void* a, const void* b, Wide beta, void* c, int threads) {
  constexpr cudaDataType kOwn = std::is_same_v<T, float>                          ? CUDA_R_32F
                                : std::is_same_v<T, double>                       ? CUDA_R_64F
                                : is_complex<T> && std::is_same_v<Real<T>, float> ? CUDA_C_32F
                                                                                  : CUDA_C_64F;
  ProductShape shape = gemm.shape;
  if (gemm.a.type == kOwn && gemm.b.type == kOwn && gemm.c.type == kOwn) {
    multiply(shape, narrowed<T>(alpha), static_cast<const T*>(a), static_cast<const T*>(b), narrowed<T>(beta),
             static_cast<T*>(c), threads);
    return;
  }
  const TypedMatrix result{gemm.c.type, c, shape.m, shape.n, shape.ldc};
  std::vector<T> sums =
      beta == Wide{} ? std::vector<T>(static_cast<std::size_t>(shape.m * shape.n)) : numbers_of<T>(result);
  const bool reads = alpha != Wide{} && shape.k > 0;
  std::vector<T> from_a;
  std::vector<T> from_b;
  if (reads) {
    from_a = numbers_of<T>({gemm.a.type, const_cast<void*>(a), shape.rows_of_a(), shape.columns_of_a(), shape.lda});
    from_b = numbers_of<T>({gemm.b.type, const_cast<void*>(b), shape.rows_of_b(), shape.columns_of_b(), shape.ldb});
  }
  shape.lda = std::max<std::int64_t>(1, shape.rows_of_a());
  shape.ldb = std::max<std::int64_t>(1, shape.rows_of_b());
  shape.ldc = shape.m;
  multiply(shape, reads ? narrowed<T>(alpha) : T{}, from_a.data(), from_b.data(), narrowed<T>(beta), sums.data(),
           threads);
  put_numbers(result, sums);
}

void multiply_any(const Gemm& gemm, Wide alpha, const void* a, const void* b, Wide beta, void* c, int threads) {
  switch (gemm.sums) {
    case CUDA_R_64F:
      return multiply_one<double>(gemm, alpha, a, b, beta, c, threads);
    case CUDA_C_32F:
      return multiply_one<std::complex<float>>(gemm, alpha, a, b, beta, c, threads);
    case CUDA_C_64F:
      return multiply_one<std::complex<double>>(gemm, alpha, a, b, beta, c, threads);
    default:
      return multiply_one<float>(gemm, alpha, a, b, beta, c, threads);
  }
}

void check(const Gemm& gemm) {
  const ProductShape& shape = gemm.shape;
  require_operation(gemm.of_a);
  require_operation(gemm.of_b);
  require(shape.m >= 0 && shape.n >= 0 && shape.k >= 0 && gemm.batch >= 0, "a size is negative");
  require(shape.lda >= std::max<std::int64_t>(1, shape.rows_of_a()), "lda is less than the rows of A");
  require(shape.ldb >= std::max<std::int64_t>(1, shape.rows_of_b()), "ldb is less than the rows of B");
  require(shape.ldc >= std::max<std::int64_t>(1, shape.m), "ldc is less than the rows of C");
  for (const std::int64_t size : {shape.m, shape.n, shape.k, shape.lda, shape.ldb, shape.ldc}) {
    static_cast<void>(small(size));
  }
}

void add_amount(convladder::WorkAmount& amount, const Gemm& gemm) {
  const ProductShape& s = gemm.shape;
  const double pairs =
      static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) * static_cast<double>(gemm.batch);
  const double operations = (is_complex_type(gemm.sums) ? 8 : 2) * pairs;
  const bool is_half = convladder::stand_in::bytes_of(gemm.a.type) <= 2;
  double& kind = is_half                                              ? amount.tensor_half
                 : gemm.sums == CUDA_R_64F || gemm.sums == CUDA_C_64F ? amount.fp64
                 : gemm.is_tf32                                       ? amount.tensor_tf32
                                                                      : amount.fp32;
  kind += operations;
}

struct Used {
  MemoryUse a;
  MemoryUse b;
  MemoryUse c;
};

Used uses_of(const Gemm& gemm, const void* a, const void* b, const void* c, bool reads_c) {
  using convladder::stand_in::bytes_of;
  const ProductShape& s = gemm.shape;
  return {matrix_use("A", a, s.rows_of_a(), s.columns_of_a(), s.lda, bytes_of(gemm.a.type), Access::read),
          matrix_use("B", b, s.rows_of_b(), s.columns_of_b(), s.ldb, bytes_of(gemm.b.type), Access::read),
          matrix_use("C", c, s.m, s.n, s.ldc, bytes_of(gemm.c.type), reads_c ? Access::both : Access::write)};
}

const void* moved(const Operand& operand, std::int64_t i) {
  return static_cast<const char*>(operand.at) +
         i * operand.stride * static_cast<std::int64_t>(convladder::stand_in::bytes_of(operand.type));
}

void add_array(std::vector<MemoryUse>& uses, const char* name, const Operand& operand, std::int64_t batch) {
  uses.push_back({.name = name,
                  .address = operand.at,
                  .run_bytes = sizeof(void*) * static_cast<std::uint64_t>(batch),
                  .reads = true});
}

void enqueue_gemm(LibraryCall& call, cublasContext& context, Gemm gemm, const void* alpha, const void* beta) {
  ProductShape& shape = gemm.shape;
  shape.turns_a = gemm.of_a != CUBLAS_OP_N;
  shape.turns_b = gemm.of_b != CUBLAS_OP_N;
  shape.conjugates_a = gemm.of_a == CUBLAS_OP_C;
  shape.conjugates_b = gemm.of_b == CUBLAS_OP_C;
  check(gemm);
  gemm.is_tf32 = gemm.is_tf32 || (context.math_mode & 0xf) == CUBLAS_TF32_TENSOR_OP_MATH;
  const Factor by("alpha", gemm.factors, alpha, is_of_device(context));
  const Factor keeps("beta", gemm.factors, beta, is_of_device(context));
  if (shape.m == 0 || shape.n == 0 || gemm.batch == 0) return;
  if ((by.is_zero() || shape.k == 0) && keeps.is_one()) return;
  const bool reads_factors = !by.is_zero() && shape.k > 0;
  LibraryWork work;
  if (gemm.c.is_array) {
    if (reads_factors) {
      add_array(work.uses, "the pointers to A", gemm.a, gemm.batch);
      add_array(work.uses, "the pointers to B", gemm.b, gemm.batch);
    }
    add_array(work.uses, "the pointers to C", gemm.c, gemm.batch);
  } else {
    for (std::int64_t i = 0; i < gemm.batch; ++i) {
      const Used used = uses_of(gemm, moved(gemm.a, i), moved(gemm.b, i), moved(gemm.c, i), !keeps.may_be_zero());
      if (reads_factors) work.uses.insert(work.uses.end(), {used.a, used.b});
      work.uses.push_back(used.c);
    }
  }
  by.add_use(work.uses);
  keeps.add_use(work.uses);
  add_amount(work.amount, gemm);
  const Used one = uses_of(gemm, nullptr, nullptr, nullptr, !keeps.may_be_zero());
  work.amount.bytes =
      static_cast<double>(gemm.batch) * convladder::stand_in::bytes_of(std::vector<MemoryUse>{one.a, one.b, one.c});
  const int threads = library_machine().host_threads();
  work.compute = [=](LibraryTurn& turn) {
    const Wide factor = by.value(turn);
    const Wide kept = keeps.value(turn);
    const bool reads_c = kept != Wide{};
    for (std::int64_t i = 0; i < gemm.batch; ++i) {
      const auto pointer = [&](const Operand& operand) -> const void* {
        return operand.is_array ? turn.at(static_cast<const void* const*>(operand.at))[i] : moved(operand, i);
      };
      const void* const a = reads_factors ? pointer(gemm.a) : nullptr;
      const void* const b = reads_factors ? pointer(gemm.b) : nullptr;
      const void* const c = pointer(gemm.c);
      Used used = uses_of(gemm, a, b, c, reads_c);
      if (gemm.c.is_array) {
        const bool are_there = !reads_factors || (turn.may_use(used.a) & turn.may_use(used.b));
        if (!turn.may_use(used.c) || !are_there) continue;
      } else if (keeps.is_of_device() && reads_c) {
        used.c.writes = false;
        if (!turn.may_use(used.c)) continue;
      }
      multiply_any(gemm, reads_factors ? factor : Wide{}, a == nullptr ? nullptr : turn.at(a),
                   b == nullptr ? nullptr : turn.at(b), kept, turn.at(const_cast<void*>(c)), threads);
    }
  };
  enqueue(call, context, std::move(work));
}

cublasStatus_t enqueue_gemm(const char* name, cublasHandle_t handle, const Gemm& gemm, const void* alpha,
                            const void* beta) {
  return answer(name, handle,
                [&](LibraryCall& call, cublasContext& context) { enqueue_gemm(call, context, gemm, alpha, beta); });
}

template <typename T>
constexpr cudaDataType type_of() {
  using N = Number<T>;
  return std::is_same_v<N, float>                  ? CUDA_R_32F
         : std::is_same_v<N, double>               ? CUDA_R_64F
         : std::is_same_v<N, std::complex<float>>  ? CUDA_C_32F
         : std::is_same_v<N, std::complex<double>> ? CUDA_C_64F
                                                   : CUDA_R_16F;
}

/// A product whose elements are all of one type.
template <typename T>
Gemm plain(cublasOperation_t of_a, cublasOperation_t of_b, std::int64_t m, std::int64_t n, std::int64_t k,
           std::int64_t lda, std::int64_t ldb, std::int64_t ldc) {
  constexpr cudaDataType kType = type_of<T>();
  return {.of_a = of_a,
          .of_b = of_b,
          .shape = {.m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldc = ldc},
          .a = {.type = kType},
          .b = {.type = kType},
          .c = {.type = kType},
          .factors = kType,
          .sums = kType == CUDA_R_16F ? CUDA_R_32F : kType};
}

template <typename T>
cublasStatus_t gemm_one(const char* name, cublasHandle_t handle, Gemm gemm, const T* alpha, const T* a, const T* b,
                        const T* beta, T* c) {
  gemm.a.at = a;
  gemm.b.at = b;
  gemm.c.at = c;
  return enqueue_gemm(name, handle, gemm, alpha, beta);
}

template <typename T>
cublasStatus_t gemm_strided(const char* name, cublasHandle_t handle, Gemm gemm, const T* alpha, const T* a,
                            std::int64_t a_stride, const T* b, std::int64_t b_stride, const T* beta, T* c,
                            std::int64_t c_stride, std::int64_t batch) {
  gemm.a = {gemm.a.type, a, a_stride};
  gemm.b = {gemm.b.type, b, b_stride};
  gemm.c = {gemm.c.type, c, c_stride};
  gemm.batch = batch;
  return enqueue_gemm(name, handle, gemm, alpha, beta);
}

template <typename T>
cublasStatus_t gemm_batched(const char* name, cublasHandle_t handle, Gemm gemm, const T* alpha, const T* const a[],
                            const T* const b[], const T* beta, T* const c[], std::int64_t batch) {
  gemm.a = {gemm.a.type, a, 0, true};
  gemm.b = {gemm.b.type, b, 0, true};
  gemm.c = {gemm.c.type, c, 0, true};
  gemm.batch = batch;
  return enqueue_gemm(name, handle, gemm, alpha, beta);
}

// CUBLAS_COMPUTE_32F_EMULATED_16BFX9 and CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT; older toolkits have no names for them.
constexpr auto kEmulated32 = static_cast<cublasComputeType_t>(78);
constexpr auto kEmulated64 = static_cast<cublasComputeType_t>(79);

/// Sets the types of sums and factors for a compute type. Throws Refused for combinations that cuBLAS does not take.
void set_compute_type(Gemm& gemm, cublasComputeType_t compute) {
  const auto refuse = [] {
    throw Refused(CUBLAS_STATUS_NOT_SUPPORTED, "this combination of element types and compute type is not supported");
  };
  const cudaDataType a = gemm.a.type;
  const cudaDataType c = gemm.c.type;
  if (!is_known(a) || !is_known(gemm.b.type) || !is_known(c) || a != gemm.b.type) refuse();
  switch (static_cast<int>(compute)) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      if (a != CUDA_R_16F || c != CUDA_R_16F) refuse();
      gemm.factors = CUDA_R_16F;
      gemm.sums = CUDA_R_32F;
      return;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case kEmulated32:
      gemm.is_tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
      if (a == CUDA_C_32F && c == CUDA_C_32F) {
        gemm.factors = gemm.sums = CUDA_C_32F;
        return;
      }
      if (!(c == CUDA_R_32F && (a == CUDA_R_32F || a == CUDA_R_16F || a == CUDA_R_16BF || a == CUDA_R_8I)) &&
          !(a == c && (a == CUDA_R_16F || a == CUDA_R_16BF))) {
        refuse();
      }
      gemm.factors = gemm.sums = CUDA_R_32F;
      return;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case kEmulated64:
      if (a != c || (a != CUDA_R_64F && a != CUDA_C_64F)) refuse();
      gemm.factors = gemm.sums = a;
      return;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      if (a != CUDA_R_8I || c != CUDA_R_32I) refuse();
      gemm.factors = CUDA_R_32I;
      gemm.sums = CUDA_R_64F;  // exact
      return;
    default:
      refuse();
  }
}

/// As above, where it throws within a call.
template <typename Set>
cublasStatus_t with_types(const char* name, cublasHandle_t handle, Gemm gemm, const void* alpha, const void* beta,
                          const Set& set) {
  try {
    set(gemm);
  } catch (const Refused& refused) {
    return answer(name, handle, [&](LibraryCall&, cublasContext&) { throw Refused(refused.status, refused.what()); });
  }
  return enqueue_gemm(name, handle, gemm, alpha, beta);
}

Gemm typed(cublasOperation_t of_a, cublasOperation_t of_b, std::int64_t m, std::int64_t n, std::int64_t k, Operand a,
           std::int64_t lda, Operand b, std::int64_t ldb, Operand c, std::int64_t ldc, std::int64_t batch = 1) {
  return {.of_a = of_a,
          .of_b = of_b,
          .shape = {.m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldc = ldc},
          .a = a,
          .b = b,
          .c = c,
          .batch = batch};
}

/// Groups of products, those of a group alike. What describes them lies on the host, the pointers on the device.
template <typename Int>
struct Groups {
  const cublasOperation_t* of_a;
  const cublasOperation_t* of_b;
  const Int* m;
  const Int* n;
  const Int* k;
  const Int* lda;
  const Int* ldb;
  const Int* ldc;
  Int count;
  const Int* sizes;
};

template <typename Int>
cublasStatus_t gemm_groups(const char* name, cublasHandle_t handle, const Groups<Int>& groups, cudaDataType a_type,
                           const void* const a[], cudaDataType b_type, const void* const b[], cudaDataType c_type,
                           void* const c[], cublasComputeType_t compute, const void* alpha, const void* beta) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require(groups.count >= 0, "a size is negative");
    std::int64_t first = 0;
    for (Int i = 0; i < groups.count; ++i) {
      require(groups.sizes[i] >= 0, "a size is negative");
      Gemm gemm = typed(groups.of_a[i], groups.of_b[i], groups.m[i], groups.n[i], groups.k[i],
                        {a_type, a + first, 0, true}, groups.lda[i], {b_type, b + first, 0, true}, groups.ldb[i],
                        {c_type, c + first, 0, true}, groups.ldc[i], groups.sizes[i]);
      set_compute_type(gemm, compute);
      const std::size_t bytes = convladder::stand_in::bytes_of(gemm.factors) * static_cast<std::size_t>(i);
      enqueue_gemm(call, context, gemm, static_cast<const char*>(alpha) + bytes,
                   static_cast<const char*>(beta) + bytes);
      first += groups.sizes[i];
    }
  });
}

}  // namespace

extern "C" {

#define GEMM_SIZES(C, Int) \
  cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, Int k, const C *alpha
#define GEMM_PLAIN(C) plain<C>(transa, transb, m, n, k, lda, ldb, ldc)

#define GEMM(name, function, C, Int)                                                                         \
  cublasStatus_t function(GEMM_SIZES(C, Int), const C* A, Int lda, const C* B, Int ldb, const C* beta, C* c, \
                          Int ldc) {                                                                         \
    return gemm_one(name, handle, GEMM_PLAIN(C), alpha, A, B, beta, c);                                      \
  }
#define BATCHES(L, kind, C, Int, tail)                                                                                 \
  cublasStatus_t cublas##L##kind##Batched##tail(GEMM_SIZES(C, Int), const C* const A[], Int lda, const C* const B[],   \
                                                Int ldb, const C* beta, C* const c[], Int ldc, Int count) {            \
    return gemm_batched("cublas" #L#kind "Batched" #tail, handle, GEMM_PLAIN(C), alpha, A, B, beta, c, count);         \
  }                                                                                                                    \
  cublasStatus_t cublas##L##kind##StridedBatched##tail(GEMM_SIZES(C, Int), const C* A, Int lda, long long strideA,     \
                                                       const C* B, Int ldb, long long strideB, const C* beta, C* c,    \
                                                       Int ldc, long long strideC, Int count) {                        \
    return gemm_strided("cublas" #L#kind "StridedBatched" #tail, handle, GEMM_PLAIN(C), alpha, A, strideA, B, strideB, \
                        beta, c, strideC, count);                                                                      \
  }

#define GEMM_OF(L, C, Int, tail)                                   \
  GEMM("cublas" #L "gemm" #tail, cublas##L##gemm_v2##tail, C, Int) \
  BATCHES(L, gemm, C, Int, tail)
CUBLAS_ALL(GEMM_OF)

#define GEMM_3M(L, C, Int, tail) GEMM("cublas" #L "gemm3m" #tail, cublas##L##gemm3m##tail, C, Int)
CUBLAS_COMPLEX(GEMM_3M)
CUBLAS_BOTH_WIDTHS(BATCHES, C, gemm3m, cuComplex)

#define GEMM_HALF(L, C, Int, tail)                              \
  GEMM("cublas" #L "gemm" #tail, cublas##L##gemm##tail, C, Int) \
  BATCHES(L, gemm, C, Int, tail)
CUBLAS_BOTH_WIDTHS(GEMM_HALF, H, __half)

#define GEMM_EX(Int, tail)                                                                                             \
  cublasStatus_t cublasGemmEx##tail(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m,  \
                                    Int n, Int k, const void* alpha, const void* A, cudaDataType a_type, Int lda,      \
                                    const void* B, cudaDataType b_type, Int ldb, const void* beta, void* C,            \
                                    cudaDataType c_type, Int ldc, cublasComputeType_t compute, cublasGemmAlgo_t) {     \
    return with_types("cublasGemmEx" #tail, handle,                                                                    \
                      typed(transa, transb, m, n, k, {a_type, A}, lda, {b_type, B}, ldb, {c_type, C}, ldc), alpha,     \
                      beta, [&](Gemm& gemm) { set_compute_type(gemm, compute); });                                     \
  }                                                                                                                    \
  cublasStatus_t cublasGemmStridedBatchedEx##tail(                                                                     \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, Int k,                  \
      const void* alpha, const void* A, cudaDataType a_type, Int lda, long long strideA, const void* B,                \
      cudaDataType b_type, Int ldb, long long strideB, const void* beta, void* C, cudaDataType c_type, Int ldc,        \
      long long strideC, Int count, cublasComputeType_t compute, cublasGemmAlgo_t) {                                   \
    return with_types("cublasGemmStridedBatchedEx" #tail, handle,                                                      \
                      typed(transa, transb, m, n, k, {a_type, A, strideA}, lda, {b_type, B, strideB}, ldb,             \
                            {c_type, C, strideC}, ldc, count),                                                         \
                      alpha, beta, [&](Gemm& gemm) { set_compute_type(gemm, compute); });                              \
  }                                                                                                                    \
  cublasStatus_t cublasGemmBatchedEx##tail(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,  \
                                           Int m, Int n, Int k, const void* alpha, const void* const A[],              \
                                           cudaDataType a_type, Int lda, const void* const B[], cudaDataType b_type,   \
                                           Int ldb, const void* beta, void* const C[], cudaDataType c_type, Int ldc,   \
                                           Int count, cublasComputeType_t compute, cublasGemmAlgo_t) {                 \
    return with_types("cublasGemmBatchedEx" #tail, handle,                                                             \
                      typed(transa, transb, m, n, k, {a_type, A, 0, true}, lda, {b_type, B, 0, true}, ldb,             \
                            {c_type, C, 0, true}, ldc, count),                                                         \
                      alpha, beta, [&](Gemm& gemm) { set_compute_type(gemm, compute); });                              \
  }                                                                                                                    \
  cublasStatus_t cublasSgemmEx##tail(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, \
                                     Int n, Int k, const float* alpha, const void* A, cudaDataType a_type, Int lda,    \
                                     const void* B, cudaDataType b_type, Int ldb, const float* beta, void* C,          \
                                     cudaDataType c_type, Int ldc) {                                                   \
    return with_types("cublasSgemmEx" #tail, handle,                                                                   \
                      typed(transa, transb, m, n, k, {a_type, A}, lda, {b_type, B}, ldb, {c_type, C}, ldc), alpha,     \
                      beta, [&](Gemm& gemm) { set_compute_type(gemm, CUBLAS_COMPUTE_32F); });                          \
  }
GEMM_EX(int, )
GEMM_EX(std::int64_t, _64)

#define GROUPS(Int)                                                                                         \
  cublasHandle_t handle, const cublasOperation_t transa[], const cublasOperation_t transb[], const Int m[], \
      const Int n[], const Int k[]
#define GROUPED(L, C, compute, Int, tail)                                                                             \
  cublasStatus_t cublas##L##gemmGroupedBatched##tail(                                                                 \
      GROUPS(Int), const C alpha[], const C* const A[], const Int lda[], const C* const B[], const Int ldb[],         \
      const C beta[], C* const c[], const Int ldc[], Int count, const Int sizes[]) {                                  \
    return gemm_groups<Int>(                                                                                          \
        "cublas" #L "gemmGroupedBatched" #tail, handle, {transa, transb, m, n, k, lda, ldb, ldc, count, sizes},       \
        type_of<C>(), reinterpret_cast<const void* const*>(A), type_of<C>(), reinterpret_cast<const void* const*>(B), \
        type_of<C>(), reinterpret_cast<void* const*>(c), compute, alpha, beta);                                       \
  }
CUBLAS_BOTH_WIDTHS(GROUPED, S, float, CUBLAS_COMPUTE_32F)
CUBLAS_BOTH_WIDTHS(GROUPED, D, double, CUBLAS_COMPUTE_64F)
#define GROUPED_EX(Int, tail)                                                                                        \
  cublasStatus_t cublasGemmGroupedBatchedEx##tail(                                                                   \
      GROUPS(Int), const void* alpha, const void* const A[], cudaDataType_t a_type, const Int lda[],                 \
      const void* const B[], cudaDataType_t b_type, const Int ldb[], const void* beta, void* const C[],              \
      cudaDataType_t c_type, const Int ldc[], Int count, const Int sizes[], cublasComputeType_t compute) {           \
    return gemm_groups<Int>("cublasGemmGroupedBatchedEx" #tail, handle,                                              \
                            {transa, transb, m, n, k, lda, ldb, ldc, count, sizes}, a_type, A, b_type, B, c_type, C, \
                            compute, alpha, beta);                                                                   \
  }
GROUPED_EX(int, )
GROUPED_EX(std::int64_t, _64)

}  // extern "C"
