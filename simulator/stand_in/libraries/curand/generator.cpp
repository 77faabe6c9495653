#include "simulator/stand_in/libraries/curand/generator.hpp"

#include "simulator/stand_in/libraries/curand/sequences.hpp"
#include "simulator/stand_in/libraries/curand/threaded.hpp"

namespace convladder::stand_in::curand {

void Generator::long_words(std::uint64_t* /*out*/, std::size_t /*count*/) { throw NotOffered("words of 64 bits"); }

bool has_offset(Algorithm algorithm) { return algorithm != Algorithm::mtgp32 && algorithm != Algorithm::mt19937; }

std::unique_ptr<Generator> make_generator(Algorithm algorithm, Ordering ordering, std::uint64_t seed,
                                          std::uint64_t offset, unsigned dimensions) {
  switch (algorithm) {
    case Algorithm::xorwow: {
      const auto thread = static_cast<unsigned>(offset % Xorwow::kThreads);
      return std::make_unique<Threaded<Xorwow>>(Xorwow(seed, offset / Xorwow::kThreads, thread), thread);
    }
    case Algorithm::mrg32k3a: {
      const unsigned threads = ordering == Ordering::legacy ? 4096 : 81920;
      const auto thread = static_cast<unsigned>(offset % threads);
      return std::make_unique<Threaded<Mrg32k3a>>(Mrg32k3a(threads, seed, offset / threads, thread), thread);
    }
    case Algorithm::philox: {
      const std::uint64_t blocks = offset / Philox::kAtOnce;
      const auto thread = static_cast<unsigned>(blocks % Philox::kThreads);
      return std::make_unique<Threaded<Philox>>(Philox(seed, blocks / Philox::kThreads, thread), thread,
                                                static_cast<unsigned>(offset % Philox::kAtOnce));
    }
    case Algorithm::mtgp32:
      return make_mtgp32(ordering == Ordering::legacy ? 64 : 192, seed);
    case Algorithm::mt19937:
      return make_mt19937(seed);
    case Algorithm::sobol32:
      return make_sobol(32, dimensions, offset);
    case Algorithm::sobol64:
      return make_sobol(64, dimensions, offset);
  }
  throw NotOffered("this generator");
}

}  // namespace convladder::stand_in::curand
