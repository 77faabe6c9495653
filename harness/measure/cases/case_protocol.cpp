#include "harness/measure/cases/case_protocol.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "harness/measure/isolation/served_process.hpp"
#include "harness/measure/isolation/shared_memory.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "support/errors.hpp"

namespace convladder {

namespace {

constexpr double kMostSeconds = 20;  // for a start on a busy machine

/// The variant's name, without the problem's name for the default problem. All networks have the same variants.
std::string full_name(const ProblemVariant& variant) {
  const bool is_default = variant.problem->is_default();
  return fmt::format("{}{}{}/{}", is_default ? "" : variant.problem->kind(), is_default ? "" : ":", variant.info.family,
                     variant.info.name);
}

class About final : public Client<BuildMessages> {
 public:
  BuildMessages::Answer ask(const BuildMessages::Request& /*request*/) override {
    to_build::Told told{kCaseProtocol, this_program(), {}};
    std::vector<const Problem*> problems = registered_problems();
    problems.push_back(problem_named(built_in_networks().front().name));
    for (const Problem* const problem : problems) {
      for (const ProblemVariant& registered : problem->variants()) told.variants.push_back(full_name(registered));
    }
    return told;
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
  const auto answer = ProcessClient<BuildMessages>({.what = path,
                                                    .command = "serve-about",
                                                    .memory = {nothing.descriptor()},
                                                    .timeout_seconds = kMostSeconds,
                                                    .program = path},
                                                   {})
                          .ask_for(to_build::About());
  if (const Ending* const ending = std::get_if<Ending>(&answer)) {
    if (ending->reason.find("unknown command 'serve-about'") != std::string::npos) {
      throw UserError(fmt::format("{}: this build is too old for a duel", path));
    }
    throw UserError(fmt::format("{}: it does not answer like convladder: {}", path, ending->reason));
  }
  const auto& told = std::get<to_build::Told>(answer);
  if (told.protocol != kCaseProtocol) {
    throw UserError(
        fmt::format("{}: it speaks protocol {}, this program {}: the two builds are too far apart for a duel", path,
                    told.protocol, kCaseProtocol));
  }
  return {path, told.program, {told.variants.begin(), told.variants.end()}};
}

namespace {

int serve_about(int socket, int /*memory*/, int /*window*/) {
  return serve_requests<BuildMessages>(socket, [](const to_build::Hello&) { return std::make_unique<About>(); });
}

const ServedRegistration serve_about_registration("serve-about", serve_about);

}  // namespace

}  // namespace convladder
