#include "harness/measure/cases/checked_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/measure/isolation/case_confinement.hpp"
#include "harness/measure/isolation/served_process.hpp"
#include "harness/measure/isolation/session.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/ladders/outside_stage.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/estimate.hpp"
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
    tensors.constants = data.placed_constants();
    const auto hold = [&](const ProblemTensor& tensor, std::vector<PlacedTensor>& role) -> const DeviceBuffer& {
      const std::size_t bytes = tensor.bytes() * static_cast<std::size_t>(data.shape.batch);
      Held& held = held_[std::string(tensor.name)] = {tensor, device().allocate(bytes, tensor.name)};
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
    prepared->load_input();
    prepared->run();
    prepared->store_output();
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

  to_check::Found answer(const to_check::Findings& /*wanted*/) {
    return {stand_in().take_findings(), stand_in().take_orders(), stand_in().take_mutants()};
  }

  std::unique_ptr<Variant> stage_;
  const Workload& workload_;
  const SharedMemory& window_;
  std::map<std::string, Held> held_;
};

int serve_check(int socket, int workload_descriptor, int window_descriptor) {
  const auto make = [](const to_check::Hello& hello, const Workload& workload,
                       const SharedMemory& window) -> std::unique_ptr<Client<CheckMessages>> {
    const auto* const folder = dynamic_cast<const FolderProblem*>(workload.real().shape.problem);
    confine_case({.readable = {hello.stage.library, stand_in::find_libraries()}});
    auto device = stand_in::open_device();
    auto stage = folder != nullptr ? served_stage(*folder, hello.stage) : served_outside_stage(hello.stage);
    return std::make_unique<StageCheckSession>(hello.id, std::move(device), std::move(stage), workload, window);
  };
  return serve_session<CheckMessages, Workload>(socket, workload_descriptor, window_descriptor, make);
}

const ServedRegistration serve_check_registration("serve-check", serve_check);

OpenSession<CheckMessages> start_check(const PlannedCase& planned, const Workload& workload, const StageCheck& check) {
  const ProblemSize& size = workload.real().shape;
  std::size_t most = 0;
  for (const ProblemTensor& tensor : size.problem->results(size)) most = std::max(most, tensor.bytes());
  // Each launch runs once for each order, and as often again for each whose results are others.
  const auto times = static_cast<double>(1 + 2 * check.schedules.count);
  const double seconds = times * step_timeout_seconds(check.timeout_seconds, {.flop = size.flop(), .bytes = 0},
                                                      find_device_kind("simulated"));
  // In its environment: code that is linked with the stand-in makes the device before anybody can be asked.
  stand_in::Settings settings;
  settings.checkers = check.checkers;
  settings.schedules = check.schedules;
  settings.mutants = check.mutants;
  if (check.launch_seconds > 0) settings.launch_seconds = check.launch_seconds;
  settings.with_caches = false;
  settings.host_threads = check.host_threads;
  return start_session<CheckMessages>({.what = planned.id,
                                       .command = "serve-check",
                                       .timeout_seconds = seconds,
                                       .trust = Trust::foreign,
                                       .variables = {{stand_in::kSettingsVariable, stand_in::settings_text(settings)}}},
                                      workload.descriptor(), output_window(most),
                                      {.stage = stage_to_load(*planned.variant.variant->compiled_stage()),
                                       .id = planned.id,
                                       .workload = workload.header()});
}

/// Adds a finding once for each line: a loop that the compiler unrolled has many instructions of one line.
void add_by_line(std::vector<simulated::Finding>& findings, simulated::Finding finding) {
  const auto same = [&](const simulated::Finding& other) {
    return finding.source_line > 0 && simulated::are_of_one_statement(other, finding);
  };
  const auto known = std::ranges::find_if(findings, same);
  if (known == findings.end()) {
    findings.push_back(std::move(finding));
  } else {
    known->count += finding.count;
  }
}

}  // namespace

CheckedStage::CheckedStage(const PlannedCase& planned, const Workload& workload, const StageCheck& check)
    : workload_(workload), open_(start_check(planned, workload, check)) {}

