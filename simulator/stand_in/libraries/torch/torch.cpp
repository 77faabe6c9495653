// PyTorch's own operators, of which its packages hold machine code only. Python computes them on the host
// (python/convladder/simulated/), on memory that this library gives and checks. Its functions are called by ctypes.
#include <cstring>
#include <memory>

#include "simulator/stand_in/libraries/answer.hpp"

namespace convladder::stand_in {
namespace {

enum Status { done = 0, failed = 1, not_supported = 2 };

const char* status_name(int status) { return status == failed ? "an error" : "not supported"; }

const LibraryInfo kTorch = {
    .name = "torch", .status_name = status_name, .not_supported = not_supported, .failed = failed};

}  // namespace
}  // namespace convladder::stand_in

using namespace convladder::stand_in;

extern "C" {

/// Memory that an operator reads or writes: as MemoryUse.
struct convladder_torch_use {
  const char* name;
  const void* address;
  std::uint64_t run_bytes;
  std::uint64_t runs;
  std::uint64_t distance;
  int reads;
  int writes;
};

/// The host's address of bytes of the device, nullptr where they leave their allocation.
void* convladder_torch_view(const void* address, std::uint64_t bytes) {
  return library_machine().host_view(address, bytes);
}

/// Notes that an operator was computed on such views, in the stream. It is checked with what was known of its memory
/// before. `fp32` and `half` are its products' operations by the type of their factors. In a stream that is captured
/// the operator has not been computed: the graph will call `compute(number)`. Elsewhere `compute` is null. Returns 0,
/// or a status of which `why` gets the reason.
int convladder_torch_computed(const char* name, const convladder_torch_use* uses, int count, double fp32, double half,
                              const void* stream, void (*compute)(std::uint64_t), std::uint64_t number, char* why,
                              int why_bytes) {
  return library_machine().answer(kTorch, name, [&](LibraryCall& one) -> LibraryAnswer {
    LibraryWork work;
    work.amount.fp32 = fp32;
    work.amount.tensor_half = half;
    for (const convladder_torch_use* use = uses; use != uses + count; ++use) {
      work.uses.push_back({.name = use->name,
                           .address = use->address,
                           .run_bytes = use->run_bytes,
                           .runs = use->runs,
                           .distance = use->distance,
                           .reads = use->reads != 0,
                           .writes = use->writes != 0});
      work.amount.bytes +=
          static_cast<double>(use->run_bytes * use->runs) * (use->reads != 0 && use->writes != 0 ? 2 : 1);
    }
    const auto is_there = std::make_shared<bool>(compute != nullptr);  // all of its memory
    work.compute = [is_there, compute, number](LibraryTurn&) {
      *is_there = true;
      if (compute != nullptr) compute(number);
    };
    const bool is_done = one.enqueue(std::move(work), stream, false) == Enqueued::done && *is_there;
    LibraryAnswer answer{is_done ? done : failed, one.why()};
    if (why_bytes > 0) {
      std::strncpy(why, answer.why.c_str(), static_cast<std::size_t>(why_bytes) - 1);
      why[why_bytes - 1] = '\0';
    }
    return answer;
  });
}

/// Copies bytes of the device within the stream. Bytes that nothing has written stay so. Returns 0, or a status.
int convladder_torch_copy(void* to, void* from, std::uint64_t bytes, const void* stream) {
  return library_machine().answer(kTorch, "aten::copy_", [&](LibraryCall& one) -> LibraryAnswer {
    const Enqueued enqueued = one.copy({to, bytes}, {from, bytes}, bytes, 1, stream, false);
    return {enqueued == Enqueued::done ? done : failed, one.why()};
  });
}

/// Notes that an operator is missing: the report names it.
void convladder_torch_missing(const char* name) { library_machine().refuse(kTorch, name); }

}  // extern "C"
