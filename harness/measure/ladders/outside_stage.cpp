#include "harness/measure/ladders/outside_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "ladders/launch_plan.hpp"
#include "ladders/stage_cache.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/folder_links.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/convolution/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

/// The convolution as a folder's problem.json would state it: its dimensions are those of the convolution, after the
/// batch.
constexpr const char* kConvolution = R"json({
 "name": "convolution-from-outside", "title": "Convolution",
 "dimensions": {
  "N": {"name": "batch", "to": 100000000}, "C": {"name": "in_channels", "to": 100000000},
  "H": {"name": "height", "to": 100000000}, "W": {"name": "width", "to": 100000000},
  "M": {"name": "out_channels", "to": 100000000}, "K": {"name": "kernel", "to": 100000000},
  "S": {"name": "stride", "to": 100000000}, "P": {"name": "padding", "from": 0, "to": 100000000},
  "G": {"name": "groups", "to": 100000000}},
 "derived": {"OH": "div(H + 2 * P - K, S) + 1", "OW": "div(W + 2 * P - K, S) + 1"},
 "tensors": [
  {"name": "input", "role": "in", "type": "f32", "shape": ["N", "C", "H", "W"]},
  {"name": "weights", "role": "in", "type": "f32", "shape": ["M", "div(C, G)", "K", "K"]},
  {"name": "output", "role": "out", "type": "f32", "shape": ["N", "M", "OH", "OW"], "compare": {"tolerance": 1e-6}}],
 "sizes": ["N1C1H72W72M12K7S1P0G1"],
 "work": {"flop": "2 * N * M * OH * OW * div(C, G) * K * K"}})json";

const FolderProblem& as_folder() {
  static const FolderProblem problem(kConvolution, "convolution");
  return problem;
}

ProblemSize as_folder(const ProblemSize& size) {
  ProblemSize folder{&as_folder(), 1, {size.batch}};
  folder.values.insert(folder.values.end(), size.values.begin(), size.values.end());
  return folder;
}

/// A folder that holds only the file.
LadderFolder folder_of(const fs::path& file, const StageSource& source) {
  return {file.parent_path(), as_folder().ladder(), {}, {source}};
}

StageSource source_of(const fs::path& file, const LadderProblem& problem) {
  const std::string name = file.filename().string();
  const std::string as_stage = is_stage_name(name) ? name : "01_" + name;
  const std::string shown = printable(file.string());
  if (!is_stage_name(as_stage)) {
    throw UserError(
        fmt::format("--with {}: expected a file .cu, .cpp, .ptx or .py, named by letters, digits and '_'", shown));
  }
  std::error_code error;
  const fs::path folder = fs::canonical(file.parent_path(), error);
  if (fs::is_symlink(file, error)) {
    const std::string why = why_not_followed(file, {folder});
    if (!why.empty()) throw UserError(fmt::format("--with {}: {}", shown, why));
  }
  StageSource source = parse_stage(read_file_text(file.string()), as_stage, shown);
  source.file = name;
  for (const std::string& need : source.needs) {
    try {
      static_cast<void>(Expression(need, problem.names()));
    } catch (const std::invalid_argument& error) {
      throw UserError(fmt::format("{}: @requires: {}", shown, error.what()));
    }
  }
  if (!source.launches.empty()) static_cast<void>(LaunchPlan(source, problem, shown));
  return source;
}

void require_other_name(const OutsideStage& outside, const VariantInfo& info, const VariantInfo& other) {
  if (other.family != info.family || other.name != info.name) return;
  throw UserError(fmt::format("--with {}: a variant is called '{}' already: name the file otherwise",
                              printable(outside.compiled_stage()->source.file), info.name));
}

/// The stage's entry on the rung above the highest of its family, among the variants of `before`.
VariantInfo info_of(const OutsideStage& outside, const std::vector<ProblemVariant>& before) {
  VariantInfo info = info_of(*outside.compiled_stage(), {});
  std::vector<std::string> names;
  int highest = 0;
  const auto look_at = [&](const ProblemVariant& one) {
    if (one.info.family != info.family) return;
    names.emplace_back(one.info.name);
    require_other_name(outside, info, one.info);
    if (one.info.rung.value_or(0) <= highest) return;
    highest = *one.info.rung;
    info.builds_on = one.info.name;
  };
  for (const ProblemVariant& one : convolution_problem().variants()) look_at(one);
  for (const ProblemVariant& one : fused_problem().variants()) require_other_name(outside, info, one.info);
  for (const ProblemVariant& one : before) look_at(one);
  info.rung = highest + 1;
  if (const std::string& wanted = outside.compiled_stage()->source.builds_on; !wanted.empty()) {
    require_known("variant", wanted, names,
                  fmt::format("{}: @builds-on: ", printable(outside.compiled_stage()->source.file)));
    info.builds_on = wanted;
  }
  return info;
}

