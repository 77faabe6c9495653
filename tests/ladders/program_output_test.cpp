#include "ladders/program_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "ladders/compiler_settings.hpp"
#include "ladders/compilers.hpp"
#include "support/errors.hpp"
#include "temporary_folder.hpp"

namespace convladder {
namespace {

using testing::HasSubstr;
using testing::Not;

ProgramOutput shell(const std::string& text, const ProgramSettings& settings = {}) {
  return run_program({"/bin/sh", "-c", text}, settings);
}

TEST(ProgramOutput, HoldsBothStreamsAndTheStatus) {
  const ProgramOutput output = shell("echo said; echo complained >&2; cat; exit 3");
  EXPECT_EQ(output.text, "said\n");
  EXPECT_EQ(output.messages, "complained\n");
  EXPECT_EQ(WEXITSTATUS(output.status), 3);
  EXPECT_FALSE(output.succeeded());
  EXPECT_TRUE(shell("true").succeeded());
  EXPECT_EQ(WTERMSIG(shell("kill -SEGV $$").status), SIGSEGV);
}

TEST(ProgramOutput, WhatCannotBeStartedIsSaid) {
  EXPECT_THROW(run_program({"/no/such/program"}), UserError);
  EXPECT_THROW(run_program({"/bin/true"}, {.folder = "/no/such/folder"}), UserError);
}

TEST(ProgramOutput, FolderAndEnvironmentAreTheOnesAskedFor) {
  const TemporaryFolder folder;
  const ProgramOutput output =
      shell("pwd; echo $WORD; echo $HOME", {.folder = folder.path(), .environment = {{"WORD=spoken"}}});
  EXPECT_EQ(output.text, std::filesystem::canonical(folder.path()).string() + "\nspoken\n\n");
}

TEST(ProgramOutput, WhatTakesTooLongIsKilledWithAllThatItStarted) {
  const ProgramOutput output = shell("echo begun; sleep 1000 & sleep 1000", {.seconds = 0.2});
  EXPECT_TRUE(output.timed_out);
  EXPECT_FALSE(output.succeeded());
  EXPECT_EQ(output.text, "begun\n");
}

TEST(ProgramOutput, WhatShutsItsStreamsIsStillTimed) {
  EXPECT_TRUE(shell("exec >&- 2>&-; sleep 1000", {.seconds = 0.2}).timed_out);
}

/// Whether a process of that number is there.
bool is_alive(const std::string& number) { return kill(std::stoi(number), 0) == 0; }

TEST(ProgramOutput, NothingThatItStartedGoesOn) {
  // In the same group, in another session, and as the child of one that has ended.
  const ProgramOutput output = shell(
      "sleep 1000 > /dev/null 2>&1 & echo $!; setsid sleep 1000 > /dev/null 2>&1 & echo $!;"
      "(setsid sh -c 'sleep 1000 > /dev/null 2>&1 & echo $!')");
  EXPECT_EQ(output.left_processes, 3);
  std::istringstream numbers(output.text);
  int count = 0;
  for (std::string number; numbers >> number; ++count) EXPECT_FALSE(is_alive(number)) << number;
  EXPECT_EQ(count, 3);
  EXPECT_EQ(shell("sleep 0 & wait").left_processes, 0);
}

TEST(ProgramOutput, AConfinedProgramSaysWhatHolds) {
  if (!SystemCallFilter::missing().empty()) GTEST_SKIP() << SystemCallFilter::missing();
  ConfinementWish wish;
  wish.files.start = {"/usr", "/bin", "/lib", "/lib64"};
  wish.calls.may_start_programs = true;
  const ProgramOutput output = shell("echo said; ls /", {.confinement = wish});
  EXPECT_THAT(output.confinement.holds, testing::Contains("no other processes"));
  EXPECT_EQ(output.text, "said\n");
  EXPECT_THAT(output.messages, HasSubstr("fork"));
}

class ConfinedCompiler : public testing::Test {
 protected:
  ConfinedCompiler() : compiler_(on_the_path("g++")) {
    std::filesystem::create_directories(folder_.path() / "ladder");
    std::filesystem::create_directories(folder_.path() / "scratch");
    std::ofstream(folder_.path() / "secret.txt") << "the secret words\n";
    std::ofstream(folder_.path() / "ladder/factor.hpp") << "#define FACTOR 2\n";
  }
  void SetUp() override {
    if (compiler_.empty()) GTEST_SKIP() << "no g++";
    if (!FileRules({}).missing().empty()) GTEST_SKIP() << FileRules({}).missing();
  }
  ProgramOutput compile(const std::string& text, const std::vector<std::string>& more = {},
                        std::optional<double> seconds = {}) {
    const std::filesystem::path source = folder_.path() / "ladder/01_stage.cpp";
    std::ofstream(source) << text;
    std::vector<std::string> words{compiler_, "-shared", "-fPIC", "-fopenmp", "-march=native", "-o", library(), source};
    words.insert(words.end(), more.begin(), more.end());
    ProgramSettings settings = compiler_settings(compiler_, {folder_.path() / "ladder"}, folder_.path() / "scratch");
    if (seconds) settings.seconds = seconds;
    return run_program(words, settings);
  }
  std::string library() const { return folder_.path() / "scratch/stage.so"; }

  TemporaryFolder folder_;
  std::string compiler_;
};

TEST_F(ConfinedCompiler, CompilesWhatIncludesHeadersOfTheMachineAndOfTheFolder) {
  const ProgramOutput output = compile(
      "#include \"factor.hpp\"\n#include <vector>\n#include <omp.h>\n"
      "extern \"C\" int solve() { return FACTOR * static_cast<int>(std::vector<int>(3).size()); }\n");
  EXPECT_TRUE(output.succeeded()) << output.messages;
  EXPECT_THAT(output.confinement.holds, testing::Contains("files: named ones only"));
  EXPECT_TRUE(std::filesystem::exists(library()));
  EXPECT_EQ(output.left_processes, 0);
}

TEST_F(ConfinedCompiler, TellsNothingOfOtherFiles) {
  const std::string secret = folder_.path() / "secret.txt";
  for (const std::string& text : {"#include \"" + secret + "\"\n", "asm(\".include \\\"" + secret + "\\\"\");\n",
                                  "asm(\".incbin \\\"" + secret + "\\\"\");\n"}) {
    const ProgramOutput output = compile(text);
    EXPECT_FALSE(output.succeeded()) << text;
    EXPECT_THAT(output.messages, Not(HasSubstr("secret words")));
  }
  EXPECT_THAT(compile("#include \"/etc/passwd\"\n").messages, Not(HasSubstr("root:")));
  EXPECT_FALSE(compile("#include \"/proc/self/environ\"\n").succeeded());
}

TEST_F(ConfinedCompiler, WritesToItsOwnFolderOnly) {
  const std::string elsewhere = folder_.path() / "ladder/elsewhere.so";
  EXPECT_FALSE(compile("int one;\n", {"-o", elsewhere}).succeeded());
  EXPECT_FALSE(std::filesystem::exists(elsewhere));
}

TEST_F(ConfinedCompiler, EndsWhereItWouldCompileForEver) {
  // Some 2^60 different templates.
  const ProgramOutput output = compile(
      "template <int D, long N> struct Two { static constexpr long value = Two<D - 1, 2 * N>::value + "
      "Two<D - 1, 2 * N + 1>::value; };\ntemplate <long N> struct Two<0, N> { static constexpr long value = N; };\n"
      "long value = Two<60, 0>::value;\n",
      {}, 0.5);
  EXPECT_TRUE(output.timed_out);
}

}  // namespace
}  // namespace convladder
