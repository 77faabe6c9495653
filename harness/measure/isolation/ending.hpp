// How a case, or the process that it runs in, came to its end: what is answered in place of an answer.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/measure/isolation/status.hpp"

namespace convladder {

struct Ending {
  Status status = Status::crashed;
  std::string reason;
  bool out_of_device_memory = false;  ///< others may have had it: alone the case may do better
  bool is_memory_violation = false;   ///< it wrote where it may not
  bool was_kept_waiting = false;      ///< for a processor, when it did not answer in time
};

/// A process ended, or did something that is not allowed, while nothing was asked of it.
struct EndedProcess : std::runtime_error {
  explicit EndedProcess(Ending its_ending) : std::runtime_error(its_ending.reason), ending(std::move(its_ending)) {}
  Ending ending;
};

/// The ending after an exception: "launch failed" where the device refused, otherwise "crashed". Throws MachineFault
/// where the machine is to blame: no thread can be started, or a limit is set on the memory.
Ending ending_of(const std::exception& error);

}  // namespace convladder
