// Messages between processes as texts: each is one line of JSON. This is the part that those of all kinds have in
// common; a kind's own fields are known to its codec (message_codec.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "harness/measure/isolation/ending.hpp"

namespace convladder {

/// A message that is not as its kind asks for; says why in one line.
struct InvalidMessage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The part of a message that is the same for all kinds.
struct Envelope {
  std::optional<std::uint64_t> nonce;  ///< of a request; its answer has the same
  std::optional<Ending> ending;        ///< instead of an answer; its reason can be printed as it is
  bool blames_machine = false;         ///< the ending is a failure of the machine and not of the process
};

/// Reads a message of any kind, from anybody. Throws InvalidMessage for a text that is no JSON. An ending that no
/// process can have, such as "ok", is read as a crash.
Envelope read_envelope(const std::string& message);

/// The message with a number in it.
std::string with_nonce(std::string message, std::uint64_t nonce);

std::string ending_text(const Ending& ending);
/// The ending of a process that a failure of the machine has ended.
std::string machine_fault_text(const std::string& reason);

}  // namespace convladder