Check CheckedStage::solve(ProblemKind kind, double tolerance) const {
  call(kind);
  return workload_.expected(kind).compare(open_.tensors(), open_.window_bytes(), {}, tolerance);
}

to_check::Found CheckedStage::findings() const {
  to_check::Found found = open_.ask(to_check::Findings());
  for (simulated::Finding& one : std::exchange(found.findings, {})) add_by_line(found.findings, std::move(one));
  return found;
}

void StageFindings::add(StageFindings other) {
  for (simulated::Finding& one : other.findings) add_by_line(findings, std::move(one));
  if (not_checked.empty()) not_checked = std::move(other.not_checked);
  if (work.empty()) work = std::move(other.work);
  orders += other.orders;
  seconds += other.seconds;
}

std::string StageFindings::in_one_line() const {
  const auto first = std::ranges::find(findings, simulated::Severity::finding, &simulated::Finding::severity);
  if (first == findings.end()) return {};
  std::string line = simulated::to_text(*first);
  if (count() > 1) line += fmt::format(" (and {} more)", count() - 1);
  return line;
}

bool is_to_be_checked(const PlannedCase& planned) {
  const CompiledStage* const stage = planned.variant.variant->compiled_stage();
  return stage != nullptr && stage->launches_by_itself();
}

namespace {

// More than that takes the simulated device minutes where a device with a clock takes a moment.
constexpr double kMostCheckedFlop = 200e6;
constexpr double kMostCheckedBytes = 64e6;

bool is_small(const ProblemSize& size) {
  return size.flop() <= kMostCheckedFlop && size.minimum_bytes() <= kMostCheckedBytes;
}

}  // namespace

std::optional<LayerWork> checked_work(const PlannedCase& planned) {
  LayerWork work = planned.work;
  const Problem& problem = *work.shape.problem;
  if (problem.items_are_alike()) work.shape.batch = 1;
  if (!planned.has_clock || is_small(work.shape)) return work;
  std::optional<ProblemSize> smallest;
  for (const std::string& text : problem.counted_sizes()) {
    const ProblemSize size = parse_size(problem, text);
    const bool is_possible = is_small(size) && planned.variant.variant->unsupported_reason(size).empty();
    if (is_possible && (!smallest || size.flop() < smallest->flop())) smallest = size;
  }
  if (!smallest) return std::nullopt;
  work = {std::string(problem.name()), size_name(*smallest), nullptr, 0, *smallest};
  return work;
}

StageFindings look_at_stage(const PlannedCase& planned, const std::optional<LayerWork>& work, const ImageSet& images,
                            const RunOptions& options, const Workload* at_hand) {
  StageFindings found;
  found.not_checked = options.checkers ? why_not_executed(*planned.variant.variant->compiled_stage()) : "--no-checkers";
  if (!found.not_checked.empty()) return found;
  if (!work) {
    found.not_checked = "the size is too large for the simulated device, and the problem names no smaller one for it";
    return found;
  }
  found.work = fmt::format("{}/{}", work->name(), work->shape.batch);
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Workload> own;
  if (at_hand == nullptr || work->shape != at_hand->real().shape) own.emplace(*work, images, options.seed);
  try {
    const CheckedStage stage(planned, own ? *own : *at_hand,
                             {.checkers = simulated::CheckerSet::all(),
                              .schedules = {.count = options.schedules},
                              .timeout_seconds = options.timeout_seconds});
    // A fault that ends a launch, such as an access far outside, is a finding as well.
    std::string failure;
    try {
      stage.call(ProblemKind::real);
    } catch (const CaseFailure& error) {
      failure = error.what();
    }
    to_check::Found all = stage.findings();
    found.findings = std::move(all.findings);
    found.orders = all.orders;
    if (found.count() == 0) found.not_checked = failure;
  } catch (const CaseFailure& failure) {
    found.not_checked = failure.what();
  }
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return found;
}

}  // namespace convladder
