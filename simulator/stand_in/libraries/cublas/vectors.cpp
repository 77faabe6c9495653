// Vectors: BLAS's level 1.
#include <algorithm>
#include <array>
#include <cmath>

#include "simulator/stand_in/libraries/cublas/functions.hpp"

using namespace convladder::stand_in;

namespace {

template <typename T>
MemoryUse uses(const char* name, const T* at, std::int64_t n, std::int64_t increment, Access access) {
  return vector_use(name, at, n, increment, sizeof(T), access);
}

template <typename T>
cublasStatus_t axpy(const char* name, cublasHandle_t handle, std::int64_t n, const T* alpha, const T* x,
                    std::int64_t x_step, T* y, std::int64_t y_step) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    const Scalar<T> factor = scalar(context, "alpha", alpha);
    if (n <= 0 || factor.is_zero()) return;
    LibraryWork work{.uses = {uses("x", x, n, x_step, Access::read), uses("y", y, n, y_step, Access::both)}};
    factor.add_use(work.uses);
    add_pairs<T>(work.amount, context, static_cast<double>(n));
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      const Strided from(turn.at(x), n, x_step);
      const Strided to(turn.at(y), n, y_step);
      const T by = factor.value(turn);
      for (std::int64_t i = 0; i < n; ++i) to[i] += times(by, from[i]);
    };
    enqueue(call, context, std::move(work));
  });
}

template <typename T, typename Factor>
cublasStatus_t scal(const char* name, cublasHandle_t handle, std::int64_t n, const Factor* alpha, T* x,
                    std::int64_t step) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    const Scalar<Factor> factor = scalar(context, "alpha", alpha);
    if (n <= 0 || step <= 0) return;
    LibraryWork work{.uses = {uses("x", x, n, step, Access::both)}};
    factor.add_use(work.uses);
    add_pairs<T>(work.amount, context, static_cast<double>(n));
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      const Strided to(turn.at(x), n, step);
      const Factor by = factor.value(turn);
      for (std::int64_t i = 0; i < n; ++i) {
        if constexpr (std::is_same_v<T, Factor>) {
          to[i] = times(by, to[i]);
        } else {
          to[i] = T{by * to[i].real(), by * to[i].imag()};
        }
      }
    };
    enqueue(call, context, std::move(work));
  });
}

template <typename T>
cublasStatus_t copy(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t x_step, T* y,
                    std::int64_t y_step) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    if (n <= 0) return;
    LibraryWork work{.uses = {uses("x", x, n, x_step, Access::read), uses("y", y, n, y_step, Access::write)}};
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      const Strided from(turn.at(x), n, x_step);
      const Strided to(turn.at(y), n, y_step);
      for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
    };
    enqueue(call, context, std::move(work));
  });
}

template <typename T>
cublasStatus_t swap(const char* name, cublasHandle_t handle, std::int64_t n, T* x, std::int64_t x_step, T* y,
                    std::int64_t y_step) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    if (n <= 0) return;
    LibraryWork work{.uses = {uses("x", x, n, x_step, Access::both), uses("y", y, n, y_step, Access::both)}};
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      const Strided a(turn.at(x), n, x_step);
      const Strided b(turn.at(y), n, y_step);
      for (std::int64_t i = 0; i < n; ++i) std::swap(a[i], b[i]);
    };
    enqueue(call, context, std::move(work));
  });
}

/// A number made of one vector: `of(vector, n)`. Without elements it is zero.
template <typename T, typename R, typename Of>
cublasStatus_t reduce(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t step, R* result,
                      const Of& of) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    const Result<R> place(context, result);
    LibraryWork work;
    const std::int64_t count = step > 0 ? std::max<std::int64_t>(n, 0) : 0;
    work.uses.push_back(uses("x", x, count, step, Access::read));
    place.add_use(work.uses);
    add_pairs<T>(work.amount, context, static_cast<double>(count));
    work.amount.bytes = bytes_of(work.uses);
    work.amount.steps = 2;
    work.compute = [=](LibraryTurn& turn) {
      place.put(turn, count == 0 ? R{} : of(Strided(turn.at(x), count, step), count));
    };
    enqueue(call, context, std::move(work), !place.is_of_device());
  });
}

template <typename T>
Real<T> asum(const Strided<const T>& x, std::int64_t n) {
  Sum<Real<T>> sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += size_of_number(x[i]);
  return static_cast<Real<T>>(sum);
}

template <typename T>
Real<T> nrm2(const Strided<const T>& x, std::int64_t n) {
  Sum<Real<T>> sum = 0;  // wide enough for all squares
  for (std::int64_t i = 0; i < n; ++i) {
    const Sum<Real<T>> real = std::real(x[i]);
    const Sum<Real<T>> imaginary = std::imag(x[i]);
    sum += real * real + imaginary * imaginary;
  }
  return static_cast<Real<T>>(std::sqrt(sum));
}

