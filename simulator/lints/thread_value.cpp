#include "simulator/lints/thread_value.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "simulator/memory/warp_access.hpp"

namespace convladder::simulated {
PerThread::PerThread(std::vector<std::int64_t> numbers) : numbers_(std::move(numbers)) {
  const auto is_first = [this](std::int64_t number) { return number == numbers_.front(); };
  if (std::ranges::all_of(numbers_, is_first)) numbers_.resize(1);
}

bool PerThread::is_same_in_warps() const {
  for (std::size_t thread = 1; thread < numbers_.size(); ++thread) {
    if (thread % kLanes != 0 && numbers_[thread] != numbers_[thread - 1]) return false;
  }
  return true;
}

int Unknowns::find_or_add(const std::string& key, Unknown unknown) {
  const auto at = std::ranges::lower_bound(
      keys_, key, {}, [](const auto& entry) -> const auto& { return entry.first; });
  if (at != keys_.end() && at->first == key) return at->second;
  const auto index = static_cast<int>(all_.size());
  keys_.insert(at, {key, index});
  all_.push_back(std::move(unknown));
  return index;
}

void Unknowns::weaken(int index, const Unknown& now) {
  Unknown& known = (*this)[index];
  known.multiple = std::gcd(known.multiple, now.multiple);
  if (now.scope == Unknown::Scope::warp) known.scope = Unknown::Scope::warp;
  for (const int loop : now.loops) {
    if (std::ranges::find(known.loops, loop) == known.loops.end()) known.loops.push_back(loop);
  }
}

int Unknowns::product(int a, int b) {
  if (a > b) std::swap(a, b);
  const Unknown& left = (*this)[a];
  const Unknown& right = (*this)[b];
  Unknown both{.name = {}, .multiple = left.multiple * right.multiple, .loops = left.loops};
  both.scope = std::max(left.scope, right.scope);
  both.loops.insert(both.loops.end(), right.loops.begin(), right.loops.end());
  if (!left.name.empty() && !right.name.empty()) both.name = left.name + " * " + right.name;
  const int index = find_or_add("product " + std::to_string(a) + ' ' + std::to_string(b), both);
  weaken(index, both);
  return index;
}

ThreadValue::ThreadValue(PerThread known, std::vector<Term> terms)
    : state_(State::sum), known_(std::move(known)), terms_(std::move(terms)) {
  std::erase_if(terms_, [](const Term& term) { return term.factor == PerThread(0); });
}

ThreadValue ThreadValue::varying() {
  ThreadValue value;
  value.state_ = State::varying;
  return value;
}

bool ThreadValue::is_alike_in_trips(const Unknowns& unknowns, Unknown::Scope scope) const {
  if (!is_sum()) return false;
  const bool in_block = scope == Unknown::Scope::block;
  const auto is_same = [in_block](const PerThread& numbers) {
    return in_block ? numbers.is_same() : numbers.is_same_in_warps();
  };
  return is_same(known_) && std::ranges::all_of(terms_, [&](const Term& term) {
           return is_same(term.factor) && !(in_block && unknowns[term.unknown].scope == Unknown::Scope::warp);
         });
}

bool ThreadValue::is_alike(const Unknowns& unknowns, Unknown::Scope scope) const {
  return is_alike_in_trips(unknowns, scope) &&
         std::ranges::all_of(terms_, [&](const Term& term) { return unknowns[term.unknown].loops.empty(); });
}

std::uint64_t ThreadValue::multiple(const Unknowns& unknowns) const {
  std::uint64_t all = 0;
  for (const Term& term : terms_) {
    for (const std::int64_t factor : term.factor.numbers()) {
      all = std::gcd(all, magnitude_of(factor) * unknowns[term.unknown].multiple);
    }
  }
  return all;
}

ThreadValue ThreadValue::with(const ThreadValue& other, std::int64_t sign) const {
  if (!is_assigned() || !other.is_assigned()) return {};
  if (is_varying() || other.is_varying()) return varying();
  const auto added = [sign](std::int64_t a, std::int64_t b) { return sum_of(a, product_of(sign, b)); };
  std::vector<Term> terms;
  auto left = terms_.begin();
  auto right = other.terms_.begin();
  while (left != terms_.end() || right != other.terms_.end()) {
    const bool takes_left = right == other.terms_.end() || (left != terms_.end() && left->unknown <= right->unknown);
    const bool takes_right = left == terms_.end() || (right != other.terms_.end() && right->unknown <= left->unknown);
    const int unknown = takes_left ? left->unknown : right->unknown;
    terms.push_back({unknown, PerThread::combined(takes_left ? left->factor : PerThread(0),
                                                  takes_right ? right->factor : PerThread(0), added)});
    if (takes_left) ++left;
    if (takes_right) ++right;
  }
  return {PerThread::combined(known_, other.known_, added), std::move(terms)};
}

ThreadValue ThreadValue::times(const PerThread& factor) const {
  if (!is_sum()) return *this;
  std::vector<Term> terms = terms_;
  for (Term& term : terms) term.factor = PerThread::combined(term.factor, factor, product_of);
  return {PerThread::combined(known_, factor, product_of), std::move(terms)};
}

ThreadValue ThreadValue::times(const ThreadValue& other, Unknowns& unknowns) const {
  if (!is_sum() || !other.is_sum()) return is_assigned() && other.is_assigned() ? varying() : ThreadValue();
  if (other.is_known()) return times(other.known_);
  if (is_known()) return other.times(known_);
  if ((terms_.size() + 1) * (other.terms_.size() + 1) > kMostTerms) return {};
  std::map<int, PerThread> factors;
  const auto add = [&factors](int unknown, const PerThread& factor) {
    factors[unknown] = PerThread::combined(factors[unknown], factor, sum_of);
  };
  for (const Term& term : terms_) add(term.unknown, PerThread::combined(term.factor, other.known_, product_of));
  for (const Term& term : other.terms_) add(term.unknown, PerThread::combined(term.factor, known_, product_of));
  for (const Term& a : terms_) {
    for (const Term& b : other.terms_) {
      add(unknowns.product(a.unknown, b.unknown), PerThread::combined(a.factor, b.factor, product_of));
    }
  }
  std::vector<Term> terms;
  terms.reserve(factors.size());
  for (auto& [unknown, factor] : factors) terms.push_back({unknown, factor});
  return {PerThread::combined(known_, other.known_, product_of), std::move(terms)};
}

}  // namespace convladder::simulated
