"""Many turns with one pair, each reading only what is new, and the file that keeps what was read of them."""
