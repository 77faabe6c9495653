#include "simulator/device/launch_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "devices/kernel_resources.hpp"
#include "simulator/gpus/gpu_facts.hpp"

namespace convladder::simulated {
namespace {

/// 8 blocks are portable; H100 runs 16 where a program asks for them.
constexpr std::uint64_t kMostBlocksOfCluster = 16;

Dim3 compiled_cluster(const ptx::Kernel& kernel) {
  const auto& [x, y, z] = kernel.cluster_size;
  return {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
}

std::string text_of(const Dim3& size) { return fmt::format("{} x {} x {}", size.x, size.y, size.z); }

}  // namespace

Dim3 cluster_of(const ptx::Kernel& kernel, const KernelLaunch& launch) {
  if (launch.cluster) return *launch.cluster;
  return kernel.cluster_size[0] > 0 ? compiled_cluster(kernel) : Dim3{};
}

std::string block_problem(const ptx::Kernel& kernel, const Dim3& block) {
  const auto& [x, y, z] = kernel.required_block;
  const Dim3 required{static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
  if (x > 0 && block != required) {
    return fmt::format("a block of {} threads, but it was compiled for {} (.reqntid)", text_of(block),
                       text_of(required));
  }
  const auto most = static_cast<std::uint64_t>(kernel.max_threads_per_block);
  if (most == 0 || block.count() <= most) return "";
  return fmt::format("a block of {} threads, but it was compiled for at most {}", block.count(), most);
}

std::string cluster_problem(const ptx::Kernel& kernel, const KernelLaunch& launch) {
  const Dim3 cluster = cluster_of(kernel, launch);
  if (kernel.cluster_size[0] > 0 && cluster != compiled_cluster(kernel)) {
    return fmt::format("clusters of {} blocks, but the kernel was compiled for clusters of {}", text_of(cluster),
                       text_of(compiled_cluster(kernel)));
  }
  if (cluster.count() == 0 || cluster.count() > kMostBlocksOfCluster) {
    return fmt::format("clusters of {} blocks; 1 to {} blocks are possible", text_of(cluster), kMostBlocksOfCluster);
  }
  const Dim3 grid = in_blocks(kernel, launch).grid;
  if (grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0) return "";
  return fmt::format("a grid of {} blocks is no multiple of clusters of {}", text_of(grid), text_of(cluster));
}

KernelLaunch in_blocks(const ptx::Kernel& kernel, const KernelLaunch& launch) {
  KernelLaunch result = launch;
  if (!kernel.blocks_are_clusters) return result;
  const Dim3 cluster = cluster_of(kernel, launch);
  for (const Axis axis : {Axis::x, Axis::y, Axis::z}) {
    const std::uint64_t blocks = std::uint64_t{extent(launch.grid, axis)} * extent(cluster, axis);
    extent(result.grid, axis) =
        static_cast<unsigned>(std::min<std::uint64_t>(blocks, ~0U));  // a number that is too large is reported
  }
  return result;
}

namespace {

/// CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability". Products of numbers within
/// these limits do not overflow.
constexpr Dim3 kLargestGrid{0x7fffffff, 65535, 65535};
constexpr Dim3 kLargestBlock{1024, 1024, 64};

void check_sizes(const std::string& kernel, const char* what, const Dim3& sizes, const Dim3& largest) {
  if (sizes.x <= largest.x && sizes.y <= largest.y && sizes.z <= largest.z) return;
  throw DeviceError(fmt::format("{}: a {} of {} x {} x {}; at most {} x {} x {} are possible", kernel, what, sizes.x,
                                sizes.y, sizes.z, largest.x, largest.y, largest.z));
}

/// The most shared memory that a block may have, the kernel's own included; for a model that is no known GPU's, all
/// that a multiprocessor has.
std::uint64_t most_shared_bytes(const GpuModel& gpu) {
  const GpuFacts* const facts = find_gpu(gpu.name);
  return facts == nullptr ? gpu.shared_splits.back() : static_cast<std::uint64_t>(facts->occupancy.shared_per_block);
}

void check_shared_memory(const Program& program, const KernelLaunch& launch, const GpuModel& gpu) {
  const std::uint64_t most = most_shared_bytes(gpu);
  const std::uint64_t own = program.static_shared_bytes;
  if (own <= most && launch.dynamic_shared_bytes <= most - own) return;
  throw DeviceError(fmt::format("{}: {} bytes of shared memory{}, but a block of {} may have {}",
                                display_name(program.kernel->name), launch.dynamic_shared_bytes,
                                own == 0 ? "" : fmt::format(" beside the kernel's own {}", own), gpu.title, most));
}

/// Checks a cooperative launch without looking at registers, so hardware may hold fewer blocks.
void check_cooperative(const Program& program, const KernelLaunch& launch, const GpuModel& gpu) {
  if (!launch.cooperative) return;
  const std::uint64_t held =
      static_cast<std::uint64_t>(gpu.multiprocessors) *
      resident_blocks(gpu, launch.block.count(), program.static_shared_bytes + launch.dynamic_shared_bytes);
  if (launch.grid.count() <= held) return;
  throw CooperativeLaunchTooLarge(fmt::format("{}: a cooperative launch of {} blocks; {} holds {} of them at a time",
                                              display_name(program.kernel->name), launch.grid.count(), gpu.title,
                                              held));
}

}  // namespace

void check_launch(const Program& program, const KernelLaunch& launch, const GpuModel& gpu) {
  check_sizes(display_name(program.kernel->name), "grid", launch.grid, kLargestGrid);
  check_sizes(display_name(program.kernel->name), "block", launch.block, kLargestBlock);
  check_shared_memory(program, launch, gpu);
  const std::uint64_t threads = launch.block.count();
  if (threads == 0 || threads > 1024) {
    throw DeviceError(
        fmt::format("{}: a block of {} threads; 1 to 1024 are possible", display_name(program.kernel->name), threads));
  }
  if (launch.grid.count() == 0) {
    throw DeviceError(fmt::format("{}: a grid without blocks", display_name(program.kernel->name)));
  }
  if (const std::string problem = block_problem(*program.kernel, launch.block); !problem.empty()) {
    throw DeviceError(fmt::format("{}: {}", display_name(program.kernel->name), problem));
  }
  if (launch.arguments.size() != program.parameter_offsets.size()) {
    throw DeviceError(fmt::format("{}: launched with {} arguments, but it has {} parameters",
                                  display_name(program.kernel->name), launch.arguments.size(),
                                  program.parameter_offsets.size()));
  }
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (launch.arguments[i].size() == program.kernel->parameters[i].bytes) continue;
    throw DeviceError(fmt::format("{}: argument {} has {} bytes, the parameter {}", display_name(program.kernel->name),
                                  i, launch.arguments[i].size(), program.kernel->parameters[i].bytes));
  }
  if (const std::string problem = cluster_problem(*program.kernel, launch); !problem.empty()) {
    throw DeviceError(fmt::format("{}: {}", display_name(program.kernel->name), problem));
  }
  check_cooperative(program, launch, gpu);
}

bool reads_clock(const ptx::Kernel& kernel) {
  return std::ranges::any_of(kernel.instructions, [](const ptx::Instruction& instruction) {
    return std::ranges::any_of(instruction.operands, [](const ptx::Operand& operand) {
      return operand.name.starts_with("%clock") || operand.name.starts_with("%globaltimer");
    });
  });
}

}  // namespace convladder::simulated
