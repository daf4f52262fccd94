"""Many requests: how a server behaves as its batch grows."""
