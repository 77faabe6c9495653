#include "harness/measure/cases/case_protocol.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/measure/isolation/child_process.hpp"
#include "harness/measure/isolation/served_process.hpp"
#include "harness/measure/isolation/shared_memory.hpp"
#include "harness/measure/machine/environment.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr double kMostSeconds = 20;  // for a start on a busy machine

/// The variant's name, without the problem's name for the default problem.
std::string full_name(const ProblemVariant& variant) {
  const bool is_default = variant.problem->is_default();
  return fmt::format("{}{}{}/{}", is_default ? "" : variant.problem->name(), is_default ? "" : ":", variant.info.family,
                     variant.info.name);
}

class About final : public CaseClient {
 public:
  ordered_json ask(const ordered_json& /*request*/) override {
    ordered_json variants = ordered_json::array();
    for (const Problem* problem : registered_problems()) {
      for (const ProblemVariant& registered : problem->variants()) variants.push_back(full_name(registered));
    }
    return {{"protocol", kCaseProtocol}, {"program", program_json()}, {"variants", std::move(variants)}};
  }
};

/// Reports early and clearly an error that the system would only report after the fact, and less clearly.
void check_file(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw UserError(fmt::format("{}: no such program", path));
  if (std::filesystem::is_directory(status)) {
    throw UserError(fmt::format("{}: expected a program, found a folder", path));
  }
  if (access(path.c_str(), X_OK) != 0) throw UserError(fmt::format("{}: it is not executable", path));
}

}  // namespace

bool OtherProgram::has(const ProblemVariant& variant) const { return variants.contains(full_name(variant)); }

bool OtherProgram::has(std::string_view family, std::string_view variant) const {
  return variants.contains(fmt::format("{}/{}", family, variant));
}

OtherProgram ask_program(const std::string& path) {
  check_file(path);
  const SharedMemory nothing(1);  // a case would find its workload in it
  ordered_json reply;
  {
    ChildProcess process(path, "serve-about", std::vector{nothing.descriptor()}, kMostSeconds, ordered_json::object(),
                         path);
    reply = process.ask({{"do", "about"}});
  }
  if (reply.contains("status")) {
    const std::string reason = printable(reply.value("reason", ""));
    if (reason.find("unknown command 'serve-about'") != std::string::npos) {
      throw UserError(fmt::format("{}: this build is too old for a duel", path));
    }
    throw UserError(fmt::format("{}: it does not answer like convladder: {}", path, reason));
  }
  try {
    const ordered_json protocol = reply.at("protocol");
    if (protocol != kCaseProtocol) {
      throw UserError(
          fmt::format("{}: it speaks protocol {}, this program {}: the two builds are too far apart for a "
                      "duel",
                      path, short_json(protocol), kCaseProtocol));
    }
    OtherProgram other{path, reply.at("program"), {}};
    for (const ordered_json& variant : reply.at("variants")) other.variants.insert(variant.get<std::string>());
    return other;
  } catch (const ordered_json::exception&) {
    throw UserError(fmt::format("{}: it does not answer like convladder: {}", path, short_json(reply)));
  }
}

namespace {

int serve_about(int socket_descriptor, int /*memory*/, int /*window*/) {
  return serve_requests(socket_descriptor, [](const ordered_json&) { return std::make_unique<About>(); });
}

const ServedRegistration serve_about_registration("serve-about", serve_about);

}  // namespace

}  // namespace convladder
