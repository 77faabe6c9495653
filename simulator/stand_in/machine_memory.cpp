// Memory of the machine.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>

#include "simulator/stand_in/graph.hpp"
#include "simulator/stand_in/machine.hpp"
#include "simulator/stand_in/memory_pools.hpp"
#include "simulator/stand_in/python.hpp"

namespace convladder::stand_in {
namespace {

std::string_view name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::device:
      return "device memory";
    case MemoryKind::managed:
      return "managed memory";
    case MemoryKind::pinned:
      return "pinned memory";
    case MemoryKind::registered:
      break;
  }
  return "registered memory";
}

}  // namespace

void* Machine::allocate(MemoryKind kind, std::uint64_t bytes, unsigned flags, const char* call, std::string_view name) {
  if (kind != MemoryKind::pinned && bytes > free_bytes()) throw Failure(kOutOfMemory);
  const std::uint64_t number = ++allocations_;
  const std::string label = name.empty() ? fmt::format("{} {}", name_of(kind), number) : std::string(name);
  Memory memory;
  memory.kind = kind;
  memory.bytes = bytes;
  memory.number = number;
  memory.flags = flags;
  memory.context = contexts.current();
  const auto allocate_now = [&] {
    return kind == MemoryKind::device ? device_.allocate(bytes, label) : device_.allocate_visible(bytes, label);
  };
  try {
    memory.buffer = allocate_now();
  } catch (const OutOfDeviceMemory&) {
    if (ending_.empty()) throw Failure(kOutOfMemory);
    settle();
    memory.buffer = allocate_now();
  }
  void* const address = memory.buffer.address();
  if (kind != MemoryKind::device) look_at_order(false);
  if (work_order_) work_order_->forget(reinterpret_cast<std::uint64_t>(address), bytes);
  uses(Contexts::current_device(), kind == MemoryKind::pinned ? 0 : static_cast<std::int64_t>(bytes));
  report.allocated({label, call, bytes, calling_places()});
  memory_.emplace(reinterpret_cast<std::uint64_t>(address), std::move(memory));
  timeline.host_works(timeline.costs().allocate);
  beside.called(static_cast<double>(timeline.costs().allocate));
  return address;
}

void Machine::uses(int device, std::int64_t bytes) {
  used_[device] += static_cast<std::uint64_t>(bytes);
  std::uint64_t all = 0;
  for (const auto& [number, used] : used_) all += used;
  report.uses(all);
}

void Machine::note_mapped(std::uint64_t address, std::uint64_t bytes, int device) {
  Memory memory;
  memory.bytes = bytes;
  memory.number = ++allocations_;
  memory.context = &contexts.primary(device);
  memory.origin = Origin::mapped;
  memory_.insert_or_assign(address, std::move(memory));
}

int Machine::share(void* address, std::uint64_t& bytes) {
  if (settings.real_clock) throw Failure(kNotSupported, "memory shared with other processes, with the real clock");
  std::uint64_t begin = 0;
  const Memory* const memory = memory_at(address, &begin);
  if (memory == nullptr || memory->kind != MemoryKind::device || memory->origin != Origin::allocated ||
      pools().is_of_pool(memory->buffer.address())) {
    throw Failure(kInvalidValue, "only memory of cudaMalloc can be shared");
  }
  bytes = memory->bytes;
  try {
    const int file = device_.memory().share(begin);
    device_.host_wrote(memory->buffer.address(), memory->bytes);  // another process may write it now
    return file;
  } catch (const std::bad_alloc&) {
    throw Failure(kOutOfMemory, "the host has no room to share it");
  }
}

void* Machine::open_shared(int file, std::uint64_t bytes, std::uint64_t inode) {
  if (settings.real_clock) throw Failure(kNotSupported, "memory shared with other processes, with the real clock");
  for (auto& [begin, memory] : memory_) {
    if (memory.origin != Origin::opened || memory.file != inode) continue;
    ++memory.opened;
    return memory.buffer.address();
  }
  const std::uint64_t number = ++allocations_;
  const std::string label = fmt::format("memory of another process {}", number);
  try {
    const std::uint64_t begin = device_.memory().attach(file, bytes, label);
    void* const address = reinterpret_cast<void*>(begin);  // NOLINT(performance-no-int-to-ptr): a number
    report.allocated({label, "cudaIpcOpenMemHandle", bytes, calling_places()});
    memory_.emplace(begin, Memory{MemoryKind::device, bytes, number, DeviceBuffer(device_, address, bytes), 0,
                                  contexts.current(), Origin::opened, inode, 1});
    return address;
  } catch (const std::bad_alloc&) {
    throw Failure(kOutOfMemory);
  }
}

