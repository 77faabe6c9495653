// A few elements of each result, looked at right after calls of a sample, whether anybody checks these calls or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "devices/device.hpp"
#include "devices/device_filling.hpp"
#include "harness/measure/verification/output_fill.hpp"

namespace convladder {

/// Which calls are probed, and which elements of one item then: drawn by the seed and the call's number. The case's
/// process and the harness know them from the seed; a stage in a process of its own does not have it.
struct ProbedElements {
  static constexpr std::int32_t kElements = 64;
  static constexpr std::int64_t kCalls = 1 << 14;  ///< calls that are kept: later ones take the places of the first

  std::uint64_t seed = 0;
  std::int64_t items = 1;
  std::int64_t of_item = 1;
  std::int64_t every = 1;  ///< one call in so many is probed; 0: none

  bool has(std::int64_t call) const {
    if (every <= 1) return every == 1;
    return random_bits(random_state(~seed, static_cast<std::uint64_t>(call)), 1) % static_cast<std::uint64_t>(every) ==
           0;
  }
  std::int64_t item(std::int64_t call) const {
    const std::uint64_t bits = random_bits(random_state(seed, ~static_cast<std::uint64_t>(call)), 0);
    return bits_between(bits, 0, static_cast<std::uint64_t>(items));
  }
  ChosenElements of_call(std::int64_t call) const {
    return {.seed = seed + static_cast<std::uint64_t>(call),
            .first = item(call) * of_item,
            .span = of_item,
            .count = kElements};
  }
};

/// The case's side. On a device with fill kernels (Device::filling) the elements get numbers of the fill before a call,
/// and after it they are copied aside, both in the current stream: a call that leaves its output as it was, or has it
/// written later by other work, is found out. As in ChangedInput, the calls enqueue a kernel each and wait for nothing.
/// On other devices the elements are only copied, to the host. The device and the output outlive it. Everything throws
/// DeviceError.
class OutputProbe {
 public:
  /// Probes an output of `items` with `elements` each.
  OutputProbe(Device& device, ElementType type, std::int64_t items, std::int64_t elements, void* output);

  /// Chooses the calls, the elements, and the fill, for the next calls. Earlier copies are gone.
  void set(std::uint64_t seed, std::int64_t every, const OutputFill& fill);
  void before_call(std::int64_t call);
  void behind_call(std::int64_t call);
  /// Whether the elements that call left are there.
  bool has(std::int64_t call) const;
  /// The elements that call `call` left, kElements one after the other: waits for it, and copies them to the host.
  void read(std::int64_t call, void* to);
  std::size_t bytes_of_call() const { return ProbedElements::kElements * element_bytes(type_); }

 private:
  std::byte* place(std::int64_t call) const;

  Device* device_;
  ElementType type_;
  ProbedElements elements_;
  void* output_;
  FillFormula fill_;
  DeviceBuffer kept_;                                       ///< for kCalls calls, where the device has fill kernels
  std::map<std::int64_t, std::vector<std::byte>> on_host_;  ///< where it has none
};

}  // namespace convladder
