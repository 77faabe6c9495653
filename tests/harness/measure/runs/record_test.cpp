#include "harness/measure/runs/run_record.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "expect_error.hpp"
#include "harness/measure/cases/case_session.hpp"
#include "harness/measure/cases/small_problem.hpp"
#include "harness/measure/plan/options_json.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/folder_lock.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write_file(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

/// A folder of its own for every test, gone afterwards.
class RecordFolder : public testing::Test {
 protected:
  RecordFolder() {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::path(testing::TempDir()) / ("convladder_" + std::string(test.name()) + "_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~RecordFolder() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
  fs::path folder_;
};

using AtomicFile = RecordFolder;

TEST_F(AtomicFile, ReplacesTheOldOneAndLeavesNothingBeside) {
  write_file_atomically(folder_ / "a.json", "old");
  write_file_atomically(folder_ / "a.json", std::string(3'000'000, 'x'));
  EXPECT_EQ(content_of(folder_ / "a.json"), std::string(3'000'000, 'x'));
  write_file_atomically(folder_ / "a.json", "");
  EXPECT_EQ(content_of(folder_ / "a.json"), "");
  EXPECT_EQ(files(), (std::vector<std::string>{"a.json"}));
}

TEST_F(AtomicFile, OnAFullDiskTheOldOneStays) {
  write_file_atomically(folder_ / "a.json", "old");
  // A limit on the size of files stands for the disk's end.
  struct rlimit before {};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 1000, before.rlim_max };
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message;
  try {
    write_file_atomically(folder_ / "a.json", std::string(3000, 'x'));
  } catch (const UserError& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(message, fmt::format("cannot write {}: File too large (see 'ulimit -f')", (folder_ / "a.json").string()));
  EXPECT_EQ(content_of(folder_ / "a.json"), "old");
  EXPECT_EQ(files(), (std::vector<std::string>{"a.json"}));
}

TEST_F(AtomicFile, ALinkStaysAndItsTargetIsReplaced) {
  write_file(folder_ / "target", "old");
  fs::create_symlink("target", folder_ / "link");
  fs::create_symlink("link", folder_ / "link of a link");
  write_file_atomically(folder_ / "link of a link", "new");
  EXPECT_EQ(content_of(folder_ / "target"), "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link") && fs::is_symlink(folder_ / "link of a link"));
  EXPECT_FALSE(fs::is_symlink(folder_ / "target"));
  EXPECT_EQ(files().size(), 3U);
}

TEST_F(AtomicFile, ALinkToNothingIsRefused) {
  fs::create_symlink("nothing", folder_ / "link");
  fs::create_symlink("itself", folder_ / "itself");
  expect_error<UserError>([&] { write_file_atomically(folder_ / "link", "new"); }, {"link", "a link to nothing"});
  expect_error<UserError>([&] { write_file_atomically(folder_ / "itself", "new"); },
                          {"cannot write", "symbolic links"});
  EXPECT_EQ(files(), (std::vector<std::string>{"itself", "link"}));
}

TEST_F(AtomicFile, KeepsTheModeOfWhatItReplaces) {
  write_file(folder_ / "a.json", "old");
  const auto mode = fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read;
  fs::permissions(folder_ / "a.json", mode);
  write_file_atomically(folder_ / "a.json", "new");
  EXPECT_EQ(fs::status(folder_ / "a.json").permissions(), mode);
}

TEST_F(AtomicFile, WritesToADeviceAndNotInItsPlace) {
  write_file_atomically("/dev/null", "nothing");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  expect_error<UserError>([&] { write_file_atomically(folder_, "nothing"); }, {"cannot write", "Is a directory"});
}

TEST_F(AtomicFile, TakesALongName) {
  const std::string name(255, 'n');
  write_file_atomically(folder_ / name, "old");
  write_file_atomically(folder_ / name, "new");
  EXPECT_EQ(content_of(folder_ / name), "new");
}

TEST_F(AtomicFile, IsCreatedWhereNothingIsAndNowhereElse) {
  create_file_atomically(folder_ / "a.json", "first");
  fs::create_symlink("nothing", folder_ / "link");
  for (const char* name : {"a.json", "link"}) {
    expect_error<FileIsThere>([&] { create_file_atomically(folder_ / name, "second"); }, {name, "already exists"});
  }
  EXPECT_EQ(content_of(folder_ / "a.json"), "first");
  EXPECT_EQ(files(), (std::vector<std::string>{"a.json", "link"}));
}

TEST_F(AtomicFile, WhatAKilledWriterLeftIsRemovedAndNothingElse) {
  for (const char* name : {".a.json.0123456789abcdef.partial", ".a.json.0123.partial",
                           ".b.json.0123456789abcdef.partial", ".a.json.0123456789abcdeg.partial", "a.json"}) {
    write_file(folder_ / name, "x");
  }
  remove_unfinished_files(folder_ / "a.json");
  EXPECT_EQ(files(), (std::vector<std::string>{".a.json.0123.partial", ".a.json.0123456789abcdeg.partial",
                                               ".b.json.0123456789abcdef.partial", "a.json"}));
}

using LockedFolder = RecordFolder;

TEST_F(LockedFolder, IsRefusedUntilTheOtherLetsGo) {
  {
    const FolderLock first(folder_, WhileLocked::refuse);
    expect_error<UserError>([&] { FolderLock(folder_, WhileLocked::refuse); }, {"another convladder", "--output"});
  }
  const FolderLock again(folder_, WhileLocked::refuse);
  EXPECT_TRUE(files().empty());
}

TEST_F(LockedFolder, OfALinkIsThatOfWhatItNames) {
  fs::create_directory(folder_ / "a");
  fs::create_directory(folder_ / "b");
  write_file(folder_ / "a/run.json", "");
  fs::create_symlink("../a/run.json", folder_ / "b/run.json");
  const FolderLock first = FolderLock::of_file(folder_ / "a/run.json", WhileLocked::refuse);
  expect_error<UserError>([&] { FolderLock::of_file(folder_ / "b/run.json", WhileLocked::refuse); },
                          {"another convladder"});
  const FolderLock other = FolderLock::of_file(folder_ / "b/new.json", WhileLocked::refuse);
}

TEST_F(LockedFolder, ThatIsNotThereIsAnError) {
  expect_error<UserError>([&] { FolderLock(folder_ / "nowhere", WhileLocked::wait); },
                          {"cannot open the folder", "No such file"});
}

TEST_F(AtomicFile, WhereNothingCanBeWrittenItSaysSo) {
  write_file(folder_ / "file", "not a folder");
  expect_error<UserError>([&] { write_file_atomically(folder_ / "file" / "a.json", "new"); },
                          {"cannot write", "a.json", "Not a directory"});
  expect_error<UserError>([&] { write_file_atomically(folder_ / "missing" / "a.json", "new"); },
                          {"cannot write", "No such file"});
}

TEST_F(AtomicFile, InAReadOnlyFolderTheOldOneStays) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write into every folder";
  write_file_atomically(folder_ / "a.json", "old");
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  expect_error<UserError>([&] { write_file_atomically(folder_ / "a.json", "new"); },
                          {"cannot write", "Permission denied"});
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_EQ(content_of(folder_ / "a.json"), "old");
}

