"""Colours and layout: CSS variables that follow the notebook's theme, light or dark.

Blue and vermilion are Okabe and Ito's colour-blind safe pair, with lighter siblings for dark
backgrounds. What a colour means is always also written, or shown by a shape.
"""

from __future__ import annotations

TEXT = "var(--rw-text)"
MUTED = "var(--rw-muted)"
GRID = "var(--rw-grid)"
SURFACE = "var(--rw-surface)"
USER = "var(--rw-user)"
BOUND_COLOURS = {
    "memory": "var(--rw-memory)",
    "compute": "var(--rw-compute)",
    "communication": "var(--rw-communication)",
}
MEMORY_COLOURS = {
    "weights": "var(--rw-weights)",
    "KV cache": "var(--rw-kv)",
    "activations": "var(--rw-activations)",
}

CSS = """
<style>
.roofwidget {
  --rw-text: var(--jp-content-font-color1, #212121);
  --rw-muted: var(--jp-content-font-color2, #616161);
  --rw-grid: var(--jp-border-color2, #e0e0e0);
  --rw-surface: var(--jp-layout-color0, #fff);
  --rw-panel: var(--jp-layout-color1, #fff);
  --rw-tile: color-mix(in srgb, var(--rw-text) 5%, var(--rw-surface));
  --rw-memory: #0072b2; --rw-compute: #c74e00; --rw-communication: #00805e; --rw-user: #a5487f;
  --rw-weights: #56b4e9; --rw-kv: #2f8fca; --rw-activations: #e6b422;
  --bq-content-font-color: var(--rw-text);
  container: rw / inline-size; overflow: visible; color: var(--rw-text); padding: 4px;
  font-family: var(--jp-ui-font-family, system-ui, sans-serif); min-width: 300px;
}
body[data-jp-theme-light="false"] .roofwidget, .vscode-dark .roofwidget, html[theme="dark"] .roofwidget {
  --rw-memory: #56b4e9; --rw-compute: #ff8c42; --rw-communication: #35c99c; --rw-user: #e78ac3;
  --rw-weights: #2f6f94; --rw-kv: #1f8fd0; --rw-activations: #b8901f;
}
.roofwidget .widget-html, .roofwidget .widget-html-content { line-height: 1.35; margin: 0; height: auto; }
.roofwidget .widget-box { overflow: visible; }
.rw-verdict { font-size: 17px; font-weight: 600; padding: 2px 4px 6px; }
.rw-memory-words { color: var(--rw-memory); } .rw-compute-words { color: var(--rw-compute); }
.rw-communication-words { color: var(--rw-communication); }
.rw-tiles { display: grid; grid-template-columns: repeat(8, 1fr); gap: 6px; }
.rw-tile { background: var(--rw-tile); border-radius: 6px; padding: 6px 9px; min-width: 0; }
.rw-tile small { color: var(--rw-muted); font-size: 11px; display: block; }
.rw-tile b { font-size: 17px; white-space: nowrap; } .rw-tile i { font-style: normal; font-size: 12px; color: var(--rw-muted); }
.rw-bar { display: flex; height: 6px; margin: 3px 0; border-radius: 3px; overflow: hidden; background: var(--rw-grid); position: relative; }
.rw-bar span { height: 100%; }
.rw-body { display: grid !important; grid-template-columns: 268px minmax(0, 1fr); gap: 10px; margin-top: 6px; align-items: start; }
.rw-plots { display: grid !important; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 4px 12px; align-items: start; }
.rw-view { min-width: 0; }
.rw-view h4 { font-size: 13px; font-weight: 600; margin: 2px 0 0; } .rw-view h4 span { font-weight: 400; color: var(--rw-muted); }
.rw-view h4 span span, .rw-verdict span { white-space: nowrap; }
.rw-view h4 i { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin-left: 4px; }
.rw-view .bqplot { margin: 0; }
/* a figure saved as SVG or PNG keeps the variables that a rule on it names: here are all of them */
.roofwidget .bqplot .svg-figure { --rw-kept: var(--rw-text) var(--rw-muted) var(--rw-grid) var(--rw-surface) var(--rw-user) var(--rw-memory) var(--rw-compute) var(--rw-communication) var(--rw-weights) var(--rw-kv) var(--rw-activations); }
.roofwidget .bqplot text { font-family: var(--jp-ui-font-family, system-ui, sans-serif); }
.roofwidget .bqplot text.label { paint-order: stroke; stroke: var(--rw-surface); stroke-width: 3px; stroke-linejoin: round; }
.roofwidget .bqplot .line[style*="dasharray: 2"] { stroke-dasharray: 2, 4 !important; }
.roofwidget .bqplot .line[style*="dasharray: 10, 10"] { stroke-dasharray: 7, 5 !important; }
.roofwidget .bqplot .axis text { font-size: 11px; } .roofwidget .bqplot .axislabel { font-size: 12px; font-weight: 400; }
.rw-panel { border: 1px solid var(--rw-grid); border-radius: 6px; padding: 5px 8px 7px; margin-bottom: 6px; }
.rw-panel h3 { font-size: 12px; font-weight: 600; margin: 0 0 2px; }
.rw-control { display: grid !important; grid-template-columns: minmax(0, 1fr) 77px; margin: 0; align-items: center; }
.rw-control .widget-text { width: auto; margin: 1px 0; height: 24px; }
.rw-control .widget-text input { height: 22px; padding: 0 5px; text-align: right; font-variant-numeric: tabular-nums; font-size: 12px; }
.rw-control .widget-text label { font-size: 12px; text-align: left; min-width: 0; }
.rw-control .rw-unit { font-size: 11px; color: var(--rw-muted); padding-left: 6px; align-self: center; } .rw-unit .widget-html-content { line-height: 1.1 !important; }
.rw-control .widget-slider { grid-column: 1 / -1; width: auto; height: 16px; margin: 0 6px; }
.rw-control .widget-slider .slider-container { margin: 0; }
.rw-help { cursor: help; opacity: 0.7; border: 1px solid; border-radius: 50%; font-size: 9px; padding: 0 3px; margin-left: 1px; }
.rw-panel .widget-dropdown, .rw-panel .widget-checkbox { width: auto; margin: 1px 0; height: 26px; }
.rw-panel .widget-dropdown select { font-size: 12px; height: 24px; } .rw-panel .widget-checkbox label { font-size: 12px; }
.rw-panel .widget-accordion { margin: 2px 0 0; }
.rw-panel .jupyter-widget-Collapse-header { padding: 1px 2px; font-size: 11px; background: none; border: none; color: var(--rw-muted); font-weight: 400; }
.rw-panel .jupyter-widget-Collapse-contents { padding: 0; background: none; border: none; color: inherit; }
.rw-rows { display: grid; grid-template-columns: max-content minmax(60px, 1fr) max-content; gap: 3px 8px; align-items: center; font-size: 12px; padding: 4px 0 8px; }
.rw-rows h5 { grid-column: 1 / -1; font-size: 12px; font-weight: 600; margin: 4px 0 0; }
.rw-rows .rw-track { height: 14px; } .rw-rows .rw-track span { display: block; height: 100%; border-radius: 2px; min-width: 1px; }
.rw-rows .rw-picked { font-weight: 700; outline: 2px solid var(--rw-text); outline-offset: 1px; border-radius: 2px; }
.rw-rows em { font-style: normal; color: var(--rw-muted); font-variant-numeric: tabular-nums; }
.rw-explain { background: var(--rw-tile); border-radius: 6px; padding: 4px 14px 10px !important; font-size: 12px; margin-top: 6px; }
.rw-explain dt { font-weight: 600; margin-top: 6px; } .rw-explain dd { margin: 0 0 0 1em; }
.rw-explain code { font-size: 12px; background: none; color: inherit; white-space: normal; }
.rw-explain cite { color: var(--rw-muted); font-style: normal; }
.rw-export pre { background: var(--rw-tile); padding: 6px 10px; max-height: 220px; overflow: auto; font-size: 12px; margin: 2px 0 6px; }
.rw-export h5 { font-size: 12px; font-weight: 600; margin: 6px 0 0; }
.roofwidget-tip .tooltiptext { color: var(--jp-content-font-color1, #212121) !important; font-size: 12px; padding: 1px 6px; text-align: left; }
.rw-status { font-size: 12px; align-self: center; flex: 1; }
.rw-status b { color: var(--rw-compute); }
.rw-tools { gap: 6px; flex-wrap: wrap; margin-top: 6px; } .rw-tools button { width: auto; }
.rw-fold { display: none !important; }
@container rw (max-width: 1180px) { .rw-tiles { grid-template-columns: repeat(4, 1fr); } }
@container rw (max-width: 1020px) { .rw-plots { grid-template-columns: minmax(0, 1fr); } }
@container rw (max-width: 760px) {
  .rw-body { grid-template-columns: minmax(0, 1fr); }
  .rw-fold { display: inline-block !important; }
  .rw-controls { display: none !important; }
  .rw-controls.rw-open { display: grid !important; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 8px; }
}
@container rw (max-width: 430px) { .rw-tiles { grid-template-columns: repeat(2, 1fr); } .rw-controls.rw-open { grid-template-columns: minmax(0, 1fr); } }
</style>
"""
