"""Excerpts of result files that people published, with where; long lists in them are left out."""

VLLM_SERVE = """{"date": "20250530-203806", "backend": "vllm", "model_id": "meta-llama/Llama-3.2-3B-Instruct", \
"tokenizer_id": "meta-llama/Llama-3.2-3B-Instruct", "num_prompts": 300, "deployment": "base", "gpu": "4xNVIDIA_L40S", \
"model": "meta-llama/Llama-3.2-3B-Instruct", "gateway": "kgateway", "prefill_replicas": "0", "decode_replicas": "4", \
"input_len": "1000", "output_len": "500", "request_rate": 10.0, "burstiness": 1.0, "max_concurrency": null, \
"duration": 36.034275877000255, "completed": 300, "total_input_tokens": 299700, "total_output_tokens": 81050, \
"request_throughput": 8.325406649602808, "request_goodput:": null, "output_throughput": 2249.247363167692, \
"total_token_throughput": 10566.328606120898, "mean_ttft_ms": 54.577085783294024, \
"median_ttft_ms": 52.999333499883505, "std_ttft_ms": 9.27197373989555, "p99_ttft_ms": 89.76647855975897, \
"mean_tpot_ms": 13.577995860227945, "median_tpot_ms": 13.512526767533997, \
"mean_itl_ms": 13.505887271504633, "p99_itl_ms": 34.210415409961556}"""
"""nerdalert/vllm-bench-automation, README.md: vLLM's benchmark_serving.py --save-result --metadata gpu=…"""

VLLM_BURST = """{"date": "20260828-132824", "backend": "vllm", "model_id": "Qwen/Qwen3-32B", \
"tokenizer_id": "Qwen/Qwen3-32B", "best_of": 1, "num_prompts": 512, "request_rate": "inf", "burstiness": 1.0, \
"max_concurrency": 64, "duration": 34.77475159900007, "completed": 512, "total_input_tokens": 262144, \
"total_output_tokens": 65536, "request_throughput": 14.723325874590067, "request_goodput:": null, \
"output_throughput": 1884.5857119475286, "total_token_throughput": 9422.928559737642, \
"mean_ttft_ms": 341.84747221679635, "p99_ttft_ms": 475.53700237995713, "mean_tpot_ms": 31.38726279315329, \
"mean_itl_ms": 31.387265713751834}"""
"""A test of a workload runner for InferenceX (find_string "burstiness": 1.0, file 58009788289), "a real run's JSON"."""

SGLANG_SERVING = """{"backend": "sglang", "dataset_name": "sharegpt", "request_rate": 2.0, "max_concurrency": null, \
"duration": 264.25, "completed": 996, "total_input_tokens": 342460, "total_output_tokens": 218257, \
"total_output_tokens_retokenized": 103837, "request_throughput": 3.77, "input_throughput": 1295.95, \
"output_throughput": 825.94, "mean_e2e_latency_ms": 2098.07, "median_e2e_latency_ms": 606.86, \
"mean_ttft_ms": 2074.09, "median_ttft_ms": 606.88, "mean_tpot_ms": 1.76, "mean_itl_ms": 0.0}
{"backend": "sglang", "dataset_name": "random", "request_rate": Infinity, "max_concurrency": 4, \
"server_info": {"model_path": "thinkingmachines/inkling-small", "tp_size": 2, "pp_size": 1}, \
"duration": 289.93, "completed": 32, "total_input_tokens": 12778, "total_output_tokens": 18225, \
"total_output_tokens_retokenized": 18167, "request_throughput": 0.11, "input_throughput": 44.07, \
"output_throughput": 62.86, "concurrency": 3.71, "mean_e2e_latency_ms": 33656.65, "mean_ttft_ms": 756.09}
"""
"""Figures that bench_serving printed: WILLIAM-qmul/SGLang-dLoRA, migration_ilp/dlora_results.md, and
sgl-project/sglang#33108; fields of python/sglang/bench_serving.py; server_info made up."""

