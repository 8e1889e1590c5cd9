// The best K logits of every slice of the vocabulary; the contract is in candidates.py.
// One threadgroup takes a slice of a row: each simdgroup finds the best K of its part, the first one joins them.
// A logit is handled as a number that sorts as it does: `key`, 0 where there is none (any more).

// The highest key of a simdgroup's N * 32 and its id, the lowest where keys are equal; it is taken out.
template <int N>
uint2 take_best(thread uint* keys, thread const uint* ids) {
  uint key = 0;
  uint id = 0;
  for (int j = 0; j < N; j++) {  // ids rise with j where keys are equal
    if (keys[j] > key) {
      key = keys[j];
      id = ids[j];
    }
  }
  const uint top = simd_max(key);
  const uint winner = simd_min(key == top ? id : 0xFFFFFFFFu);
  for (int j = 0; j < N; j++) {
    keys[j] = keys[j] == top && ids[j] == winner ? 0 : keys[j];
  }
  return uint2(top, winner);
}

// NaN sorts below everything.
inline uint key_of(float x) {
  const uint bits = as_type<uint>(x == 0.0f ? 0.0f : x);  // -0 is 0
  return isnan(x) ? 1 : bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
// ---- body ----
constexpr int SIMDGROUPS = 8;
constexpr int PART = 32 * VALUES;  // of a simdgroup

const int lane = thread_index_in_simdgroup;
const int simdgroup = simdgroup_index_in_threadgroup;
const int vocab = logits_shape[2];
const int slices = (vocab + SIMDGROUPS * PART - 1) / (SIMDGROUPS * PART);
const int slice = threadgroup_position_in_grid.z % slices;
const int row = threadgroup_position_in_grid.z / slices;

uint own_keys[VALUES];
uint own_ids[VALUES];
for (int j = 0; j < VALUES; j++) {
  const int id = (slice * SIMDGROUPS + simdgroup) * PART + j * 32 + lane;
  own_keys[j] = id < vocab ? key_of(float(logits[size_t(row) * vocab + id])) : 0;
  own_ids[j] = id;
}

threadgroup uint found_keys[SIMDGROUPS * K];
threadgroup uint found_ids[SIMDGROUPS * K];
for (int i = 0; i < K; i++) {
  const uint2 best = take_best<VALUES>(own_keys, own_ids);
  if (lane == 0) {
    found_keys[simdgroup * K + i] = best.x;
    found_ids[simdgroup * K + i] = best.y;
  }
}
threadgroup_barrier(mem_flags::mem_threadgroup);
if (simdgroup > 0) {
  return;
}

constexpr int FOUND = (SIMDGROUPS * K + 31) / 32;  // a lane's
uint joined_keys[FOUND];
uint joined_ids[FOUND];
for (int j = 0; j < FOUND; j++) {
  const int i = j * 32 + lane;
  joined_keys[j] = i < SIMDGROUPS * K ? found_keys[i] : 0;
  joined_ids[j] = i < SIMDGROUPS * K ? found_ids[i] : 0;
}
for (int i = 0; i < K; i++) {
  const uint2 best = take_best<FOUND>(joined_keys, joined_ids);
  if (lane == 0) {
    keys[(row * slices + slice) * K + i] = best.x;
    ids[(row * slices + slice) * K + i] = best.y;
  }
}
