// Exact form: y = x @ dequantise(w).T for ROWS rows, each with the bits that MLX's one-row kernel (qmv_fast) gives it.
// Those bits come from which values of K a lane adds up, in which order; a lane here does the same for every row, but
// reads its words of w, and the SIMD group its scales and biases, once for all rows.
//
// A SIMD group makes OUTPUTS columns of y. In a step its lanes take VALUES neighbours of K each, STEP in all.

// Four neighbours of K out of a lane's two words. 4 bits stay where they stand in their 16: x is scaled down instead.
template <int BITS>
inline float4 quantities(uint2 words, int quad) {
  if (BITS == 4) {
    const uint part = words[quad / 2] >> (quad % 2 * 16);
    return float4(part & 0x000f, part & 0x00f0, part & 0x0f00, part & 0xf000);
  }
  const uint part = words[quad];
  return float4(part & 0xff, (part >> 8) & 0xff, (part >> 16) & 0xff, part >> 24);
}

// ---- body ----
constexpr int OUTPUTS = 4;
constexpr int VALUES = 64 / BITS;
constexpr int STEP = 32 * VALUES;
constexpr int TILE = ROWS < 4 ? ROWS : 4;  // rows that share an unpacked quad: more would not fit into registers

const int K = x_shape[1];
const int N = w_shape[0];
const int lane = thread_index_in_simdgroup;
const int first = thread_position_in_grid.x / 32 * OUTPUTS;

float result[ROWS][OUTPUTS] = {};
for (int k = 0; k < K; k += STEP) {
  uint2 words[OUTPUTS];
  float scale[OUTPUTS], bias[OUTPUTS];
  for (int o = 0; o < OUTPUTS; o++) {
    const size_t word = (size_t(first + o) * K + k) * BITS / 32 + lane * 2;
    words[o] = uint2(w[word], w[word + 1]);
    // a group spans several lanes: one reads for all
    const size_t group = (size_t(first + o) * K + k) / GROUP + lane;
    const bool reads = lane < STEP / GROUP;
    scale[o] = simd_shuffle(reads ? float(scales[group]) : 0.0f, lane * VALUES / GROUP);
    bias[o] = simd_shuffle(reads ? float(biases[group]) : 0.0f, lane * VALUES / GROUP);
  }

#pragma clang loop unroll(full)
  for (int tile = 0; tile < ROWS; tile += TILE) {
    float products[TILE][OUTPUTS] = {}, sum[TILE] = {};

#pragma clang loop unroll(full)
    for (int quad = 0; quad < VALUES / 4; quad++) {
      float4 q[OUTPUTS];
      for (int o = 0; o < OUTPUTS; o++) {
        q[o] = quantities<BITS>(words[o], quad);
      }

#pragma clang loop unroll(full)
      for (int r = 0; r < TILE && tile + r < ROWS; r++) {
        const size_t at = size_t(tile + r) * K + k + lane * VALUES + quad * 4;
        float4 values = float4(x[at], x[at + 1], x[at + 2], x[at + 3]);
        if (BITS == 4) {
          sum[r] += values.x + values.y + values.z + values.w;
          values = float4(values.x, values.y / 16.0f, values.z / 256.0f, values.w / 4096.0f);
          for (int o = 0; o < OUTPUTS; o++) {
            products[r][o] += (values.x * q[o].x + values.y * q[o].y + values.z * q[o].z + values.w * q[o].w);
          }
        } else {
          for (int i = 0; i < 4; i++) {
            sum[r] += values[i];
            for (int o = 0; o < OUTPUTS; o++) {
              products[r][o] += values[i] * q[o][i];
            }
          }
        }
      }
    }

#pragma clang loop unroll(full)
    for (int r = 0; r < TILE && tile + r < ROWS; r++) {
      for (int o = 0; o < OUTPUTS; o++) {
        result[tile + r][o] += scale[o] * products[r][o] + sum[r] * bias[o];
      }
    }
  }
}

#pragma clang loop unroll(full)
for (int r = 0; r < ROWS; r++) {
  for (int o = 0; o < OUTPUTS; o++) {
    const float total = simd_sum(result[r][o]);
    if (lane == 0) {
      y[size_t(r) * N + first + o] = T(total);
    }
  }
}