SGLANG_ONE_BATCH = """{
   "run_name":"test_run",
   "batch_size":4,
   "input_len":1024,
   "output_len":1,
   "prefill_latency":3.7364211082458496,
   "prefill_throughput":1096.2361793108923,
   "total_latency":3.7364211082458496,
   "overall_throughput":1097.3067224547506
}{
   "run_name":"test_run",
   "batch_size":8,

   "input_len":1024,
   "output_len":1024,
   "prefill_latency":7.162742376327515,
   "prefill_throughput":1143.6960272470678,
   "median_decode_latency":0.023103952407836914,
   "median_decode_throughput":346.2611010783757,
   "total_latency":30.811896800994873,
   "overall_throughput":531.7426611486958
}
"""
"""A blog's benchmark.log of bench_one_batch, Qwen2.5-32B with --tp 8 (find_string, file 7311424494)."""

LLAMA_BENCH_JSON = """[
  {
    "build_commit": "8cf427ff", "build_number": 5163, "cpu_info": "AMD Ryzen 7 7800X3D 8-Core Processor",
    "gpu_info": "NVIDIA GeForce RTX 4080", "backends": "CUDA",
    "model_filename": "models/Qwen2.5-7B-Instruct-Q4_K_M.gguf", "model_type": "qwen2 7B Q4_K - Medium",
    "model_size": 4677120000, "model_n_params": 7615616512, "n_batch": 2048, "n_ubatch": 512, "n_gpu_layers": -1,
    "n_prompt": 512, "n_gen": 0, "n_depth": 0, "test_time": "2025-04-24T11:58:50Z",
    "avg_ns": 72135640, "stddev_ns": 1453752, "avg_ts": 7100.002165, "stddev_ts": 140.341520,
    "samples_ns": [ 74601900, 71632900, 71745200, 71952700, 70745500 ]
  },
  {
    "build_commit": "8cf427ff", "build_number": 5163, "cpu_info": "AMD Ryzen 7 7800X3D 8-Core Processor",
    "gpu_info": "NVIDIA GeForce RTX 4080", "backends": "CUDA",
    "model_filename": "models/Qwen2.5-7B-Instruct-Q4_K_M.gguf", "model_type": "qwen2 7B Q4_K - Medium",
    "model_size": 4677120000, "model_n_params": 7615616512, "n_batch": 2048, "n_ubatch": 512, "n_gpu_layers": -1,
    "n_prompt": 0, "n_gen": 128, "n_depth": 0, "test_time": "2025-04-24T11:58:51Z",
    "avg_ns": 1076767880, "stddev_ns": 9449585, "avg_ts": 118.881588, "stddev_ts": 1.041811
  }
]
"""
"""ggml-org/llama.cpp, tools/llama-bench/README.md, as the two below."""

LLAMA_BENCH_CSV = """build_commit,build_number,cpu_info,gpu_info,backends,model_type,n_batch,n_prompt,n_gen,n_depth,test_time,avg_ns,stddev_ns,avg_ts,stddev_ts
"8cf427ff","5163","AMD Ryzen 7 7800X3D 8-Core Processor","NVIDIA GeForce RTX 4080","CUDA","qwen2 7B Q4_K - Medium","2048","512","0","0","2025-04-24T11:57:09Z","70285660","982040","7285.676949","100.064434"
"8cf427ff","5163","AMD Ryzen 7 7800X3D 8-Core Processor","NVIDIA GeForce RTX 4080","CUDA","qwen2 7B Q4_K - Medium","2048","0","128","0","2025-04-24T11:57:10Z","1067431600","3834831","119.915244","0.430617"
"""  # noqa: E501

