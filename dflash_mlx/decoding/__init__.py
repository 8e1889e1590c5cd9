"""Speculative decoding: prefill, then draft, verify, accept, commit. Token ids in, token ids out; it never prints."""
