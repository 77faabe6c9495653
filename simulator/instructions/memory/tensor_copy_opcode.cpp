#include "simulator/instructions/memory/tensor_copy_opcode.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "simulator/instructions/instruction_decoder.hpp"

namespace convladder::simulated {
namespace {

using Words = std::vector<std::string_view>;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// Parses a word after the dimensions; false if it is unknown. Adds state spaces to `spaces`.
bool parse_word(std::string_view word, bool reduces, TensorOpcode& opcode, std::vector<std::string_view>& spaces) {
  const auto* const operation = std::ranges::find(kTensorReductions, word);
  if (reduces && operation != std::end(kTensorReductions)) {
    opcode.reduction = static_cast<int>(operation - kTensorReductions) + 1;
    return true;
  }
  if (is_one_of(word, {"global", "shared::cta", "shared::cluster", "L2"})) {
    spaces.push_back(word);
    return true;
  }
  if (is_one_of(word, {"tile", "mbarrier::complete_tx::bytes", "bulk_group", "cta_group::1"})) return true;
  if (word == "tile::gather4" || word == "tile::scatter4") {
    opcode.access = BoxAccess::rows;
  } else if (word == "im2col" || word == "im2col_no_offs") {
    opcode.access = BoxAccess::im2col;
    opcode.has_offsets = word == "im2col";
  } else if (word == "multicast::cluster") {
    opcode.is_multicast = true;
  } else if (word == "L2::cache_hint") {
    opcode.has_policy = true;
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::optional<TensorOpcode> parse_tensor_copy(std::string_view opcode_text) {
  const Words words = ptx::split_opcode(opcode_text);
  const bool reduces = words.size() > 4 && words[0] == "cp" && words[1] == "reduce" && words[2] == "async" &&
                       words[3] == "bulk" && words[4] == "tensor";
  const bool copies = words.size() > 3 && words[0] == "cp" && words[1] == "async" && words[2] == "bulk";
  const bool prefetches = copies && words.size() > 4 && words[3] == "prefetch" && words[4] == "tensor";
  if (!reduces && !prefetches && (!copies || words[3] != "tensor")) return std::nullopt;
  const std::size_t first = reduces || prefetches ? 5 : 4;
  if (words.size() <= first || words[first].size() != 2 || words[first][1] != 'd') return std::nullopt;
  TensorOpcode opcode;
  opcode.dimensions = static_cast<std::size_t>(words[first][0] - '0');
  if (opcode.dimensions < 1 || opcode.dimensions > 5) return std::nullopt;
  std::vector<std::string_view> spaces;
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    if (!parse_word(words[i], reduces, opcode, spaces)) return std::nullopt;
  }
  if (spaces.size() != 2 || (opcode.reduction != 0) != reduces) return std::nullopt;
  const bool has = std::ranges::find(words, "bulk_group") != words.end();
  const bool arrives = std::ranges::find(words, "mbarrier::complete_tx::bytes") != words.end();
  opcode.direction = prefetches              ? CopyDirection::prefetch
                     : spaces[0] == "global" ? CopyDirection::store
                                             : CopyDirection::load;
  if (has != (opcode.direction == CopyDirection::store) || arrives != (opcode.direction == CopyDirection::load)) {
    return std::nullopt;
  }
  const bool is_right = opcode.direction == CopyDirection::store
                            ? spaces[1] == "shared::cta"
                            : spaces[1] == "global" && (spaces[0] == "L2") == prefetches;
  if (!is_right || (opcode.is_multicast && opcode.direction != CopyDirection::load)) return std::nullopt;
  if (opcode.access == BoxAccess::im2col && opcode.dimensions < 3) return std::nullopt;
  if (opcode.access == BoxAccess::rows && opcode.dimensions != 2) return std::nullopt;
  if (opcode.has_offsets == (opcode.direction == CopyDirection::store) && opcode.access == BoxAccess::im2col) {
    return std::nullopt;
  }
  return opcode;
}

}  // namespace convladder::simulated
