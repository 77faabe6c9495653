// Figures that a program tells of itself: in what it prints, in a file that it writes, or line by line as a worker.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/duel/duel_side.hpp"
#include "support/text_pattern.hpp"

namespace convladder {

/// A metric that was asked for, and where it is read.
struct MetricWish {
  enum class From { wall, cpu, pattern, pointer };
  DuelMetric metric;
  From from = From::wall;
  std::string expression;  ///< a JSON pointer
  TextPattern pattern;
};

/// Reads "wall", "cpu", "NAME=PATTERN" (a regular expression; its first group, or all of it, is the number) or
/// "NAME=/JSON/POINTER". A worker's figure is named "NAME" alone: its pointer is "/NAME". Throws UserError.
MetricWish parse_metric(const std::string& text, bool of_worker);

/// The number that the wish finds in the text: of a pattern the first line that matches counts. Throws UserError,
/// without the file's name, if there is none, or if it is not above 0.
double told_figure(const MetricWish& wish, const std::string& text);

/// The last line that is not blank, as it was printed; empty without one.
std::string last_words_of(const std::string& text);

/// A case of a file that another benchmark wrote.
struct ToldTime {
  std::string name;
  double ns = 0;         ///< its fastest sample on a processor, the median on a GPU
  double clock_mhz = 0;  ///< a GPU's; 0 where the file does not say
};
/// All cases in a file that `convladder import` reads (Google Benchmark, nvbench, hyperfine, …). Throws UserError.
std::vector<ToldTime> told_times(const std::string& file);

/// A worker's answer to a slot: {"seconds": 1.5}, with {"metrics": {"rate": 3}} beside it or not.
struct WorkerSlot {
  double seconds = 0;  ///< for all calls
  std::string line;    ///< for metrics
};
/// Requests to a worker, each a line of JSON without a line end.
std::string slot_request(std::int64_t calls, std::string_view one_case);
std::string output_request(std::string_view one_case);
/// Reads an answer. Throws UserError for anything else, and with the worker's own words for {"error": "…"}.
WorkerSlot read_worker_slot(const std::string& line);
/// The text that stands for the worker's last result: {"output": …}, any JSON value; none for {"output": null}, and
/// where a worker does not know the request.
std::optional<std::string> read_worker_output(const std::string& line);

}  // namespace convladder
