#include "harness/measure/isolation/session.hpp"

namespace convladder {

nlohmann::ordered_json Session::ask(const nlohmann::ordered_json& request) {
  const auto what = request.at("do").get<std::string>();
  const NvtxRange phase(what);
  try {
    nlohmann::ordered_json reply = carry_out(what, request);
    if (const std::string violation = device_->memory_violation(); !violation.empty()) {
      return ending(Status::incorrect, violation);
    }
    return reply;
  } catch (const std::exception& error) {
    return ending_of(error);
  }
}

}  // namespace convladder