void Machine::close_shared(void* address) {
  const auto found = memory_.find(reinterpret_cast<std::uint64_t>(address));
  if (found == memory_.end() || found->second.origin != Origin::opened) throw Failure(kInvalidValue);
  synchronize_all();
  if (--found->second.opened == 0) memory_.erase(found);
}

void Machine::register_host(void* address, std::uint64_t bytes, unsigned flags) {
  if (address == nullptr || bytes == 0) throw Failure(kInvalidValue);
  const std::uint64_t number = ++allocations_;
  const std::string label = fmt::format("{} {}", name_of(MemoryKind::registered), number);
  try {
    device_.adopt(address, bytes, label);
  } catch (const DeviceError&) {
    throw Failure(kAlreadyRegistered);
  }
  report.allocated({label, "cudaHostRegister", bytes, calling_places()});
  Memory memory;
  memory.kind = MemoryKind::registered;
  memory.bytes = bytes;
  memory.number = number;
  memory.flags = flags;
  memory.context = contexts.current();
  memory_.emplace(reinterpret_cast<std::uint64_t>(address), std::move(memory));
  timeline.host_works(timeline.costs().allocate);
  beside.called(static_cast<double>(timeline.costs().allocate));
}

/// Lets memcheck report a call that is answered with an error.
void Machine::note_freed_wrongly(const void* address, const char* call) {
  if (!settings.checkers.memory) return;
  simulated::Finding finding;
  finding.address = reinterpret_cast<std::uint64_t>(address);
  finding.count = 1;
  finding.space = "global";
  std::string what = "no memory of the device";
  const simulated::Allocation* const nearest = device_.nearest_allocation(address);
  if (nearest != nullptr && finding.address < nearest->end) {
    finding.allocation = nearest->label;
    if (nearest->freed) {
      what = fmt::format("'{}', which was freed already", nearest->label);
    } else if (finding.address > nearest->begin) {
      what = fmt::format("byte {} of '{}', not of its begin", finding.address - nearest->begin, nearest->label);
    } else {
      what = fmt::format("'{}', which another call frees", nearest->label);
    }
  }
  finding.problem = fmt::format("{} of {}", call, what);
  report.found({finding}, calling_places());
}

void Machine::find_leaks() {
  std::vector<std::string> labels;
  std::vector<simulated::Finding> findings;
  for (simulated::Finding& leak : device_.leaks()) {
    labels.push_back(leak.allocation);
    if (settings.leaks) findings.push_back(std::move(leak));
  }
  report.never_freed(std::move(labels));
  report.found(std::move(findings), nullptr);
}

void Machine::free(void* address, bool host, const char* call) {
  if (address == nullptr || graphs().is_memory(address)) return;
  const auto found = memory_.find(reinterpret_cast<std::uint64_t>(address));
  const bool is_host = found != memory_.end() &&
                       (found->second.kind == MemoryKind::pinned || found->second.kind == MemoryKind::registered);
  if (found == memory_.end() || is_host != host || found->second.origin != Origin::allocated) {
    note_freed_wrongly(address, call);
    throw Failure(kInvalidValue);
  }
  synchronize_all();  // as cudaFree does
  if (found->second.kind == MemoryKind::registered) {
    device_.release(address);
  } else if (found->second.kind != MemoryKind::pinned) {
    used_[found->second.context == nullptr ? 0 : found->second.context->device] -= found->second.bytes;
  }
  pools().returned(address);
  if (is_put_off() && found->second.kind == MemoryKind::device) ending_.push_back(std::move(found->second));
  memory_.erase(found);
  timeline.host_works(timeline.costs().allocate);
  beside.called(static_cast<double>(timeline.costs().allocate));
}

const Memory* Machine::memory_at(const void* address, std::uint64_t* begin) const {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  auto above = memory_.upper_bound(at);
  if (above == memory_.begin()) return nullptr;
  --above;
  if (at - above->first >= std::max<std::uint64_t>(above->second.bytes, 1)) return nullptr;
  if (begin != nullptr) *begin = above->first;
  return &above->second;
}

std::uint64_t Machine::capacity() const {
  const std::uint64_t first = settings.real_clock ? settings.real_clock->first_memory_bytes : 0;
  if (first == 0) return capacity_;
  return std::min(capacity_, std::max(first, 2 * report.most_device_bytes()) + bytes_of_other());
}

simulated::SimulatedDevice& Machine::device() {
  if (deferred_) {
    settle();
    deferred_->wrote_anything();
  }
  return device_;
}

void Machine::settle() {
  if (!deferred_ || deferred_->is_settled()) return;
  deferred_->settle();
  end_if_signalled();
  ending_.clear();
  if (lost_ != kSuccess) throw Failure(lost_);
}

