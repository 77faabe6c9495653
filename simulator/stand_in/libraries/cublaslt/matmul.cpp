// cuBLASLt's product of matrices with what follows it, and its sums of matrices.
#include <algorithm>
#include <climits>
#include <cmath>
#include <complex>
#include <optional>
#include <vector>

#include "simulator/stand_in/libraries/cublaslt/descriptors.hpp"
#include "simulator/stand_in/libraries/operands/operands.hpp"
#include "simulator/stand_in/libraries/operands/product.hpp"

using namespace convladder::stand_in;

namespace {

using Wide = std::complex<double>;

cudaDataType type_of(const Layout& layout) { return static_cast<cudaDataType>(layout.type); }
bool turns(std::int32_t operation) { return operation != CUBLAS_OP_N; }

/// The bits of an epilogue.
enum Epilogue : std::uint32_t {
  kRelu = 2,
  kBias = 4,
  kReluOfGradient = 8,
  kBiasGradient = 16,
  kGelu = 32,
  kGeluOfGradient = 64,
  kAux = 128,
  kBiasGradientA = 256,
  kBiasGradientB = 512
};

/// A number on the host, or on the device.
class Number {
 public:
  Number(std::int32_t type, const void* at, bool is_of_device) : type_(static_cast<cudaDataType>(type)), at_(at) {
    require(at != nullptr, "a scalar is null");
    if (!is_of_device) value_ = read(at);
  }
  bool is_zero() const { return value_ && *value_ == Wide{}; }
  bool is_of_device() const { return !value_; }
  void add_use(std::vector<MemoryUse>& uses, const char* name) const {
    if (!value_) uses.push_back({.name = name, .address = at_, .run_bytes = bytes_of(type_), .reads = true});
  }
  Wide value(LibraryTurn& turn) const { return value_ ? *value_ : read(turn.at(at_)); }

 private:
  Wide read(const void* at) const { return numbers_of<Wide>({type_, const_cast<void*>(at), 1, 1, 1}).front(); }

