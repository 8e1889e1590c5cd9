"""What the project measures, and the makers of what it measures with."""
