// cuSOLVER's factorizations of dense matrices: their products are held against the matrices.
#include <cusolverDn.h>

#include "walk.hpp"

namespace {

cusolverDnHandle_t handle;
constexpr int kM = 21;
constexpr int kN = 14;
constexpr int kLeading = 25;
constexpr int kCount = 3;

using C = std::complex<float>;
using Z = std::complex<double>;

template <typename T>
constexpr double allowed = std::is_same_v<Real<T>, float> ? 5e-5 : 1e-12;

/// A workspace, and the place for `info`.
template <typename T>
struct Around {
  explicit Around(int count) : size(count), work(static_cast<std::size_t>(count)), info(std::vector<int>{-1}) {}
  void check(int wanted = 0) const { EXPECT(info.get()[0] == wanted); }
  int size;
  OnDevice<T> work;
  OnDevice<int> info;
};

double difference(const Matrix& a, const Matrix& b) {
  double error = 0;
  for (std::size_t i = 0; i < a.numbers.size(); ++i) {
    const double off = std::abs(a.numbers[i] - b.numbers[i]);
    error = std::isnan(off) ? 1e9 : std::max(error, off);
  }
  return error;
}

Matrix identity(int size) {
  Matrix one(size, size);
  for (int i = 0; i < size; ++i) one(i, i) = 1;
  return one;
}

/// A Hermitian matrix whose eigenvalues are positive, in one triangle of memory.
template <typename T>
std::vector<T> positive(int size) {
  OnDevice<T> numbers(static_cast<std::size_t>(kLeading * size));
  for (int i = 0; i < size; ++i)
    numbers.host[static_cast<std::size_t>(i * kLeading + i)] = T(static_cast<Real<T>>(size));
  return numbers.host;
}

template <typename T, typename Size, typename F, typename Solve, typename InverseSize, typename Inverse>
void cholesky(const std::string& letter, Size size_of, F factorize, Solve solve, InverseSize inverse_size,
              Inverse invert) {
  double error = 0;
  double solved_error = 0;
  double inverse_error = 0;
  for (const bool is_lower : {true, false}) {
    const auto part = is_lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    const OnDevice<T> a(positive<T>(kN));
    const OnDevice<T> b(static_cast<std::size_t>(kLeading * kCount));
    int size = 0;
    EXPECT_OK(size_of(handle, part, kN, api(a.at), kLeading, &size));
    const Around<T> around(size);
    EXPECT_OK(factorize(handle, part, kN, api(a.at), kLeading, api(around.work.at), size, around.info.at));
    around.check();
    const Matrix whole = symmetric(matrix_of(a.host, kN, kN, kLeading), is_lower, is_complex<T>);
    const Matrix factor = triangle(matrix_of(a.get(), kN, kN, kLeading), is_lower, false);
    const Matrix turned = operated(factor, 2);
    error = std::max(error, difference(is_lower ? factor * turned : turned * factor, whole) / kN);
    EXPECT_OK(solve(handle, part, kN, kCount, api(a.at), kLeading, api(b.at), kLeading, around.info.at));
    around.check();
    solved_error = std::max(solved_error, difference(whole * matrix_of(b.get(), kN, kCount, kLeading),
                                                     matrix_of(b.host, kN, kCount, kLeading)));
    EXPECT_OK(inverse_size(handle, part, kN, api(a.at), kLeading, &size));
    const Around<T> other(size);
    EXPECT_OK(invert(handle, part, kN, api(a.at), kLeading, api(other.work.at), size, other.info.at));
    const Matrix inverse = symmetric(matrix_of(a.get(), kN, kN, kLeading), is_lower, is_complex<T>);
    inverse_error = std::max(inverse_error, difference(inverse * whole, identity(kN)));
  }
  say("cusolverDn" + letter + "potrf", error, allowed<T>);
  say("cusolverDn" + letter + "potrs", solved_error, allowed<T>);
  say("cusolverDn" + letter + "potri", inverse_error, allowed<T>);
}

template <typename T, typename F, typename Solve>
void cholesky_batched(const std::string& letter, F factorize, Solve solve) {
  const OnDevice<T> a(positive<T>(kN));
  const OnDevice<T> b(static_cast<std::size_t>(kLeading));
  const OnDevice<T*> to_a(std::vector<T*>{a.at});
  const OnDevice<T*> to_b(std::vector<T*>{b.at});
  const OnDevice<int> infos(std::vector<int>{-1});
  const auto array = [](T** at) { return reinterpret_cast<typename ApiOf<T>::Type**>(at); };
  EXPECT_OK(factorize(handle, CUBLAS_FILL_MODE_LOWER, kN, array(to_a.at), kLeading, infos.at, 1));
  EXPECT(infos.get()[0] == 0);
  const Matrix whole = symmetric(matrix_of(a.host, kN, kN, kLeading), true, is_complex<T>);
  const Matrix factor = triangle(matrix_of(a.get(), kN, kN, kLeading), true, false);
  say("cusolverDn" + letter + "potrfBatched", difference(factor * operated(factor, 2), whole) / kN, allowed<T>);
  EXPECT_OK(
      solve(handle, CUBLAS_FILL_MODE_LOWER, kN, 1, array(to_a.at), kLeading, array(to_b.at), kLeading, infos.at, 1));
  say("cusolverDn" + letter + "potrsBatched",
      difference(whole * matrix_of(b.get(), kN, 1, kLeading), matrix_of(b.host, kN, 1, kLeading)), allowed<T>);
}

template <typename T, typename Size, typename F, typename Solve>
void lu(const std::string& letter, Size size_of, F factorize, Solve solve) {
  double error = 0;
  double solved_error = 0;
  for (const bool has_pivots : {true, false}) {
    std::vector<T> numbers = OnDevice<T>(static_cast<std::size_t>(kLeading * kN)).host;
    if (!has_pivots) {
      for (int i = 0; i < kN; ++i) numbers[static_cast<std::size_t>(i * kLeading + i)] += T(static_cast<Real<T>>(20));
    }
    const OnDevice<T> a(numbers);
    int size = 0;
    EXPECT_OK(size_of(handle, kM, kN, api(a.at), kLeading, &size));
    const Around<T> around(size);
    const OnDevice<int> pivots(std::vector<int>(static_cast<std::size_t>(kN)));
    int* const to_pivots = has_pivots ? pivots.at : nullptr;
    EXPECT_OK(factorize(handle, kM, kN, api(a.at), kLeading, api(around.work.at), to_pivots, around.info.at));
    around.check();
    const Matrix found = matrix_of(a.get(), kM, kN, kLeading);
    Matrix lower(kM, kN);
    Matrix upper(kN, kN);
    for (int column = 0; column < kN; ++column) {
      for (int row = 0; row < kM; ++row) {
        if (row > column) lower(row, column) = found(row, column);
        if (row == column) lower(row, column) = 1;
        if (row <= column) upper(row, column) = found(row, column);
      }
    }
    Matrix exchanged = matrix_of(a.host, kM, kN, kLeading);
    const std::vector<int> rows = pivots.get();
    for (int i = 0; has_pivots && i < kN; ++i) {
      for (int column = 0; column < kN; ++column) {
        std::swap(exchanged(i, column), exchanged(rows[static_cast<std::size_t>(i)] - 1, column));
      }
    }
    error = std::max(error, difference(lower * upper, exchanged) / 20);
    // A square one for the solution.
    for (const int operation : {0, 1, 2}) {
      const OnDevice<T> square(numbers);
      const OnDevice<T> b(static_cast<std::size_t>(kLeading * kCount));
      EXPECT_OK(factorize(handle, kN, kN, api(square.at), kLeading, api(around.work.at), to_pivots, around.info.at));
      EXPECT_OK(solve(handle, static_cast<cublasOperation_t>(operation), kN, kCount, api(square.at), kLeading,
                      to_pivots, api(b.at), kLeading, around.info.at));
      around.check();
      const Matrix used = operated(matrix_of(square.host, kN, kN, kLeading), operation);
      const Matrix off = used * matrix_of(b.get(), kN, kCount, kLeading);
      solved_error = std::max(solved_error, difference(off, matrix_of(b.host, kN, kCount, kLeading)) / 20);
    }
  }
  say("cusolverDn" + letter + "getrf", error, allowed<T>);
  say("cusolverDn" + letter + "getrs", solved_error, 4 * allowed<T>);
}

template <typename T, typename Size, typename F, typename MakeSize, typename Make, typename TimesSize, typename Times>
void qr(const std::string& letter, const std::string& make_name, const std::string& times_name, Size size_of,
        F factorize, MakeSize make_size, Make make, TimesSize times_size, Times times) {
  const OnDevice<T> a(static_cast<std::size_t>(kLeading * kN));
  const OnDevice<T> tau(static_cast<std::size_t>(kN));
  const OnDevice<T> c(static_cast<std::size_t>(kLeading * kCount));
  int size = 0;
  EXPECT_OK(size_of(handle, kM, kN, api(a.at), kLeading, &size));
  const Around<T> around(size);
  EXPECT_OK(factorize(handle, kM, kN, api(a.at), kLeading, api(tau.at), api(around.work.at), size, around.info.at));
  around.check();
  Matrix upper(kN, kN);
  const Matrix factors = matrix_of(a.get(), kM, kN, kLeading);
  for (int column = 0; column < kN; ++column) {
    for (int row = 0; row <= column; ++row) upper(row, column) = factors(row, column);
  }
  const auto turned = is_complex<T> ? CUBLAS_OP_C : CUBLAS_OP_T;
  EXPECT_OK(times_size(handle, CUBLAS_SIDE_LEFT, turned, kM, kCount, kN, api(a.at), kLeading, api(tau.at), api(c.at),
                       kLeading, &size));
  const Around<T> second(size);
  EXPECT_OK(times(handle, CUBLAS_SIDE_LEFT, turned, kM, kCount, kN, api(a.at), kLeading, api(tau.at), api(c.at),
                  kLeading, api(second.work.at), size, second.info.at));
  second.check();
  EXPECT_OK(make_size(handle, kM, kN, kN, api(a.at), kLeading, api(tau.at), &size));
  const Around<T> third(size);
  EXPECT_OK(make(handle, kM, kN, kN, api(a.at), kLeading, api(tau.at), api(third.work.at), size, third.info.at));
  third.check();
  const Matrix q = matrix_of(a.get(), kM, kN, kLeading);
  say("cusolverDn" + letter + "geqrf", difference(q * upper, matrix_of(a.host, kM, kN, kLeading)) / 4, allowed<T>);
  say("cusolverDn" + make_name, difference(operated(q, 2) * q, identity(kN)), allowed<T>);
  // The first rows of Q^H C are those that the thin Q gives.
  const Matrix wanted = operated(q, 2) * matrix_of(c.host, kM, kCount, kLeading);
  say("cusolverDn" + times_name, difference(matrix_of(c.get(), kN, kCount, kLeading), wanted), allowed<T>);
}

/// U S V^H.
Matrix composed(const Matrix& u, const std::vector<double>& s, const Matrix& turned_v) {
  Matrix scaled(u.rows, static_cast<std::int64_t>(s.size()));
  for (std::size_t column = 0; column < s.size(); ++column) {
    for (std::int64_t row = 0; row < u.rows; ++row) {
      scaled(row, static_cast<std::int64_t>(column)) = u(row, static_cast<std::int64_t>(column)) * s[column];
    }
  }
  return scaled * turned_v;
}

template <typename T>
std::vector<double> doubles(const std::vector<T>& numbers) {
  return {numbers.begin(), numbers.end()};
}

template <typename T, typename Size, typename F>
void svd(const std::string& letter, Size size_of, F factorize) {
  const OnDevice<T> a(static_cast<std::size_t>(kLeading * kN));
  const OnDevice<T> u(static_cast<std::size_t>(kLeading * kM));
  const OnDevice<T> v(static_cast<std::size_t>(kLeading * kN));
  const OnDevice<Real<T>> s(static_cast<std::size_t>(kN));
  int size = 0;
  EXPECT_OK(size_of(handle, kM, kN, &size));
  const Around<T> around(size);
  EXPECT_OK(factorize(handle, 'A', 'A', kM, kN, api(a.at), kLeading, s.at, api(u.at), kLeading, api(v.at), kLeading,
                      api(around.work.at), size, nullptr, around.info.at));
  around.check();
  const Matrix product =
      composed(matrix_of(u.get(), kM, kN, kLeading), doubles(s.get()), matrix_of(v.get(), kN, kN, kLeading));
  const Matrix all_of_u = matrix_of(u.get(), kM, kM, kLeading);
  say("cusolverDn" + letter + "gesvd",
      std::max(difference(product, matrix_of(a.host, kM, kN, kLeading)) / 4,
               difference(operated(all_of_u, 2) * all_of_u, identity(kM))),
      allowed<T>);
}

template <typename T, typename Size, typename F>
void jacobi_svd(const std::string& letter, Size size_of, F factorize) {
  const OnDevice<T> a(static_cast<std::size_t>(kLeading * kN));
  const OnDevice<T> u(static_cast<std::size_t>(kLeading * kM));
  const OnDevice<T> v(static_cast<std::size_t>(kLeading * kN));
  const OnDevice<Real<T>> s(static_cast<std::size_t>(kN));
  gesvdjInfo_t settings = nullptr;
  EXPECT_OK(cusolverDnCreateGesvdjInfo(&settings));
  int size = 0;
  EXPECT_OK(size_of(handle, CUSOLVER_EIG_MODE_VECTOR, 1, kM, kN, api(a.at), kLeading, s.at, api(u.at), kLeading,
                    api(v.at), kLeading, &size, settings));
  const Around<T> around(size);
  EXPECT_OK(factorize(handle, CUSOLVER_EIG_MODE_VECTOR, 1, kM, kN, api(a.at), kLeading, s.at, api(u.at), kLeading,
                      api(v.at), kLeading, api(around.work.at), size, around.info.at, settings));
  around.check();
  EXPECT_OK(cusolverDnDestroyGesvdjInfo(settings));
  const Matrix product = composed(matrix_of(u.get(), kM, kN, kLeading), doubles(s.get()),
                                  operated(matrix_of(v.get(), kN, kN, kLeading), 2));
  say("cusolverDn" + letter + "gesvdj", difference(product, matrix_of(a.host, kM, kN, kLeading)) / 4, allowed<T>);
}

template <typename T, typename Call>
void eigen(const std::string& name, const Call& call) {
  double error = 0;
  for (const bool is_lower : {true, false}) {
    const OnDevice<T> a(static_cast<std::size_t>(kLeading * kN));
    const OnDevice<Real<T>> w(static_cast<std::size_t>(kN));
    call(is_lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER, a, w);
    const Matrix whole = symmetric(matrix_of(a.host, kN, kN, kLeading), is_lower, is_complex<T>);
    const Matrix vectors = matrix_of(a.get(), kN, kN, kLeading);
    const Matrix product = composed(vectors, doubles(w.get()), operated(vectors, 2));
    error = std::max(error, difference(product, whole) / 4);
  }
  say("cusolverDn" + name, error, allowed<T>);
}

template <typename T, typename Size, typename F>
void syevd(const std::string& name, Size size_of, F factorize) {
  eigen<T>(name, [&](cublasFillMode_t part, const OnDevice<T>& a, const OnDevice<Real<T>>& w) {
    int size = 0;
    EXPECT_OK(size_of(handle, CUSOLVER_EIG_MODE_VECTOR, part, kN, api(a.at), kLeading, w.at, &size));
    const Around<T> around(size);
    EXPECT_OK(factorize(handle, CUSOLVER_EIG_MODE_VECTOR, part, kN, api(a.at), kLeading, w.at, api(around.work.at),
                        size, around.info.at));
    around.check();
  });
}

template <typename T, typename Size, typename F>
void syevj(const std::string& name, Size size_of, F factorize) {
  eigen<T>(name, [&](cublasFillMode_t part, const OnDevice<T>& a, const OnDevice<Real<T>>& w) {
    syevjInfo_t settings = nullptr;
    EXPECT_OK(cusolverDnCreateSyevjInfo(&settings));
    int size = 0;
    EXPECT_OK(size_of(handle, CUSOLVER_EIG_MODE_VECTOR, part, kN, api(a.at), kLeading, w.at, &size, settings));
    const Around<T> around(size);
    EXPECT_OK(factorize(handle, CUSOLVER_EIG_MODE_VECTOR, part, kN, api(a.at), kLeading, w.at, api(around.work.at),
                        size, around.info.at, settings));
    around.check();
    EXPECT_OK(cusolverDnDestroySyevjInfo(settings));
  });
}

template <typename T, typename Size, typename F>
void sygvd(const std::string& name, Size size_of, F factorize) {
  const OnDevice<T> a(static_cast<std::size_t>(kLeading * kN));
  const OnDevice<T> b(positive<T>(kN));
  const OnDevice<Real<T>> w(static_cast<std::size_t>(kN));
  int size = 0;
  EXPECT_OK(size_of(handle, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, kN, api(a.at),
                    kLeading, api(b.at), kLeading, w.at, &size));
  const Around<T> around(size);
  EXPECT_OK(factorize(handle, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, kN, api(a.at),
                      kLeading, api(b.at), kLeading, w.at, api(around.work.at), size, around.info.at));
  around.check();
  const Matrix first = symmetric(matrix_of(a.host, kN, kN, kLeading), true, is_complex<T>);
  const Matrix second = symmetric(matrix_of(b.host, kN, kN, kLeading), true, is_complex<T>);
  const Matrix vectors = matrix_of(a.get(), kN, kN, kLeading);
  const Matrix wanted = composed(second * vectors, doubles(w.get()), identity(kN));
  say("cusolverDn" + name, difference(first * vectors, wanted), allowed<T>);
}

/// The functions for all types, on doubles.
void any_type() {
  std::size_t on_device = 0;
  std::size_t on_host = 0;
  const OnDevice<int> info(std::vector<int>{-1});
  const OnDevice<double> a(positive<double>(kN));
  const OnDevice<double> b(static_cast<std::size_t>(kLeading * kCount));
  const Matrix whole = symmetric(matrix_of(a.host, kN, kN, kLeading), true, true);
  cusolverDnParams_t settings = nullptr;
  EXPECT_OK(cusolverDnCreateParams(&settings));
  EXPECT_OK(cusolverDnXpotrf_bufferSize(handle, settings, CUBLAS_FILL_MODE_LOWER, kN, CUDA_R_64F, a.at, kLeading,
                                        CUDA_R_64F, &on_device, &on_host));
  const OnDevice<char> work{std::vector<char>(on_device)};
  EXPECT_OK(cusolverDnXpotrf(handle, settings, CUBLAS_FILL_MODE_LOWER, kN, CUDA_R_64F, a.at, kLeading, CUDA_R_64F,
                             work.at, on_device, nullptr, 0, info.at));
  const Matrix factor = triangle(matrix_of(a.get(), kN, kN, kLeading), true, false);
  say("cusolverDnXpotrf", difference(factor * operated(factor, 2), whole), 1e-12);
  EXPECT_OK(cusolverDnXpotrs(handle, settings, CUBLAS_FILL_MODE_LOWER, kN, kCount, CUDA_R_64F, a.at, kLeading,
                             CUDA_R_64F, b.at, kLeading, info.at));
  say("cusolverDnXpotrs",
      difference(whole * matrix_of(b.get(), kN, kCount, kLeading), matrix_of(b.host, kN, kCount, kLeading)), 1e-12);

  const OnDevice<double> g(static_cast<std::size_t>(kLeading * kN));
  const OnDevice<double> x(static_cast<std::size_t>(kLeading * kCount));
  const OnDevice<std::int64_t> pivots(std::vector<std::int64_t>(static_cast<std::size_t>(kN)));
  EXPECT_OK(cusolverDnXgetrf_bufferSize(handle, settings, kN, kN, CUDA_R_64F, g.at, kLeading, CUDA_R_64F, &on_device,
                                        &on_host));
  EXPECT_OK(cusolverDnXgetrf(handle, settings, kN, kN, CUDA_R_64F, g.at, kLeading, pivots.at, CUDA_R_64F, work.at,
                             on_device, nullptr, 0, info.at));
  EXPECT_OK(cusolverDnXgetrs(handle, settings, CUBLAS_OP_N, kN, kCount, CUDA_R_64F, g.at, kLeading, pivots.at,
                             CUDA_R_64F, x.at, kLeading, info.at));
  const double solved = difference(matrix_of(g.host, kN, kN, kLeading) * matrix_of(x.get(), kN, kCount, kLeading),
                                   matrix_of(x.host, kN, kCount, kLeading));
  say("cusolverDnXgetrf", solved, 1e-11);
  say("cusolverDnXgetrs", solved, 1e-11);

  const OnDevice<double> q(static_cast<std::size_t>(kLeading * kN));
  const OnDevice<double> tau(static_cast<std::size_t>(kN));
  EXPECT_OK(cusolverDnXgeqrf_bufferSize(handle, settings, kM, kN, CUDA_R_64F, q.at, kLeading, CUDA_R_64F, tau.at,
                                        CUDA_R_64F, &on_device, &on_host));
  EXPECT_OK(cusolverDnXgeqrf(handle, settings, kM, kN, CUDA_R_64F, q.at, kLeading, CUDA_R_64F, tau.at, CUDA_R_64F,
                             work.at, on_device, nullptr, 0, info.at));
  // A^H A = R^H R.
  Matrix upper(kN, kN);
  const Matrix factors = matrix_of(q.get(), kM, kN, kLeading);
  for (int column = 0; column < kN; ++column) {
    for (int row = 0; row <= column; ++row) upper(row, column) = factors(row, column);
  }
  const Matrix before = matrix_of(q.host, kM, kN, kLeading);
  say("cusolverDnXgeqrf", difference(operated(upper, 2) * upper, operated(before, 2) * before), 1e-11);

  eigen<double>("Xsyevd", [&](cublasFillMode_t part, const OnDevice<double>& one, const OnDevice<double>& w) {
    EXPECT_OK(cusolverDnXsyevd_bufferSize(handle, settings, CUSOLVER_EIG_MODE_VECTOR, part, kN, CUDA_R_64F, one.at,
                                          kLeading, CUDA_R_64F, w.at, CUDA_R_64F, &on_device, &on_host));
    EXPECT_OK(cusolverDnXsyevd(handle, settings, CUSOLVER_EIG_MODE_VECTOR, part, kN, CUDA_R_64F, one.at, kLeading,
                               CUDA_R_64F, w.at, CUDA_R_64F, work.at, on_device, nullptr, 0, info.at));
  });

  const OnDevice<double> m(static_cast<std::size_t>(kLeading * kN));
  const OnDevice<double> u(static_cast<std::size_t>(kLeading * kN));
  const OnDevice<double> v(static_cast<std::size_t>(kLeading * kN));
  const OnDevice<double> s(static_cast<std::size_t>(kN));
  EXPECT_OK(cusolverDnXgesvd_bufferSize(handle, settings, 'S', 'S', kM, kN, CUDA_R_64F, m.at, kLeading, CUDA_R_64F,
                                        s.at, CUDA_R_64F, u.at, kLeading, CUDA_R_64F, v.at, kLeading, CUDA_R_64F,
                                        &on_device, &on_host));
  EXPECT_OK(cusolverDnXgesvd(handle, settings, 'S', 'S', kM, kN, CUDA_R_64F, m.at, kLeading, CUDA_R_64F, s.at,
                             CUDA_R_64F, u.at, kLeading, CUDA_R_64F, v.at, kLeading, CUDA_R_64F, work.at, on_device,
                             nullptr, 0, info.at));
  const Matrix product = composed(matrix_of(u.get(), kM, kN, kLeading), s.get(), matrix_of(v.get(), kN, kN, kLeading));
  say("cusolverDnXgesvd", difference(product, matrix_of(m.host, kM, kN, kLeading)), 1e-12);
  EXPECT_OK(cusolverDnDestroyParams(settings));
}

/// A matrix that cannot be factorized: `info` says where.
void singular() {
  const OnDevice<double> a(std::vector<double>{1, 0, 0, -1});
  int size = 0;
  EXPECT_OK(cusolverDnDpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, 2, a.at, 2, &size));
  const Around<double> around(size);
  EXPECT_OK(cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_LOWER, 2, a.at, 2, around.work.at, size, around.info.at));
  around.check(2);
}

}  // namespace

