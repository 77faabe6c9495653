#if CONVLADDER_HAS_CUDA

#include "devices/cuda/nvml.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "devices/cuda/cupti_places.hpp"
#include "temporary_folder.hpp"

namespace convladder {
namespace {

// The own NVML of the tests (tests/stand_in/libraries) is opened before anything asks for one: the linker then gives it
// to whoever asks for its name.
struct FakeNvml {
  FakeNvml() : handle(dlopen(CONVLADDER_TEST_NVML, RTLD_NOW | RTLD_LOCAL)) {}
  void* handle;
};
const FakeNvml fake_nvml;

std::map<std::string, std::string> facts_of(const char* bus_id) {
  EXPECT_NE(fake_nvml.handle, nullptr) << CONVLADDER_TEST_NVML;
  std::map<std::string, std::string> facts;
  for (const DeviceFact& fact : NvmlDevice(bus_id).facts()) facts[fact.name] = fact.value;
  return facts;
}

TEST(Nvml, NamesEveryReasonAndLeavesIdlingOut) {
  EXPECT_TRUE(throttle_reason_names(0).empty());
  EXPECT_TRUE(throttle_reason_names(0x1).empty());
  EXPECT_EQ(throttle_reason_names(0x1 | 0x4 | 0x40),
            (std::vector<std::string>{"software power cap", "hardware thermal slowdown"}));
  EXPECT_EQ(throttle_reason_names(0x1ff).size(), 8U);
}

TEST(Nvml, AGpuThatIsNotThereHasAnEmptyState) {
  const DeviceState state = NvmlDevice("ffff:ff:ff.0").state();
  EXPECT_FALSE(state.temperature_celsius.has_value());
  EXPECT_TRUE(state.held_ns.empty());
  EXPECT_TRUE(state.held_now.empty());
}

TEST(Nvml, SaysHowTheGpuIsSetUpAndWhoElseUsesIt) {
  EXPECT_EQ(facts_of("0000:01:00.0"), (std::map<std::string, std::string>{{"UUID", "GPU-of-the-tests"},
                                                                          {"driver", "580.65.06"},
                                                                          {"compute mode", "exclusive process"},
                                                                          {"MIG mode", "on"},
                                                                          {"other processes on it", "40"}}));
}

TEST(Nvml, SaysWhatIsFreeOfTheMemoryWhereItKnows) {
  EXPECT_EQ(NvmlDevice("0000:01:00.0").free_memory_bytes(), 80e9);
  EXPECT_FALSE(NvmlDevice("0000:02:00.0").free_memory_bytes().has_value());
  EXPECT_FALSE(NvmlDevice("ffff:ff:ff.0").free_memory_bytes().has_value());
}

TEST(Nvml, WhatAGpuDoesNotAnswerIsLeftOut) {
  EXPECT_EQ(facts_of("0000:02:00.0"),
            (std::map<std::string, std::string>{{"driver", "580.65.06"}, {"compute mode", "default"}}));
  EXPECT_TRUE(facts_of("ffff:ff:ff.0").empty());
}

TEST(Nvml, TheDriversVersionIsItsOwnOrTheKernelModules) {
  EXPECT_EQ(nvml_driver_version(), "580.65.06");
  EXPECT_EQ(driver_version_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC\n"
                              "GCC version:  gcc version 12.2.0\n"),
            "550.54.14");
  EXPECT_EQ(driver_version_in("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n"),
            "580.65.06");
  EXPECT_EQ(driver_version_in(""), "");
}

TEST(CuptiPlaces, AreTheLinkersTheToolkitsAndPips) {
  const auto none = [](const char* /*name*/) -> const char* { return nullptr; };
  EXPECT_EQ(cupti_candidates(12, none),
            (std::vector<std::string>{"libcupti.so.12", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12",
                                      "/usr/local/cuda/lib64/libcupti.so.12", "/usr/local/cuda/lib/libcupti.so.12"}));
  const TemporaryFolder folder;
  const std::string pip = folder.path() / "lib/python3.11/site-packages/nvidia/cu13/lib";
  std::filesystem::create_directories(pip);
  std::ofstream(pip + "/libcupti.so.13") << "";
  const std::string environment = folder.path();
  const auto variable = [&](const char* name) -> const char* {
    if (std::string(name) == "VIRTUAL_ENV") return environment.c_str();
    return std::string(name) == "CUDA_HOME" ? "/opt/cuda" : nullptr;
  };
  const std::vector<std::string> found = cupti_candidates(13, variable);
  EXPECT_EQ(found.at(1), "/opt/cuda/extras/CUPTI/lib64/libcupti.so.13");
  EXPECT_EQ(found.back(), pip + "/libcupti.so.13");
}

}  // namespace
}  // namespace convladder

#endif  // CONVLADDER_HAS_CUDA
