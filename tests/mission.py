"""The mission's request, word for word, which many tests start from."""

MISSION = {
    "peak_tflops": 990,
    "hbm_bw_gbs": 3350,
    "hbm_cap_gb": 80,
    "params_b": 70,
    "hidden_dim": 8192,
    "layers": 80,
    "n_heads": 64,
    "n_kv_heads": 8,
    "seq_len": 4096,
    "batch": 1,
    "weight_bytes": 2,
}
