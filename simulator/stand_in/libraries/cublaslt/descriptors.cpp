#include "simulator/stand_in/libraries/cublaslt/descriptors.hpp"
#include "simulator/stand_in/libraries/living_objects.hpp"

#include <algorithm>
#include <array>
#include <new>

namespace convladder::stand_in {

int refuse_cublasLt_call(const char* function) noexcept;

const LibraryInfo kCublasLt = {
    .name = "cuBLASLt",
    .status_name = [](int status) { return cublasLtGetStatusName(static_cast<cublasStatus_t>(status)); },
    .not_supported = CUBLAS_STATUS_NOT_SUPPORTED,
    .failed = CUBLAS_STATUS_EXECUTION_FAILED};

void require(bool holds, const char* why) {
  if (!holds) throw Refused(CUBLAS_STATUS_INVALID_VALUE, why);
}
void require_supported(bool holds, const char* why) {
  if (!holds) throw Refused(CUBLAS_STATUS_NOT_SUPPORTED, why);
}

int refuse_cublasLt_call(const char* function) noexcept { return library_machine().refuse(kCublasLt, function); }

namespace {

/// A number of an attribute, and the bytes of the descriptor that hold it.
struct Attribute {
  int number;
  std::size_t at;
  std::size_t bytes;
};

#define OF(number, Own, member) \
  Attribute { number, offsetof(Own, member), sizeof(Own::member) }

constexpr std::array kLayout = {
    OF(CUBLASLT_MATRIX_LAYOUT_TYPE, Layout, type),
    OF(CUBLASLT_MATRIX_LAYOUT_ORDER, Layout, order),
    OF(CUBLASLT_MATRIX_LAYOUT_ROWS, Layout, rows),
    OF(CUBLASLT_MATRIX_LAYOUT_COLS, Layout, columns),
    OF(CUBLASLT_MATRIX_LAYOUT_LD, Layout, leading),
    OF(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, Layout, batch),
    OF(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, Layout, stride),
    OF(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, Layout, plane_offset),
    OF(8, Layout, batch_mode),
};

constexpr std::array kMatmul = {
    OF(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, MatmulSettings, compute),
    OF(CUBLASLT_MATMUL_DESC_SCALE_TYPE, MatmulSettings, scale),
    OF(CUBLASLT_MATMUL_DESC_POINTER_MODE, MatmulSettings, pointer_mode),
    OF(CUBLASLT_MATMUL_DESC_TRANSA, MatmulSettings, of_a),
    OF(CUBLASLT_MATMUL_DESC_TRANSB, MatmulSettings, of_b),
    OF(CUBLASLT_MATMUL_DESC_TRANSC, MatmulSettings, of_c),
    OF(CUBLASLT_MATMUL_DESC_FILL_MODE, MatmulSettings, part),
    OF(CUBLASLT_MATMUL_DESC_EPILOGUE, MatmulSettings, epilogue),
    OF(CUBLASLT_MATMUL_DESC_BIAS_POINTER, MatmulSettings, bias),
    OF(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, MatmulSettings, bias_stride),
    OF(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, MatmulSettings, aux),
    OF(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, MatmulSettings, aux_leading),
    OF(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, MatmulSettings, aux_stride),
    OF(CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, MatmulSettings, alpha_stride),
    OF(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, MatmulSettings, multiprocessors),
    OF(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, MatmulSettings, a_scale),
    OF(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, MatmulSettings, b_scale),
    OF(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, MatmulSettings, c_scale),
    OF(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, MatmulSettings, d_scale),
    OF(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, MatmulSettings, d_largest),
    OF(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, MatmulSettings, aux_type),
    OF(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, MatmulSettings, aux_scale),
    OF(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, MatmulSettings, aux_largest),
    OF(CUBLASLT_MATMUL_DESC_FAST_ACCUM, MatmulSettings, fast_sums),
    OF(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, MatmulSettings, bias_type),
};

constexpr std::array kTransform = {
    OF(CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, TransformSettings, scale),
    OF(CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, TransformSettings, pointer_mode),
    OF(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, TransformSettings, of_a),
    OF(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, TransformSettings, of_b),
};

const Attribute& found(std::span<const Attribute> attributes, int number) {
  const auto one = std::ranges::find(attributes, number, &Attribute::number);
  require_supported(one != attributes.end(), "an attribute that is not known here");
  return *one;
}

void set(void* own, const Attribute& attribute, const void* from, std::size_t bytes) {
  require(from != nullptr && bytes >= attribute.bytes, "the value is null, or smaller than the attribute");
  std::memcpy(static_cast<std::byte*>(own) + attribute.at, from, attribute.bytes);
}

void get(const void* own, const Attribute& attribute, void* to, std::size_t bytes, std::size_t* written) {
  if (written != nullptr) *written = attribute.bytes;
  if (bytes == 0 && written != nullptr) return;  // the size is asked for
  require(to != nullptr && bytes >= attribute.bytes, "the place is null, or smaller than the attribute");
  std::memcpy(to, static_cast<const std::byte*>(own) + attribute.at, attribute.bytes);
}

template <typename Work>
cublasStatus_t answer(const char* name, const Work& work) noexcept {
  return answer_call<cublasStatus_t>(kCublasLt, name, [&](LibraryCall&) { work(); });
}

/// Makes a descriptor in memory of the library.
template <typename Own, typename Opaque>
void make(Opaque** place, const Own& first) {
  require(place != nullptr, "the place for the descriptor is null");
  *place = new Opaque{};
  new (*place) Own(first);
}

template <typename Own, typename Opaque>
void make_in(Opaque* place, std::size_t size, const Own& first) {
  require(place != nullptr, "the descriptor is null");
  if (size < sizeof(Own)) throw Refused(CUBLAS_STATUS_ALLOC_FAILED, "the descriptor is too small");
  *place = Opaque{};
  new (place) Own(first);
}

Layout layout(cudaDataType type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
  Layout made;
  made.type = type;
  made.rows = rows;
  made.columns = columns;
  made.leading = leading;
  return made;
}

MatmulSettings settings(cublasComputeType_t compute, cudaDataType scale) {
  MatmulSettings made;
  made.compute = compute;
  made.scale = scale;
  return made;
}

TransformSettings transform(cudaDataType scale) {
  TransformSettings made;
  made.scale = scale;
  return made;
}

/// Where a preference or an algorithm's setting of that number is kept.
template <typename Opaque>
void* kept(Opaque* opaque, int number, std::size_t bytes) {
  KeptSettings& own = in<KeptSettings>(opaque);
  require_supported(number >= 0 && number < 13 && bytes <= 8, "an attribute that is not known here");
  return &own.small[number];
}

}  // namespace
}  // namespace convladder::stand_in

