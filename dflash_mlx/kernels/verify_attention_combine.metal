// Second pass: joins the chunks of verify_attention.metal. One threadgroup makes one row of one head, a thread one element.
// ---- body ----
constexpr float SCALE = D == 256 ? 0.0625f : 0.08838834764831845f;  // D ** -0.5
const int element = thread_position_in_threadgroup.x;
const int row = threadgroup_position_in_grid.y;
const int head = threadgroup_position_in_grid.z;
const int heads = bests_shape[0];
const int rows = bests_shape[1];
const int chunks = bests_shape[2];
const int used = (position[0] + row) / CHUNK + 1;  // chunks with keys that this row sees

const int partial = (head * rows + row) * chunks;
float best = -INFINITY;
for (int c = 0; c < used; c++) {
  best = max(best, bests[partial + c]);
}
float sum = 0.0f;
float weight = 0.0f;
for (int c = 0; c < used; c++) {
  const float shrink = exp((bests[partial + c] - best) * SCALE);
  weight = fma(weights[partial + c], shrink, weight);
  sum = fma(sums[size_t(partial + c) * D + element], shrink, sum);
}
y[(row * heads + head) * D + element] = T(sum / weight);
