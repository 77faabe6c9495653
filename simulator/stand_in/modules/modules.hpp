// The kernels and variables that a program has registered or loaded.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "devices/kernel_launch.hpp"
#include "simulator/ptx/module.hpp"
#include "simulator/stand_in/modules/fat_binary.hpp"

namespace convladder::stand_in {

/// A module, which is read when anything in it is first asked for, as the real runtime does.
class Module {
 public:
  /// A fat binary in the program; `data` must stay.
  explicit Module(const void* fat_binary) : fat_binaries_{fat_binary} {}
  /// The fat binaries of a program's objects compiled with -rdc=true, which are linked when the module is read.
  explicit Module(std::vector<const void*> fat_binaries) : fat_binaries_(std::move(fat_binaries)) {}
  /// PTX, as loaded through the driver API.
  explicit Module(std::string ptx) : ptx_(std::move(ptx)) {}

  /// Throws Failure if there is no PTX, or PTX that cannot be read. The text says which, and gives a remedy.
  const ptx::Module& read(int architecture);
  /// The module that `read` has read; nullptr if nobody has called it.
  const ptx::Module* read_already() const { return module_.get(); }
  /// Whether the PTX was made for a newer GPU than the simulated one.
  bool is_too_new() const { return too_new_; }
  /// The host's handles of its kernels and variables: programs have modules by the hundred, and end each of them.
  std::vector<const void*> handles;

 private:
  std::string ptx_of_program(int architecture, std::string& file);

  std::vector<const void*> fat_binaries_;
  std::string ptx_;
  std::unique_ptr<ptx::Module> module_;
  std::optional<std::pair<int, std::string>> failure_;  // later calls fail like the first
  bool too_new_ = false;
};

/// A kernel as known on the host.
struct Function {
  const void* host = nullptr;  ///< the program's handle of it
  Module* module = nullptr;
  std::string name;                     ///< mangled
  std::string written{};                ///< the name as in the source, once it has been launched
  std::string configuration{};          ///< as who compiled it has told: "BLOCK=128, 4 warps, 3 stages"
  const ptx::Kernel* kernel = nullptr;  ///< set once it has been looked for
  const void* loaded = nullptr;         ///< the handle in the simulated device, once it is loaded
  int most_dynamic_shared_bytes = 0;    ///< cudaFuncAttributeMaxDynamicSharedMemorySize; 0: not set
  int carveout = -1;
  Dim3 cluster{0, 0, 0};                 ///< the default for its launches; 0: none
  bool may_have_large_clusters = false;  ///< larger than 8 blocks, which not every GPU supports
};

/// A __device__ or __constant__ variable as known on the host.
struct Variable {
  Module* module = nullptr;
  std::string name;
  std::uint64_t bytes = 0;
  void** managed = nullptr;  ///< the program's pointer to it
};

}  // namespace convladder::stand_in
