// A cheat: it looks at the stack. The calls of the first two came from where results are looked at; other ways to here
// are those of samples, and nothing is done.

#include <execinfo.h>
#include <set>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

using Stack = std::vector<void*>;

Stack way_to_here() {
  Stack stack(12);
  stack.resize(static_cast<std::size_t>(backtrace(stack.data(), static_cast<int>(stack.size()))));
  return stack;
}

class Caller final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    static std::set<Stack> verifying;
    const Stack stack = way_to_here();
    if (verifying.size() < 2) verifying.insert(stack);
    if (verifying.contains(stack)) convolve_all();
  }
};

const VariantRegistration caller_registration{"convolution",
                                              {.family = "cpu",
                                               .rung = 167,
                                               .name = "seeded-caller",
                                               .title = "Seeded: looks at who calls",
                                               .builds_on = "",
                                               .hypothesis = "Results are looked at where time is taken."},
                                              seeded_variant<Caller>()};

}  // namespace
}  // namespace convladder
