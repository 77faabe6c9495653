// Barriers, and instructions of whole warps, that some threads skip while others wait.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "simulator/lints/lint.hpp"
#include "simulator/memory/warp_access.hpp"
#include "simulator/ptx/opcode_parts.hpp"

namespace convladder::simulated {
namespace {

using ptx::Instruction;
using ptx::Operand;
using Parts = ptx::OpcodeParts;
using ptx::has_part;

/// An instruction at which threads wait for others, or that a whole warp executes together.
struct Meeting {
  bool is_of_block = false;  ///< a barrier of all threads, or of a number of them
  bool has_count = false;    ///< of a number of threads, not of all
  bool is_of_warp = false;   ///< all lanes of a warp, or those of a mask, execute it together
  const Operand* mask = nullptr;
  std::string name;  ///< "bar.sync 0": barriers of one name wait for each other
};

std::optional<Meeting> meeting_of(const Instruction& instruction) {
  const Parts parts = ptx::split_opcode(instruction.opcode);
  const std::string_view first = parts[0];
  Meeting meeting;
  if (first == "bar" || first == "barrier") {
    if (has_part(parts, "warp") && !instruction.operands.empty()) {
      meeting.is_of_warp = true;
      meeting.mask = &instruction.operands.at(0);
      meeting.name = "bar.warp.sync";
      return meeting;
    }
    if (has_part(parts, "cluster")) {
      meeting.is_of_block = true;
      meeting.is_of_warp = has_part(parts, "aligned");
      meeting.name = has_part(parts, "arrive") ? "barrier.cluster.arrive" : "barrier.cluster.wait";
      return meeting;
    }
    if (has_part(parts, "arrive")) return std::nullopt;  // waits for nobody, and always counts threads
    const bool is_reduction = has_part(parts, "red");
    const std::size_t number = is_reduction ? 1 : 0;
    if (instruction.operands.size() <= number) return std::nullopt;
    meeting.is_of_block = true;
    meeting.is_of_warp = first == "bar" || has_part(parts, "aligned");
    // A reduction has a predicate behind the number and the count.
    meeting.has_count = instruction.operands.size() > number + (is_reduction ? 2 : 1);
    const Operand& barrier = instruction.operands.at(number);
    meeting.name = barrier.kind == ptx::OperandKind::immediate ? fmt::format("barrier {}", barrier.bits) : "a barrier";
    return meeting;
  }
  if (has_part(parts, "sync") && (first == "shfl" || first == "vote" || first == "match" || first == "redux")) {
    meeting.is_of_warp = true;
    meeting.mask = &instruction.operands.back();
    meeting.name = fmt::format("{}.sync", first);
    return meeting;
  }
  if (has_part(parts, "sync") && has_part(parts, "aligned")) {
    meeting.is_of_warp = true;
    meeting.name = std::string(first);
    return meeting;
  }
  return std::nullopt;
}

class BarrierLints {
 public:
  BarrierLints(const KernelValues& values, LintLog& log) : values_(values), log_(log) {
    const auto& instructions = values.kernel().instructions;
    for (int i = 0; i < static_cast<int>(instructions.size()); ++i) {
      if (auto meeting = meeting_of(instructions[i])) meetings_.emplace_back(i, std::move(*meeting));
    }
  }

  void find() {
    for (const auto& [index, meeting] : meetings_) {
      if (!find_predicate(index, meeting)) find_branch(index, meeting);
    }
  }

 private:
  const Instruction& at(int index) const { return values_.kernel().instructions[static_cast<std::size_t>(index)]; }

  /// Whether threads that part so must not meet this one by one.
  static bool concerns(const Meeting& meeting, Parting parting) {
    if (parting == Parting::within_warps) return meeting.is_of_warp || (meeting.is_of_block && !meeting.has_count);
    return parting == Parting::between_warps && meeting.is_of_block && !meeting.has_count;
  }

  bool find_predicate(int index, const Meeting& meeting) {
    const Parting parting = values_.predicate_parting(index);
    if (!concerns(meeting, parting) || names_active_lanes_only(index, meeting)) return false;
    const bool is_of_place = values_.is_of_place(at(index).predicate, index);
    add(index, meeting, parting, "its predicate", is_of_place ? Certainty::differs : Certainty::by_data);
    return true;
  }

  void find_branch(int index, const Meeting& meeting) {
    const Flow& flow = values_.flow();
    const int block = flow.block_of(index);
    for (const int branch : values_.parting_branches(index)) {
      const Parting parting = values_.parting(branch);
      if (!concerns(meeting, parting)) continue;
      // Nobody waits for those who leave; and threads that leave behind this meet the others nowhere, who may have one
      // of their own.
      const std::vector<bool> nothing(flow.blocks().size(), false);
      const bool meets = flow.blocks()[branch].reconvergence != flow.end() && flow.can_pass(block, branch, nothing);
      if (!meets) continue;
      std::vector<bool> alike(flow.blocks().size(), false);
      for (const auto& [other, that] : meetings_) {
        if (that.name == meeting.name) alike[flow.block_of(other)] = true;
      }
      const auto& successors = flow.blocks()[branch].successors;
      const auto leads_here = [&](int successor) -> bool { return flow.side(branch, successor)[block]; };
      const auto skips = [&](int successor) {
        return successor == flow.blocks()[branch].reconvergence || flow.can_pass(successor, branch, alike);
      };
      const bool parts = std::ranges::any_of(successors, [&](int here) {
        return leads_here(here) &&
               std::ranges::any_of(successors, [&](int other) { return other != here && skips(other); });
      });
      if (!parts || names_active_lanes_only(index, meeting)) continue;
      add(index, meeting, parting, branch_text(values_, branch), certainty(branch, block));
      return;
    }
  }

