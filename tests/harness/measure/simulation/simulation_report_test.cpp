#include "harness/measure/simulation/simulation_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// The value as a .json file of a buffer has it.
std::string value_in_file(ElementType type, std::string_view text) {
  const std::vector<std::byte> bytes =
      buffer_file({.name = "y", .type = type, .shape = {1}, .bytes = parse_element("here", type, text)}, "y.json");
  const ordered_json file = ordered_json::parse(reinterpret_cast<const char*>(bytes.data()),
                                                reinterpret_cast<const char*>(bytes.data() + bytes.size()));
  return file.at("values").at(0).dump();
}

TEST(SimulationReport, ValuesAreNumbersOrNull) {
  using enum ElementType;
  EXPECT_EQ(value_in_file(i8, "-5"), "-5");
  EXPECT_EQ(value_in_file(u64, "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(value_in_file(f32, "nan"), "null");
  EXPECT_EQ(value_in_file(f16, "0.5"), "0.5");
}

}  // namespace
}  // namespace convladder