  cudaDataType type_;
  const void* at_;
  std::optional<Wide> value_;
};

MemoryUse use_of(const char* name, const void* at, const Layout& layout, Access access) {
  const bool by_rows = layout.order == CUBLASLT_ORDER_ROW;
  const auto rows = static_cast<std::int64_t>(layout.rows);
  const auto columns = static_cast<std::int64_t>(layout.columns);
  return matrix_use(name, at, by_rows ? columns : rows, by_rows ? rows : columns, layout.leading,
                    bytes_of(type_of(layout)), access);
}

TypedMatrix matrix_of(void* at, const Layout& layout) {
  return {type_of(layout),
          at,
          static_cast<std::int64_t>(layout.rows),
          static_cast<std::int64_t>(layout.columns),
          layout.leading,
          layout.order == CUBLASLT_ORDER_ROW};
}

void check_layout(const Layout& layout) {
  require_supported(is_known(type_of(layout)), "an element type that is not computed here");
  require_supported(layout.order == CUBLASLT_ORDER_COL || layout.order == CUBLASLT_ORDER_ROW,
                    "only matrices by columns and by rows are computed here");
  require_supported(layout.batch_mode == 0 && layout.plane_offset == 0,
                    "arrays of pointers and planes of complex numbers are not computed here");
  require(layout.batch >= 1, "there is no batch");
  const std::uint64_t run = layout.order == CUBLASLT_ORDER_ROW ? layout.columns : layout.rows;
  require(layout.leading >= static_cast<std::int64_t>(std::max<std::uint64_t>(1, run)),
          "a leading dimension is less than the rows of its matrix, or the columns if it is by rows");
  require_supported(layout.rows <= INT_MAX && layout.columns <= INT_MAX && layout.leading <= INT_MAX,
                    "sizes of more than 2147483647 are not computed here");
}

struct Matmul {
  MatmulSettings settings;
  Layout a, b, c, d;
  std::int64_t m = 0, n = 0, k = 0;
};

/// Throws Refused for a product that is wrong or not computed here.
Matmul checked(cublasLtMatmulDesc_t settings, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
               cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
  Matmul p{in<MatmulSettings>(settings), in<Layout>(a), in<Layout>(b), in<Layout>(c), in<Layout>(d)};
  for (const Layout* layout : {&p.a, &p.b, &p.c, &p.d}) check_layout(*layout);
  const MatmulSettings& s = p.settings;
  p.m = static_cast<std::int64_t>(p.d.rows);
  p.n = static_cast<std::int64_t>(p.d.columns);
  p.k = static_cast<std::int64_t>(turns(s.of_a) ? p.a.rows : p.a.columns);
  require(static_cast<std::int64_t>(turns(s.of_a) ? p.a.columns : p.a.rows) == p.m &&
              static_cast<std::int64_t>(turns(s.of_b) ? p.b.columns : p.b.rows) == p.k &&
              static_cast<std::int64_t>(turns(s.of_b) ? p.b.rows : p.b.columns) == p.n && p.c.rows == p.d.rows &&
              p.c.columns == p.d.columns,
          "the sizes of the matrices do not go together");
  require(p.a.batch == p.d.batch && p.b.batch == p.d.batch && p.c.batch == p.d.batch, "the batches differ");
  require_supported(s.of_c == CUBLAS_OP_N && s.part == CUBLAS_FILL_MODE_FULL,
                    "C is turned, or only a part of it wanted");
  require_supported(s.scale_modes == 0, "scales of blocks are not computed here");
  require_supported(s.pointer_mode == CUBLASLT_POINTER_MODE_HOST || s.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE,
                    "vectors of alpha and beta are not computed here");
  require_supported(is_known(static_cast<cudaDataType>(s.scale)), "a scale type that is not computed here");
  const bool are_complex = is_complex_type(type_of(p.a));
  require_supported(are_complex == is_complex_type(type_of(p.b)) && are_complex == is_complex_type(type_of(p.d)),
                    "real and complex matrices are mixed");
  require_supported(!are_complex || s.epilogue == CUBLASLT_EPILOGUE_DEFAULT, "epilogues are for real numbers");
  if ((s.epilogue & kAux) != 0) require(s.aux != nullptr && s.aux_leading > 0, "the epilogue has no auxiliary matrix");
  if ((s.epilogue & (kBias | kBiasGradient | kBiasGradientA | kBiasGradientB)) != 0) {
    require(s.bias != nullptr, "the epilogue has no bias");
  }
  return p;
}

double gelu(double x) {
  const double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}
double gelu_derivative(double x) {
  const double factor = std::sqrt(2 / M_PI);
  const double tangent = std::tanh(factor * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + tangent) + 0.5 * x * (1 - tangent * tangent) * factor * (1 + 3 * 0.044715 * x * x);
}

cudaDataType bias_type_of(const Matmul& p) {
  if (p.settings.bias_type >= 0) return static_cast<cudaDataType>(p.settings.bias_type);
  const cudaDataType d = type_of(p.d);
  return d == CUDA_R_8I ? CUDA_R_32F : bytes_of(d) == 1 ? CUDA_R_16BF : d;
}
cudaDataType aux_type_of(const Matmul& p) {
  return p.settings.aux_type >= 0 ? static_cast<cudaDataType>(p.settings.aux_type) : type_of(p.d);
}
bool has_mask(const Matmul& p) {
  return (p.settings.epilogue & kAux) != 0 && (p.settings.epilogue & (kRelu | kReluOfGradient)) != 0;
}

struct Pointers {
  const void* a;
  const void* b;
  const void* c;
  void* d;
  void* bias;
  void* aux;
};

Pointers moved(const Matmul& p, Pointers at, std::int64_t batch) {
  const auto by = [batch](auto* pointer, std::int64_t stride, std::size_t bytes) {
    using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(pointer)>>, const char, char>;
    return static_cast<decltype(pointer)>(static_cast<Byte*>(pointer) +
                                          batch * stride * static_cast<std::int64_t>(bytes));
  };
  at.a = by(at.a, p.a.stride, bytes_of(type_of(p.a)));
  at.b = by(at.b, p.b.stride, bytes_of(type_of(p.b)));
  at.c = by(at.c, p.c.stride, bytes_of(type_of(p.c)));
  at.d = by(at.d, p.d.stride, bytes_of(type_of(p.d)));
  if (at.bias != nullptr) at.bias = by(at.bias, p.settings.bias_stride, bytes_of(bias_type_of(p)));
  if (at.aux != nullptr) {
    at.aux = has_mask(p) ? by(at.aux, p.settings.aux_stride / 8, 1)
                         : by(at.aux, p.settings.aux_stride, bytes_of(aux_type_of(p)));
  }
  return at;
}

/// The factors of the whole product: alpha and beta, with the scales of the matrices.
struct Factors {
  Wide alpha;
  Wide beta;
  double d_scale = 1;
};

/// The numbers of D before they are rounded, by columns, changed by the epilogue.
template <typename T>
void finish(LibraryTurn& turn, const Matmul& p, const Pointers& at, std::vector<T>& numbers) {
  const std::uint32_t epilogue = p.settings.epilogue;
  std::vector<double> bias;
  if ((epilogue & kBias) != 0) bias = numbers_of<double>({bias_type_of(p), turn.at(at.bias), p.m, 1, p.m});
  const bool keeps_aux = (epilogue & kAux) != 0 && (epilogue & (kReluOfGradient | kGeluOfGradient)) == 0;
  auto* const mask = has_mask(p) ? static_cast<unsigned char*>(turn.at(at.aux)) : nullptr;
  TypedMatrix aux{aux_type_of(p), nullptr, p.m, p.n, p.settings.aux_leading, p.d.order == CUBLASLT_ORDER_ROW};
  std::vector<double> of_aux;
  if ((epilogue & kAux) != 0 && mask == nullptr) {
    aux.at = turn.at(at.aux);
    of_aux = keeps_aux ? std::vector<double>(numbers.size()) : numbers_of<double>(aux);
  }
  for (std::int64_t column = 0; column < p.n; ++column) {
    for (std::int64_t row = 0; row < p.m; ++row) {
      const auto i = static_cast<std::size_t>(row + column * p.m);
      double value = std::real(numbers[i]);
      if (!bias.empty()) value += bias[static_cast<std::size_t>(row)];
      if (mask != nullptr) {
        const std::int64_t bit = row + column * p.settings.aux_leading;
        unsigned char& byte = mask[bit / 8];
        const auto one = static_cast<unsigned char>(1U << (bit % 8));
        if (!keeps_aux) {
          if ((byte & one) == 0) value = 0;
        } else {
          byte = static_cast<unsigned char>(value > 0 ? byte | one : byte & ~one);
        }
      } else if (keeps_aux) {
        of_aux[i] = value;
      } else if ((epilogue & kGeluOfGradient) != 0) {
        value *= gelu_derivative(of_aux[i]);
      }
      if ((epilogue & kRelu) != 0) value = std::isnan(value) ? value : std::max(value, 0.0);
      if ((epilogue & kGelu) != 0) value = gelu(value);
      numbers[i] = static_cast<T>(value);
    }
  }
  if (keeps_aux && mask == nullptr) put_numbers(aux, of_aux);
}

/// Sums along the rows or the columns of the numbers, as the gradient of a bias.
template <typename T>
void put_sums(LibraryTurn& turn, const Matmul& p, const Pointers& at, const std::vector<T>& numbers, std::int64_t rows,
              std::int64_t columns, bool of_rows) {
  std::vector<double> sums(static_cast<std::size_t>(of_rows ? rows : columns));
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t row = 0; row < rows; ++row) {
      sums[static_cast<std::size_t>(of_rows ? row : column)] +=
          std::real(numbers[static_cast<std::size_t>(row + column * rows)]);
    }
  }
  const auto count = static_cast<std::int64_t>(sums.size());
  put_numbers(TypedMatrix{bias_type_of(p), turn.at(at.bias), count, 1, count}, sums);
}

