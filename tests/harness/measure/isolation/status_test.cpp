#include "harness/measure/isolation/status.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace convladder {
namespace {

TEST(Status, EveryStatusIsFoundByItsNameAndNoOtherTextIs) {
  std::set<std::string_view> names;
  for (const auto& [status, name] : kStatusNames) {
    EXPECT_EQ(status_name(status), name);
    EXPECT_EQ(status_from_name(name), status);
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  for (const char* other : {"", "OK", "launch_failed", "machine fault", "ok "}) {
    EXPECT_EQ(status_from_name(other), std::nullopt) << other;
  }
}

TEST(Status, WhatRanAndWentWrongIsAFailure) {
  const std::set<std::string_view> fine = {"ok", "skipped", "unsupported", "not judged"};
  for (const auto& [status, name] : kStatusNames) EXPECT_EQ(is_failure(status), !fine.contains(name)) << name;
}

TEST(Status, InJsonAndInTextItIsItsName) {
  const nlohmann::ordered_json json = {{"status", Status::launch_failed}};
  EXPECT_EQ(json.dump(), R"({"status":"launch failed"})");
  EXPECT_EQ(fmt::format("{:<12}|", Status::ok), "ok          |");
}

}  // namespace
}  // namespace convladder
