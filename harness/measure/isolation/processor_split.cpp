#include "harness/measure/isolation/processor_split.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <fstream>
#include <string>

#include "devices/cpu/cpu_facts.hpp"

namespace convladder {
namespace {

struct Sets {
  cpu_set_t all;
  cpu_set_t caller;
  cpu_set_t called;
};

/// The processors of one core, which the kernel writes as "0,16" or "0-1". Only `processor` itself where the kernel
/// does not say.
cpu_set_t processors_of_core(int processor) {
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(processor, &core);
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", processor));
  for (int first = 0; file >> first;) {
    int last = first;
    if (file.peek() == '-') file.ignore() >> last;
    for (int at = first; at >= 0 && at <= last && at < CPU_SETSIZE; ++at) CPU_SET(at, &core);
    if (file.peek() == ',') file.ignore();
  }
  return core;
}

Sets split() {
  Sets sets;
  CPU_ZERO(&sets.all);
  sched_getaffinity(0, sizeof sets.all, &sets.all);
  sets.caller = sets.called = sets.all;
  int first = 0;
  while (first < CPU_SETSIZE && !CPU_ISSET(first, &sets.all)) ++first;
  if (first == CPU_SETSIZE) return sets;
  cpu_set_t own = processors_of_core(first);
  CPU_AND(&own, &own, &sets.all);
  cpu_set_t others;
  CPU_XOR(&others, &sets.all, &own);
  if (CPU_COUNT(&others) == 0 || has_less_time_than(CPU_COUNT(&sets.all))) return sets;
  sets.caller = own;
  sets.called = others;
  return sets;
}

/// The processors of both sides, determined before anything is changed.
const Sets& sets() {
  static const Sets all = split();
  return all;
}

}  // namespace

ProcessorSplit processor_split() {
  const Sets& of = sets();
  return {.all = CPU_COUNT(&of.all),
          .of_called = CPU_COUNT(&of.called),
          .apart = CPU_COUNT(&of.called) < CPU_COUNT(&of.all)};
}

void use_callers_processors() { sched_setaffinity(0, sizeof(cpu_set_t), &sets().caller); }

void use_all_processors() { sched_setaffinity(0, sizeof(cpu_set_t), &sets().all); }

void use_called_ones_processors() { sched_setaffinity(0, sizeof(cpu_set_t), &sets().called); }

}  // namespace convladder