template <typename T>
T narrowed(Wide value) {
  if constexpr (is_complex<T>) {
    return T(value);
  } else {
    return static_cast<T>(value.real());
  }
}

template <typename T>
void compute(LibraryTurn& turn, const Matmul& p, const Pointers& at, const Factors& factors, double& largest,
             int threads) {
  const MatmulSettings& s = p.settings;
  const std::vector<T> a = numbers_of<T>(matrix_of(turn.at(const_cast<void*>(at.a)), p.a));
  const std::vector<T> b = numbers_of<T>(matrix_of(turn.at(const_cast<void*>(at.b)), p.b));
  std::vector<T> numbers(static_cast<std::size_t>(p.m * p.n));
  if (factors.beta != Wide{}) numbers = numbers_of<T>(matrix_of(turn.at(const_cast<void*>(at.c)), p.c));
  ProductShape shape{.turns_a = turns(s.of_a),
                     .turns_b = turns(s.of_b),
                     .conjugates_a = s.of_a == CUBLAS_OP_C,
                     .conjugates_b = s.of_b == CUBLAS_OP_C,
                     .m = p.m,
                     .n = p.n,
                     .k = p.k,
                     .ldc = p.m};
  shape.lda = std::max<std::int64_t>(1, shape.rows_of_a());
  shape.ldb = std::max<std::int64_t>(1, shape.rows_of_b());
  multiply(shape, narrowed<T>(factors.alpha), a.data(), b.data(), narrowed<T>(factors.beta), numbers.data(), threads);
  if (s.epilogue != CUBLASLT_EPILOGUE_DEFAULT) finish(turn, p, at, numbers);
  if ((s.epilogue & kBiasGradient) != 0) put_sums(turn, p, at, numbers, p.m, p.n, true);
  if ((s.epilogue & kBiasGradientA) != 0) {
    put_sums(turn, p, at, a, shape.rows_of_a(), shape.columns_of_a(), !shape.turns_a);
  }
  if ((s.epilogue & kBiasGradientB) != 0) {
    put_sums(turn, p, at, b, shape.rows_of_b(), shape.columns_of_b(), shape.turns_b);
  }
  for (const T& number : numbers) largest = std::max(largest, static_cast<double>(std::abs(number)));
  if (factors.d_scale != 1) {
    for (T& number : numbers) number *= static_cast<Real<T>>(factors.d_scale);
  }
  put_numbers(matrix_of(turn.at(at.d), p.d), numbers);
}

