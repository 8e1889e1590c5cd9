"""Makes the demo pair that ships with dflash-mlx: python -m dflash_mlx.bench.demo_pair --out FOLDER."""
