// Fast form: y = x @ dequantise(w).T for ROWS rows by 8x8 matrices, transposed: 8 columns of y down, 8 rows across.
//
// A threadgroup makes TILES * 8 columns of y; its SPLIT SIMD groups take turns at the groups of K. Of an 8x8 matrix a lane
// has the elements (i, 2 * j) and (i, 2 * j + 1). In which order K is added up is free, so 32 neighbours of K are dealt out
// such that no lane needs what another one reads: column c of step e of 4 stands for k + 4 * c + e, and a lane's part of w
// in all four steps is 8 neighbours, whole words that nobody else reads; its part of x is 4 neighbours of two rows.

// Quantity `n` of the 8 in a lane's words.
template <int BITS>
inline float quantity(uint2 words, int n) {
  return BITS == 4 ? (words[0] >> (4 * n)) & 0xf : (words[n / 4] >> (n % 4 * 8)) & 0xff;
}

// ---- body ----
constexpr int TILES = 4;  // as many as lanes share a column of y: each reads the scales of one tile
constexpr int COLUMNS = TILES * 8;
constexpr int BANDS = (ROWS + 7) / 8;

const int K = x_shape[1];
const int N = w_shape[0];
const int lane = thread_index_in_simdgroup;
const int i = (lane >> 2 & 4) | (lane >> 1 & 3);
const int j = (lane >> 2 & 2) | (lane & 1);
const int first = threadgroup_position_in_grid.x * COLUMNS;

simdgroup_float8x8 sums[TILES][BANDS];
for (int tile = 0; tile < TILES; tile++) {
  for (int band = 0; band < BANDS; band++) {
    sums[tile][band] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
}

for (int group = simdgroup_index_in_threadgroup; group < K / GROUP; group += SPLIT) {
  float scale[TILES], bias[TILES];
  const int own = first + j * 8 + i;
  const float own_scale = own < N ? float(scales[size_t(own) * (K / GROUP) + group]) : 0.0f;
  const float own_bias = own < N ? float(biases[size_t(own) * (K / GROUP) + group]) : 0.0f;
  for (int tile = 0; tile < TILES; tile++) {
    const ushort reader = (lane & 0b10110) | (tile & 2) << 2 | (tile & 1);  // of the same i, with j = tile
    scale[tile] = simd_shuffle(own_scale, reader);
    bias[tile] = simd_shuffle(own_bias, reader);
  }

  for (int k = group * GROUP; k < (group + 1) * GROUP; k += 32) {
    uint2 words[TILES];
    for (int tile = 0; tile < TILES; tile++) {
      const int column = first + tile * 8 + i;
      const size_t word = (size_t(column) * K + k) * BITS / 32 + j * BITS / 4;
      words[tile] = column < N ? uint2(w[word], BITS == 4 ? 0 : w[word + 1]) : uint2(0);
    }
    float4 values[BANDS][2];
    for (int band = 0; band < BANDS; band++) {
      for (int side = 0; side < 2; side++) {
        const int row = min(band * 8 + j * 2 + side, ROWS - 1);  // rows past the end repeat the last one, unstored
        const size_t at = size_t(row) * K + k + i * 4;
        values[band][side] = float4(x[at], x[at + 1], x[at + 2], x[at + 3]);
      }
    }

#pragma clang loop unroll(full)
    for (int e = 0; e < 4; e++) {
      simdgroup_float8x8 rows[BANDS];
      for (int band = 0; band < BANDS; band++) {
        rows[band].thread_elements()[0] = values[band][0][e];
        rows[band].thread_elements()[1] = values[band][1][e];
      }
      for (int tile = 0; tile < TILES; tile++) {
        simdgroup_float8x8 weights;
        weights.thread_elements()[0] = scale[tile] * quantity<BITS>(words[tile], e) + bias[tile];
        weights.thread_elements()[1] = scale[tile] * quantity<BITS>(words[tile], e + 4) + bias[tile];
        for (int band = 0; band < BANDS; band++) {
          simdgroup_multiply_accumulate(sums[tile][band], weights, rows[band], sums[tile][band]);
        }
      }
    }
  }
}

threadgroup float parts[SPLIT][BANDS * 8][COLUMNS];
for (int tile = 0; tile < TILES; tile++) {
  for (int band = 0; band < BANDS; band++) {
    for (int side = 0; side < 2; side++) {
      parts[simdgroup_index_in_threadgroup][band * 8 + j * 2 + side][tile * 8 + i] =
          sums[tile][band].thread_elements()[side];
    }
  }
}
threadgroup_barrier(mem_flags::mem_threadgroup);
for (int at = thread_index_in_threadgroup; at < ROWS * COLUMNS; at += SPLIT * 32) {
  const int row = at / COLUMNS, column = at % COLUMNS;
  if (first + column < N) {
    float total = 0;
    for (int part = 0; part < SPLIT; part++) {
      total += parts[part][row][column];
    }
    y[size_t(row) * N + first + column] = T(total);
  }
}
