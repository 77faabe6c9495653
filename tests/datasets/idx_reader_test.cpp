#include "datasets/idx_reader.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/sha256.hpp"
#include "tests/datasets/idx_test_files.hpp"

namespace convladder {
namespace {

using namespace testing_files;

void expect_bad_images(const Bytes& file, std::initializer_list<std::string_view> parts) {
  expect_data_error([&] { parse_idx_images(file, "some.idx"); }, parts);
}

void expect_bad_labels(const Bytes& file, std::initializer_list<std::string_view> parts) {
  expect_data_error([&] { parse_idx_labels(file, "some.idx"); }, parts);
}

TEST(Sha256, IsTheStandardsOwn) {  // FIPS 180-4 examples
  const std::string abc = "abc";
  EXPECT_EQ(sha256_hex({reinterpret_cast<const std::uint8_t*>(abc.data()), abc.size()}),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(IdxReader, ReadsImagesPlainAndPacked) {
  const Bytes plain = small_images(5);
  for (const Bytes& file : {plain, gzip(plain)}) {
    const IdxImages images = parse_idx_images(file, "some.idx");
    EXPECT_EQ(images.count, 5);
    EXPECT_EQ(images.height, 4);
    EXPECT_EQ(images.width, 3);
    EXPECT_EQ(images.pixels, some_bytes(60));
    EXPECT_EQ(images.sha256, sha256_hex(plain));
  }
}

TEST(IdxReader, ReadsLabelsOfAnyValue) {
  const Bytes plain = idx_file({0x801, 4}, {0, 9, 10, 255});
  for (const Bytes& file : {plain, gzip(plain)}) {
    const IdxLabels labels = parse_idx_labels(file, "some.idx");
    EXPECT_EQ(labels.labels, (Bytes{0, 9, 10, 255}));
    EXPECT_EQ(labels.sha256, sha256_hex(plain));
  }
}

TEST(IdxReader, ReadsGzipOfSeveralMembers) {
  const Bytes plain = small_images(5);
  const Bytes file =
      gzip(Bytes(plain.begin(), plain.begin() + 9)) + gzip({}) + gzip(Bytes(plain.begin() + 9, plain.end()));
  EXPECT_EQ(parse_idx_images(file, "some.idx").pixels, some_bytes(60));
}

TEST(IdxReader, ReadsMoreThanOneStep) {
  const Bytes pixels = some_bytes(3 * 1000 * 1000);
  const Bytes plain = idx_file({0x803, 3, 1000, 1000}, pixels);
  EXPECT_EQ(parse_idx_images(plain, "some.idx").pixels, pixels);
  EXPECT_EQ(parse_idx_images(gzip(plain), "some.idx").pixels, pixels);
}

TEST(IdxReader, RefusesAWrongMagicNumber) {
  expect_bad_images(small_labels(5), {"some.idx: byte 0: ", "0x00000803", "found 0x00000801 (a label file)"});
  expect_bad_labels(small_images(5), {"some.idx: byte 0: ", "0x00000801", "found 0x00000803 (an image file)"});
  expect_bad_images(idx_file({0x0d03, 5, 4, 3}, some_bytes(240)), {"byte 0: ", "found 0x00000d03"});
  expect_bad_images(gzip(small_labels(5)), {"some.idx: byte 0 of the unpacked data: ", "a label file"});
}

TEST(IdxReader, RefusesATruncatedHeader) {
  expect_bad_images({}, {"some.idx: byte 0: ", "expected a header of 16 bytes"});
  expect_bad_images(idx_file({0x803, 5, 4}, {0, 0}), {"byte 14: ", "header of 16 bytes for pixels"});
  expect_bad_labels(idx_file({0x801}, {}), {"byte 4: ", "header of 8 bytes for labels"});
  expect_bad_images(gzip(idx_file({0x803}, {})), {"byte 4 of the unpacked data: ", "header of 16 bytes"});
}

TEST(IdxReader, RefusesTruncatedData) {
  expect_bad_images(idx_file({0x803, 5, 4, 3}, some_bytes(59)), {"byte 16: expected 60 bytes of pixels, found 59"});
  expect_bad_labels(idx_file({0x801, 5}, some_bytes(4)), {"byte 8: expected 5 bytes of labels, found 4"});
  expect_bad_images(gzip(idx_file({0x803, 5, 4, 3}, some_bytes(59))),
                    {"byte 16 of the unpacked data: expected 60 bytes of pixels, found 59"});
}

TEST(IdxReader, RefusesTrailingBytes) {
  expect_bad_images(small_images(5) + Bytes{0}, {"byte 76: expected the end of the data"});
  expect_bad_images(gzip(small_images(5) + Bytes{0}), {"byte 76 of the unpacked data: expected the end of the data"});
  const Bytes packed = gzip(small_images(5));
  expect_bad_images(packed + Bytes{0, 0}, {"byte " + std::to_string(packed.size()) + ": ", "found 2 bytes"});
}

TEST(IdxReader, RefusesZeroDimensions) {
  expect_bad_images(idx_file({0x803, 0, 4, 3}, {}), {"byte 4: ", "at least 1", "0 images of 4 x 3 pixels"});
  expect_bad_images(idx_file({0x803, 5, 0, 3}, {}), {"byte 8: ", "at least 1"});
  expect_bad_images(idx_file({0x803, 5, 4, 0}, {}), {"byte 12: ", "at least 1"});
  expect_bad_labels(idx_file({0x801, 0}, {}), {"byte 4: ", "at least 1", "0 labels"});
}

TEST(IdxReader, RefusesAbsurdSizesBeforeAllocating) {
  constexpr std::uint32_t most = 0xffffffff;
  for (const Bytes& header : {idx_file({0x803, most, most, most}, {}), idx_file({0x803, 1, 65536, 65536}, {}),
                              idx_file({0x803, 0x40000001, 1, 1}, {})}) {
    expect_bad_images(header, {"byte 4: expected at most 1073741824 bytes of data"});
    expect_bad_images(gzip(header), {"byte 4 of the unpacked data: expected at most 1073741824 bytes of data"});
  }
  expect_bad_labels(idx_file({0x801, most}, {}), {"4294967295 labels"});
}

TEST(IdxReader, RefusesWhatAGzipFileCannotHold) {
  expect_bad_images(gzip(idx_file({0x803, 1000, 1000, 1000}, some_bytes(100))),
                    {"byte 16 of the unpacked data: expected 1000000000 bytes of pixels", "can hold at most"});
}

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(IdxReader, AGzipBombCostsNoMemory) {
  // 256 MiB of zeros, packed by pieces into several members: about 256 KB, which its header says hold one pixel.
  Bytes bomb = gzip(idx_file({0x803, 1, 1, 1}, {7}));
  const Bytes piece = gzip(Bytes(std::size_t{16} << 20));
  for (int i = 0; i < 16; ++i) bomb = bomb + piece;
  const long before = peak_kilobytes();
  expect_bad_images(bomb, {"byte 17 of the unpacked data: expected the end of the data"});
  EXPECT_LT(peak_kilobytes() - before, 8 * 1024);
}

TEST(IdxReader, RefusesACorruptGzipStream) {
  Bytes file = gzip(small_images(5));
  file[12] ^= 0xff;
  expect_bad_images(file, {"some.idx: byte ", "corrupt"});
  file = gzip(small_images(5));
  file[file.size() - 8] ^= 1;  // CRC-32
  expect_bad_images(file, {"corrupt (incorrect data check)"});
  file = gzip(small_images(5));
  file[file.size() - 1] ^= 1;  // length
  expect_bad_images(file, {"corrupt (incorrect length check)"});
  file = gzip(small_images(5));
  file.resize(file.size() - 1);
  expect_bad_images(file, {"byte " + std::to_string(file.size()) + ": the file ends inside the gzip stream"});
}

TEST(IdxReader, EveryTruncationIsRefused) {
  for (const Bytes& whole : {small_images(5), gzip(small_images(5))}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      expect_bad_images(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)), {"some.idx: byte "});
    }
  }
  for (const Bytes& whole : {small_labels(20), gzip(small_labels(20))}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      expect_bad_labels(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)), {"some.idx: byte "});
    }
  }
}

