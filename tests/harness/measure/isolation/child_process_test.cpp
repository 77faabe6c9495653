// A process with foreign code: what it does there, and what becomes of it. Each is a script that answers over its
// socket.
#include "harness/measure/isolation/child_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <variant>

#include "support/errors.hpp"
#include "temporary_folder.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;

class ForeignProcess : public testing::Test {
 protected:
  /// `answer`: what a shell does with each request. Its first line is the hello.
  std::unique_ptr<ChildProcess> start(const std::string& answer, Trust trust = Trust::foreign,
                                      double timeout_seconds = 20) {
    const std::string script = folder_.path() / "script";
    std::ofstream(script) << "#!/bin/sh\nread hello <&3\nwhile read request <&3; do\n"
                          << "nonce=${request##*:}; nonce=${nonce%?}\n"
                          << answer << "\ndone\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    return std::make_unique<ChildProcess>(
        ProcessStart{
            .what = "case", .command = "serve", .timeout_seconds = timeout_seconds, .program = script, .trust = trust},
        "{}");
  }
  static std::variant<Ending, std::string> ask(ChildProcess& process) {
    return process.ask({.name = "call", .text = R"({"do":"call"})"});
  }
  static ordered_json answer_of(ChildProcess& process) {
    return ordered_json::parse(std::get<std::string>(ask(process)));
  }
  static Ending ending_of(ChildProcess& process) { return std::get<Ending>(ask(process)); }

  TemporaryFolder folder_;
};

/// "T" for a process that is stopped.
std::string state_of(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string number;
  std::string name;
  std::string state;
  stat >> number >> name >> state;
  return state;
}

TEST_F(ForeignProcess, AnswersAndIsStoppedInBetween) {
  const auto process = start("echo \"{\\\"nonce\\\":$nonce, \\\"process\\\": $$}\" >&3");
  for (int i = 0; i < 3; ++i) {
    const auto number = answer_of(*process).at("process").get<pid_t>();
    EXPECT_EQ(state_of(number), "T");
  }
}

/// An answer to the request, as the shell writes it.
const std::string kAnswer = "echo \"{\\\"nonce\\\":$nonce, \\\"ns\\\": 1}\" >&3";

TEST_F(ForeignProcess, IsRefusedWhereItAnswersTwice) {
  // The second may have come with the first, or be on its way while the process is stopped.
  for (const std::string between : {"; ", "; i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done; "}) {
    const auto process = start(kAnswer + between + kAnswer);
    EXPECT_EQ(answer_of(*process).at("ns"), 1);
    const Ending second = ending_of(*process);
    EXPECT_EQ(second.status, Status::refused) << second.reason;
    EXPECT_EQ(second.reason, "it answers what it was not asked");
    EXPECT_EQ(ending_of(*process).status, Status::crashed);
  }
}

TEST_F(ForeignProcess, IsRefusedWhereItsAnswerIsToAnotherRequest) {
  for (const std::string answer : {"echo '{\"ns\": 1}' >&3", "echo '{\"ns\": 1, \"nonce\": 5}' >&3", "echo '[]' >&3"}) {
    EXPECT_EQ(ending_of(*start(answer)).status, Status::refused) << answer;
  }
  EXPECT_EQ(answer_of(*start(kAnswer)).value("ns", 0), 1);
}

TEST_F(ForeignProcess, IsRefusedWhereItStartsOthersAndTheseEnd) {
  for (const std::string how : {"sleep 1000 & number=$!", "setsid sleep 1000 & number=$!",
                                "number=$(setsid sh -c 'sleep 1000 > /dev/null 2>&1 & echo $!')"}) {
    const auto process = start(how + "; echo $number > " + (folder_.path() / "number").string() + "; " + kAnswer);
    const Ending ending = ending_of(*process);
    EXPECT_EQ(ending.status, Status::refused) << how;
    EXPECT_THAT(ending.reason, HasSubstr("other processes"));
    pid_t number = 0;
    std::ifstream(folder_.path() / "number") >> number;
    ASSERT_GT(number, 0) << how;
    for (int i = 0; i < 200 && kill(number, 0) == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_NE(kill(number, 0), 0) << how;
  }
}

TEST_F(ForeignProcess, CannotBlameTheMachine) {
  const std::string kills_itself = "kill -KILL $$";
  EXPECT_THROW(ask(*start(kills_itself, Trust::own)), MachineFault);
  // The code of a stage cannot send itself such a signal (tests/support/confinement).
  EXPECT_EQ(ending_of(*start(kills_itself)).status, Status::not_judged);
  EXPECT_EQ(ending_of(*start("kill -ABRT $$")).status, Status::crashed);

  const std::string says_so =
      "echo \"{\\\"status\\\": \\\"machine fault\\\", \\\"reason\\\": \\\"none\\\", \\\"nonce\\\": $nonce}\" >&3";
  EXPECT_THROW(ask(*start("nonce=0; " + says_so, Trust::own)), MachineFault);
  EXPECT_EQ(ending_of(*start(says_so)).status, Status::crashed);

  const std::string last_words = "echo 'libgomp: Thread creation failed' >&2; exit 1";
  EXPECT_THROW(ask(*start(last_words, Trust::own)), MachineFault);
  EXPECT_THAT(ending_of(*start(last_words)).reason, HasSubstr("exit code 1"));
}

TEST_F(ForeignProcess, CannotFillOurMemoryWithAMessage) {
  EXPECT_EQ(ending_of(*start("exec yes yes yes yes >&3")).status, Status::crashed);
}

TEST_F(ForeignProcess, ThatLeavesInTheMiddleIsSeen) {
  EXPECT_THAT(ending_of(*start("exit 0")).reason, HasSubstr("exit code 0 before it answered"));
  EXPECT_THAT(ending_of(*start("exec 3>&-; while :; do :; done")).reason, HasSubstr("shut its socket"));
  EXPECT_EQ(ending_of(*start("sleep 1000", Trust::foreign, 0.2)).status, Status::timeout);
}

}  // namespace
}  // namespace convladder
