"""FLOPs and bytes of each compute node, by hand for a small model.

h = 8, L = 5 layers, H = 4 heads, K = 2 KV heads, d = 3 (so H·d = 12 is not h), f = 10, V = 32;
2 bytes a weight, ½ a KV element, 3 an activation, so that no count can hide behind another.
"""

from dataclasses import replace

import pytest

from roofwidget import Accelerator, Precision, Scenario, Transformer, Workload
from roofwidget.architecture.work import Extent
from roofwidget.roofline.node import Node
from roofwidget.roofline.nodes import decode_nodes, forward_nodes, prefill_nodes

SIZES = {"hidden_dim": 8, "layers": 5, "n_heads": 4, "n_kv_heads": 2, "head_dim": 3, "ffn_dim": 10, "vocab_size": 32}


def small(**changes):
    return Transformer.dense(**{**SIZES, **changes})


SMALL = small()
DEVICE = Accelerator({"bf16": 1.0}, bandwidth=1.0, capacity=1.0, link_bandwidth=1.0)
BYTES = Precision(weight_bytes=2, kv_bytes=0.5, activation_bytes=3)


def scenario(model=SMALL, devices=1, *, prompt=7, batch=3):
    return Scenario(DEVICE, model, BYTES, Workload(prompt, 1, batch), devices)


def decode(model=SMALL, devices=1, **workload):
    return {node.name: node for node in decode_nodes(scenario(model, devices, **workload))}


def prefill(model=SMALL, devices=1, **workload):
    return {node.name: node for node in prefill_nodes(scenario(model, devices, **workload))}


# One step for 3 sequences, each 7 tokens long after it: T = B = 3, n = 7.
DECODE = [
    # 3 rows of 8 · 2 bytes gathered, not the table; 3 · 8 · 3 bytes written
    Node("embedding", 0, weight_bytes=48, activation_bytes=72),
    # 5 · 2·3·8·(4+2·2)·3; weights 5 · 8·24 · 2; in 8 and out 24: 5 · 3·(8+24) · 3
    Node("QKV projection", 5760, weight_bytes=1920, activation_bytes=1440, linear=True),
    # 5 · 4·12·3·7; read 2·6·3·7 = 252, written 2·6·3 = 36: 5 · 288 · ½; queries and outputs 5 · 3·2·12 · 3
    Node("attention", 5040, kv_bytes=720, activation_bytes=1080),
    # 5 · 2·3·12·8; 5 · 12·8 · 2; in 12 and out 8: 5 · 3·20 · 3
    Node("output projection", 2880, weight_bytes=960, activation_bytes=900, linear=True),
    # 5 · 6·3·8·10; 5 · 3·8·10 · 2; in 8, intermediate 10 out and in, out 8: 5 · 3·36 · 3
    Node("FFN", 7200, weight_bytes=2400, activation_bytes=1620, linear=True),
    # 2·3·8·32; 8·32 · 2; in 8 and out 32: 3·40 · 3
    Node("LM head", 1536, weight_bytes=512, activation_bytes=360),
]


@pytest.mark.parametrize("expected", DECODE, ids=lambda node: node.name)
def test_decode(expected):
    assert decode()[expected.name] == expected


# One prompt of 7 tokens: T = 7, B = 1.
PREFILL = [
    Node("embedding", 0, weight_bytes=112, activation_bytes=168),  # 7 rows of 16 bytes; 7 · 24
    # 5 · 2·7·8·24; the weights are read once; 5 · 7·32 · 3
    Node("QKV projection", 13_440, weight_bytes=1920, activation_bytes=3360, linear=True),
    # causal: token i attends to i, 1+…+7 = 28 pairs at 4·12: 5 · 48·28, which is 5 · 2·12·7·8;
    # each of 7 tokens' 12 elements written, and read once: 5 · 2·84 · ½; 5 · 7·24 · 3
    Node("attention", 6720, kv_bytes=420, activation_bytes=2520),
    Node("output projection", 6720, weight_bytes=960, activation_bytes=2100, linear=True),  # 5 · 2·7·12·8; 5 · 7·20 · 3
    Node("FFN", 16_800, weight_bytes=2400, activation_bytes=3780, linear=True),  # 5 · 6·7·8·10; 5 · 7·36 · 3
    Node("LM head", 512, weight_bytes=512, activation_bytes=120),  # the last position only: 2·1·8·32; 40 · 3
]


@pytest.mark.parametrize("expected", PREFILL, ids=lambda node: node.name)
def test_prefill_of_one_request(expected):
    assert prefill()[expected.name] == expected


def test_nodes_come_in_the_order_they_run():
    names = ["embedding", "QKV projection", "attention", "output projection", "FFN", "LM head"]
    assert list(decode()) == names
    assert list(prefill()) == names
    assert list(decode(devices=2)) == [*names, "all-reduce"]


def test_prefill_is_of_one_request_whatever_the_batch():
    assert prefill(batch=1) == prefill(batch=1000)


