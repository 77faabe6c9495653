// Packages of Python know more of their kernels and graphs than the driver is told: python/convladder/simulated/.
#include <chrono>
#include <thread>

#include "simulator/stand_in/report/process_end.hpp"
#include "simulator/stand_in/runtime/answer.hpp"

using convladder::stand_in::Function;
using convladder::stand_in::Machine;

extern "C" {

/// Names the configuration of a kernel, given by its handle: "BLOCK=128, 4 warps, 3 stages". An unknown handle is
/// left alone.
void convladder_stand_in_configured(const void* function, const char* configuration) {
  Machine& machine = Machine::get();
  const std::scoped_lock lock(machine.mutex);
  if (Function* const found = machine.find_function(function)) found->configuration = configuration;
}

/// Notes a configuration that an autotuner has tried for arguments of one kind. `predicted_ns` is 0 where it did not
/// run; `result` says in words how its results differ from those of the first one, or why it did not run.
void convladder_stand_in_tried(const char* kernel, const char* arguments, const char* configuration, const char* result,
                               std::uint64_t predicted_ns, std::uint64_t findings) {
  Machine& machine = Machine::get();
  const std::scoped_lock lock(machine.mutex);
  machine.report.tried(
      kernel, arguments,
      {.configuration = configuration, .result = result, .predicted = predicted_ns, .findings = findings});
}

/// Adds a line to the report's remarks.
void convladder_stand_in_remark(const char* text) {
  Machine& machine = Machine::get();
  const std::scoped_lock lock(machine.mutex);
  machine.report.note(text);
}

/// PyTorch begins to capture a graph, of which the caller has the number. See MemoryOfGraphs.
void convladder_stand_in_capture_begins(std::uint64_t graph) {
  Machine& machine = Machine::get();
  const std::scoped_lock lock(machine.mutex);
  machine.memory_of_graphs.begin_capture(graph);
}

void convladder_stand_in_capture_ends() {
  Machine& machine = Machine::get();
  const std::scoped_lock lock(machine.mutex);
  machine.memory_of_graphs.end_capture();
}

/// Frees the memory that only this graph still needs.
void convladder_stand_in_graph_ends(std::uint64_t graph) {
  Machine& machine = Machine::get();
  const std::scoped_lock lock(machine.mutex);
  for (void* const address : machine.memory_of_graphs.end(graph)) machine.free(address, false, "cudaFree");
}

/// Writes the report of a process that leaves by os._exit(), as those of multiprocessing do. If another thread is in a
/// call for longer than a second, nobody waits for it and there is no report.
void convladder_stand_in_process_ends(int status) {
  if (Machine::is_lost_by_fork()) return;  // the lock may be that of a thread that is not here
  Machine& machine = Machine::get();
  for (int i = 0; i < 100; ++i) {
    if (machine.mutex.try_lock()) {
      machine.mutex.unlock();
      convladder::stand_in::process_ends(status);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // extern "C"
