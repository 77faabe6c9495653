// The machine as the stand-ins for libraries see it.
#include <cstring>

#include "devices/cpu/cpu_facts.hpp"
#include "simulator/stand_in/copying.hpp"
#include "simulator/stand_in/device_attributes.hpp"
#include "simulator/stand_in/graph.hpp"
#include "simulator/stand_in/library_calls.hpp"
#include "simulator/stand_in/modules/images.hpp"
#include "simulator/stand_in/runtime/answer.hpp"
#include "simulator/stand_in/visible_device.hpp"

namespace convladder::stand_in {
namespace {

class Call final : public LibraryCall {
 public:
  Call(Machine& machine, const LibraryInfo& library, const char* name)
      : machine_(machine), library_(library), name_(name) {}

  Enqueued enqueue(LibraryWork work, const void* stream, bool host_waits) override {
    return done([&] {
      const int number = machine_.stream_number(stream);
      if (host_waits) machine_.graphs().wait_for_stream(number);
      const auto enqueued =
          std::make_shared<const EnqueuedLibraryWork>(EnqueuedLibraryWork{library_.name, name_, std::move(work)});
      if (machine_.graphs().capture(number, LibraryCallWork{enqueued})) return;
      carry_out(machine_, *enqueued, number);
      if (host_waits) machine_.synchronize(number);
    });
  }

  Enqueued copy(ByteRows to, ByteRows from, std::size_t width, std::size_t height, const void* stream,
                bool host_waits) override {
    return done([&] {
      copy_rectangle(machine_, {to.address, to.pitch, 0}, {from.address, from.pitch, 0}, {width, height, 1},
                     CopyKind::by_address, machine_.stream_number(stream), host_waits);
    });
  }

  void* allocate(std::uint64_t bytes) override {
    void* address = nullptr;
    done([&] { address = machine_.allocate(MemoryKind::device, bytes, 0, name_); });
    return address;
  }

  Enqueued free(void* address) override {
    return done([&] { machine_.free(address, false, name_); });
  }

  int gpus() const override { return machine_.settings.gpu_count; }
  SeenGpu gpu(int number) const override {
    const GpuFacts& facts = machine_.gpu();
    const auto attribute = [&](int number) { return device_attribute(facts, number).value_or(0); };
    constexpr int kKilo = 1000;
    return {.title = facts.title + " (simulated)",  // as cudaGetDeviceProperties says
            .uuid = uuid_text(number),
            .bus_id = bus_text(number),
            .architecture = machine_.architecture(),
            .cores = static_cast<int>(facts.fp32_lanes) * facts.multiprocessors,
            .bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth),
            .clock_mhz = static_cast<unsigned>(facts.clock_mhz.high),
            .memory_clock_mhz = static_cast<unsigned>(attribute(cudaDevAttrMemoryClockRate) / kKilo),
            .memory_bytes = machine_.capacity(),
            .free_bytes = machine_.told_free_bytes(machine_.device_of(number)),
            .driver_version = machine_.driver_version()};
  }
  bool is_of_device(const void* address) const override { return machine_.owns(address); }
  std::optional<std::string> ptx_of(std::span<const std::byte> image) override {
    std::optional<std::string> text;
    done([&] { text = ptx_of_bytes(image, machine_.architecture()); });
    return text;
  }
  std::optional<std::string> linked_ptx(const std::vector<std::string>& texts) override {
    std::optional<std::string> text;
    done([&] { text = stand_in::linked_ptx(texts); });
    return text;
  }
  void note(const std::string& text) override { machine_.report.note(text); }
  const std::string& why() const override { return why_; }

 private:
  template <typename Work>
  Enqueued done(const Work& work) {
    try {
      work();
      return Enqueued::done;
    } catch (const Failure& failure) {
      why_ = *failure.what() != '\0' ? failure.what() : std::string(status_name(failure.status));
      const bool is_captured = failure.status >= kStreamCaptureUnsupported && failure.status <= kStreamCaptureImplicit;
      return is_captured ? Enqueued::not_captured : Enqueued::failed;
    } catch (const std::exception& error) {
      why_ = error.what();
      return Enqueued::failed;
    }
  }

