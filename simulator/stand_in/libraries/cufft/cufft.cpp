// cuFFT's plans and their execution.
#include <cufft.h>
#include <cufftXt.h>

#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "simulator/stand_in/libraries/answer.hpp"
#include "simulator/stand_in/libraries/cufft/transform.hpp"

namespace convladder::stand_in {

const char* cufft_status_name(int status) {
  switch (status) {
    case CUFFT_SUCCESS:
      return "CUFFT_SUCCESS";
    case CUFFT_INVALID_PLAN:
      return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED:
      return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_TYPE:
      return "CUFFT_INVALID_TYPE";
    case CUFFT_INVALID_VALUE:
      return "CUFFT_INVALID_VALUE";
    case CUFFT_INTERNAL_ERROR:
      return "CUFFT_INTERNAL_ERROR";
    case CUFFT_EXEC_FAILED:
      return "CUFFT_EXEC_FAILED";
    case CUFFT_SETUP_FAILED:
      return "CUFFT_SETUP_FAILED";
    case CUFFT_INVALID_SIZE:
      return "CUFFT_INVALID_SIZE";
    case CUFFT_UNALIGNED_DATA:
      return "CUFFT_UNALIGNED_DATA";
    case CUFFT_INVALID_DEVICE:
      return "CUFFT_INVALID_DEVICE";
    case CUFFT_NO_WORKSPACE:
      return "CUFFT_NO_WORKSPACE";
    case CUFFT_NOT_IMPLEMENTED:
      return "CUFFT_NOT_IMPLEMENTED";
    case CUFFT_NOT_SUPPORTED:
      return "CUFFT_NOT_SUPPORTED";
    default:
      return "an unknown status of cuFFT's";
  }
}

const LibraryInfo kCufft = {.name = "cuFFT",
                            .status_name = cufft_status_name,
                            .not_supported = CUFFT_NOT_SUPPORTED,
                            .failed = CUFFT_EXEC_FAILED};

int refuse_cufft_call(const char* function) noexcept { return library_machine().refuse(kCufft, function); }

namespace cufft {
namespace {

void require(bool holds, cufftResult status, const char* why) {
  if (!holds) throw Refused(status, why);
}

/// The transform that a plan makes.
struct Made {
  Kind kind = Kind::complex_to_complex;
  bool is_double = false;
  std::vector<std::int64_t> sizes;
  std::int64_t batch = 1;
  std::optional<Embedding> in;  // none: the usual layout
  std::optional<Embedding> out;

  std::uint64_t real_bytes() const { return is_double ? sizeof(double) : sizeof(float); }
  std::int64_t points() const {
    std::int64_t points = 1;
    for (const std::int64_t size : sizes) points *= size;
    return points;
  }
  /// Memory that a GPU would need beside the data.
  std::uint64_t work_bytes() const { return static_cast<std::uint64_t>(points() * batch) * 2 * real_bytes(); }

