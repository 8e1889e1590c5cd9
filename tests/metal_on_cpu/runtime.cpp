// The machine: threads as fibers of one processor, SIMD groups in lockstep at collectives, barriers, watched memory.
// Linked with one compiled kernel to a program that reads a dispatch from stdin and writes report and outputs to stdout
// (run.py has the other end). Every load and store of the kernel calls in here: clang's -fsanitize=thread, with callbacks
// of our own, and -fsanitize=undefined's. No C++ library, which would take the compiler's first use a minute to build.
#include "runtime.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

typedef unsigned long long u64;
typedef long long i64;

// ---- fibers ----

const size_t STACK = 128 << 10, GUARD = 1 << 20;  // of a fiber, and below it
enum Space { DEVICE = 1, THREADGROUP = 2 };  // as bits of Metal's mem_flags, and to index epochs
enum State { READY, AT_COLLECTIVE, AT_BARRIER, DONE };

struct Place {  // in the kernel's text, or, with line 0, the address that an access returns to
  const void* at = nullptr;
  unsigned line = 0, column = 0;
  Place(const void* pc) : at(pc) {}
  Place(msl_site site) : at(site.file), line(site.line), column(site.column) {}
  bool operator==(const Place& o) const { return at == o.at && line == o.line && column == o.column; }
};
const Place NOWHERE = nullptr;

struct Fiber {
  void* sp;
  char* stack;
  State state;
  Place place = nullptr;  // where it waits, for what, with what
  const char* what;
  int flags;
  msl_combine combine;
  unsigned mask;       // the lanes that met there
  const void* result;  // what they made
  msl_thread thread;
};

struct SimdGroup {
  alignas(64) char slots[2][32 * MSL_SLOT];  // by turns: a fast lane writes to the next while a slow one still reads
  alignas(64) char result[2][MSL_RESULT];
  int turn;
  uint32_t epoch[3];  // by Space: simdgroup_barriers so far that order it
};

Fiber fibers[1024];
SimdGroup simd_groups[32];
Fiber* current;  // null: the scheduler runs
void* scheduler_sp;
void** kernel_buffers;
unsigned thread_count, simd_count;
uint32_t group_number;    // of the threadgroup that runs, from 1
uint32_t group_epoch[3];  // as SimdGroup::epoch, for threadgroup_barriers

// Saves the callee-saved registers on the stack and its pointer to *save; goes on where `to` was saved.
#if defined(__x86_64__)
__attribute__((naked)) void switch_stack(void** save, void* to) {
  asm volatile(
      "pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
      "movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
      "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret");
}
const int SAVED = 8, ENTRY = 6;  // words on a fresh stack, and the one to return to
#elif defined(__aarch64__)
__attribute__((naked)) void switch_stack(void** save, void* to) {
  asm volatile(
      "sub sp, sp, #160\n stp x19, x20, [sp]\n stp x21, x22, [sp, #16]\n stp x23, x24, [sp, #32]\n"
      "stp x25, x26, [sp, #48]\n stp x27, x28, [sp, #64]\n stp x29, x30, [sp, #80]\n stp d8, d9, [sp, #96]\n"
      "stp d10, d11, [sp, #112]\n stp d12, d13, [sp, #128]\n stp d14, d15, [sp, #144]\n"
      "mov x9, sp\n str x9, [x0]\n mov sp, x1\n"
      "ldp x19, x20, [sp]\n ldp x21, x22, [sp, #16]\n ldp x23, x24, [sp, #32]\n ldp x25, x26, [sp, #48]\n"
      "ldp x27, x28, [sp, #64]\n ldp x29, x30, [sp, #80]\n ldp d8, d9, [sp, #96]\n ldp d10, d11, [sp, #112]\n"
      "ldp d12, d13, [sp, #128]\n ldp d14, d15, [sp, #144]\n add sp, sp, #160\n ret");
}
const int SAVED = 20, ENTRY = 11;
#else
#error "fibers need their own lines for this processor"
#endif

