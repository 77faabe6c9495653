// Order between the work of several streams: kernels, copies and calls of libraries that touch the same memory while
// neither stream waits for the other, and the host has waited for neither. And between such work and the host's own
// loads and stores, in memory that both see.
//
// The machine that enqueues work says what each piece of it is ordered behind. For every word of memory the last write
// and two reads are kept, by work; a conflict with an older one that these hide is found at another word or not at all.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

  /// Only memory from there on is followed: it is memory that the host sees, and nobody asks for the order of streams.
  void follow_from(std::uint64_t address) { followed_from_ = address; }
  /// Pages of the memory that the host sees, which work has touched that has not ended, as far as `ended` goes.
  struct PageInUse {
    std::uint64_t begin = 0;
    bool is_written = false;
    std::uint32_t user = 0;  ///< the last such work: see `what`
  };
  static constexpr std::uint64_t kPageBytes = 4096;
  std::vector<PageInUse> pages_in_use(const EndedWork& ended);
  /// Grows with every change of these pages that is not a work's end.
  std::uint64_t uses() const { return uses_; }
  const std::string& what(std::uint32_t work) const { return works_[work].what; }
  /// An access of the host itself, to the word at the address. `seen` gets what it learns from an answer of the device:
  /// a word that a kernel has written by an atomic or volatile store tells that what came before it was done.
  std::optional<Conflict> host_access(std::uint64_t address, bool writes, const EndedWork& ended, EndedWork& seen);
  /// All works of the streams from `first` to before `end`, which nobody else knows by number, have ended when this
  /// work of another stream has: those of a graph, each of whose nodes has a stream of its own.
  void end_together(int first, int end, int stream, std::uint32_t number);
  /// The memory has ended, or has begun anew.
  void forget(std::uint64_t begin, std::uint64_t bytes);
  /// Whether there is more memory than can be followed, so that not every conflict is found.
  bool is_blind() const { return is_blind_; }

 private:
  static constexpr std::uint64_t kWord = 4;
  static constexpr std::size_t kMostPages = std::size_t{1} << 17;  // of 16 KiB each: 2 GiB
  /// Accesses by the works of these indices; 0: none.
  struct Word {
    std::uint32_t writer = 0;
    std::uint32_t first_reader = 0;
    std::uint32_t last_reader = 0;
    std::uint8_t written = 0;       ///< the bytes that the writer has written
    std::uint8_t read = 0;          ///< the bytes that the readers have read
    bool is_strong = false;         ///< all that its writer did here was atomic or volatile
    bool is_read_strongly = false;  ///< and all that its readers did
  };
  struct Page {
    std::vector<Word> words = std::vector<Word>(kPageBytes / kWord);
    std::uint32_t last_work = 0;  ///< the last that is in `users_`, and whether as one that writes
    bool last_writes = false;
  };
  struct User {
    std::uint32_t work = 0;
    bool writes = false;
  };
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
  /// Notes that the current work uses a page of the memory that the host sees.
  void note_user(std::uint64_t page, bool writes);
  bool ends_before(std::uint32_t work) const;
  bool has_ended(std::uint32_t work, const EndedWork& ended) const;
  bool is_strong(const WarpAccess& access);

  struct Together {
    int end = 0;
    int stream = 0;
    std::uint32_t number = 0;
  };

  std::vector<StreamWork> works_ = std::vector<StreamWork>(1);
  std::map<int, Together> together_;                      ///< by first stream
  std::map<std::uint64_t, std::unique_ptr<Page>> pages_;  ///< by number
  std::map<std::uint64_t, std::vector<User>> users_;      ///< of pages, by number; those that may not have ended
  std::uint64_t uses_ = 0;
  std::uint64_t followed_from_ = 0;
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
