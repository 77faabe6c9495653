// Progress output of a run: a line for each finished case and, on a terminal, one line that is updated.
#pragma once

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

namespace convladder {

class Progress {
 public:
  /// `lines` is where finished cases are listed, null for nowhere. The moving line goes to stderr if it is a terminal.
  Progress(std::FILE* lines, int cases_in_all);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  /// Something of a case begins; shown at most ten times a second. `seconds_left` is predicted.
  void show(const std::string& what, double seconds_left);
  /// Without a prediction: what the finished cases took on average stands for the others; until one has ended, no time
  /// is shown.
  void show(const std::string& what);
  /// The same for work that is not a list of cases: `done` is the finished share, 0 … 1.
  void show_part(const std::string& what, double done, std::optional<double> seconds_left);
  /// A case has ended: its line stays.
  void finished(const std::string& line);

 private:
  void draw(const std::string& where, const std::string& what, std::optional<double> seconds_left);
  void clear();
  std::FILE* lines_;
  bool moving_;
  int done_ = 0;
  int all_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace convladder