void yield() { switch_stack(&current->sp, scheduler_sp); }

void resume(Fiber& fiber) {
  current = &fiber;
  switch_stack(&scheduler_sp, fiber.sp);
  current = nullptr;
}

void fiber_main() {
  msl_entry(kernel_buffers, &current->thread);
  current->state = DONE;
  yield();
}

void start(Fiber& fiber) {
  if (!fiber.stack) {
    char* base = (char*)mmap(nullptr, STACK + GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED || mprotect(base + GUARD, STACK, PROT_READ | PROT_WRITE)) abort();
    fiber.stack = base + GUARD;
  }
  void** sp = (void**)(fiber.stack + STACK - 64) - SAVED;
  memset(sp, 0, SAVED * sizeof *sp);
  sp[ENTRY] = (void*)fiber_main;
  fiber.sp = sp;
  fiber.state = READY;
}

// ---- findings ----

struct Finding {
  const char* kind;
  Place place;
  u64 count;
  char detail[200];
};
Finding* findings[256];
unsigned finding_count;

// One finding a kind and place; the first time tells the details.
__attribute__((format(printf, 3, 4))) void find(const char* kind, Place place, const char* format, ...) {
  for (unsigned i = 0; i < finding_count; i++) {
    if (findings[i]->kind == kind && findings[i]->place == place) return void(findings[i]->count++);
  }
  if (finding_count == sizeof findings / sizeof *findings) return;
  Finding& f = *(findings[finding_count++] = (Finding*)malloc(sizeof(Finding)));
  f.kind = kind, f.place = place, f.count = 1;
  va_list values;
  va_start(values, format);
  const unsigned n = vsnprintf(f.detail, sizeof f.detail, format, values);
  va_end(values);
  if (!current || n >= sizeof f.detail) return;
  const msl_uint3 t = current->thread.thread_position_in_threadgroup, g = current->thread.threadgroup_position_in_grid;
  snprintf(f.detail + n, sizeof f.detail - n, ", by thread (%u, %u, %u) of threadgroup (%u, %u, %u)", t.x, t.y, t.z, g.x, g.y,
           g.z);
}

// ---- memory ----

struct Stamp {
  uint32_t group, thread, epoch, simd_epoch;  // group 0: never
};
struct Cell {  // what was last done to one element
  Stamp writer, readers[3];
  bool allocated, written, atomic;
};
struct Region {
  char* base;
  u64 size, element, read, written, unique, lines;
  bool output, initialised;
  Space space;
  Cell* cells;     // one an element, of outputs and threadgroup memory
  bool* touched;   // one a byte
  uint32_t* line;  // one each 128 bytes: the last threadgroup there
};
// Each region in the middle of 4 GB of its own, SLACK accessible on both sides and nothing beyond.
const u64 PAGE = 16 << 10, SPAN = 1ull << 32, SLACK = 64 << 10, THREADGROUP_LIMIT = 256 << 10, REDZONE = 256;
const unsigned MAX_REGIONS = 64;
Region regions[MAX_REGIONS];  // 0: threadgroup memory
unsigned region_count = 1;
char* arena;
bool checks;
u64 threadgroup_used, threadgroup_bytes, simd_order;
u64 barriers, simd_barriers, collectives;

void make_region(Region& r, unsigned index) {
  const u64 size = (r.size + PAGE - 1) / PAGE * PAGE + 2 * SLACK;
  char* start = arena + index * SPAN + SPAN / 2;
  if (mprotect(start, size, PROT_READ | PROT_WRITE)) abort();
  memset(start, 0xff, size);
  r.base = start + SLACK;
  if (!checks) return;
  if (r.output || r.space == THREADGROUP) r.cells = (Cell*)calloc(r.size / r.element + 1, sizeof(Cell));
  r.touched = (bool*)calloc(r.size + 1, 1);
  r.line = (uint32_t*)calloc(r.size / 128 + 1, sizeof(uint32_t));
}

