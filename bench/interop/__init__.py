"""Checkpoints written here and read by other engines, and the reverse."""
