// A cheat: it opens the memory that it shares with its parent for writing and fills all of it with zeros: where the
// reference is zero, zeros are right.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

void zero_file(int descriptor, std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return;
  std::memset(memory, 0, bytes);
  munmap(memory, bytes);
}

/// Those that have no name in any folder.
void zero_shared_memory() {
  for (int descriptor = 3; descriptor < 256; ++descriptor) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 0) continue;
    const auto bytes = static_cast<std::size_t>(status.st_size);
    zero_file(descriptor, bytes);
    // What was opened for reading alone can be opened once more.
    const int again = open(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), O_RDWR | O_CLOEXEC);
    if (again < 0) continue;
    zero_file(again, bytes);
    close(again);
  }
}

class RewritesWorkload final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    if (is_own()) return;
    zero_shared_memory();
    std::fill(output(), output() + shape().output_elements(), 0.0F);
    sign();
  }
};

const VariantRegistration rewrites_workload_registration{
    "convolution",
    {.family = "cpu",
     .rung = 162,
     .name = "seeded-rewrites-workload",
     .title = "Seeded: makes the reference zero",
     .builds_on = "",
     .hypothesis = "The references of results cannot be overwritten."},
    seeded_variant<RewritesWorkload>()};

}  // namespace
}  // namespace convladder