/// The number, from 1 on, of the first element that is larger, or smaller, than all before it.
template <typename T, typename Index, typename Better>
Index extreme(const Strided<const T>& x, std::int64_t n, const Better& is_better) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < n; ++i) {
    if (is_better(size_of_number(x[i]), size_of_number(x[best]))) best = i;
  }
  return static_cast<Index>(best + 1);
}

template <typename T>
cublasStatus_t dot(const char* name, cublasHandle_t handle, std::int64_t n, const T* x, std::int64_t x_step, const T* y,
                   std::int64_t y_step, T* result, bool conjugates) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    const Result<T> place(context, result);
    LibraryWork work{.uses = {uses("x", x, n, x_step, Access::read), uses("y", y, n, y_step, Access::read)}};
    place.add_use(work.uses);
    add_pairs<T>(work.amount, context, static_cast<double>(std::max<std::int64_t>(n, 0)));
    work.amount.bytes = bytes_of(work.uses);
    work.amount.steps = 2;
    work.compute = [=](LibraryTurn& turn) {
      Sum<T> sum{};
      if (n > 0) {
        const Strided a(turn.at(x), n, x_step);
        const Strided b(turn.at(y), n, y_step);
        for (std::int64_t i = 0; i < n; ++i) {
          const auto first = static_cast<Sum<T>>(conjugates ? conjugated(a[i]) : a[i]);
          sum += times(first, static_cast<Sum<T>>(b[i]));
        }
      }
      place.put(turn, static_cast<T>(sum));
    };
    enqueue(call, context, std::move(work), !place.is_of_device());
  });
}

/// x' = c x + s y, y' = c y - conj(s) x.
template <typename T, typename S>
cublasStatus_t rot(const char* name, cublasHandle_t handle, std::int64_t n, T* x, std::int64_t x_step, T* y,
                   std::int64_t y_step, const Real<T>* c, const S* s) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    const Scalar<Real<T>> cosine = scalar(context, "c", c);
    const Scalar<S> sine = scalar(context, "s", s);
    if (n <= 0) return;
    LibraryWork work{.uses = {uses("x", x, n, x_step, Access::both), uses("y", y, n, y_step, Access::both)}};
    cosine.add_use(work.uses);
    sine.add_use(work.uses);
    add_pairs<T>(work.amount, context, 4 * static_cast<double>(n));
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      const Strided a(turn.at(x), n, x_step);
      const Strided b(turn.at(y), n, y_step);
      const T by_c = cosine.value(turn);
      const T by_s = sine.value(turn);
      for (std::int64_t i = 0; i < n; ++i) {
        const T before = a[i];
        a[i] = times(by_c, before) + times(by_s, b[i]);
        b[i] = times(by_c, b[i]) - times(conjugated(by_s), before);
      }
    };
    enqueue(call, context, std::move(work));
  });
}

/// The rotation that makes b zero, as BLAS defines it.
template <typename T>
void make_rotation(T& a, T& b, Real<T>& c, T& s) {
  using R = Real<T>;
  if constexpr (is_complex<T>) {
    const R size = std::abs(a);
    if (size == 0) {
      c = 0;
      s = T{1};
      a = b;
      return;
    }
    const R norm = std::hypot(size, std::abs(b));
    const T direction = a / size;
    c = size / norm;
    s = direction * std::conj(b) / norm;
    a = direction * norm;
  } else {
    const R larger = std::abs(a) > std::abs(b) ? a : b;
    if (a == 0 && b == 0) {
      c = 1;
      s = 0;
      a = 0;
      b = 0;
      return;
    }
    const R length = std::copysign(std::hypot(a, b), larger);
    c = a / length;
    s = b / length;
    b = std::abs(a) > std::abs(b) ? s : c != 0 ? 1 / c : R{1};
    a = length;
  }
}

template <typename T>
cublasStatus_t rotg(const char* name, cublasHandle_t handle, T* a, T* b, Real<T>* c, T* s) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require(a != nullptr && b != nullptr && c != nullptr && s != nullptr, "a scalar is null");
    if (!is_of_device(context)) {
      make_rotation(*a, *b, *c, *s);
      return;
    }
    LibraryWork work{.uses = {uses("a", a, 1, 1, Access::both), uses("b", b, 1, 1, Access::both),
                              uses("c", c, 1, 1, Access::write), uses("s", s, 1, 1, Access::write)}};
    work.compute = [=](LibraryTurn& turn) { make_rotation(*turn.at(a), *turn.at(b), *turn.at(c), *turn.at(s)); };
    enqueue(call, context, std::move(work));
  });
}

