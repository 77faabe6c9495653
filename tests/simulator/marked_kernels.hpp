// The kernels of tests/checked_kernels/*.cu: their marks, and launches of them under the checkers.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "devices/kernel_resources.hpp"
#include "simulator/device/simulated_device.hpp"
#include "simulator/ptx/parser.hpp"

namespace convladder::simulated {

/// What a mark says: "racecheck" or "note", and its line.
using Marks = std::set<std::pair<std::string, int>>;

struct MarkedKernel {
  std::string file;
  std::string name;
  Marks marks;
};

inline std::ostream& operator<<(std::ostream& stream, const MarkedKernel& kernel) { return stream << kernel.name; }

inline constexpr int kMarkedValues = 512;

inline std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void read_marked_kernels(const std::filesystem::path& path, std::vector<MarkedKernel>& kernels) {
  std::istringstream source(text_of_file(path));
  const std::regex kernel(R"(__global__ void (?:__cluster_dims__\(\d\) )?(\w+)\()");
  std::string line;
  for (int number = 1; std::getline(source, line); ++number) {
    std::smatch match;
    if (std::regex_search(line, match, kernel)) kernels.push_back({path.stem(), match[1], {}});
    const std::size_t mark = line.find("// <- ");
    if (mark == std::string::npos) continue;
    std::istringstream words(line.substr(mark + 6));
    for (std::string word; words >> word;) kernels.back().marks.emplace(word, number);
  }
}

/// The kernels of right.cu, or of lucky.cu, and of the files that are called so with more behind it: right_….cu.
inline std::vector<MarkedKernel> marked_kernels(const std::string& files) {
  std::vector<MarkedKernel> kernels;
  std::set<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(CONVLADDER_SOURCE_DIR) / "tests/checked_kernels")) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() == ".cu" && path.filename().string().starts_with(files)) paths.insert(path);
  }
  for (const std::filesystem::path& path : paths) read_marked_kernels(path, kernels);
  return kernels;
}

struct FoundKernel {
  const ptx::Module* module = nullptr;  ///< null without PTX
  const ptx::Kernel* kernel = nullptr;
};

/// The kernel in the PTX of its file.
inline FoundKernel find_marked(const MarkedKernel& marked) {
  const std::filesystem::path file = std::filesystem::path(CONVLADDER_CHECKED_PTX) / (marked.file + ".ptx");
  if (!std::filesystem::exists(file)) return {};
  static std::map<std::string, ptx::Module> modules;
  const auto [known, is_new] = modules.try_emplace(marked.file);
  if (is_new) known->second = ptx::parse_module(text_of_file(file), file.filename());
  const ptx::Module& module = known->second;
  const auto is_it = [&](const ptx::Kernel& kernel) { return display_name(kernel.name) == marked.name; };
  const auto kernel = std::ranges::find_if(module.kernels, is_it);
  if (kernel == module.kernels.end()) throw std::out_of_range("no kernel " + marked.name);
  return {&module, &*kernel};
}

/// Runs a launch of the kernel: 4 blocks of 128 threads on two arrays of 512 floats. Returns false without PTX.
inline bool run_marked(SimulatedDevice& device, const MarkedKernel& marked) {
  const FoundKernel found = find_marked(marked);
  if (found.module == nullptr) return false;

  device.set_counting(false);
  std::vector<float> values(kMarkedValues);
  for (int i = 0; i < kMarkedValues; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i % 5);
  const std::size_t bytes = kMarkedValues * sizeof(float);
  DeviceBuffer in = device.allocate(bytes, "in");
  DeviceBuffer out = device.allocate(bytes, "out");
  device.copy_to_device(in.address(), values.data(), bytes);
  if (marked.file == "lucky") device.copy_to_device(out.address(), std::vector<float>(kMarkedValues).data(), bytes);
  KernelLaunch launch;
  launch.kernel = device.load(*found.module, *found.kernel);
  launch.grid = {4};
  launch.block = {128};
  launch.cooperative = marked.name.starts_with("grid_");
  const auto pass = [&launch](auto value) {
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    launch.arguments.emplace_back(first, first + sizeof value);
  };
  pass(in.address());
  pass(out.address());
  pass(kMarkedValues);
  device.launch(launch);
  return true;
}

inline std::string name_of_kernel(const testing::TestParamInfo<MarkedKernel>& info) { return info.param.name; }

}  // namespace convladder::simulated
