"""What this machine does best: measured once, kept in the user's cache folder. Kernels against MLX's ops, costs of cycles."""
