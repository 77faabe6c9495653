#include "harness/measure/profile/program_time.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/measure/profile/profile_json.hpp"

namespace convladder {
namespace {

TEST(ProgramTime, TheLayoutOfUsrBinTime) {
  const ProgramTime time{187.16, 7.83, 179.77, 5866708};
  EXPECT_EQ(program_time_text(time),
            "187.16user 7.83system 2:59.77elapsed 108%CPU (0avgtext+0avgdata 5866708maxresident)k");
  EXPECT_EQ(program_time_text({0.3, 0.05, 13.1, 17}),
            "0.30user 0.05system 0:13.10elapsed 3%CPU (0avgtext+0avgdata 17maxresident)k");
  EXPECT_EQ(program_time_text({0, 0, 3725, 1}),
            "0.00user 0.00system 1:02:05elapsed 0%CPU (0avgtext+0avgdata 1maxresident)k");
  EXPECT_EQ(program_time_text({0, 0, 59.999, 1}).substr(20, 7), "1:00.00");
  EXPECT_EQ(program_time_text({0, 0, 0, 1}),
            "0.00user 0.00system 0:00.00elapsed ?%CPU (0avgtext+0avgdata 1maxresident)k");
}

TEST(ProgramTime, JsonNamesItsUnits) {
  const nlohmann::ordered_json json = to_json(ProgramTime{1, 0.5, 3, 4096});
  EXPECT_EQ(json.at("kind"), "measured");
  EXPECT_EQ(json.at("user_seconds"), 1.0);
  EXPECT_EQ(json.at("system_seconds"), 0.5);
  EXPECT_EQ(json.at("elapsed_seconds"), 3.0);
  EXPECT_EQ(json.at("cpu_percent"), 50.0);
  EXPECT_EQ(json.at("max_resident_kilobytes"), 4096);
  EXPECT_TRUE(to_json(ProgramTime{}).at("cpu_percent").is_null());
}

TEST(ProgramTime, CountsWhatThisProcessUses) {
  const ProgramTimer timer;
  const ProgramTime before = timer.elapsed();
  std::atomic<std::uint64_t> sum = 0;
  ProgramTime after = timer.elapsed();
  while (after.user_seconds + after.system_seconds < before.user_seconds + before.system_seconds + 0.02) {
    for (int i = 0; i < 100000; ++i) sum += static_cast<std::uint64_t>(i);
    after = timer.elapsed();
  }
  EXPECT_GT(after.elapsed_seconds, before.elapsed_seconds);
  EXPECT_GE(after.max_resident_kilobytes, before.max_resident_kilobytes);
}

TEST(ProgramTime, ThePeakIsInKilobytes) {
  constexpr std::size_t bytes = std::size_t{64} << 20U;
  const std::vector<char> touched(bytes, 1);
  EXPECT_GE(ProgramTimer().elapsed().max_resident_kilobytes, static_cast<std::int64_t>(bytes / 1024));
  EXPECT_EQ(touched.back(), 1);
}

}  // namespace
}  // namespace convladder
