// Kernels of known cost, to grade harnesses that time and compare: docs/reference/graders.md. Every kernel does a
// number of operations that depend on each other, so twice the operations take twice the time, and `--extra 5` does 5 %
// more of them.
//
//   g++ -std=c++17 -O2 known_cost.cpp -o known_cost
//   ./known_cost spin --extra 5                   one run, for tools that time commands: "seconds: X", a line of JSON
//   ./known_cost worker spin --extra 5            a worker of `convladder duel --worker`; without names, of all kernels
//   ./known_cost calibrate --microseconds 100     how many operations of spin take so long, by the CPU's clock
//
//   g++ -std=c++17 -O2 -DKNOWN_COST_GOOGLE known_cost.cpp -lbenchmark -lpthread -o known_cost_google
//   ./known_cost_google --extra=5 --benchmark_filter=spin     a program of Google Benchmark
//
// -DKNOWN_COST_EXTRA=5 makes a program whose --extra is 5 where nothing else is said.
#include <sys/mman.h>

#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef KNOWN_COST_GOOGLE
#include <benchmark/benchmark.h>
#else
#include "convladder_worker.hpp"
#endif

#ifndef KNOWN_COST_EXTRA
#define KNOWN_COST_EXTRA 0
#endif

namespace {

constexpr std::size_t kLine = 64;  // bytes of a cache line
constexpr std::size_t kPage = 4096;

/// Each operation needs the one before it: no unrolling, no vector and no second core makes it faster.
std::uint64_t spin(std::uint64_t state, long operations) {
  for (long i = 0; i < operations; ++i) state = (state ^ (state >> 29)) * 0xbf58476d1ce4e5b9U;
  return state;
}

/// A kernel: does that many operations, and returns a number that depends on all of them.
using Kernel = std::function<std::uint64_t(long operations)>;

/// Hops from line to line of a buffer in an order that no prefetcher foresees. Each hop needs what was loaded by the
/// one before. A call goes on where the last one ended, so lines of a large buffer are seldom seen twice.
class Walk {
 public:
  explicit Walk(std::size_t bytes) : lines_(bytes / kLine), words_(bytes / sizeof(std::uint64_t), kStep) {}

  std::uint64_t operator()(long operations) {
    for (long i = 0; i < operations; ++i)
      at_ = (at_ * 5 + words_[at_ * (kLine / sizeof(std::uint64_t))]) & (lines_ - 1);
    return at_;
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b9;  // odd: with the factor 5, every line of a power of two is visited
  std::size_t lines_;
  std::vector<std::uint64_t> words_;  // written, so that every page is there: unwritten ones are all the same page
  std::uint64_t at_ = 1;
};

/// Pages that the process has never touched before, and gives back.
std::uint64_t fresh_pages(long operations) {
  const std::size_t bytes = static_cast<std::size_t>(operations) * kPage;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory for fresh pages");
  madvise(memory, bytes, MADV_NOHUGEPAGE);  // a huge page would make 512 operations one
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < bytes; at += kPage) {
    volatile char* const byte = static_cast<char*>(memory) + at;
    *byte = 1;
    sum += static_cast<std::uint64_t>(*byte);
  }
  munmap(memory, bytes);
  return sum;
}

/// Many frameworks return a promise: a call only notes what is to be done, and it is done when somebody reads it.
class Promise {
 public:
  void ask(long operations) { operations_ = operations; }
  std::uint64_t read() {
    state_ = spin(state_, operations_);
    operations_ = 0;
    return state_;
  }

 private:
  long operations_ = 0;
  std::uint64_t state_ = 1;
};

struct Described {
  const char* name;
  long operations;  // of a call, if nothing else is said
  std::function<Kernel(std::size_t cold_bytes)> make;
};

const std::vector<Described>& kernels() {
  static const std::vector<Described> all{
      {"spin", 20000,
       [](std::size_t) {
         return Kernel([state = std::uint64_t{1}](long n) mutable { return state = spin(state, n); });
       }},
      {"warm", 10000, [](std::size_t) { return Kernel(Walk(std::size_t{16} << 10)); }},
      {"cold", 1000, [](std::size_t cold_bytes) { return Kernel(Walk(cold_bytes)); }},
      {"fresh", 100, [](std::size_t) { return Kernel(fresh_pages); }},
      // The output is never read: a call costs next to nothing, whatever --extra says.
      {"lazy", 20000,
       [](std::size_t) {
         return Kernel([promise = Promise()](long n) mutable {
           promise.ask(n);
           return std::uint64_t{0};
         });
       }},
      // A lazy kernel measured as it should be: each call reads its output.
      {"lazy-read", 20000,
       [](std::size_t) {
         return Kernel([promise = Promise()](long n) mutable {
           promise.ask(n);
           return promise.read();
         });
       }},
  };
  return all;
}

long number_of(const std::string& option, const std::string& text, long least, long most) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < least || value > most) {
    throw std::invalid_argument(option + " '" + text + "': expected a whole number from " + std::to_string(least) +
                                " to " + std::to_string(most));
  }
  return value;
}

struct Options {
  std::vector<std::string> names;
  long operations = 0;  // 0: what the kernel has
  long extra = KNOWN_COST_EXTRA;
  long calls = 1;
  long microseconds = 1000;
  long mebibytes = 64;  // that `cold` walks over: a power of two, and more than the last cache has

  std::size_t cold_bytes() const { return static_cast<std::size_t>(mebibytes) << 20; }
  /// Operations of a call: exact, so that the extra work is.
  long work_of(const Described& kernel) const {
    const long plain = operations > 0 ? operations : kernel.operations;
    if (plain * extra % 100 != 0) throw std::invalid_argument("--operations: expected a multiple of 100");
    return plain + plain * extra / 100;
  }
};

