"""What `dflash-mlx bench` runs: prompts, answers measured in turn, summaries, tables and pictures; the profile of a cycle."""
