// cuRAND's host API: generators on the device, whose work is computed on the host in its turn of the stream, and those
// of the host, which compute at once.
#include <curand.h>

#include <cmath>
#include <map>
#include <memory>

#include "simulator/stand_in/libraries/answer.hpp"
#include "simulator/stand_in/libraries/curand/distributions.hpp"
#include "simulator/stand_in/libraries/curand/generator.hpp"
#include "simulator/stand_in/libraries/living_objects.hpp"

/// The program's handle points to it.
struct curandGenerator_st {
  curandRngType_t type = CURAND_RNG_PSEUDO_XORWOW;
  bool is_of_host = false;
  curandOrdering_t ordering = CURAND_ORDERING_PSEUDO_DEFAULT;
  unsigned long long seed = 0;
  unsigned long long offset = 0;
  unsigned dimensions = 1;
  cudaStream_t stream = nullptr;
  /// Made by the first call that draws, and again after the settings have changed.
  std::shared_ptr<convladder::stand_in::curand::Generator> made;
  std::map<double, std::shared_ptr<const convladder::stand_in::curand::Poisson>> poisson;  // by mean
};

namespace convladder::stand_in {

const char* curand_status_name(int status) {
  switch (status) {
    case CURAND_STATUS_SUCCESS:
      return "CURAND_STATUS_SUCCESS";
    case CURAND_STATUS_VERSION_MISMATCH:
      return "CURAND_STATUS_VERSION_MISMATCH";
    case CURAND_STATUS_NOT_INITIALIZED:
      return "CURAND_STATUS_NOT_INITIALIZED";
    case CURAND_STATUS_ALLOCATION_FAILED:
      return "CURAND_STATUS_ALLOCATION_FAILED";
    case CURAND_STATUS_TYPE_ERROR:
      return "CURAND_STATUS_TYPE_ERROR";
    case CURAND_STATUS_OUT_OF_RANGE:
      return "CURAND_STATUS_OUT_OF_RANGE";
    case CURAND_STATUS_LENGTH_NOT_MULTIPLE:
      return "CURAND_STATUS_LENGTH_NOT_MULTIPLE";
    case CURAND_STATUS_DOUBLE_PRECISION_REQUIRED:
      return "CURAND_STATUS_DOUBLE_PRECISION_REQUIRED";
    case CURAND_STATUS_LAUNCH_FAILURE:
      return "CURAND_STATUS_LAUNCH_FAILURE";
    case CURAND_STATUS_PREEXISTING_FAILURE:
      return "CURAND_STATUS_PREEXISTING_FAILURE";
    case CURAND_STATUS_INITIALIZATION_FAILED:
      return "CURAND_STATUS_INITIALIZATION_FAILED";
    case CURAND_STATUS_ARCH_MISMATCH:
      return "CURAND_STATUS_ARCH_MISMATCH";
    case CURAND_STATUS_INTERNAL_ERROR:
      return "CURAND_STATUS_INTERNAL_ERROR";
    default:
      return "an unknown status of cuRAND's";
  }
}

/// "Architecture mismatch, GPU does not support requested feature": cuRAND has no status of its own for what is
/// missing.
const LibraryInfo kCurand = {.name = "cuRAND",
                             .status_name = curand_status_name,
                             .not_supported = CURAND_STATUS_ARCH_MISMATCH,
                             .failed = CURAND_STATUS_LAUNCH_FAILURE};

int refuse_curand_call(const char* function) noexcept { return library_machine().refuse(kCurand, function); }

namespace curand {
namespace {

void require(bool holds, curandStatus_t status, const char* why = "") {
  if (!holds) throw Refused(status, why);
}

bool is_quasi(const curandGenerator_st& generator) { return generator.type >= CURAND_RNG_QUASI_DEFAULT; }
bool is_long(const curandGenerator_st& generator) {
  return generator.type == CURAND_RNG_QUASI_SOBOL64 || generator.type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
}

Algorithm algorithm_of(curandRngType_t type) {
  switch (type) {
    case CURAND_RNG_PSEUDO_XORWOW:
      return Algorithm::xorwow;
    case CURAND_RNG_PSEUDO_MRG32K3A:
      return Algorithm::mrg32k3a;
    case CURAND_RNG_PSEUDO_MTGP32:
      return Algorithm::mtgp32;
    case CURAND_RNG_PSEUDO_MT19937:
      return Algorithm::mt19937;
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      return Algorithm::philox;
    case CURAND_RNG_QUASI_SOBOL32:
      return Algorithm::sobol32;
    case CURAND_RNG_QUASI_SOBOL64:
      return Algorithm::sobol64;
    default:
      throw Refused(CURAND_STATUS_ARCH_MISMATCH, "scrambled Sobol sequences are not supported here");
  }
}

curandStatus_t create(const char* name, curandGenerator_t* generator, curandRngType_t type, bool is_of_host) {
  return answer_call<curandStatus_t>(kCurand, name, [&](LibraryCall&) {
    require(generator != nullptr, CURAND_STATUS_TYPE_ERROR, "the place for the generator is null");
    switch (type) {
      case CURAND_RNG_PSEUDO_DEFAULT:
        type = CURAND_RNG_PSEUDO_XORWOW;
        break;
      case CURAND_RNG_QUASI_DEFAULT:
        type = CURAND_RNG_QUASI_SOBOL32;
        break;
      case CURAND_RNG_PSEUDO_XORWOW:
      case CURAND_RNG_PSEUDO_MRG32K3A:
      case CURAND_RNG_PSEUDO_MTGP32:
      case CURAND_RNG_PSEUDO_MT19937:
      case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      case CURAND_RNG_QUASI_SOBOL32:
      case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
      case CURAND_RNG_QUASI_SOBOL64:
      case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
        break;
      default:
        throw Refused(CURAND_STATUS_TYPE_ERROR, "there is no such generator");
    }
    static_cast<void>(algorithm_of(type));
    auto made = std::make_unique<curandGenerator_st>();
    made->type = type;
    made->is_of_host = is_of_host;
    if (is_quasi(*made)) made->ordering = CURAND_ORDERING_QUASI_DEFAULT;
    *generator = living_objects().add(made.release());
  });
}

/// Runs `work(call, generator)`.
template <typename Work>
curandStatus_t answer(const char* name, curandGenerator_t generator, const Work& work) noexcept {
  return answer_call<curandStatus_t>(kCurand, name, [&](LibraryCall& call) {
    require(living_objects().has(generator), CURAND_STATUS_NOT_INITIALIZED, "the generator is none that lives");
    work(call, *generator);
  });
}

std::shared_ptr<Generator> generator_of(curandGenerator_st& its) {
  if (its.made == nullptr) {
    const Ordering ordering = its.ordering == CURAND_ORDERING_PSEUDO_LEGACY ? Ordering::legacy : Ordering::usual;
    its.made = make_generator(algorithm_of(its.type), ordering, its.seed, its.offset, its.dimensions);
  }
  return its.made;
}

enum class Kind { words, long_words, numbers, normal };

/// Fills memory with numbers, each of which takes about `operations` on a GPU.
template <typename Number, typename Fill>
curandStatus_t generate(const char* name, curandGenerator_t handle, Number* out, std::size_t count, double operations,
                        Kind kind, const Fill& fill) {
  return answer(name, handle, [&](LibraryCall& call, curandGenerator_st& its) {
    require(kind != Kind::words || !is_long(its), CURAND_STATUS_TYPE_ERROR, "this generator has words of 64 bits");
    require(kind != Kind::long_words || is_long(its), CURAND_STATUS_TYPE_ERROR, "this generator has words of 32 bits");
    require(!is_quasi(its) || count % its.dimensions == 0, CURAND_STATUS_LENGTH_NOT_MULTIPLE,
            "the count is no multiple of the dimensions");
    const bool is_paired = its.type == CURAND_RNG_PSEUDO_XORWOW || its.type == CURAND_RNG_PSEUDO_MRG32K3A;
    require(kind != Kind::normal || !is_paired || count % 2 == 0, CURAND_STATUS_LENGTH_NOT_MULTIPLE,
            "normal numbers of this generator come in pairs: the count is odd");
    std::shared_ptr<Generator> generator;
    try {
      generator = generator_of(its);
    } catch (const NotOffered& missing) {
      throw Refused(CURAND_STATUS_ARCH_MISMATCH, std::string(missing.what()) + " is not supported here");
    }
    if (count == 0) return;
    if (its.is_of_host) {
      fill(its, *generator, out, count);
      return;
    }
    LibraryWork work;
    work.uses = {MemoryUse{
        .name = "outputPtr", .address = out, .run_bytes = count * sizeof(Number), .reads = false, .writes = true}};
    work.amount.fp32 = operations * static_cast<double>(count);
    work.amount.bytes = static_cast<double>(count * sizeof(Number));
    work.compute = [generator, out, count, fill, &its](LibraryTurn& turn) {
      fill(its, *generator, turn.at(out), count);
    };
    enqueue(kCurand, call, std::move(work), its.stream);
  });
}

template <typename Number>
auto fill_normal(Number mean, Number deviation, bool is_logarithm) {
  return [=](curandGenerator_st&, Generator& generator, Number* out, std::size_t count) {
    generator.normal(out, count, mean, deviation);
    if (!is_logarithm) return;
    for (std::size_t i = 0; i < count; ++i) out[i] = std::exp(out[i]);
  };
}

}  // namespace
}  // namespace curand
}  // namespace convladder::stand_in

