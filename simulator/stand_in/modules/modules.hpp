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

/// A module is read when something of it is first asked for, as the real runtime does.
class Module {
 public:
  /// A fat binary in the program; `data` stays.
  explicit Module(const void* fat_binary) : fat_binaries_{fat_binary} {}
  /// Those of the objects of a program that was compiled with -rdc=true; they are linked when the module is read.
  explicit Module(std::vector<const void*> fat_binaries) : fat_binaries_(std::move(fat_binaries)) {}
  /// PTX, as the driver API loads it.
  explicit Module(std::string ptx) : ptx_(std::move(ptx)) {}

  /// Throws Failure: no PTX in it, or PTX that cannot be read. The text says which, and what helps.
  const ptx::Module& read(int architecture);
  /// What `read` has read; nullptr if nobody has asked.
  const ptx::Module* read_already() const { return module_.get(); }
  /// The PTX was made for a newer GPU than the one that is simulated.
  bool is_too_new() const { return too_new_; }

 private:
  std::string ptx_of_program(int architecture, std::string& file);

  std::vector<const void*> fat_binaries_;
  std::string ptx_;
  std::unique_ptr<ptx::Module> module_;
  std::optional<std::pair<int, std::string>> failure_;  // the next call fails like the first
  bool too_new_ = false;
};

/// A kernel as the host knows it.
struct Function {
  const void* host = nullptr;  ///< what the program calls it by
  Module* module = nullptr;
  std::string name;                     ///< mangled
  std::string written{};                ///< as a person wrote it, once it has been launched
  const ptx::Kernel* kernel = nullptr;  ///< once it has been looked for
  const void* loaded = nullptr;         ///< what the simulated device launches; null until then
  int most_dynamic_shared_bytes = 0;    ///< cudaFuncAttributeMaxDynamicSharedMemorySize; 0: not set
  int carveout = -1;
  Dim3 cluster{0, 0, 0};                 ///< that its launches have if they say nothing; 0: none
  bool may_have_large_clusters = false;  ///< of more than 8 blocks, which not every GPU has
};

/// A __device__ or __constant__ variable as the host knows it.
struct Variable {
  Module* module = nullptr;
  std::string name;
  std::uint64_t bytes = 0;
  void** managed = nullptr;  ///< the program's pointer to it
};

}  // namespace convladder::stand_in
