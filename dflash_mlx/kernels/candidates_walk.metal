// Joins the best K of all slices (candidates.metal), then walks through them; the contract is in candidates.py.
// One threadgroup of K simdgroups: at first a simdgroup joins a row, then it scores one candidate of each row.

// The highest key of a simdgroup's N * 32 and its id, the lowest where keys are equal; it is taken out. As in candidates.metal.
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

inline float logit_of(uint key) {
  return key == 1 ? NAN : as_type<float>(key & 0x80000000u ? key & 0x7FFFFFFFu : ~key);
}

// The first of the lanes below `count` with the highest x; `count` - 1 where all are NaN.
inline uint first_best(float x, uint lane, uint count) {
  const float top = simd_max(lane < count ? x : -INFINITY);
  return min(simd_min(lane < count && x == top ? lane : 32u), count - 1);
}
// ---- body ----
const int lane = thread_index_in_simdgroup;
const int simdgroup = simdgroup_index_in_threadgroup;
const int rows = keys_shape[0];
const int found = keys_shape[1] * K;  // of a row, in all its slices

threadgroup uint best_ids[16 * K];
threadgroup float logits[16 * K];
for (int row = simdgroup; row < rows; row += K) {
  uint own_keys[FOUND];
  uint own_ids[FOUND];
  for (int j = 0; j < FOUND; j++) {
    const int i = j * 32 + lane;
    own_keys[j] = i < found ? keys[row * found + i] : 0;
    own_ids[j] = i < found ? ids[row * found + i] : 0;
  }
  for (int i = 0; i < K; i++) {
    const uint2 best = take_best<FOUND>(own_keys, own_ids);
    if (lane == 0) {
      best_ids[row * K + i] = best.y;
      logits[row * K + i] = logit_of(best.x);
      candidates[row * K + i] = best.y;
    }
  }
}
threadgroup_barrier(mem_flags::mem_threadgroup);

threadgroup float scores[2 * K];  // of a row and of the next: one barrier a row is enough
uint previous = anchor[0];
for (int row = 0; row < rows; row++) {
  const size_t successor = best_ids[row * K + simdgroup];
  float edge = 0.0f;
  for (int i = lane; i < RANK; i += 32) {
    const float code = float(predecessors[size_t(previous) * RANK + i]) * float(projected[row * RANK + i]);
    edge += code * float(successors[successor * RANK + i]);
  }
  edge = simd_sum(edge);
  if (lane == 0) {
    scores[row % 2 * K + simdgroup] = logits[row * K + simdgroup] + edge;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // every simdgroup chooses for itself, and they agree
  const float score = lane < K ? scores[row % 2 * K + lane] : -INFINITY;
  uint choice = first_best(score, lane, K);
  float chance = lane == int(choice) ? 1.0f : 0.0f;
  if (SAMPLED) {
    const float best = simd_max(score);
    const float weight = exp((score - best) / max(temperature[0], 1e-30f));
    chance = weight / simd_sum(weight);
    const size_t token = size_t(row) * luck_shape[1] + best_ids[row * K + min(lane, K - 1)];
    const float time = lane < K ? -log1p(-luck[token]) : 1.0f;
    choice = first_best(chance > 0.0f ? chance / time : -1.0f, lane, K);
  }
  previous = best_ids[row * K + choice];
  if (simdgroup == 0 && lane < K) {
    q[row * K + lane] = chance;
    if (lane == 0) {
      path[row] = previous;
    }
  }
}
