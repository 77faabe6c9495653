// The input of a case as its calls find it, in the case's own process.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "devices/device.hpp"
#include "harness/verification/input_change.hpp"
#include "harness/verification/output_fill.hpp"

namespace convladder {

/// Writes the changed values of a tensor that is given into a buffer on the device, and changes some elements of every
/// image for each call. The device, the problem's own values (`from`) and the buffer outlive it. Everything throws
/// DeviceError.
class ChangedInput {
 public:
  /// `renewed`: calls leave other values there, so that all are written anew before each.
  ChangedInput(Device& device, const InputLayout& layout, const void* from, void* input, bool renewed = false)
      : device_(&device), layout_(layout), from_(from), input_(input), renewed_(renewed) {}

  /// Something to look at while preparing that has nothing to do with what is to be computed.
  void write_decoy();
  /// The changed input, without pokes.
  void set(const InputChange& change);
  /// Makes it the input of call number `call`, if calls differ.
  void before_call(std::int64_t call);
  /// The number of that call.
  std::int64_t last_call() const { return last_call_; }
  bool renewed() const { return renewed_; }

 private:
  void write_changed();
  void poke(std::int64_t call);
  void poke_on_device(std::int64_t call);
  void write_column(const void* column, std::int64_t element);
  void write_images(const std::function<void(void* to, int image)>& write);
  std::byte* place(int image, std::int64_t element) const;

  Device* device_;
  InputLayout layout_;
  const void* from_;
  void* input_;
  bool renewed_;
  InputChange change_;
  std::int64_t last_call_ = 0;
  bool poked_ = false;  ///< what the input has of call `last_call_` is in it
};

/// Fills an output of `elements`. Throws DeviceError.
void fill_output(Device& device, void* output, ElementType type, std::int64_t elements, const OutputFill& fill);

/// `change` and `fill` of a request.
nlohmann::ordered_json to_json(const InputChange& change);
nlohmann::ordered_json to_json(const OutputFill& fill);
InputChange change_from_json(const nlohmann::ordered_json& json);
OutputFill fill_from_json(const nlohmann::ordered_json& json);

}  // namespace convladder