class Record : public RecordFolder {
 protected:
  Record() : images_(synthetic_images(3, 1)) {
    options_.networks = {"lenet28"};
    options_.devices = {"cpu"};
    options_.variants = {"memory-accumulation", "local-accumulation", "cached-tile"};
    options_.batches = {1, 2};
    plan_ = make_plan(options_);
  }

  RecordContent content() const { return RunRecord::content(options_, {"convladder", "run"}, plan_, images_); }
  RunRecord create() const { return RunRecord(convladder::Record::create(folder_, kRunKind, content())); }
  convladder::Record opened() const { return convladder::Record::open(folder_, kRunKind, RunRecord::check); }
  /// Opened and gone on with.
  RunRecord resumed() const {
    convladder::Record record = opened();
    record.go_on(content());
    return RunRecord(std::move(record));
  }
  ordered_json on_disk() const { return ordered_json::parse(content_of(folder_ / "run.json")); }
  /// Creates a run and changes what is on the disk.
  template <typename Change>
  void create_changed(const Change& change) const {
    create();
    ordered_json json = on_disk();
    change(json);
    write_file(folder_ / "run.json", json.dump());
  }
  static CaseOutcome timed(double nanoseconds) {
    CaseOutcome outcome;
    outcome.times = {{time_of::kLayer, "", 1, std::vector<double>(6, nanoseconds)}};
    outcome.stopped_because = "samples";
    return outcome;
  }
  static std::vector<std::string> ids(const ordered_json& cases) {
    std::vector<std::string> list;
    for (const ordered_json& one_case : cases) list.push_back(one_case.at("id"));
    return list;
  }
  std::vector<std::string> planned_ids() const {
    std::vector<std::string> list;
    for (const CaseGroup& group : plan_) {
      for (const PlannedCase& planned : group.cases) list.push_back(planned.id);
    }
    return list;
  }

