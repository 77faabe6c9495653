// An invalid input file. The message names the file, the place and what was expected.
#pragma once

#include <stdexcept>

namespace convladder {

struct DataError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace convladder
