// As much of the Metal shading language as kernels here and MLX's headers use, for clang on a CPU.
// Address spaces are empty words: source.py's lint looks after them. Values only; memory and lanes are runtime.cpp's.
#pragma once
#include "runtime.h"

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;
typedef __bf16 bfloat;
static_assert(sizeof(long) == 8, "Metal's long has 64 bits");

#define device
#define constant
#define thread
#define threadgroup
#define kernel
#define METAL_FUNC inline __attribute__((always_inline))
#define __METAL__ 1
#define __METAL_VERSION__ 320
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FLT_MAX __FLT_MAX__

namespace metal {

// ---- types ----

template <bool B> struct bool_constant { static constexpr bool value = B; };
template <class A, class B> struct is_same : bool_constant<__is_same(A, B)> {};
template <class A, class B> constexpr bool is_same_v = __is_same(A, B);
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class X, class Y> struct conditional { using type = X; };
template <class X, class Y> struct conditional<false, X, Y> { using type = Y; };
template <bool B, class X, class Y> using conditional_t = typename conditional<B, X, Y>::type;
template <class T> constexpr bool is_integral_v = __is_integral(T);
template <class T> constexpr bool is_floating_point_v = __is_same(T, float) || __is_same(T, half) || __is_same(T, bfloat);
template <class T> constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T> constexpr bool is_signed_v = __is_signed(T) || is_floating_point_v<T>;

#define MSL_UNWATCHED __attribute__((no_sanitize("thread"), noinline))  // its loads and stores are the harness's own
#define MSL_IF(...) enable_if_t<(__VA_ARGS__), int> = 0

template <class T> struct numeric_limits {
  static constexpr T max() { return is_signed_v<T> ? T((1ull << (8 * sizeof(T) - 1)) - 1) : T(~0ull); }
  static constexpr T min() { return is_signed_v<T> ? T(1ull << (8 * sizeof(T) - 1)) : T(0); }
  static constexpr T lowest() { return min(); }
};
#define MSL_FLOAT_LIMITS(T, MAX, MIN, EPSILON) \
  template <> struct numeric_limits<T> { \
    static constexpr T max() { return T(MAX); } \
    static constexpr T min() { return T(MIN); } \
    static constexpr T lowest() { return T(-MAX); } \
    static constexpr T epsilon() { return T(EPSILON); } \
    static constexpr T infinity() { return T(__builtin_inff()); } \
    static constexpr T quiet_NaN() { return T(__builtin_nanf("")); } \
  };
MSL_FLOAT_LIMITS(float, __FLT_MAX__, __FLT_MIN__, __FLT_EPSILON__)
MSL_FLOAT_LIMITS(half, 65504.0f, 6.103515625e-05f, 0.0009765625f)
MSL_FLOAT_LIMITS(bfloat, 3.38953139e38f, 1.17549435e-38f, 0.0078125f)

// ---- vectors ----

template <class T, int N> struct vec;
template <class T, int N> struct msl_members;  // of swizzles, one letter only
template <class T> struct alignas(2 * sizeof(T)) msl_members<T, 2> { union { T v[2]; struct { T x, y; }; }; };
template <class T> struct alignas(4 * sizeof(T)) msl_members<T, 3> { union { T v[3]; struct { T x, y, z; }; }; };
template <class T> struct alignas(4 * sizeof(T)) msl_members<T, 4> { union { T v[4]; struct { T x, y, z, w; }; }; };

template <class T> constexpr int msl_width = 1;
template <class T, int N> constexpr int msl_width<vec<T, N>> = N;
#define MSL_EACH for (int i = 0; i < N; i++)

template <class T, int N> struct vec : msl_members<T, N> {
  vec() = default;
  // By elements, and not by the compiler: so the alignment of where it comes from and goes to is checked.
  vec(const vec& o) { MSL_EACH this->v[i] = o.v[i]; }
  vec& operator=(const vec& o) { MSL_EACH this->v[i] = o.v[i]; return *this; }
  template <class S, MSL_IF(is_arithmetic_v<S>)> vec(S s) { MSL_EACH this->v[i] = T(s); }
  template <class U, MSL_IF(!is_same_v<U, T>)> explicit vec(const vec<U, N>& o) { MSL_EACH this->v[i] = T(o.v[i]); }
  template <class... P, MSL_IF(sizeof...(P) > 1 && (msl_width<P> + ...) == N)> vec(const P&... parts) {
    int at = 0;
    (put(at, parts), ...);
  }
  T& operator[](size_t i) { return this->v[i]; }
  const T& operator[](size_t i) const { return this->v[i]; }

 private:
  template <class S> void put(int& at, S s) { this->v[at++] = T(s); }
  template <class U, int M> void put(int& at, const vec<U, M>& o) { for (int i = 0; i < M; i++) this->v[at++] = T(o.v[i]); }
};

// R: the element type of the result. A scalar beside a vector takes the vector's type first, as in Metal.
#define MSL_OPERATOR(op, R) \
  template <class T, int N> inline vec<R, N> operator op(const vec<T, N>& a, const vec<T, N>& b) { \
    vec<R, N> r; MSL_EACH r.v[i] = R(a.v[i] op b.v[i]); return r; \
  } \
  template <class T, int N, class S, MSL_IF(is_arithmetic_v<S>)> inline vec<R, N> operator op(const vec<T, N>& a, S b) { \
    return a op vec<T, N>(b); \
  } \
  template <class T, int N, class S, MSL_IF(is_arithmetic_v<S>)> inline vec<R, N> operator op(S a, const vec<T, N>& b) { \
    return vec<T, N>(a) op b; \
  }
#define MSL_ARITHMETIC(op) \
  MSL_OPERATOR(op, T) \
  template <class T, int N, class B> inline vec<T, N>& operator op##=(vec<T, N>& a, const B& b) { return a = a op b; }
MSL_ARITHMETIC(+) MSL_ARITHMETIC(-) MSL_ARITHMETIC(*) MSL_ARITHMETIC(/) MSL_ARITHMETIC(%)
MSL_ARITHMETIC(&) MSL_ARITHMETIC(|) MSL_ARITHMETIC(^) MSL_ARITHMETIC(<<) MSL_ARITHMETIC(>>)
MSL_OPERATOR(==, bool) MSL_OPERATOR(!=, bool) MSL_OPERATOR(<, bool) MSL_OPERATOR(>, bool)
MSL_OPERATOR(<=, bool) MSL_OPERATOR(>=, bool) MSL_OPERATOR(&&, bool) MSL_OPERATOR(||, bool)
template <class T, int N> inline vec<T, N> operator-(const vec<T, N>& a) { vec<T, N> r; MSL_EACH r.v[i] = -a.v[i]; return r; }
template <class T, int N> inline vec<T, N> operator~(const vec<T, N>& a) { vec<T, N> r; MSL_EACH r.v[i] = ~a.v[i]; return r; }
template <int N> inline vec<bool, N> operator!(const vec<bool, N>& a) { vec<bool, N> r; MSL_EACH r.v[i] = !a.v[i]; return r; }

}  // namespace metal