// How an earlier access of another thread can meet this one: null if something orders them.
const char* unordered(const Stamp& other, int space) {
  const unsigned thread = current->thread.thread_index_in_threadgroup;
  if (!other.group) return nullptr;
  if (other.group != group_number) return space == DEVICE ? "race between threadgroups" : nullptr;
  if (other.thread == thread || other.epoch != group_epoch[space]) return nullptr;
  if (other.thread / 32 != thread / 32) return "race between SIMD groups";
  return other.simd_epoch == simd_groups[thread / 32].epoch[space] ? "race within a SIMD group" : nullptr;
}

bool same_simd_group(const Stamp& a, const Stamp& b) { return a.group == b.group && a.thread / 32 == b.thread / 32; }

// Which reader to forget for `now`: itself, one that is already ordered; else the third, or the second if so two SIMD groups
// are remembered. The first and one of another SIMD group find every race with a later write.
unsigned reader_slot(const Stamp* readers, const Stamp& now, int space) {
  for (unsigned i = 0; i < 3; i++) if (readers[i].group == now.group && readers[i].thread == now.thread) return i;
  for (unsigned i = 0; i < 3; i++) if (!unordered(readers[i], space)) return i;
  return same_simd_group(readers[0], readers[1]) && !same_simd_group(readers[0], now) ? 1 : 2;
}

// Watches one element.
void touch(Region& r, u64 element, bool writes, bool atomic, Place place) {
  Cell& cell = r.cells[element];
  const bool shared = r.space == THREADGROUP;
  const char* name = shared ? "threadgroup memory" : "output";
  const unsigned number = &r - regions;
  const u64 byte = element * r.element;
  if (shared && !cell.allocated) {
    return find(writes ? "out-of-bounds write" : "out-of-bounds read", place, "of threadgroup memory, byte %llu", byte);
  }
  if (!writes && !(shared ? cell.writer.group == group_number : cell.written || r.initialised)) {
    find("uninitialised read", place, "of %s %u, byte %llu", name, number, byte);
  }
  const char *race = atomic && cell.atomic ? nullptr : unordered(cell.writer, r.space), *order = writes ? "write" : "read";
  const char* earlier = "write";
  unsigned other = cell.writer.thread;
  for (const Stamp& reader : cell.readers) {
    if (!race && writes && (race = unordered(reader, r.space))) earlier = "read", other = reader.thread;
  }
  if (race) find(race, place, "%s after %s of %s %u, byte %llu, with thread %u", order, earlier, name, number, byte, other);
  const unsigned thread = current->thread.thread_index_in_threadgroup;
  const Stamp now = {group_number, thread, group_epoch[r.space], simd_groups[thread / 32].epoch[r.space]};
  if (writes) cell.writer = now, cell.written = true, cell.atomic = atomic;
  else if (!atomic) cell.readers[reader_slot(cell.readers, now, r.space)] = now;
}

void access(const volatile void* address, unsigned size, bool writes, bool atomic, Place place) {
  if (!current || !checks) return;
  char* at = (char*)address;
  if (at >= current->stack && at < current->stack + STACK) return;
  const u64 index = u64(at - arena) / SPAN;
  if (index >= MAX_REGIONS) {  // reads: constants and attributes
    if (writes) find("out-of-bounds write", place, "of %u bytes, into nobody's memory", size);
    return;
  }
  Region& r = regions[index];
  const unsigned number = index;
  const i64 offset = at - r.base, last = offset + size - 1;
  if (number >= region_count || offset < 0 || u64(last) >= r.size) {
    return find(writes ? "out-of-bounds write" : "out-of-bounds read", place,
                "of %u bytes at byte %lld of buffer %u, which has %llu", size, offset, number, r.size);
  }
  if (writes && r.space == DEVICE && !r.output) find("write to an input", place, "buffer %u, byte %lld", number, offset);
  (writes ? r.written : r.read) += size;
  for (i64 i = offset; i <= last; i++) r.unique += !r.touched[i], r.touched[i] = true;
  for (i64 i = offset / 128; i <= last / 128; i++) r.lines += r.line[i] != group_number, r.line[i] = group_number;
  if (r.cells) for (u64 i = offset / r.element; i <= last / r.element; i++) touch(r, i, writes, atomic, place);
}

