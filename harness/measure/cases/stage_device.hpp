// A CPU stage of a folder in a process of its own. Its tensors are that process's memory, and nothing else of a case is
// there: no clock that counts, no message to answer, no number of a call, no change of an input before it is made.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "devices/cpu/guards.hpp"
#include "devices/device.hpp"
#include "harness/measure/cases/call_starter.hpp"
#include "harness/measure/isolation/handshake.hpp"
#include "harness/measure/isolation/helper_messages.hpp"
#include "harness/measure/isolation/shared_memory.hpp"
#include "ladders/compiled_stage.hpp"
#include "support/seeded_random.hpp"

namespace convladder {

class StageDevice final : public Device, public StageHost {
 public:
  /// `what` names the process in errors. `library` is all that it may read besides the system's. Throws DeviceError
  /// where the system lets no process look into another that it has started.
  StageDevice(std::string what, std::string library);
  ~StageDevice() override;

  std::size_t free_bytes() const override;
  /// Allocates in a new process if the last one has loaded its library, unless exactly the memory that was freed last
  /// is wanted again, as when a variant is prepared once more beside the same tensors.
  DeviceBuffer allocate(std::size_t bytes, std::string_view label) override;
  void copy_to_device(void* destination, const void* source, std::size_t bytes) override;
  void copy_to_host(void* destination, const void* source, std::size_t bytes) override;
  void copy_for_call(void* destination, const void* source, std::size_t bytes) override;
  void expect_final(void* address, std::size_t bytes) override;
  void copy_elements_to_host(void* destination, const void* source, std::size_t bytes,
                             std::span<const std::int64_t> places) override;
  void launch(const KernelLaunch& launch) override;
  void wait() override {}
  /// The time of the calls in `work`, each from when its input is there until its end is seen; of all of `work` if
  /// there is no call in it.
  double time_ns(const std::function<void()>& work) override;
  std::string memory_violation() override;

  void load(const std::string& library, const char* function, const std::vector<StageArgument>& arguments) override;
  void call() override;
  /// Stops the stage: none of it runs until the next call.
  void stop();

  /// From now on stages are untrusted code (run --untrusted, rank). A user who times stages of their own has them in
  /// their case's process, where a call finds in its caches what it would find in a program.
  static void trust_nobody();
  /// Whether stages are to have processes of their own and can: the system may let no process look into another. Tried
  /// once, unless a case's process is told what its harness has found.
  static bool is_possible();
  static void set_possible(bool possible);

 private:
  struct Place {
    GuardedMemory memory;  ///< in the stage's process
    std::size_t bytes = 0;
    std::string label;
  };
  void free(void* address, std::size_t bytes) noexcept override;
  void start();
  void go_on();
  void choose_words();
  std::vector<std::uint32_t> read_words() const;
  [[noreturn]] void ended();
  bool lives();
  ChildProcess& process() const { return client_->process(); }
  Handshake& page() const;

  std::string what_;
  std::string library_;
  std::unique_ptr<SharedMemory> memory_;
  std::unique_ptr<ProcessClient<StageMessages>> client_;  ///< destroyed before the memory
  bool is_loaded_ = false;
  bool is_stopped_ = false;
  std::uint32_t calls_ = 0;
  CallStarter starter_;
  std::vector<InputForCall> for_call_;
  std::vector<std::pair<const std::byte*, std::size_t>> final_;  ///< what a call has written when it returns
  std::vector<const void*> words_;                               ///< of it, chosen for one call
  SeededRandom random_;
  double usual_ns_ = 0;  ///< duration of the last call
  double timed_ns_ = 0;
  std::map<void*, Place> places_;
  std::optional<std::pair<void*, Place>> freed_last_;  ///< memory of the process, freed with it
};

/// Whether the stage runs in a process of its own; otherwise it runs in that of its case.
bool runs_beside(const CompiledStage& stage);

/// The protections against untrusted stages that this system lacks, a line each; none where it has all.
std::vector<std::string> missing_protections();
/// The processors that untrusted stages have, in one line: not that of the process that waits for them. Empty where
/// they have all.
std::string processors_of_untrusted_stages();

}  // namespace convladder
