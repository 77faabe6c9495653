// The host's own loads and stores of managed and pinned memory, while work that it has not waited for uses it.
//
// Between the program's calls the pages that such work has touched are protected. The first access of each page is a
// fault: its address, its kind and where it was made are kept, the page is opened, and the program goes on. The next
// call judges what was kept by the order of the work (WorkOrder). Accesses that follow in the same page, before the
// next call, are not seen. A call of the system that is handed such a page fails with EFAULT, which the next call finds
// in errno.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "simulator/checkers/work_order.hpp"
#include "simulator/stand_in/report/process_report.hpp"

namespace convladder::stand_in {

class HostAccesses {
 public:
  /// A fault of the program, in a signal's handler. Returns whether it was of a protected page, which it has opened.
  static bool take_fault(std::uint64_t address, const void* context);

  /// The host has seen the end of all that this work is, by other means than waiting for it: a function of its own that
  /// the stream has called, or a call that waits for memory the host sees.
  void sees(const simulated::EndedWork& ended) { simulated::join(seen_, ended); }

  struct Found {
    std::uint64_t address = 0;
    std::string what;     ///< "read after write"; empty: the system refused the address, or one like it
    std::string work;     ///< what the host has not waited for
    CallPlaces places{};  ///< of the access; none for what the system refused
  };
  /// A call begins: opens all pages. Returns what was in no order, each line of the program once for each work.
  std::vector<Found> open(simulated::WorkOrder& order, const simulated::EndedWork& host);
  /// A call ends: protects the pages in use. Returns false where some are and this machine does not allow that.
  bool protect(simulated::WorkOrder& order, const simulated::EndedWork& host);

 private:
  struct Run {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool is_written = false;
    std::uint32_t user = 0;
  };
  /// The pages in use, as runs.
  const std::vector<Run>& runs_in_use(simulated::WorkOrder& order, const simulated::EndedWork& host);

  std::vector<Run> protected_;
  std::thread::id protected_by_;
  int error_before_ = 0;  ///< that thread's errno when the pages were protected
  // The last runs that were found, and from what.
  std::vector<Run> runs_;
  simulated::EndedWork ended_;
  std::uint64_t uses_ = 0;
  simulated::EndedWork seen_;
  std::set<std::tuple<std::string, std::string, std::string, std::uint64_t>> known_;  ///< hazard, work, file, offset
};

}  // namespace convladder::stand_in
