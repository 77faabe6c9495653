// The same by the rules: nothing to complain about.
#include "variants/vector_lanes.hpp"

namespace convladder {

template <typename V>
[[gnu::always_inline]] inline void twice(V& value) {
  value += value;
}

struct Right {
  template <typename Set>
  static void run(float* values) {
    const auto add = [&](auto number) __attribute__((always_inline)) {
      Vector<Set> value;
      load_vector(value, values + number);
      keep_in_register(value);
      twice(value);
      store_vector(values, value);
    };
    add(1);
  }
};

void add_all(float* values);
void add_all(float* values) { run_with<Right>(InstructionSet::Kind::avx512, values); }

}  // namespace convladder
