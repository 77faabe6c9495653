#include "harness/measure/simulation/stage_check.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/measure/cases/case_client.hpp"
#include "harness/measure/isolation/case_confinement.hpp"
#include "harness/measure/isolation/served_process.hpp"
#include "harness/measure/isolation/session.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "harness/measure/simulation/checkers_argument.hpp"
#include "simulator/stand_in/libraries.hpp"
#include "simulator/stand_in/report/report_json.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// Answers {"do": "run", "problem"}, {"do": "read", "tensor", "first", "count"}, {"do": "findings"}.
class StageCheckSession final : public Session {
 public:
  StageCheckSession(const std::string& id, std::unique_ptr<stand_in::LoadedCodesDevice> device,
                    std::unique_ptr<FolderVariant> stage, const Workload& workload, const SharedMemory& window)
      : Session(id, std::move(device)), stage_(std::move(stage)), workload_(workload), window_(window) {}

 private:
  struct Held {
    ProblemTensor tensor;
    DeviceBuffer buffer;
  };

  stand_in::LoadedCodesDevice& stand_in() const { return static_cast<stand_in::LoadedCodesDevice&>(device()); }

  ordered_json carry_out(const std::string& what, const ordered_json& request) override {
    if (what == "run") return run(request.at("problem") == "integers" ? ProblemKind::integers : ProblemKind::real);
    if (what == "read") {
      return read(request.at("tensor").get<std::string>(), request.at("first").get<std::size_t>(),
                  request.at("count").get<std::size_t>());
    }
    if (what == "findings") return findings();
    throw std::logic_error("unknown request '" + what + "'");
  }

  ordered_json run(ProblemKind kind) {
    const ProblemData& data = workload_.problem(kind);
    held_.clear();
    ProblemTensors tensors;
    const auto hold = [&](const ProblemTensor& tensor, std::vector<PlacedTensor>& role) -> const DeviceBuffer& {
      Held& held = held_[std::string(tensor.name)] = {tensor, device().allocate(tensor.bytes(), tensor.name)};
      role.push_back({tensor, held.buffer.address()});
      return held.buffer;
    };
    const std::size_t inputs = data.shape.problem->inputs(data.shape).size();
    for (std::size_t i = 0; i < data.given.size(); ++i) {
      const bool is_input = i < inputs;
      const DeviceBuffer& buffer = hold(data.given[i].tensor, is_input ? tensors.inputs : tensors.in_outs);
      device().copy_to_device(buffer.address(), data.given[i].bytes.data(), buffer.bytes());
      if (is_input) stand_in().only_read(buffer.address());
    }
    // The outputs are not poisoned: the host would have written them, and initcheck is to see that the kernel does.
    for (const ProblemTensor& tensor : data.shape.problem->outputs(data.shape)) hold(tensor, tensors.outputs);
    const auto prepared = stage_->prepare(device(), data.shape, tensors);
    prepared->run();
    device().wait();
    return ordered_json::object();
  }

  ordered_json read(const std::string& tensor, std::size_t first, std::size_t count) {
    const Held& held = held_.at(tensor);
    const std::size_t bytes = element_bytes(held.tensor.type);
    if ((first + count) * bytes > held.buffer.bytes() || count * bytes > window_.bytes()) {
      throw std::logic_error("that many elements are not there");
    }
    const auto* const from = static_cast<const std::byte*>(held.buffer.address());
    device().copy_to_host(window_.data(), from + first * bytes, count * bytes);
    return ordered_json::object();
  }

  ordered_json findings() {
    ordered_json list = ordered_json::array();
    for (const simulated::Finding& one : stand_in().take_findings()) list.push_back(stand_in::finding_json(one));
    return {{"findings", std::move(list)}};
  }

  std::unique_ptr<FolderVariant> stage_;
  const Workload& workload_;
  const SharedMemory& window_;
  std::map<std::string, Held> held_;
};

