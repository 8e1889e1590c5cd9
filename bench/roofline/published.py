"""What others published: memory bandwidths of machines, and times to hold the projection against."""

from typing import Literal, NamedTuple


class Machine(NamedTuple):
    """bandwidth: of the memory, bytes a second, as published; of chips that come with several, the highest.

    kernels: whose costs MLX's quantised matmul has there, by name in `projection.COST_OF_ROWS`.
    """

    name: str
    bandwidth: float
    kernels: Literal["M1, M2", "M3 and newer"]
    source: str


_GB = 1e9
_OLD: Literal["M1, M2"] = "M1, M2"
_NEW: Literal["M3 and newer"] = "M3 and newer"
_NEWS = "https://www.apple.com/newsroom/"
_SPECS = "https://support.apple.com/en-us/"
_M1 = _NEWS + "2021/10/introducing-m1-pro-and-m1-max-the-most-powerful-chips-apple-has-ever-built/"
_M1_ULTRA = _NEWS + "2022/03/apple-unveils-m1-ultra-the-worlds-most-powerful-chip-for-a-personal-computer/"
_M2 = _NEWS + "2022/06/apple-unveils-m2-with-breakthrough-performance-and-capabilities/"
_M2_PRO = _NEWS + "2023/01/apple-unveils-m2-pro-and-m2-max-next-generation-chips-for-next-level-workflows/"
_M2_ULTRA = _NEWS + "2023/06/apple-introduces-m2-ultra/"
_M3 = _SPECS + "117735"
_M3_PRO = _SPECS + "117736"
_M3_ULTRA = _SPECS + "122211"
_M4 = _NEWS + "2024/10/apple-introduces-m4-pro-and-m4-max/"  # of all three
_M5 = _NEWS + "2025/10/apple-unleashes-m5-the-next-big-leap-in-ai-performance-for-apple-silicon/"
_M5_PRO = _NEWS + "2026/03/apple-debuts-m5-pro-and-m5-max-to-supercharge-the-most-demanding-pro-workflows/"
_M5_ULTRA = _NEWS + "2026/08/apple-introduces-m6-and-m5-ultra-for-a-big-leap-in-performance-and-ai-compute/"
MACHINES = (
    Machine("M1", 68.3 * _GB, _OLD, "https://en.wikipedia.org/wiki/Apple_M1"),  # Apple published none
    Machine("M1 Pro", 200 * _GB, _OLD, _M1),
    Machine("M1 Max", 400 * _GB, _OLD, _M1),
    Machine("M1 Ultra", 800 * _GB, _OLD, _M1_ULTRA),
    Machine("M2", 100 * _GB, _OLD, _M2),
    Machine("M2 Pro", 200 * _GB, _OLD, _M2_PRO),
    Machine("M2 Max", 400 * _GB, _OLD, _M2_PRO),
    Machine("M2 Ultra", 800 * _GB, _OLD, _M2_ULTRA),
    Machine("M3", 100 * _GB, _NEW, _M3),
    Machine("M3 Pro", 150 * _GB, _NEW, _M3_PRO),
    Machine("M3 Max", 400 * _GB, _NEW, _M3_PRO),
    Machine("M3 Ultra", 819 * _GB, _NEW, _M3_ULTRA),
    Machine("M4", 120 * _GB, _NEW, _M4),
    Machine("M4 Pro", 273 * _GB, _NEW, _M4),
    Machine("M4 Max", 546 * _GB, _NEW, _M4),
    Machine("M5", 153 * _GB, _NEW, _M5),
    Machine("M5 Pro", 307 * _GB, _NEW, _M5_PRO),
    Machine("M5 Max", 614 * _GB, _NEW, _M5_PRO),
    Machine("M5 Ultra", 1200 * _GB, _NEW, _M5_ULTRA),
)


class Published(NamedTuple):
    """A figure that somebody published.

    kind: "plain": tokens a second without a drafter; "pass": ms of a target's pass; "matmul": ms of one projection, 17408 x 5120,
        4 bits; "ratio": of a pass or projection to that of one row, whatever the model; "speculative": tokens a second.
    family: the pair, in `known_pairs`; "" where the kind does not depend on it.
    rows: of a block, the anchor's included.
    by: what computed: "MLX"; or "measured kernel", a small-matrix kernel of somebody else's.
    acceptance: tokens a cycle; None: not published.
    fits: the projection's efficiency is fitted to it, so that it validates nothing.
    """

    kind: Literal["plain", "pass", "matmul", "ratio", "speculative"]
    machine: str
    family: str
    rows: int
    value: float
    source: str
    by: Literal["MLX", "measured kernel"] = "MLX"
    acceptance: float | None = None
    fits: bool = False