  ImageSet images_;
  RunOptions options_;
  std::vector<CaseGroup> plan_;
};

TEST_F(Record, OfANewRunIsOnTheDiskAtOnce) {
  fs::remove_all(folder_);
  folder_ /= "made/on/the/way";
  const RunRecord record = create();
  EXPECT_EQ(record.file(), folder_ / "run.json");
  EXPECT_EQ(files(), (std::vector<std::string>{"run.json"}));
  const ordered_json json = on_disk();
  EXPECT_EQ(json, record.json());
  EXPECT_EQ(json.at("schema_version"), kRunSchemaVersion);
  EXPECT_EQ(json.at("complete"), false);
  EXPECT_EQ(json.at("planned").get<std::vector<std::string>>(), planned_ids());
  EXPECT_TRUE(json.at("cases").empty());
  ASSERT_EQ(json.at("variants").size(), 3U) << "those that appear in the plan";
  EXPECT_EQ(json.at("variants")[0].at("name"), "memory-accumulation");
  const ordered_json& context = json.at("context");
  EXPECT_EQ(context.at("command_line"), ordered_json::parse(R"(["convladder", "run"])"));
  EXPECT_EQ(context.at("dataset").at("name"), images_.name);
  EXPECT_EQ(context.at("dataset").at("sha256"), images_.sha256);
  EXPECT_EQ(context.at("options"), options_json(options_));
  EXPECT_EQ(context.at("sessions").size(), 1U);
  fs::remove_all(folder_.parent_path().parent_path().parent_path());
}

TEST_F(Record, AddsEveryCaseAtOnceAndSortsThemAtTheEnd) {
  RunRecord record = create();
  std::vector<std::string> added;
  for (const CaseGroup& group : {plan_[1], plan_[0]}) {
    for (const std::size_t i : {2U, 0U, 1U}) {
      const PlannedCase& planned = group.cases[i];
      EXPECT_FALSE(record.has(planned.id));
      record.add(planned, timed(100.0 * static_cast<double>(i + 1)));
      EXPECT_TRUE(record.has(planned.id));
      added.push_back(planned.id);
      EXPECT_EQ(ids(on_disk().at("cases")), added);
      EXPECT_EQ(on_disk().at("complete"), false);
    }
  }
  record.complete();
  EXPECT_EQ(on_disk().at("complete"), true);
  EXPECT_EQ(ids(on_disk().at("cases")), planned_ids());
  EXPECT_EQ(on_disk().at("cases")[2].at("time").at("median"), 300.0);
  ASSERT_EQ(on_disk().at("ladders").size(), 2U);
  EXPECT_EQ(on_disk().at("ladders")[0].at("rows")[1].at("x_previous").at("value"), 0.5);
}

/// As it is read from the record: a comparison needs no single kernels.
RecordedCase as_read(RecordedCase one) {
  if (one.counters)
    one.counters =
        CaseCounters{one.counters->images_executed, 0, true, one.counters->totals, one.counters->modelled, {}, {}, {}};
  return one;
}

