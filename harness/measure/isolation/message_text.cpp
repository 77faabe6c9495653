#include "harness/measure/isolation/message_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/measure/isolation/helper_messages.hpp"
#include "harness/measure/isolation/message_codec.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr const char* kNonce = "nonce";
constexpr const char* kStatus = "status";
constexpr const char* kReason = "reason";
constexpr const char* kOutOfDeviceMemory = "out_of_device_memory";
constexpr const char* kMemoryViolation = "memory_violation";
constexpr const char* kMachineFault = "machine fault";  // a status that is never recorded

Ending invalid(const std::string& why) { return {Status::crashed, fmt::format("its answers are invalid: {}", why)}; }

/// Whether the process can be run, or is right, is not for it to say.
bool may_end_so(Status status) { return status != Status::ok && status != Status::skipped; }

Ending read_ending(const ordered_json& message) {
  Ending ending{.status = Status::crashed, .reason = printable(message.value(kReason, ""))};
  const ordered_json& said = message.at(kStatus);
  if (said == kMachineFault) return ending;
  const std::optional<Status> status = status_from_name(said.get<std::string>());
  if (!status || !may_end_so(*status)) return invalid(fmt::format("status {}", short_json(said)));
  ending.status = *status;
  ending.out_of_device_memory = message.contains(kOutOfDeviceMemory);
  ending.is_memory_violation = message.contains(kMemoryViolation);
  return ending;
}

}  // namespace

Envelope read_envelope(const std::string& text) {
  ordered_json message;
  try {
    message = parse_json(text, "socket", "a message");
  } catch (const UserError& error) {
    throw InvalidMessage(error.what());
  }
  Envelope envelope;
  if (!message.is_object()) return envelope;
  if (message.contains(kNonce) && message.at(kNonce).is_number_unsigned()) {
    envelope.nonce = message.at(kNonce).get<std::uint64_t>();
  }
  if (!message.contains(kStatus)) return envelope;
  envelope.blames_machine = message.at(kStatus) == kMachineFault;
  try {
    envelope.ending = read_ending(message);
  } catch (const ordered_json::exception& error) {
    envelope.ending = invalid(error.what());
  }
  return envelope;
}

std::string with_nonce(std::string message, std::uint64_t nonce) {
  const bool is_empty = message == "{}";
  message.pop_back();
  return fmt::format("{}{}\"{}\":{}}}", message, is_empty ? "" : ",", kNonce, nonce);
}

std::string ending_text(const Ending& ending) {
  ordered_json message{{kStatus, status_name(ending.status)}, {kReason, ending.reason}};
  if (ending.out_of_device_memory) message[kOutOfDeviceMemory] = true;
  if (ending.is_memory_violation) message[kMemoryViolation] = true;
  return json_line(message);
}

std::string machine_fault_text(const std::string& reason) {
  return json_line({{kStatus, kMachineFault}, {kReason, reason}});
}

template struct MessageTexts<StageMessages>;
template struct MessageTexts<ReferenceMessages>;
template struct MessageTexts<CeilingsMessages>;

}  // namespace convladder
