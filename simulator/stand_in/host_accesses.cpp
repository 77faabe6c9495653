#include "simulator/stand_in/host_accesses.hpp"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <optional>
#include <utility>

#include "simulator/memory/device_memory.hpp"
#include "simulator/stand_in/python.hpp"
#include "simulator/stand_in/report/call_places.hpp"
#include "simulator/stand_in/report/signals.hpp"

namespace convladder::stand_in {
namespace {

constexpr std::uint64_t kPage = simulated::WorkOrder::kPageBytes;
constexpr std::size_t kMostKept = 64;    // accesses between two calls
constexpr std::size_t kMostRuns = 1024;  // of pages: the system limits how many parts of memory are protected apart

/// An access as the handler of its fault keeps it.
struct Kept {
  std::uint64_t address = 0;
  std::uint64_t instruction = 0;
  bool writes = false;
  Frames frames;
  std::atomic<bool> is_whole = false;
};
std::array<Kept, kMostKept> kept;
std::atomic<std::size_t> kept_count = 0;
std::atomic<bool> is_ever_protected = false;  // whether any page has been

/// Opens or protects memory from `begin` on. Returns false where some of it is no memory any more.
bool set_access(std::uint64_t begin, std::uint64_t end, int access) {
  return mprotect(reinterpret_cast<void*>(begin), end - begin, access) == 0;  // NOLINT(performance-no-int-to-ptr)
}

/// The place that tells one access from another: of a library's function, such as memcpy, the one that called it.
CallPlace place_in_program(const std::vector<CallPlace>& places) {
  if (places.empty()) return {};
  const auto outer = std::ranges::find_if(places, [&](const CallPlace& one) { return one.file != places[0].file; });
  const bool is_of_library = places[0].file.ends_with(".so") || places[0].file.find(".so.") != std::string::npos;
  return is_of_library && outer != places.end() ? *outer : places.front();
}

}  // namespace

bool HostAccesses::take_fault(std::uint64_t address, const void* context) {
#if defined(__x86_64__)
  const std::uint64_t window_end = simulated::kGlobalWindow + simulated::kGlobalWindowBytes;
  if (!is_ever_protected || address < simulated::kVisibleWindow || address >= window_end) return false;
  constexpr greg_t kFetches = 16;  // bits of a page fault's error code
  constexpr greg_t kWrites = 2;
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  if ((registers[REG_ERR] & kFetches) != 0) return false;
  // Another thread may have opened the page meanwhile. Where there is no memory, this fails.
  const std::uint64_t page = address / kPage * kPage;
  if (!set_access(page, page + kPage, PROT_READ | PROT_WRITE)) return false;
  const std::size_t number = kept_count.fetch_add(1);
  if (number >= kMostKept) return true;
  Kept& one = kept[number];
  one.address = address;
  one.instruction = static_cast<std::uint64_t>(registers[REG_RIP]);
  one.writes = (registers[REG_ERR] & kWrites) != 0;
  one.frames.take();
  one.is_whole = true;
  return true;
#else
  static_cast<void>(address);
  static_cast<void>(context);
  return false;
#endif
}

std::vector<HostAccesses::Found> HostAccesses::open(simulated::WorkOrder& order, const simulated::EndedWork& host) {
  std::vector<Found> found;
  if (!protected_.empty() && protected_by_ == std::this_thread::get_id()) {
    const Run& first = protected_.front();
    if (errno == EFAULT) found.push_back({first.begin, "", order.what(first.user)});
    if (errno == 0) errno = error_before_;
  }
  for (const Run& run : protected_) set_access(run.begin, run.end, PROT_READ | PROT_WRITE);
  protected_.clear();
  const std::size_t count = std::min(kept_count.exchange(0), kMostKept);
  simulated::EndedWork ended = host;
  simulated::join(ended, seen_);
  for (std::size_t i = 0; i < count; ++i) {
    Kept& one = kept[i];
    if (!one.is_whole.exchange(false)) continue;  // another thread is in its handler
    const auto conflict = order.host_access(one.address, one.writes, ended, seen_);
    simulated::join(ended, seen_);
    if (!conflict) continue;
    CallPlaces places = interrupted_places(one.frames, one.instruction);
    const CallPlace place = place_in_program(*places);
    if (known_.emplace(conflict->hazard, conflict->with, place.file, place.offset).second) {
      found.push_back({conflict->address, conflict->hazard, conflict->with, std::move(places)});
    }
  }
  return found;
}

const std::vector<HostAccesses::Run>& HostAccesses::runs_in_use(simulated::WorkOrder& order,
                                                                const simulated::EndedWork& host) {
  simulated::EndedWork ended = host;
  simulated::join(ended, seen_);
  if (ended == ended_ && order.uses() == uses_) return runs_;
  uses_ = order.uses();
  ended_ = std::move(ended);
  runs_.clear();
  for (const simulated::WorkOrder::PageInUse& page : order.pages_in_use(ended_)) {
    if (!runs_.empty() && runs_.back().end == page.begin && runs_.back().is_written == page.is_written) {
      runs_.back().end += kPage;
    } else if (runs_.size() < kMostRuns) {
      runs_.push_back({page.begin, page.begin + kPage, page.is_written, page.user});
    }
  }
  return runs_;
}

bool HostAccesses::protect(simulated::WorkOrder& order, const simulated::EndedWork& host) {
#if defined(__x86_64__)
  static const bool is_possible = sysconf(_SC_PAGESIZE) == static_cast<long>(kPage);
#else
  static const bool is_possible = false;
#endif
  const std::vector<Run>& runs = runs_in_use(order, host);
  if (runs.empty() || python_caller().line > 0)
    return true;  // a line of Python has many accesses, most of them not its
  if (!is_possible) return false;
  take_faults_first();
  is_ever_protected = true;
  for (const Run& run : runs) {
    if (set_access(run.begin, run.end, run.is_written ? PROT_NONE : PROT_READ)) protected_.push_back(run);
  }
  protected_by_ = std::this_thread::get_id();
  error_before_ = errno;
  errno = 0;
  return true;
}

}  // namespace convladder::stand_in