using namespace convladder::stand_in;

extern "C" {

const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "another status of cuBLASLt";
  }
}
const char* cublasLtGetStatusString(cublasStatus_t status) { return cublasLtGetStatusName(status); }
std::size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
std::size_t cublasLtGetCudartVersion() { return CUDART_VERSION; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return answer("cublasLtCreate", [&] {
    require(handle != nullptr, "the place for the handle is null");
    *handle = reinterpret_cast<cublasLtHandle_t>(living_objects().add(new char));  // it keeps nothing
  });
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return answer("cublasLtDestroy", [&] {
    if (!living_objects().remove(handle)) {
      throw Refused(CUBLAS_STATUS_NOT_INITIALIZED, "the handle is none that lives");
    }
    delete reinterpret_cast<char*>(handle);
  });
}
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
  return answer_fact<cublasStatus_t>(kCublasLt, "cublasLtGetProperty", [&] {
    require(value != nullptr, "the place for the value is null");
    *value = type == MAJOR_VERSION ? CUBLAS_VER_MAJOR : type == MINOR_VERSION ? CUBLAS_VER_MINOR : CUBLAS_VER_PATCH;
  });
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t place, std::size_t size, cudaDataType type,
                                                 std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
  return answer("cublasLtMatrixLayoutInit", [&] { make_in(place, size, layout(type, rows, columns, leading)); });
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* place, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t leading) {
  return answer("cublasLtMatrixLayoutCreate", [&] { make(place, layout(type, rows, columns, leading)); });
}
cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t place, std::size_t size,
                                               cublasComputeType_t compute, cudaDataType scale) {
  return answer("cublasLtMatmulDescInit", [&] { make_in(place, size, settings(compute, scale)); });
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* place, cublasComputeType_t compute, cudaDataType scale) {
  return answer("cublasLtMatmulDescCreate", [&] { make(place, settings(compute, scale)); });
}
cublasStatus_t cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t place, std::size_t size,
                                                        cudaDataType scale) {
  return answer("cublasLtMatrixTransformDescInit", [&] { make_in(place, size, transform(scale)); });
}
cublasStatus_t cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t* place, cudaDataType scale) {
  return answer("cublasLtMatrixTransformDescCreate", [&] { make(place, transform(scale)); });
}
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t place, std::size_t size) {
  return answer("cublasLtMatmulPreferenceInit", [&] { make_in(place, size, KeptSettings{}); });
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* place) {
  return answer("cublasLtMatmulPreferenceCreate", [&] { make(place, KeptSettings{}); });
}