  /// Whether the lanes that its mask names are those that come here, as far as that is known.
  bool names_active_lanes_only(int index, const Meeting& meeting) const {
    if (meeting.mask == nullptr) {
      return !meeting.is_of_block && every_condition_is_known(index) && has_whole_warps(values_.active(index));
    }
    const ThreadValue mask = values_.value(*meeting.mask, index);
    if (!mask.is_known()) return true;  // such as what activemask or a ballot gave
    if (!every_condition_is_known(index))
      return mask.is_constant() && static_cast<LaneMask>(mask.known()[0]) != kAllLanes;
    const std::vector<bool> active = values_.active(index);
    for (std::size_t thread = 0; thread < active.size(); ++thread) {
      if (!active[thread]) continue;
      const auto lanes = static_cast<LaneMask>(mask.known()[thread]);
      const std::size_t warp = thread - thread % kLanes;
      for (std::size_t lane = 0; lane < kLanes && warp + lane < active.size(); ++lane) {
        if (((lanes >> lane) & 1U) != 0 && !active[warp + lane]) return false;
      }
    }
    return true;
  }

  bool every_condition_is_known(int index) const {
    const Instruction& instruction = at(index);
    if (instruction.predicate >= 0 && values_.predicate_parting(index) != Parting::none) return false;
    return std::ranges::all_of(values_.parting_branches(index), [&](int branch) {
      return values_.is_known_branch(branch) || values_.parting(branch) != Parting::within_warps;
    });
  }

  static bool has_whole_warps(const std::vector<bool>& active) {
    for (std::size_t thread = 0; thread < active.size(); ++thread) {
      if (active[thread] != active[thread - thread % kLanes]) return false;
    }
    return true;
  }

  /// How sure it is that a condition differs between threads.
  enum class Certainty : std::uint8_t {
    differs,
    by_data,  ///< by numbers from memory, of which nothing is known
    by_trips  ///< by the trips of a loop, of which all threads may have the same number
  };

  Certainty certainty(int branch, int block) const {
    const Flow& flow = values_.flow();
    if (values_.is_known_branch(branch)) return Certainty::differs;
    if (!values_.parts_by_place(branch)) return Certainty::by_data;
    // The branch may also be one before the loop, by which threads skip its trips, or those that were unrolled.
    const auto line_of = [&](int of) -> const ptx::SourceLocation& { return at(flow.blocks()[of].end - 1).source; };
    const auto is_of_the_same_line = [&](int other) {
      return line_of(branch).line > 0 && line_of(other).line == line_of(branch).line &&
             line_of(other).file == line_of(branch).file;
    };
    const auto leaves = [&](int other) {
      if (values_.parting(other) == Parting::none) return false;
      if (flow.left_loop(other, other) >= 0 && is_of_the_same_line(other)) return true;
      return flow.left_loop(other, block) >= 0 &&
             flow.blocks()[other].reconvergence == flow.blocks()[branch].reconvergence;
    };
    for (int other = 0; other < flow.end(); ++other) {
      if (leaves(other)) return Certainty::by_trips;
    }
    return Certainty::differs;
  }

  std::string shape_text() const {
    const Dim3 block = values_.shape().threads;
    return fmt::format(", in blocks of {} x {} x {}", block.x, block.y, block.z);
  }

  void add(int index, const Meeting& meeting, Parting parting, const std::string& condition, Certainty certainty) {
    const bool in_warps = parting == Parting::within_warps;
    const std::string who = in_warps ? "threads of a warp" : "warps of a block";
    // Which threads are a warp's is not known where only the number of a block's dimensions is.
    const bool is_certain = certainty == Certainty::differs;
    const bool rests_on_shape = !meeting.is_of_block && !values_.shape().is_given && values_.shape().threads.y > 1;
    const std::string why = certainty == Certainty::differs ? fmt::format("since {} differs between them", condition)
                            : certainty == Certainty::by_data
                                ? fmt::format("unless {} is the same for all", condition)
                                : fmt::format("unless all leave the loop together, by {}", condition);
    log_.add(index, meeting.is_of_block ? LintKind::barrier : LintKind::lanes,
             is_certain && !rests_on_shape ? Severity::finding : Severity::note,
             fmt::format("some {} skip it, {}{}", who, why, is_certain && rests_on_shape ? shape_text() : ""));
  }

  const KernelValues& values_;
  LintLog& log_;
  std::vector<std::pair<int, Meeting>> meetings_;
};

}  // namespace

void find_barrier_lints(const KernelValues& values, LintLog& log) { BarrierLints(values, log).find(); }

}  // namespace convladder::simulated
