#include "harness/commands/run/run_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "harness/judge/compare/counter_comparison.hpp"
#include "harness/judge/duel/programs/temporary_folder.hpp"
#include "harness/measure/isolation/child_process.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/records/time_ratio.hpp"
#include "harness/measure/runs/run_record.hpp"
#include "harness/measure/runs/step_words.hpp"
#include "ladders/ladder_folder.hpp"
#include "ladders/program_output.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/interruption.hpp"
#include "support/printable.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{50};
constexpr const char* kSamples = "21";      // of each version: enough for an interval
constexpr const char* kBefore = "_before";  // at the end of the name of the last right version

/// Whether a change of the file may change a stage: sources, headers and the problem do; notes and results do not.
bool is_of_a_build(const fs::path& file) {
  static constexpr std::string_view kEndings[] = {".cpp", ".cu", ".ptx", ".py", ".hpp", ".h", ".cuh", ".inc", ".json"};
  const std::string name = file.filename().string();
  return !name.starts_with('.') && std::ranges::find(kEndings, file.extension().string()) != std::end(kEndings);
}

/// The files of the folder that a build reads, with their contents.
std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> contents;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (!is_of_a_build(entry.path()) || !entry.is_regular_file(error)) continue;
    try {
      contents[entry.path().filename().string()] = read_file_text(entry.path().string());
    } catch (const UserError&) {  // an editor is replacing it: the next look finds it
      continue;
    }
  }
  return contents;
}

/// The times of last changes and the sizes: what a look costs where nothing happens.
std::string state_of(const fs::path& folder) {
  std::string state;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const auto changed = entry.last_write_time(error).time_since_epoch().count();
    state += fmt::format("{} {} {}\n", entry.path().filename().string(), changed, entry.file_size(error));
  }
  return state;
}

/// The file of the last right version of 01_naive.cu: "naive_before.cu".
std::string name_of_before(const std::string& file, const StageSource& stage) {
  std::string name = stage.name;
  std::ranges::replace(name, '-', '_');
  return name + kBefore + fs::path(file).extension().string();
}

class Watch {
 public:
  explicit Watch(const RunOptions& options)
      : options_(options),
        folder_(ladder_folder_of(options)),
        contents_(contents_of(folder_)),
        last_right_(contents_) {}

  void look() {
    std::map<std::string, std::string> now = contents_of(folder_);
    const std::map<std::string, std::string> before = std::exchange(contents_, now);
    std::vector<std::string> changed;
    for (const auto& [name, text] : now) {
      const auto known = before.find(name);
      if (known == before.end() || known->second != text) changed.push_back(name);
    }
    if (changed.empty()) return;
    const auto is_watched = [this](const StageSource& stage) {
      const auto& families = options_.families;
      return families.empty() || std::ranges::find(families, stage.family()) != families.end();
    };
    try {
      const LadderFolder ladder = read_ladder_folder(folder_, OwnStages::optional);
      for (const std::string& name : changed) {
        const auto stage = std::ranges::find(ladder.stages, name, &StageSource::file);
        if (stage != ladder.stages.end() && !is_watched(*stage)) {
          fmt::print("{} {}: not of --family\n", time_of_day(), printable(name));
        } else if (stage != ladder.stages.end()) {
          const auto right = last_right_.find(name);
          judge(*stage, now.at(name), right == last_right_.end() ? std::nullopt : std::optional(right->second));
        } else {
          fmt::print("{} {} changed: all stages again\n", time_of_day(), printable(name));
          for (const StageSource& one : ladder.stages) {
            if (is_watched(one) && !interrupt_waits()) judge(one, now.at(one.file), std::nullopt);
          }
          break;
        }
      }
    } catch (const UserError& error) {
      fmt::print("{} {}\n", time_of_day(), error.what());
    }
    std::fflush(stdout);
  }

