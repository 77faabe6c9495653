// Order between the work of several streams: kernels, copies and calls of libraries that touch the same memory while
// neither stream waits for the other, and the host has waited for neither.
//
// The machine that enqueues work says what each piece of it is ordered behind. For every word of memory the last write
// and two reads are kept, by work; a conflict with an older one that these hide is found at another word or not at all.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simulator/state/access_observer.hpp"
#include "simulator/state/finding_log.hpp"

namespace convladder::simulated {

struct Program;

/// For each stream the number of its last work that is known to have ended; streams of which nothing is known are not
/// there.
using EndedWork = std::map<int, std::uint32_t>;

/// Adds what another one knows.
void join(EndedWork& ended, const EndedWork& other);

/// A piece of work in a stream.
struct StreamWork {
  int stream = 0;
  std::uint32_t number = 0;  ///< in its stream, from 1 on
  std::string what;          ///< "scale in stream 2"
  EndedWork behind;          ///< it begins when all of this has ended
};

class WorkOrder final : public AccessObserver {
 public:
  /// From now on everything that touches memory is this work's.
  void begin(StreamWork work);
  /// Its findings from now on, while a kernel runs.
  void report_to(FindingLog* findings) { findings_ = findings; }

  void access(const WarpAccess& access) override;
  void copy_begins(std::span<const WarpAccess> sources, std::span<const WarpAccess> destinations,
                   std::uint64_t copy) override;

  /// A range that a copy or a library's call reads or writes. Returns what it is in no order with ("read after write of
  /// byte 8: … with 'scale in stream 2'"); empty if there is nothing.
  struct Conflict {
    const char* hazard = "";
    std::uint64_t address = 0;
    std::string with;
  };
  std::vector<Conflict> touch(std::uint64_t begin, std::uint64_t bytes, bool writes);
  /// All works of the streams from `first` to before `end`, which nobody else knows by number, have ended when this
  /// work of another stream has: those of a graph, each of whose nodes has a stream of its own.
  void end_together(int first, int end, int stream, std::uint32_t number);
  /// The memory has ended, or has begun anew.
  void forget(std::uint64_t begin, std::uint64_t bytes);
  /// Whether there is more memory than can be followed, so that not every conflict is found.
  bool is_blind() const { return is_blind_; }

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  static constexpr std::uint64_t kWord = 4;
  static constexpr std::size_t kMostPages = std::size_t{1} << 17;  // of 16 KiB each: 2 GiB
  /// Accesses by the works of these indices; 0: none.
  struct Word {
    std::uint32_t writer = 0;
    std::uint32_t first_reader = 0;
    std::uint32_t last_reader = 0;
    std::uint8_t written = 0;  ///< the bytes that the writer has written
    std::uint8_t read = 0;     ///< the bytes that the readers have read
    bool is_strong = false;    ///< all that its writer did here was atomic or volatile
  };
  using Page = std::vector<Word>;
  struct Access {
    bool writes = false;
    bool is_strong = false;
  };
  /// Calls found(hazard, work, address) for what is in no order with the access.
  template <typename Found>
  void touch_words(std::uint64_t begin, std::uint64_t bytes, const Access& access, const Found& found);
  bool is_before(std::uint32_t work) {
    Answer& known = answers_[work % answers_.size()];
    if (known.work != work) known = {work, ends_before(work)};
    return known.is_before;
  }
  bool ends_before(std::uint32_t work) const;
  bool is_strong(const WarpAccess& access);

  struct Together {
    int end = 0;
    int stream = 0;
    std::uint32_t number = 0;
  };

  std::vector<StreamWork> works_ = std::vector<StreamWork>(1);
  std::map<int, Together> together_;                      ///< by first stream
  std::map<std::uint64_t, std::unique_ptr<Page>> pages_;  ///< by number
  std::uint64_t last_page_ = ~std::uint64_t{0};
  Page* last_ = nullptr;
  struct Answer {
    std::uint32_t work = 0;  ///< 0: none
    bool is_before = false;
  };
  std::array<Answer, 64> answers_{};  ///< by the last bits of a work's index, for the current one
  const Program* program_ = nullptr;  ///< whose instructions `strong_` is of
  std::vector<bool> strong_;
  FindingLog* findings_ = nullptr;
  bool is_blind_ = false;
};

}  // namespace convladder::simulated
