#include "simulator/mutations/mutation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "simulator/mutations/loops.hpp"
#include "simulator/mutations/opcode_facts.hpp"
#include "simulator/ptx/linking.hpp"
#include "simulator/ptx/opcode_parts.hpp"

namespace convladder::simulated {
namespace {

bool is_barrier(std::string_view opcode) {
  return opcode.starts_with("bar.sync") || opcode.starts_with("barrier.sync") || opcode.starts_with("bar.warp.sync") ||
         opcode.starts_with("barrier.cluster");
}

bool is_wait(std::string_view opcode) {
  return opcode.starts_with("cp.async.wait") || opcode.starts_with("cp.async.bulk.wait") ||
         opcode.starts_with("mbarrier.try_wait") || opcode.starts_with("mbarrier.test_wait");
}

bool is_fence(std::string_view opcode) { return opcode.starts_with("membar") || opcode.starts_with("fence"); }

/// A sum or a product with a sum of float32 or float64, or a product of matrices that adds in float32.
bool is_float_sum(const ptx::Instruction& instruction) {
  const std::vector<std::string_view> parts = ptx::split_opcode(instruction.opcode);
  const auto type = result_type(instruction);
  if (!type || type->type_class != ptx::TypeClass::floating || type->bits < 32) return false;
  const std::string_view first = parts[0];
  if (first == "mma") return type->bits == 32;
  if (first == "wmma") return type->bits == 32 && parts.size() > 1 && parts[1] == "mma";
  return first == "add" || first == "sub" || first == "fma" || first == "mad";
}

/// The mutations to which an instruction belongs.
std::vector<MutationKind> kinds_of(const ptx::Kernel& body, int index) {
  const ptx::Instruction& instruction = body.instructions[static_cast<std::size_t>(index)];
  std::vector<MutationKind> kinds;
  if (const auto store = store_facts(instruction)) {
    kinds.push_back(MutationKind::store_out);
    if (store->value != nullptr && store->is_global && (!store->is_atomic || store->is_sum)) {
      if (!store->is_sum) kinds.push_back(MutationKind::zeros);  // a sum with zero is one that is left out
      kinds.push_back(MutationKind::sign);
      kinds.push_back(MutationKind::scaled);
    }
    if (store->is_global && store->value != nullptr && store->address->index >= 0) {
      if (ptx::moved_bytes(ptx::split_opcode(instruction.opcode)) > 0) kinds.push_back(MutationKind::store_index);
    }
  } else if (load_facts(instruction)) {
    kinds.push_back(MutationKind::load_index);
  } else if (is_barrier(instruction.opcode)) {
    kinds.push_back(MutationKind::barrier_out);
  } else if (is_wait(instruction.opcode)) {
    kinds.push_back(MutationKind::wait_out);
  } else if (is_fence(instruction.opcode)) {
    kinds.push_back(MutationKind::fence_out);
  } else if (counted_loop(body, index)) {
    kinds.push_back(MutationKind::last_trip);
  }
  return kinds;
}

/// The basic block of each instruction, counted from 0.
std::vector<int> block_numbers(const ptx::Kernel& body) {
  std::vector<bool> begins(body.instructions.size() + 1, false);
  const auto look = [&](const auto& self, const ptx::Operand& operand) -> void {
    const auto target = static_cast<std::size_t>(operand.index);
    if (operand.kind == ptx::OperandKind::label && target < begins.size()) begins[target] = true;
    for (const ptx::Operand& element : operand.elements) self(self, element);
  };
  for (std::size_t i = 0; i < body.instructions.size(); ++i) {
    for (const ptx::Operand& operand : body.instructions[i].operands) look(look, operand);
    if (body.instructions[i].opcode.starts_with("br")) begins[i + 1] = true;
  }
  std::vector<int> numbers;
  int number = 0;
  for (std::size_t i = 0; i < body.instructions.size(); ++i) numbers.push_back(number += begins[i] ? 1 : 0);
  return numbers;
}

void add_mutations(const ptx::Module& module, const ptx::Kernel& body, std::vector<Mutation>& all) {
  const std::vector<int> blocks = block_numbers(body);
  std::vector<Mutation> groups;
  std::map<std::tuple<MutationKind, int, std::string>, std::size_t> known;  // by kind and line, or block
  Mutation sums{MutationKind::low_precision, body.name, {}};
  for (int i = 0; i < static_cast<int>(body.instructions.size()); ++i) {
    const ptx::Instruction& instruction = body.instructions[static_cast<std::size_t>(i)];
    if (is_float_sum(instruction)) sums.instructions.push_back(i);
    for (const MutationKind kind : kinds_of(body, i)) {
      const std::vector<SourcePlace> places = places_of(module, instruction.source);
      std::string line;
      for (const SourcePlace& place : places) line += fmt::format("{}:{} ", place.file, place.line);
      const int block = places.empty() ? blocks[static_cast<std::size_t>(i)] : -1;
      const auto [group, is_new] = known.try_emplace({kind, block, line}, groups.size());
      if (is_new) groups.push_back({kind, body.name, {}});
      groups[group->second].instructions.push_back(i);
    }
  }
  std::ranges::move(groups, std::back_inserter(all));
  if (!sums.instructions.empty()) all.push_back(std::move(sums));
}

}  // namespace

std::optional<MutationKind> find_mutation_kind(std::string_view word) {
  const auto* const found = std::ranges::find(kMutationKinds, word, &MutationWords::word);
  if (found == kMutationKinds.end()) return std::nullopt;
  return static_cast<MutationKind>(found - kMutationKinds.begin());
}

bool is_about_order(MutationKind kind) {
  return kind == MutationKind::barrier_out || kind == MutationKind::wait_out || kind == MutationKind::fence_out;
}

std::string Mutation::id(const ptx::Kernel& kernel) const {
  std::string text = words_of(kind).word;
  if (!instructions.empty()) text += fmt::format("@{}", instructions.front());
  if (body != kernel.name) text += ':' + body;
  return text;
}

std::vector<Mutation> mutations_of(const ptx::Module& module, const ptx::Kernel& kernel) {
  std::vector<Mutation> all{{MutationKind::last_block, kernel.name, {}}, {MutationKind::stale, kernel.name, {}}};
  add_mutations(module, kernel, all);
  if (std::ranges::any_of(kernel.instructions, ptx::is_call)) {
    for (const ptx::LinkedFunction& function : ptx::link(module, kernel).functions) {
      add_mutations(module, *function.function, all);
    }
  }
  std::ranges::stable_sort(all, {}, &Mutation::kind);
  return all;
}

std::vector<SourcePlace> places_of(const ptx::Module& module, const ptx::Kernel& body, const Mutation& mutation) {
  if (mutation.instructions.empty() || mutation.kind == MutationKind::low_precision) return {};
  return places_of(module, body.instructions[static_cast<std::size_t>(mutation.instructions.front())].source);
}

}  // namespace convladder::simulated