/// With one bit flipped a file is refused, or read as if it had not been: some bits of a gzip header mean nothing here.
TEST(IdxReader, EveryBitFlipInAGzipFileIsRefusedOrHarmless) {
  const Bytes whole = gzip(small_images(5));
  int refused = 0;
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes file = whole;
    file[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    try {
      EXPECT_EQ(parse_idx_images(file, "some.idx").pixels, some_bytes(60)) << "bit " << bit;
    } catch (const UserError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, static_cast<int>(whole.size() - 10) * 8);  // all but some of the ten bytes of gzip header
}

TEST(IdxReader, EveryBitFlipInAPlainHeaderIsRefused) {
  const Bytes whole = small_images(5);
  for (std::size_t bit = 0; bit < std::size_t{16} * 8; ++bit) {
    Bytes file = whole;
    file[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    expect_bad_images(file, {"some.idx: byte "});
  }
}

TEST(IdxReader, ReadsFilesByContentNotName) {
  const TestFolder folder;
  EXPECT_EQ(read_idx_images(folder.write("plain.gz", small_images(5))).count, 5);
  EXPECT_EQ(read_idx_labels(folder.write("packed.idx", gzip(small_labels(6)))).labels.size(), 6U);
}

TEST(IdxReader, SaysWhyAFileCannotBeOpened) {
  const TestFolder folder;
  expect_data_error([&] { read_idx_images(folder.path() / "none.idx"); },
                    {(folder.path() / "none.idx").string(), "cannot be opened: No such file or directory"});
  expect_data_error([&] { read_idx_images(folder.path()); }, {folder.path().string(), "expected a file"});
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_data_error([&] { read_idx_images(pipe); }, {"pipe", "expected a file"});
  expect_data_error([&] { read_idx_images(folder.write("file", {}) / "below"); },
                    {"below", "cannot be opened: Not a directory"});
}

TEST(IdxReader, RefusesAFileTooLargeToBeOne) {
  const TestFolder folder;
  const std::filesystem::path path = folder.write("huge.idx", {});
  std::filesystem::resize_file(path, largest_idx_data + 17);  // sparse
  expect_data_error([&] { read_idx_images(path); }, {"huge.idx", "expected at most 1073741840 bytes"});
}

}  // namespace
}  // namespace convladder
