// The files that a process can open (Landlock). Files that are already open stay open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convladder {

/// Files, and folders with everything in them. Names that do not exist are ignored.
struct FileWish {
  std::vector<std::string> read;     ///< read, listed and mapped, as libraries are
  std::vector<std::string> start;    ///< as `read`, and started as programs
  std::vector<std::string> write;    ///< folders: read, and files in them written, created and removed
  std::vector<std::string> devices;  ///< read, written and controlled, as /dev/nvidia0 is
};

class FileRules {
 public:
  explicit FileRules(const FileWish& wish);
  FileRules(const FileRules&) = delete;
  FileRules& operator=(const FileRules&) = delete;
  ~FileRules();

  /// Why there are no file rules; empty if there are.
  const std::string& missing() const { return missing_; }
  /// Whether signals to processes outside are refused as well.
  bool keeps_signals() const { return version_ >= 6; }
  /// Applies the rules to the calling thread and whatever it starts, but not to other existing threads. The process
  /// must have no right to new privileges. Returns 0 or an error number. It allocates nothing, so that a forked process
  /// can call it.
  int enforce() const;

 private:
  void allow(const std::vector<std::string>& paths, std::uint64_t rights);

  int version_ = 0;
  std::uint64_t handled_ = 0;
  int rules_ = -1;
  std::string missing_;
};

}  // namespace convladder
