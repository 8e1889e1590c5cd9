"""From a name to the folders of a pair that fits together and into this machine: `dflash_mlx.loader` makes a `Pair` of them."""
