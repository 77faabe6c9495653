#include "harness/judge/mutants/tried_mutant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include "devices/kernel_resources.hpp"
#include "simulator/mutations/mutation.hpp"
#include "support/interruption.hpp"
#include "support/progress.hpp"

namespace convladder {
namespace {

using Effect = simulated::MutantOutcome::Effect;

Effect effect_of(const simulated::MutantOutcome& outcome) {
  const auto* const words = simulated::MutantOutcome::kEffectWords;
  const auto* const end = std::end(simulated::MutantOutcome::kEffectWords);
  const auto* const found = std::find(words, end, outcome.effect);
  return found == end ? Effect::not_known : static_cast<Effect>(found - words);
}

/// How much an effect says, of several processes that ran the mutant.
int weight(Effect effect) {
  switch (effect) {
    case Effect::none:
      return 0;
    case Effect::finding:
      return 1;
    case Effect::rounding:
      return 2;
    case Effect::not_known:
      return 3;
    case Effect::results:
    case Effect::order:
    case Effect::fault:
      return 4;
  }
  return 3;
}

std::size_t kind_place(const std::string& kind) {
  const auto& kinds = simulated::kMutationKinds;
  const auto* const found = std::ranges::find(kinds, kind, &simulated::MutationWords::word);
  return static_cast<std::size_t>(found - kinds.begin());
}

}  // namespace

bool TriedMutant::is_same(const TriedMutant& other) const {
  return of == other.of && kernel == other.kernel && mutant.id == other.mutant.id &&
         mutant.ptx_line == other.mutant.ptx_line && mutant.instructions == other.mutant.instructions &&
         mutant.executions == other.mutant.executions;
}

const char* verdict_of_accepted(const simulated::PossibleMutant& mutant, const simulated::MutantOutcome& outcome,
                                bool is_unread) {
  if (outcome.launches == 0) return mutant_verdicts::kNotTold;
  switch (effect_of(outcome)) {
    case Effect::none:
      return mutant_verdicts::kEquivalent;
    case Effect::finding:
      return mutant_verdicts::kHidden;
    case Effect::rounding:
      return mutant_verdicts::kTolerated;
    case Effect::not_known:
      return mutant_verdicts::kNotTold;
    case Effect::results:
    case Effect::order:
    case Effect::fault:
      break;
  }
  if (is_unread && effect_of(outcome) != Effect::fault) return mutant_verdicts::kUnread;
  const bool is_rounding = mutant.kind == words_of(simulated::MutationKind::low_precision).word;
  return is_rounding ? mutant_verdicts::kTolerated : mutant_verdicts::kAccepted;
}

simulated::MutantOutcome combined(const std::vector<simulated::MutantOutcome>& outcomes) {
  simulated::MutantOutcome most;
  std::uint64_t launches = 0;
  double seconds = 0;
  for (const simulated::MutantOutcome& one : outcomes) {
    launches += one.launches;
    seconds += one.seconds;
    if (weight(effect_of(one)) > weight(effect_of(most))) most = one;
  }
  most.launches = launches;
  most.seconds = seconds;
  return most;
}

std::vector<TriedMutant> selected_mutants(const std::string& of,
                                          const std::map<std::string, std::vector<simulated::PossibleMutant>>& possible,
                                          const MutantSettings& settings) {
  std::vector<TriedMutant> selected;
  for (const auto& [kernel, mutants] : possible) {
    if (!settings.kernels.matches(display_name(kernel))) continue;
    for (const simulated::PossibleMutant& one : mutants) {
      if (!settings.kinds.empty() && std::ranges::find(settings.kinds, one.kind) == settings.kinds.end()) continue;
      TriedMutant& tried = selected.emplace_back(TriedMutant{.of = of, .kernel = kernel, .mutant = one});
      if (one.executions == 0) tried.verdict = mutant_verdicts::kNotRun;
    }
  }
  return selected;
}

void order_fairly(std::vector<TriedMutant>& mutants) {
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> seen;
  std::vector<std::pair<std::tuple<std::size_t, std::size_t>, TriedMutant>> keyed;
  keyed.reserve(mutants.size());
  for (TriedMutant& one : mutants) {
    const std::size_t number = seen[{one.of, one.kernel, one.mutant.kind}]++;
    keyed.push_back({{number, kind_place(one.mutant.kind)}, std::move(one)});
  }
  std::ranges::stable_sort(keyed, {}, [](const auto& one) { return one.first; });
  std::ranges::transform(keyed, mutants.begin(), [](auto& one) { return std::move(one.second); });
}

void try_mutants(std::vector<TriedMutant>& mutants, const MutantSettings& settings,
                 const std::function<void(TriedMutant&)>& run, const std::function<void()>& keep) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<TriedMutant*> left;
  for (TriedMutant& one : mutants) {
    if (one.verdict == mutant_verdicts::kNotTried) left.push_back(&one);
  }
  if (settings.most > 0 && left.size() > settings.most) left.resize(settings.most);
  const WaitingInterrupts interrupts;
  Progress progress(nullptr, static_cast<int>(left.size()));
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  const auto work = [&] {
    while (true) {
      const std::size_t index = next++;
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      if (index >= left.size() || interrupt_waits()) return;
      if (settings.minutes > 0 && passed.count() > settings.minutes * 60) return;
      TriedMutant one = *left[index];
      {
        const std::scoped_lock lock(mutex);
        if (failure) return;
        progress.show(fmt::format("{} of {}", one.mutant.kind, display_name(one.kernel)));
      }
      try {
        run(one);
        const std::scoped_lock lock(mutex);
        if (interrupt_waits()) return;  // it may have ended by the same signal
        *left[index] = std::move(one);
        progress.finished();
        keep();
      } catch (...) {
        const std::scoped_lock lock(mutex);
        failure = std::current_exception();
        return;
      }
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 1; i < settings.jobs; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace convladder
