// The work that kernels give to the device (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"): launches of
// kernels, copies and fills.
//
// All of it is carried out when the kernel that asks for it has ended, in the order in which it was asked for. That is
// one of the orders that streams allow, since no kernel can wait for its children; work of the tail comes last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "devices/kernel_launch.hpp"
#include "simulator/ptx/module.hpp"
#include "simulator/state/finding.hpp"

namespace convladder::simulated {

struct Program;

struct DeviceWork {
  enum class Kind { kernel, copy, fill };
  Kind kind = Kind::kernel;
  bool is_tail = false;  ///< it begins when the kernel and all its other work have ended
  Finding place{};       ///< the call that asks for it, without a problem

  // A kernel.
  const ptx::Kernel* kernel = nullptr;
  Dim3 grid{};
  Dim3 block{};
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters{};  ///< laid out as Program::parameter_offsets says

  // A copy, or a fill of `rows` rows.
  std::uint64_t to = 0;
  std::uint64_t from = 0;
  std::uint64_t to_pitch = 0;
  std::uint64_t from_pitch = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t rows = 1;
  std::byte value{};
};

/// Figures of the machine that kernels may ask for, by the numbers of the CUDA runtime's enumerations.
struct DeviceRuntimeFacts {
  std::function<std::optional<int>(int attribute)> attribute;
  std::function<std::optional<std::uint64_t>(int limit)> limit;
  /// The most bytes of dynamic shared memory that the host lets the kernel have; none: as many as there are.
  std::function<std::uint64_t(const ptx::Kernel& kernel)> most_dynamic_shared_bytes;
  std::function<std::string(int status)> status_name;
  std::function<std::string(int status)> status_text;
  int device = 0;
  int devices = 1;
  int version = 13000;
};

/// The device's part of the runtime in kernels: memory, and work that they give it.
class DeviceRuntimeHost {
 public:
  virtual const DeviceRuntimeFacts& facts() const = 0;
  /// Makes room for the kernel's parameters. Returns the status with which such a launch is refused, or 0. Throws
  /// ptx::PtxError for a kernel that the device does not execute.
  virtual int prepare(const Program& parent, DeviceWork& work) = 0;
  /// Blocks of a kernel of the parent's module that a multiprocessor holds at a time.
  virtual int resident_blocks(const Program& parent, const ptx::Kernel& kernel, std::uint64_t threads,
                              std::uint64_t dynamic_shared_bytes) = 0;
  /// The address of the text on the device, which stays.
  virtual std::uint64_t text_on_device(const std::string& text) = 0;

 protected:
  ~DeviceRuntimeHost() = default;
};

/// The work that the threads of one kernel have asked for so far. A kernel that calls the device runtime runs its
/// blocks in order, on one host thread, so there is no lock.
struct DeviceRuntime {
  /// CUDA's limit of kernels that launch kernels that launch kernels …
  static constexpr int kDeepest = 24;

  DeviceRuntimeHost* host = nullptr;
  int depth = 0;                                                      ///< 0 for a kernel launched by the host
  std::vector<DeviceWork> work;                                       ///< in the order of the calls
  std::map<std::uint64_t, DeviceWork> prepared;                       ///< by the address of their buffer of parameters
  std::map<std::uint64_t, std::uint64_t> buffers;                     ///< of parameters: bytes by address
  std::map<std::uint64_t, std::vector<std::uint64_t>> spare_buffers;  ///< by bytes
  std::map<std::pair<std::uint64_t, unsigned>, int> last_errors;      ///< by block and thread
  std::set<std::uint64_t> streams;
  std::set<std::uint64_t> events;
  std::uint64_t next_handle = 0;
};

}  // namespace convladder::simulated
