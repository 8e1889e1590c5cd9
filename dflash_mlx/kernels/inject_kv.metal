// K and V rows in cache layout, from projected context rows and block rows; the contract is in inject_kv.py.
// One threadgroup makes TILE rows of one layer, all heads; a simdgroup makes one head of a row at a time.
// Norm weights and angles, which all heads share, are read and computed once per threadgroup.
// ---- body ----
constexpr int TILE = 8;
constexpr int HALF = D / 2;
constexpr int WIDTH = 2 * HEADS * D;  // of a layer's K and V in a projected row
constexpr int SIMDGROUPS = 8;

const int lane = thread_index_in_simdgroup;
const int simdgroup = simdgroup_index_in_threadgroup;
const int thread_index = simdgroup * 32 + lane;

const int layers = norms_shape[0];
const int context_rows = CONTEXT ? context_shape[1] : 0;
const int block_rows = BLOCK ? block_shape[1] : 0;
const int rows = context_rows + block_rows;
const int kept = clamp(int(count[0]), 0, context_rows);
const int live = kept + block_rows;

const int tiles = (rows + TILE - 1) / TILE;
const int place = threadgroup_position_in_grid.z / tiles;  // among the layers that are written
const int first = threadgroup_position_in_grid.z % tiles * TILE;
const int source_layer = layer[0] + place;

threadgroup float weights[D];
threadgroup float2 turns[TILE * HALF];  // cosine and sine
for (int i = thread_index; i < D; i += 32 * SIMDGROUPS) {
  weights[i] = float(norms[source_layer * D + i]);
}
for (int pair = thread_index; pair < HALF; pair += 32 * SIMDGROUPS) {
  const float inverse = 1.0f / frequencies[pair];
  for (int row = 0; row < TILE; row++) {
    const float angle = float(position[0] + first + row) * inverse;
    turns[row * HALF + pair] = float2(precise::cos(angle), precise::sin(angle));
  }
}
threadgroup_barrier(mem_flags::mem_threadgroup);

for (int item = simdgroup; item < TILE * HEADS; item += SIMDGROUPS) {
  const int row = first + item / HEADS;
  const int head = item % HEADS;
  if (row >= rows) {
    break;
  }
  const int number = (place * HEADS + head) * rows + row;
  const int to = number * D;
  if (lane == 0) {
    const int capacity = capacities[source_layer];
    slots[number] = head * capacity + (position[0] + row) % capacity;
  }
  if (row >= live) {  // a row that was not kept: whatever was computed for it must not matter
    for (int i = lane; i < D; i += 32) {
      keys[to + i] = T(0.0f);
      values[to + i] = T(0.0f);
    }
    continue;
  }
  const device T* from = row < kept ? context + (row * layers + source_layer) * WIDTH : block + (row - kept) * WIDTH;
  from += head * D;

  // lane l has the pairs l * PAIRS and after; the members of a pair are HALF apart
  constexpr int PAIRS = HALF / 32;
  float left[PAIRS];
  float right[PAIRS];
  float squares = 0.0f;
  for (int j = 0; j < PAIRS; j++) {
    left[j] = float(from[lane * PAIRS + j]);
    right[j] = float(from[lane * PAIRS + j + HALF]);
    squares += left[j] * left[j] + right[j] * right[j];
  }
  const float inverse = precise::rsqrt(simd_sum(squares) / D + eps[0]);
  for (int j = 0; j < PAIRS; j++) {
    const int pair = lane * PAIRS + j;
    // rounded where MLX's rms_norm and the multiplication by its weight round
    const float a = float(T(weights[pair] * float(T(left[j] * inverse))));
    const float b = float(T(weights[pair + HALF] * float(T(right[j] * inverse))));
    const float2 turn = turns[(row - first) * HALF + pair];
    keys[to + pair] = T(a * turn.x - b * turn.y);
    keys[to + pair + HALF] = T(a * turn.y + b * turn.x);
  }
  for (int j = 0; j < 2 * PAIRS; j++) {
    values[to + lane * 2 * PAIRS + j] = from[HEADS * D + lane * 2 * PAIRS + j];
  }
}
