#include "harness/judge/serving/verdict.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace convladder {
namespace {

CaseOutcome ended(Status status) {
  CaseOutcome outcome;
  outcome.status = status;
  return outcome;
}

simulated::Finding finding(simulated::Checker checker, simulated::Severity severity = simulated::Severity::finding) {
  simulated::Finding found;
  found.checker = checker;
  found.severity = severity;
  return found;
}

TEST(VerdictTest, PlacesOfCompilersAreRead) {
  StageBuild build;
  build.error = "solve.cpp:3:5: error: no";
  build.messages =
      "In file included from <command-line>:\n"
      "solve.cpp: In function 'void solve()':\n"
      "solve.cpp:3:5: error: 'flaot' was not declared\n"
      "solve.cpp:3:5: error: 'flaot' was not declared\n"
      "solve.cpp:4:1: warning: unused\n"
      "/usr/include/x.h(17): error: expected a \";\"\n"
      "ld: undefined reference to `f'\n";
  const std::vector<VerdictFinding> found = compiler_findings(build);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].file, "solve.cpp");
  EXPECT_EQ(found[0].line, 3);
  EXPECT_EQ(found[1].file, "x.h");
  EXPECT_EQ(found[1].line, 17);
  EXPECT_EQ(found[2].file, "");
  EXPECT_EQ(found[2].line, 0);
}

TEST(VerdictTest, AnErrorWithoutMessagesIsAFinding) {
  StageBuild build;
  build.error = "solve.cu:2: unknown word '@tilte'";
  const std::vector<VerdictFinding> found = compiler_findings(build);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, "compiler");
  EXPECT_EQ(found[0].line, 2);
}

TEST(VerdictTest, MessagesWithoutEndGiveFewFindings) {
  StageBuild build;
  for (int i = 0; i < 1000; ++i) build.messages += "solve.cpp:" + std::to_string(i + 1) + ":1: error: no\n";
  EXPECT_EQ(compiler_findings(build).size(), 20U);
}

TEST(VerdictTest, AFindingExplainsAFailure) {
  using simulated::Checker;
  for (const Status status : {Status::unsafe, Status::incorrect, Status::launch_failed, Status::crashed}) {
    EXPECT_EQ(verdict_of(ended(status), {finding(Checker::race)}), VerdictStatus::race);
    EXPECT_EQ(verdict_of(ended(status), {finding(Checker::memory)}), VerdictStatus::memory);
    EXPECT_EQ(verdict_of(ended(status), {finding(Checker::initialization)}), VerdictStatus::memory);
    EXPECT_EQ(verdict_of(ended(status), {finding(Checker::synchronization)}), VerdictStatus::synchronization);
  }
  EXPECT_EQ(verdict_of(ended(Status::refused), {finding(Checker::race)}), VerdictStatus::cheat);
  EXPECT_EQ(verdict_of(ended(Status::ok), {finding(Checker::race, simulated::Severity::note)}), VerdictStatus::ok);
  EXPECT_EQ(verdict_of(ended(Status::incorrect), {finding(Checker::race, simulated::Severity::note)}),
            VerdictStatus::wrong);
}

TEST(VerdictTest, EveryStatusOfACaseHasAVerdict) {
  EXPECT_EQ(verdict_of(ended(Status::ok), {}), VerdictStatus::ok);
  EXPECT_EQ(verdict_of(ended(Status::incorrect), {}), VerdictStatus::wrong);
  EXPECT_EQ(verdict_of(ended(Status::timeout), {}), VerdictStatus::timeout);
  EXPECT_EQ(verdict_of(ended(Status::crashed), {}), VerdictStatus::crashed);
  EXPECT_EQ(verdict_of(ended(Status::not_judged), {}), VerdictStatus::not_judged);
  CaseOutcome beyond = ended(Status::incorrect);
  beyond.is_memory_violation = true;
  EXPECT_EQ(verdict_of(beyond, {}), VerdictStatus::memory);
}

}  // namespace
}  // namespace convladder
