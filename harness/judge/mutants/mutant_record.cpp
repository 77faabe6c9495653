#include "harness/judge/mutants/mutant_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include "devices/kernel_resources.hpp"
#include "simulator/mutations/mutation.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_fields.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t kLargestRecord = std::uint64_t{1} << 30;

/// "transpose.cu:31"; "PTX line 40"; "the kernel" as a whole; "8 sums".
std::string place_of(const simulated::PossibleMutant& mutant) {
  if (mutant.instructions == 0) return "the kernel";
  if (mutant.kind == simulated::MutationKind::low_precision) {
    return plural(static_cast<std::size_t>(mutant.instructions), "sum");
  }
  if (mutant.places.empty()) return fmt::format("PTX line {}", mutant.ptx_line);
  return fmt::format("{}:{}", mutant.places.front().file, mutant.places.front().line);
}

std::string effect_text(const TriedMutant& one) {
  if (one.outcome.text.empty()) return record_word(one.outcome.effect);
  if (one.outcome.first_launch > 1) return fmt::format("launch {}: {}", one.outcome.first_launch, one.outcome.text);
  return one.outcome.text;
}

/// The cases of a record as a table tells them apart: without the parts of their ids that are the same in all of them.
class CaseNames {
 public:
  explicit CaseNames(const MutantRecord& record) {
    for (const TriedMutant& one : record.mutants) {
      if (!ids_.contains(one.of)) ids_.emplace(one.of, split(one.of, '/'));
    }
    if (ids_.empty()) return;
    const std::vector<std::string>& first = ids_.begin()->second;
    for (std::size_t i = 0; i < first.size(); ++i) {
      is_told_.push_back(std::ranges::any_of(
          ids_, [&](const auto& id) { return id.second.size() != first.size() || id.second[i] != first[i]; }));
    }
  }
  /// Whether there are several.
  bool any() const { return ids_.size() > 1; }
  std::string of(const std::string& id) const {
    std::string text;
    const std::vector<std::string>& parts = ids_.at(id);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i < is_told_.size() && !is_told_[i]) continue;
      text += (text.empty() ? "" : "/") + parts[i];
    }
    return printable(text);
  }

 private:
  std::map<std::string, std::vector<std::string>> ids_;
  std::vector<bool> is_told_;
};

/// The kernels of the record, in its order, with the case that tests them.
std::vector<std::pair<std::string, std::string>> kernels_of(const MutantRecord& record) {
  std::vector<std::pair<std::string, std::string>> kernels;
  for (const TriedMutant& one : record.mutants) {
    const std::pair key(one.of, one.kernel);
    if (std::ranges::find(kernels, key) == kernels.end()) kernels.push_back(key);
  }
  return kernels;
}

void add_sums(Report& report, const MutantRecord& record) {
  const CaseNames cases(record);
  std::vector<TextColumn> columns{left("kernel")};
  if (cases.any()) columns.insert(columns.begin(), left("case"));
  std::vector<MutantVerdict> shown;
  for (std::size_t i = 0; i < std::size(kMutantVerdicts); ++i) {
    const auto verdict = static_cast<MutantVerdict>(i);
    const bool is_always = verdict == MutantVerdict::rejected || verdict == MutantVerdict::accepted;
    if (!is_always && record.count(verdict) == 0) continue;
    columns.push_back(right(kMutantVerdicts[i]));
    shown.push_back(verdict);
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& its : kernels_of(record)) {
    std::vector<std::string> row;
    if (cases.any()) row.push_back(cases.of(its.first));
    row.push_back(printable(display_name(its.second)));
    for (const MutantVerdict verdict : shown) {
      row.push_back(std::to_string(std::ranges::count_if(record.mutants, [&](const TriedMutant& one) {
        return one.of == its.first && one.kernel == its.second && one.verdict == verdict;
      })));
    }
    rows.push_back(std::move(row));
  }
  report.section().table(std::move(columns), std::move(rows));
}

