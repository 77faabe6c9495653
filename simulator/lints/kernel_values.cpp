#include "simulator/lints/kernel_values.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "simulator/ptx/opcode_parts.hpp"

namespace convladder::simulated {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;
using ptx::result_registers;

/// Values settle after a few passes, one more for each loop in a loop. What has not settled then is not followed.
constexpr int kMostPasses = 12;

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> begins) {
  return std::ranges::any_of(begins, [text](std::string_view begin) { return text.starts_with(begin); });
}

std::vector<bool> both(const std::vector<bool>& a, const std::vector<bool>& b) {
  std::vector<bool> all(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) all[i] = a[i] && b[i];
  return all;
}

/// The operands without which an instruction is none, as far as they are read here.
std::size_t least_operands(std::string_view opcode) {
  if (opcode.starts_with("shfl.")) return 4;
  if (starts_with_any(opcode, {"setp.", "set.", "atom.", "cp.async.ca.", "cp.async.cg."})) return 3;
  if (starts_with_any(opcode, {"ld.", "ldu.", "st.", "red.", "barrier.cta.red", "bar.red", "bar.cta.red"})) return 2;
  const bool is_of_all = opcode.starts_with("barrier.cluster.");
  const bool waits = starts_with_any(opcode, {"bar.", "barrier.", "vote.", "match.", "redux."});
  return waits && !is_of_all ? 1 : 0;
}

/// Throws PtxError for an instruction with too few operands.
void require_operands(const ptx::Kernel& kernel, const std::string& file) {
  for (const Instruction& instruction : kernel.instructions) {
    if (instruction.operands.size() >= least_operands(instruction.opcode)) continue;
    throw ptx::PtxError(file, instruction.position, "'" + instruction.opcode + "' has too few operands");
  }
}

/// Whether it is another number for some threads by what is known of each, whatever the unknown numbers are. One that
/// only warps have alike, as the answer of a vote, is not enough.
bool is_by_place(const ThreadValue& value) {
  const auto differs = [](const ThreadValue::Term& term) { return !term.factor.is_same(); };
  return value.is_sum() && (!value.known().is_same() || std::ranges::any_of(value.terms(), differs));
}

ptx::LinkedKernel linked_or_alone(const ptx::Module& module, const ptx::Kernel& kernel) {
  try {
    return ptx::link(module, kernel);
  } catch (const ptx::PtxError&) {
    return {kernel, {}};  // functions that are not there cannot be looked at
  }
}

}  // namespace

KernelValues::KernelValues(const ptx::Module& module, const ptx::Kernel& kernel, const BlockShape& shape)
    : module_(module),
      linked_(linked_or_alone(module, kernel)),
      flow_(linked_, kernel, module.file),
      shape_(shape),
      threads_(static_cast<std::size_t>(shape.threads.x) * shape.threads.y * shape.threads.z) {
  require_operands(linked_.kernel, module.file);
  find_definitions();
  find_reads();
  find_pointers();
  const std::size_t blocks = flow_.blocks().size();
  partings_.assign(blocks, Parting::none);
  regions_.assign(blocks, {});
  do {
    propagate();
    find_partings();
  } while (mark_meetings());
  find_active();
}

void KernelValues::find_definitions() {
  const ptx::Kernel& body = kernel();
  definitions_.resize(body.registers.size());
  assigned_.resize(body.instructions.size());
  for (int i = 0; i < static_cast<int>(body.instructions.size()); ++i) {
    for (const int reg : result_registers(body.instructions[i])) {
      if (reg >= 0 && (definitions_[reg].empty() || definitions_[reg].back() != i)) definitions_[reg].push_back(i);
    }
  }
}

