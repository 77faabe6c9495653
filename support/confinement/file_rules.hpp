// Which files a process can open (Landlock). What is open already stays open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convladder {

/// Files, and folders with everything in them. Names of what is not there are passed over.
struct FileWish {
  std::vector<std::string> read;     ///< read, listed and mapped, as libraries are
  std::vector<std::string> start;    ///< that, and started as programs
  std::vector<std::string> write;    ///< folders: read, and files in them written, made and removed
  std::vector<std::string> devices;  ///< read, written and controlled, as /dev/nvidia0 is
};

class FileRules {
 public:
  explicit FileRules(const FileWish& wish);
  FileRules(const FileRules&) = delete;
  FileRules& operator=(const FileRules&) = delete;
  ~FileRules();

  /// Why there are none; empty where there are.
  const std::string& missing() const { return missing_; }
  /// Whether signals to processes outside are refused too.
  bool keeps_signals() const { return version_ >= 6; }
  /// For the calling thread, and what it starts: threads that are there already stay as they are. The process must have
  /// no right to new privileges. Returns 0 or an error number. It allocates nothing, so that a forked process can call
  /// it.
  int enforce() const;

 private:
  void allow(const std::vector<std::string>& paths, std::uint64_t rights);

  int version_ = 0;
  std::uint64_t handled_ = 0;
  int rules_ = -1;
  std::string missing_;
};

}  // namespace convladder
