// A value as all threads of a block have it, as far as it is known without running the kernel.
//
// An address such as `out + 4 * (blockIdx.x * n + threadIdx.x)` is the same unknown number for all threads, plus a
// number that is known for each: so what a warp's request costs is known, although nothing is known of `out`, `n` and
// the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace convladder::simulated {

// Numbers wrap around as registers do.
inline std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t difference_of(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t product_of(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
inline std::uint64_t magnitude_of(std::int64_t number) {
  return number < 0 ? ~static_cast<std::uint64_t>(number) + 1 : static_cast<std::uint64_t>(number);
}

/// A number for each thread of a block, in the order x, y, z; or one for all.
class PerThread {
 public:
  PerThread(std::int64_t of_all = 0) : numbers_{of_all} {}  // NOLINT(google-explicit-constructor): a number is one
  explicit PerThread(std::vector<std::int64_t> numbers);

  std::int64_t operator[](std::size_t thread) const { return numbers_.size() == 1 ? numbers_[0] : numbers_[thread]; }
  bool is_same() const { return numbers_.size() == 1; }  ///< for all threads
  bool is_same_in_warps() const;
  bool operator==(const PerThread&) const = default;

  /// Those of all threads, or one for all.
  const std::vector<std::int64_t>& numbers() const { return numbers_; }

  template <typename Function>
  PerThread mapped(const Function& function) const {
    std::vector<std::int64_t> all = numbers_;
    for (std::int64_t& one : all) one = function(one);
    return PerThread(std::move(all));
  }
  template <typename Function>
  static PerThread combined(const PerThread& a, const PerThread& b, const Function& function) {
    std::vector<std::int64_t> all(std::max(a.numbers_.size(), b.numbers_.size()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = function(a[i], b[i]);
    return PerThread(std::move(all));
  }

 private:
  std::vector<std::int64_t> numbers_;
};

/// An unknown number that threads share.
struct Unknown {
  enum class Scope : std::uint8_t {
    block,  ///< all threads of a block have the same
    warp    ///< the threads of a warp have
  };
  std::string name;  ///< "parameter 2", "shared:tile", "%ctaid.x"; of anything else empty
  Scope scope = Scope::block;
  std::uint64_t multiple = 1;  ///< what it is a multiple of; 0: it is 0
  /// Loops (Flow::loops) that threads leave after different numbers of trips: only threads in the same trip have the
  /// same number, and behind the loop it is another for each.
  std::vector<int> loops;
};

/// All unknown numbers of a kernel; each has an index.
class Unknowns {
 public:
  /// The unknown with that key, which is made if there is none yet.
  int find_or_add(const std::string& key, Unknown unknown);
  /// Takes what is known of an existing one now; that only becomes less.
  void weaken(int index, const Unknown& now);

  Unknown& operator[](int index) { return all_[static_cast<std::size_t>(index)]; }
  const Unknown& operator[](int index) const { return all_[static_cast<std::size_t>(index)]; }

  /// The product of two.
  int product(int a, int b);

 private:
  std::vector<Unknown> all_;
  std::vector<std::pair<std::string, int>> keys_;  // sorted
};

/// `known` and the sum of all unknown numbers times their factors; or a value of which nothing is known.
class ThreadValue {
 public:
  struct Term {
    int unknown = 0;
    PerThread factor;  ///< nowhere only zeros
    bool operator==(const Term&) const = default;
  };

  ThreadValue() = default;                                     ///< of a register to which nothing is assigned yet
  ThreadValue(PerThread known, std::vector<Term> terms = {});  // NOLINT(google-explicit-constructor): a number is one
  static ThreadValue of_unknown(int unknown) { return {0, {{unknown, 1}}}; }
  static ThreadValue varying();  ///< another for each thread, and nothing is known of it

  bool is_assigned() const { return state_ != State::none; }
  bool is_varying() const { return state_ == State::varying; }
  bool is_sum() const { return state_ == State::sum; }
  /// Whether every thread's number is known.
  bool is_known() const { return is_sum() && terms_.empty(); }
  /// Whether all threads have the same known number.
  bool is_constant() const { return is_known() && known_.is_same(); }

  const PerThread& known() const { return known_; }
  const std::vector<Term>& terms() const { return terms_; }
  bool operator==(const ThreadValue&) const = default;

  /// Whether all threads of a block, or of each warp, have the same. Threads in different trips of a loop do not.
  bool is_alike(const Unknowns& unknowns, Unknown::Scope scope) const;
  /// As `is_alike`, for threads that are in the same trips.
  bool is_alike_in_trips(const Unknowns& unknowns, Unknown::Scope scope) const;
  /// The largest number of which the sum of all terms is a multiple; 0 without terms.
  std::uint64_t multiple(const Unknowns& unknowns) const;

  ThreadValue plus(const ThreadValue& other) const { return with(other, 1); }
  ThreadValue minus(const ThreadValue& other) const { return with(other, -1); }
  ThreadValue times(const PerThread& factor) const;
  /// None (not assigned) if it has too many terms.
  ThreadValue times(const ThreadValue& other, Unknowns& unknowns) const;

 private:
  enum class State : std::uint8_t { none, sum, varying };
  ThreadValue with(const ThreadValue& other, std::int64_t sign) const;

  State state_ = State::none;
  PerThread known_;
  std::vector<Term> terms_;  // in the order of unknowns
};

/// The most terms of a value; one with more is no longer followed.
inline constexpr std::size_t kMostTerms = 12;

}  // namespace convladder::simulated