void KernelValues::find_reads() {
  const ptx::Kernel& body = kernel();
  reads_.resize(body.instructions.size());
  meetings_of_.resize(body.instructions.size());
  // The assignments that may hold where a block begins, by register.
  std::vector<std::map<int, std::vector<int>>> at_begin(flow_.blocks().size());
  for (int reg = 0; reg < static_cast<int>(definitions_.size()); ++reg) {
    if (definitions_[reg].size() < 2) continue;
    std::vector<bool> ends_all(flow_.blocks().size(), false);  // blocks behind which no earlier assignment holds
    for (const int definition : definitions_[reg]) {
      if (body.instructions[definition].predicate < 0) ends_all[flow_.block_of(definition)] = true;
    }
    for (std::size_t i = 0; i < definitions_[reg].size(); ++i) {
      const int definition = definitions_[reg][i];
      const int block = flow_.block_of(definition);
      // A later assignment in the same block takes its place.
      bool is_over = false;
      for (std::size_t later = i + 1; later < definitions_[reg].size(); ++later) {
        const int other = definitions_[reg][later];
        is_over = is_over || (flow_.block_of(other) == block && body.instructions[other].predicate < 0);
      }
      if (is_over) continue;
      std::vector<int> open = flow_.blocks()[block].successors;
      while (!open.empty()) {
        const int next = open.back();
        open.pop_back();
        if (next == flow_.end()) continue;
        std::vector<int>& known = at_begin[next][reg];
        if (!known.empty() && known.back() == definition) continue;
        known.push_back(definition);
        if (!ends_all[next]) {
          open.insert(open.end(), flow_.blocks()[next].successors.begin(), flow_.blocks()[next].successors.end());
        }
      }
    }
  }
  std::map<std::pair<int, std::vector<int>>, int> known;
  const auto meeting_of = [&](int reg, const std::vector<int>& definitions) {
    if (definitions.empty()) return -1;
    const auto [at, is_new] = known.try_emplace({reg, definitions}, static_cast<int>(meetings_.size()));
    if (is_new) {
      for (const int definition : definitions) meetings_of_[definition].push_back(at->second);
      meetings_.push_back({.reg = reg, .definitions = definitions});
    }
    return at->second;
  };
  for (int block = 0; block < flow_.end(); ++block) {
    std::map<int, std::vector<int>> holds = at_begin[block];
    for (int i = flow_.blocks()[block].first; i < flow_.blocks()[block].end; ++i) {
      const Instruction& instruction = body.instructions[i];
      const auto note = [&](int reg) {
        if (reg < 0 || definitions_[reg].size() < 2) return;
        const auto is_it = [reg](const auto& one) { return one.first == reg; };
        if (std::ranges::none_of(reads_[i], is_it)) reads_[i].emplace_back(reg, meeting_of(reg, holds[reg]));
      };
      const auto note_operand = [&](const auto& self, const Operand& operand) -> void {
        if (operand.kind == OperandKind::register_ || operand.kind == OperandKind::address) note(operand.index);
        for (const Operand& element : operand.elements) self(self, element);
      };
      for (const Operand& operand : instruction.operands) note_operand(note_operand, operand);
      note(instruction.predicate);
      for (const int reg : result_registers(instruction)) {
        if (reg < 0 || definitions_[reg].size() < 2) continue;
        if (instruction.predicate < 0) holds[reg].clear();
        if (std::ranges::find(holds[reg], i) == holds[reg].end()) {
          holds[reg].insert(std::ranges::upper_bound(holds[reg], i), i);
        }
      }
    }
  }
}

void KernelValues::find_pointers() {
  is_pointer_.assign(kernel().registers.size(), false);
  std::vector<int> open;
  const auto mark = [&](int reg) {
    if (reg < 0 || is_pointer_[reg] || kernel().registers[reg].type.bits != 64) return;
    is_pointer_[reg] = true;
    open.push_back(reg);
  };
  for (const Instruction& instruction : kernel().instructions) {
    const bool is_private = instruction.opcode.find(".param") != std::string::npos;
    for (const Operand& operand : instruction.operands) {
      if (operand.kind == OperandKind::address && !is_private) mark(operand.index);
    }
  }
  while (!open.empty()) {
    const int reg = open.back();
    open.pop_back();
    for (const int index : definitions_[reg]) {
      const Instruction& instruction = kernel().instructions[index];
      if (!starts_with_any(instruction.opcode, {"add", "sub", "mov", "cvta", "selp"})) continue;
      for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
        if (instruction.operands[i].kind == OperandKind::register_) mark(instruction.operands[i].index);
      }
    }
  }
}

