#include "simulator/stand_in/settings.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace convladder::stand_in {
namespace {

TEST(Settings, OfTheRealClockAreReadAndWritten) {
  EXPECT_FALSE(parse_settings("{}").real_clock);
  EXPECT_FALSE(parse_settings(settings_text({})).real_clock);
  const std::string given =
      R"({"real_clock": {"launch_ns": 7, "ramp_ms": 1.5, "throttles": [{"mhz": 990, "after_ms": 3, "reason": 32}],)"
      R"( "sharing": {"every_ms": 20, "slice_ms": 2}, "nvml_missing": ["nvmlDeviceGetFieldValues"]}})";
  const Settings settings = parse_settings(settings_text(parse_settings(given)));
  ASSERT_TRUE(settings.real_clock);
  EXPECT_EQ(settings.real_clock->launch_ns, 7U);
  EXPECT_EQ(settings.real_clock->ramp_ms, 1.5);
  EXPECT_EQ(settings.real_clock->rest_mhz, RealClock().rest_mhz);
  ASSERT_EQ(settings.real_clock->throttles.size(), 1U);
  EXPECT_EQ(settings.real_clock->throttles[0].mhz, 990);
  EXPECT_EQ(settings.real_clock->throttles[0].after_ms, 3);
  EXPECT_EQ(settings.real_clock->throttles[0].reason, 32U);
  EXPECT_EQ(settings.real_clock->sharing.slice_ms, 2);
  EXPECT_EQ(settings.real_clock->nvml_missing, std::vector<std::string>{"nvmlDeviceGetFieldValues"});
}

TEST(Settings, OfTheRealClockThatCannotBeAreNamed) {
  const auto message = [](const char* text) {
    try {
      parse_settings(text);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(R"({"real_clock": {"throttles": [{}]}})").find("mhz"), std::string::npos);
  EXPECT_NE(message(R"({"real_clock": {"ramp": 3}})").find("ramp"), std::string::npos);
  EXPECT_NE(message(R"({"real_clock": {"fall_ms": -1}})").find("fall_ms"), std::string::npos);
  EXPECT_NE(message(R"({"real_clock": {"sharing": {"every_ms": 1, "slice_ms": 1}}})").find("slice_ms"),
            std::string::npos);
}

}  // namespace
}  // namespace convladder::stand_in
