// A scalar of a type that the program names when it runs.
#pragma once

#include <optional>
#include <vector>

#include "simulator/stand_in/libraries/cublas/functions.hpp"
#include "simulator/stand_in/libraries/operands/product.hpp"

namespace convladder::stand_in {

using Wide = std::complex<double>;

/// alpha or beta, of the type that the function defines.
class Factor {
 public:
  Factor(const char* name, cudaDataType type, const void* at, bool is_of_device)
      : name_(name), type_(type), at_(at), is_of_device_(is_of_device) {
    require(at != nullptr, "a scalar is null");
    if (!is_of_device) value_ = read(at);
  }
  bool is_zero() const { return value_ && *value_ == Wide{}; }
  bool may_be_zero() const { return !value_ || *value_ == Wide{}; }
  bool is_one() const { return value_ && *value_ == Wide{1}; }
  bool is_of_device() const { return is_of_device_; }
  void add_use(std::vector<MemoryUse>& uses) const {
    if (is_of_device_) {
      uses.push_back(
          {.name = name_, .address = at_, .run_bytes = convladder::stand_in::bytes_of(type_), .reads = true});
    }
  }
  Wide value(LibraryTurn& turn) const { return value_ ? *value_ : read(turn.at(at_)); }

 private:
  Wide read(const void* at) const { return numbers_of<Wide>({type_, const_cast<void*>(at), 1, 1, 1}).front(); }

  const char* name_;
  cudaDataType type_;
  const void* at_;
  bool is_of_device_;
  std::optional<Wide> value_;
};

}  // namespace convladder::stand_in
