// The machine as the stand-ins for libraries that programs call (cuBLAS, cuFFT, …) see it. Their work is computed on
// the host, at its place in the stream's order, on memory of the device that the checkers watch.
//
// The libraries are files of their own and see nothing else of the machine; no exception passes between them and it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/gpus/work_time.hpp"

namespace convladder::stand_in {

/// Memory that a call reads or writes: `runs` runs of bytes, like the columns of a matrix. Run i begins `distance` * i
/// bytes behind the first; those of a triangle begin `shift` * i bytes later, and are `growth` * i bytes longer.
struct MemoryUse {
  const char* name = "";  ///< the argument's, for findings: "A"
  const void* address = nullptr;
  std::uint64_t run_bytes = 0;
  std::uint64_t runs = 1;
  std::uint64_t distance = 0;
  bool reads = false;
  bool writes = false;
  std::int64_t shift = 0;
  std::int64_t growth = 0;
};

/// The moment when the work of a call is done.
class LibraryTurn {
 public:
  virtual ~LibraryTurn() = default;
  /// The host's address of memory of the device; memory of the host stays where it is.
  virtual void* host(const void* address) const = 0;
  /// Checks memory of which only now is known that it is used, and notes what is written. False if it is not there: a
  /// finding says so.
  virtual bool may_use(const MemoryUse& use) = 0;

  template <typename T>
  T* at(T* address) const {
    return static_cast<T*>(host(address));
  }
};

/// The work that a call enqueues.
struct LibraryWork {
  std::vector<MemoryUse> uses{};  ///< checked before it is done; if one is not there, it is not done
  WorkAmount amount{};            ///< for its predicted time
  std::function<void(LibraryTurn& turn)> compute{};
};

/// The end of a call: the library's status, and why, where that does not say everything.
struct LibraryAnswer {
  int status = 0;
  std::string why;
};

/// How the machine's part of a call ended.
enum class Enqueued {
  done,
  failed,        ///< the device is lost, or a handle is wrong
  not_captured,  ///< the stream is captured, and this cannot be a part of a graph
};

/// A row of bytes and those below it, for copies.
struct ByteRows {
  void* address = nullptr;
  std::size_t pitch = 0;
};

/// A GPU of the machine.
struct SeenGpu {
  std::string title;  ///< "NVIDIA H100 SXM (simulated)"
  std::string uuid;   ///< "GPU-…", as nvidia-smi writes it
  std::string bus_id;
  int architecture = 0;  ///< 90 for compute capability 9.0
  int cores = 0;         ///< lanes of all multiprocessors for single precision
  int bus_bits = 0;      ///< of the memory
  unsigned clock_mhz = 0;
  unsigned memory_clock_mhz = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t free_bytes = 0;
  int driver_version = 0;  ///< 13000 for CUDA 13.0
};

/// A call that is being answered.
class LibraryCall {
 public:
  virtual ~LibraryCall() = default;
  /// Does the work in its turn of the stream (cudaStream_t), or lets a graph keep it that the stream is captured into.
  /// `host_waits`: the result goes to the host, which waits for it.
  virtual Enqueued enqueue(LibraryWork work, const void* stream, bool host_waits) = 0;
  /// Copies rows between any two places, as cudaMemcpy2DAsync does, or as cudaMemcpy2D if the host waits.
  virtual Enqueued copy(ByteRows to, ByteRows from, std::size_t width, std::size_t height, const void* stream,
                        bool host_waits) = 0;
  /// Allocates memory of the device as cudaMalloc does; nullptr if there is none.
  virtual void* allocate(std::uint64_t bytes) = 0;
  virtual Enqueued free(void* address) = 0;
  /// Whether the address is one that kernels can reach.
  virtual bool is_of_device(const void* address) const = 0;
  /// How many GPUs the machine has, with those that CUDA_VISIBLE_DEVICES hides.
  virtual int gpus() const = 0;
  /// One of them, counted from 0.
  virtual SeenGpu gpu(int number) const = 0;
  /// The PTX of an image that a kernel of the GPU could come from: text, or a fat binary. Nothing where there is none:
  /// `why` says so.
  virtual std::optional<std::string> ptx_of(std::span<const std::byte> image) = 0;
  /// One module of several, as a linker makes it. Nothing where they do not fit together: `why` says so.
  virtual std::optional<std::string> linked_ptx(const std::vector<std::string>& texts) = 0;
  /// Adds a line to the report's remarks.
  virtual void note(const std::string& text) = 0;
  /// The last failure of this call on the machine's side, in words; empty if there was none.
  virtual const std::string& why() const = 0;
};

/// A library, as the machine knows it.
struct LibraryInfo {
  const char* name = "";                      ///< "cuBLAS"
  const char* (*status_name)(int) = nullptr;  ///< "CUBLAS_STATUS_INVALID_VALUE"
  int not_supported = 0;                      ///< its status for what is missing here
  int failed = 0;                             ///< its status where the device fails
  bool (*is_failure)(int status) = nullptr;   ///< null: everything but 0
  bool needs_context = true;                  ///< false: its calls ask nothing of CUDA's context
};

class LibraryMachine {
 public:
  virtual ~LibraryMachine() = default;
  /// Answers a call of the program: counts it, lets `work` do it, and notes how it ended. `call` is a name that lives
  /// as long as the process.
  virtual int answer(const LibraryInfo& library, const char* call,
                     const std::function<LibraryAnswer(LibraryCall& call)>& work) noexcept = 0;
  /// Answers a call of a function that the stand-in lacks: the report names it, and the process does not end with 0.
  virtual int refuse(const LibraryInfo& library, const char* call) noexcept = 0;
  /// The host's address of bytes of the device; nullptr where they are not in one allocation. Counts as no call.
  virtual void* host_view(const void* address, std::uint64_t bytes) noexcept = 0;
  /// 90 for compute capability 9.0.
  virtual int architecture() const = 0;
  /// The most host threads that a call may take.
  virtual int host_threads() const = 0;
};

}  // namespace convladder::stand_in

/// The machine of this process.
extern "C" convladder::stand_in::LibraryMachine* convladder_stand_in_library_machine();
