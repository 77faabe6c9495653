// @title Streamed output
// @hypothesis stores that bypass the caches need not read first what they overwrite
//
// A line that an ordinary store touches is first read from memory, only to be overwritten. So of each three transfers
// of stage 4 (input read, output read, output written) one is for nothing. Here results go to memory by streaming
// stores, which gather a whole line in a buffer of the core. That relieves the memory once more by a third.
//
// When it loses: output that the last-level cache would have held goes to memory all the same, and the next user waits
// for it. So it is left out where the caches hold input and output.
#include <algorithm>
#include <fstream>

#include "turns.hpp"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace {

/// Stores numbers with streaming stores, which bypass the caches; `to` must begin at a multiple of the vector's size.
void store_past_caches(int32_t* to, const Numbers& numbers) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<const __m512i&>(numbers));
#elif defined(__AVX__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<const __m256i&>(numbers));
#else
  store(to, numbers);
#endif
}

void scan_past_caches(const int32_t* x, int32_t* y, int n, int32_t before) {
  const int misplaced = static_cast<int>(reinterpret_cast<std::uintptr_t>(y) / sizeof(int32_t) % kLanes);
  const int head = std::min(n, (kLanes - misplaced) % kLanes);
  before = scan_part(x, y, head, before);
  scan_part(x + head, y + head, n - head, before, store_past_caches);
#if defined(__AVX__)
  _mm_sfence();  // whoever waits for this thread finds the numbers that it has stored
#endif
}

/// Whether the last-level cache is smaller than input and output. A usual size is assumed where the system does not
/// say.
bool outgrows_caches(int numbers) {
  static const long kibibytes = [] {
    long size = 0;
    std::ifstream("/sys/devices/system/cpu/cpu0/cache/index3/size") >> size;  // "32768K"
    return size > 0 ? size : 32768;
  }();
  return 2L * static_cast<long>(sizeof(int32_t)) * numbers > 1024 * kibibytes;
}

}  // namespace

extern "C" void solve(const int32_t* x, int32_t* y, int N) {
  constexpr int kAlone = 65536;
  if (outgrows_caches(N)) {
    scan_in_turns(x, y, N, scan_past_caches);
  } else if (N <= kAlone) {
    scan_part(x, y, N, 0);
  } else {
    scan_in_turns(x, y, N,
                  [](const int32_t* from, int32_t* to, int n, int32_t before) { scan_part(from, to, n, before); });
  }
}