void walk_solver() {
  EXPECT_OK(cusolverDnCreate(&handle));
#define LETTER(L, T, make, times, h)                                                                             \
  cholesky<T>(#L, cusolverDn##L##potrf_bufferSize, cusolverDn##L##potrf, cusolverDn##L##potrs,                   \
              cusolverDn##L##potri_bufferSize, cusolverDn##L##potri);                                            \
  cholesky_batched<T>(#L, cusolverDn##L##potrfBatched, cusolverDn##L##potrsBatched);                             \
  lu<T>(#L, cusolverDn##L##getrf_bufferSize, cusolverDn##L##getrf, cusolverDn##L##getrs);                        \
  qr<T>(#L, #make, #times, cusolverDn##L##geqrf_bufferSize, cusolverDn##L##geqrf, cusolverDn##make##_bufferSize, \
        cusolverDn##make, cusolverDn##times##_bufferSize, cusolverDn##times);                                    \
  svd<T>(#L, cusolverDn##L##gesvd_bufferSize, cusolverDn##L##gesvd);                                             \
  jacobi_svd<T>(#L, cusolverDn##L##gesvdj_bufferSize, cusolverDn##L##gesvdj);                                    \
  syevd<T>(#L#h "evd", cusolverDn##L##h##evd_bufferSize, cusolverDn##L##h##evd);                                 \
  syevj<T>(#L#h "evj", cusolverDn##L##h##evj_bufferSize, cusolverDn##L##h##evj);                                 \
  sygvd<T>(#L#h "gvd", cusolverDn##L##h##gvd_bufferSize, cusolverDn##L##h##gvd);                                 \
  sygvd<T>(                                                                                                      \
      #L#h "gvj", [](auto... all) { return cusolverDn##L##h##gvj_bufferSize(all..., nullptr); },                 \
      [](auto... all) { return cusolverDn##L##h##gvj(all..., nullptr); });
  LETTER(S, float, Sorgqr, Sormqr, sy)
  LETTER(D, double, Dorgqr, Dormqr, sy)
  LETTER(C, C, Cungqr, Cunmqr, he)
  LETTER(Z, Z, Zungqr, Zunmqr, he)
  any_type();
  singular();
  EXPECT_OK(cusolverDnDestroy(handle));
}
