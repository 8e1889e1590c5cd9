// First pass: attention of a block's rows over one chunk of keys, unnormed; the contract is in verify_attention.py.
// One threadgroup takes a chunk of a kv head. It stages TILE keys, then their values, in threadgroup memory, so each is read
// from the device once for all query heads and rows; each simdgroup works on its own PER of the HEADS / KV_HEADS * rows
// queries. A lane is a key while scores are made and a part of the head while values are added.
// What a row adds, and in which order, depends on the row's position only: keys it does not see are skipped, not masked.
// ---- body ----
constexpr int TILE = 32;  // a lane each
constexpr int QUADS = D / 4;
constexpr int LANE_QUADS = QUADS / 32;
constexpr int GROUP = HEADS / KV_HEADS;
constexpr int SIMDGROUPS = 8;
constexpr float SCALE = D == 256 ? 0.0625f : 0.08838834764831845f;  // D ** -0.5
using Quad = vec<T, 4>;

const int lane = thread_index_in_simdgroup;
const int simdgroup = simdgroup_index_in_threadgroup;
const int thread_index = simdgroup * 32 + lane;

const int rows = queries_shape[2];
const int capacity = keys_shape[2];
const int chunks = (capacity + CHUNK - 1) / CHUNK;
const int chunk = threadgroup_position_in_grid.z % chunks;
const int kv_head = threadgroup_position_in_grid.z / chunks;
const int start = chunk * CHUNK;
const int end = min(min(start + CHUNK, capacity), position[0] + rows);  // nobody sees a key from here on

const device Quad* key_rows = (const device Quad*)(keys + size_t(kv_head) * capacity * D);
const device Quad* value_rows = (const device Quad*)(values + size_t(kv_head) * capacity * D);

threadgroup Quad tile[TILE * QUADS];  // keys, then values; quad c of row r is at c ^ r, so that lanes meet in no bank

const device Quad* query[PER];
int visible[PER];  // keys up to here
uint tree[PER];    // of the block's own keys, those that are seen, a bit each
int partial[PER];  // its place in the output; -1: there is no such query
float best[PER];
float weight[PER];
float4 sum[PER][LANE_QUADS];
for (int i = 0; i < PER; i++) {
  const int index = simdgroup * PER + i;
  const int row = index / GROUP;
  const int head = kv_head * GROUP + index % GROUP;
  const bool real = row < rows;
  query[i] = (const device Quad*)(queries + (real ? (head * rows + row) * D : 0));
  visible[i] = real ? min(end, position[0] + row + 1) : 0;
  tree[i] = TREE && real ? seen[row] : 0;
  partial[i] = real ? (head * rows + row) * chunks + chunk : -1;
  best[i] = -INFINITY;
  weight[i] = 0.0f;
  for (int j = 0; j < LANE_QUADS; j++) {
    sum[i][j] = float4(0.0f);
  }
}

for (int at = start; at < end; at += TILE) {
  const int size = min(TILE, end - at);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int i = thread_index; i < size * QUADS; i += 32 * SIMDGROUPS) {
    const int r = i / QUADS;
    tile[r * QUADS + ((i % QUADS) ^ r)] = key_rows[size_t(at) * QUADS + i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float score[PER];
  for (int i = 0; i < PER; i++) {
    score[i] = 0.0f;
  }
  if (lane < size) {
    for (int c = 0; c < QUADS; c++) {
      const Quad k = tile[lane * QUADS + (c ^ lane)];
      for (int i = 0; i < PER; i++) {
        const Quad q = query[i][c];
        for (int e = 0; e < 4; e++) {
          score[i] = fma(float(q[e]), float(k[e]), score[i]);
        }
      }
    }
  }
  for (int i = 0; i < PER; i++) {
    const int own = at + lane - position[0];  // of the block
    const bool sees = at + lane < visible[i] && (!TREE || own < 0 || (tree[i] >> uint(own) & 1u) != 0);
    const float top = simd_max(sees ? score[i] : -INFINITY);
    if (TREE ? top > -INFINITY : at < visible[i]) {  // the same for the whole simdgroup
      const float now = max(best[i], top);
      const float shrink = exp((best[i] - now) * SCALE);
      score[i] = sees ? exp((score[i] - now) * SCALE) : 0.0f;
      weight[i] = fma(weight[i], shrink, simd_sum(score[i]));
      for (int j = 0; j < LANE_QUADS; j++) {
        sum[i][j] *= shrink;
      }
      best[i] = now;
    } else if (TREE) {
      score[i] = 0.0f;  // none of its values is added below
    }
  }

  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int i = thread_index; i < size * QUADS; i += 32 * SIMDGROUPS) {
    const int r = i / QUADS;
    tile[r * QUADS + ((i % QUADS) ^ r)] = value_rows[size_t(at) * QUADS + i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int r = 0; r < size; r++) {
    for (int j = 0; j < LANE_QUADS; j++) {
      const Quad v = tile[r * QUADS + ((lane + 32 * j) ^ r)];
      const float4 value = float4(float(v[0]), float(v[1]), float(v[2]), float(v[3]));
      for (int i = 0; i < PER; i++) {
        if (at + r < visible[i]) {
          sum[i][j] = fma(float4(simd_broadcast(score[i], ushort(r))), value, sum[i][j]);
        }
      }
    }
  }
}

for (int i = 0; i < PER; i++) {
  if (partial[i] >= 0) {
    device float4* to = (device float4*)(sums + size_t(partial[i]) * D);
    for (int j = 0; j < LANE_QUADS; j++) {
      to[lane + 32 * j] = sum[i][j];
    }
    if (lane == 0) {
      bests[partial[i]] = best[i];
      weights[partial[i]] = weight[i];
    }
  }
}
