// Small PTX kernels and a way to run them on the simulated device's executor.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "simulator/execution/executor.hpp"
#include "simulator/instructions/decoder.hpp"
#include "simulator/ptx/parser.hpp"

namespace convladder::simulated {

/// A module with one kernel `test` of the given parameters and body.
inline std::string kernel_text(const std::string& parameters, const std::string& body) {
  return ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry test(" + parameters + ")\n{\n" + body +
         "\n}\n";
}

/// One kernel with memory of its own. Parameters are given in order, each as its bytes.
class KernelRun {
 public:
  explicit KernelRun(const std::string& text) : module_(ptx::parse_module(text, "test.ptx")), memory_(1 << 24) {
    program_ = decode(module_, module_.kernels.at(0), [](const ptx::Symbol&) { return std::uint64_t{0}; });
    parameters_.resize(program_.parameter_bytes);
  }

  template <typename T>
  void set(std::size_t parameter, T value) {
    std::memcpy(parameters_.data() + program_.parameter_offsets.at(parameter), &value, sizeof value);
  }
  template <typename T>
  std::uint64_t array(const std::vector<T>& values, const std::string& label) {
    const std::uint64_t address = memory_.allocate(values.size() * sizeof(T), label);
    std::memcpy(memory_.host(address), values.data(), values.size() * sizeof(T));
    return address;
  }
  template <typename T>
  std::vector<T> read(std::uint64_t address, std::size_t count) const {
    std::vector<T> values(count);
    std::memcpy(values.data(), memory_.host(address), count * sizeof(T));
    return values;
  }

  LaunchResult launch(Dim3 grid, Dim3 block, std::uint32_t shared_bytes = 0, int host_threads = 1) {
    LaunchConfiguration configuration;
    configuration.grid = grid;
    configuration.block = block;
    configuration.dynamic_shared_bytes = shared_bytes;
    configuration.parameters = parameters_;
    configuration.host_threads = host_threads;
    return execute(program_, memory_, configuration);
  }

  /// With everything but the parameters given.
  LaunchResult launch(LaunchConfiguration configuration, const MakeObservers& make_observers = nullptr) {
    configuration.parameters = parameters_;
    return execute(program_, memory_, configuration, make_observers);
  }

  const Program& program() const { return program_; }
  void set_tensor_cores(TensorCores cores) { program_.tensor_cores = cores; }
  const std::vector<std::byte>& parameters() const { return parameters_; }
  DeviceMemory& memory() { return memory_; }
  /// The counters of the first instruction whose opcode is this.
  const InstructionCounters& of(const LaunchResult& result, const std::string& opcode) const {
    const auto& instructions = module_.kernels.at(0).instructions;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      if (instructions[i].opcode == opcode) return result.counters.at(i);
    }
    throw std::out_of_range("no instruction " + opcode);
  }

 private:
  ptx::Module module_;
  DeviceMemory memory_;
  Program program_;
  std::vector<std::byte> parameters_;
};

}  // namespace convladder::simulated