/// A stage with the weights on the device, where it finds them after the input.
class PreparedOutside final : public PreparedVariant {
 public:
  template <typename Prepare>
  PreparedOutside(Device& device, const ProblemTensors& tensors, const Prepare& prepare) : weights_(device, tensors) {
    ProblemTensors placed = weights_.tensors();
    placed.inputs.push_back(placed.constants.front());
    placed.constants.clear();
    call_ = prepare(placed);
  }
  void run() override { call_->run(); }
  std::string choice() const override { return call_->choice(); }

 private:
  DeviceConstants weights_;
  std::unique_ptr<PreparedVariant> call_;
};

}  // namespace

std::string OutsideStage::unsupported_reason(const ProblemSize& size) const {
  try {
    return stage_->unsupported_reason(as_folder(size));
  } catch (const std::invalid_argument& error) {  // a tensor that is too large
    return error.what();
  }
}

std::unique_ptr<PreparedVariant> OutsideStage::prepare(Device& device, const ProblemSize& size,
                                                       const ProblemTensors& tensors) const {
  return std::make_unique<PreparedOutside>(device, tensors, [&](const ProblemTensors& with_weights) {
    return stage_->prepare(device, as_folder(size), with_weights);
  });
}

std::vector<ProblemVariant> outside_stages(const std::vector<std::string>& files, const BuildProgress& progress) {
  static std::vector<std::unique_ptr<OutsideStage>> kept;  // their texts are used as long as the program runs
  std::vector<ProblemVariant> stages;
  const StageBuilder builder(default_stage_cache());
  int done = 0;
  for (const std::string& file : files) {
    const fs::path path = fs::absolute(file);
    StageSource source = source_of(path, as_folder().ladder());
    progress(source.file, done++, static_cast<int>(files.size()));
    StageBuild build = builder.build(folder_of(path, source), source, {});
    kept.push_back(std::make_unique<OutsideStage>(
        stage_variant({&as_folder(), std::move(source), std::move(build), {}, path.parent_path()})));
    stages.push_back({info_of(*kept.back(), stages), &convolution_problem(), kept.back().get()});
  }
  return stages;
}

std::vector<AddedStage> stages_beside(const LadderFolder& folder, const std::vector<std::string>& files) {
  std::vector<AddedStage> added;
  std::vector<const StageSource*> known;
  for (const StageSource& one : folder.stages) known.push_back(&one);
  added.reserve(files.size());  // `known` points into it
  for (const std::string& file : files) {
    const fs::path path = fs::absolute(file);
    AddedStage& stage = added.emplace_back(AddedStage{path.parent_path(), source_of(path, folder.problem)});
    const StageSource* highest = nullptr;
    for (const StageSource* const other : known) {
      if (other->is_cuda() != stage.source.is_cuda()) continue;
      if (other->name == stage.source.name) {
        throw UserError(fmt::format("--with {}: a stage is called '{}' already: name the file otherwise",
                                    printable(path.filename().string()), printable(stage.source.name)));
      }
      if (other->rung > 0 && (highest == nullptr || other->rung > highest->rung)) highest = other;
    }
    stage.source.rung = highest == nullptr ? 1 : highest->rung + 1;
    stage.builds_on = !stage.source.builds_on.empty() ? stage.source.builds_on
                      : highest == nullptr            ? ""
                                                      : highest->name;
    stage.include_folders = folder.include_folders;
    stage.include_folders.push_back(fs::absolute(folder.path));
    known.push_back(&stage.source);
  }
  return added;
}

std::unique_ptr<Variant> served_outside_stage(const StageToLoad& stage) {
  return std::make_unique<OutsideStage>(served_stage(as_folder(), stage));
}

}  // namespace convladder