#define MSL_VECTORS(T) typedef metal::vec<T, 2> T##2; typedef metal::vec<T, 3> T##3; typedef metal::vec<T, 4> T##4;
MSL_VECTORS(bool) MSL_VECTORS(char) MSL_VECTORS(uchar) MSL_VECTORS(short) MSL_VECTORS(ushort) MSL_VECTORS(int)
MSL_VECTORS(uint) MSL_VECTORS(long) MSL_VECTORS(ulong) MSL_VECTORS(half) MSL_VECTORS(bfloat) MSL_VECTORS(float)
inline constexpr half operator""h(long double x) { return half(x); }
inline constexpr half operator""h(unsigned long long x) { return half(x); }

namespace metal {

template <class To, class From> inline To as_type(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "as_type keeps the size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

// ---- mathematics: in float, then rounded to the type; vectors element by element ----

#define MSL_UNARY(name, R, ...) \
  template <class T, MSL_IF(is_floating_point_v<T>)> inline R name(T value) { float x = float(value); return R(__VA_ARGS__); } \
  template <class T, int N, MSL_IF(is_floating_point_v<T>)> inline vec<R, N> name(const vec<T, N>& a) { \
    vec<R, N> r; MSL_EACH r.v[i] = name(a.v[i]); return r; \
  }
#define MSL_BINARY(name, condition, ...) \
  template <class T, MSL_IF(condition<T>)> inline constexpr T name(T a, T b) { return T(__VA_ARGS__); } \
  template <class T, int N> inline vec<T, N> name(const vec<T, N>& a, const vec<T, N>& b) { \
    vec<T, N> r; MSL_EACH r.v[i] = name(a.v[i], b.v[i]); return r; \
  } \
  template <class T, int N, class S, MSL_IF(is_arithmetic_v<S>)> inline vec<T, N> name(const vec<T, N>& a, S b) { \
    return name(a, vec<T, N>(b)); \
  }
#define MSL_BUILTIN(name) MSL_UNARY(name, T, __builtin_##name##f(x))
#define MSL_MATHEMATICS \
  MSL_BUILTIN(exp) MSL_BUILTIN(exp2) MSL_BUILTIN(log) MSL_BUILTIN(log2) MSL_BUILTIN(log10) MSL_BUILTIN(sqrt) \
  MSL_BUILTIN(sin) MSL_BUILTIN(cos) MSL_BUILTIN(tan) MSL_BUILTIN(asin) MSL_BUILTIN(acos) MSL_BUILTIN(atan) MSL_BUILTIN(tanh) \
  MSL_BUILTIN(floor) MSL_BUILTIN(ceil) MSL_BUILTIN(round) MSL_BUILTIN(rint) MSL_BUILTIN(trunc) MSL_BUILTIN(fabs) \
  MSL_UNARY(exp10, T, __builtin_powf(10.0f, x)) MSL_UNARY(rsqrt, T, 1.0f / __builtin_sqrtf(x)) \
  MSL_BINARY(pow, is_floating_point_v, __builtin_powf(float(a), float(b))) \
  MSL_BINARY(fmod, is_floating_point_v, __builtin_fmodf(float(a), float(b))) \
  MSL_BINARY(atan2, is_floating_point_v, __builtin_atan2f(float(a), float(b))) \
  MSL_BINARY(divide, is_floating_point_v, a / b) \
  MSL_BINARY(fmin, is_floating_point_v, __builtin_fminf(float(a), float(b))) \
  MSL_BINARY(fmax, is_floating_point_v, __builtin_fmaxf(float(a), float(b)))
MSL_MATHEMATICS
namespace fast { MSL_MATHEMATICS }
namespace precise { MSL_MATHEMATICS }

MSL_UNARY(isnan, bool, __builtin_isnan(x))
MSL_UNARY(isinf, bool, __builtin_isinf(x))
MSL_UNARY(isfinite, bool, __builtin_isfinite(x))
MSL_BINARY(copysign, is_floating_point_v, __builtin_copysignf(float(a), float(b)))
MSL_BINARY(min, is_arithmetic_v, b < a ? b : a)
MSL_BINARY(max, is_arithmetic_v, a < b ? b : a)
template <class A, class B, MSL_IF(is_arithmetic_v<A> && is_arithmetic_v<B> && !is_same_v<A, B>)>
inline constexpr auto min(A a, B b) { return min<decltype(a + b)>(a, b); }
template <class A, class B, MSL_IF(is_arithmetic_v<A> && is_arithmetic_v<B> && !is_same_v<A, B>)>
inline constexpr auto max(A a, B b) { return max<decltype(a + b)>(a, b); }
template <class T, MSL_IF(is_arithmetic_v<T>)> inline T abs(T a) { return a < T(0) ? T(-a) : a; }
template <class T, int N> inline vec<T, N> abs(const vec<T, N>& a) { vec<T, N> r; MSL_EACH r.v[i] = abs(a.v[i]); return r; }
template <class T, class L, class H> inline T clamp(T x, L low, H high) { return min(max(x, T(low)), T(high)); }
template <class T, MSL_IF(is_floating_point_v<T>)> inline T fma(T a, T b, T c) {
  return T(__builtin_fmaf(float(a), float(b), float(c)));
}
template <class T, int N> inline vec<T, N> fma(vec<T, N> a, vec<T, N> b, vec<T, N> c) {
  vec<T, N> r; MSL_EACH r.v[i] = fma(a.v[i], b.v[i], c.v[i]); return r;
}
template <class T> inline T select(T a, T b, bool c) { return c ? b : a; }
template <class T, int N> inline vec<T, N> select(vec<T, N> a, vec<T, N> b, vec<bool, N> c) {
  vec<T, N> r; MSL_EACH r.v[i] = c.v[i] ? b.v[i] : a.v[i]; return r;
}
template <class T, int N> inline T dot(const vec<T, N>& a, const vec<T, N>& b) {
  T sum = T(a.v[0] * b.v[0]);
  for (int i = 1; i < N; i++) sum = T(sum + a.v[i] * b.v[i]);
  return sum;
}

// ---- barriers and collectives ----

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4 };
inline constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(int(a) | int(b)); }
enum memory_order { memory_order_relaxed, memory_order_seq_cst };
inline void threadgroup_barrier(mem_flags flags, msl_site site = msl_site()) { msl_threadgroup_barrier(int(flags), site); }
inline void simdgroup_barrier(mem_flags flags, msl_site site = msl_site()) { msl_simdgroup_barrier(int(flags), site); }