void compute_any(LibraryTurn& turn, const Matmul& p, const Pointers& at, const Factors& factors, double& largest,
                 int threads) {
  const bool is_double = p.settings.compute == CUBLAS_COMPUTE_64F || p.settings.compute == CUBLAS_COMPUTE_64F_PEDANTIC;
  const bool is_whole = p.settings.compute == CUBLAS_COMPUTE_32I || p.settings.compute == CUBLAS_COMPUTE_32I_PEDANTIC;
  if (is_complex_type(type_of(p.a))) {
    if (is_double) return compute<std::complex<double>>(turn, p, at, factors, largest, threads);
    return compute<std::complex<float>>(turn, p, at, factors, largest, threads);
  }
  if (is_double || is_whole) return compute<double>(turn, p, at, factors, largest, threads);
  return compute<float>(turn, p, at, factors, largest, threads);
}

void add_uses(std::vector<MemoryUse>& uses, const Matmul& p, const Pointers& at, bool reads_c) {
  const std::uint32_t epilogue = p.settings.epilogue;
  uses.push_back(use_of("A", at.a, p.a, Access::read));
  uses.push_back(use_of("B", at.b, p.b, Access::read));
  if (reads_c) uses.push_back(use_of("C", at.c, p.c, Access::read));
  uses.push_back(use_of("D", at.d, p.d, Access::write));
  if ((epilogue & (kBias | kBiasGradient | kBiasGradientA | kBiasGradientB)) != 0) {
    const std::int64_t count = (epilogue & kBiasGradientB) != 0 ? p.n : p.m;
    uses.push_back(vector_use("the bias", at.bias, count, 1, bytes_of(bias_type_of(p)),
                              (epilogue & kBias) != 0 ? Access::read : Access::write));
  }
  if ((epilogue & kAux) == 0) return;
  const Access access = (epilogue & (kReluOfGradient | kGeluOfGradient)) != 0 ? Access::read : Access::write;
  if (has_mask(p)) {
    uses.push_back(
        matrix_use("the auxiliary matrix", at.aux, (p.m + 7) / 8, p.n, p.settings.aux_leading / 8, 1, access));
  } else {
    Layout aux = p.d;
    aux.type = aux_type_of(p);
    aux.leading = p.settings.aux_leading;
    uses.push_back(use_of("the auxiliary matrix", at.aux, aux, access));
  }
}

template <typename Work>
cublasStatus_t answer(const char* name, cublasLtHandle_t handle, const Work& work) noexcept {
  return answer_call<cublasStatus_t>(kCublasLt, name, [&](LibraryCall& call) {
    if (handle == nullptr) throw Refused(CUBLAS_STATUS_NOT_INITIALIZED, "the handle is null");
    work(call);
  });
}

