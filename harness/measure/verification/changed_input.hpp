// A case's input as its calls find it, in the case's own process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "devices/device.hpp"
#include "devices/device_filling.hpp"
#include "harness/measure/verification/input_change.hpp"
#include "harness/measure/verification/output_fill.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// The values of a tensor of the problem in a place where a device can read them: in its own memory, or in pinned
/// memory of the host where its own has no room for them.
class ValuesOnDevice {
 public:
  ValuesOnDevice() = default;
  /// Copies the values. Half of the device's free memory stays free. Throws DeviceError.
  ValuesOnDevice(Device& device, const void* values, std::size_t bytes);
  const void* address() const { return buffer_.address() != nullptr ? buffer_.address() : pinned_.address(); }

 private:
  DeviceBuffer buffer_;
  PinnedBuffer pinned_;
};

/// Writes the changed values of a given tensor into a buffer on the device, and changes some elements of every image,
/// or all of them, for each call. The device, the problem's own values (`from`) and the buffer outlive it. Everything
/// throws DeviceError.
///
/// On a device with fill kernels (Device::filling) the problem's values lie there from the first `set` on,
/// and `before_call` and `plant` are a kernel each in the current stream, two for a renewed tensor: they wait for
/// nothing, and may be captured into a graph. The contents of the tensor are known on the device, so that such a graph
/// may be launched again. There `set` leaves wrong values all over the tensor, which the first `before_call` puts
/// right.
class ChangedInput {
 public:
  /// `renewed`: calls leave other values in the tensor, so that all of it is written anew before each.
  ChangedInput(Device& device, const InputLayout& layout, const void* from, void* input, bool renewed = false)
      : device_(&device), layout_(layout), from_(from), input_(input), renewed_(renewed) {}

  /// Writes an input to be seen while preparing, which has nothing to do with the one to be computed on.
  void write_decoy();
  /// Writes the changed input, without pokes. It is there when this returns.
  void set(const InputChange& change);
  /// Makes the tensor the input of call number `call`, if calls differ.
  void before_call(std::int64_t call);
  /// Puts wrong values into the window of every output until `before_call(call)` puts them right: code that works ahead
  /// on that call's input has to do all of it again. Does nothing on devices without fill kernels, and where
  /// calls are alike.
  void plant(std::int64_t call);
  /// The number of the last call.
  std::int64_t last_call() const { return last_call_; }
  bool renewed() const { return renewed_; }

 private:
  void write_changed();
  void poke(std::int64_t call);
  void write_fresh(std::int64_t call);
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
  bool poked_ = false;               ///< the pokes of call `last_call_` are in the tensor
  ValuesOnDevice from_on_device_;    ///< where the device has fill kernels
  DeviceBuffer standing_;            ///< a StandingChange on the device
  std::vector<std::byte> for_call_;  ///< the input of the next call, where the device copies it
};

/// Fills an output of `elements`; the fill is there when this returns. Throws DeviceError.
void fill_output(Device& device, void* output, ElementType type, std::int64_t elements, const OutputFill& fill);

/// Fills the output of a part of a prepared variant (PreparedVariant::part_output), in whatever layout it is.
void fill_part(Device& device, PreparedVariant& prepared, std::size_t part, std::int64_t elements,
               const OutputFill& fill);

}  // namespace convladder
