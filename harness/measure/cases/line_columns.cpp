#include "harness/measure/cases/line_columns.hpp"

#include <fmt/format.h>

#include <cmath>

#include "support/units.hpp"

namespace convladder {

double added_up(const std::map<std::string, double>& counters, std::span<const char* const> names) {
  double sum = 0;
  for (const char* const name : names) {
    const auto found = counters.find(name);
    if (found != counters.end()) sum += found->second;
  }
  return sum;
}

std::span<const LineColumn> line_columns() {
  constexpr const char* kExecuted = "smsp__inst_executed.sum";
  static const std::vector<LineColumn> all = {
      {"executed", "", {kExecuted}},
      {"lanes", "of 32", {"smsp__thread_inst_executed_pred_on.sum"}, {kExecuted}},
      {"sectors",
       "a load",
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
       {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"}},
      {"sectors",
       "a store",
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
       {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"}},
      {"wavefronts",
       "a request",
       {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
       {"smsp__sass_inst_executed_op_shared_ld.sum", "smsp__sass_inst_executed_op_shared_st.sum"}},
      {"bank",
       "conflicts",
       {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"},
       {},
       false},
      {"global",
       "bytes",
       {"smsp__sass_data_bytes_mem_global_op_ld.sum", "smsp__sass_data_bytes_mem_global_op_st.sum",
        "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum",
        "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum"},
       {},
       false},
      {"tensor", "instructions", {"sm__inst_executed_pipe_tensor.sum"}, {}, false},
      {"divergent", "branches", {"smsp__sass_branch_targets_threads_divergent.sum"}, {}, false}};
  return all;
}

std::optional<double> LineColumn::of(const std::map<std::string, double>& counters_of_line) const {
  const double sum = added_up(counters_of_line, counters);
  const double below = divided_by.empty() ? 1 : added_up(counters_of_line, divided_by);
  const bool is_there = divided_by.empty() ? sum != 0 : below != 0;
  return is_there ? std::optional(sum / below) : std::nullopt;
}

std::string LineColumn::text_of(const std::map<std::string, double>& counters_of_line) const {
  const std::optional<double> figure = of(counters_of_line);
  if (!figure) return "";
  constexpr double kNearlyWhole = 0.005;
  const bool is_whole = std::abs(*figure - std::round(*figure)) < kNearlyWhole;
  return divided_by.empty() || is_whole ? grouped_number(std::round(*figure)) : fmt::format("{:.2f}", *figure);
}

}  // namespace convladder