  /// A side's layout. In place, rows of real numbers are as long as those of complex ones.
  Layout layout(bool is_input, bool in_place) const {
    const bool is_real = kind == (is_input ? Kind::real_to_complex : Kind::complex_to_real);
    const std::uint64_t bytes = is_real ? real_bytes() : 2 * real_bytes();
    std::vector<std::int64_t> own = sizes;
    const std::int64_t half = sizes.back() / 2 + 1;
    if (kind != Kind::complex_to_complex && !is_real) own.back() = half;
    const std::optional<Embedding>& asked = is_input ? in : out;
    if (asked) return embedded(own, *asked, batch, bytes);
    return packed(own, is_real && in_place ? 2 * half : own.back(), batch, bytes);
  }
};

struct Plan {
  std::optional<Made> made;
  cudaStream_t stream = nullptr;
  bool allocates = true;
  bool has_work_area = false;
  std::map<int, long long> properties;
};

struct Plans {
  std::mutex mutex;
  std::map<cufftHandle, std::shared_ptr<Plan>> alive;
  cufftHandle next = 1;
};
Plans& plans() {
  static auto* const all = new Plans;  // programs call until their very end
  return *all;
}

std::shared_ptr<Plan> plan_of(cufftHandle handle) {
  const std::scoped_lock lock(plans().mutex);
  const auto found = plans().alive.find(handle);
  if (found == plans().alive.end()) throw Refused(CUFFT_INVALID_PLAN, "there is no such plan");
  return found->second;
}

cufftHandle add_plan() {
  const std::scoped_lock lock(plans().mutex);
  plans().alive.emplace(plans().next, std::make_shared<Plan>());
  return plans().next++;
}

/// Runs `work(call)`.
template <typename Work>
cufftResult answer(const char* name, const Work& work) noexcept {
  return answer_call<cufftResult>(kCufft, name, work);
}

/// The transform of a type of cuFFT's.
Made of_type(cufftType type) {
  Made made;
  switch (type) {
    case CUFFT_C2C:
    case CUFFT_Z2Z:
      break;
    case CUFFT_R2C:
    case CUFFT_D2Z:
      made.kind = Kind::real_to_complex;
      break;
    case CUFFT_C2R:
    case CUFFT_Z2D:
      made.kind = Kind::complex_to_real;
      break;
    default:
      throw Refused(CUFFT_INVALID_TYPE, "there is no such type of transform");
  }
  made.is_double = type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D;
  return made;
}

/// The sizes and layouts that a program gives, with numbers of 32 or 64 bits.
template <typename Integer>
struct Asked {
  int rank;
  const Integer* sizes;
  const Integer* in_sizes = nullptr;
  Integer in_stride = 1;
  Integer in_distance = 1;
  const Integer* out_sizes = nullptr;
  Integer out_stride = 1;
  Integer out_distance = 1;
  Integer batch = 1;
};

template <typename Integer>
Made made_of(Made made, const Asked<Integer>& asked) {
  require(asked.rank >= 1 && asked.rank <= 3, CUFFT_INVALID_SIZE, "a transform has one to three dimensions");
  require(asked.sizes != nullptr, CUFFT_INVALID_VALUE, "the sizes are null");
  for (int i = 0; i < asked.rank; ++i) {
    require(asked.sizes[i] >= 1, CUFFT_INVALID_SIZE, "a size is less than 1");
    made.sizes.push_back(asked.sizes[i]);
  }
  require(asked.batch >= 1, CUFFT_INVALID_SIZE, "the batch is less than 1");
  made.batch = asked.batch;
  if (asked.in_sizes != nullptr && asked.out_sizes != nullptr) {
    require(asked.in_stride >= 1 && asked.out_stride >= 1, CUFFT_INVALID_VALUE, "a stride is less than 1");
    made.in = Embedding{{asked.in_sizes, asked.in_sizes + asked.rank}, asked.in_stride, asked.in_distance};
    made.out = Embedding{{asked.out_sizes, asked.out_sizes + asked.rank}, asked.out_stride, asked.out_distance};
  }
  return made;
}

void give(std::size_t* place, std::size_t value) {
  if (place != nullptr) *place = value;
}

/// cufftPlan…: a new plan with a transform.
template <typename Integer>
cufftResult new_plan(const char* name, cufftHandle* handle, cufftType type, const Asked<Integer>& asked) {
  return answer(name, [&](LibraryCall&) {
    require(handle != nullptr, CUFFT_INVALID_VALUE, "the place for the plan is null");
    Made made = made_of(of_type(type), asked);
    *handle = add_plan();
    plan_of(*handle)->made = std::move(made);
  });
}

/// cufftMakePlan…: the transform of a plan that has none yet.
template <typename Integer>
cufftResult make_plan(const char* name, cufftHandle handle, Made made, const Asked<Integer>& asked,
                      std::size_t* bytes) {
  const std::shared_ptr<Plan> plan = plan_of(handle);
  static_cast<void>(name);
  require(!plan->made, CUFFT_INVALID_PLAN, "the plan has been made already");
  plan->made = made_of(std::move(made), asked);
  give(bytes, plan->made->work_bytes());
  return CUFFT_SUCCESS;
}

template <typename Integer>
cufftResult make_typed_plan(const char* name, cufftHandle handle, cufftType type, const Asked<Integer>& asked,
                            std::size_t* bytes) {
  return answer(name, [&](LibraryCall&) { make_plan(name, handle, of_type(type), asked, bytes); });
}

/// cufftGetSize… and cufftEstimate…: the memory that a GPU would need beside the data.
template <typename Integer>
cufftResult size_of(const char* name, std::optional<cufftHandle> handle, cufftType type, const Asked<Integer>& asked,
                    std::size_t* bytes) {
  return answer(name, [&](LibraryCall&) {
    if (handle) static_cast<void>(plan_of(*handle));
    require(bytes != nullptr, CUFFT_INVALID_VALUE, "the place for the size is null");
    *bytes = made_of(of_type(type), asked).work_bytes();
  });
}

void execute(LibraryCall& call, const Plan& plan, void* in, void* out, int direction) {
  require(plan.made.has_value(), CUFFT_INVALID_PLAN, "the plan has not been made");
  const Made& made = *plan.made;
  require(in != nullptr && out != nullptr, CUFFT_INVALID_VALUE, "an address is null");
  require(plan.allocates || plan.has_work_area, CUFFT_NO_WORKSPACE, "the plan has no work area");
  const bool in_place = in == out;
  const Layout from = made.layout(true, in_place);
  const Layout to = made.layout(false, in_place);
  LibraryWork work;
  work.uses = uses_of("idata", in, from, true, false);
  for (const MemoryUse& use : uses_of("odata", out, to, false, true)) work.uses.push_back(use);
  const auto points = static_cast<double>(made.points());
  const auto batch = static_cast<double>(made.batch);
  // Five operations a point and level, as benchmarks of transforms count; real ones need half.
  const double operations = 5 * points * std::log2(std::max(2.0, points)) * batch;
  (made.is_double ? work.amount.fp64 : work.amount.fp32) =
      made.kind == Kind::complex_to_complex ? operations : operations / 2;
  for (const Layout& side : {from, to}) {
    double elements = static_cast<double>(side.batch.count);
    for (const Steps& one : side.dimensions) elements *= static_cast<double>(one.count);
    work.amount.bytes += elements * static_cast<double>(side.element_bytes);
  }
  work.amount.steps = static_cast<double>(made.sizes.size());
  work.compute = [=](LibraryTurn& turn) {
    transform(made.kind, made.is_double, direction, made.sizes, turn.host(in), from, turn.host(out), to);
  };
  enqueue(kCufft, call, std::move(work), plan.stream);
}

cufftResult execute_typed(const char* name, cufftHandle handle, Kind kind, bool is_double, void* in, void* out,
                          int direction) {
  return answer(name, [&](LibraryCall& call) {
    const std::shared_ptr<Plan> plan = plan_of(handle);
    if (plan->made) {
      require(plan->made->kind == kind && plan->made->is_double == is_double, CUFFT_INVALID_TYPE,
              "the plan is of another type");
    }
    require(direction == CUFFT_FORWARD || direction == CUFFT_INVERSE, CUFFT_INVALID_VALUE,
            "the direction is neither CUFFT_FORWARD nor CUFFT_INVERSE");
    execute(call, *plan, in, out, direction);
  });
}

/// The transform between two types of cudaDataType.
Made of_types(cudaDataType in, cudaDataType out, cudaDataType computed) {
  const auto is_one_of = [](cudaDataType type, cudaDataType one, cudaDataType other) {
    return type == one || type == other;
  };
  if (!is_one_of(computed, CUDA_C_32F, CUDA_C_64F)) {
    throw Refused(CUFFT_NOT_SUPPORTED, "transforms of half precision are not supported here");
  }
  Made made;
  made.is_double = computed == CUDA_C_64F;
  const cudaDataType real = made.is_double ? CUDA_R_64F : CUDA_R_32F;
  if (in == real && out == computed) {
    made.kind = Kind::real_to_complex;
  } else if (in == computed && out == real) {
    made.kind = Kind::complex_to_real;
  } else {
    require(in == computed && out == computed, CUFFT_INVALID_TYPE, "the types do not belong together");
  }
  return made;
}

}  // namespace
}  // namespace cufft
}  // namespace convladder::stand_in