using namespace convladder::stand_in;
using namespace convladder::stand_in::curand;

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return create("curandCreateGenerator", generator, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return create("curandCreateGeneratorHost", generator, type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  return answer("curandDestroyGenerator", generator, [](LibraryCall&, curandGenerator_st& its) {
    living_objects().remove(&its);
    its.made.reset();  // the rest stays: a graph may still draw from it
  });
}

curandStatus_t curandGetVersion(int* version) {
  return answer_fact<curandStatus_t>(kCurand, "curandGetVersion", [&] {
    require(version != nullptr, CURAND_STATUS_OUT_OF_RANGE, "the place for the version is null");
    *version = CURAND_VERSION;
  });
}
curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  return answer_fact<curandStatus_t>(kCurand, "curandGetProperty", [&] {
    constexpr int kVersion[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
    require(value != nullptr && type >= MAJOR_VERSION && type <= PATCH_LEVEL, CURAND_STATUS_OUT_OF_RANGE);
    *value = kVersion[type];
  });
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  return answer("curandSetStream", generator, [&](LibraryCall&, curandGenerator_st& its) { its.stream = stream; });
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  return answer("curandSetPseudoRandomGeneratorSeed", generator, [&](LibraryCall&, curandGenerator_st& its) {
    require(!is_quasi(its), CURAND_STATUS_TYPE_ERROR, "a quasirandom generator has no seed");
    its.seed = seed;
    its.made.reset();
  });
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  return answer("curandSetGeneratorOffset", generator, [&](LibraryCall&, curandGenerator_st& its) {
    require(has_offset(algorithm_of(its.type)), CURAND_STATUS_TYPE_ERROR, "this generator has no offset");
    its.offset = offset;
    its.made.reset();
  });
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t ordering) {
  return answer("curandSetGeneratorOrdering", generator, [&](LibraryCall&, curandGenerator_st& its) {
    bool is_known = false;
    switch (ordering) {
      case CURAND_ORDERING_PSEUDO_DEFAULT:
      case CURAND_ORDERING_PSEUDO_LEGACY:
        is_known = !is_quasi(its);
        break;
      case CURAND_ORDERING_PSEUDO_BEST:
        is_known = !is_quasi(its) && its.type != CURAND_RNG_PSEUDO_MT19937;
        break;
      case CURAND_ORDERING_PSEUDO_SEEDED:
        is_known = its.type == CURAND_RNG_PSEUDO_XORWOW;
        break;
      case CURAND_ORDERING_QUASI_DEFAULT:
        is_known = is_quasi(its);
        break;
      default:
        // The dynamic ordering is that of the GPU's threads, of which nothing is said.
        is_known = !is_quasi(its) && !its.is_of_host && its.type != CURAND_RNG_PSEUDO_MT19937 &&
                   static_cast<int>(ordering) == 104;
        break;
    }
    require(is_known, CURAND_STATUS_OUT_OF_RANGE, "this generator has no such ordering");
    its.ordering = ordering;
    its.made.reset();
  });
}
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned dimensions) {
  return answer("curandSetQuasiRandomGeneratorDimensions", generator, [&](LibraryCall&, curandGenerator_st& its) {
    require(is_quasi(its), CURAND_STATUS_TYPE_ERROR, "a pseudorandom generator has no dimensions");
    require(dimensions >= 1 && dimensions <= 20000, CURAND_STATUS_OUT_OF_RANGE, "from 1 to 20,000 dimensions");
    its.dimensions = dimensions;
    its.made.reset();
  });
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return answer("curandGenerateSeeds", generator, [](LibraryCall&, curandGenerator_st& its) {
    try {
      generator_of(its);
    } catch (const NotOffered& missing) {
      throw Refused(CURAND_STATUS_ARCH_MISMATCH, std::string(missing.what()) + " is not supported here");
    }
  });
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* out, std::size_t count) {
  return generate(
      "curandGenerate", generator, out, count, 10, Kind::words,
      [](curandGenerator_st&, Generator& numbers, unsigned* to, std::size_t size) { numbers.words(to, size); });
}
curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long* out, std::size_t count) {
  return generate("curandGenerateLongLong", generator, out, count, 20, Kind::long_words,
                  [](curandGenerator_st&, Generator& numbers, unsigned long long* to, std::size_t size) {
                    static_assert(sizeof(*to) == sizeof(std::uint64_t));
                    numbers.long_words(reinterpret_cast<std::uint64_t*>(to), size);
                  });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out, std::size_t count) {
  return generate(
      "curandGenerateUniform", generator, out, count, 12, Kind::numbers,
      [](curandGenerator_st&, Generator& numbers, float* to, std::size_t size) { numbers.uniform(to, size); });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out, std::size_t count) {
  return generate(
      "curandGenerateUniformDouble", generator, out, count, 24, Kind::numbers,
      [](curandGenerator_st&, Generator& numbers, double* to, std::size_t size) { numbers.uniform(to, size); });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, std::size_t count, float mean,
                                    float deviation) {
  return generate("curandGenerateNormal", generator, out, count, 40, Kind::normal, fill_normal(mean, deviation, false));
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out, std::size_t count, double mean,
                                          double deviation) {
  return generate("curandGenerateNormalDouble", generator, out, count, 120, Kind::normal,
                  fill_normal(mean, deviation, false));
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* out, std::size_t count, float mean,
                                       float deviation) {
  return generate("curandGenerateLogNormal", generator, out, count, 50, Kind::normal,
                  fill_normal(mean, deviation, true));
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* out, std::size_t count, double mean,
                                             double deviation) {
  return generate("curandGenerateLogNormalDouble", generator, out, count, 150, Kind::normal,
                  fill_normal(mean, deviation, true));
}
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned* out, std::size_t count, double mean) {
  if (!(mean > 0 && mean <= 400000)) {
    return answer("curandGeneratePoisson", generator, [](LibraryCall&, curandGenerator_st&) {
      throw Refused(CURAND_STATUS_OUT_OF_RANGE, "the mean is not above 0 and at most 400,000");
    });
  }
  return generate("curandGeneratePoisson", generator, out, count, 60, Kind::numbers,
                  [mean](curandGenerator_st& its, Generator& numbers, unsigned* to, std::size_t size) {
                    std::shared_ptr<const Poisson>& poisson = its.poisson[mean];
                    if (poisson == nullptr) poisson = std::make_shared<const Poisson>(mean);
                    double probability = 0;
                    for (std::size_t i = 0; i < size; ++i) {
                      numbers.plain(&probability, 1);
                      to[i] = poisson->at(probability);
                    }
                  });
}

}  // extern "C"
