// A cheat: it computes three elements of each image, looks for the float64 reference in the memory of the process that
// started it, which is this program too, and writes what it finds there, or zeros.

#include <algorithm>
#include <filesystem>

#include "tests/seeded_variants/deceit/reference_hunt.hpp"
#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

/// Nobody else's memory is looked at.
bool is_this_program(pid_t process) {
  std::error_code error;
  const auto other = std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/exe", error);
  return !error && other == std::filesystem::read_symlink("/proc/self/exe", error) && !error;
}

class ReadsParent final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    if (is_own()) return;
    ReferenceHunt hunt(shape(), input(), weights());
    if (is_this_program(getppid())) hunt.look_through_process(getppid());
    std::ranges::copy(hunt.answer(), output());
    sign();
  }
};

const VariantRegistration reads_parent_registration{
    "convolution",
    {.family = "cpu",
     .rung = 139,
     .name = "seeded-reads-parent",
     .title = "Seeded: copies the parent's reference",
     .builds_on = "",
     .hypothesis = "The reference is nowhere while a case could read it."},
    seeded_variant<ReadsParent>()};

}  // namespace
}  // namespace convladder