TEST_F(Record, HasTheFiguresThatAreReadFromItLater) {
  options_.families = {"cuda"};
  options_.devices = {"simulated"};
  options_.variants = {"shared-memory"};
  plan_ = make_plan(options_);
  RunRecord record = create();
  CaseOutcome counted;
  counted.verification = Verification{.reference = "float64", .tolerance = 2e-6};
  counted.choice = "a\nchoice";
  const std::vector<KernelLaunch> launches =
      plan_[0].cases[0].variant.variant->launch_plan(plan_[0].cases[0].work.shape);
  KernelCounters kernel{.kernel = kernel_display_name(launches.at(0).kernel),
                        .grid = launches.at(0).grid,
                        .block = launches.at(0).block,
                        .values = {{"smsp__inst_executed.sum", 1e6},
                                   {"smsp__thread_inst_executed_pred_on.sum", 3e7},
                                   {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1e5}},
                        .modelled = {{"dram__bytes_read.sum", 1e6}}};
  counted.counters = case_counters({kernel, kernel}, 1);
  CaseOutcome measured = timed(100);
  measured.times[0].samples = {100, 103, 99, 105, 101, 98, 100};
  measured.times.push_back({time_of::kOp, time_of::kCold, 3, {50, 51}});
  measured.prepare_ns = 7;
  measured.quality = judge_quality({.samples = measured.times[0].samples, .threads = 1, .load = {}, .anchors = {}});
  CaseOutcome failed;
  failed.status = Status::incorrect;
  failed.reason = "image 0\x1b is wrong";
  record.add(plan_[0].cases[0], counted);
  record.add(plan_[1].cases[0], plan_.size() > 1 ? measured : failed);
  const std::vector<RecordedCase>& now = record.figures().cases;
  const RunFigures later = run_figures(on_disk(), "run.json");
  ASSERT_EQ(now.size(), 2U);
  EXPECT_FALSE(now[0].predictions.empty());
  EXPECT_EQ(now[1].other_times.size(), 2U);
  for (std::size_t i = 0; i < now.size(); ++i) {
    EXPECT_EQ(as_read(now[i]), as_read(later.cases.at(i))) << now[i].id;
  }
  EXPECT_EQ(as_read(recorded_case(plan_[0].cases[0], failed)).reason,
            as_read(read_whole_case(JsonPlace(case_json(plan_[0].cases[0], failed), "case"))).reason);
}

TEST_F(Record, ANewRunDoesNotTouchAnOldOne) {
  create();
  const std::string before = content_of(folder_ / "run.json");
  expect_error<UserError>([&] { create(); }, {"run.json already exists", "--resume", "--output"});
  EXPECT_EQ(content_of(folder_ / "run.json"), before);
}

TEST_F(Record, AFolderThatCannotBeMadeIsNamed) {
  write_file(folder_ / "file", "");
  expect_error<UserError>([&] { convladder::Record::create(folder_ / "file" / "run", kRunKind, content()); },
                          {"cannot create the folder", "file/run", "Not a directory"});
}

TEST_F(Record, GoesOnWhereItWasInterrupted) {
  {
    RunRecord record = create();
    record.add(plan_[0].cases[1], timed(200));
  }
  {
    const convladder::Record record = opened();
    EXPECT_TRUE(record.has(plan_[0].cases[1].id));
    EXPECT_FALSE(record.has(plan_[0].cases[0].id));
    EXPECT_EQ(options_json(read_run_options(record.options())), options_json(options_));
  }
  RunRecord record = resumed();
  EXPECT_EQ(on_disk().at("context").at("sessions").size(), 2U);
  record.add(plan_[0].cases[0], timed(800));
  EXPECT_EQ(on_disk().at("cases")[0].at("session"), 0);
  EXPECT_EQ(on_disk().at("cases")[1].at("session"), 1);
  EXPECT_EQ(on_disk().at("cases")[0].at("time").at("median"), 200.0) << "what was measured stays as it is";
}