int serve_check(int socket, int workload_descriptor, int window_descriptor) {
  const auto make = [](const ordered_json& hello, const Workload& workload,
                       const SharedMemory& window) -> std::unique_ptr<CaseClient> {
    const auto* const folder = dynamic_cast<const FolderProblem*>(workload.real().shape.problem);
    if (folder == nullptr) return nullptr;
    confine_case({.readable = {hello.at("library").get<std::string>(), stand_in::find_libraries()}});
    stand_in::Settings settings;
    settings.checkers = parse_checkers(hello.at("checkers").get<std::string>());
    settings.with_caches = false;
    settings.host_threads = 1;
    auto device = stand_in::open_device(settings);
    return std::make_unique<StageCheckSession>(hello.at("id").get<std::string>(), std::move(device),
                                               served_stage(*folder, read_stage_hello(hello)), workload, window);
  };
  return serve_session<Workload>(socket, workload_descriptor, window_descriptor, make);
}

const ServedRegistration serve_check_registration("serve-check", serve_check);

OpenCase start_check(const PlannedCase& planned, const Workload& workload, const CheckSettings& settings) {
  const ProblemSize& size = planned.work.shape;
  std::size_t most = 0;
  for (const ProblemTensor& tensor : size.problem->results(size)) most = std::max(most, tensor.bytes());
  ordered_json hello = stage_hello(stage_to_load(*planned.variant.variant->compiled_stage()));
  hello["id"] = planned.id;
  hello["checkers"] = checkers_text(settings.checkers);
  const double seconds =
      step_timeout_seconds(std::nullopt, {.flop = size.flop(), .bytes = 0}, find_device_kind(planned.device));
  return start_session({planned.id, workload.descriptor(), workload.header(), seconds, kThisProgram, Trust::foreign},
                       "serve-check", output_window(most), std::move(hello));
}

/// Adds a finding once for each line: a loop that the compiler unrolled has many instructions of one line.
void add_by_line(std::vector<simulated::Finding>& findings, simulated::Finding finding) {
  const auto same = [&](const simulated::Finding& other) {
    return finding.source_line > 0 && other.checker == finding.checker && other.kernel == finding.kernel &&
           other.opcode == finding.opcode && other.source_file == finding.source_file &&
           other.source_line == finding.source_line && other.allocation == finding.allocation;
  };
  const auto known = std::ranges::find_if(findings, same);
  if (known == findings.end()) {
    findings.push_back(std::move(finding));
  } else {
    known->count += finding.count;
  }
}

}  // namespace

void check_stage(CheckedCase& checked, const PlannedCase& planned, const Workload& workload,
                 const CheckSettings& settings) {
  const ProblemSize& size = planned.work.shape;
  const double tolerance = size.problem->granted_tolerance(planned.variant.variant->tolerance(), size);
  const OpenCase open = start_check(planned, workload, settings);
  const auto solve = [&](ProblemKind kind) {
    open.ask({{"do", "run"}, {"problem", kind == ProblemKind::integers ? "integers" : "real"}});
    return workload.expected(kind).compare(open.tensors(), open.window_bytes(), {}, tolerance);
  };
  try {
    const Check real = solve(ProblemKind::real);
    checked.largest_error = real.max_scaled_error;
    checked.tolerance = tolerance;
    checked.reason = real.passed ? solve(ProblemKind::integers).first_failure : real.first_failure;
    checked.status = checked.reason.empty() ? Status::ok : Status::incorrect;
  } catch (const CaseFailure& failure) {
    checked.status = failure.status;
    checked.reason = failure.what();
  }
  try {
    const ordered_json reply = open.ask({{"do", "findings"}});
    for (const ordered_json& one : reply.at("findings")) {
      add_by_line(checked.findings, stand_in::read_finding(one));
    }
  } catch (const CaseFailure&) {
    return;  // it has ended, and its status says how
  }
}

}  // namespace convladder
