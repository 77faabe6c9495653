#include "devices/device.hpp"

#include <fmt/format.h>

#include "devices/device_error.hpp"

namespace convladder {
namespace {

[[noreturn]] void throw_without_streams() {
  throw DeviceError("this device has only one stream, so copies do not overlap with kernels");
}

void check_number(const char* what, int number, int count) {
  if (number >= 0 && number < count) return;
  throw DeviceError(fmt::format("{} {}: there are {} from 0 to {}", what, number, count, count - 1));
}

}  // namespace

void Device::copy_elements_to_host(void* destination, const void* source, std::size_t bytes,
                                   std::span<const std::int64_t> places) {
  auto* to = static_cast<std::byte*>(destination);
  for (const std::int64_t place : places) {
    copy_to_host(to, static_cast<const std::byte*>(source) + static_cast<std::size_t>(place) * bytes, bytes);
    to += bytes;
  }
}

std::vector<double> Device::times_ns(std::size_t calls, const std::function<void(std::size_t)>& before,
                                     const std::function<void(std::size_t)>& work) {
  std::vector<double> times;
  for (std::size_t i = 0; i < calls; ++i) {
    before(i);
    times.push_back(time_ns([&] { work(i); }));
  }
  return times;
}

PinnedBuffer Device::allocate_pinned(std::size_t /*bytes*/, std::string_view /*label*/) { throw_without_streams(); }
void Device::set_stream(int /*stream*/) { throw_without_streams(); }
void Device::record_event(int /*event*/) { throw_without_streams(); }
void Device::stream_waits_for(int /*stream*/, int /*event*/) { throw_without_streams(); }

void Device::copy_to_device_async(void* /*destination*/, const void* /*source*/, std::size_t /*bytes*/) {
  throw_without_streams();
}

void Device::copy_to_host_async(void* /*destination*/, const void* /*source*/, std::size_t /*bytes*/) {
  throw_without_streams();
}

void Device::check_stream(int stream) { check_number("stream", stream, kStreams); }
void Device::check_event(int event) { check_number("event", event, kEvents); }

}  // namespace convladder
