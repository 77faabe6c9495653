// The threads of a block, one after another on one thread of the host: each has a stack of its own and runs until it
// meets the others of its warp or of its block.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

namespace emulated {

struct Size {
  unsigned x = 0, y = 0, z = 0;
};

inline constexpr unsigned kWarp = 32;
inline constexpr std::size_t kStack = 256 * 1024;

enum class State { kReady, kInWarp, kInBlock, kDone };

struct Thread {
  ucontext_t context{};
  std::unique_ptr<char[]> stack{new char[kStack]};
  Size index;
  State state = State::kReady;
  unsigned mask = 0;                ///< whom it waits for
  std::uint64_t given = 0;          ///< its own value
  std::vector<std::uint64_t> seen;  ///< those of its warp, or of its block, when all had met
};

struct Block {
  std::vector<Thread> threads;
  ucontext_t scheduler{};
  Thread* running = nullptr;
  std::function<void()> body;
};

inline Block* block = nullptr;
inline Size block_index;
inline Size block_size;
inline Size grid_size;

inline Thread& self() { return *block->running; }
inline unsigned lane() { return self().index.x % kWarp; }

inline void wait(State state) {
  self().state = state;
  swapcontext(&self().context, &block->scheduler);
}

/// The values that the lanes of `mask` gave, by lane.
inline const std::vector<std::uint64_t>& meet_in_warp(unsigned mask, std::uint64_t given) {
  if ((mask >> lane() & 1U) == 0) {
    std::fprintf(stderr, "a lane calls for a mask without itself: the generator is wrong\n");
    std::abort();
  }
  self().mask = mask;
  self().given = given;
  wait(State::kInWarp);
  return self().seen;
}

inline const std::vector<std::uint64_t>& meet_in_block(std::uint64_t given) {
  self().given = given;
  wait(State::kInBlock);
  return self().seen;
}

inline void enter() {
  block->body();
  wait(State::kDone);
}

/// Wakes the lanes of one warp that have all met. False if there are none.
inline bool wake_warp(std::vector<Thread>& threads, std::size_t first) {
  const std::size_t count = std::min<std::size_t>(kWarp, threads.size() - first);
  for (std::size_t one = 0; one < count; ++one) {
    const Thread& thread = threads[first + one];
    if (thread.state != State::kInWarp) continue;
    bool all = true;
    std::vector<std::uint64_t> seen(kWarp);
    for (std::size_t lane = 0; lane < kWarp; ++lane) {
      if ((thread.mask >> lane & 1U) == 0) continue;
      if (lane >= count || threads[first + lane].state != State::kInWarp || threads[first + lane].mask != thread.mask) {
        all = false;
        break;
      }
      seen[lane] = threads[first + lane].given;
    }
    if (!all) continue;
    const unsigned mask = thread.mask;
    for (std::size_t lane = 0; lane < count; ++lane) {
      if ((mask >> lane & 1U) == 0) continue;
      threads[first + lane].seen = seen;
      threads[first + lane].state = State::kReady;
    }
    return true;
  }
  return false;
}

inline bool wake_block(std::vector<Thread>& threads) {
  std::vector<std::uint64_t> seen;
  for (const Thread& thread : threads) {
    if (thread.state == State::kInBlock) {
      seen.push_back(thread.given);
    } else if (thread.state != State::kDone) {
      return false;
    }
  }
  if (seen.empty()) return false;
  for (Thread& thread : threads) {
    if (thread.state != State::kInBlock) continue;
    thread.seen = seen;
    thread.state = State::kReady;
  }
  return true;
}

/// Runs `body` for each thread of each block.
inline void launch(unsigned blocks, unsigned threads, const std::function<void()>& body) {
  grid_size = {blocks, 1, 1};
  block_size = {threads, 1, 1};
  for (unsigned index = 0; index < blocks; ++index) {
    Block now;
    block = &now;
    block_index = {index, 0, 0};
    now.body = body;
    now.threads = std::vector<Thread>(threads);
    for (unsigned one = 0; one < threads; ++one) {
      Thread& thread = now.threads[one];
      thread.index = {one, 0, 0};
      getcontext(&thread.context);
      thread.context.uc_stack.ss_sp = thread.stack.get();
      thread.context.uc_stack.ss_size = kStack;
      makecontext(&thread.context, enter, 0);
    }
    while (true) {
      bool some = false;
      for (Thread& thread : now.threads) {
        if (thread.state != State::kReady) continue;
        some = true;
        now.running = &thread;
        swapcontext(&now.scheduler, &thread.context);
      }
      if (some) continue;
      for (std::size_t first = 0; first < threads; first += kWarp) some = wake_warp(now.threads, first) || some;
      if (some || wake_block(now.threads)) continue;
      for (const Thread& thread : now.threads) {
        if (thread.state == State::kDone) continue;
        std::fprintf(stderr, "threads wait for each other: the generator is wrong\n");
        std::abort();
      }
      break;
    }
  }
  block = nullptr;
}

}  // namespace emulated