using namespace convladder::stand_in;
using namespace convladder::stand_in::cufft;

extern "C" {

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  return new_plan("cufftPlan1d", plan, type, Asked<int>{.rank = 1, .sizes = &nx, .batch = batch});
}
cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  const int sizes[] = {nx, ny};
  return new_plan("cufftPlan2d", plan, type, Asked<int>{.rank = 2, .sizes = sizes});
}
cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  const int sizes[] = {nx, ny, nz};
  return new_plan("cufftPlan3d", plan, type, Asked<int>{.rank = 3, .sizes = sizes});
}
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                          int ostride, int odist, cufftType type, int batch) {
  return new_plan("cufftPlanMany", plan, type,
                  Asked<int>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch});
}

cufftResult cufftCreate(cufftHandle* plan) {
  return answer("cufftCreate", [&](LibraryCall&) {
    require(plan != nullptr, CUFFT_INVALID_VALUE, "the place for the plan is null");
    *plan = add_plan();
  });
}
cufftResult cufftDestroy(cufftHandle plan) {
  return answer("cufftDestroy", [&](LibraryCall&) {
    static_cast<void>(plan_of(plan));
    const std::scoped_lock lock(plans().mutex);
    plans().alive.erase(plan);
  });
}
cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* bytes) {
  return make_typed_plan("cufftMakePlan1d", plan, type, Asked<int>{.rank = 1, .sizes = &nx, .batch = batch}, bytes);
}
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* bytes) {
  const int sizes[] = {nx, ny};
  return make_typed_plan("cufftMakePlan2d", plan, type, Asked<int>{.rank = 2, .sizes = sizes}, bytes);
}
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* bytes) {
  const int sizes[] = {nx, ny, nz};
  return make_typed_plan("cufftMakePlan3d", plan, type, Asked<int>{.rank = 3, .sizes = sizes}, bytes);
}
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                              int ostride, int odist, cufftType type, int batch, size_t* bytes) {
  return make_typed_plan("cufftMakePlanMany", plan, type,
                         Asked<int>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, bytes);
}
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, long long* onembed, long long ostride, long long odist, cufftType type,
                                long long batch, size_t* bytes) {
  return make_typed_plan("cufftMakePlanMany64", plan, type,
                         Asked<long long>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, bytes);
}
cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, cudaDataType in, long long* onembed, long long ostride,
                                long long odist, cudaDataType out, long long batch, size_t* bytes,
                                cudaDataType computed) {
  return answer("cufftXtMakePlanMany", [&](LibraryCall&) {
    make_plan("cufftXtMakePlanMany", plan, of_types(in, out, computed),
              Asked<long long>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, bytes);
  });
}

