// SHA-256 (FIPS 180-4), by which data files and generated images are recognised and recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace convladder {

/// A running checksum: any number of `update`, then `hex` once.
class Sha256 {
 public:
  Sha256();

  void update(std::span<const std::uint8_t> bytes);

  /// 64 lower-case hex digits. Ends the computation.
  std::string hex();

 private:
  struct FreeContext {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, FreeContext> context_;
};

/// The checksum of some bytes, as 64 lower-case hex digits.
std::string sha256_hex(std::span<const std::uint8_t> bytes);
inline std::string sha256_hex(std::string_view text) {
  return sha256_hex(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

}  // namespace convladder