/// A table of the mutants of each kernel that have this verdict.
void add_list(Report& report, const MutantRecord& record, MutantVerdict verdict, const std::string& heading,
              const char* last_title, const std::function<std::string(const TriedMutant&)>& last) {
  const CaseNames cases(record);
  for (const auto& [of, kernel] : kernels_of(record)) {
    std::vector<std::vector<std::string>> rows;
    for (const TriedMutant& one : record.mutants) {
      if (one.of != of || one.kernel != kernel || one.verdict != verdict) continue;
      std::vector<std::string>& row = rows.emplace_back();
      row = {printable(place_of(one.mutant)), words_of(one.mutant.kind).text};
      if (last) row.push_back(printable(last(one)));
    }
    if (rows.empty()) continue;
    std::vector<TextColumn> columns{left("line"), left("mutant")};
    if (last) columns.push_back(left(last_title));
    const std::string name = printable(display_name(kernel));
    report.section(fmt::format("{}: {}{}", heading, cases.any() ? cases.of(of) + ", " : "", name))
        .table(std::move(columns), std::move(rows));
  }
}

}  // namespace

std::size_t MutantRecord::count(MutantVerdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(mutants, verdict, &TriedMutant::verdict));
}

std::string hash_of_files(const std::vector<std::string>& paths) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;
  std::string hashes;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) continue;
    const bool is_small = std::filesystem::file_size(path, error) <= kLargest && !error;
    hashes += is_small ? sha256_hex(std::string_view(read_file_text(path, kLargest))) : "too large";
  }
  return sha256_hex(std::string_view(hashes));
}

std::string mutant_record_json(const MutantRecord& record) {
  ordered_json json = {{"format", 1}, {"kind", "mutants"}};
  add_fields(json, record);
  for (ordered_json& one : json.at("mutants")) {
    one["name"] = display_name(one.at("kernel").get_ref<const std::string&>());
  }
  return json_text(json);
}

std::size_t take_known_verdicts(const std::string& file, MutantRecord& record) {
  if (file.empty() || !std::filesystem::exists(file)) return 0;
  const ordered_json json = parse_json(read_file_text(file, kLargestRecord), file, "a record of mutants");
  MutantRecord known;
  try {
    if (json.at("kind") != "mutants" || json.at("format") != 1) throw UserError("another kind of file");
    read_fields(json, known);
  } catch (const std::exception&) {
    throw UserError(fmt::format("{}: no record of mutants: name another file for --output", printable(file)));
  }
  if (known.what != record.what) {
    throw UserError(
        fmt::format("{}: of another test, {}: name another file for --output", printable(file), printable(known.what)));
  }
  if (known.material != record.material || known.version != record.version) return 0;  // all of it is tried again
  std::size_t taken = 0;
  for (TriedMutant& one : record.mutants) {
    const auto same =
        std::ranges::find_if(known.mutants, [&one](const TriedMutant& other) { return one.is_same(other); });
    if (same == known.mutants.end() || same->verdict == MutantVerdict::not_tried) continue;
    taken += one.verdict == MutantVerdict::not_tried ? 1 : 0;
    one = *same;
  }
  return taken;
}

Report mutant_report(const MutantRecord& record, bool shows_all) {
  using enum MutantVerdict;
  Report report;
  report.title = "What the test accepts: " + record.what;
  const std::size_t failing = record.count(rejected);
  const std::size_t passing = record.count(accepted);
  report.section().paragraph(
      fmt::format("{} tried of {}; {} change results, and the test accepts {} of them.",
                  plural(record.mutants.size() - record.count(not_tried) - record.count(not_run), "mutant"),
                  record.mutants.size(), failing + passing, passing == 0 ? "none" : std::to_string(passing)));
  add_sums(report, record);
  const auto by = [](const TriedMutant& one) { return one.by; };
  add_list(report, record, accepted, "accepted", "results that are others", effect_text);
  add_list(report, record, unread, "unread: others, and all that the host reads is the same", "results that are others",
           effect_text);
  add_list(report, record, hidden, "hidden: the same results in every order that was tried",
           "but a checker has a finding", effect_text);
  add_list(report, record, tolerated, "tolerated: rounded otherwise", "results that are others", effect_text);
  add_list(report, record, not_told, "not told whether results are others", "why", effect_text);
  if (shows_all) {
    add_list(report, record, equivalent, "equivalent", "", nullptr);
    add_list(report, record, rejected, "rejected", "by", by);
    add_list(report, record, not_run, "not run", "", nullptr);
  } else if (record.count(not_run) > 0) {
    report.section().note(
        fmt::format("{} not run: lines that the test never executes, kernels that it calls only once: "
                    "--verbose",
                    plural(record.count(not_run), "mutant was", "mutants were")));
  }
  if (record.count(not_tried) > 0) {
    report.section().note(fmt::format("{} not tried: the same command with the same --output goes on",
                                      plural(record.count(not_tried), "mutant was", "mutants were")));
  }
  return report;
}

}  // namespace convladder
