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
#include "support/progress.hpp"

namespace convladder {
namespace {

using Effect = simulated::MutantOutcome::Effect;

}  // namespace

bool TriedMutant::is_same(const TriedMutant& other) const {
  return of == other.of && kernel == other.kernel && mutant.id == other.mutant.id &&
         mutant.ptx_line == other.mutant.ptx_line && mutant.instructions == other.mutant.instructions &&
         mutant.executions == other.mutant.executions;
}

MutantVerdict verdict_of_accepted(const simulated::PossibleMutant& mutant, const simulated::MutantOutcome& outcome,
                                  bool is_unread) {
  if (outcome.launches == 0) return MutantVerdict::not_told;
  switch (outcome.effect) {
    case Effect::none:
      return MutantVerdict::equivalent;
    case Effect::finding:
      return MutantVerdict::hidden;
    case Effect::rounding:
      return MutantVerdict::tolerated;
    case Effect::not_known:
      return MutantVerdict::not_told;
    case Effect::fault:
      return MutantVerdict::accepted;
    case Effect::results:
    case Effect::order:
      break;
  }
  if (is_unread) return MutantVerdict::unread;
  const bool is_rounding = mutant.kind == simulated::MutationKind::low_precision;
  return is_rounding ? MutantVerdict::tolerated : MutantVerdict::accepted;
}

simulated::MutantOutcome combined(const std::vector<simulated::MutantOutcome>& outcomes) {
  simulated::MutantOutcome most;
  std::uint64_t launches = 0;
  double seconds = 0;
  for (const simulated::MutantOutcome& one : outcomes) {
    launches += one.launches;
    seconds += one.seconds;
    if (one.effect > most.effect) most = one;
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
      if (one.executions == 0) tried.verdict = MutantVerdict::not_run;
    }
  }
  return selected;
}

void order_fairly(std::vector<TriedMutant>& mutants) {
  std::map<std::tuple<std::string, std::string, simulated::MutationKind>, std::size_t> seen;
  std::vector<std::pair<std::tuple<std::size_t, simulated::MutationKind>, TriedMutant>> keyed;
  keyed.reserve(mutants.size());
  for (TriedMutant& one : mutants) {
    const std::size_t number = seen[{one.of, one.kernel, one.mutant.kind}]++;
    keyed.push_back({{number, one.mutant.kind}, std::move(one)});
  }
  std::ranges::stable_sort(keyed, {}, [](const auto& one) { return one.first; });
  std::ranges::transform(keyed, mutants.begin(), [](auto& one) { return std::move(one.second); });
}

void try_mutants(std::vector<TriedMutant>& mutants, const MutantSettings& settings,
                 const std::function<void(TriedMutant&)>& run, const std::function<void()>& keep) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<TriedMutant*> left;
  for (TriedMutant& one : mutants) {
    if (one.verdict == MutantVerdict::not_tried) left.push_back(&one);
  }
  if (settings.most > 0 && left.size() > settings.most) left.resize(settings.most);
  Progress progress(nullptr, static_cast<int>(left.size()));
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  const auto work = [&] {
    while (true) {
      const std::size_t index = next++;
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      if (index >= left.size()) return;
      if (settings.minutes > 0 && passed.count() > settings.minutes * 60) return;
      TriedMutant one = *left[index];
      {
        const std::scoped_lock lock(mutex);
        if (failure) return;
        progress.show(fmt::format("{} of {}", words_of(one.mutant.kind).word, display_name(one.kernel)));
      }
      try {
        run(one);
        const std::scoped_lock lock(mutex);
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
