"""What layers are made of: their weights, what they keep of a sequence, the work of a pass through them."""
