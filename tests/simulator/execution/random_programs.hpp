// Random programs with branches, loops, early returns, barriers and votes: as PTX, and by an interpreter that runs one
// thread at a time.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace convladder::simulated::random_programs {

inline constexpr unsigned kThreads = 72;  // the last warp has 8
inline constexpr int kVariables = 6;      // %r2 to %r7

enum class Kind { compute, branch, loop, uniform_loop, leave, exchange, count, ballot };

struct Statement {
  Kind kind = Kind::compute;
  unsigned to = 0;
  unsigned from = 0;
  unsigned constant = 0;
  std::vector<Statement> body;
  std::vector<Statement> otherwise;  ///< of a branch
};

/// Statements in which threads meet stand where all threads come that have not returned.
/// `Choices` has next(), which returns any 32 bits.
template <typename Choices>
class Generator {
 public:
  explicit Generator(Choices choices) : choices_(std::move(choices)) {}

  std::vector<Statement> program() { return block(3, 0, true); }

 private:
  unsigned below(unsigned count) { return choices_.next() % count; }

  std::vector<Statement> block(unsigned most, int depth, bool uniform) {
    std::vector<Statement> statements(1 + below(most + (depth == 0 ? 4 : 0)));
    for (Statement& one : statements) one = statement(depth, uniform);
    return statements;
  }

  Statement statement(int depth, bool uniform) {
    Statement one{
        .to = below(kVariables), .from = below(kVariables), .constant = choices_.next(), .body = {}, .otherwise = {}};
    const unsigned kind = below(uniform ? 14 : 9);
    if (kind < 3 || depth > 3) return one;
    if (kind < 6) {
      one.kind = Kind::branch;
      one.body = block(3, depth + 1, false);
      if (below(2) == 0) one.otherwise = block(3, depth + 1, false);
    } else if (kind < 8) {
      one.kind = Kind::loop;
      one.body = block(3, depth + 1, false);
    } else if (kind == 8) {
      one.kind = depth == 0 ? Kind::compute : Kind::leave;
    } else if (kind == 9) {
      one.kind = Kind::uniform_loop;
      one.body = block(3, depth + 1, true);
    } else {
      constexpr std::array meetings{Kind::exchange, Kind::count, Kind::ballot};
      one.kind = meetings[below(meetings.size())];
    }
    return one;
  }

  Choices choices_;
};

inline bool condition(unsigned value, unsigned constant) {
  return ((value >> (constant % 13)) & 3U) == (constant >> 28) % 4;
}
inline unsigned rounds(unsigned value, unsigned constant) { return (value >> (constant % 11)) & 3U; }
inline unsigned uniform_rounds(unsigned constant) { return 1 + constant % 3; }

/// A kernel's body for tests/simulator/lane_kernel.hpp: thread %r1 stores its first variable at [%rd4].
class Compiler {
 public:
  std::string compile(const std::vector<Statement>& program) {
    for (int i = 0; i < kVariables; ++i) {
      add("mad.lo.u32 {}, %r1, {}, {};", variable(i), 2654435761U + 77 * i, 12345 * (i + 1));
    }
    add("shl.b32 %r30, %r1, 2;");
    write(program);
    add("st.global.u32 [%rd4], %r2;\nreturn: ret;");
    return text_;
  }

 private:
  static std::string variable(unsigned index) { return fmt::format("%r{}", 2 + index); }
  template <typename... T>
  void add(fmt::format_string<T...> format, T&&... values) {
    text_ += fmt::format(format, std::forward<T>(values)...) + "\n";
  }

  void write(const std::vector<Statement>& statements) {
    for (const Statement& one : statements) write(one);
  }

