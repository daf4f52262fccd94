"""One forward pass: its compute nodes, how long they take, and what memory they need."""