double value_at(LibraryTurn& turn, const void* at) {
  return at == nullptr ? 1 : static_cast<double>(*static_cast<const float*>(turn.host(at)));
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t settings, const void* alpha, const void* A,
                              cublasLtMatrixLayout_t of_a, const void* B, cublasLtMatrixLayout_t of_b, const void* beta,
                              const void* C, cublasLtMatrixLayout_t of_c, void* D, cublasLtMatrixLayout_t of_d,
                              const cublasLtMatmulAlgo_t* /*algorithm*/, void* /*workspace*/, std::size_t /*bytes*/,
                              cudaStream_t stream) {
  return answer("cublasLtMatmul", handle, [&](LibraryCall& call) {
    const Matmul p = checked(settings, of_a, of_b, of_c == nullptr ? of_d : of_c, of_d);
    const MatmulSettings& s = p.settings;
    const bool is_of_device = s.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
    const Number by(s.scale, alpha, is_of_device);
    const Number keeps(s.scale, beta, is_of_device);
    if (p.m == 0 || p.n == 0) return;
    const Pointers first{A, B, C, D, s.bias, s.aux};
    LibraryWork work;
    for (std::int64_t i = 0; i < p.d.batch; ++i) {
      add_uses(work.uses, p, moved(p, first, i), !keeps.is_zero() && !keeps.is_of_device());
    }
    by.add_use(work.uses, "alpha");
    keeps.add_use(work.uses, "beta");
    for (const auto& [name, at] : {std::pair{"the scale of A", s.a_scale},
                                   {"the scale of B", s.b_scale},
                                   {"the scale of C", s.c_scale},
                                   {"the scale of D", s.d_scale}}) {
      if (at != nullptr) work.uses.push_back({.name = name, .address = at, .run_bytes = sizeof(float), .reads = true});
    }
    if (s.d_largest != nullptr) {
      work.uses.push_back(
          {.name = "the largest of D", .address = s.d_largest, .run_bytes = sizeof(float), .writes = true});
    }
    const double operations = (is_complex_type(type_of(p.a)) ? 8.0 : 2.0) * static_cast<double>(p.d.batch) *
                              static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    const bool is_double = s.compute == CUBLAS_COMPUTE_64F || s.compute == CUBLAS_COMPUTE_64F_PEDANTIC;
    (bytes_of(type_of(p.a)) <= 2                 ? work.amount.tensor_half
     : is_double                                 ? work.amount.fp64
     : s.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? work.amount.tensor_tf32
                                                 : work.amount.fp32) = operations;
    for (const MemoryUse& use : work.uses) {
      work.amount.bytes += static_cast<double>(use.runs) * static_cast<double>(use.run_bytes);
    }
    const int threads = library_machine().host_threads();
    work.compute = [=](LibraryTurn& turn) {
      Factors factors{by.value(turn) * value_at(turn, s.a_scale) * value_at(turn, s.b_scale),
                      keeps.value(turn) * value_at(turn, s.c_scale), value_at(turn, s.d_scale)};
      double largest = 0;
      for (std::int64_t i = 0; i < p.d.batch; ++i) {
        const Pointers at = moved(p, first, i);
        if (keeps.is_of_device() && factors.beta != Wide{} && !turn.may_use(use_of("C", at.c, p.c, Access::read)))
          continue;
        compute_any(turn, p, at, factors, largest, threads);
      }
      if (s.d_largest != nullptr) *static_cast<float*>(turn.host(s.d_largest)) = static_cast<float>(largest);
    };
    enqueue(kCublasLt, call, std::move(work), stream);
  });
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t settings,
                                              cublasLtMatrixLayout_t of_a, cublasLtMatrixLayout_t of_b,
                                              cublasLtMatrixLayout_t of_c, cublasLtMatrixLayout_t of_d,
                                              cublasLtMatmulPreference_t /*preference*/, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  return answer("cublasLtMatmulAlgoGetHeuristic", handle, [&](LibraryCall&) {
    require(wanted > 0 && results != nullptr && found != nullptr, "no result is wanted");
    *found = 0;
    // The pointers of an epilogue may be set later.
    cublasLtMatmulDescOpaque_t copy = *settings;
    MatmulSettings& s = in<MatmulSettings>(&copy);
    int anything = 0;
    if (s.bias == nullptr) s.bias = &anything;
    if (s.aux == nullptr) s.aux = &anything;
    s.aux_leading = std::max<std::int64_t>(s.aux_leading, 1);
    static_cast<void>(checked(&copy, of_a, of_b, of_c == nullptr ? of_d : of_c, of_d));
    results[0] = {};
    results[0].state = CUBLAS_STATUS_SUCCESS;
    results[0].wavesCount = 1;
    *found = 1;
  });
}

cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t, cudaDataType, cudaDataType,
                                        cudaDataType, cudaDataType, cudaDataType, int wanted, int ids[], int* found) {
  return answer("cublasLtMatmulAlgoGetIds", handle, [&](LibraryCall&) {
    require(wanted > 0 && ids != nullptr && found != nullptr, "no number is wanted");
    ids[0] = 0;
    *found = 1;
  });
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t, cudaDataType, cudaDataType,
                                      cudaDataType, cudaDataType, cudaDataType, int id,
                                      cublasLtMatmulAlgo_t* algorithm) {
  return answer("cublasLtMatmulAlgoInit", handle, [&](LibraryCall&) {
    require(id == 0 && algorithm != nullptr, "there is no algorithm of that number");
    *algorithm = {};
  });
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t settings,
                                       cublasLtMatrixLayout_t of_a, cublasLtMatrixLayout_t of_b,
                                       cublasLtMatrixLayout_t of_c, cublasLtMatrixLayout_t of_d,
                                       const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulHeuristicResult_t* result) {
  return answer("cublasLtMatmulAlgoCheck", handle, [&](LibraryCall&) {
    require(algorithm != nullptr && result != nullptr, "the algorithm or the place for the result is null");
    static_cast<void>(checked(settings, of_a, of_b, of_c, of_d));
    *result = {};
    result->algo = *algorithm;
    result->state = CUBLAS_STATUS_SUCCESS;
    result->wavesCount = 1;
  });
}

cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t handle, cublasLtMatrixTransformDesc_t settings,
                                       const void* alpha, const void* A, cublasLtMatrixLayout_t of_a, const void* beta,
                                       const void* B, cublasLtMatrixLayout_t of_b, void* C, cublasLtMatrixLayout_t of_c,
                                       cudaStream_t stream) {
  return answer("cublasLtMatrixTransform", handle, [&](LibraryCall& call) {
    const TransformSettings s = in<TransformSettings>(settings);
    const bool is_of_device = s.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
    const Number by(s.scale, alpha, is_of_device);
    const std::optional<Number> with =
        beta == nullptr ? std::nullopt : std::optional<Number>({s.scale, beta, is_of_device});
    const Layout c = in<Layout>(of_c);
    check_layout(c);
    require_supported(c.batch == 1, "batches are not transformed here");
    LibraryWork work;
    const auto add = [&](const char* name, const void* at, cublasLtMatrixLayout_t layout, std::int32_t operation) {
      const Layout own = in<Layout>(layout);
      check_layout(own);
      require((turns(operation) ? own.columns : own.rows) == c.rows &&
                  (turns(operation) ? own.rows : own.columns) == c.columns,
              "the sizes of the matrices do not go together");
      work.uses.push_back(use_of(name, at, own, Access::read));
      return own;
    };
    std::optional<Layout> a;
    std::optional<Layout> b;
    if (A != nullptr && !by.is_zero()) a = add("A", A, of_a, s.of_a);
    if (B != nullptr && with && !with->is_zero()) b = add("B", B, of_b, s.of_b);
    work.uses.push_back(use_of("C", C, c, Access::write));
    by.add_use(work.uses, "alpha");
    if (with) with->add_use(work.uses, "beta");
    for (const MemoryUse& use : work.uses) {
      work.amount.bytes += static_cast<double>(use.runs) * static_cast<double>(use.run_bytes);
    }
    work.compute = [=](LibraryTurn& turn) {
      const auto rows = static_cast<std::int64_t>(c.rows);
      const auto columns = static_cast<std::int64_t>(c.columns);
      std::vector<Wide> sums(static_cast<std::size_t>(rows * columns));
      const auto add_up = [&](const std::optional<Layout>& layout, const void* at, std::int32_t operation,
                              Wide factor) {
        if (!layout) return;
        const std::vector<Wide> numbers = numbers_of<Wide>(matrix_of(turn.at(const_cast<void*>(at)), *layout));
        const auto own_rows = static_cast<std::int64_t>(layout->rows);
        for (std::int64_t column = 0; column < columns; ++column) {
          for (std::int64_t row = 0; row < rows; ++row) {
            const std::int64_t from = turns(operation) ? column + row * own_rows : row + column * own_rows;
            const Wide number = numbers[static_cast<std::size_t>(from)];
            sums[static_cast<std::size_t>(row + column * rows)] +=
                times(factor, operation == CUBLAS_OP_C ? std::conj(number) : number);
          }
        }
      };
      add_up(a, A, s.of_a, by.value(turn));
      if (with) add_up(b, B, s.of_b, with->value(turn));
      put_numbers(matrix_of(turn.at(C), c), sums);
    };
    enqueue(kCublasLt, call, std::move(work), stream);
  });
}

}  // extern "C"