TEST_F(Record, OfAnInterruptedRunHasTheLaddersOfItsCasesUntilThereIsAnother) {
  {
    RunRecord record = create();
    for (const std::size_t i : {1U, 0U}) record.add(plan_[0].cases[i], timed(100.0 * static_cast<double>(i + 1)));
    record.derive();
  }
  EXPECT_EQ(on_disk().at("complete"), false);
  ASSERT_EQ(on_disk().at("ladders").size(), 1U);
  EXPECT_EQ(on_disk().at("ladders")[0].at("rows").size(), 2U);
  EXPECT_EQ(on_disk().at("ladders")[0].at("rows")[1].at("x_previous").at("value"), 0.5);
  RunRecord record = resumed();
  EXPECT_EQ(on_disk().at("ladders").size(), 1U) << "they are still those of its cases";
  record.add(plan_[0].cases[2], timed(300));
  EXPECT_TRUE(on_disk().at("ladders").empty());
  for (const PlannedCase& planned : plan_[1].cases) record.add(planned, timed(100));
  record.complete();
  EXPECT_EQ(on_disk().at("ladders").size(), 2U);
  EXPECT_EQ(ids(on_disk().at("cases")), planned_ids());
}

TEST_F(Record, WhoseFieldsSomebodyReorderedLosesNone) {
  create().add(plan_[0].cases[0], timed(100));
  ordered_json reordered{{"cases", on_disk().at("cases")}};
  reordered.update(on_disk());
  write_file(folder_ / "run.json", reordered.dump());
  resumed().add(plan_[0].cases[1], timed(200));
  const ordered_json after = on_disk();
  for (const auto& [name, value] : reordered.items()) EXPECT_TRUE(after.contains(name)) << name;
  EXPECT_EQ(after.at("cases").size(), 2U);
  EXPECT_EQ(after.at("context").at("sessions").size(), 2U);
}

TEST_F(Record, RefusesToGoOnWithSomethingElse) {
  create();
  const std::string before = content_of(folder_ / "run.json");
  convladder::Record record = opened();
  RecordContent other = content();
  other.dataset = record_part(dataset_json(synthetic_images(3, 2)));
  expect_error<UserError>([&] { record.go_on(other); }, {"cannot resume", "the data differs"});
  other = content();
  other.planned.pop_back();
  expect_error<UserError>([&] { record.go_on(other); }, {"cannot resume", "the plan differs"});
  other = content();
  ordered_json fields = *other.fields;
  fields["variants"][1]["title"] = "another";
  other.fields = record_part(std::move(fields));
  expect_error<UserError>([&] { record.go_on(other); }, {"cannot resume", "'variants' differs (1.title", "another"});
  EXPECT_EQ(content_of(folder_ / "run.json"), before);
}

TEST_F(Record, RefusesToGoOnElsewhere) {
  const auto refused = [&](const char* object, const char* field, std::string_view part) {
    fs::remove(folder_ / "run.json");
    create_changed([&](ordered_json& json) { json["context"][object][field] = "another"; });
    expect_error<UserError>([&] { resumed(); }, {"cannot resume", part, "differs", "another"});
  };
  refused("program", "commit", "the program");
  refused("host", "name", "the host");
  refused("cpu", "model", "the processor");
}

TEST_F(Record, OfAnotherCommandNamesIt) {
  create();
  expect_error<UserError>([&] { convladder::Record::open(folder_, kSweepKind); },
                          {"holds no sweep.json but a run.json", "'convladder run --resume"});
  fs::rename(folder_ / "run.json", folder_ / "network.json");
  expect_error<UserError>([&] { convladder::Record::open(folder_, kNetworkKind); },
                          {"network.json: not a network of convladder"});
}

TEST_F(Record, OfAnotherSchemaIsRefused) {
  create_changed([](ordered_json& json) { json["schema_version"] = "2.0"; });
  expect_error<UserError>([&] { opened(); }, {"run.json: schema_version: expected \"1.1\", found \"2.0\""});
}

