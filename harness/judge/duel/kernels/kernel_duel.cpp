#include "harness/judge/duel/kernels/kernel_duel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "harness/judge/duel/kernels/counted_causes.hpp"
#include "harness/judge/duel/kernels/kernel_side.hpp"
#include "harness/measure/cases/cases_at_a_time.hpp"
#include "harness/measure/cases/ceilings.hpp"
#include "harness/measure/cases/checked_stage.hpp"
#include "harness/measure/cases/time_judge.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/isolation/one_cpu.hpp"
#include "harness/measure/machine/machine_load.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "harness/measure/records/recorded_case.hpp"

namespace convladder {
namespace {

std::map<std::string, int> groups_of_devices(const std::vector<KernelGroup>& groups) {
  std::map<std::string, int> devices;
  for (const KernelGroup& group : groups) ++devices[group.device];
  return devices;
}

/// Shared by all pairs of a duel.
struct Ring {
  Ring(const std::vector<KernelGroup>& groups, const OtherProgram& base_program, const OtherProgram& new_program,
       const ImageSet& images_of_all, const DuelSettings& duel_settings)
      : base(base_program),
        now(new_program),
        images(images_of_all),
        settings(duel_settings),
        ceilings(RunOptions{}, groups_of_devices(groups)) {}

  const OtherProgram& base;
  const OtherProgram& now;
  const ImageSet& images;
  const DuelSettings& settings;
  CeilingSampler ceilings;
  MachineWatch machine;
  TimeJudge judge{ceilings, machine};
  std::map<std::pair<std::filesystem::path, std::string>, StageFindings> looked_at;  ///< by library and size
  std::vector<CheckerLook> looks;
};

class KernelContest : public DuelPair {
 public:
  KernelContest(const KernelPair& pair, std::shared_ptr<Ring> ring, const std::optional<Workload>& workload)
      : DuelPair(pair.id, pair.base_variant, pair.new_variant),
        pair_(pair),
        ring_(std::move(ring)),
        workload_(workload) {
    if (!pair.runs()) settle(pair.verdict, pair.reason);
  }

  std::vector<DuelMetric> metrics() const override { return {{.name = "layer time"}}; }

  bool has_one_thread() const override { return one_thread_is_set(); }

  std::unique_ptr<DuelSide> open(Role role) override {
    ring_->machine.look();
    const bool is_base = role == Role::base;
    return std::make_unique<KernelSide>(
        KernelSetting{role_name(role), is_base ? ring_->base.path : ring_->now.path, is_base ? pair_.base : pair_.now,
                      workload_.value(), timeout(), ring_->settings.seed, &ring_->judge,
                      is_base ? 0 : ring_->settings.extra_percent},
        length_);
  }

  SlotLength calibrate(DuelSide& base, DuelSide& now) override {
    look_at_code(Role::base, pair_.base);
    look_at_code(Role::now, pair_.now);
    auto& kernel = dynamic_cast<KernelSide&>(base);
    const int replayed = std::min(kernel.replayed_calls(), dynamic_cast<KernelSide&>(now).replayed_calls());
    length_ = kernel.calibrated(ring_->settings.extra_percent, replayed);
    return length_;
  }

  std::vector<std::string> causes() override {
    constexpr double kSeconds = 30;
    return counted_causes(pair_, ring_->base.path, ring_->now.path, ring_->settings.seed, kSeconds);
  }

 private:
  /// Has the checkers look at a side's code, where it is no part of a build. Throws SideFailure for a side that is
  /// right by luck.
  void look_at_code(Role role, const PlannedCase& planned) {
    if (!is_to_be_checked(planned)) return;
    const std::optional<LayerWork> work = checked_work(planned);
    const auto [looked_at, is_new] = ring_->looked_at.try_emplace(
        {planned.variant.variant->compiled_stage()->build.library, work ? work->name() : ""});
    StageFindings& found = looked_at->second;
    if (is_new) {
      RunOptions options;
      options.seed = ring_->settings.seed;
      options.timeout_seconds = ring_->settings.timeout_seconds;
      found = look_at_stage(planned, work, ring_->images, options, &workload_.value());
      ring_->looks.push_back(checker_look(found));
    }
    if (found.count() == 0) return;
    throw SideFailure(fmt::format("{}: {}: {}", role_name(role), Status::unsafe, found.in_one_line()));
  }

  double timeout() const {
    const ProblemSize& shape = pair_.base.work.shape;
    return step_timeout_seconds(ring_->settings.timeout_seconds, {shape.flop(), case_bytes(shape)},
                                find_device_kind(pair_.base.device));
  }

  const KernelPair& pair_;
  std::shared_ptr<Ring> ring_;
  const std::optional<Workload>& workload_;  ///< the group's
  SlotLength length_;
};

class KernelContests : public DuelGroup {
 public:
  KernelContests(const KernelGroup& group, const std::shared_ptr<Ring>& ring)
      : DuelGroup(fmt::format("{}, batch {}, on {}", group.work.name(), group.work.shape.batch, group.device),
                  group.device, host_threads_of(group.device)),
        group_(group),
        ring_(ring) {
    for (const KernelPair& pair : group.pairs) pairs.push_back(std::make_unique<KernelContest>(pair, ring, workload_));
  }

  bool is_predicted() const override { return find_device_kind(group_.device).clock_is_virtual(); }
  std::string why_no_room() const override { return convladder::why_no_room(group_.device, group_.work.shape, 2); }
  std::size_t open_at_a_time(std::size_t pairs_left) const override {
    return cases_at_a_time(group_.device, group_.work.shape, pairs_left, 2);
  }
  void begin() override {
    if (!is_measured_) ring_->ceilings.before_group(group_.device);
    is_measured_ = true;
    workload_.emplace(group_.work, ring_->images, ring_->settings.seed);
  }
  void end() override { workload_.reset(); }
  std::vector<std::string> notes() override { return checker_lines(std::exchange(ring_->looks, {})); }

 private:
  const KernelGroup& group_;
  std::shared_ptr<Ring> ring_;
  std::optional<Workload> workload_;
  bool is_measured_ = false;
};

}  // namespace

DuelPlan kernel_duel(const std::vector<KernelGroup>& groups, const OtherProgram& base, const OtherProgram& now,
                     const ImageSet& images, const DuelSettings& settings) {
  const auto ring = std::make_shared<Ring>(groups, base, now, images, settings);
  DuelPlan plan;
  for (const KernelGroup& group : groups) plan.push_back(std::make_unique<KernelContests>(group, ring));
  return plan;
}

}  // namespace convladder
