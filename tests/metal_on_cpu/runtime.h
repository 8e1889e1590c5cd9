// What a compiled kernel asks of the machine it runs on (runtime.cpp).
#pragma once
#include <stddef.h>
#include <stdint.h>

// Where in the kernel's text a call stands: as a default argument it takes the caller's place.
struct msl_site {
  const char* file;
  unsigned line, column;
  constexpr msl_site(const char* f = __builtin_FILE(), unsigned l = __builtin_LINE(), unsigned c = __builtin_COLUMN())
      : file(f), line(l), column(c) {}
};

enum { MSL_SLOT = 64, MSL_RESULT = 256 };  // bytes that a lane can put into a collective; that a collective can give back
typedef void (*msl_combine)(void* result, const char* slots, unsigned mask);

struct msl_uint3 {
  uint32_t x, y, z;
};

// The attributes of one thread, by their Metal names.
struct msl_thread {
  msl_uint3 dispatch_threads_per_threadgroup, grid_origin, grid_size, thread_position_in_grid, thread_position_in_threadgroup,
      threadgroup_position_in_grid, threadgroups_per_grid, threads_per_grid, threads_per_threadgroup;
  uint32_t dispatch_quadgroups_per_threadgroup, dispatch_simdgroups_per_threadgroup, quadgroup_index_in_threadgroup,
      quadgroups_per_threadgroup, simdgroup_index_in_threadgroup, simdgroups_per_threadgroup, thread_execution_width,
      thread_index_in_quadgroup, thread_index_in_simdgroup, thread_index_in_threadgroup, threads_per_simdgroup;
};

extern "C" {
// The kernel, made by kernel.py.
void msl_entry(void** buffers, const msl_thread* thread);

// A collective: every lane puts in `size` bytes and waits for the others. Returns the lanes' slots, or what `combine` made
// of them; `mask` gets the lanes that took part.
const void* msl_exchange(const void* value, unsigned size, const char* what, msl_site site, msl_combine combine, unsigned* mask);
void msl_threadgroup_barrier(int flags, msl_site site);
void msl_simdgroup_barrier(int flags, msl_site site);
unsigned msl_lane();
unsigned msl_order();  // of additions in simd_sum, see metal.h
void msl_bad_lane(unsigned lane, const char* what, msl_site site);
void msl_atomic(const volatile void* at, unsigned size, bool reads, bool writes);
// Threadgroup memory of the declaration that owns `*key` (null at the start): the same for all threads of a dispatch.
void* msl_threadgroup(void** key, size_t size, msl_site site);
}
