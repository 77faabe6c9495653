// Memory and processes: whether there is room for a case now, and how many are open at a time, each in a process of its
// own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "variants/problem.hpp"

namespace convladder {

/// The most cases that are open at a time on a device with memory of its own, a GPU. Each holds a context there, of
/// half a gigabyte and more, and about as much of the host's memory; and a signal that ends a run from outside costs
/// the cases that are open. More would not make their comparison better: whatever takes turns finds another's context.
inline constexpr std::size_t kMostContexts = 12;

/// Why there is no room for a case of that size on that device now, in `processes` processes at a time: how much it
/// needs at least of the host's memory or of the device's own, and how much there is. Empty if there is room, and for a
/// device without a clock, which executes the first images only. Free memory changes: ask when the case's turn comes.
std::string why_no_room(std::string_view device, const ProblemSize& size, int processes = 1);

/// Why a case is not to blame that ran alone and for which the device's memory did not suffice: with a layout of its
/// own it may need more than is free. Empty if that much is free.
std::string why_no_room_for_layouts(std::string_view device, const ProblemSize& size);

/// Whether other people's processes compute on the device now, as far as the device says so.
bool has_other_processes(std::string_view device);

/// Whether only one process at a time can use the device: a GPU in exclusive mode.
bool takes_one_process(std::string_view device);

/// How many of the `left` cases of that size, each of which takes `processes` processes, are to be open at a time: at
/// least one, as many as fit the host's memory and that of the device, where each process takes some before it
/// allocates any, and at most kMostContexts there. They are shared out evenly: 13 cases as 7 and 6. One where the
/// device takes one process only; throws UserError if a case needs more than that.
std::size_t cases_at_a_time(std::string_view device, const ProblemSize& size, std::size_t left, int processes = 1);

}  // namespace convladder
