// Generators of random numbers, for the stand-in of cuRAND: the published algorithms, cut into as many sequences as a
// GPU has threads at work, in the order in which these threads write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>

namespace convladder::stand_in::curand {

enum class Algorithm { xorwow, mrg32k3a, mtgp32, mt19937, philox, sobol32, sobol64 };

/// The order of the numbers in memory.
enum class Ordering { usual, legacy };

/// Thrown for anything that a generator cannot do.
struct NotOffered : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One generator. Each call goes on where the last one ended.
class Generator {
 public:
  virtual ~Generator() = default;
  Generator() = default;
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  /// All 32 bits are random.
  virtual void words(std::uint32_t* out, std::size_t count) = 0;
  /// All 64 bits are random. Throws NotOffered for generators of 32 bits, as `words` does for those of 64.
  virtual void long_words(std::uint64_t* out, std::size_t count);
  /// In (0, 1].
  virtual void uniform(float* out, std::size_t count) = 0;
  virtual void uniform(double* out, std::size_t count) = 0;
  virtual void normal(float* out, std::size_t count, float mean, float deviation) = 0;
  virtual void normal(double* out, std::size_t count, double mean, double deviation) = 0;
  /// In [0, 1), one word of the sequence for each: for distributions that look their value up.
  virtual void plain(double* out, std::size_t count) = 0;
};

/// `offset` is the number of words that are left out. Throws NotOffered for a table that this build does not have, and
/// for more dimensions than there are direction vectors.
std::unique_ptr<Generator> make_generator(Algorithm algorithm, Ordering ordering, std::uint64_t seed,
                                          std::uint64_t offset, unsigned dimensions);

/// Whether a generator of this kind can leave words out.
bool has_offset(Algorithm algorithm);

}  // namespace convladder::stand_in::curand