  void write(const Statement& one) {
    const std::string to = variable(one.to);
    const std::string from = variable(one.from);
    const int label = labels_++;
    switch (one.kind) {
      case Kind::compute:
        add("mad.lo.u32 {0}, {0}, {1}, {2};", to, 2 * (one.constant % 1000) + 1, from);
        break;
      case Kind::branch:
        add("shr.u32 %r31, {}, {}; and.b32 %r31, %r31, 3; setp.eq.u32 %p1, %r31, {}; @!%p1 bra else{};", from,
            one.constant % 13, (one.constant >> 28) % 4, label);
        write(one.body);
        if (!one.otherwise.empty()) add("bra end{};", label);
        add("else{}:", label);
        write(one.otherwise);
        add("end{}:", label);
        break;
      case Kind::loop:
      case Kind::uniform_loop: {
        const std::string left = fmt::format("%r{}", 10 + depth_++);
        if (one.kind == Kind::loop) {
          add("shr.u32 {0}, {1}, {2}; and.b32 {0}, {0}, 3;", left, from, one.constant % 11);
        } else {
          add("mov.u32 {}, {};", left, uniform_rounds(one.constant));
        }
        add("loop{}: setp.eq.u32 %p1, {}, 0; @%p1 bra end{};", label, left, label);
        write(one.body);
        add("sub.u32 {0}, {0}, 1; bra loop{1};\nend{1}:", left, label);
        --depth_;
        break;
      }
      case Kind::leave:
        add("add.u32 %r2, %r2, {}; st.global.u32 [%rd4], %r2; {}", one.constant % 100,
            one.constant % 2 == 0 ? "ret;" : "bra return;");
        break;
      case Kind::exchange:
        add("xor.b32 %r31, %r30, {}; st.shared.u32 [%r30], {};\nbar.sync 0;\nld.shared.u32 {}, [%r31];\nbar.sync 0;",
            4 * (one.constant % 64), from, to);
        break;
      case Kind::count:
        add("setp.lt.u32 %p1, {}, {}; bar.red.popc.u32 {}, 0, %p1;", from, one.constant, to);
        break;
      case Kind::ballot:
        add("setp.lt.u32 %p1, {}, {}; vote.sync.ballot.b32 {}, %p1, -1;", from, one.constant, to);
        break;
    }
  }

  std::string text_;
  int labels_ = 0;
  int depth_ = 0;
};

/// What each thread stores.
class Interpreter {
 public:
  Interpreter() : threads_(kThreads), shared_(128) {
    for (unsigned t = 0; t < kThreads; ++t) {
      for (unsigned i = 0; i < kVariables; ++i) {
        threads_[t].values[i] = t * (2654435761U + 77 * i) + 12345 * (i + 1);
      }
    }
  }

  std::vector<std::uint32_t> run(const std::vector<Statement>& program) {
    run_together(program);
    std::vector<std::uint32_t> results;
    for (const Thread& thread : threads_) results.push_back(thread.values[0]);
    return results;
  }

 private:
  struct Thread {
    std::array<unsigned, kVariables> values{};
    bool returned = false;
  };

  /// Where all threads come that have not returned.
  void run_together(const std::vector<Statement>& statements) {
    for (const Statement& one : statements) {
      switch (one.kind) {
        case Kind::uniform_loop:
          for (unsigned round = 0; round < uniform_rounds(one.constant); ++round) run_together(one.body);
          break;
        case Kind::exchange:
          each([&](unsigned t) { shared_[t] = threads_[t].values[one.from]; });
          each([&](unsigned t) { threads_[t].values[one.to] = shared_[t ^ (one.constant % 64)]; });
          break;
        case Kind::count: {
          unsigned count = 0;
          each([&](unsigned t) { count += threads_[t].values[one.from] < one.constant ? 1 : 0; });
          each([&](unsigned t) { threads_[t].values[one.to] = count; });
          break;
        }
        case Kind::ballot: {
          std::array<unsigned, kThreads / 32 + 1> votes{};
          each([&](unsigned t) {
            votes[t / 32] |= (threads_[t].values[one.from] < one.constant ? 1U : 0U) << (t % 32);
          });
          each([&](unsigned t) { threads_[t].values[one.to] = votes[t / 32]; });
          break;
        }
        default:
          each([&](unsigned t) { run_one(one, threads_[t]); });
      }
    }
  }

  template <typename Body>
  void each(const Body& body) {
    for (unsigned t = 0; t < kThreads; ++t) {
      if (!threads_[t].returned) body(t);
    }
  }

  static void run_alone(const std::vector<Statement>& statements, Thread& thread) {
    for (const Statement& one : statements) {
      if (thread.returned) return;
      run_one(one, thread);
    }
  }

  static void run_one(const Statement& one, Thread& thread) {
    if (one.kind == Kind::compute) {
      unsigned& to = thread.values[one.to];
      to = to * (2 * (one.constant % 1000) + 1) + thread.values[one.from];
    } else if (one.kind == Kind::branch) {
      run_alone(condition(thread.values[one.from], one.constant) ? one.body : one.otherwise, thread);
    } else if (one.kind == Kind::loop) {
      for (unsigned left = rounds(thread.values[one.from], one.constant); left > 0 && !thread.returned; --left) {
        run_alone(one.body, thread);
      }
    } else {
      thread.values[0] += one.constant % 100;
      thread.returned = true;
    }
  }

  std::vector<Thread> threads_;
  std::vector<unsigned> shared_;
};

}  // namespace convladder::simulated::random_programs