TEST_F(Record, CutOffGoesOnBehindItsLastWholeCaseAndIsRefusedWithoutABeginning) {
  create().add(plan_[0].cases[0], timed(100));
  const std::string whole = content_of(folder_ / "run.json");
  const std::size_t cases = whole.find("\"cases\": [") + 10;
  for (std::size_t bytes = 0; bytes < cases; bytes += std::max<std::size_t>(1, cases / 41)) {
    write_file(folder_ / "run.json", whole.substr(0, bytes));
    expect_error<UserError>([&] { opened(); }, {"run.json: byte " + std::to_string(bytes + 1), "not valid JSON"});
  }
  for (const std::size_t bytes : {cases, whole.find("ceilings") + 3}) {
    write_file(folder_ / "run.json", whole.substr(0, bytes));
    testing::internal::CaptureStderr();
    RunRecord record = resumed();
    EXPECT_NE(testing::internal::GetCapturedStderr().find("cut off"), std::string::npos);
    EXPECT_EQ(record.has(plan_[0].cases[0].id), bytes > cases);
    record.add(plan_[0].cases[1], timed(200));
    EXPECT_EQ(on_disk().at("cases").size(), bytes > cases ? 2U : 1U);
  }
}

TEST_F(Record, ThatIsNoneIsRefused) {
  expect_error<UserError>([&] { opened(); }, {"cannot read", "run.json", "No such file"});
  for (const char* text : {"[]", "3", "{}", R"({"schema_version": "1.0"})"}) {
    write_file(folder_ / "run.json", text);
    expect_error<UserError>([&] { opened(); }, {"run.json: ", "expected"});
  }
  write_file(folder_ / "run.json",
             R"({"schema_version": "1.1", "kind": "run", "context": {}, "variants": [], "planned": [],
                                       "cases": [3], "complete": false})");
  expect_error<UserError>([&] { opened(); }, {"run.json: cases[0]: expected an object"});
  fs::remove(folder_ / "run.json");
  fs::create_directory(folder_ / "run.json");
  expect_error<UserError>([&] { opened(); }, {"cannot be read", "run.json", "Is a directory"});
}

TEST_F(Record, WithDamagedOptionsNamesTheField) {
  create_changed([](ordered_json& json) { json["context"]["options"]["max_samples"] = "many"; });
  const convladder::Record record = opened();
  expect_error<UserError>([&] { static_cast<void>(read_run_options(record.options())); },
                          {"run.json", "context: options: max_samples"});
}

TEST_F(Record, WithADamagedCaseIsRefused) {
  create_changed([](ordered_json& json) { json["cases"] = ordered_json::array({{{"id", "cpu/x"}}}); });
  expect_error<UserError>([&] { opened(); }, {"run.json", "cases[0]"});
}

TEST_F(Record, IsReadableWhateverBytesANameHas) {
  images_.source = "name \xff\xfe of no encoding";
  create();
  EXPECT_EQ(on_disk().at("schema_version"), kRunSchemaVersion);
}

TEST_F(Record, OfACompleteRunIsLeftAloneWhenResumed) {
  {
    RunRecord record = create();
    for (const CaseGroup& group : plan_) {
      for (const PlannedCase& planned : group.cases) record.add(planned, timed(100));
    }
    record.complete();
  }
  const std::string before = content_of(folder_ / "run.json");
  resumed().complete();
  EXPECT_EQ(content_of(folder_ / "run.json"), before);
}

TEST_F(Record, ACaseWithoutATimeKeepsItsReason) {
  RunRecord record = create();
  CaseOutcome outcome;
  outcome.status = Status::crashed;
  outcome.reason = "ended by signal 11";
  record.add(plan_[0].cases[0], outcome);
  const ordered_json one_case = on_disk().at("cases")[0];
  EXPECT_EQ(one_case.at("status"), "crashed");
  EXPECT_EQ(one_case.at("reason"), "ended by signal 11");
  EXPECT_TRUE(one_case.at("time").is_null());
}

}  // namespace
}  // namespace convladder