void KernelValues::propagate() {
  const ptx::Kernel& body = kernel();
  for (std::size_t i = 0; i < assigned_.size(); ++i) {
    assigned_[i].assign(result_registers(body.instructions[i]).size(), {});
  }
  for (Meeting& meeting : meetings_) meeting.value = {};
  bool changed = true;
  for (int pass = 0; changed && pass <= 2 * kMostPasses; ++pass) {
    changed = false;
    for (int i = 0; i < static_cast<int>(body.instructions.size()); ++i) {
      if (assigned_[i].empty()) continue;
      std::vector<ThreadValue> values = results(i);
      values.resize(assigned_[i].size());
      if (values == assigned_[i]) continue;
      if (pass >= kMostPasses) std::ranges::fill(values, ThreadValue::varying());
      changed = changed || values != assigned_[i];
      assigned_[i] = std::move(values);
      for (const int meeting : meetings_of_[i]) meetings_[meeting].value = joined(meeting);
    }
  }
}

ThreadValue KernelValues::joined(int number) const {
  const Meeting& here = meetings_[number];
  const auto same_for_all = [](const PerThread& numbers) { return PerThread(numbers[0]); };
  const auto without_first = [](const PerThread& numbers) {
    return numbers.mapped([first = numbers[0]](std::int64_t number) { return difference_of(number, first); });
  };
  ThreadValue joined;
  Unknown meeting;
  meeting.multiple = 0;
  bool differs = false;
  for (const int index : here.definitions) {
    const std::vector<int> targets = result_registers(kernel().instructions[index]);
    for (std::size_t t = 0; t < targets.size(); ++t) {
      if (targets[t] != here.reg) continue;
      const ThreadValue& value = assigned_[index][t];
      if (!value.is_assigned()) continue;
      if (value.is_varying()) return value;
      // The part of this value that all threads have alike goes into the unknown number in which all its values meet.
      const ThreadValue shared = [&] {
        std::vector<ThreadValue::Term> terms;
        for (const auto& term : value.terms()) terms.push_back({term.unknown, same_for_all(term.factor)});
        return ThreadValue(same_for_all(value.known()), terms);
      }();
      meeting.multiple = std::gcd(meeting.multiple, shared.multiple(unknowns_));
      const std::int64_t constant = shared.known()[0];
      meeting.multiple = std::gcd(meeting.multiple, magnitude_of(constant));
      for (const auto& term : value.terms()) {
        const Unknown& one = unknowns_[term.unknown];
        meeting.scope = std::max(meeting.scope, one.scope);
        meeting.loops.insert(meeting.loops.end(), one.loops.begin(), one.loops.end());
      }
      if (!joined.is_assigned()) {
        joined = value;
        continue;
      }
      if (value == joined) continue;
      differs = true;
      if (!value.minus(joined).is_alike_in_trips(unknowns_, Unknown::Scope::block)) {
        const bool in_warps = value.is_alike_in_trips(unknowns_, Unknown::Scope::warp) &&
                              joined.is_alike_in_trips(unknowns_, Unknown::Scope::warp);
        if (!in_warps) return ThreadValue::varying();
        meeting.scope = Unknown::Scope::warp;
        meeting.multiple = 1;
      }
    }
  }
  if (!differs) return joined;
  if (here.within_warps) return ThreadValue::varying();
  if (here.between_warps) meeting.scope = Unknown::Scope::warp;
  meeting.loops.insert(meeting.loops.end(), here.loops.begin(), here.loops.end());
  const int index = unknown("meeting " + std::to_string(number), meeting);
  unknowns_.weaken(index, meeting);
  if (meeting.scope == Unknown::Scope::warp && joined.is_alike_in_trips(unknowns_, Unknown::Scope::warp)) {
    return ThreadValue::of_unknown(index);
  }
  std::vector<ThreadValue::Term> terms;
  for (const auto& term : joined.terms()) {
    if (!term.factor.is_same()) terms.push_back({term.unknown, without_first(term.factor)});
  }
  return ThreadValue(without_first(joined.known()), terms).plus(ThreadValue::of_unknown(index));
}

Parting KernelValues::parting_of(const ThreadValue& predicate) const {
  if (!predicate.is_assigned() || predicate.is_alike(unknowns_, Unknown::Scope::block)) return Parting::none;
  return predicate.is_alike(unknowns_, Unknown::Scope::warp) ? Parting::between_warps : Parting::within_warps;
}

Parting KernelValues::predicate_parting(int index) const {
  const int predicate = kernel().instructions[index].predicate;
  return predicate < 0 ? Parting::none : parting_of(register_value(predicate, index));
}

