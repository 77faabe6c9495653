// @title Compiles for ever
// expected: does not compile
// slow
//
// The compiler never ends, or takes all memory.
template <int D, long N>
struct Two {
  static constexpr long value = Two<D - 1, 2 * N>::value + Two<D - 1, 2 * N + 1>::value;
};
template <long N>
struct Two<0, N> {
  static constexpr long value = N;
};
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = x[i] + x[i] * (Two<60, 0>::value != 0);
}
