"""Conversion from the Hub's PyTorch layout to 4-bit MLX; installs as `dflash_mlx.convert`."""