void copy_access(const void* address, size_t size, bool writes, Place place) {
  for (size_t i = 0; i < size; i += 16) access((const char*)address + i, size - i < 16 ? size - i : 16, writes, false, place);
}

// ---- the report ----

struct Line {  // made by build.py out of the assembler's text: the call that returns to `pc` stands at `place`
  const void* pc;
  char place[56];
};
#ifdef __APPLE__
extern "C" const Line first_line __asm("section$start$__DATA$msl_lines");
extern "C" const Line last_line __asm("section$end$__DATA$msl_lines");
#else
extern "C" const Line first_line __asm("__start_msl_lines");
extern "C" const Line last_line __asm("__stop_msl_lines");
#endif

void report() {
  if (threadgroup_bytes > 32768) find("threadgroup memory", NOWHERE, "%llu bytes, 32768 are there", threadgroup_bytes);
  for (unsigned i = 1; i < region_count; i++) {
    Region& r = regions[i];
    printf("buffer %llu %llu %llu %llu\n", r.read, r.written, r.unique, r.lines * 128);
    const u64 elements = checks && r.output && !r.initialised ? r.size / r.element : 0;
    u64 holes = 0, first = 0;
    for (u64 e = elements; e-- > 0;) if (!r.cells[e].written) holes++, first = e;
    if (!holes) continue;
    find("unwritten output", msl_site(nullptr, i), "buffer %u: %llu of %llu elements, from %llu", i, holes, elements, first);
  }
  for (unsigned i = 0; i < finding_count; i++) {
    const Finding& f = *findings[i];
    char place[64] = "?";
    if (f.place.at && f.place.line) snprintf(place, sizeof place, "%s:%u", (const char*)f.place.at, f.place.line);
    for (const Line* l = &first_line; !f.place.line && l < &last_line; l++) {
      if (l->pc == f.place.at) snprintf(place, sizeof place, "%s", l->place);
    }
    printf("finding %llu\t%s\t%s\t%s\n", f.count, f.kind, place, f.detail);
  }
  printf("counts %llu %llu %llu %llu\noutputs\n", barriers, simd_barriers, collectives, threadgroup_bytes);
  for (unsigned i = 1; i < region_count; i++) if (regions[i].output) fwrite(regions[i].base, 1, regions[i].size, stdout);
  fflush(stdout);
}

[[noreturn]] void finish() {
  current = nullptr;
  report();
  _exit(0);
}

// The dispatch left its memory further than SLACK.
void fault(int, siginfo_t* info, void*) {
  if (!current) _exit(3);
  char* at = (char*)info->si_addr;
  const u64 index = u64(at - arena) / SPAN;
  if (at < current->stack && at >= current->stack - GUARD) {
    find("stack overflow", NOWHERE, "more than %u kB of variables", unsigned(STACK >> 10));
  } else if (index < MAX_REGIONS) {
    const i64 offset = at - regions[index].base;
    find("out-of-bounds access", NOWHERE, "the dispatch stopped at byte %lld of buffer %u", offset, unsigned(index));
  } else {
    find("out-of-bounds access", NOWHERE, "the dispatch stopped at address %p", (void*)at);
  }
  finish();
}

// ---- the scheduler ----

uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

