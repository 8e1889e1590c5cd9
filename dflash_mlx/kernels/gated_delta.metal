// One row of the state, Dk floats, lies in the registers of Lanes neighbouring lanes, Dk / Lanes in a run each.

// The sum of x * y over the row. The additions are those of mlx_lm.models.gated_delta, whatever Lanes is: 32 partial sums
// of neighbours, one product after the other, then pairs of them, pairs of pairs and so on, first within a lane.
template <int Dk, int Lanes>
float row_sum(thread const float* x, thread const float* y) {
    constexpr int Partials = 32 / Lanes, Run = Dk / 32;
    float sums[Partials];
    for (int p = 0; p < Partials; ++p) {
        sums[p] = 0;
        for (int i = p * Run; i < (p + 1) * Run; ++i) sums[p] += x[i] * y[i];
    }
    for (int distance = 1; distance < Partials; distance *= 2)
        for (int p = 0; p < Partials; p += 2 * distance) sums[p] += sums[p + distance];
    float sum = sums[0];
    for (ushort distance = 1; distance < Lanes; distance *= 2) sum += simd_shuffle_xor(sum, distance);
    return sum;
}

// The state after one more row. Replayed and new rows both go through here, so that both give the same bits.
template <int Dk, int Lanes>
void write_row(thread float* state, thread const float* k, float v, float g, float beta) {
    for (int i = 0; i < Dk / Lanes; ++i) state[i] = state[i] * g;
    const float delta = (v - row_sum<Dk, Lanes>(state, k)) * beta;
    for (int i = 0; i < Dk / Lanes; ++i) state[i] = state[i] + k[i] * delta;
}

// ---- body ----
constexpr int N = Dk / Lanes;
const uint Hk = q_shape[2], Hv = state_shape[1], Dv = state_shape[2];
const uint lane = thread_position_in_grid.x;
const uint row = thread_position_in_grid.y * (32 / Lanes) + lane / Lanes;  // of Dv
const uint head = thread_position_in_grid.z, key_head = head / (Hv / Hk);
const uint first = lane % Lanes * N, at = (head * Dv + row) * Dk + first;

float values[N], keys[N], queries[N], start[N];
for (int i = 0; i < N / 4; ++i) {
    const float4 four = ((const device float4*)(state + at))[i];
    for (int j = 0; j < 4; ++j) values[4 * i + j] = four[j];
}

// The path and no further: what lies behind it is stale and may be anything.
const int replayed = path[0];
for (int j = 0; j < replayed; ++j) {
    const int t = path[1 + j];
    for (int i = 0; i < N; ++i) keys[i] = last_k[(t * Hk + key_head) * Dk + first + i];
    const uint of = t * Hv + head;
    write_row<Dk, Lanes>(values, keys, last_v[of * Dv + row], last_g[of], last_beta[of]);
}

for (int i = 0; i < N / 4; ++i)
    ((device float4*)(committed + at))[i] = float4(values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3]);

if (IsTree)
    for (int i = 0; i < N; ++i) start[i] = values[i];

const int rows = q_shape[1];
for (int t = 0; t < rows; ++t) {
    if (IsTree && parents[t] != t - 1) {
        // From the committed state to the parent again, each time the next row on the way.
        for (int i = 0; i < N; ++i) values[i] = start[i];
        int above = -1;
        while (above != parents[t]) {
            int next = parents[t];
            while (parents[next] != above) next = parents[next];
            above = next;
            for (int i = 0; i < N; ++i) keys[i] = k[(next * Hk + key_head) * Dk + first + i];
            const uint of = next * Hv + head;
            write_row<Dk, Lanes>(values, keys, v[of * Dv + row], g[of], beta[of]);
        }
    }
    for (int i = 0; i < N; ++i) keys[i] = k[(t * Hk + key_head) * Dk + first + i];
    for (int i = 0; i < N; ++i) queries[i] = q[(t * Hk + key_head) * Dk + first + i];
    const uint of = t * Hv + head;
    write_row<Dk, Lanes>(values, keys, v[of * Dv + row], g[of], beta[of]);
    const float sum = row_sum<Dk, Lanes>(values, queries);
    if (lane % Lanes == 0) y[of * Dv + row] = T(sum);
}