cufftResult cufftGetSize1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* bytes) {
  return size_of("cufftGetSize1d", plan, type, Asked<int>{.rank = 1, .sizes = &nx, .batch = batch}, bytes);
}
cufftResult cufftGetSize2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* bytes) {
  const int sizes[] = {nx, ny};
  return size_of("cufftGetSize2d", plan, type, Asked<int>{.rank = 2, .sizes = sizes}, bytes);
}
cufftResult cufftGetSize3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* bytes) {
  const int sizes[] = {nx, ny, nz};
  return size_of("cufftGetSize3d", plan, type, Asked<int>{.rank = 3, .sizes = sizes}, bytes);
}
cufftResult cufftGetSizeMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                             int ostride, int odist, cufftType type, int batch, size_t* bytes) {
  return size_of("cufftGetSizeMany", plan, type,
                 Asked<int>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, bytes);
}
cufftResult cufftGetSizeMany64(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                               long long idist, long long* onembed, long long ostride, long long odist, cufftType type,
                               long long batch, size_t* bytes) {
  return size_of("cufftGetSizeMany64", plan, type,
                 Asked<long long>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, bytes);
}
cufftResult cufftGetSize(cufftHandle plan, size_t* bytes) {
  return answer("cufftGetSize", [&](LibraryCall&) {
    const std::shared_ptr<Plan> its = plan_of(plan);
    require(its->made.has_value(), CUFFT_INVALID_PLAN, "the plan has not been made");
    require(bytes != nullptr, CUFFT_INVALID_VALUE, "the place for the size is null");
    *bytes = its->made->work_bytes();
  });
}
cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t* bytes) {
  return size_of("cufftEstimate1d", std::nullopt, type, Asked<int>{.rank = 1, .sizes = &nx, .batch = batch}, bytes);
}
cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t* bytes) {
  const int sizes[] = {nx, ny};
  return size_of("cufftEstimate2d", std::nullopt, type, Asked<int>{.rank = 2, .sizes = sizes}, bytes);
}
cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t* bytes) {
  const int sizes[] = {nx, ny, nz};
  return size_of("cufftEstimate3d", std::nullopt, type, Asked<int>{.rank = 3, .sizes = sizes}, bytes);
}
cufftResult cufftEstimateMany(int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride,
                              int odist, cufftType type, int batch, size_t* bytes) {
  return size_of("cufftEstimateMany", std::nullopt, type,
                 Asked<int>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, bytes);
}

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  return answer("cufftSetStream", [&](LibraryCall&) { plan_of(plan)->stream = stream; });
}
cufftResult cufftSetWorkArea(cufftHandle plan, void* area) {
  return answer("cufftSetWorkArea", [&](LibraryCall&) { plan_of(plan)->has_work_area = area != nullptr; });
}
cufftResult cufftSetAutoAllocation(cufftHandle plan, int allocates) {
  return answer("cufftSetAutoAllocation", [&](LibraryCall&) { plan_of(plan)->allocates = allocates != 0; });
}
cufftResult cufftSetPlanPropertyInt64(cufftHandle plan, cufftProperty property, const long long value) {
  return answer("cufftSetPlanPropertyInt64", [&](LibraryCall&) { plan_of(plan)->properties[property] = value; });
}
cufftResult cufftGetPlanPropertyInt64(cufftHandle plan, cufftProperty property, long long* value) {
  return answer("cufftGetPlanPropertyInt64", [&](LibraryCall&) {
    const std::shared_ptr<Plan> its = plan_of(plan);
    require(value != nullptr, CUFFT_INVALID_VALUE, "the place for the value is null");
    *value = its->properties[property];
  });
}
cufftResult cufftResetPlanProperty(cufftHandle plan, cufftProperty property) {
  return answer("cufftResetPlanProperty", [&](LibraryCall&) { plan_of(plan)->properties.erase(property); });
}
cufftResult cufftGetVersion(int* version) {
  return answer_fact<cufftResult>(kCufft, "cufftGetVersion", [&] {
    require(version != nullptr, CUFFT_INVALID_VALUE, "the place for the version is null");
    *version = CUFFT_VERSION;
  });
}
cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  return answer_fact<cufftResult>(kCufft, "cufftGetProperty", [&] {
    constexpr int kVersion[] = {CUFFT_VERSION / 1000, CUFFT_VERSION / 100 % 10, CUFFT_VERSION % 100};
    require(value != nullptr && type >= MAJOR_VERSION && type <= PATCH_LEVEL, CUFFT_INVALID_VALUE,
            "there is no such property");
    *value = kVersion[type];
  });
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return execute_typed("cufftExecC2C", plan, Kind::complex_to_complex, false, in, out, direction);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) {
  return execute_typed("cufftExecZ2Z", plan, Kind::complex_to_complex, true, in, out, direction);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return execute_typed("cufftExecR2C", plan, Kind::real_to_complex, false, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return execute_typed("cufftExecD2Z", plan, Kind::real_to_complex, true, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return execute_typed("cufftExecC2R", plan, Kind::complex_to_real, false, in, out, CUFFT_INVERSE);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return execute_typed("cufftExecZ2D", plan, Kind::complex_to_real, true, in, out, CUFFT_INVERSE);
}
cufftResult cufftXtExec(cufftHandle plan, void* in, void* out, int direction) {
  return answer("cufftXtExec", [&](LibraryCall& call) {
    const std::shared_ptr<Plan> its = plan_of(plan);
    const bool is_complex = its->made && its->made->kind == Kind::complex_to_complex;
    require(!is_complex || direction == CUFFT_FORWARD || direction == CUFFT_INVERSE, CUFFT_INVALID_VALUE,
            "the direction is neither CUFFT_FORWARD nor CUFFT_INVERSE");
    execute(call, *its, in, out, direction);
  });
}

}  // extern "C"
