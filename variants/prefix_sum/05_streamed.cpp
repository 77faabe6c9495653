// @title Streamed output
// @hypothesis stores that bypass the caches need not read first what they overwrite
//
// A line that an ordinary store touches is first read from memory, only to be overwritten. So of each three transfers
// of stage 4 (input read, output read, output written) one is for nothing. Here results go to memory by streaming
// stores, which gather a whole line in a buffer of the core. That relieves the memory once more by a third.
//
// When it loses: output that the last-level cache would have held goes to memory all the same, and whoever uses it next
// waits for it. So it is left out where the caches hold input and output.
#include <unistd.h>

#include <algorithm>

#include "vector_scan.hpp"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace {

/// `to` begins at a multiple of the vector's size.
void store_past_caches(int32_t* to, const Numbers& numbers) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<const __m512i&>(numbers));
#elif defined(__AVX__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<const __m256i&>(numbers));
#else
  lanes_at(to) = numbers;
#endif
}

void scan_past_caches(const int32_t* x, int32_t* y, int n, int32_t before) {
  const int misplaced = static_cast<int>(reinterpret_cast<std::uintptr_t>(y) / sizeof(int32_t) % kLanes);
  const int head = std::min(n, (kLanes - misplaced) % kLanes);
  before = scan_part(x, y, head, before);
  scan_part(x + head, y + head, n - head, before, store_past_caches);
#if defined(__AVX__)
  _mm_sfence();  // whoever waits for this thread finds what it has stored
#endif
}

bool outgrows_caches(int numbers) {
  static const long known = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const long bytes = known > 0 ? known : 32L << 20;
  return 2L * static_cast<long>(sizeof(int32_t)) * numbers > bytes;
}

}  // namespace

extern "C" void solve(const int32_t* x, int32_t* y, int N) {
  constexpr int kAlone = 65536;
  constexpr int kPiece = 16384;
  if (N < kAlone) {
    scan_part(x, y, N, 0);
    return;
  }
  const bool streamed = outgrows_caches(N);
  int32_t carry = 0;
#pragma omp parallel for ordered schedule(static, 1)
  for (int begin = 0; begin < N; begin += kPiece) {
    const int numbers = std::min(kPiece, N - begin);
    const int32_t sum = sum_of_part(x + begin, numbers);
    int32_t before = 0;
#pragma omp ordered
    {
      before = carry;
      carry += sum;
    }
    if (streamed) {
      scan_past_caches(x + begin, y + begin, numbers, before);
    } else {
      scan_part(x + begin, y + begin, numbers, before);
    }
  }
}