/// x and y times the matrix that `p` describes: p[0] says which of its elements are given, as in BLAS.
template <typename T>
cublasStatus_t rotm(const char* name, cublasHandle_t handle, std::int64_t n, T* x, std::int64_t x_step, T* y,
                    std::int64_t y_step, const T* p) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require(p != nullptr, "the parameters are null");
    if (n <= 0) return;
    LibraryWork work{.uses = {uses("x", x, n, x_step, Access::both), uses("y", y, n, y_step, Access::both)}};
    std::array<T, 5> given{};
    if (is_of_device(context)) {
      work.uses.push_back(uses("param", p, 5, 1, Access::read));
    } else {
      std::copy_n(p, given.size(), given.begin());
    }
    add_pairs<T>(work.amount, context, 2 * static_cast<double>(n));
    work.amount.bytes = bytes_of(work.uses);
    work.compute = [=, from_device = is_of_device(context)](LibraryTurn& turn) {
      std::array<T, 5> h = given;
      if (from_device) std::copy_n(turn.at(p), h.size(), h.begin());
      const T flag = h[0];
      if (flag == T{-2}) return;
      const T h11 = flag == T{0} ? T{1} : h[1];
      const T h21 = flag == T{1} ? T{-1} : h[2];
      const T h12 = flag == T{1} ? T{1} : h[3];
      const T h22 = flag == T{0} ? T{1} : h[4];
      const Strided a(turn.at(x), n, x_step);
      const Strided b(turn.at(y), n, y_step);
      for (std::int64_t i = 0; i < n; ++i) {
        const T before = a[i];
        a[i] = h11 * before + h12 * b[i];
        b[i] = h21 * before + h22 * b[i];
      }
    };
    enqueue(call, context, std::move(work));
  });
}

}  // namespace

extern "C" {

#define AXPY(L, C, Int, tail)                                                                                       \
  cublasStatus_t cublas##L##axpy_v2##tail(cublasHandle_t handle, Int n, const C* alpha, const C* x, Int incx, C* y, \
                                          Int incy) {                                                               \
    return axpy("cublas" #L "axpy" #tail, handle, n, as_numbers(alpha), as_numbers(x), incx, as_numbers(y), incy);  \
  }
CUBLAS_ALL(AXPY)

#define SCAL(L, C, Int, tail)                                                                             \
  cublasStatus_t cublas##L##scal_v2##tail(cublasHandle_t handle, Int n, const C* alpha, C* x, Int incx) { \
    return scal("cublas" #L "scal" #tail, handle, n, as_numbers(alpha), as_numbers(x), incx);             \
  }
CUBLAS_ALL(SCAL)

#define REAL_SCAL(L, C, R, Int, tail)                                                                     \
  cublasStatus_t cublas##L##scal_v2##tail(cublasHandle_t handle, Int n, const R* alpha, C* x, Int incx) { \
    return scal("cublas" #L "scal" #tail, handle, n, alpha, as_numbers(x), incx);                         \
  }
CUBLAS_BOTH_WIDTHS(REAL_SCAL, Cs, cuComplex, float)
CUBLAS_BOTH_WIDTHS(REAL_SCAL, Zd, cuDoubleComplex, double)

#define COPY(L, C, Int, tail)                                                                                   \
  cublasStatus_t cublas##L##copy_v2##tail(cublasHandle_t handle, Int n, const C* x, Int incx, C* y, Int incy) { \
    return copy("cublas" #L "copy" #tail, handle, n, as_numbers(x), incx, as_numbers(y), incy);                 \
  }
CUBLAS_ALL(COPY)

#define SWAP(L, C, Int, tail)                                                                             \
  cublasStatus_t cublas##L##swap_v2##tail(cublasHandle_t handle, Int n, C* x, Int incx, C* y, Int incy) { \
    return swap("cublas" #L "swap" #tail, handle, n, as_numbers(x), incx, as_numbers(y), incy);           \
  }
CUBLAS_ALL(SWAP)

#define ASUM_AND_NRM2(L, C, R, Int, tail)                                                                  \
  cublasStatus_t cublas##L##asum_v2##tail(cublasHandle_t handle, Int n, const C* x, Int incx, R* result) { \
    return reduce("cublas" #L "asum" #tail, handle, n, as_numbers(x), incx, result, asum<Number<C>>);      \
  }                                                                                                        \
  cublasStatus_t cublas##L##nrm2_v2##tail(cublasHandle_t handle, Int n, const C* x, Int incx, R* result) { \
    return reduce("cublas" #L "nrm2" #tail, handle, n, as_numbers(x), incx, result, nrm2<Number<C>>);      \
  }
CUBLAS_BOTH_WIDTHS(ASUM_AND_NRM2, S, float, float)
CUBLAS_BOTH_WIDTHS(ASUM_AND_NRM2, D, double, double)
CUBLAS_BOTH_WIDTHS(ASUM_AND_NRM2, Sc, cuComplex, float)
CUBLAS_BOTH_WIDTHS(ASUM_AND_NRM2, Dz, cuDoubleComplex, double)

#define EXTREME(L, C, Int, tail)                                                                              \
  cublasStatus_t cublasI##L##amax_v2##tail(cublasHandle_t handle, Int n, const C* x, Int incx, Int* result) { \
    using R = Real<Number<C>>;                                                                                \
    return reduce("cublasI" #L "amax" #tail, handle, n, as_numbers(x), incx, result,                          \
                  [](const auto& at, std::int64_t count) {                                                    \
                    return extreme<Number<C>, Int>(at, count, [](R one, R best) { return one > best; });      \
                  });                                                                                         \
  }                                                                                                           \
  cublasStatus_t cublasI##L##amin_v2##tail(cublasHandle_t handle, Int n, const C* x, Int incx, Int* result) { \
    using R = Real<Number<C>>;                                                                                \
    return reduce("cublasI" #L "amin" #tail, handle, n, as_numbers(x), incx, result,                          \
                  [](const auto& at, std::int64_t count) {                                                    \
                    return extreme<Number<C>, Int>(at, count, [](R one, R best) { return one < best; });      \
                  });                                                                                         \
  }
