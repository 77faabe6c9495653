// Work of libraries' calls on the machine: done in its turn, on memory that is checked as that of kernels is.
#pragma once

#include <memory>
#include <string>

#include "simulator/stand_in/library_calls.hpp"
#include "simulator/stand_in/report/host_place.hpp"

namespace convladder::stand_in {

class Machine;

/// A call's work, with what the report has to say of it.
struct EnqueuedLibraryWork {
  std::string library;  ///< "cuBLAS"
  std::string call;     ///< "cublasSgemm"
  LibraryWork work;
};

/// Does the work now. Throws Failure where memory is not there and no checker looks on: the device is lost, as by a
/// kernel.
void carry_out(Machine& machine, const EnqueuedLibraryWork& enqueued, int stream);

}  // namespace convladder::stand_in
