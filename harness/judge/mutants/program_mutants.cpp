#include "harness/judge/mutants/program_mutants.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <utility>

#include "harness/judge/mutants/mutant_record.hpp"
#include "harness/measure/simulation/program_environment.hpp"
#include "harness/measure/simulation/program_run.hpp"
#include "ladders/program_output.hpp"
#include "simulator/stand_in/libraries.hpp"
#include "simulator/stand_in/report/report_json.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"
#include "support/temporary_file.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr std::uint64_t kLargestReport = std::uint64_t{1} << 30;

/// For the program as it is, which nobody has timed yet.
constexpr double kFirstTimeout = 3600;

/// The files of the current folder and of its folders, with their sizes and times of change; of very many the first.
std::map<std::string, std::pair<std::uintmax_t, std::filesystem::file_time_type>> files_here() {
  constexpr std::size_t kMostFiles = 10'000;
  std::map<std::string, std::pair<std::uintmax_t, std::filesystem::file_time_type>> files;
  std::error_code error;
  std::filesystem::recursive_directory_iterator at(".", std::filesystem::directory_options::skip_permission_denied,
                                                   error);
  for (; !error && at != std::filesystem::recursive_directory_iterator() && files.size() < kMostFiles;
       at.increment(error)) {
    if (at.depth() > 1) at.disable_recursion_pending();
    std::error_code none;
    if (!at->is_regular_file(none)) continue;
    const std::uintmax_t size = at->file_size(none);
    files[at->path().string()] = {size, at->last_write_time(none)};
  }
  return files;
}

/// Lists all that the processes have read; none if one of them may have read more.
std::vector<std::string> host_reads(const std::vector<simulated::MutantsSeen>& seen) {
  std::vector<std::string> all;
  for (const simulated::MutantsSeen& one : seen) {
    if (one.host_reads.empty()) return {};
    all.push_back(one.host_reads);
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace

ProgramTest::ProgramTest(std::vector<std::string> words, stand_in::Settings settings, const OutputRules& rules)
    : words_(std::move(words)),
      file_(find_program_file(words_.at(0))),
      settings_(std::move(settings)),
      rules_(rules),
      accepts_("--accepts", rules.accepts),
      rejects_("--rejects", rules.rejects) {
  if (const std::string why = why_not_simulated(file_, stand_in::libraries()); !why.empty()) throw UserError(why);
}

std::string ProgramTest::material() const {
  std::vector<std::string> files = words_;
  files.front() = file_.path;
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}", rules_.accepts, rules_.rejects, settings_.gpu, hash_of_files(files)));
}

std::string ProgramTest::failure_in(const std::string& output) const {
  bool is_accepted = rules_.accepts.empty();
  for (const std::string& line : split(output, '\n')) {
    if (!rules_.rejects.empty() && rejects_.matches(line)) return "it prints: " + printable(line);
    is_accepted = is_accepted || accepts_.matches(line);
  }
  return is_accepted ? "" : "no line as --accepts";
}

ProgramTest::Run ProgramTest::run(const simulated::MutantsWanted& wanted, double timeout_seconds) const {
  const TemporaryFile report("convladder-mutant");
  stand_in::Settings settings = settings_;
  settings.mutants = wanted;
  settings.report = report.path();
  ProgramSettings surroundings;
  surroundings.environment = environment_with(program_variables(settings));
  surroundings.seconds = timeout_seconds;
  std::vector<std::string> words = words_;
  words.front() = file_.path;
  const ProgramOutput output = convladder::run_program(words, surroundings);
  Run done;
  done.seconds = output.wall_ns * 1e-9;
  if (output.timed_out) {
    done.failure = fmt::format("timeout: {:.0f} s", timeout_seconds);
  } else if (WIFSIGNALED(output.status)) {
    done.failure = signal_text(WTERMSIG(output.status));
    done.is_killed = WTERMSIG(output.status) == SIGKILL;
  } else if (!output.succeeded()) {
    done.failure = fmt::format("exit code {}", WEXITSTATUS(output.status));
  } else {
    done.failure = failure_in(output.text + '\n' + output.messages);
  }
  for (stand_in::ProcessReport& process : stand_in::read_report_lines(read_file_text(report.path(), kLargestReport))) {
    if (!process.begins) done.seen.push_back(std::move(process.mutants));
  }
  return done;
}

std::map<std::string, std::vector<simulated::PossibleMutant>> ProgramTest::run_as_it_is() {
  std::map<std::string, std::vector<simulated::PossibleMutant>> possible;
  const auto files = files_here();
  for (const bool is_first : {true, false}) {
    const Run own = run({.lists = true}, kFirstTimeout);
    if (!own.failure.empty()) {
      throw UserError(fmt::format("{}: fails{} without any mutant: {}", printable(words_.front()),
                                  is_first ? "" : " the second time", own.failure));
    }
    seconds_ = std::max(seconds_, own.seconds);
    if (is_first) host_reads_ = host_reads(own.seen);
    if (host_reads(own.seen) != host_reads_) host_reads_.clear();
    for (const simulated::MutantsSeen& seen : own.seen) possible.insert(seen.possible.begin(), seen.possible.end());
  }
  writes_files_ = files_here() != files;
  return possible;
}

void ProgramTest::run(TriedMutant& one, const MutantSettings& settings) const {
  const Run done = run(settings.wanted(one), settings.timeout_for(seconds_));
  std::vector<simulated::MutantOutcome> outcomes;
  for (const simulated::MutantsSeen& seen : done.seen) outcomes.push_back(seen.outcome);
  one.outcome = combined(outcomes);
  one.seconds = done.seconds;
  one.by = done.failure;
  if (done.is_killed) {
    one.verdict = MutantVerdict::not_tried;
    return;
  }
  const bool is_unread = !host_reads_.empty() && host_reads(done.seen) == host_reads_;
  one.verdict =
      done.failure.empty() ? verdict_of_accepted(one.mutant, one.outcome, is_unread) : MutantVerdict::rejected;
}

}  // namespace convladder