LLAMA_BENCH_MARKDOWN = """ggml_cuda_init: found 1 CUDA devices:
| model                          |       size |     params | backend    | ngl |            test |                  t/s |
| ------------------------------ | ---------: | ---------: | ---------- | --: | --------------: | -------------------: |
| qwen2 7B Q4_K - Medium         |   4.36 GiB |     7.62 B | CUDA       |  -1 |           pp512 |      7340.20 ± 23.45 |
| qwen2 7B Q4_K - Medium         |   4.36 GiB |     7.62 B | CUDA       |  -1 |          tg 128 |        120.60 ± 0.59 |
| qwen2 7B Q4_K - Medium         |   4.36 GiB |     7.62 B | CUDA       |  -1 |    pp512 @ d512 |      6425.91 ± 18.88 |
| qwen2 7B Q4_K - Medium         |   4.36 GiB |     7.62 B | CUDA       |  -1 |    tg128 @ d512 |        116.71 ± 0.60 |

build: 8cf427ff (5163)
"""

GENAI_PERF = """{
  "request_throughput": {"unit": "requests/sec", "avg": 17.222547659562533},
  "request_latency": {"unit": "ms", "avg": 5767.434807386666, "p25": 5675.43159275, "p50": 5778.654798},
  "time_to_first_token": {"unit": "ms", "avg": 184.63779366666665, "p50": 172.8093975, "max": 511.752837},
  "inter_token_latency": {"unit": "ms", "avg": 2.1767344516666665, "p50": 2.1787205},
  "output_token_throughput": {"unit": "tokens/sec", "avg": 44190.56002502682},
  "output_sequence_length": {"unit": "tokens", "avg": 2565.855, "p50": 2567.0},
  "input_sequence_length": {"unit": "tokens", "avg": 200.85, "p50": 202.0},
  "input_config": {"subcommand": "profile", "model": ["ensemble"], "backend": "tensorrtllm", "endpoint": null,
    "endpoint_type": "kserve", "streaming": true, "concurrency": 100, "request_rate": null}
}"""
"""triton-inference-server/perf_analyzer#298, first file; the second is the same server without streaming."""

GENAI_PERF_WHOLE = """{
  "request_throughput": {"unit": "requests/sec", "avg": 21.621765653636075},
  "request_latency": {"unit": "ms", "avg": 4610.6156361171425, "p50": 4355.8502165},
  "time_to_first_token": {"unit": "ms", "avg": 4610.6156361171425, "p50": 4355.8502165},
  "output_token_throughput": {"unit": "tokens/sec", "avg": 12277.70340876071},
  "output_sequence_length": {"unit": "tokens", "avg": 567.84},
  "input_sequence_length": {"unit": "tokens", "avg": 200.85},
  "input_config": {"model": ["ensemble"], "backend": "tensorrtllm", "streaming": false, "concurrency": 100}
}"""

GENAI_PERF_EARLY = """{
  "request_throughput": {"unit": "request per sec", "avg": "12.222026283281268"},
  "request_latency": {"unit": "ns", "avg": "81694262.3143508", "p99": "101977365.62"},
  "time_to_first_token": {"unit": "ns", "avg": "20757771.22095672", "p99": "29047316.52"},
  "inter_token_latency": {"unit": "ns", "avg": "3860101.1100274306"},
  "output_token_throughput": {"unit": "tokens per sec", "avg": "217.1010500160076"},
  "num_output_token": {"unit": "tokens", "avg": "17.763097949886106"},
  "num_input_token": {"unit": "tokens", "avg": "550.0523917995445"},
  "input_config": {"model": "gpt2_vllm", "backend": "vllm", "endpoint": null, "streaming": true, "concurrency": 1,
    "request_rate": null}
}"""
"""triton-inference-server/perf_analyzer, genai-perf/tests/test_json_exporter.py, of 2024."""

AIPERF = """{
  "schema_version": "1.0", "aiperf_version": "0.5.0", "benchmark_id": "abc",
  "input_config": {"endpoint": {"type": "chat", "model_names": ["meta-llama/Llama-3.2-1B-Instruct"]},
    "loadgen": {"concurrency": 32}},
  "request_count": {"avg": 256, "unit": "requests"}, "error_request_count": null,
  "input_sequence_length": {"avg": 16384.0, "unit": "tokens"},
  "output_sequence_length": {"avg": 126.5, "unit": "tokens"},
  "time_to_first_token": {"avg": 1240.09, "p50": 786.0, "p99": 2093.6, "unit": "ms"},
  "inter_token_latency": {"avg": 129.8, "unit": "ms"},
  "request_latency": {"avg": 17525.9, "unit": "ms"},
  "output_token_throughput": {"avg": 228.47, "unit": "tokens/sec"},
  "request_throughput": {"avg": 1.81, "unit": "requests/sec"}
}"""
"""Tenstorrent, tests of their LLM benchmark parsers (find_string, file 56552655181)."""