ThreadValue KernelValues::register_value(int reg, int index) const {
  const std::vector<int>& all = definitions_[reg];
  if (all.empty()) return ThreadValue::varying();  // one that nothing assigns to
  if (all.size() > 1) {
    const auto read = std::ranges::find(reads_[index], reg, &std::pair<int, int>::first);
    return read == reads_[index].end() || read->second < 0 ? ThreadValue::varying() : meetings_[read->second].value;
  }
  const std::vector<int> targets = result_registers(kernel().instructions[all.front()]);
  return assigned_[all.front()][static_cast<std::size_t>(std::ranges::find(targets, reg) - targets.begin())];
}

void KernelValues::find_partings() {
  for (int block = 0; block < flow_.end(); ++block) {
    if (flow_.blocks()[block].successors.size() < 2) continue;
    const int end = flow_.blocks()[block].end - 1;
    const Instruction& last = kernel().instructions[end];
    Parting parting = predicate_parting(end);
    if (last.opcode.starts_with("brx.")) parting = parting_of(read(last.operands.front(), end));
    if (last.opcode.ends_with(".uni")) parting = std::min(parting, Parting::between_warps);
    if (parting != Parting::none && regions_[block].empty()) regions_[block] = flow_.region(block);
    partings_[block] = std::max(partings_[block], parting);
  }
}

bool KernelValues::mark_meetings() {
  bool changed = false;
  const auto mark = [&](Meeting& meeting, Parting parting, int left_loop) {
    const auto raise = [&changed](bool& flag) {
      changed = changed || !flag;
      flag = true;
    };
    if (parting == Parting::between_warps) raise(meeting.between_warps);
    if (parting != Parting::within_warps) return;
    if (left_loop < 0) raise(meeting.within_warps);
    if (left_loop >= 0 && std::ranges::find(meeting.loops, left_loop) == meeting.loops.end()) {
      meeting.loops.push_back(left_loop);
      changed = true;
    }
  };
  for (int branch = 0; branch < flow_.end(); ++branch) {
    if (partings_[branch] == Parting::none) continue;
    for (const int successor : flow_.blocks()[branch].successors) {
      const std::vector<bool> side = flow_.side(branch, successor);
      const auto is_here = [&](int definition) -> bool { return side[flow_.block_of(definition)]; };
      for (Meeting& meeting : meetings_) {
        const auto here = std::ranges::find_if(meeting.definitions, is_here);
        if (here == meeting.definitions.end() || std::ranges::all_of(meeting.definitions, is_here)) continue;
        mark(meeting, partings_[branch], flow_.left_loop(branch, flow_.block_of(*here)));
      }
    }
  }
  for (Meeting& meeting : meetings_) {
    if (meeting.definitions.size() < 2) continue;
    for (const int definition : meeting.definitions) mark(meeting, predicate_parting(definition), -1);
  }
  return changed;
}

void KernelValues::find_active() {
  const std::size_t blocks = flow_.blocks().size();
  active_.assign(blocks, std::vector<bool>(threads_, false));
  std::vector<int> open;
  for (int block = 0; block < flow_.end(); ++block) {
    if (block > 0 && !flow_.blocks()[block].begins_function) continue;
    active_[block].assign(threads_, true);
    open.push_back(block);
  }
  while (!open.empty()) {
    const int block = open.back();
    open.pop_back();
    const ptx::BasicBlock& at = flow_.blocks()[block];
    const Instruction& last = kernel().instructions[at.end - 1];
    const ThreadValue predicate =
        last.predicate < 0 ? ThreadValue::varying() : register_value(last.predicate, at.end - 1);
    for (std::size_t way = 0; way < at.successors.size(); ++way) {
      const int next = at.successors[way];
      if (next == flow_.end()) continue;
      std::vector<bool> passing = active_[block];
      if (at.successors.size() == 2 && predicate.is_known()) {
        // The first successor is the branch's target; of a return that is conditional, the next instruction is it.
        const bool is_taken = last.opcode.starts_with("bra") && way == 0;
        const PerThread& numbers = predicate.known();
        std::vector<bool> goes(threads_);
        for (std::size_t thread = 0; thread < threads_; ++thread) {
          goes[thread] = ((numbers[thread] != 0) != last.predicate_negated) == is_taken;
        }
        passing = both(passing, goes);
      }
      bool grows = false;
      for (std::size_t thread = 0; thread < threads_; ++thread) {
        if (!passing[thread] || active_[next][thread]) continue;
        active_[next][thread] = true;
        grows = true;
      }
      if (grows) open.push_back(next);
    }
  }
}

