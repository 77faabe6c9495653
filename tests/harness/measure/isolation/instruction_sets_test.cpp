// What the program was compiled for, and what this processor has, as the kernel tells it.
#include "harness/measure/isolation/instruction_sets.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <sstream>
#include <string>

namespace convladder {
namespace {

std::string names_of(std::uint32_t sets) {
  std::array<char, 512> room{};
  return {room.data(), instruction_set_names(sets, room)};
}

TEST(InstructionSets, ThisProgramRunsHere) {
  EXPECT_EQ(names_of(kCompiledInstructionSets & ~instruction_sets_here()), "");
}

TEST(InstructionSets, AreThoseThatTheKernelNames) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && !line.starts_with("flags")) {
  }
  if (line.empty()) GTEST_SKIP() << "no flags in /proc/cpuinfo";
  const std::string flags = line + " ";
  const std::string here = names_of(instruction_sets_here()) + ",";
  for (const auto& [name, flag] : {std::pair("AVX2", "avx2"),
                                   {"FMA", "fma"},
                                   {"BMI2", "bmi2"},
                                   {"AVX-512F", "avx512f"},
                                   {"AVX-512BW", "avx512bw"},
                                   {"AVX-512VNNI", "avx512_vnni"},
                                   {"XOP", "xop"}}) {
    EXPECT_EQ(here.find(std::string(name) + ",") != std::string::npos,
              flags.find(" " + std::string(flag) + " ") != std::string::npos)
        << name << " of " << here;
  }
}

TEST(InstructionSets, NamesEndWhereTheRoomDoes) {
  EXPECT_EQ(names_of(0b11), "SSE4.2, POPCNT");
  std::array<char, 9> room{};
  EXPECT_EQ(std::string(room.data(), instruction_set_names(0b11, room)), "SSE4.2, P");
  EXPECT_EQ(instruction_set_names(~std::uint32_t{0}, {}), 0U);
}

}  // namespace
}  // namespace convladder