constexpr long kMost = 1000000000000;

/// Whether it was one of these options.
bool take(Options& options, const std::string& name, const std::string& value) {
  if (name == "--extra") {
    options.extra = number_of(name, value, 0, 1000);
  } else if (name == "--operations") {
    options.operations = number_of(name, value, 1, kMost);
  } else if (name == "--calls") {
    options.calls = number_of(name, value, 1, kMost);
  } else if (name == "--microseconds") {
    options.microseconds = number_of(name, value, 1, 10000000);
  } else if (name == "--mebibytes") {
    options.mebibytes = number_of(name, value, 1, 1 << 16);
    if ((options.mebibytes & (options.mebibytes - 1)) != 0) {
      throw std::invalid_argument("--mebibytes: expected a power of two");
    }
  } else {
    return false;
  }
  return true;
}

#ifdef KNOWN_COST_GOOGLE

/// Takes `--extra=5` and `--operations=N` out of the command line, which Google Benchmark would refuse.
Options options_of(int& argc, char** argv) {
  Options options;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos && take(options, word.substr(0, equals), word.substr(equals + 1))) continue;
    argv[kept++] = argv[i];
  }
  argc = kept;
  return options;
}

int run(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  const auto add = [bytes = options.cold_bytes()](const char* name, const Described& one, long work) {
    benchmark::RegisterBenchmark(name, [&one, work, bytes](benchmark::State& state) {
      const Kernel kernel = one.make(bytes);
      for (auto _ : state) benchmark::DoNotOptimize(kernel(work));
    });
  };
  for (const Described& one : kernels()) add(one.name, one, options.work_of(one));
  // Never does more: a comparison that wants something that did not change has it here.
  add("control", kernels().front(), kernels().front().operations);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 3;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

#else

const Described& kernel_named(const std::string& name) {
  std::string names;
  for (const Described& one : kernels()) {
    if (name == one.name) return one;
    names += std::string(names.empty() ? "" : ", ") + one.name;
  }
  throw std::invalid_argument("no such kernel: " + name + "; there are " + names);
}

/// Seconds that this thread has had of a processor: time in which others had it is not in them.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--", 0) != 0) {
      options.names.push_back(word);
    } else if (i + 1 == argc || !take(options, word, argv[i + 1])) {
      throw std::invalid_argument(
          "usage: known_cost [worker] KERNEL [--extra PERCENT] [--operations N] [--calls N] [--mebibytes N] | "
          "calibrate "
          "[--microseconds T]");
    } else {
      ++i;
    }
  }
  return options;
}

std::string hexadecimal(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, value);
  return text;
}

int run_once(const Described& described, const Options& options) {
  const long work = options.work_of(described);
  const Kernel kernel = described.make(options.cold_bytes());
  std::uint64_t result = 0;
  const double cpu_begin = cpu_seconds();
  const auto begin = std::chrono::steady_clock::now();
  for (long call = 0; call < options.calls; ++call) result = kernel(work);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const double cpu = cpu_seconds() - cpu_begin;
  std::printf("seconds: %.9f\n", seconds.count());
  std::printf(R"({"kernel": "%s", "operations": %ld, "extra_percent": %ld, "calls": %ld, "seconds": %.9f, )"
              R"("cpu_seconds": %.9f, "result": "%s"})"
              "\n",
              described.name, work, options.extra, options.calls, seconds.count(), cpu, hexadecimal(result).c_str());
  return 0;
}

int serve(const Options& options) {
  std::map<std::string, convladder_worker::Function> functions;
  for (const Described& one : kernels()) {
    bool wanted = options.names.size() == 1;
    for (const std::string& name : options.names) wanted |= name == one.name;
    if (!wanted) continue;
    // Made at the first call: a large buffer is not filled for a case that nobody asks for.
    functions[one.name] = [&one, bytes = options.cold_bytes(), work = options.work_of(one),
                           kernel = std::make_shared<Kernel>()] {
      if (!*kernel) *kernel = one.make(bytes);
      (*kernel)(work);
      return std::string("done");  // the state goes on from call to call, so results differ from answer to answer
    };
  }
  return convladder_worker::serve(functions);
}

/// The cost of an operation of spin: of the fastest of many tries, in which nobody else had the processor.
double nanoseconds_per_operation() {
  constexpr long operations = 100000;
  std::uint64_t state = 1;
  double fastest = 1e9;
  for (int i = 0; i < 200; ++i) {
    const double begin = cpu_seconds();
    state = spin(state, operations);
    const double seconds = cpu_seconds() - begin;
    fastest = seconds < fastest ? seconds : fastest;
  }
  if (state == 0) throw std::runtime_error("spin went to 0");  // it cannot: but the work has to be done
  return fastest / operations * 1e9;
}

int calibrate(const Options& options) {
  const double nanoseconds = nanoseconds_per_operation();
  const long hundreds = std::lround(static_cast<double>(options.microseconds) * 10 / nanoseconds);
  std::printf(R"({"kernel": "spin", "nanoseconds_per_operation": %.4f, "microseconds": %ld, "operations": %ld})"
              "\n",
              nanoseconds, options.microseconds, hundreds * 100);
  return 0;
}

int run(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  const std::string first = options.names.empty() ? "" : options.names.front();
  if (first == "worker") {
    for (std::size_t i = 1; i < options.names.size(); ++i) kernel_named(options.names[i]);
    return serve(options);
  }
  if (options.names.size() > 1)
    throw std::invalid_argument("one kernel at a time; " + options.names[1] + " is one more");
  return first == "calibrate" ? calibrate(options) : run_once(kernel_named(first), options);
}

#endif

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "known_cost: %s\n", error.what());
  return 3;
}
