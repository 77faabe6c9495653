#include "harness/judge/serving/serve_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "expect_error.hpp"
#include "harness/judge/serving/mcp_message.hpp"

namespace convladder {
namespace {

using testing::ElementsAre;

TEST(ServeRequestTest, ASubmissionHasItsFields) {
  const ServeRequest request = parse_serve_request(
      R"({"id": "a", "source": "x\ny", "language": "cu", "sizes": ["N1", "N2"], "measure": false, "device": "simulated"})");
  EXPECT_EQ(request.id, "\"a\"");
  EXPECT_EQ(request.asks, ServeRequest::Asks::submit);
  EXPECT_EQ(request.submission.source, "x\ny");
  EXPECT_EQ(request.submission.language, StageLanguage::cuda);
  EXPECT_THAT(request.submission.sizes, ElementsAre("N1", "N2"));
  EXPECT_EQ(request.submission.device, "simulated");
  EXPECT_FALSE(request.submission.measure);
}

TEST(ServeRequestTest, EachLanguageOfAStageIsOne) {
  for (const std::string& word : stage_languages()) {
    const ServeRequest request = parse_serve_request(R"({"source": "x", "language": ")" + word + "\"}");
    EXPECT_EQ(request.submission.language, stage_language(word)) << word;
    EXPECT_EQ(request.id, "null");
    EXPECT_TRUE(request.submission.measure);
  }
}

TEST(ServeRequestTest, ABadRequestKeepsItsId) {
  try {
    parse_serve_request(R"({"id": 7, "source": "x", "language": "c"})");
    ADD_FAILURE() << "no error was thrown";
  } catch (const BadRequest& error) {
    EXPECT_EQ(error.id, "7");
    expect_one_line(error.what(), {"unknown language 'c'"});
  }
}

TEST(ServeRequestTest, WhatIsTooLargeIsRefused) {
  const auto with_source = [](std::size_t bytes) {
    return R"({"language": "cpp", "source": ")" + std::string(bytes, 'x') + "\"}";
  };
  EXPECT_EQ(parse_serve_request(with_source(kLargestServedSource)).submission.source.size(), kLargestServedSource);
  expect_error<BadRequest>([&] { parse_serve_request(with_source(kLargestServedSource + 1)); }, {"source", "at most"});
  expect_error<BadRequest>([] { parse_serve_request(R"({"id": ")" + std::string(300, 'x') + "\"}"); },
                           {"id", "at most"});
}

TEST(ServeRequestTest, OtherRequestsTakeNoSource) {
  EXPECT_EQ(parse_serve_request(R"({"do": "status"})").asks, ServeRequest::Asks::status);
  EXPECT_EQ(parse_serve_request(R"({"do": "problem"})").asks, ServeRequest::Asks::problem);
  expect_error<BadRequest>([] { parse_serve_request(R"({"do": "status", "source": "x"})"); }, {"unknown field"});
}

TEST(McpMessageTest, ANotificationHasNoId) {
  EXPECT_TRUE(parse_mcp_request(R"({"jsonrpc": "2.0", "method": "notifications/initialized"})").is_notification);
  const McpRequest request = parse_mcp_request(R"({"id": 3, "method": "ping", "params": {"a": 1}})");
  EXPECT_FALSE(request.is_notification);
  EXPECT_EQ(request.id, 3);
  EXPECT_EQ(request.parameters.at("a"), 1);
}

TEST(McpMessageTest, ErrorsHaveTheCodesOfJsonRpc) {
  const auto code_of = [](const char* line) {
    try {
      parse_mcp_request(line);
    } catch (const BadMcpMessage& error) {
      return nlohmann::ordered_json::parse(mcp_error(error)).at("error").at("code").get<int>();
    }
    return 0;
  };
  EXPECT_EQ(code_of("{"), -32700);
  EXPECT_EQ(code_of("[]"), -32600);
  EXPECT_EQ(code_of(R"({"id": [1], "method": "ping"})"), -32600);
  EXPECT_EQ(code_of(R"({"id": 1})"), -32600);
  EXPECT_EQ(code_of(R"({"id": 1, "method": "ping", "params": []})"), -32602);
}

}  // namespace
}  // namespace convladder
