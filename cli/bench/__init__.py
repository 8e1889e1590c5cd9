"""`dflash-mlx bench`: its options, its output, the profile of a cycle."""