simulated::TextureTable& Machine::textures() {
  has_textures_ = true;
  return device().textures();
}

std::uint64_t Machine::own_begin(const void* address) const {
  const simulated::Allocation* const found = device_.allocation_at(address);
  return found == nullptr || found->begin >= simulated::kVisibleWindow ? 0 : found->begin;
}

bool Machine::bring_to_host(const ContentName& name, const void* from, std::function<std::vector<std::byte>()> look,
                            std::function<void(const std::vector<std::byte>&)> deliver, bool at_once) {
  if (!is_put_off()) return false;
  const std::uint64_t read = own_begin(from);
  if (read == 0) return false;
  deferred_->add(std::make_shared<const DeferredOperation>(DeferredOperation{
      .name = name, .depends_on = std::vector{read}, .look = std::move(look), .deliver = std::move(deliver)}));
  if (at_once) host_may_look();
  return true;
}

void Machine::host_may_look() {
  if (!deferred_ || !deferred_->goes_to_host()) return;
  deferred_->deliver();
  end_if_signalled();
  if (deferred_->is_settled()) ending_.clear();
  if (lost_ != kSuccess) throw Failure(lost_);
}

void Machine::moved_by_host(const void* to) {
  const std::uint64_t written = deferred_ ? own_begin(to) : 0;
  if (written != 0) deferred_->wrote(written);
}

void Machine::move_bytes(const ContentName& name, const void* to, const void* from, std::uint64_t kept_bytes,
                         std::function<void()> carry_out) {
  const std::uint64_t written = deferred_ ? own_begin(to) : 0;
  const std::uint64_t read = deferred_ && from != nullptr ? own_begin(from) : 0;
  if (written == 0 || (from != nullptr && read == 0)) {
    settle();
    carry_out();
    moved_by_host(to);
    return;
  }
  DeferredOperation operation{.name = name,
                              .carry_out = std::move(carry_out),
                              .depends_on = std::vector<std::uint64_t>{written},
                              .may_write = [written] { return std::vector<std::uint64_t>{written}; },
                              .kept_bytes = kept_bytes};
  if (read != 0 && read != written) operation.depends_on->push_back(read);
  deferred_->add(std::make_shared<const DeferredOperation>(std::move(operation)));
}

std::byte* Machine::bytes_at(const void* address, std::uint64_t bytes) const {
  const bool is_device =
      device_.allocation_at(address) != nullptr ||
      reinterpret_cast<std::uint64_t>(address) - simulated::kGlobalWindow < simulated::kGlobalWindowBytes;
  if (!is_device) return static_cast<std::byte*>(const_cast<void*>(address));
  for (const Memory& memory : ending_) {
    const auto begin = reinterpret_cast<std::uint64_t>(memory.buffer.address());
    if (reinterpret_cast<std::uint64_t>(address) - begin < memory.bytes) throw Failure(kInvalidValue, "it was freed");
  }
  try {
    return device_.bytes_at(address, bytes, "copy");
  } catch (const DeviceError& error) {
    throw Failure(kInvalidValue, error.what());
  }
}

void Machine::wrote(void* address, std::uint64_t bytes) {
  if (bytes > 0 && device_.allocation_at(address) != nullptr) device_.host_wrote(address, bytes);
}

void Machine::brought_unwritten(const simulated::UnwrittenBytes& unwritten, const void* from) {
  if (unwritten.count == 0) return;
  const auto address = reinterpret_cast<std::uint64_t>(from);
  const simulated::Allocation* const memory = device_.allocation_at(from);
  simulated::Finding finding;
  finding.checker = simulated::Checker::initialization;
  finding.severity = unwritten.is_padding() ? simulated::Severity::note : simulated::Severity::finding;
  finding.space = "global";
  finding.address = address;
  finding.allocation = memory == nullptr ? "" : memory->label;
  finding.count = 1;
  const std::uint64_t begin = memory == nullptr ? 0 : memory->begin;
  const std::uint64_t first = unwritten.first - begin;
  const std::string where = unwritten.pieces > 1  ? fmt::format("the first is byte {}", first)
                            : unwritten.count > 1 ? fmt::format("bytes {} to {}", first, first + unwritten.count - 1)
                                                  : fmt::format("byte {}", first);
  finding.problem = fmt::format("copy to the host of {} byte{} that nothing has written: {} of '{}'{}", unwritten.count,
                                unwritten.count == 1 ? "" : "s", where, finding.allocation,
                                unwritten.is_padding() ? "; they lie as padding does" : "");
  report.found({finding}, calling_places());
}

}  // namespace convladder::stand_in
