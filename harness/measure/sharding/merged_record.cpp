#include "harness/measure/sharding/merged_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "harness/measure/records/record_file.hpp"
#include "harness/measure/runs/derived_ladders.hpp"
#include "support/file_bytes.hpp"

namespace convladder {
namespace {

/// The texts of derived figures in the order of the plan's groups; ladders that were timed come first.
using Derived = std::map<std::tuple<bool, std::size_t>, std::vector<std::string>>;

/// A list after the cases, on lines of its own.
std::string list_text(std::string_view name, const std::vector<std::string>& elements) {
  return fmt::format(",\n \"{}\": [{}{}", name, fmt::join(elements, ","), elements.empty() ? "]" : "\n ]");
}

template <typename T>
std::vector<std::string> texts_of(const std::vector<T>& elements) {
  std::vector<std::string> texts;
  for (const T& one : elements) texts.push_back(listed_text(one));
  return texts;
}

std::vector<std::string> in_order(const Derived& derived) {
  std::vector<std::string> texts;
  for (const auto& [order, of_group] : derived) texts.insert(texts.end(), of_group.begin(), of_group.end());
  return texts;
}

class MergedRecord {
 public:
  MergedRecord(const MergedShards& shards, const MergeProgress& progress)
      : shards_(shards), progress_(progress), variants_(variants_of(shards.plan())) {
    std::map<std::string, std::size_t> numbers;
    std::size_t first = 0;
    for (std::size_t i = 0; i < shards.plan().groups.size(); ++i) {
      const GroupOfPlan& group = shards.plan().groups[i];
      group_numbers_[group.id] = i;
      // Groups of the same layer and batch on all devices: counts on one explain measurements on another.
      const std::string place = group.id.substr(group.id.find('/') + 1);
      const auto [known, is_new] = numbers.emplace(place, places_.size());
      if (is_new) places_.emplace_back();
      places_[known->second].push_back({i, first});
      first += group.cases.size();
    }
  }

  void write(GrowingFile& file, const std::vector<std::string>& command_line) {
    const std::string before =
        text_before_cases(shards_.plan(), shards_.machines(), shards_.sessions(), command_line, is_complete());
    file.write(fmt::format("{{{},{}", before, kCasesLine));
    bool any = false;
    const auto& cases = shards_.cases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      progress_("cases", static_cast<double>(i) / static_cast<double>(cases.size()));
      if (!cases[i]) continue;
      if (any) file.write(",");
      file.write(shards_.reader_of(*cases[i]).case_text(cases[i]->number, cases[i]->session));
      any = true;
    }
    file.write(kEndOfCases);
    write_behind(file);
    file.write(kEndOfRecord);
  }

 private:
  struct GroupAt {
    std::size_t group;
    std::size_t first_case;
  };

  bool is_complete() const {
    return std::ranges::all_of(shards_.cases(), [](const auto& one) { return one.has_value(); });
  }

  /// The ceilings of each kind of machine; each says which kind where there are several.
  Ceilings all_ceilings() const {
    Ceilings all;
    for (int kind = 0; kind < shards_.kinds(); ++kind) {
      for (DeviceCeilings one : shards_.ceilings(kind)) {
        if (shards_.kinds() > 1) one.kind_of_machine = kind;
        all.push_back(std::move(one));
      }
    }
    return all;
  }

  void write_behind(GrowingFile& file) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      progress_("what follows from them", static_cast<double>(i) / static_cast<double>(places_.size()));
      derive(places_[i]);
    }
    file.write(list_text("ceilings", texts_of(all_ceilings())));
    file.write(list_text("ladders", in_order(ladders_)));
    if (!left_out_.empty()) file.write(list_text("leave_one_out", in_order(left_out_)));
    if (!shards_.sentinels().empty()) file.write(list_text("sentinels", texts_of(shards_.sentinels())));
  }

  /// The kind of the machines that timed the group; none where nothing was timed.
  std::optional<int> kind_of_group(const GroupAt& at) const {
    const GroupOfPlan& group = shards_.plan().groups[at.group];
    for (std::size_t i = at.first_case; i < at.first_case + group.cases.size(); ++i) {
      const auto& one = shards_.cases()[i];
      if (one && one->timed) return shards_.machines()[shards_.machine_of(*one)].kind;
    }
    return std::nullopt;
  }

  /// The ceilings of the machines that these groups were measured on.
  Ceilings ceilings_of(const std::vector<GroupAt>& place) const {
    Ceilings ceilings;
    for (const GroupAt& at : place) {
      const std::string& id = shards_.plan().groups[at.group].id;
      const std::string device = id.substr(0, id.find('/'));
      const std::optional<int> kind = kind_of_group(at);
      if (!kind) continue;
      for (const DeviceCeilings& one : shards_.ceilings(*kind)) {
        if (one.device == device) ceilings.push_back(one);
      }
    }
    return ceilings;
  }

  /// Derives the figures of one layer and batch, as RunRecord does.
  void derive(const std::vector<GroupAt>& place) {
    std::vector<RecordedCase> cases;
    for (const GroupAt& at : place) {
      const std::size_t count = shards_.plan().groups[at.group].cases.size();
      for (std::size_t i = at.first_case; i < at.first_case + count; ++i) {
        if (const auto& one = shards_.cases()[i]) cases.push_back(shards_.reader_of(*one).whole_case_at(one->number));
      }
    }
    for (DerivedLadder& ladder : derived_ladders(cases, variants_, ceilings_of(place))) {
      const std::size_t number = number_of(*ladder.of);
      const auto at = std::ranges::find(place, number, &GroupAt::group);
      if (shards_.kinds() > 1 && at != place.end()) ladder.kind_of_machine = kind_of_group(*at);
      ladders_[{ladder.rows.empty(), number}].push_back(listed_text(ladder));
    }
    for (const LeaveOneOut& view : leave_one_out_of(cases, variants_)) {
      left_out_[{false, number_of(*view.rows.front().of)}].push_back(listed_text(view));
    }
  }

  /// The number of the group to which a ladder, or a view, belongs.
  std::size_t number_of(const RecordedCase& one) const {
    return group_numbers_.at(fmt::format("{}/{}.{}/{}", one.device, one.network, one.layer, one.batch));
  }

  const MergedShards& shards_;
  const MergeProgress& progress_;
  std::vector<RecordedVariant> variants_;
  std::vector<std::vector<GroupAt>> places_;  ///< groups of one layer and batch
  std::map<std::string, std::size_t> group_numbers_;
  Derived ladders_;
  Derived left_out_;
};

}  // namespace

void write_merged_record(const MergedShards& shards, const std::filesystem::path& file,
                         const std::vector<std::string>& command_line, const MergeProgress& progress) {
  GrowingFile growing(file);
  MergedRecord(shards, progress).write(growing, command_line);
  growing.place();
}

}  // namespace convladder
