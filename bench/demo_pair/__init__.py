"""Makes the demo pair that ships with dflash-mlx: python -m bench.demo_pair --out FOLDER."""
