// The report of a process as far as it has come, for those who ask while it runs: `pytest -p convladder`,
// docs/use/python.md.
#include <fmt/format.h>

#include "simulator/stand_in/runtime/answer.hpp"

namespace {

using convladder::stand_in::Machine;

/// Calls `each(text, count, is_note)` for every entry, while no lock is held: it may wait for Python.
using Each = void (*)(const char* text, std::uint64_t count, int is_note);

struct Entry {
  std::string text;
  std::uint64_t count = 0;
  bool is_note = false;
};

void tell_each(const std::vector<Entry>& entries, Each each) {
  for (const Entry& one : entries) each(one.text.c_str(), one.count, one.is_note ? 1 : 0);
}

}  // namespace

extern "C" {

/// The findings and notes so far, in words, with the number of times.
void convladder_stand_in_each_finding(Each each) {
  std::vector<Entry> entries;
  {
    Machine& machine = Machine::get();
    const std::scoped_lock lock(machine.mutex);
    for (const auto& [finding, places] : machine.report.findings()) {
      convladder::simulated::Finding one = finding;
      one.count = 1;  // the text stays the same when it occurs again
      Entry entry{convladder::simulated::to_text(one), std::max<std::uint64_t>(1, finding.count),
                  finding.severity == convladder::simulated::Severity::note};
      if (places != nullptr && !places->empty() && places->front().line > 0) {
        const auto& place = places->front();
        const std::string file = place.file.substr(place.file.rfind('/') + 1);
        entry.text += fmt::format(", {}{} line {}", finding.kernel.empty() ? "in " : "launched in ", file, place.line);
      }
      entries.push_back(std::move(entry));
    }
  }
  tell_each(entries, each);
}

/// The kernels so far, with the number of their launches.
void convladder_stand_in_each_kernel(Each each) {
  std::vector<Entry> entries;
  {
    Machine& machine = Machine::get();
    const std::scoped_lock lock(machine.mutex);
    for (const auto& [name, sum] : machine.report.kernels())
      entries.push_back({convladder::simulated::configured_name(name.in_ptx, name.configuration), sum.predicted.count});
  }
  tell_each(entries, each);
}

}  // extern "C"
