// A device on which a stage of a folder runs in a process of its own, and hands over its results only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace convladder {

/// One argument of a stage's call (LadderProblem::solve_call): a tensor by its address on the device, or a number.
struct StageArgument {
  void* tensor = nullptr;              ///< null for a number
  std::vector<std::byte> number = {};  ///< as its type lies in memory
};

class StageHost {
 public:
  virtual ~StageHost() = default;
  /// Loads the library beside the tensors that were allocated last. Throws DeviceError if it cannot be loaded.
  virtual void load(const std::string& library, const char* function, const std::vector<StageArgument>& arguments) = 0;
  /// Calls the stage once, and returns when it has returned.
  virtual void call() = 0;
};

}  // namespace convladder