AIPERF_SHORT = """{
  "schema_version": "1.5",
  "request_latency": {"unit": "ms", "avg": 2620.71, "min": 2145.06, "max": 3411.10, "count": 20, "sum": 52414.29},
  "request_throughput": {"unit": "requests/sec", "avg": 1.45},
  "request_count": {"unit": "requests", "avg": 20.0}
}"""
"""ai-dynamo/aiperf, docs/reference/json-export-schema.md."""

INFERENCE_PERF = """{
  "load_summary": {"count": 480, "send_duration": 59.98128472798271, "requested_rate": 8.0,
    "achieved_rate": 8.00249614820385},
  "successes": {
    "count": 10500,
    "latency": {
      "request_latency": {"mean": 16.949693734689514, "min": 7.430527747026645, "max": 23.341206387034617},
      "normalized_time_per_output_token": {"mean": 0.017395157922218466},
      "time_per_output_token": {"mean": 0.015854782856094884, "median": 0.016228663841495287},
      "time_to_first_token": {"mean": 1.0639281511114733, "median": 0.7006767939892597},
      "inter_token_latency": {"mean": 0.015854732319313614}
    },
    "throughput": {"input_tokens_per_sec": 13641.337272379991, "output_tokens_per_sec": 12925.396206067344,
      "total_tokens_per_sec": 26566.733478447335, "requests_per_sec": 13.241470097289648},
    "prompt_len": {"mean": 1030.1980952380952, "min": 1014.0}, "output_len": {"mean": 976.13, "max": 1007.0}
  },
  "failures": {"count": 0, "request_latency": null, "prompt_len": null}
}"""
"""successes: a guide of llm-d (find_string, file 52213177234); load_summary: inference-perf's README.md."""

INFERENCE_PERF_SESSIONS = """{
  "load_summary": {"requested_rate": 0.0, "achieved_rate": 1.0},
  "successes": {"count": 79,
    "latency": {"request_latency": {"mean": 1.599, "median": 1.111}},
    "throughput": {"requests_per_sec": 0.9, "input_tokens_per_sec": 4373.7, "output_tokens_per_sec": 69.5},
    "prompt_tokens": {"mean": 4660.1, "median": 2949.0}, "output_len": {"mean": 74.0, "median": 51.0}},
  "failures": {"count": 1}
}"""
"""kubernetes-sigs/inference-perf, a test of utils/cli_summary.py, with a replay of sessions."""

VLLM_LATENCY = """{
    "avg_latency": 1.9375, "std_latency": 0.03125, "latencies": [1.90625, 1.96875],
    "percentiles": {"10": 1.9125, "50": 1.9375, "99": 1.968125}
}"""
"""Fields of vllm/benchmarks/latency.py; the values are made up, as those below."""

VLLM_THROUGHPUT = """{"elapsed_time": 20.0, "num_requests": 100, "total_num_tokens": 40000, \
"requests_per_second": 5.0, "tokens_per_second": 2000.0}"""
"""Fields of vllm/benchmarks/throughput.py."""

TABLE = """label,gpu,model,isl,osl,batch_size,ttft_ms,tpot_ms,notes
first,H100 SXM,Llama 3.1 8B,1024,128,8,120.5,9.25,warm
second,H100 SXM,Llama 3.1 8B,1024,128,16,,10.5,
"""

STREAMS = (SGLANG_SERVING, SGLANG_ONE_BATCH)
"""Those with one object after another."""
ALL = {name: text for name, text in list(globals().items()) if name.isupper() and isinstance(text, str)}