 private:
  static std::string time_of_day() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
  }

  /// `before` is the text of its last right version.
  void judge(const StageSource& stage, const std::string& text, const std::optional<std::string>& before) {
    const auto begin = Clock::now();
    bool is_right = false;
    const std::string verdict = verdict_on(stage, before, is_right);
    if (is_right) last_right_[stage.file] = text;
    const std::chrono::duration<double> took = Clock::now() - begin;
    fmt::print("{} {}: {} [{:.1f} s]\n", time_of_day(), printable(stage.file), verdict, took.count());
    std::fflush(stdout);
  }

  std::string verdict_on(const StageSource& stage, const std::optional<std::string>& before, bool& is_right) {
    const TemporaryFolder place;
    const fs::path record = place.file("run");
    std::vector<std::string> words = words_for(stage, record);
    std::string name_before;
    if (before) {
      const fs::path file = place.file(name_of_before(stage.file, stage));
      write_file_atomically(file, *before);
      name_before = stage.name + "-before";
      words.insert(words.end(), {"--with", file.string(), "--variant", stage.name + "," + name_before});
    } else {
      words.insert(words.end(), {"--variant", stage.name});
    }
    const ProgramOutput output = run_program(words);
    std::error_code error;
    if (!fs::exists(record / "run.json", error)) return printable(first_line_of(output.messages));
    const RunFigures run = read_run_figures((record / "run.json").string());
    const RecordedCase* const own = case_of(run, stage.name);
    if (own == nullptr) return "no case of it";
    is_right = own->ok();
    return result_text(*own, before ? case_of(run, name_before) : nullptr);
  }

  /// The command that measures the stage.
  std::vector<std::string> words_for(const StageSource& stage, const fs::path& record) const {
    std::vector<std::string> words = {kThisProgram,   "run",           folder_.string(), "--family",
                                      stage.family(), "--quiet",       "--no-reuse",     "--no-report",
                                      "--output",     record.string(), "--repetitions",  kSamples};
    words.insert(words.end(), {"--size", options_.sizes.empty() ? quickest_size() : options_.sizes.front()});
    if (!options_.devices.empty())
      words.insert(words.end(), {"--device", fmt::format("{}", fmt::join(options_.devices, ","))});
    if (options_.untrusted) words.emplace_back("--untrusted");
    return words;
  }

  /// The folder's own size with the least work.
  std::string quickest_size() const {
    const Problem& problem = problem_of(options_);
    std::vector<std::string> sizes = problem.default_sizes();
    std::ranges::move(problem.counted_sizes(), std::back_inserter(sizes));
    return *std::ranges::min_element(sizes, {},
                                     [&](const std::string& one) { return parse_size(problem, one).flop(); });
  }

  static std::string first_line_of(const std::string& text) { return text.substr(0, text.find('\n')); }

  static const RecordedCase* case_of(const RunFigures& run, const std::string& stage) {
    const auto found = std::ranges::find(run.cases, stage, &RecordedCase::variant);
    return found == run.cases.end() ? nullptr : &*found;
  }

  std::string result_text(const RecordedCase& own, const RecordedCase* before) const {
    const std::string in_folder = (folder_ / "").string();  // which everybody knows who watches it
    if (!own.ok())
      return fmt::format("{}: {}", own.status,
                         own.reason.substr(own.reason.starts_with(in_folder) ? in_folder.size() : 0));
    std::string text = fmt::format("right on {}", own.layer);
    if (own.layer_time() != nullptr) {
      text += fmt::format(", {}", time_text(own.layer_time()->median));
      if (before == nullptr) return text;
      const std::optional<Ratio> x = layer_ratio(*before, own);
      if (!x) return text + fmt::format("; the last right version: {}", before->status);
      return text + fmt::format(", {} ({})", speed_text(*x, "before"), time_text(before->layer_time()->median));
    }
    if (!own.counters) return text;
    text += fmt::format(", {} warp instructions", grouped_number(warp_instructions(own).value_or(0)));
    if (before == nullptr || !before->counters) return text;
    ComparedCase compared;
    compare_counters(*before->counters, *own.counters, compared);
    text += compared.counters.empty() ? ", as before" : "; " + moved_text(compared.counters);
    for (const std::string& line : compared.lines) text += "; " + line;
    return text;
  }

  const RunOptions& options_;
  fs::path folder_;
  std::map<std::string, std::string> contents_;
  std::map<std::string, std::string> last_right_;  ///< by file; what was there at the beginning is taken as right
};

}  // namespace

int watch_ladder(const RunOptions& options) {
  if (!options.ladder.starts_with('/')) {
    throw UserError("--watch: expected a folder of yours: convladder run FOLDER --watch");
  }
  static_cast<void>(problem_of(options));  // compiled before the first change
  Watch watch(options);
  const fs::path folder = ladder_folder_of(options);
  fmt::print("watching {}: save a stage, and a line says what became of it; Ctrl-C ends\n", printable(folder.string()));
  std::fflush(stdout);
  const WaitingInterrupts waiting;  // so that no temporary folder is left
  std::string known = state_of(folder);
  while (!interrupt_waits()) {
    std::this_thread::sleep_for(kBetweenLooks);
    std::string now = state_of(folder);
    if (now == known) continue;
    known = std::move(now);
    watch.look();
  }
  return kExitInterrupted;
}

}  // namespace convladder