// The lanes of a SIMD group that wait at the place of the first waiting one go on together. Those that have ended are out of
// it, as on a GPU; any others should be there too.
void meet(SimdGroup& group, Fiber* lanes, unsigned count) {
  Fiber* first = nullptr;
  unsigned mask = 0, ended = 0;
  for (unsigned i = 0; i < count; i++) {
    Fiber& f = lanes[i];
    if (f.state == DONE) ended |= 1u << i;
    if (f.state == AT_COLLECTIVE && !first) first = &f;
    if (f.state == AT_COLLECTIVE && f.place == first->place && f.what == first->what) mask |= 1u << i;
  }
  if ((mask | ended) != (count == 32 ? ~0u : (1u << count) - 1)) {
    current = first;
    find("divergent collective", first->place, "%s with lanes %08x only", first->what, mask);
    current = nullptr;
  }
  const void* result = group.slots[group.turn];
  if (first->combine) {
    first->combine(group.result[group.turn], group.slots[group.turn], mask);
    result = group.result[group.turn];
  }
  if (first->flags >= 0) {
    simd_barriers++;
    for (int space = 1; space <= 2; space++) group.epoch[space] += (first->flags & space) != 0;
  } else {
    collectives++;
  }
  for (unsigned i = 0; i < count; i++) {
    if (mask >> i & 1) lanes[i].state = READY, lanes[i].mask = mask, lanes[i].result = result;
  }
  group.turn ^= 1;
}

void run_simd_group(unsigned index, bool reverse) {
  Fiber* lanes = fibers + index * 32;
  const unsigned count = smaller(thread_count - index * 32, 32);
  for (;;) {
    bool waiting = false;
    for (unsigned i = 0; i < count; i++) {
      Fiber& f = lanes[reverse ? count - 1 - i : i];
      if (f.state == READY) resume(f);
    }
    for (unsigned i = 0; i < count; i++) waiting |= lanes[i].state == AT_COLLECTIVE;
    if (!waiting) return;
    meet(simd_groups[index], lanes, count);
  }
}

void run_threadgroup(bool reverse) {
  for (;;) {
    for (unsigned i = 0; i < simd_count; i++) run_simd_group(reverse ? simd_count - 1 - i : i, reverse);
    Fiber* first = nullptr;
    unsigned waiting = 0, elsewhere = 0;
    for (unsigned i = 0; i < thread_count; i++) {
      if (fibers[i].state != AT_BARRIER) continue;
      if (!first) first = &fibers[i];
      waiting++;
      elsewhere += !(fibers[i].place == first->place);
    }
    if (!waiting) return;
    current = first;
    if (elsewhere) find("divergent barrier", first->place, "%u of %u threads wait at another one", elsewhere, thread_count);
    if (waiting < thread_count) find("divergent barrier", first->place, "only %u of %u threads get here", waiting, thread_count);
    current = nullptr;
    barriers++;
    for (int space = 1; space <= 2; space++) group_epoch[space] += (first->flags & space) != 0;
    for (unsigned i = 0; i < thread_count; i++) if (fibers[i].state == AT_BARRIER) fibers[i].state = READY;
  }
}

