// The messages of the small processes beside a case's: the one that runs a stage of untrusted code, the one that
// computes a folder's reference, and the one that samples a device's ceilings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "harness/measure/isolation/client.hpp"

namespace convladder {

/// The process of a stage (cases/stage_device.hpp). Its answers are believed until it has loaded the library.
namespace to_stage {

struct Hello {
  std::string library;
  bool apart = false;  ///< the waiting process has processors of its own
  static void each_field(auto&& field, auto& its) { field("library", its.library, "apart", its.apart); }
};

struct Allocated {
  std::uintptr_t address = 0;  ///< in the stage's process
  static void each_field(auto&& field, auto& its) { field("address", its.address); }
};

/// Guarded memory, whose name is `label`.
struct Allocate {
  static constexpr std::string_view kName = "allocate";
  using Reply = Allocated;
  std::size_t bytes = 0;
  std::string label;
  static void each_field(auto&& field, auto& its) { field("bytes", its.bytes, "label", its.label); }
};

/// One argument of the stage's function.
struct Argument {
  std::optional<std::uintptr_t> tensor;  ///< the address of a tensor; none for a number
  std::vector<std::uint8_t> number;      ///< as its type lies in memory
  static void each_field(auto&& field, auto& its) { field("tensor", its.tensor, "number", its.number); }
};

/// Loads the library once its answer is on its way.
struct Load {
  static constexpr std::string_view kName = "load";
  using Reply = Done;
  std::string library;
  std::string function;
  std::vector<Argument> arguments;
  static void each_field(auto&& field, auto& its) {
    field("library", its.library, "function", its.function, "arguments", its.arguments);
  }
};

}  // namespace to_stage

struct StageMessages {
  using Hello = to_stage::Hello;
  using Request = std::variant<to_stage::Allocate, to_stage::Load>;
  using Answer = std::variant<Ending, Done, to_stage::Allocated>;
};

/// The process of a reference (ladders/reference_process.hpp), which may be written in Python: reference_server.py
/// reads the same texts.
namespace to_reference {

struct Hello {
  std::string file;
  std::size_t bytes = 0;     ///< of the memory for tensors
  bool is_confined = false;  ///< the process gives up what a stage's gives up
  static void each_field(auto&& field, auto& its) {
    field("file", its.file, "bytes", its.bytes, "is_confined", its.is_confined);
  }
};

/// A tensor by its place in the memory, in bytes. Floating numbers are f64.
struct Tensor {
  std::string name;
  std::string role;  ///< "in", "out" or "in-out"
  std::string type;  ///< "i32"
  std::vector<std::int64_t> shape;
  std::size_t at = 0;
  std::optional<std::size_t> scale_at;  ///< of what errors are relative to
  static void each_field(auto&& field, auto& its) {
    field("name", its.name, "role", its.role, "type", its.type, "shape", its.shape, "at", its.at, "scale_at",
          its.scale_at);
  }
};

struct Scalar {
  std::string name;
  std::string type;
  double value = 0;
  static void each_field(auto&& field, auto& its) { field("name", its.name, "type", its.type, "value", its.value); }
};

struct Compute {
  static constexpr std::string_view kName = "reference";
  using Reply = Done;
  std::vector<Tensor> tensors;
  std::vector<Scalar> scalars;
  std::vector<std::pair<std::string, int>> dimensions;  ///< by their letters
  static void each_field(auto&& field, auto& its) {
    field("tensors", its.tensors, "scalars", its.scalars);
    field.by_name("dimensions", its.dimensions);
  }
};

}  // namespace to_reference

struct ReferenceMessages {
  using Hello = to_reference::Hello;
  using Request = std::variant<to_reference::Compute>;
  using Answer = std::variant<Ending, Done>;
};

/// The process that samples the ceilings of a device (cases/ceilings.hpp).
namespace to_ceilings {

struct Hello {
  std::string device;
  static void each_field(auto&& field, auto& its) { field("device", its.device); }
};

/// A rate of each limit, in its unit.
struct Sampled {
  std::string choice;
  std::size_t buffer_bytes = 0;
  double multiply_add = 0;
  double store = 0;
  double copy = 0;
  static void each_field(auto&& field, auto& its) {
    field("choice", its.choice, "buffer_bytes", its.buffer_bytes, "multiply_add", its.multiply_add, "store", its.store,
          "copy", its.copy);
  }
};

/// A rate comes from one call that another call of the same kernel went before; on an asynchronous device it is the
/// median of five stretches of calls after as many as bring it to its clock.
struct Sample {
  static constexpr std::string_view kName = "sample ceilings";
  using Reply = Sampled;
};

}  // namespace to_ceilings

struct CeilingsMessages {
  using Hello = to_ceilings::Hello;
  using Request = std::variant<to_ceilings::Sample>;
  using Answer = std::variant<Ending, to_ceilings::Sampled>;
};

extern template struct MessageTexts<StageMessages>;
extern template struct MessageTexts<ReferenceMessages>;
extern template struct MessageTexts<CeilingsMessages>;

}  // namespace convladder
