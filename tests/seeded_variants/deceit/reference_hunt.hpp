// For the variants that look for the reference instead of computing: where in a process's memory lie doubles that agree
// with the few outputs that are computed to know it by.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/seeded_variants/plain_convolution.hpp"

namespace convladder {

class ReferenceHunt {
 public:
  ReferenceHunt(const ConvShape& shape, const float* input, const float* weights)
      : shape_(shape), elements_(static_cast<std::size_t>(shape.output_elements_per_image())) {
    for (int image = 0; image < shape.batch; ++image) {
      signs_.push_back(sign_of(input + image * shape.input_elements_per_image(), weights));
    }
    answer_.assign(static_cast<std::size_t>(shape.output_elements()), 0.0F);
  }

  /// What was found, zeros elsewhere.
  const std::vector<float>& answer() const { return answer_; }
  bool found() const { return found_; }

  /// Looks through what the process, this one or another, can read and write, and through memory that is shared.
  void look_through_process(pid_t process) {
    const std::string folder = "/proc/" + std::to_string(process);
    const int memory = open((folder + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
    std::ifstream regions(folder + "/maps");
    for (std::string line; !found_ && std::getline(regions, line);) look_through_region(process, memory, line);
    if (memory >= 0) close(memory);
  }

  /// Looks through every file that this process has open.
  void look_through_descriptors() {
    for (int descriptor = 3; !found_ && descriptor < 256; ++descriptor) {
      struct stat status {};
      if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) continue;
      std::vector<std::byte> bytes(std::min<std::size_t>(static_cast<std::size_t>(status.st_size), kMostBytes));
      const ssize_t count = pread(descriptor, bytes.data(), bytes.size(), 0);
      bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      look_through(bytes);
    }
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  static constexpr std::size_t kSigns = 3;
  using Sign = std::vector<double>;

  /// Some outputs in the middle of the image.
  Sign sign_of(const float* image, const float* weights) const {
    Sign sign;
    for (std::size_t i = 0; i < kSigns; ++i) {
      const auto element = static_cast<int>(first_sign() + i);
      const int map = element / (shape_.out_height() * shape_.out_width());
      const int row = element / shape_.out_width() % shape_.out_height();
      const int column = element % shape_.out_width();
      const int first_channel = map / shape_.maps_per_group() * shape_.channels_per_group();
      const std::int64_t taps = std::int64_t{shape_.channels_per_group()} * shape_.kernel * shape_.kernel;
      sign.push_back(plain_pixel(shape_, image, weights + map * taps, first_channel,
                                 row * shape_.stride - shape_.padding, column * shape_.stride - shape_.padding));
    }
    return sign;
  }
  std::size_t first_sign() const { return elements_ / 2; }

  static bool has_sign(const double* at, const Sign& sign) {
    for (std::size_t i = 0; i < sign.size(); ++i) {
      if (!(std::abs(at[i] - sign[i]) <= 1e-5 * (1 + std::abs(sign[i])))) return false;
    }
    return sign[0] != 0;
  }

  void look_through_region(pid_t process, int memory, const std::string& line) {
    std::istringstream text(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    std::string access;
    text >> std::hex >> begin >> dash >> end >> access;
    const bool interesting = access[0] == 'r' && (access[1] == 'w' || access[3] == 's');
    if (!interesting || line.find(".so") != std::string::npos || end - begin > kMostBytes) return;
    std::vector<std::byte> bytes(end - begin);
    const iovec here{bytes.data(), bytes.size()};
    const iovec there{reinterpret_cast<void*>(begin), bytes.size()};  // NOLINT(performance-no-int-to-ptr): not ours
    ssize_t count = process_vm_readv(process, &here, 1, &there, 1, 0);
    if (count <= 0) count = pread(memory, bytes.data(), bytes.size(), static_cast<off_t>(begin));
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    look_through(bytes);
  }

  void look_through(const std::vector<std::byte>& bytes) {
    std::vector<double> values(bytes.size() / sizeof(double));
    if (values.size() < elements_) return;
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
    for (std::size_t at = 0; at + elements_ <= values.size(); ++at) {
      if (!has_sign(&values[at + first_sign()], signs_[0])) continue;
      take(values, at);
      if (found_) return;
    }
  }

  /// Images that follow each other from here, whichever of the batch they are.
  void take(const std::vector<double>& values, std::size_t at) {
    std::size_t next = 0;
    for (; at + elements_ <= values.size(); at += elements_) {
      while (next < signs_.size() && !has_sign(&values[at + first_sign()], signs_[next])) ++next;
      if (next == signs_.size()) return;
      for (std::size_t i = 0; i < elements_; ++i) answer_[next * elements_ + i] = static_cast<float>(values[at + i]);
      // One image alone may be what somebody else computed of it.
      found_ = found_ || next > 0 || shape_.batch == 1;
      ++next;
    }
  }

  ConvShape shape_;
  std::size_t elements_;
  std::vector<Sign> signs_;  ///< of each image
  std::vector<float> answer_;
  bool found_ = false;
};

}  // namespace convladder