SOURCES = {
    "z-lab": "https://github.com/z-lab/dflash (README)",
    "mlx-dspark": "https://github.com/ARahim3/mlx-dspark (READMEs, docs); 5 to 8 rows: one figure",
    "mlx-vlm 2014": "https://github.com/Blaizzy/mlx-vlm/pull/2014; own kernels that are exact",
    "mlxcel 1182": "https://github.com/lablup/mlxcel/pull/1182; 4 rows 37.3 to 39.4 ms",
    "mlx-serve": "https://github.com/ddalcu/mlx-serve (docs); whole passes of Muse-30B",
    "mlx-vlm 1959": "https://github.com/Blaizzy/mlx-vlm/pull/1959",
    "mlx 3791": "https://github.com/ml-explore/mlx/pull/3791; whole passes of a 70B model",
    "mlx 4265": "https://github.com/ml-explore/mlx/issues/4265; one row beats the memory: from a cache",
}
PUBLISHED = (
    Published("plain", "M4 Pro", "Qwen3.8-27B", 1, 15.4, "z-lab", fits=True),
    Published("plain", "M4 Pro", "Qwen3.8-27B", 1, 14.7, "mlx-dspark", fits=True),
    Published("plain", "M4 Pro", "Qwen3.6-35B-A3B", 1, 1e3 / 11.5, "mlx-dspark"),
    Published("plain", "M5 Max", "Qwen3.8-27B", 1, 33.4, "mlx-vlm 2014"),
    Published("pass", "M5 Max", "Qwen3.8-27B", 1, 30.7, "mlxcel 1182"),
    Published("pass", "M5 Max", "Qwen3.8-27B", 4, 38.35, "mlxcel 1182"),
    Published("pass", "M5 Max", "Qwen3.8-27B", 8, 75.7, "mlxcel 1182"),
    Published("pass", "M4 Pro", "Qwen3.8-27B", 5, 113, "mlx-dspark"),
    Published("pass", "M4 Pro", "Qwen3.8-27B", 8, 113, "mlx-dspark"),
    Published("pass", "M4 Pro", "Qwen3.8-27B", 8, 96, "mlx-dspark", by="measured kernel"),
    Published("matmul", "M4 Pro", "", 5, 0.379, "mlx-dspark"),
    Published("matmul", "M4 Pro", "", 8, 0.580, "mlx-dspark"),
    *(
        Published("ratio", "M4 Max", "", rows, ms / 33.0, "mlx-serve")
        for rows, ms in ((2, 35.9), (3, 34.9), (4, 38.5), (5, 42.9), (6, 47.0), (7, 55.7), (8, 84.4))
    ),
    Published("ratio", "M5 Pro", "", 4, 6.3 / 5.7, "mlx-vlm 1959"),
    Published("ratio", "M5 Pro", "", 5, 7.4 / 5.7, "mlx-vlm 1959"),
    *(Published("ratio", "M5 Max", "", rows, ms / 76.4, "mlx 3791") for rows, ms in ((3, 85.0), (5, 108.2), (8, 167.9))),
    *(Published("ratio", "M3 Ultra", "", rows, ms / 0.041, "mlx 4265") for rows, ms in ((2, 0.076), (4, 0.134), (8, 0.252))),
    # 117 of 164 drafts in blocks of 3, so 82 cycles; 109 of 181
    Published("speculative", "M5 Max", "Qwen3.8-27B", 3, 58.58, "mlx-vlm 2014", acceptance=1 + 117 / 82),
    Published("speculative", "M5 Max", "Qwen3.8-27B", 3, 49.96, "mlx-vlm 2014", acceptance=1 + 109 / 90.5),
    Published("speculative", "M4 Pro", "Qwen3.8-27B", 8, 33.8, "mlx-dspark", by="measured kernel", acceptance=5.14),
    Published("speculative", "M4 Pro", "Qwen3.8-27B", 8, 40.0, "mlx-dspark", by="measured kernel", acceptance=5.09),
    Published("speculative", "M4 Pro", "Qwen3.8-27B", 4, 26.96, "z-lab"),
    Published("speculative", "M4 Pro", "Qwen3.8-27B", 4, 31.49, "z-lab"),
)
