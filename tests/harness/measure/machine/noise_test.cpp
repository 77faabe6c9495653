#include "harness/measure/machine/noise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace convladder {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

void write_line(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

TEST(Noise, IsReadFromTheSystem) {
  const fs::path root = fs::path(testing::TempDir()) / "convladder-noise";
  fs::remove_all(root);
  const ProcessorTraits nothing = processor_traits(root);
  EXPECT_FALSE(nothing.shares_cores || nothing.turbo || nothing.is_virtual);
  EXPECT_EQ(nothing.governor, "");
  write_line(root / "sys/devices/system/cpu/smt/active", "1\n");
  write_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  write_line(root / "sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
  write_line(root / "proc/cpuinfo", "flags\t: fpu hypervisor avx\n");
  const ProcessorTraits all = processor_traits(root);
  EXPECT_TRUE(all.shares_cores && all.turbo && all.is_virtual);
  EXPECT_EQ(all.governor, "powersave");
  fs::remove_all(root);
}

TEST(Noise, IsToldWithWhatHelps) {
  const MachineLoad load{.cores = 2, .used = 1.24, .steal = 0.02};
  const std::string text =
      noise_text(noise_sources(load, {.shares_cores = true, .governor = "powersave", .turbo = true}, 4));
  EXPECT_THAT(text,
              HasSubstr("other programs used 1.2 of 2 cores; other virtual machines had 2.0 % of the time; 4 threads"));
  EXPECT_THAT(text, HasSubstr("turbo). What helps: wait until they are done"));
  EXPECT_THAT(text, HasSubstr("OMP_NUM_THREADS=1"));
}

TEST(Noise, OfAQuietMachineIsNone) {
  EXPECT_EQ(noise_text(noise_sources(MachineLoad{.cores = 8, .used = 0.01}, {.governor = "performance"}, 1)), "");
  const std::string text = noise_text(noise_sources({}, {.is_virtual = true}, 1));
  EXPECT_EQ(text, "a virtual machine, whose neighbours cannot be seen") << "nothing that would help";
}

}  // namespace
}  // namespace convladder
