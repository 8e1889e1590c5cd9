"""The projection beside sums made by hand."""

import sys

import pytest

from dflash_mlx.bench.roofline import projection as roofline
from dflash_mlx.bench.roofline.__main__ import main
from dflash_mlx.bench.roofline.published import MACHINES, PUBLISHED, SOURCES, Published
from dflash_mlx.bench.roofline.traffic import Traffic
from dflash_mlx.loading.known_pairs import known_pairs

APPLE = ("https://www.apple.com/newsroom/20", "https://support.apple.com/en-us/1")
CYCLE = [
    Traffic("draft block", 1_000, context=200),
    Traffic("draft head", 500, logits=30),
    Traffic("2 recurrent layers", 4_000, states=600),
    Traffic("1 attention layer", 2_000, experts=800, context=70),
    Traffic("head", 500, logits=40),
]


@pytest.mark.parametrize("rows, expected", [(1, 1.0), (2, 1.03), (5, 1.77), (8, 2.69)])
def test_costs_between_measured_rows_are_interpolated(rows: int, expected: float) -> None:
    assert roofline.cost(roofline.COST_OF_ROWS["M3 and newer"], rows) == pytest.approx(expected)
    assert roofline.cost(roofline.COST_OF_ROWS["M1, M2"], rows) == rows


def test_weights_that_all_rows_meet_cost_more_with_more_rows_and_the_rest_does_not() -> None:
    costs = {1: 1.0, 3: 2.0, 4: 3.0}
    rest = 200 + 30 + 600 + 800 + 70 + 40
    weights = 3 * 1_000 + 2 * 500 + 3 * 4_000 + 3 * 2_000 + 3 * 500  # the draft's head has a row less
    assert roofline.projected_seconds(CYCLE, 4, costs, speed=100) == pytest.approx((weights + rest) / 100)
    assert roofline.projected_seconds(CYCLE, 4, costs, 100, replays=True) == pytest.approx((weights + rest + 600) / 100)
    at_best = roofline.projected_seconds(CYCLE, 4, roofline.AT_BEST, 100)
    assert at_best == pytest.approx(sum(part.bytes for part in CYCLE) / 100)


def test_the_efficiency_is_fitted_to_plain_decoding_on_one_machine_only() -> None:
    fitted = [figure for figure in PUBLISHED if figure.fits]
    assert {(figure.kind, figure.machine) for figure in fitted} == {("plain", "M4 Pro")}
    # weights that a step reads, states twice, K and V of the context
    step = 14.4176e9 + 2 * 48 * (48 * 128 * 128 * 4 + 3 * 10240 * 2) + 16 * 1025 * 2 * 4 * 256 * 2
    assert roofline.efficiency() == pytest.approx(step * (15.4 + 14.7) / 2 / 273e9, rel=1e-3)


def test_a_projection_is_its_bytes_by_the_share_of_bandwidth() -> None:
    [machine] = (machine for machine in MACHINES if machine.name == "M2 Max")
    projection = roofline.project(machine, "Qwen3-8B", rows=4, context=0)
    [pair] = (pair for pair in known_pairs() if pair.family == "Qwen3-8B")
    embedding = 151936 * (4096 // 2 + 4096 // 64 * 4)
    speed = roofline.efficiency() * 400e9
    assert projection.plain == pytest.approx(speed / (pair.target_weights - embedding), rel=1e-3)
    assert projection.cycles["MLX"] > 3.9 / projection.plain  # a matmul of 4 rows reads the weights 4 times there
    assert projection.cycles["at best"] < projection.cycles["measured kernel"] < projection.cycles["MLX"]


def test_published_figures_are_of_known_pairs_and_machines_and_have_a_source() -> None:
    families = {pair.family for pair in known_pairs()} | {""}
    names = [machine.name for machine in MACHINES]
    assert len(set(names)) == len(names)
    for figure in PUBLISHED:
        assert figure.family in families and figure.machine in names and figure.source in SOURCES
        assert 1 <= figure.rows <= roofline.WIDEST and (figure.acceptance or 1) <= figure.rows
    assert {figure.source for figure in PUBLISHED} == set(SOURCES)


def test_bandwidths_are_as_apple_published_them_on_pages_that_stay() -> None:
    others = {machine.name for machine in MACHINES if not machine.source.startswith(APPLE)}
    assert others == {"M1"}  # of which Apple published none


def test_speeds_are_held_against_the_acceptance_published_with_them() -> None:
    blocks = [figure for figure in PUBLISHED if figure.kind == "speculative" and figure.source == "mlx-dspark"]
    assert [(figure.value, figure.acceptance) for figure in blocks] == [(33.8, 5.14), (40.0, 5.09)]


def test_figures_are_predicted_in_their_own_units() -> None:
    speed = roofline.efficiency() * 273e9
    assert roofline.predict(Published("ratio", "M4 Pro", "", 4, 1.0, "z-lab")) == 1.47
    matmul = 17408 * 5120 * 4.5 / 8 / speed  # seconds
    assert roofline.predict(Published("matmul", "M4 Pro", "", 8, 1.0, "z-lab")) == pytest.approx(1e3 * 2.69 * matmul)
    plain = Published("plain", "M4 Pro", "Qwen3.8-27B", 1, 1.0, "z-lab")
    one_row = Published("pass", "M4 Pro", "Qwen3.8-27B", 1, 1.0, "z-lab")
    assert 1e3 / roofline.predict(one_row) == pytest.approx(roofline.predict(plain), rel=1e-3)
    blocks = Published("speculative", "M4 Pro", "Qwen3.8-27B", 4, 30.0, "z-lab")
    needed = roofline.predict(blocks)
    assert roofline.predict(blocks._replace(acceptance=needed)) == pytest.approx(30.0)


def test_the_report_fits_100_columns_and_says_what_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["roofline", "--family", "Qwen3.6-35B-A3B", "--acceptance", "2.5"])
    main()
    report = capsys.readouterr().out
    assert report.startswith("Projection, not a measurement: Qwen3.6-35B-A3B")
    assert max(map(len, report.splitlines())) <= 100
    assert all(f"\n{machine.name} " in report for machine in MACHINES)
    assert sum(line.startswith("*") for line in report.splitlines()) == sum(figure.fits for figure in PUBLISHED)


def test_more_tokens_than_a_block_has_are_refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["roofline", "--rows", "4", "--acceptance", "5"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "a block of 4 commits 1 to 4 tokens, not 5" in capsys.readouterr().err