def test_lm_head_does_not_grow_with_the_prompt():
    assert prefill(prompt=1)["LM head"] == prefill(prompt=100_000)["LM head"]


def test_new_tokens_beside_cached_ones():
    """Four tokens on top of six: they attend to 7, 8, 9 and 10, which is 34 pairs."""
    (attention,) = (n for n in forward_nodes(scenario(), Extent(1, 4, 10, 10, 4)) if n.name == "attention")
    assert attention.flops == 5 * 48 * 34  # = 5 · 2·12·(10·11 − 6·7)
    assert attention.kv_bytes == 5 * 12 * (10 + 4) * 0.5
    assert attention.activation_bytes == 5 * 4 * 24 * 3


class TestAttentionVariants:
    """Queries stay; what is stored of keys and values follows the number of KV heads."""

    @pytest.mark.parametrize(
        ("kv_heads", "qkv_flops", "qkv_weights", "kv_bytes"),
        [
            (4, 8640, 2880, 1440),  # MHA: 5·2·3·8·(4+8)·3; 5·8·36·2; 5·2·12·3·(7+1)·½
            (2, 5760, 1920, 720),  # GQA
            (1, 4320, 1440, 360),  # MQA: 5·2·3·8·(4+2)·3; 5·8·18·2; 5·2·3·3·(7+1)·½
        ],
        ids=["MHA", "GQA", "MQA"],
    )
    def test_kv_heads(self, kv_heads, qkv_flops, qkv_weights, kv_bytes):
        nodes = decode(small(n_kv_heads=kv_heads))
        assert nodes["QKV projection"].flops == qkv_flops
        assert nodes["QKV projection"].weight_bytes == qkv_weights
        assert nodes["attention"].kv_bytes == kv_bytes
        assert nodes["attention"].flops == 5040  # of the query heads
        assert nodes["output projection"] == decode()["output projection"]


class TestFeedForward:
    def test_plain(self):
        # 5 · 4·3·8·10; 5 · 2·8·10 · 2; activations as when gated
        plain = decode(small(gated=False))["FFN"]
        assert plain == Node("FFN", 4800, weight_bytes=1600, activation_bytes=1620, linear=True)


class TestEmbeddings:
    def test_without_vocabulary_there_are_none(self):
        assert list(decode(small(vocab_size=0))) == ["QKV projection", "attention", "output projection", "FFN"]

    def test_tied_ones_work_as_much(self):
        assert decode(small(tied_embeddings=True)) == decode()


class TestTensorParallelism:
    """Four devices for two KV heads: every device keeps one, so each is held twice."""

    SHARDS = (
        Node("embedding", 0, weight_bytes=48, activation_bytes=72),  # whole rows on every device
        # one head, one KV head: 5 · 2·3·8·(1+2)·3; 5 · 8·9 · 2; 5 · 3·(8+9) · 3
        Node("QKV projection", 2160, weight_bytes=720, activation_bytes=765, linear=True),
        # a quarter of the heads: 5 · 4·3·3·7; half of the KV: 5 · 6·3·(7+1) · ½; 5 · 3·2·3 · 3
        Node("attention", 1260, kv_bytes=360, activation_bytes=270),
        Node(
            "output projection", 720, weight_bytes=240, activation_bytes=495, linear=True
        ),  # 5·2·3·3·8; 5·3·8·2; 5·3·11·3
        Node(
            "FFN", 1800, weight_bytes=600, activation_bytes=945, linear=True
        ),  # f = 2.5: 5·6·3·8·2.5; 5·3·8·2.5·2; 5·3·21·3
        Node("LM head", 384, weight_bytes=128, activation_bytes=144),  # V = 8: 2·3·8·8; 8·8·2; 3·16·3
        # twice a layer the 3·8·3 = 72 bytes of hidden states, of which a ring sends 2·¾: 5 · 2 · 108
        Node("all-reduce", link_bytes=1080, link_steps=60, messages=10),  # 2·3 steps of a ring, each
    )

    @pytest.mark.parametrize("expected", SHARDS, ids=lambda node: node.name)
    def test_four_devices(self, expected):
        assert decode(devices=4)[expected.name] == expected

    def test_two_devices_split_the_kv_heads(self):
        assert decode(devices=2)["attention"].kv_bytes == 360  # half of 720
        assert decode(devices=2)["QKV projection"].weight_bytes == 960  # half of 1920

    def test_ring_of_two(self):
        assert decode(devices=2)["all-reduce"].link_bytes == 720  # 5 · 2 · 2·½ · 72

    def test_prefill_sends_the_whole_prompt(self):
        assert prefill(devices=4)["all-reduce"].link_bytes == 2520  # 5 · 2 · 2·¾ · 7·8·3

    def test_one_device_sends_nothing(self):
        assert "all-reduce" not in decode(devices=1)

    def test_without_a_link_communication_is_left_out(self):
        unlinked = replace(scenario(devices=4), accelerator=replace(DEVICE, link_bandwidth=float("inf")))
        assert "all-reduce" not in {node.name for node in decode_nodes(unlinked)}
