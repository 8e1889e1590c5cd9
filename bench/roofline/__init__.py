"""What a cycle submits and moves, counted without a Mac, and how fast a machine could be."""