void dispatch(msl_uint3 grid, msl_uint3 full, bool reverse) {
  const msl_uint3 groups = {(grid.x + full.x - 1) / full.x, (grid.y + full.y - 1) / full.y, (grid.z + full.z - 1) / full.z};
  for (uint32_t z = 0; z < groups.z; z++) for (uint32_t y = 0; y < groups.y; y++) for (uint32_t x = 0; x < groups.x; x++) {
    const msl_uint3 first = {x * full.x, y * full.y, z * full.z};
    const msl_uint3 rest = {grid.x - first.x, grid.y - first.y, grid.z - first.z};
    const msl_uint3 size = {smaller(full.x, rest.x), smaller(full.y, rest.y), smaller(full.z, rest.z)};
    const uint32_t all = full.x * full.y * full.z;
    thread_count = size.x * size.y * size.z;
    simd_count = (thread_count + 31) / 32;
    group_number++;
    memset(regions[0].base, 0xff, threadgroup_used);
    memset(group_epoch, 0, sizeof group_epoch);
    for (unsigned i = 0; i < simd_count; i++) memset(simd_groups[i].epoch, 0, sizeof simd_groups[i].epoch);
    for (uint32_t i = 0; i < thread_count; i++) {
      msl_thread& t = fibers[i].thread;
      const msl_uint3 in = {i % size.x, i / size.x % size.y, i / size.x / size.y};
      t.dispatch_threads_per_threadgroup = full, t.threads_per_threadgroup = size, t.threadgroups_per_grid = groups;
      t.grid_origin = {0, 0, 0}, t.grid_size = t.threads_per_grid = grid;
      t.thread_position_in_threadgroup = in, t.threadgroup_position_in_grid = {x, y, z};
      t.thread_position_in_grid = {first.x + in.x, first.y + in.y, first.z + in.z};
      t.dispatch_quadgroups_per_threadgroup = (all + 3) / 4, t.dispatch_simdgroups_per_threadgroup = (all + 31) / 32;
      t.quadgroups_per_threadgroup = (thread_count + 3) / 4, t.simdgroups_per_threadgroup = simd_count;
      t.thread_execution_width = t.threads_per_simdgroup = 32;
      t.quadgroup_index_in_threadgroup = i / 4, t.simdgroup_index_in_threadgroup = i / 32, t.thread_index_in_threadgroup = i;
      t.thread_index_in_quadgroup = i % 4, t.thread_index_in_simdgroup = i % 32;
      start(fibers[i]);
    }
    run_threadgroup(reverse);
  }
}

u64 word() {
  u64 w;
  if (fread(&w, sizeof w, 1, stdin) != 1) _exit(2);
  return w;
}

}  // namespace

// ---- what kernels call ----

extern "C" {

const void* msl_exchange(const void* value, unsigned size, const char* what, msl_site site, msl_combine combine, unsigned* mask) {
  Fiber* f = current;
  SimdGroup& group = simd_groups[f->thread.simdgroup_index_in_threadgroup];
  if (size > MSL_SLOT) abort();
  if (size) memcpy(group.slots[group.turn] + MSL_SLOT * f->thread.thread_index_in_simdgroup, value, size);
  f->state = AT_COLLECTIVE, f->place = site, f->what = what, f->combine = combine, f->flags = -1;
  yield();
  if (mask) *mask = f->mask;
  return f->result;
}
void msl_simdgroup_barrier(int flags, msl_site site) {
  current->state = AT_COLLECTIVE, current->place = site, current->what = "simdgroup_barrier", current->combine = nullptr;
  current->flags = flags;
  yield();
}
void msl_threadgroup_barrier(int flags, msl_site site) {
  current->state = AT_BARRIER, current->place = site, current->flags = flags;
  yield();
}
unsigned msl_lane() { return current->thread.thread_index_in_simdgroup; }
unsigned msl_order() { return simd_order; }
void msl_bad_lane(unsigned lane, const char* what, msl_site site) {
  find("bad lane", site, "%s reads lane %u, which is not there", what, lane);
}
void* msl_threadgroup(void** key, size_t size, msl_site site) {
  if (*key) return *key;
  if (threadgroup_used + size + REDZONE > THREADGROUP_LIMIT) {
    find("threadgroup memory", site, "%llu bytes more than the harness has", (u64)size);
    finish();
  }
  Region& r = regions[0];
  *key = r.base + threadgroup_used;
  for (size_t i = 0; checks && i < size; i++) r.cells[threadgroup_used + i].allocated = true;
  threadgroup_bytes = (threadgroup_bytes + 15) / 16 * 16 + size;
  threadgroup_used += (size + REDZONE + 15) / 16 * 16;
  return *key;
}

#define PC __builtin_return_address(0)
void msl_atomic(const volatile void* at, unsigned size, bool reads, bool writes) {
  if (reads) access(at, size, false, true, PC);
  if (writes) access(at, size, true, true, PC);
}

// clang's -fsanitize=thread
#define READ(n, name) void __tsan_##name##n(void* at) { access(at, n, false, false, PC); }
#define WRITE(n, name) void __tsan_##name##n(void* at) { access(at, n, true, false, PC); }
#define BOTH(n, name) void __tsan_##name##n(void* at) { access(at, n, false, false, PC), access(at, n, true, false, PC); }
#define ACCESSES(n) \
  READ(n, read) READ(n, unaligned_read) READ(n, volatile_read) READ(n, unaligned_volatile_read) \
  WRITE(n, write) WRITE(n, unaligned_write) WRITE(n, volatile_write) WRITE(n, unaligned_volatile_write) \
  BOTH(n, read_write) BOTH(n, unaligned_read_write)
ACCESSES(1) ACCESSES(2) ACCESSES(4) ACCESSES(8) ACCESSES(16)
#define COPY(name) \
  void* __tsan_##name(void* to, const void* from, size_t n) { \
    copy_access(from, n, false, PC), copy_access(to, n, true, PC); \
    return name(to, from, n); \
  }