template <class T> inline const T& msl_slot(const void* slots, unsigned lane) {
  return *(const T*)((const char*)slots + MSL_SLOT * lane);
}

// The lanes in `mask`, combined. Nobody says in which order a GPU adds: 0 pairs lanes 1, 2, 4, 8, 16 apart, 1 goes from lane
// to lane, 2 pairs lanes 16, 8, 4, 2, 1 apart.
template <class T, class F> MSL_UNWATCHED void msl_reduce(void* result, const char* slots, unsigned mask, F f) {
  T a[32];
  for (int i = 0; i < 32; i++) if (mask >> i & 1) a[i] = msl_slot<T>(slots, i);
  const unsigned order = msl_order();
  auto fold = [&](int i, int j) __attribute__((no_sanitize("thread"))) {  // a[i] = a[i] with a[j]
    if (!(mask >> j & 1)) return;
    a[i] = mask >> i & 1 ? f(a[i], a[j]) : a[j];
    mask |= 1u << i;
  };
  if (order == 1) for (int j = 1; j < 32; j++) fold(0, j);
  else for (int step = 0; step < 5; step++) {
    const int distance = order == 0 ? 1 << step : 16 >> step;
    if (order == 0) for (int i = 0; i < 32; i += 2 * distance) fold(i, i + distance);
    else for (int i = 0; i < distance; i++) fold(i, i + distance);
  }
  *(T*)result = a[0];
}
#define MSL_REDUCTION(name, ...) \
  template <class T> inline T name(T x, msl_site site = msl_site()) { \
    return *(const T*)msl_exchange(&x, sizeof x, #name, site, [](void* result, const char* slots, unsigned mask) { \
      msl_reduce<T>(result, slots, mask, [](T a, T b) -> T { return T(__VA_ARGS__); }); \
    }, nullptr); \
  }
