// The operands of BLAS and LAPACK as memory that a call uses, and scalars that are the host's or the device's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/stand_in/library_calls.hpp"

namespace convladder::stand_in {

enum class Access { read, write, both };

/// A matrix by columns, of elements of so many bytes.
inline MemoryUse matrix_use(const char* name, const void* at, std::int64_t rows, std::int64_t columns,
                            std::int64_t leading, std::size_t element, Access access) {
  return {.name = name,
          .address = at,
          .run_bytes = element * static_cast<std::uint64_t>(std::max<std::int64_t>(rows, 0)),
          .runs = static_cast<std::uint64_t>(std::max<std::int64_t>(columns, 0)),
          .distance = element * static_cast<std::uint64_t>(leading),
          .reads = access != Access::write,
          .writes = access != Access::read};
}

/// The lower or upper triangle of a matrix, without its diagonal if that is not looked at.
inline MemoryUse triangle_use(const char* name, const void* at, std::int64_t size, std::int64_t leading,
                              std::size_t element, bool is_lower, Access access, bool with_diagonal = true) {
  MemoryUse use = matrix_use(name, at, is_lower ? size : 1, size, leading, element, access);
  const auto step = static_cast<std::int64_t>(element);
  use.shift = is_lower ? step : 0;
  use.growth = is_lower ? -step : step;
  if (!with_diagonal) {
    use.run_bytes -= element;
    if (is_lower) use.address = static_cast<const char*>(at) + element;
  }
  return use;
}

/// The first element of a vector, which lies at its end if the distance is negative.
inline std::int64_t first_of(std::int64_t count, std::int64_t increment) {
  return increment < 0 ? (1 - count) * increment : 0;
}

inline MemoryUse vector_use(const char* name, const void* at, std::int64_t count, std::int64_t increment,
                            std::size_t element, Access access) {
  return {.name = name,
          .address = at,
          .run_bytes = count > 0 ? element : 0,
          .runs = static_cast<std::uint64_t>(increment == 0 ? std::min<std::int64_t>(count, 1)
                                                            : std::max<std::int64_t>(count, 0)),
          .distance = element * static_cast<std::uint64_t>(increment < 0 ? -increment : increment),
          .reads = access != Access::write,
          .writes = access != Access::read};
}

/// A vector on the host.
template <typename T>
class Strided {
 public:
  Strided(T* at, std::int64_t count, std::int64_t increment)
      : first_(at + first_of(count, increment)), increment_(increment) {}
  T& operator[](std::int64_t i) const { return first_[i * increment_]; }

 private:
  T* first_;
  std::int64_t increment_;
};

/// A factor, read when the call is made, or by the device in its turn.
template <typename T>
class Scalar {
 public:
  Scalar(const char* name, const T* at, bool is_of_device) : name_(name), at_(at) {
    if (!is_of_device) value_ = *at;
  }
  /// Whether it is surely zero.
  bool is_zero() const { return value_ && *value_ == T{}; }
  bool may_be_zero() const { return !value_ || *value_ == T{}; }
  bool is_of_device() const { return !value_; }
  void add_use(std::vector<MemoryUse>& uses) const {
    if (!value_) uses.push_back({.name = name_, .address = at_, .run_bytes = sizeof(T), .reads = true});
  }
  T value(LibraryTurn& turn) const { return value_ ? *value_ : *turn.at(at_); }

 private:
  const char* name_;
  const T* at_;
  std::optional<T> value_;
};

}  // namespace convladder::stand_in