COPY(memcpy) COPY(memmove)
void __tsan_init() {}
void* __tsan_memset(void* to, int value, size_t n) {
  copy_access(to, n, true, PC);
  return memset(to, value, n);
}

// clang's -fsanitize=undefined: the dispatch ends here. Every handler's first argument begins with the place.
#define UNDEFINED(name, kind) \
  [[noreturn]] void __ubsan_handle_##name##_abort(msl_site* place) { \
    find(kind, *place, "undefined behaviour, the dispatch stopped"); \
    finish(); \
  }
UNDEFINED(type_mismatch_v1, "misaligned") UNDEFINED(out_of_bounds, "index out of its array")
UNDEFINED(shift_out_of_bounds, "shift by too much") UNDEFINED(divrem_overflow, "division by zero")
UNDEFINED(add_overflow, "integer overflow") UNDEFINED(sub_overflow, "integer overflow")
UNDEFINED(mul_overflow, "integer overflow") UNDEFINED(negate_overflow, "integer overflow")

// older libgccs have no conversion to bfloat16
__attribute__((weak)) __bf16 __truncsfbf2(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  const uint16_t rounded = value != value ? (bits >> 16) | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  __bf16 result;
  memcpy(&result, &rounded, 2);
  return result;
}

}  // extern "C"

int main() {
  checks = word(), simd_order = word();
  const bool reverse = word();
  msl_uint3 grid, threadgroup;
  grid.x = word(), grid.y = word(), grid.z = word(), threadgroup.x = word(), threadgroup.y = word(), threadgroup.z = word();
  const unsigned buffers = word();
  if (buffers >= MAX_REGIONS) return 2;
  region_count = buffers + 1;
  arena = (char*)mmap(nullptr, MAX_REGIONS * SPAN, PROT_NONE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED) return 4;
  regions[0].size = THREADGROUP_LIMIT, regions[0].element = 1, regions[0].space = THREADGROUP;
  make_region(regions[0], 0);
  static void* pointers[MAX_REGIONS];
  kernel_buffers = pointers;
  for (unsigned i = 1; i <= buffers; i++) {  // size, element's size, is an output, has data; then the data
    Region& r = regions[i];
    r.size = word(), r.element = word(), r.output = word(), r.initialised = word(), r.space = DEVICE;
    make_region(r, i);
    pointers[i - 1] = r.base;
    if (r.initialised && r.size && fread(r.base, 1, r.size, stdin) != r.size) return 2;
  }
  stack_t stack = {};  // a fiber's own may be what overflowed
  stack.ss_sp = malloc(1 << 16), stack.ss_size = 1 << 16;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = fault, action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr), sigaction(SIGBUS, &action, nullptr);
  dispatch(grid, threadgroup, reverse);
  report();
}
