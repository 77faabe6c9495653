// The input of a case as its calls find it, in the case's own process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "devices/device.hpp"
#include "devices/device_filling.hpp"
#include "harness/measure/verification/input_change.hpp"
#include "harness/measure/verification/output_fill.hpp"

namespace convladder {

/// What a tensor of the problem holds, where a device can read it: in its own memory, or in pinned memory of the host
/// where that has no room for it.
class ValuesOnDevice {
 public:
  ValuesOnDevice() = default;
  /// Copies them. Half of the device's memory that is free stays free. Throws DeviceError.
  ValuesOnDevice(Device& device, const void* values, std::size_t bytes);
  const void* address() const { return buffer_.address() != nullptr ? buffer_.address() : pinned_.address(); }

 private:
  DeviceBuffer buffer_;
  PinnedBuffer pinned_;
};

/// Writes the changed values of a tensor that is given into a buffer on the device, and changes some elements of every
/// image for each call. The device, the problem's own values (`from`) and the buffer outlive it. Everything throws
/// DeviceError.
///
/// On a device that fills by itself (Device::filling) the problem's values lie there from the first `set` on, and
/// `before_call` and `plant` are a kernel each in the current stream, two for what is renewed: they wait for nothing,
/// and may be captured into a graph. What stands in the tensor is known on the device, so that such a graph may be
/// launched again. There `set` leaves wrong values all over the tensor, which the first `before_call` puts right.
class ChangedInput {
 public:
  /// `renewed`: calls leave other values there, so that all are written anew before each.
  ChangedInput(Device& device, const InputLayout& layout, const void* from, void* input, bool renewed = false)
      : device_(&device), layout_(layout), from_(from), input_(input), renewed_(renewed) {}

  /// Something to look at while preparing that has nothing to do with what is to be computed.
  void write_decoy();
  /// The changed input, without pokes. It is there when this returns.
  void set(const InputChange& change);
  /// Makes it the input of call number `call`, if calls differ.
  void before_call(std::int64_t call);
  /// Puts wrong values into the window of every output until `before_call(call)` puts them right: whoever works ahead
  /// on that call's input has all to do again. Nothing on devices that do not fill by themselves, and where calls are
  /// alike.
  void plant(std::int64_t call);
  /// The number of the last call.
  std::int64_t last_call() const { return last_call_; }
  bool renewed() const { return renewed_; }

 private:
  void write_changed();
  void poke(std::int64_t call);
  void poke_by_copies(std::int64_t call);
  void write_column(const void* column, std::int64_t element);
  void write_images(const std::function<void(void* to, int image)>& write);
  std::byte* place(int image, std::int64_t element) const;
  ChangedTensor changed_tensor() const;
  StandingChange* standing() const;

  Device* device_;
  InputLayout layout_;
  const void* from_;
  void* input_;
  bool renewed_;
  InputChange change_;
  std::int64_t last_call_ = 0;
  bool poked_ = false;             ///< what the input has of call `last_call_` is in it
  ValuesOnDevice from_on_device_;  ///< where the device fills by itself
  DeviceBuffer standing_;          ///< a StandingChange there
};

/// Fills an output of `elements`; it is there when this returns. Throws DeviceError.
void fill_output(Device& device, void* output, ElementType type, std::int64_t elements, const OutputFill& fill);

/// `change` and `fill` of a request.
nlohmann::ordered_json to_json(const InputChange& change);
nlohmann::ordered_json to_json(const OutputFill& fill);
InputChange change_from_json(const nlohmann::ordered_json& json);
OutputFill fill_from_json(const nlohmann::ordered_json& json);

}  // namespace convladder
