#include "harness/judge/duel/programs/told_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/duel/programs/benchmark_program.hpp"
#include "harness/judge/duel/programs/command_words.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CommandWords, AreTakenApartAsAShellWould) {
  EXPECT_THAT(command_words("--x", R"(a  'b c' "d e"f g\ h '' "x\"y")").words,
              ElementsAre("a", "b c", "d ef", "g h", "", "x\"y"));
  EXPECT_FALSE(command_words("--x", R"(bench '--filter=^a|b$' "it's")").has_shell);
}

TEST(CommandWords, LeaveToTheShellWhatOnlyItCanDo) {
  for (const char* const command :
       {"a | b", "a > f", "a $HOME", "a \"$HOME\"", "a `b`", "a *.c", "A=1 b", "a; b", "a\nb"}) {
    const CommandWords taken = command_words("--x", command);
    EXPECT_TRUE(taken.has_shell) << command;
    EXPECT_THAT(taken.words, ElementsAre("/bin/sh", "-c", command));
    EXPECT_EQ(taken.program(""), "");
  }
  EXPECT_FALSE(command_words("--x", "./a=b c").has_shell) << "a file of that name";
}

TEST(CommandWords, RefuseWhatIsNoCommand) {
  EXPECT_THAT(message_of([] { command_words("--x", "  "); }), HasSubstr("--x: expected a command"));
  EXPECT_THAT(message_of([] { command_words("--x", "a 'b"); }), HasSubstr("a quote has no end"));
}

TEST(CommandWords, TakeAValueForItsPlaceOnce) {
  EXPECT_EQ(with_value("a {} b{}", "{}", "x{}"), "a x{} bx{}");
  EXPECT_EQ(with_value("a", "{}", "x"), "a");
}

TEST(Metrics, AreReadWhereTheyAreToldToBe) {
  const MetricWish rate = parse_metric("rate=([0-9.e+]+) per second", false);
  EXPECT_EQ(told_figure(rate, "x\n12 per minute\n1.5e+3 per second\n9 per second"), 1500);
  EXPECT_EQ(told_figure(parse_metric("all=[0-9]+", false), "a 17 b"), 17) << "without a group";
  EXPECT_EQ(told_figure(parse_metric("deep=/a/1/b", false), R"({"a": [0, {"b": 2.5}]})"), 2.5);
  EXPECT_EQ(told_figure(parse_metric("deep=/b", false), "begins\n{\"b\": \"3\"}\n\n"), 3) << "the last line, a text";
  EXPECT_EQ(told_figure(parse_metric("rate", true), R"({"seconds": 1, "metrics": {"rate": 4}})"), 4);
  EXPECT_EQ(parse_metric("wall", false).from, MetricWish::From::wall);
  EXPECT_TRUE(parse_metric("cpu", false).metric.is_time());
}

TEST(Metrics, ThatAreNoneAreNamed) {
  const auto told = [](const char* wish, const std::string& text) {
    return message_of([&] { told_figure(parse_metric(wish, false), text); });
  };
  EXPECT_THAT(told("x=a([0-9]+)", "b7"), HasSubstr("x: no line of its output matches"));
  EXPECT_THAT(told("x=a(.*)", "a7z"), HasSubstr("x: '7z' is no number"));
  EXPECT_THAT(told("x=a(.*)", "a0"), HasSubstr("x: 0 is no figure that can be compared"));
  EXPECT_THAT(told("x=a(.*)", "a-3"), HasSubstr("expected a number above 0"));
  EXPECT_THAT(told("x=a(.*)", "anan"), HasSubstr("expected a number above 0"));
  EXPECT_THAT(told("x=/a", "{}"), HasSubstr("x: no number at /a"));
  EXPECT_THAT(told("x=/a", ""), HasSubstr("nothing was printed"));
  EXPECT_THAT(told("x=/a", "no JSON"), HasSubstr("x: what was printed"));
  EXPECT_THAT(told("x=a+b", std::string(1 << 20, 'a')), HasSubstr("no line")) << "a line too long to be searched";
  EXPECT_THAT(message_of([] { parse_metric("=x", false); }), HasSubstr("expected wall, cpu"));
  EXPECT_THAT(message_of([] { parse_metric("cpu", true); }), HasSubstr("of a worker"));
}

TEST(Workers, AnswerInLinesOfJson) {
  EXPECT_EQ(slot_request(7, ""), R"({"op":"slot","calls":7})");
  EXPECT_EQ(output_request("a \"case\""), R"({"op":"output","case":"a \"case\""})");
  EXPECT_EQ(read_worker_slot(R"({"seconds": 0.5})").seconds, 0.5);
  EXPECT_EQ(read_worker_output(R"({"output": [1, "x"]})"), R"([1,"x"])");
  EXPECT_FALSE(read_worker_output("{}"));
  for (const char* const wrong : {"", "[]", "{}", R"({"seconds": -1})", R"({"seconds": "1"})", "{\"seconds\": 1"}) {
    EXPECT_THROW(read_worker_slot(wrong), UserError) << wrong;
  }
  EXPECT_EQ(message_of([] { read_worker_slot(R"({"error": "no\nsuch case"})"); }).find('\n'), std::string::npos);
}

TEST(BenchmarkPrograms, AreAskedForOneBenchmarkInWordsThatNoNameBreaks) {
  const std::string name = "BM<a, 'b'>/8$";
  const std::string argument = benchmark_argument(name, BenchmarkFramework::google);
  const CommandWords taken = command_words(
      "--base", with_value(benchmark_command("/p q/bench", BenchmarkFramework::google, "--x=1"), "{}", argument));
  EXPECT_FALSE(taken.has_shell);
  EXPECT_EQ(taken.words.at(0), "/p q/bench");
  EXPECT_EQ(taken.words.at(1), R"(--benchmark_filter=^BM<a, 'b'>/8\$$)");
  EXPECT_EQ(taken.words.at(4), "--x=1");
  const CommandWords of_nvbench =
      command_words("--base", with_value(benchmark_command("/b", BenchmarkFramework::nvbench, ""), "{}",
                                         benchmark_argument("it's", BenchmarkFramework::nvbench)));
  EXPECT_THAT(std::vector(of_nvbench.words.begin(), of_nvbench.words.begin() + 3), ElementsAre("/b", "-b", "it's"));
}

}  // namespace
}  // namespace convladder
