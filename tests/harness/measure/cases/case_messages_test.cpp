// The messages between a command and the processes of cases: as builds of one protocol send them, and as nobody should.
#include "harness/measure/cases/case_messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/measure/cases/case_protocol.hpp"
#include "harness/measure/cases/check_messages.hpp"
#include "harness/measure/cases/time_of.hpp"
#include "harness/measure/isolation/message_text.hpp"
#include "temporary_folder.hpp"

namespace convladder {
namespace {

using testing::HasSubstr;
using testing::Not;

template <typename Kind>
std::string request_text(const typename Kind::Request& request) {
  return MessageTexts<Kind>::of_request(request);
}

/// Requests as other builds of protocol 5 write them: whatever changes here needs another number.
constexpr std::string_view kRequests[] = {
    R"({"do":"prepare","problem":"integers"})",
    R"({"do":"set","change":{"rotation":3,"factor":-2.0,"pokes":18446744073709551615,"everywhere":true,"fresh":true,"poke_size":0.5,"whole":false},"fills":[{"seed":7,"scale":1.5,"opposite":false,"sparse":true,"nothing":true}],"probe":9,"probe_every":3})",
    R"({"do":"set","change":{"rotation":0,"factor":1.0,"pokes":1,"everywhere":false,"fresh":false,"poke_size":1.0,"whole":true,"shift":5},"fills":[],"probe":0,"probe_every":0})",
    R"({"do":"call"})",
    R"({"do":"run part","part":2,"fill":{"seed":7,"scale":1.0,"opposite":false,"sparse":false,"nothing":false}})",
    R"({"do":"warm up","of":"layer","least_ns":20000000.0})",
    R"({"do":"calibrate","of":"op","cold":true,"replayed":false,"varied":true,"sample_ns":5000000.0})",
    R"({"do":"count"})",
    R"({"do":"profile","calls":3})",
    R"({"do":"sample","of":"part tanh","cold":false,"replayed":true,"varied":false,"iterations":12})",
    R"({"do":"slot","of":"layer","iterations":20,"sub_runs":5,"extra_percent":5,"replayed":true})",
    R"({"do":"state"})",
    R"({"do":"probed","result":1,"calls":[17,18]})",
    R"({"do":"read","tensor":"output","first":96,"count":12})",
};

TEST(CaseMessages, RequestsAreReadAndWrittenAsInOtherBuilds) {
  EXPECT_EQ(kCaseProtocol, 5);
  for (const std::string_view text : kRequests) {
    EXPECT_EQ(request_text<CaseMessages>(MessageTexts<CaseMessages>::read_request(std::string(text))), text);
  }
  EXPECT_EQ(std::size(kRequests), std::variant_size_v<CaseMessages::Request> + 1) << "two ways to set inputs";
}

TEST(CaseMessages, WhatAnotherBuildDoesNotWriteHasItsDefault) {
  const auto read = [](const char* text) { return MessageTexts<CaseMessages>::read_request(text); };
  const auto calibrate = std::get<to_case::Calibrate>(read(R"({"do":"calibrate","of":"layer","sample_ns":1000000.0})"));
  EXPECT_EQ(calibrate.of, time_of::kLayer);
  EXPECT_EQ(calibrate.sample_ns, 1e6);
  EXPECT_FALSE(calibrate.cold || calibrate.replayed || calibrate.varied);
  const auto prepared = std::get<to_case::Prepared>(MessageTexts<CaseMessages>::read_answer(
      to_case::Prepare(),
      R"({"prepare_ns":1.5,"own_layout":true,"choice":"a","parts":["b"],"can_be_cold":true,"later":[]})"));
  EXPECT_TRUE(prepared.has_clock);
  EXPECT_FALSE(prepared.is_asynchronous);
  EXPECT_EQ(prepared.parts, std::vector<std::string>{"b"});
}

TEST(CaseMessages, AFillIsSentAndReceivedAndAnOlderProgramsIsWhole) {
  const OutputFill sent{.seed = 77, .scale = 3};
  const auto received = [](const std::string& text) {
    return std::get<to_case::Set>(MessageTexts<CaseMessages>::read_request(text)).fills.at(0);
  };
  for (const FillPart part : {FillPart::all, FillPart::pieces, FillPart::nothing}) {
    to_case::Set request{.change = {}, .fills = {sent}};
    request.fills[0].part = part;
    const OutputFill fill = received(MessageTexts<CaseMessages>::of_request(request));
    EXPECT_EQ(fill.part, part);
    EXPECT_EQ(fill.at(5), sent.at(5));
  }
  const OutputFill older = received(
      R"({"do":"set","change":{"rotation":0,"factor":1,"pokes":1,"everywhere":false,"fresh":false,"poke_size":1,"whole":false},"fills":[{"seed":77,"scale":3.0}],"probe":0,"probe_every":0})");
  EXPECT_EQ(older.part, FillPart::all);
  EXPECT_EQ(older.at(5), sent.at(5));
}

TEST(CaseMessages, TheHelloHasTheFieldsOfAStageBesideItsOwn) {
  const std::string workload =
      R"("workload":{"bytes":64,"input_kind":"images","planned_batch":4,"real":[4,1,8,8,2,3,1,0,1],"integers":[3,1,8,8,2,3,1,0,1]})";
  const std::string own = R"({"id":"a/b","device":"cpu","family":"cpu","variant":"v","google_benchmark_flags":["-x"],)";
  const std::string plain = own + R"("window_bytes":4096,)" + workload + "}";
  const to_case::Hello hello = MessageTexts<CaseMessages>::read_hello(plain);
  EXPECT_FALSE(hello.stage || hello.problem || hello.configuration);
  EXPECT_EQ(hello.workload.real.size(), 9U);
  EXPECT_EQ(MessageTexts<CaseMessages>::of_hello(hello), plain);
  // In any order of the fields.
  to_case::Hello of_stage = MessageTexts<CaseMessages>::read_hello(
      own + R"("problem":"p","library":"/l.so","choice":"","beside":false,"window_bytes":4096,)" + workload + "}");
  ASSERT_TRUE(of_stage.stage);
  EXPECT_EQ(of_stage.stage->library, "/l.so");
  EXPECT_FALSE(of_stage.stage->beside);
  EXPECT_EQ(of_stage.problem, "p");
  const std::string text = MessageTexts<CaseMessages>::of_hello(of_stage);
  EXPECT_THAT(text, HasSubstr(R"("library":"/l.so","choice":"","beside":false)"));
}

TEST(CaseMessages, AnswersAreReadAsTheyAreWritten) {
  const auto again = [](const CaseMessages::Request& request, const std::string& text) {
    return MessageTexts<CaseMessages>::of_answer(MessageTexts<CaseMessages>::read_answer(request, text));
  };
  const std::string counted =
      R"({"counters":{"kind":"counted","of":"PTX instructions executed by the simulated device; 'modelled': traffic from its model of the caches","images_executed":2,"batch":8,"exact":true,"totals":{"inst.sum":6.0},"modelled":{"dram.sum":3.0},"kernels":[{"kernel":"k<1>","grid":[1,2,3],"block":[32,1,1],"values":{"inst.sum":6.0},"modelled":{"dram.sum":3.0}}]}})";
  EXPECT_EQ(again(to_case::Count(), counted), counted);
  for (const char* text : {R"({"ns":12.5,"untimed_calls":1,"last_call":40,"probed":7,"enqueue_ns":3.5})",
                           R"({"ns":12.5,"untimed_calls":0,"last_call":40,"probed":0})"}) {
    EXPECT_EQ(again(to_case::Sample(), text), text);
  }
  EXPECT_EQ(again(to_case::Slot(), R"({"ns":[1.5,2.5],"last_call":3})"), R"({"ns":[1.5,2.5],"last_call":3})");
  EXPECT_EQ(again(to_case::State(), "{}"), R"({"held_now":[]})");
  const std::string state =
      R"({"clock_mhz":1980.0,"temperature_celsius":60.0,"held_ns":{"b":1.0,"a":2.0},"held_now":["c"]})";
  EXPECT_EQ(again(to_case::State(), state), state);
  EXPECT_EQ(again(to_case::Set(), "{}"), "{}");
}

/// A request and answers that are none.
struct Malformed {
  CaseMessages::Request request;
  std::vector<std::string> answers;
};

std::vector<Malformed> malformed() {
  return {
      {to_case::Set(), {"[]", "3", "null", R"("done")"}},
      {to_case::Call(), {"{}", "[]", R"({"ns":"1"})", R"({"ns":null})", R"({"ns":[1]})", R"([{"ns":1}])"}},
      {to_case::Prepare(),
       {R"({"prepare_ns":1,"own_layout":1,"choice":"","parts":[],"can_be_cold":false})",
        R"({"prepare_ns":1,"own_layout":true,"choice":3,"parts":[],"can_be_cold":false})",
        R"({"prepare_ns":1,"own_layout":true,"choice":"","parts":{"a":"b"},"can_be_cold":false})",
        R"({"prepare_ns":1,"own_layout":true,"choice":"","parts":[7],"can_be_cold":false})",
        R"({"prepare_ns":1,"own_layout":true,"choice":"","parts":[],"can_be_cold":false,"has_clock":"no"})"}},
      {to_case::Calibrate(),
       {R"({"iterations":2147483648})", R"({"iterations":-2147483649})", R"({"iterations":18446744073709551615})",
        R"({"iterations":1e300})", R"({"iterations":1.5})", R"({"iterations":true})", R"({"iterations":"5"})"}},
      {to_case::Sample(),
       {R"({"ns":1})", R"({"last_call":1})", R"({"ns":1,"last_call":1e19})", R"({"ns":1,"last_call":1,"probed":"all"})",
        R"({"ns":1,"last_call":1,"enqueue_ns":[]})", R"({"ns":1,"last_call":1,"untimed_calls":0.5})"}},
      {to_case::Slot(), {R"({"ns":1,"last_call":1})", R"({"ns":["1"],"last_call":1})", R"({"ns":{},"last_call":1})"}},
      {to_case::State(), {R"({"held_ns":[["a",1]]})", R"({"held_ns":{"a":"1"}})", R"({"held_now":"a"})"}},
      {to_case::Count(),
       {"{}", R"({"counters":[]})", R"({"counters":{"kernels":[]}})",
        R"({"counters":{"kernels":{},"batch":1,"exact":true,"images_executed":1}})",
        R"({"counters":{"kernels":[{}],"batch":1,"exact":true,"images_executed":1}})",
        R"({"counters":{"kernels":[{"kernel":"k","grid":[1,1],"block":[1,1,1],"values":{},"modelled":{}}],"batch":1,"exact":true,"images_executed":1}})",
        R"({"counters":{"kernels":[{"kernel":"k","grid":[1,1,-1],"block":[1,1,1],"values":{},"modelled":{}}],"batch":1,"exact":true,"images_executed":1}})",
        R"({"counters":{"kernels":[{"kernel":"k","grid":[1,1,1],"block":[1,1,1],"values":{"a":"b"},"modelled":{}}],"batch":1,"exact":true,"images_executed":1}})",
        R"({"counters":{"kernels":[],"batch":1e300,"exact":true,"images_executed":1}})"}},
  };
}

void expect_one_short_line(const std::string& text) {
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  EXPECT_LT(text.size(), 300U) << text;
}

TEST(MalformedMessages, AnAnswerThatIsNoneIsAlwaysInvalid) {
  for (const Malformed& one : malformed()) {
    for (const std::string& answer : one.answers) {
      SCOPED_TRACE(std::string(request_name(one.request)) + " " + answer);
      try {
        static_cast<void>(MessageTexts<CaseMessages>::read_answer(one.request, answer));
        ADD_FAILURE();
      } catch (const InvalidMessage& invalid) {
        expect_one_short_line(invalid.what());
      }
    }
  }
}

TEST(MalformedMessages, AFindingThatIsNoneIsInvalid) {
  for (const char* answer :
       {"{}", R"({"findings":{}})", R"({"findings":[7]})", R"({"findings":[{"checker":"memcheck"}]})"}) {
    EXPECT_THROW(static_cast<void>(MessageTexts<CheckMessages>::read_answer(to_check::Findings(), answer)),
                 InvalidMessage)
        << answer;
  }
}

TEST(MalformedMessages, OfABuildOfAnotherProtocolNothingElseIsRead) {
  const auto read = [](const char* text) {
    return std::get<to_build::Told>(MessageTexts<BuildMessages>::read_answer(to_build::About(), text));
  };
  EXPECT_EQ(read(R"({"protocol":99,"program":3})").protocol, 99);
  EXPECT_EQ(read(R"({"protocol":5,"program":{"commit":"c"},"variants":["a/b"]})").program.commit, "c");
  for (const char* text :
       {"{}", "[]", "5", R"({"protocol":"4"})", R"({"protocol":5,"variants":[]})",
        R"({"protocol":5,"program":[],"variants":[]})", R"({"protocol":5,"program":{"commit":1},"variants":[]})",
        R"({"protocol":5,"program":{},"variants":[3]})"}) {
    EXPECT_THROW(read(text), InvalidMessage) << text;
  }
}

TEST(MalformedMessages, ARequestThatNobodyKnowsIsNamed) {
  for (const char* text : {R"({"do":"jump"})", R"({"do":7})", "{}", "[]", R"({"do":"profile"})"}) {
    EXPECT_THROW(static_cast<void>(MessageTexts<CaseMessages>::read_request(text)), InvalidMessage) << text;
  }
  try {
    static_cast<void>(MessageTexts<CaseMessages>::read_request(R"({"do":"jump"})"));
  } catch (const InvalidMessage& invalid) {
    EXPECT_STREQ(invalid.what(), "unknown request 'jump'");
  }
}

TEST(MalformedMessages, AnEndingThatNoProcessCanHaveIsACrash) {
  const auto ending = [](const std::string& text) { return read_envelope(text).ending; };
  EXPECT_FALSE(ending(R"({"ns":1})"));
  EXPECT_FALSE(ending("[]"));
  for (const char* status : {R"("ok")", R"("skipped")", R"("excellent")", "3", "null", "{}", R"("")"}) {
    const std::optional<Ending> found = ending(std::string(R"({"status":)") + status + R"(,"reason":"none"})");
    ASSERT_TRUE(found) << status;
    EXPECT_EQ(found->status, Status::crashed) << status;
    EXPECT_THAT(found->reason, HasSubstr("its answers are invalid: ")) << status;
  }
  EXPECT_EQ(ending(R"({"status":"timeout"})")->reason, "");
  EXPECT_EQ(ending(R"({"status":"timeout","reason":7})")->status, Status::crashed);
  const std::optional<Ending> lines =
      ending(R"({"status":"launch failed","reason":"a\nb","out_of_device_memory":true})");
  EXPECT_EQ(lines->reason, "a b");
  EXPECT_TRUE(lines->out_of_device_memory);
}

TEST(MalformedMessages, OnlyAWholeNumberIsANonce) {
  EXPECT_EQ(read_envelope(R"({"nonce":18446744073709551615})").nonce, std::numeric_limits<std::uint64_t>::max());
  for (const char* nonce : {"-1", "1.0", "\"1\"", "null", "[1]", "18446744073709551616"}) {
    EXPECT_FALSE(read_envelope(std::string(R"({"nonce":)") + nonce + "}").nonce) << nonce;
  }
  EXPECT_EQ(with_nonce("{}", 5), R"({"nonce":5})");
  EXPECT_EQ(with_nonce(R"({"do":"call"})", 5), R"({"do":"call","nonce":5})");
  for (const char* text : {"", "x", "{", R"({"a":1,"a":2})", R"({"a":1}{"a":1})"}) {
    EXPECT_THROW(static_cast<void>(read_envelope(text)), InvalidMessage) << text;
  }
  EXPECT_THROW(static_cast<void>(read_envelope(std::string(100'000, '['))), InvalidMessage);
}

/// A process with foreign code that answers every request so.
class ForeignCase : public testing::Test {
 protected:
  OpenCase answering(const std::string& answer) {
    const std::string script = folder_.path() / "script";
    std::ofstream(script) << "#!/bin/sh\nread hello <&3\nwhile read request <&3; do\n"
                          << "nonce=${request##*:}; nonce=${nonce%?}\n"
                          << "printf '%s\\n' '" << answer << "'\"$nonce}\" >&3\ndone\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    std::unique_ptr<SharedMemory> window = output_window(1);
    return start_session<CaseMessages>(
        {.what = "case", .command = "serve", .timeout_seconds = 20, .program = script, .trust = Trust::foreign},
        window->descriptor(), output_window(1), to_case::Hello());
  }

  TemporaryFolder folder_;
};

TEST_F(ForeignCase, ThatAnswersWhatIsNoAnswerHasCrashed) {
  for (const char* answer : {R"({"ns":"1","nonce":)", R"({"nonce":)", R"({"ns":{"ns":1},"nonce":)"}) {
    try {
      answering(answer).ask(to_case::Call());
      ADD_FAILURE() << answer;
    } catch (const CaseFailure& failure) {
      EXPECT_EQ(failure.status, Status::crashed);
      EXPECT_THAT(failure.what(), testing::StartsWith("its answers are invalid: "));
      expect_one_short_line(failure.what());
    }
  }
  EXPECT_EQ(answering(R"({"more":[1,{"a":2}],"ns":1.5,"nonce":)").ask(to_case::Call()).ns, 1.5);
}

TEST_F(ForeignCase, CannotSayThatItIsRight) {
  for (const char* answer : {R"({"status":"ok","ns":1,"nonce":)", R"({"status":"skipped","nonce":)"}) {
    try {
      answering(answer).ask(to_case::Call());
      ADD_FAILURE() << answer;
    } catch (const CaseFailure& failure) {
      EXPECT_EQ(failure.status, Status::crashed);
      EXPECT_THAT(failure.what(), testing::StartsWith("its answers are invalid: status "));
    }
  }
}

}  // namespace
}  // namespace convladder