std::vector<bool> KernelValues::active(int index) const {
  std::vector<bool> threads = active_[flow_.block_of(index)];
  const Instruction& instruction = kernel().instructions[index];
  if (instruction.predicate < 0) return threads;
  const ThreadValue predicate = register_value(instruction.predicate, index);
  if (!predicate.is_known()) return threads;
  const PerThread& numbers = predicate.known();
  for (std::size_t thread = 0; thread < threads_; ++thread) {
    threads[thread] = threads[thread] && (numbers[thread] != 0) != instruction.predicate_negated;
  }
  return threads;
}

std::vector<int> KernelValues::parting_branches(int instruction) const {
  std::vector<int> branches;
  for (int block = 0; block < flow_.end(); ++block) {
    if (partings_[block] != Parting::none && regions_[block][flow_.block_of(instruction)]) branches.push_back(block);
  }
  return branches;
}

bool KernelValues::is_known_branch(int block) const {
  const int last = flow_.blocks()[block].end - 1;
  const int predicate = kernel().instructions[last].predicate;
  return predicate >= 0 && register_value(predicate, last).is_known();
}

bool KernelValues::parts_by_place(int block) const {
  const int last = flow_.blocks()[block].end - 1;
  const Instruction& branch = kernel().instructions[last];
  if (branch.opcode.starts_with("brx.")) return is_by_place(read(branch.operands.front(), last));
  return branch.predicate >= 0 && is_of_place(branch.predicate, last);
}

bool KernelValues::is_of_place(int predicate, int index) const {
  if (register_value(predicate, index).is_known()) return true;
  if (definitions_[predicate].size() != 1) return false;
  const int maker = definitions_[predicate].front();
  const Instruction& made = kernel().instructions[maker];
  if (made.opcode.starts_with("setp.") && made.operands.size() == 3) {
    return is_by_place(read(made.operands[1], maker).minus(read(made.operands[2], maker)));
  }
  if (!starts_with_any(made.opcode, {"and.pred", "or.pred", "not.pred"})) return false;
  return std::all_of(made.operands.begin() + 1, made.operands.end(), [this, maker](const Operand& operand) {
    return parting_of(read(operand, maker)) == Parting::none ||
           (operand.kind == OperandKind::register_ && operand.index >= 0 && is_of_place(operand.index, maker));
  });
}

const ptx::Symbol* KernelValues::find_symbol(const std::string& name) const {
  for (const auto* const symbols : {&kernel().symbols, &module_.symbols}) {
    const auto found = std::ranges::find(*symbols, name, &ptx::Symbol::name);
    if (found != symbols->end()) return &*found;
  }
  return nullptr;
}

ThreadValue KernelValues::value(const Operand& operand, int instruction) const {
  ThreadValue value = read(operand, instruction);
  if (!value.is_sum()) return value.is_assigned() ? value : ThreadValue::varying();
  // Behind a loop that threads leave one by one, its counter is another number for each.
  const int block = flow_.block_of(instruction);
  for (const auto& term : value.terms()) {
    for (const int loop : unknowns_[term.unknown].loops) {
      if (!flow_.loops()[loop].has[block]) return ThreadValue::varying();
    }
  }
  return value;
}

AccessAddress KernelValues::address(const Operand& operand, int instruction, ptx::Space space) const {
  AccessAddress address{value(operand, instruction), space, {}};
  if (!address.bytes.is_sum()) return address;
  for (const auto& term : address.bytes.terms()) {
    const std::string& name = unknowns_[term.unknown].name;
    for (const auto& [before, of] :
         {std::pair("shared:", ptx::Space::shared), std::pair("local:", ptx::Space::local)}) {
      if (!name.starts_with(before) || name.find(" * ") != std::string::npos) continue;
      address.variable = name.substr(std::string_view(before).size());
      if (space == ptx::Space::generic) address.space = of;
    }
  }
  if (address.space == ptx::Space::generic) address.space = ptx::Space::global;
  return address;
}

}  // namespace convladder::simulated