#define ATTRIBUTES(Name, Opaque, Number, table, Own)                                                                  \
  cublasStatus_t cublasLt##Name##Destroy(Opaque object) {                                                             \
    return answer("cublasLt" #Name "Destroy", [&] { delete object; });                                                \
  }                                                                                                                   \
  cublasStatus_t cublasLt##Name##SetAttribute(Opaque object, Number attribute, const void* from, std::size_t bytes) { \
    return answer("cublasLt" #Name "SetAttribute",                                                                    \
                  [&] { set(&in<Own>(object), found(table, attribute), from, bytes); });                              \
  }                                                                                                                   \
  cublasStatus_t cublasLt##Name##GetAttribute(Opaque object, Number attribute, void* to, std::size_t bytes,           \
                                              std::size_t* written) {                                                 \
    return answer("cublasLt" #Name "GetAttribute",                                                                    \
                  [&] { get(&in<Own>(object), found(table, attribute), to, bytes, written); });                       \
  }
ATTRIBUTES(MatrixLayout, cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, kLayout, Layout)
ATTRIBUTES(MatrixTransformDesc, cublasLtMatrixTransformDesc_t, cublasLtMatrixTransformDescAttributes_t, kTransform,
           TransformSettings)

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t object) {
  return answer("cublasLtMatmulDescDestroy", [&] { delete object; });
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t object, cublasLtMatmulDescAttributes_t attribute,
                                              const void* from, std::size_t bytes) {
  return answer("cublasLtMatmulDescSetAttribute", [&] {
    auto& own = in<MatmulSettings>(object);
    if (attribute >= 31 && attribute <= 37 && attribute != 36) {  // how matrices are scaled: by one number, 0
      std::int32_t mode = 0;
      require(from != nullptr && bytes >= sizeof mode, "the value is null, or smaller than the attribute");
      std::memcpy(&mode, from, sizeof mode);
      own.scale_modes |= mode;
      return;
    }
    set(&own, found(kMatmul, attribute), from, bytes);
  });
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t object, cublasLtMatmulDescAttributes_t attribute,
                                              void* to, std::size_t bytes, std::size_t* written) {
  return answer("cublasLtMatmulDescGetAttribute",
                [&] { get(&in<MatmulSettings>(object), found(kMatmul, attribute), to, bytes, written); });
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t object) {
  return answer("cublasLtMatmulPreferenceDestroy", [&] { delete object; });
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t object,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* from,
                                                    std::size_t bytes) {
  return answer("cublasLtMatmulPreferenceSetAttribute", [&] {
    require(from != nullptr, "the value is null");
    std::memcpy(kept(object, attribute, bytes), from, bytes);
  });
}
cublasStatus_t cublasLtMatmulPreferenceGetAttribute(cublasLtMatmulPreference_t object,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, void* to,
                                                    std::size_t bytes, std::size_t* written) {
  return answer("cublasLtMatmulPreferenceGetAttribute", [&] {
    require(to != nullptr, "the place is null");
    std::memcpy(to, kept(object, attribute, bytes), bytes);
    if (written != nullptr) *written = bytes;
  });
}
cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute, const void* from,
                                                    std::size_t bytes) {
  return answer("cublasLtMatmulAlgoConfigSetAttribute", [&] {
    require(from != nullptr, "the value is null");
    require_supported(bytes <= 4, "an attribute that is not known here");
    std::memcpy(kept(algorithm, attribute, bytes), from, bytes);
  });
}
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute, void* to,
                                                    std::size_t bytes, std::size_t* written) {
  return answer("cublasLtMatmulAlgoConfigGetAttribute", [&] {
    require(to != nullptr, "the place is null");
    require_supported(bytes <= 4, "an attribute that is not known here");
    std::memcpy(to, kept(const_cast<cublasLtMatmulAlgo_t*>(algorithm), attribute, bytes), bytes);
    if (written != nullptr) *written = bytes;
  });
}

cublasStatus_t cublasLtLoggerSetLevel(int /*level*/) {
  return answer("cublasLtLoggerSetLevel", [] {});
}
cublasStatus_t cublasLtLoggerSetMask(int /*mask*/) {
  return answer("cublasLtLoggerSetMask", [] {});
}
cublasStatus_t cublasLtLoggerForceDisable() {
  return answer("cublasLtLoggerForceDisable", [] {});
}

}  // extern "C"
