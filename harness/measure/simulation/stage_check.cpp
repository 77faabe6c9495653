#include "harness/measure/simulation/stage_check.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/measure/cases/check_messages.hpp"
#include "harness/measure/isolation/case_confinement.hpp"
#include "harness/measure/isolation/served_process.hpp"
#include "harness/measure/isolation/session.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "harness/measure/simulation/checkers_argument.hpp"
#include "simulator/stand_in/libraries.hpp"

namespace convladder {

namespace {

class StageCheckSession final : public Session<CheckMessages> {
 public:
  StageCheckSession(const std::string& id, std::unique_ptr<stand_in::LoadedCodesDevice> device,
                    std::unique_ptr<Variant> stage, const Workload& workload, const SharedMemory& window)
      : Session(id, std::move(device)), stage_(std::move(stage)), workload_(workload), window_(window) {}

 private:
  struct Held {
    ProblemTensor tensor;
    DeviceBuffer buffer;
  };

  stand_in::LoadedCodesDevice& stand_in() const { return static_cast<stand_in::LoadedCodesDevice&>(device()); }

  Answer carry_out(const Request& request) override {
    return std::visit([this](const auto& wanted) -> Answer { return answer(wanted); }, request);
  }

  Done answer(const to_check::Run& wanted) {
    const ProblemData& data = workload_.problem(wanted.problem);
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
    return {};
  }

  Done answer(const ReadElements& wanted) {
    const Held& held = held_.at(wanted.tensor);
    const std::size_t bytes = element_bytes(held.tensor.type);
    const auto first = static_cast<std::size_t>(wanted.first);
    const auto count = static_cast<std::size_t>(wanted.count);
    if ((first + count) * bytes > held.buffer.bytes() || count * bytes > window_.bytes()) {
      throw std::logic_error("that many elements are not there");
    }
    const auto* const from = static_cast<const std::byte*>(held.buffer.address());
    device().copy_to_host(window_.data(), from + first * bytes, count * bytes);
    return {};
  }

  to_check::Found answer(const to_check::Findings& /*wanted*/) { return {stand_in().take_findings()}; }

  std::unique_ptr<Variant> stage_;
  const Workload& workload_;
  const SharedMemory& window_;
  std::map<std::string, Held> held_;
};

int serve_check(int socket, int workload_descriptor, int window_descriptor) {
  const auto make = [](const to_check::Hello& hello, const Workload& workload,
                       const SharedMemory& window) -> std::unique_ptr<Client<CheckMessages>> {
    const auto* const folder = dynamic_cast<const FolderProblem*>(workload.real().shape.problem);
    if (folder == nullptr) return nullptr;
    confine_case({.readable = {hello.stage.library, stand_in::find_libraries()}});
    stand_in::Settings settings;
    settings.checkers = parse_checkers(hello.checkers);
    settings.with_caches = false;
    settings.host_threads = 1;
    return std::make_unique<StageCheckSession>(hello.id, stand_in::open_device(settings),
                                               served_stage(*folder, hello.stage), workload, window);
  };
  return serve_session<CheckMessages, Workload>(socket, workload_descriptor, window_descriptor, make);
}

const ServedRegistration serve_check_registration("serve-check", serve_check);

OpenSession<CheckMessages> start_check(const PlannedCase& planned, const Workload& workload,
                                       const CheckSettings& settings) {
  const ProblemSize& size = planned.work.shape;
  std::size_t most = 0;
  for (const ProblemTensor& tensor : size.problem->results(size)) most = std::max(most, tensor.bytes());
  const double seconds =
      step_timeout_seconds(std::nullopt, {.flop = size.flop(), .bytes = 0}, find_device_kind(planned.device));
  return start_session<CheckMessages>(
      {.what = planned.id, .command = "serve-check", .timeout_seconds = seconds, .trust = Trust::foreign},
      workload.descriptor(), output_window(most),
      {.stage = stage_to_load(*planned.variant.variant->compiled_stage()),
       .id = planned.id,
       .checkers = checkers_text(settings.checkers),
       .workload = workload.header()});
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
  const OpenSession<CheckMessages> open = start_check(planned, workload, settings);
  const auto solve = [&](ProblemKind kind) {
    open.ask(to_check::Run{kind});
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
    for (simulated::Finding& one : open.ask(to_check::Findings()).findings) {
      add_by_line(checked.findings, std::move(one));
    }
  } catch (const CaseFailure& failure) {
    if (checked.status != Status::ok) return;  // it has ended, and its status says how
    checked.status = failure.status;
    checked.reason = failure.what();
  }
}

}  // namespace convladder