MSL_REDUCTION(simd_sum, a + b) MSL_REDUCTION(simd_max, metal::max(a, b)) MSL_REDUCTION(simd_min, metal::min(a, b))
MSL_REDUCTION(simd_product, a * b) MSL_REDUCTION(simd_and, a & b) MSL_REDUCTION(simd_or, a | b) MSL_REDUCTION(simd_xor, a ^ b)

template <class T> inline T simd_prefix_inclusive_sum(T x, msl_site site = msl_site()) {
  unsigned mask;
  const void* slots = msl_exchange(&x, sizeof x, "simd_prefix_inclusive_sum", site, nullptr, &mask);
  T sum = T(0);
  for (unsigned i = 0; i <= msl_lane(); i++) if (mask >> i & 1) sum = T(sum + msl_slot<T>(slots, i));
  return sum;
}

// `from`: the lane to read, made of `lane` and the argument `n`. One that does not take part is a finding, its value NaN.
#define MSL_SHUFFLE(name, from) \
  template <class T> inline T name(T x, ushort n, msl_site site = msl_site()) { \
    unsigned mask; \
    const void* slots = msl_exchange(&x, sizeof x, #name, site, nullptr, &mask); \
    const unsigned lane = msl_lane(), source = from; \
    if (source < 32 && mask >> source & 1) return msl_slot<T>(slots, source); \
    msl_bad_lane(source, #name, site); \
    __builtin_memset(&x, 0xff, sizeof x); \
    return x; \
  }
MSL_SHUFFLE(simd_shuffle, n) MSL_SHUFFLE(simd_broadcast, n) MSL_SHUFFLE(simd_shuffle_xor, lane ^ n)
MSL_SHUFFLE(simd_shuffle_down, lane + n > 31 ? lane : lane + n) MSL_SHUFFLE(simd_shuffle_up, lane < n ? lane : lane - n)
template <class T> inline T simd_shuffle_and_fill_up(T x, T fill, ushort n, msl_site site = msl_site()) {
  const T below = simd_shuffle(fill, (msl_lane() - n) & 31, site), own = simd_shuffle_up(x, n, site);
  return msl_lane() < n ? below : own;
}

template <class T> inline T quad_sum(T x, msl_site site = msl_site()) {
  x = T(x + simd_shuffle_xor(x, 1, site));
  return T(x + simd_shuffle_xor(x, 2, site));
}

// ---- 8x8 matrices of a SIMD group, two elements a lane, laid out as Apple does ----

struct msl_place {
  unsigned row, column;
  msl_place(unsigned lane = msl_lane()) : row((lane >> 2 & 4) + (lane >> 1 & 3)), column((lane >> 2 & 2) * 2 + (lane & 1) * 2) {}
};
template <class T, int Rows, int Columns, class = void> struct simdgroup_matrix {
  static_assert(Rows == 8 && Columns == 8, "Metal has 8x8 only");
  vec<T, 2> elements;
  simdgroup_matrix() = default;
  explicit simdgroup_matrix(T diagonal) {
    const msl_place at;
    for (unsigned i = 0; i < 2; i++) elements.v[i] = at.row == at.column + i ? diagonal : T(0);
  }
  vec<T, 2>& thread_elements() { return elements; }
  const vec<T, 2>& thread_elements() const { return elements; }
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;
template <class T, int R, int C> inline simdgroup_matrix<T, R, C> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, R, C> m;
  m.elements = vec<T, 2>(value);
  return m;
}

template <class P> inline P* msl_element(P* matrix, ulong stride, ulong2 origin, bool transposed, unsigned i) {
  const msl_place at;
  const ulong row = transposed ? at.column + i : at.row, column = transposed ? at.row : at.column + i;
  return matrix + (origin.v[1] + row) * stride + origin.v[0] + column;
}
template <class T, class P>
inline void simdgroup_load(simdgroup_matrix<T, 8, 8>& m, const P* matrix, ulong stride = 8, ulong2 origin = ulong2(0),
                           bool transposed = false, msl_site site = msl_site()) {
  static_assert(is_same_v<T, __remove_cv(P)>, "simdgroup_load does not convert");
  msl_exchange(nullptr, 0, "simdgroup_load", site, nullptr, nullptr);
  for (unsigned i = 0; i < 2; i++) m.elements.v[i] = *msl_element(matrix, stride, origin, transposed, i);
}
template <class T, class P>
inline void simdgroup_store(const simdgroup_matrix<T, 8, 8>& m, P* matrix, ulong stride = 8, ulong2 origin = ulong2(0),
                            bool transposed = false, msl_site site = msl_site()) {
  static_assert(is_same_v<T, P>, "simdgroup_store does not convert");
  msl_exchange(nullptr, 0, "simdgroup_store", site, nullptr, nullptr);
  for (unsigned i = 0; i < 2; i++) *msl_element(matrix, stride, origin, transposed, i) = m.elements.v[i];
}
// d = a @ b + c, added up in float.
template <class D, class A, class B, class C>
inline void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8>& d, const simdgroup_matrix<A, 8, 8>& a,
                                          const simdgroup_matrix<B, 8, 8>& b, const simdgroup_matrix<C, 8, 8>& c,
                                          msl_site site = msl_site()) {
  struct Part { float a[2], b[2], c[2]; } part;
  for (int i = 0; i < 2; i++) part.a[i] = a.elements.v[i], part.b[i] = b.elements.v[i], part.c[i] = c.elements.v[i];
  auto multiply = [](void* result, const char* slots, unsigned) MSL_UNWATCHED {
    float a[8][8], b[8][8], (*sum)[8] = (float(*)[8])result;
    for (unsigned lane = 0; lane < 32; lane++) {
      const msl_place at(lane);
      const Part& part = msl_slot<Part>(slots, lane);
      for (int i = 0; i < 2; i++) {
        a[at.row][at.column + i] = part.a[i], b[at.row][at.column + i] = part.b[i], sum[at.row][at.column + i] = part.c[i];
      }
    }
    for (int i = 0; i < 8; i++) for (int k = 0; k < 8; k++) for (int j = 0; j < 8; j++) sum[i][j] += a[i][k] * b[k][j];
  };
  const float* sums = (const float*)msl_exchange(&part, sizeof part, "simdgroup_multiply", site, multiply, nullptr);
  const msl_place at;
  for (int i = 0; i < 2; i++) d.elements.v[i] = D(sums[at.row * 8 + at.column + i]);
}
// ---- atomics: threads take turns on one processor, so plain operations that the runtime is told of ----

template <class T> struct atomic { T value; };
template <class T> using _atomic = atomic<T>;
template <class T> MSL_UNWATCHED T atomic_load_explicit(const volatile atomic<T>* p, memory_order) {
  msl_atomic(p, sizeof(T), true, false);
  return p->value;
}
template <class T, class V> MSL_UNWATCHED void atomic_store_explicit(volatile atomic<T>* p, V x, memory_order) {
  msl_atomic(p, sizeof(T), false, true);
  p->value = T(x);
}
#define MSL_ATOMIC(name, ...) \
  template <class T, class V> MSL_UNWATCHED T atomic_##name##_explicit(volatile atomic<T>* p, V x, memory_order) { \
    msl_atomic(p, sizeof(T), true, true); \
    const T a = p->value, b = T(x); \
    p->value = T(__VA_ARGS__); \
    return a; \
  }
MSL_ATOMIC(exchange, b) MSL_ATOMIC(fetch_add, a + b) MSL_ATOMIC(fetch_sub, a - b) MSL_ATOMIC(fetch_and, a & b)
MSL_ATOMIC(fetch_or, a | b) MSL_ATOMIC(fetch_xor, a ^ b) MSL_ATOMIC(fetch_min, b < a ? b : a) MSL_ATOMIC(fetch_max, a < b ? b : a)
typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<float> atomic_float;

}  // namespace metal

using metal::atomic_float, metal::atomic_int, metal::atomic_uint;

// of MLX's complex.h, which overloads by address space
template <class T> struct complex_t {
  T real, imag;
  constexpr complex_t() : real(0), imag(0) {}
  constexpr complex_t(T r, T i) : real(r), imag(i) {}
  template <class U> constexpr complex_t(U x) : real(T(x)), imag(0) {}
};
typedef complex_t<float> complex64_t;
