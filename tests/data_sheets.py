"""What makers print about their devices, typed in apart from the catalog, to hold it against.

Typed by hand, most of it from memory of the sheets named under `source`, not copied from the catalog or from
the tables it was made of; only the pages of Google and AWS were open. Keys are as the sheet has it:
`..._sparse_tflops` counts 2:4 sparsity and is twice the dense figure, `..._dense_tflops` does not;
`marketed_gb` is the size on the box, of which makers do not say whether it is in GB or GiB (a device
reports at most that many GiB, a v5p 0.8 % more); `tdp_w` is absent where the maker prints none.
"""

from __future__ import annotations

A100 = {"bf16_dense_tflops": 312, "bf16_sparse_tflops": 624, "source": "NVIDIA A100 Tensor Core GPU data sheet"}
HOPPER = {"bf16_sparse_tflops": 1979, "fp8_sparse_tflops": 3958}
NVL72 = "data sheet, the rack's figures by 72"

DATA_SHEETS: dict[str, dict] = {
    "H100 SXM": {
        **HOPPER,
        "bandwidth_gbs": 3350,
        "marketed_gb": 80,
        "tdp_w": 700,
        "source": "NVIDIA H100 Tensor Core GPU data sheet",
    },
    "H200 SXM": {
        **HOPPER,
        "bandwidth_gbs": 4800,
        "marketed_gb": 141,
        "tdp_w": 700,
        "source": "NVIDIA H200 Tensor Core GPU data sheet",
    },
    "B200 SXM": {
        "bf16_sparse_tflops": 36_000 / 8,
        "fp8_sparse_tflops": 72_000 / 8,
        "fp4_sparse_tflops": 144_000 / 8,
        "bandwidth_gbs": 8000,
        "marketed_gb": 180,
        "tdp_w": 1000,
        "source": "NVIDIA HGX B200 data sheet, the board's figures by 8",
    },
    "GB200": {
        "bf16_sparse_tflops": 360_000 / 72,
        "fp8_sparse_tflops": 720_000 / 72,
        "fp4_sparse_tflops": 1_440_000 / 72,
        "bandwidth_gbs": 576_000 / 72,
        "marketed_gb": 186,
        "tdp_w": 1200,
        "source": f"NVIDIA GB200 NVL72 {NVL72}",
    },
    "GB300": {
        "bf16_sparse_tflops": 360_000 / 72,
        "fp8_sparse_tflops": 720_000 / 72,
        "fp4_dense_tflops": 1_080_000 / 72,
        "bandwidth_gbs": 576_000 / 72,
        "marketed_gb": 288,
        "tdp_w": 1400,
        "source": f"NVIDIA GB300 NVL72 {NVL72}",
    },
    "A100 SXM 80GB": {**A100, "bandwidth_gbs": 2039, "marketed_gb": 80, "tdp_w": 400},
    "A100 SXM 40GB": {**A100, "bandwidth_gbs": 1555, "marketed_gb": 40, "tdp_w": 400},
    "A100 PCIe 80GB": {**A100, "bandwidth_gbs": 1935, "marketed_gb": 80, "tdp_w": 300},
    "A100 PCIe 40GB": {**A100, "bandwidth_gbs": 1555, "marketed_gb": 40, "tdp_w": 250},
    "L40S": {
        "bf16_dense_tflops": 362.05,
        "fp8_sparse_tflops": 1466,
        "bandwidth_gbs": 864,
        "marketed_gb": 48,
        "tdp_w": 350,
        "source": "NVIDIA L40S GPU data sheet",
    },
    "L4": {
        "bf16_sparse_tflops": 242,
        "fp8_sparse_tflops": 485,
        "bandwidth_gbs": 300,
        "marketed_gb": 24,
        "tdp_w": 72,
        "source": "NVIDIA L4 Tensor Core GPU data sheet",
    },
    "A40": {
        "bf16_dense_tflops": 149.7,
        "bf16_sparse_tflops": 299.4,
        "bandwidth_gbs": 696,
        "marketed_gb": 48,
        "tdp_w": 300,
        "source": "NVIDIA A40 GPU data sheet",
    },
    "A30": {
        "bf16_dense_tflops": 165,
        "bf16_sparse_tflops": 330,
        "bandwidth_gbs": 933,
        "marketed_gb": 24,
        "tdp_w": 165,
        "source": "NVIDIA A30 Tensor Core GPU data sheet",
    },
    "A10": {
        "bf16_dense_tflops": 125,
        "bf16_sparse_tflops": 250,
        "bandwidth_gbs": 600,
        "marketed_gb": 24,
        "tdp_w": 150,
        "source": "NVIDIA A10 Tensor Core GPU data sheet",
    },
    "T4": {
        "fp16_dense_tflops": 65,
        "bandwidth_gbs": 320,
        "marketed_gb": 16,
        "tdp_w": 70,
        "source": "NVIDIA T4 Tensor Core GPU data sheet",
    },
    "V100 SXM2 32GB": {
        "fp16_dense_tflops": 125,
        "bandwidth_gbs": 900,
        "marketed_gb": 32,
        "tdp_w": 300,
        "source": "NVIDIA V100 Tensor Core GPU data sheet",
    },
    "RTX 4090": {
        "bf16_dense_tflops": 165.2,
        "fp8_dense_tflops": 330.3,
        "bandwidth_gbs": 1008,
        "marketed_gb": 24,
        "tdp_w": 450,
        "source": "NVIDIA Ada GPU architecture white paper, FP32 accumulation",
    },
    "RTX 5090": {
        "bf16_dense_tflops": 209.5,
        "fp8_dense_tflops": 419,
        "fp4_sparse_tflops": 3352,
        "bandwidth_gbs": 1792,
        "marketed_gb": 32,
        "tdp_w": 575,
        "source": "NVIDIA RTX Blackwell GPU architecture white paper, FP32 accumulation",
    },
    "MI300X": {
        "bf16_dense_tflops": 1307.4,
        "fp8_dense_tflops": 2614.9,
        "bandwidth_gbs": 5300,
        "marketed_gb": 192,
        "tdp_w": 750,
        "source": "AMD Instinct MI300X accelerator data sheet",
    },
    "MI325X": {
        "bf16_dense_tflops": 1307.4,
        "fp8_dense_tflops": 2614.9,
        "bandwidth_gbs": 6000,
        "marketed_gb": 256,
        "tdp_w": 1000,
        "source": "AMD Instinct MI325X accelerator data sheet",
    },
    "MI355X": {
        "bf16_dense_tflops": 2516.6,
        "fp8_dense_tflops": 5033.2,
        "bandwidth_gbs": 8000,
        "marketed_gb": 288,
        "tdp_w": 1400,
        "source": "AMD Instinct MI355X GPU data sheet",
    },
    "TPU v5e": {
        "bf16_dense_tflops": 197,
        "bandwidth_gbs": 819,
        "marketed_gb": 16,
        "source": "docs.cloud.google.com/tpu/docs/v5e",
    },
    "TPU v5p": {
        "bf16_dense_tflops": 459,
        "bandwidth_gbs": 2765,
        "marketed_gb": 95,
        "source": "docs.cloud.google.com/tpu/docs/v5p",
    },
    "TPU v6e": {
        "bf16_dense_tflops": 918,
        "bandwidth_gbs": 1638,
        "marketed_gb": 32,
        "source": "docs.cloud.google.com/tpu/docs/v6e",
    },
    "Trainium 2": {
        "bf16_dense_tflops": 667,
        "fp8_dense_tflops": 1299,
        "bandwidth_gbs": 2900,
        "marketed_gb": 96,
        "source": "AWS Neuron documentation, Trainium2 architecture",
    },
    "Trainium 3": {
        "bf16_dense_tflops": 671,
        "fp8_dense_tflops": 2517,
        "bandwidth_gbs": 4900,
        "marketed_gb": 144,
        "source": "AWS Neuron documentation, Trainium3 architecture",
    },
    "Inferentia 2": {
        "bf16_dense_tflops": 190,
        "bandwidth_gbs": 820 * 2**30 / 1e9,
        "marketed_gb": 32,
        "source": "AWS Neuron documentation, Inferentia2 architecture",
    },
}
