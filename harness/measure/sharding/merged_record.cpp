#include "harness/measure/sharding/merged_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "harness/measure/machine/environment.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/record.hpp"
#include "harness/measure/records/record_file.hpp"
#include "harness/measure/runs/derived_ladders.hpp"
#include "harness/measure/runs/run_record.hpp"
#include "support/file_bytes.hpp"
#include "support/json_null.hpp"
#include "support/json_place.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// The derived figures, ready to be written; in the order of the plan's groups, ladders that were timed first.
struct Derived {
  using Order = std::tuple<bool, std::size_t>;
  std::vector<std::pair<Order, std::string>> ladders;
  std::vector<std::pair<Order, ordered_json>> left_out;
};

class MergedRecord {
 public:
  MergedRecord(const MergedShards& shards, const MergeProgress& progress)
      : shards_(shards), progress_(progress), variants_(read_variants(JsonPlace(shards.plan().variants, "variants"))) {
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
    file.write(fmt::format("{{{},{}", fields_text(fields_before(command_line)), kCasesLine));
    bool any = false;
    const auto& cases = shards_.cases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      progress_("cases", static_cast<double>(i) / static_cast<double>(cases.size()));
      if (!cases[i]) continue;
      if (any) file.write(",");
      file.write(case_text(shards_.case_json(*cases[i])));
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

  ordered_json fields_before(const std::vector<std::string>& command_line) const {
    const RunPlan& plan = shards_.plan();
    ordered_json machines = ordered_json::array();
    for (const MachineOfShards& machine : shards_.machines()) {
      ordered_json one = machine.about;
      one["kind"] = machine.kind;
      one["sentinel_x"] = or_null(machine.verdict.x);
      one["off"] = machine.verdict.off;
      machines.push_back(std::move(one));
    }
    std::string date = utc_now();
    for (const ordered_json& session : shards_.sessions()) {
      date = std::min(date, text_at(session, "/started", date));
    }
    ordered_json program = plan.program;
    program.erase("sha256");
    // Fields that a run has once are those of the first machine; `machines` has all.
    ordered_json context = {{"program", std::move(program)}};
    const ordered_json first = shards_.machines().empty() ? machine_json() : shards_.machines().front().about;
    for (const char* const part : {"host", "cpu", "devices", "libraries"}) context[part] = first.at(part);
    context["command_line"] = command_line;
    context["options"] = plan.options;
    context["seed"] = plan.options.at("seed");
    context["date"] = date;
    context["dataset"] = plan.dataset;
    context["plan"] = {{"id", plan.id}, {"shards", plan.shards}};
    context["machines"] = std::move(machines);
    context["sessions"] = shards_.sessions();
    ordered_json planned = ordered_json::array();
    for (const GroupOfPlan& group : plan.groups) {
      for (const std::string& id : group.cases) planned.push_back(id);
    }
    return {{"schema_version", kRunKind.schema_version},
            {"kind", kRunKind.kind},
            {"complete", is_complete()},
            {"context", std::move(context)},
            {"variants", plan.variants},
            {"planned", std::move(planned)}};
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
    Derived derived;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      progress_("what follows from them", static_cast<double>(i) / static_cast<double>(places_.size()));
      derive(places_[i], derived);
    }
    std::ranges::stable_sort(derived.ladders, {}, &std::pair<Derived::Order, std::string>::first);
    std::ranges::stable_sort(derived.left_out, {}, &std::pair<Derived::Order, ordered_json>::first);
    file.write("," + fields_text({{"ceilings", ceilings_json(all_ceilings())}}));
    file.write(",\n \"ladders\": [");
    for (std::size_t i = 0; i < derived.ladders.size(); ++i) {
      file.write((i > 0 ? "," : "") + derived.ladders[i].second);
    }
    file.write(derived.ladders.empty() ? "]" : "\n ]");
    if (!derived.left_out.empty()) {
      ordered_json views = ordered_json::array();
      for (const auto& [order, view] : derived.left_out) views.push_back(view);
      file.write("," + fields_text({{"leave_one_out", std::move(views)}}));
    }
    if (!shards_.sentinels().empty()) file.write("," + fields_text({{"sentinels", shards_.sentinels()}}));
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
  void derive(const std::vector<GroupAt>& place, Derived& derived) {
    ordered_json cases = ordered_json::array();
    for (const GroupAt& at : place) {
      const std::size_t count = shards_.plan().groups[at.group].cases.size();
      for (std::size_t i = at.first_case; i < at.first_case + count; ++i) {
        if (const auto& one = shards_.cases()[i]) cases.push_back(shards_.case_json(*one));
      }
    }
    const std::vector<RecordedCase> figures = read_whole_cases(JsonPlace(cases, "cases"));
    std::vector<DerivedLadder> ladders = derived_ladders(figures, variants_, ceilings_of(place));
    for (DerivedLadder& ladder : ladders) {
      const std::size_t number = number_of(*ladder.of);
      const auto at = std::ranges::find(place, number, &GroupAt::group);
      const auto kind = at == place.end() ? std::nullopt : kind_of_group(*at);
      if (shards_.kinds() > 1) ladder.kind_of_machine = kind;
      derived.ladders.emplace_back(Derived::Order{ladder.rows.empty(), number},
                                   case_text(ladders_json({ladder}).at(0)));
    }
    const std::vector<LeaveOneOut> views = leave_one_out_of(figures, variants_);
    for (const LeaveOneOut& view : views) {
      derived.left_out.emplace_back(Derived::Order{false, number_of(*view.rows.front().of)},
                                    leave_one_out_json({view}).at(0));
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
};

}  // namespace

void write_merged_record(const MergedShards& shards, const std::filesystem::path& file,
                         const std::vector<std::string>& command_line, const MergeProgress& progress) {
  GrowingFile growing(file);
  MergedRecord(shards, progress).write(growing, command_line);
  growing.place();
}

}  // namespace convladder
