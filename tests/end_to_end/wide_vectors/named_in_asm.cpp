// A vector of AVX-512 that is named in an asm, in a lambda that is a function of its own: one for the whole program's
// instruction set.
#include "variants/vector_lanes.hpp"

namespace convladder {

struct Kept {
  template <typename Set>
  static void run(float* values) {
    const auto keep = [&](auto number) __attribute__((noinline)) {
      Vector<Set> value;
      load_vector(value, values + number);
      keep_in_register(value);
      store_vector(values, value);
    };
    keep(1);
  }
};

void keep_all(float* values);
void keep_all(float* values) { run_with<Kept>(InstructionSet::Kind::avx512, values); }

}  // namespace convladder
