// A vector of AVX-512 that is returned by value, and may be in a register that the caller does not read.
#include "variants/vector_lanes.hpp"

namespace convladder {

template <typename V>
V doubled(const V& value) {
  return value + value;
}

struct Doubled {
  template <typename Set>
  static void run(float* values) {
    Vector<Set> value;
    load_vector(value, values);
    value = doubled(value);
    store_vector(values, value);
  }
};

void double_all(float* values);
void double_all(float* values) { run_with<Doubled>(InstructionSet::Kind::avx512, values); }

}  // namespace convladder