  Machine& machine_;
  const LibraryInfo& library_;
  const char* name_;
  std::string why_;
};

/// While it exists, nothing that the machine does for a library changes the runtime's last error.
class ForLibrary {
 public:
  explicit ForLibrary(const char* call) : before_(asked_by) { asked_by = call; }
  ~ForLibrary() { asked_by = before_; }
  ForLibrary(const ForLibrary&) = delete;
  ForLibrary& operator=(const ForLibrary&) = delete;

 private:
  const char* before_;
};

class TheMachine final : public LibraryMachine {
 public:
  int answer(const LibraryInfo& library, const char* call,
             const std::function<LibraryAnswer(LibraryCall&)>& work) noexcept override {
    return answered(library, call, [&](Machine& machine) {
      if (machine.lost() != kSuccess && library.needs_context)
        return LibraryAnswer{library.failed, std::string(status_name(machine.lost()))};
      Call one(machine, library, call);
      return work(one);
    });
  }

  int refuse(const LibraryInfo& library, const char* call) noexcept override {
    return answered(library, call, [&](Machine& machine) {
      machine.report.not_supported(call);
      return LibraryAnswer{library.not_supported, ""};
    });
  }

  void* host_view(const void* address, std::uint64_t bytes) noexcept override {
    try {
      if (Machine::is_lost_by_fork()) return nullptr;
      Machine& machine = Machine::get();
      const std::scoped_lock lock(machine.mutex);
      simulated::SimulatedDevice& device = machine.device();
      const simulated::Allocation* const memory = device.allocation_at(address);
      const auto begin = reinterpret_cast<std::uint64_t>(address);
      if (memory == nullptr || bytes > memory->end - begin) return nullptr;
      return device.bytes_at(address, bytes, "use");
    } catch (const std::exception&) {
      return nullptr;  // the call that uses it says why
    }
  }

  int architecture() const override { return Machine::get().architecture(); }
  int host_threads() const override {
    const int wanted = Machine::get().settings.host_threads;
    return wanted > 0 ? wanted : usable_cores();
  }

 private:
  template <typename Work>
  static int answered(const LibraryInfo& library, const char* call, const Work& work) noexcept {
    try {
      if (Machine::is_lost_by_fork()) return library.failed;
      if (Answering::depth == 0 && library.needs_context) note_python_caller();
      Machine& machine = Machine::get();
      Returning returning{machine.timeline.is_real()};
      const std::scoped_lock lock(machine.mutex);
      const Answering answering(machine, returning.at);
      const ForLibrary asking(call);
      LibraryAnswer answer;
      try {
        const TimedCall timed(machine, call);
        if (Answering::depth == 1) machine.begin_call(call, library.needs_context);
        if (library.needs_context) machine.contexts.use_primary();
        answer = work(machine);
      } catch (const Failure& failure) {
        // A fault that the settings ask for has a number of the library's.
        const bool is_fault = std::strstr(failure.what(), "the settings ask for") != nullptr;
        answer = {is_fault ? failure.status : library.failed,
                  *failure.what() != '\0' ? failure.what() : std::string(status_name(failure.status))};
      } catch (const std::exception& error) {
        answer = {library.failed, error.what()};
      }
      const bool is_failure = library.is_failure != nullptr ? library.is_failure(answer.status) : answer.status != 0;
      if (is_failure) {
        machine.report.library_failed(library.name, call, answer.status, library.status_name(answer.status), answer.why,
                                      calling_places);
      }
      return answer.status;
    } catch (...) {
      return library.failed;  // no machine could be made, so there is nowhere to say more
    }
  }
};

}  // namespace
}  // namespace convladder::stand_in

extern "C" convladder::stand_in::LibraryMachine* convladder_stand_in_library_machine() {
  static auto* const machine = new convladder::stand_in::TheMachine;  // programs call until their very end
  return machine;
}
