// @title A tile of queries, and the softmax as keys come
// @hypothesis 14 queries share each key and each value that is loaded, and scores exist for 256 keys at a time only.
//
// Two products of matrices with a softmax between them: so the register tile of the matrix multiplication serves here
// too. 14 queries (6 with AVX2) are taken at once, against 256 keys at a time. Their scores, 14 KiB, stay in the
// first-level cache and become weights relative to the largest score so far; if a later block of keys has a larger one,
// what was summed up is multiplied by e^(old - new). So nothing is as long as the sequence, and each key and each value
// is loaded once for 14 queries. Against the stage below that relieves the ports of the first-level cache and the
// second level: 28 vector multiply-adds take 16 loads instead of 56, and none of the 28 stores.
//
// When it loses: keys and values are copied first, which pays from some dozens of queries on. Heads whose D is not a
// multiple of 32 compute columns that are dropped: 64 for 40. With D of 32 or less the exponentials are as much work as
// the products.
#include "query_tile.hpp"

using namespace attention;

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int H, int S, int D) {
  static register_tile::Buffer keys;
  static register_tile::Buffer values;
  const Head head{keys.at_least(key_floats(S, D)), values.at_least(value_floats(S, D))};
  for (int h = 0; h < H; ++h) {
    const std::size_t first = static_cast<std::size_t>(h) * S * D;
    for (int j = 0; j < S; j += kColumns) pack_keys(k + first, head, j, S, D);
    for (int d = 0; d < D; d += kColumns) pack_values(v + first, head, d, S, D);
    for (int i = 0; i < S; i += kRows) {
      const std::size_t place = first + static_cast<std::size_t>(i) * D;
      register_tile::with_rows(std::min(kRows, S - i),
                               [&]<int rows>() { attend<rows>(q + place, head, out + place, scale, S, D); });
    }
  }
}
