"""The decoding loop by itself: beside other loops, and beside its own bounds. Acceptance is controlled."""
