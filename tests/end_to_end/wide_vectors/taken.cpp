// A vector of AVX-512 that is taken by value, by a function that is not drawn into its caller.
#include "variants/vector_lanes.hpp"

namespace convladder {

template <typename V>
[[gnu::noinline]] void store_doubled(float* to, V value) {
  store_vector(to, value += value);
}

struct Stored {
  template <typename Set>
  static void run(float* values) {
    Vector<Set> value;
    load_vector(value, values);
    store_doubled(values, value);
  }
};

void store_all(float* values);
void store_all(float* values) { run_with<Stored>(InstructionSet::Kind::avx512, values); }

}  // namespace convladder
