"""Colours and layout: CSS variables that follow the notebook's theme, light or dark.

Blue and vermilion are Okabe and Ito's colour-blind safe pair, with lighter siblings for dark
backgrounds. What a colour means is always also written, or shown by a shape.
"""

from __future__ import annotations

from importlib.resources import files

TEXT = "var(--rw-text)"
MUTED = "var(--rw-muted)"
GRID = "var(--rw-grid)"
SURFACE = "var(--rw-surface)"
USER = "var(--rw-user)"
OBJECTIVE = "var(--rw-objective)"
CEILING = "var(--rw-ceiling)"
BOUND_COLOURS = {
    "memory": "var(--rw-memory)",
    "compute": "var(--rw-compute)",
    "communication": "var(--rw-communication)",
    "overhead": "var(--rw-overhead)",
}
MEMORY_COLOURS = {
    "weights": "var(--rw-weights)",
    "KV cache": "var(--rw-kv)",
    "activations": "var(--rw-activations)",
}

CSS = f"<style>\n{(files(__package__) / 'theme.css').read_text('utf-8')}</style>"
