// The work of loaded code between its kernels, added up: copies, fills, allocations, and its own on the host.
#pragma once

#include <ctime>
#include <utility>

#include "devices/device.hpp"

namespace convladder::stand_in {

class BesideKernels {
 public:
  /// Looks from now on. Before, nothing is added up, and no clock is read.
  void start() {
    looks_ = true;
    since_ = used_ns();
  }
  void copied(double ns) {
    if (looks_) work_.bus_ns += ns;
  }
  void moved(double bytes) {
    if (!looks_) return;
    work_.moved_bytes += bytes;
    ++work_.operations;
  }
  void called(double ns) {
    if (looks_) work_.calls_ns += ns;
  }
  /// The outermost call of the API begins: the processor time since the last one has ended was the program's own.
  void call_begins() {
    if (looks_) work_.host_ns += used_ns() - since_;
  }
  void call_ends() {
    if (looks_) since_ = used_ns();
  }
  /// Work of the program's that is done within a call, such as a function in a graph.
  template <typename Work>
  void host_works(const Work& work) {
    const double before = looks_ ? used_ns() : 0;
    work();
    if (looks_) work_.host_ns += used_ns() - before;
  }
  WorkBeside take() {
    call_begins();
    call_ends();
    return std::exchange(work_, {});
  }

 private:
  /// Processor time of the process, all of its threads.
  static double used_ns() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
  }

  bool looks_ = false;
  double since_ = 0;
  WorkBeside work_;
};

}  // namespace convladder::stand_in
