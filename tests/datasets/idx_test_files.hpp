// Small IDX files made in memory or in the test's own folder, and the real ones where there are some.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/errors.hpp"

namespace convladder::testing_files {

using Bytes = std::vector<std::uint8_t>;

/// Header words, big-endian, then data.
inline Bytes idx_file(std::initializer_list<std::uint32_t> header, const Bytes& data) {
  Bytes file;
  for (const std::uint32_t word : header) {
    for (const int shift : {24, 16, 8, 0}) file.push_back(static_cast<std::uint8_t>(word >> shift));
  }
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

/// Bytes that do not compress to nothing.
inline Bytes some_bytes(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 + i / 7);
  return bytes;
}

/// `count` images of 4 x 3 pixels, and as many labels.
inline Bytes small_images(std::uint32_t count) {
  return idx_file({0x803, count, 4, 3}, some_bytes(static_cast<std::size_t>(count) * 12));
}
inline Bytes small_labels(std::uint32_t count) {
  Bytes labels(count);
  for (std::uint32_t i = 0; i < count; ++i) labels[i] = static_cast<std::uint8_t>(i % 10);
  return idx_file({0x801, count}, labels);
}

inline Bytes gzip(const Bytes& data) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes packed(deflateBound(&stream, data.size()));
  stream.next_in = const_cast<Bytef*>(data.data());
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline Bytes operator+(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// An empty folder under testing::TempDir(), its own for every test, removed at the end.
class TestFolder {
 public:
  TestFolder() {
    const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(::testing::TempDir()) /
            fmt::format("convladder_{}_{}_{}", test.test_suite_name(), test.name(), getpid());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const Bytes& content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    EXPECT_TRUE(file.flush().good());
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

/// The folder with mnist/ and fashion-mnist-sample/: $CONVLADDER_DATASETS, or ../shared/datasets beside the source.
inline std::optional<std::filesystem::path> real_datasets() {
  const char* named = std::getenv("CONVLADDER_DATASETS");
  const std::filesystem::path folder =
      named != nullptr ? std::filesystem::path(named)
                       : std::filesystem::path(CONVLADDER_SOURCE_DIR).parent_path() / "shared/datasets";
  for (const char* set : {"mnist", "fashion-mnist-sample"}) {
    if (!std::filesystem::is_directory(folder / set)) return std::nullopt;
  }
  return folder;
}

/// Fails the test unless `action` throws a UserError whose message is a single line with each of `parts` in it.
inline void expect_data_error(const std::function<void()>& action, std::initializer_list<std::string_view> parts) {
  try {
    action();
    ADD_FAILURE() << "expected a UserError";
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string_view part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << "expected \"" << part << "\" in \"" << message << '"';
    }
  }
}

}  // namespace convladder::testing_files

// A macro because GTEST_SKIP leaves the function it stands in.
#define SKIP_WITHOUT_REAL_DATASETS()                                                                                \
  if (!convladder::testing_files::real_datasets()) {                                                                \
    GTEST_SKIP() << "no real data sets: set CONVLADDER_DATASETS to a folder with mnist/ and fashion-mnist-sample/"; \
  }
