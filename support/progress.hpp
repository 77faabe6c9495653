// Progress output of a run: on a terminal one line that is updated, with a bar and the time left; elsewhere such a line
// now and then. On request, also a line for each finished case.
#pragma once

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

namespace convladder {

class Progress {
 public:
  /// Finished cases are listed in `lines`, unless it is null. The updated line goes to stderr if that is a terminal;
  /// otherwise `lines` gets a line whenever it got none for a while.
  Progress(std::FILE* lines, int cases_in_all);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  /// Shows that a part of a case begins, at most ten times a second. `seconds_left` is predicted.
  void show(const std::string& what, double seconds_left);
  /// As `show` with a prediction, but assumes that other cases take as long as the finished ones on average; until one
  /// has ended, no time is shown.
  void show(const std::string& what);
  /// Shows work that is not a list of cases: `done` is the finished share, 0 … 1.
  void show_part(const std::string& what, double done, std::optional<double> seconds_left);
  /// A line that stays and is about no case; on stderr where no lines are listed.
  void note(const std::string& line);
  /// Notes the end of a case, whose line stays. Without a line it is only counted.
  void finished(const std::string& line);
  void finished() { ++done_; }

 private:
  void draw(const std::string& where, double share, const std::string& what, std::optional<double> seconds_left);
  double share() const { return all_ > 0 ? static_cast<double>(done_) / all_ : 0; }
  void clear();
  std::FILE* lines_;
  bool moving_;
  int done_ = 0;
  int all_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_{};
  std::chrono::steady_clock::time_point last_line_ = begin_;
};

}  // namespace convladder