CUBLAS_BOTH_WIDTHS(EXTREME, s, float)
CUBLAS_BOTH_WIDTHS(EXTREME, d, double)
CUBLAS_BOTH_WIDTHS(EXTREME, c, cuComplex)
CUBLAS_BOTH_WIDTHS(EXTREME, z, cuDoubleComplex)

#define DOT(L, C, conjugates, Int, tail)                                                                               \
  cublasStatus_t cublas##L##_v2##tail(cublasHandle_t handle, Int n, const C* x, Int incx, const C* y, Int incy,        \
                                      C* result) {                                                                     \
    return dot("cublas" #L#tail, handle, n, as_numbers(x), incx, as_numbers(y), incy, as_numbers(result), conjugates); \
  }
CUBLAS_BOTH_WIDTHS(DOT, Sdot, float, false)
CUBLAS_BOTH_WIDTHS(DOT, Ddot, double, false)
CUBLAS_BOTH_WIDTHS(DOT, Cdotu, cuComplex, false)
CUBLAS_BOTH_WIDTHS(DOT, Cdotc, cuComplex, true)
CUBLAS_BOTH_WIDTHS(DOT, Zdotu, cuDoubleComplex, false)
CUBLAS_BOTH_WIDTHS(DOT, Zdotc, cuDoubleComplex, true)

#define ROT(L, C, R, S, Int, tail)                                                                                 \
  cublasStatus_t cublas##L##rot_v2##tail(cublasHandle_t handle, Int n, C* x, Int incx, C* y, Int incy, const R* c, \
                                         const S* s) {                                                             \
    return rot("cublas" #L "rot" #tail, handle, n, as_numbers(x), incx, as_numbers(y), incy, c, as_numbers(s));    \
  }
CUBLAS_BOTH_WIDTHS(ROT, S, float, float, float)
CUBLAS_BOTH_WIDTHS(ROT, D, double, double, double)
CUBLAS_BOTH_WIDTHS(ROT, C, cuComplex, float, cuComplex)
CUBLAS_BOTH_WIDTHS(ROT, Z, cuDoubleComplex, double, cuDoubleComplex)
CUBLAS_BOTH_WIDTHS(ROT, Cs, cuComplex, float, float)
CUBLAS_BOTH_WIDTHS(ROT, Zd, cuDoubleComplex, double, double)

#define ROTG(L, C, R)                                                                        \
  cublasStatus_t cublas##L##rotg_v2(cublasHandle_t handle, C* a, C* b, R* c, C* s) {         \
    return rotg("cublas" #L "rotg", handle, as_numbers(a), as_numbers(b), c, as_numbers(s)); \
  }
ROTG(S, float, float)
ROTG(D, double, double)
ROTG(C, cuComplex, float)
ROTG(Z, cuDoubleComplex, double)

#define ROTM(L, C, Int, tail)                                                                                         \
  cublasStatus_t cublas##L##rotm_v2##tail(cublasHandle_t handle, Int n, C* x, Int incx, C* y, Int incy, const C* p) { \
    return rotm("cublas" #L "rotm" #tail, handle, n, x, incx, y, incy, p);                                            \
  }
CUBLAS_REAL(ROTM)

}  // extern "C"
