// The record of a command that runs cases: run.json, network.json, sweep.json, rank.json. Complete JSON and readable
// at every moment; its cases are appended as they end, and what is derived from them is added once, behind the last.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/records/record_file.hpp"
#include "support/json_place.hpp"

namespace convladder {

/// What the records of the commands differ in.
struct RecordKind {
  const char* kind;            ///< "run": the field, and the command
  const char* schema_version;  ///< that this program writes, and the only one that it goes on with
  bool stays = true;           ///< on the machine that began it; otherwise each session says where it was
  std::string file() const { return std::string(kind) + ".json"; }
};
inline constexpr RecordKind kRunKind{"run", "1.0"};
inline constexpr RecordKind kNetworkKind{"network", "1.0"};
inline constexpr RecordKind kSweepKind{"sweep", "1.0"};
inline constexpr RecordKind kRankKind{"rank", "1.0"};
inline constexpr RecordKind kShardKind{"shard", "1.0", false};

/// What a record holds of its command from the start, beside the machine and the program.
struct RecordContent {
  std::vector<std::string> command_line;
  nlohmann::ordered_json options;
  std::uint64_t seed = 1;
  nlohmann::ordered_json dataset;
  std::vector<std::string> planned;                                   ///< the ids of its cases
  nlohmann::ordered_json fields = nlohmann::ordered_json::object();   ///< that stand before the cases
  nlohmann::ordered_json behind = nlohmann::ordered_json::object();   ///< and behind them, until there are any
  nlohmann::ordered_json context = nlohmann::ordered_json::object();  ///< further fields of the context
  nlohmann::ordered_json session = nlohmann::ordered_json::object();  ///< of the session that begins
};

class Record {
 public:
  using Fields = nlohmann::ordered_json;  ///< an object: some fields of the record
  /// A new one. Creates the folder; throws UserError if it cannot, if it holds such a record already, or if another
  /// program writes into it.
  static Record create(const std::filesystem::path& folder, const RecordKind& kind, const RecordContent& content);
  /// An interrupted one. Throws UserError if there is none, or it is damaged, or of another kind or schema version, of
  /// another build of this program, of another host or processor if its kind stays, or if another program writes into
  /// its folder.
  /// `check` sees the parsed file first, and its name, and throws UserError for what its command cannot go on with.
  using Check = std::function<void(const nlohmann::ordered_json& record, const std::string& file)>;
  static Record open(const std::filesystem::path& folder, const RecordKind& kind, const Check& check = {});

  /// `context.options`, for as long as nothing is added.
  JsonPlace options() const;
  /// Checks that what is to be run now matches what was started: same data, plan and fields before the cases. Throws
  /// UserError that names what differs. Adds a session unless the record is complete. What stands behind the cases
  /// stays until one is added.
  void go_on(const RecordContent& now);

  /// Another plan for a record that is there, complete or not: cases stay where the new plan has them and `keep` says
  /// so. The data, the command line, the options and the fields are those of now, and a session is added.
  using Keep = std::function<bool(const nlohmann::ordered_json& one_case)>;
  void plan_anew(const RecordContent& now, const Keep& keep);
  /// Cases that are to be run once more go; then it is not complete.
  void drop(const Keep& unwanted);
  /// The number of the session that is under way.
  std::size_t session() const { return json_.at("context").at("sessions").size() - 1; }

  bool has(const std::string& id) const { return recorded_.contains(id); }
  /// Appends a finished case with its session; `behind` are all fields that stand behind the cases from now on.
  void add(nlohmann::ordered_json one_case, const Fields& behind = Fields::object());
  bool is_complete() const { return json_.at("complete") == true; }
  /// All planned cases have a status: they are put in the order of the plan, and `derived` stands behind them.
  void complete(const Fields& derived = Fields::object());
  /// `derived` from the cases that are there stands behind them, until one more is added.
  void derive(const Fields& derived);
  /// Whether a recorded case failed.
  bool any_failed() const;

  const std::filesystem::path& file() const { return file_.path(); }
  const nlohmann::ordered_json& json() const { return json_; }
  /// The cases, until one is added.
  std::map<std::string, const nlohmann::ordered_json*> cases_by_id() const;
  /// The cases in the order of the plan, as far as there are any.
  std::vector<nlohmann::ordered_json> cases_as_planned() const;

 private:
  explicit Record(RecordFile file) : file_(std::move(file)) {}
  void put_in_order(const RecordContent& now);
  bool remove_cases(const Keep& unwanted);
  void begin_session(const RecordContent& now);
  void set_behind(const Fields& behind);

  RecordFile file_;
  nlohmann::ordered_json json_;
  std::set<std::string> recorded_;
};

}  // namespace convladder
