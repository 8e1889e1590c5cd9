// As MLX has it, in the arithmetic of T.
template <typename T>
T sigmoid(T x) {
    const T y = T(1) / (T(1) + metal::precise::exp(metal::abs(x)));
    return x < T(0) ? y : T(1) - y;
}

// log(1 + exp(x)), as MLX has it (logaddexp), in the arithmetic of T. Not with max and min: those lose a NaN.
template <typename T>
T softplus(T x) {
    const T high = x > T(0) ? x : T(0), low = x > T(0) ? T(0) : x;
    return T(high + log1p(metal::exp(T(low - high))));
}

// ---- body ----
// A SIMD group has one head of q, k or v of one row. It rounds to T wherever MLX's ops do, and adds in their order.
const uint lane = thread_position_in_grid.x, row = thread_position_in_grid.y, head = thread_position_in_grid.z;
const uint channels = conv_weight_shape[0];
constexpr uint Before = Taps - 1;
const uint Hv = A_log_shape[0], Dv = (channels - 2 * Hk * Dk) / Hv;
const bool is_value = head >= 2 * Hk;
const uint value_head = head - 2 * Hk;
const uint first = is_value ? 2 * Hk * Dk + value_head * Dv : head * Dk;
const uint width = is_value ? Dv : Dk;

// Which rows the convolution reads: its own last, those it follows before it. Places are those in `kept`.
uint places[Taps];
places[Before] = Before + row;
for (uint tap = Before; tap > 0; --tap) {
    const uint place = places[tap];
    places[tap - 1] = IsTree && place >= Before ? uint(int(Before) + parents[place - Before]) : place - 1;
}

T values[4 * Parts];  // a lane has 4 neighbours out of each 128 channels
float squares = 0;
for (int part = 0; part < Parts; ++part) {
    float square = 0;
    for (int i = 0; i < 4; ++i) {
        const uint of_head = 128 * part + 4 * lane + i;
        if (of_head >= width) continue;
        const uint channel = first + of_head;
        float sum = 0;
        for (uint tap = 0; tap < Taps; ++tap) {
            const uint at = places[tap];
            const T x = at < Before ? T(conv_rows[before[at] * channels + channel])
                                    : T(qkv[(at - Before) * qkv_shape[2] + QkvStart + channel]);
            if (tap == Before || row == 0) kept[at * channels + channel] = x;
            sum += float(x) * float(conv_weight[channel * Taps + tap]);
        }
        const T z = T(sum), x = z * sigmoid(z);
        values[4 * part + i] = x;
        square += float(x) * float(x);
    }
    squares += simd_sum(square);
}

const float scale = 1 / metal::precise::sqrt(float(Dk));
const float inverse = metal::precise::rsqrt(squares / Dk + 1e-6f / Dk);
for (int part = 0; part < Parts; ++part)
    for (int i = 0; i < 4; ++i) {
        const uint of_head = 128 * part + 4 * lane + i;
        if (of_head >= width) continue;
        const T x = values[4 * part + i];
        if (is_value) {
            v[(row * Hv + value_head) * Dv + of_head] = x;
        } else {
            const T normed = T(float(x) * inverse);
            if (head < Hk) q[(row * Hk + head) * Dk + of_head] = normed * T(1.0f / Dk);
            else k[(row * Hk + head - Hk) * Dk + of_head] = normed * T(scale);
        }
    }

if (is_value && lane == 0) {
    const uint at = row * Hv + value_head;
    const D rate = softplus(D(D(a[row * a_shape[2] + AStart + value_head]) + D(dt_bias[value_head])));
    g[at] = metal::precise::exp(-metal::precise::exp(float(A_log[value_head])) * float(rate));
    beta[at] = sigmoid(T(b[row * b_shape[2] + BStart + value_head]));
}
