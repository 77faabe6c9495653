#include "devices/variant_device.hpp"

#include <exception>

#include "devices/device_error.hpp"

namespace convladder {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw DeviceError(std::string("a variant may not ") + what + ": only the harness may do that");
}

}  // namespace

void VariantDevice::require_copies() const {
  if (!copies_allowed_) throw DeviceError("a variant may copy while it is prepared, not while it is counted");
}

void VariantDevice::copy_to_device(void* destination, const void* source, std::size_t bytes) {
  require_copies();
  device_.copy_to_device(destination, source, bytes);
}

void VariantDevice::copy_to_host(void* destination, const void* source, std::size_t bytes) {
  require_copies();
  device_.copy_to_host(destination, source, bytes);
}

std::vector<KernelCounters> VariantDevice::take_counters() { refuse("take the counters"); }
std::vector<LineCounters> VariantDevice::take_lines() { refuse("take the counters"); }
void VariantDevice::set_counting(bool /*counts*/) { refuse("say what is counted"); }
void VariantDevice::set_grid_window(std::optional<GridWindow> /*window*/) { refuse("limit the grid"); }
void VariantDevice::set_counted_items(std::optional<GridWindow> /*items*/) { refuse("limit what is counted"); }

// Never called: every buffer knows the device that it is really on.
void VariantDevice::free(void* /*address*/, std::size_t /*bytes*/) noexcept { std::terminate(); }

}  // namespace convladder
