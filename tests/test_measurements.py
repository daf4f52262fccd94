"""What the result files of benchmark tools say, in one set of units; and that a broken one says what is wrong."""

import json
import pickle
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace

import measured_files as files
import pytest
from hypothesis import given
from hypothesis import strategies as st

import roofwidget
from roofwidget import ParameterError
from roofwidget.measurements import Measurement, MeasurementError, read, tools


def said(measurement):
    """The numbers that a measurement has."""
    return {
        name: value for name, value in asdict(measurement).items() if value is not None and not isinstance(value, str)
    }


class TestVllm:
    def test_open_loop(self):
        (measured,) = read(files.VLLM_SERVE)
        assert measured.tool == "vLLM bench serve"
        assert (measured.model, measured.engine) == ("meta-llama/Llama-3.2-3B-Instruct", "vLLM")
        assert measured.accelerator == "4xNVIDIA_L40S"
        assert said(measured) == pytest.approx(
            {"prompt_tokens": 999, "output_tokens": 81050 / 300, "requests": 300, "request_rate": 10,
             "ttft": 0.054577085783, "itl": 0.01357799586, "request_throughput": 8.3254066496,
             "output_throughput": 2249.247363}
        )  # fmt: skip

    def test_closed_loop_at_an_infinite_rate(self):
        (measured,) = read(files.VLLM_BURST)
        assert (measured.concurrency, measured.request_rate) == (64, None)
        assert (measured.prompt_tokens, measured.output_tokens) == (512, 128)
        # Little's law closes: 64 requests under way, each of TTFT + 127 TPOT
        whole = measured.ttft + 127 * measured.itl
        assert measured.request_throughput * whole == pytest.approx(64, rel=0.03)

    def test_appended_results_are_one_each(self):
        assert [each.request_rate for each in read(files.VLLM_SERVE + "\n" + files.VLLM_BURST)] == [10, None]

    def test_metadata_of_tensor_parallelism(self):
        (measured,) = read({**json.loads(files.VLLM_SERVE), "tp": "2", "gpu": "4"})
        assert (measured.devices, measured.accelerator) == (2, None)

    def test_zero_is_what_was_not_measured(self):
        """numpy's mean of nothing: serve.py takes the mean of [0] where no answer had a second token."""
        (measured,) = read({**json.loads(files.VLLM_SERVE), "mean_tpot_ms": 0.0, "mean_itl_ms": 0.0})
        assert measured.itl is None

    def test_a_protocol_is_no_engine(self):
        (measured,) = read({**json.loads(files.VLLM_SERVE), "backend": "openai-chat"})
        assert measured.engine is None

    def test_latency_is_seconds_and_can_be_told_the_rest(self):
        (measured,) = read(files.VLLM_LATENCY, batch=8, prompt_tokens=32, output_tokens=128)
        assert measured.tool == "vLLM bench latency"
        assert said(measured) == {"e2e": 1.9375, "batch": 8, "prompt_tokens": 32, "output_tokens": 128}

    def test_throughput_leaves_out_tokens_of_both_kinds(self):
        (measured,) = read(files.VLLM_THROUGHPUT)
        assert said(measured) == {"requests": 100, "request_throughput": 5}

    def test_a_ramp_is_no_point(self):
        with pytest.raises(MeasurementError, match="request_rate was ramped up"):
            read({**json.loads(files.VLLM_SERVE), "ramp_up_strategy": "linear"})


class TestSGLang:
    def test_a_line_a_run(self):
        opened, closed = read(files.SGLANG_SERVING)
        assert said(opened) == pytest.approx(
            {"prompt_tokens": 342460 / 996, "output_tokens": 218257 / 996, "requests": 996, "request_rate": 2,
             "ttft": 2.07409, "itl": 0.00176, "e2e": 2.09807, "request_throughput": 3.77, "output_throughput": 825.94}
        )  # fmt: skip
        assert (closed.concurrency, closed.request_rate, closed.devices) == (4, None, 2)
        assert (closed.tool, closed.engine, closed.model) == (
            "SGLang bench_serving", "SGLang", "thinkingmachines/inkling-small",
        )  # fmt: skip

    def test_without_streaming_there_is_no_ttft(self):
        """docs/developer_guide/bench_serving.md: with --disable-stream "TTFT then equals total latency"."""
        run = {**json.loads(files.SGLANG_SERVING.splitlines()[0]), "mean_ttft_ms": 2098.07}
        assert read(run)[0].ttft is None

    def test_static_batches(self):
        """Objects one after the other, without a line's end between."""
        prefill, both = read(files.SGLANG_ONE_BATCH, accelerator="L40S", devices=8)
        assert (prefill.ttft, prefill.itl, prefill.output_tokens) == (3.7364211082458496, None, 1)
        assert prefill.prefill_throughput == pytest.approx(4 * 1024 / prefill.ttft)
        assert said(both) == pytest.approx(
            {"batch": 8, "prompt_tokens": 1024, "output_tokens": 1024, "devices": 8, "ttft": 7.162742376,
             "itl": 0.0231039524, "e2e": 30.811896801, "prefill_throughput": 1143.696027247,
             "output_throughput": 8 * 1024 / 30.811896801}
        )  # fmt: skip
        assert both.e2e == pytest.approx(both.ttft + 1023 * both.itl, rel=0.01)
        assert both.label == "test_run"

    def test_a_batch_sent_to_a_server(self):
        """Fields of bench_one_batch_server.py; in its early files the step has to be worked out."""
        (measured,) = read({"run_name": "default", "batch_size": 32, "input_len": 8192, "output_len": 1025,
                            "latency": 20.98, "input_throughput": 524288.0, "output_throughput": 1600.0,
                            "overall_throughput": 1700.0, "last_ttft": 0.5})  # fmt: skip
        assert measured.itl == pytest.approx(0.02)
        assert measured.output_throughput == pytest.approx(32 * 1025 / 20.98)


class TestLlamaBench:
    @pytest.mark.parametrize(
        ("text", "prefill", "decode"),
        [(files.LLAMA_BENCH_JSON, 7100.002165, 118.881588), (files.LLAMA_BENCH_CSV, 7285.676949, 119.915244)],
    )
    def test_prompt_and_generation(self, text, prefill, decode):
        pp, tg = read(text)
        assert (pp.model, pp.accelerator, pp.engine) == (
            "qwen2 7B Q4_K - Medium", "NVIDIA GeForce RTX 4080", "llama.cpp",
        )  # fmt: skip
        assert (pp.label, pp.prompt_tokens, pp.output_tokens, pp.batch) == ("pp512", 512, 0, 1)
        assert pp.prefill_throughput == prefill
        assert pp.ttft == pytest.approx(512 / prefill, rel=1e-3)
        assert (tg.label, tg.prompt_tokens, tg.output_tokens, tg.batch) == ("tg128", 0, 128, 1)
        assert tg.itl == pytest.approx(1 / decode, rel=1e-3)
        assert (tg.ttft, tg.e2e, tg.prefill_throughput, pp.itl) == (None, None, None, None)

    def test_the_table_that_it_shows(self):
        pp, tg, deep_pp, deep_tg = read(files.LLAMA_BENCH_MARKDOWN)
        assert [each.label for each in (pp, tg, deep_pp, deep_tg)] == ["pp512", "tg128", "pp512 @ d512", "tg128 @ d512"]
        assert (pp.prefill_throughput, tg.itl) == (7340.20, pytest.approx(1 / 120.60))
        assert (deep_pp.prompt_tokens, deep_pp.cached_tokens) == (1024, 512)
        assert (deep_tg.prompt_tokens, deep_tg.cached_tokens, deep_tg.output_tokens) == (512, 512, 128)
        assert deep_tg.itl > tg.itl

    def test_both_in_one_test(self):
        (measured,) = read({"n_prompt": 512, "n_gen": 128, "avg_ts": 640.0, "avg_ns": 1e9})
        assert measured.label == "pp512+tg128"
        assert (measured.e2e, measured.output_throughput, measured.ttft, measured.itl) == (1.0, 128.0, None, None)

    def test_a_test_it_does_not_have(self):
        with pytest.raises(MeasurementError, match="result 2: test must be a test such as pp512"):
            read(files.LLAMA_BENCH_MARKDOWN.replace("tg 128", "xx 128"))
        with pytest.raises(MeasurementError, match="result 1: t/s must be a number more than 0, not 'fast'"):
            read(files.LLAMA_BENCH_MARKDOWN.replace("7340.20 ±", "fast ±"))


class TestNvidia:
    def test_genai_perf(self):
        (measured,) = read(files.GENAI_PERF)
        assert (measured.tool, measured.model, measured.engine) == ("GenAI-Perf", "ensemble", "TensorRT-LLM")
        assert said(measured) == pytest.approx(
            {"prompt_tokens": 200.85, "output_tokens": 2565.855, "concurrency": 100, "ttft": 0.18463779,
             "itl": 0.00217673445, "e2e": 5.7674348, "request_throughput": 17.22254766,
             "output_throughput": 44190.560025}
        )  # fmt: skip
        assert measured.e2e == pytest.approx(measured.ttft + (2565.855 - 1) * measured.itl, rel=0.01)

    def test_without_streaming_there_is_no_ttft(self):
        (measured,) = read(files.GENAI_PERF_WHOLE)
        assert (measured.ttft, measured.itl, measured.e2e) == (None, None, pytest.approx(4.6106156))

    def test_first_versions_wrote_nanoseconds_as_text(self):
        (measured,) = read(files.GENAI_PERF_EARLY)
        assert measured.ttft == pytest.approx(0.02075777122)
        assert (measured.concurrency, measured.prompt_tokens) == (1, pytest.approx(550.0524))

    def test_aiperf(self):
        (measured,) = read(files.AIPERF)
        assert (measured.tool, measured.model) == ("AIPerf", "meta-llama/Llama-3.2-1B-Instruct")
        assert said(measured) == pytest.approx(
            {"prompt_tokens": 16384, "output_tokens": 126.5, "concurrency": 32, "requests": 256, "ttft": 1.24009,
             "itl": 0.1298, "e2e": 17.5259, "request_throughput": 1.81, "output_throughput": 228.47}
        )  # fmt: skip

    def test_aiperf_of_its_documentation(self):
        (measured,) = read(files.AIPERF_SHORT)
        assert measured.tool == "AIPerf"
        assert said(measured) == {"requests": 20, "e2e": pytest.approx(2.62071), "request_throughput": 1.45}

    @pytest.mark.parametrize("load", [{"perf_analyzer": {"stimulus": {"concurrency": 16}}}, {"concurrency": [16]},
                                      {"phases": {"profiling": {"concurrency": 16}}}])  # fmt: skip
    def test_where_versions_keep_the_load(self, load):
        assert read({**json.loads(files.GENAI_PERF), "input_config": load})[0].concurrency == 16

    def test_a_unit_it_does_not_have(self):
        text = files.GENAI_PERF.replace('"unit": "ms", "avg": 5767', '"unit": "fortnights", "avg": 5767')
        with pytest.raises(MeasurementError, match=r"request_latency\.unit must be one of ns, .* not 'fortnights'"):
            read(text)


class TestInferencePerf:
    def test_a_stage(self):
        (measured,) = read(files.INFERENCE_PERF)
        assert said(measured) == pytest.approx(
            {"prompt_tokens": 1030.198095, "output_tokens": 976.13, "request_rate": 8, "requests": 10500,
             "ttft": 1.06392815, "itl": 0.01585478286, "e2e": 16.949693735, "request_throughput": 13.2414701,
             "output_throughput": 12925.3962}
        )  # fmt: skip
        assert measured.request_throughput * measured.output_tokens == pytest.approx(measured.output_throughput)

    def test_several_stages(self, tmp_path):
        stages = json.dumps([json.loads(files.INFERENCE_PERF), json.loads(files.INFERENCE_PERF_SESSIONS)])
        assert [each.request_rate for each in read(stages)] == [8, None]
        path = tmp_path / "stage_0_lifecycle_metrics.json"
        path.write_text(files.INFERENCE_PERF)
        assert read(path)[0].label == read(str(path))[0].label == "stage_0_lifecycle_metrics"

    def test_tokens_that_the_server_had_cached(self):
        report = json.loads(files.INFERENCE_PERF_SESSIONS)
        report["successes"]["prompt_tokens"] = {"total": 7900.0, "cached": 3950.0, "uncached": 3950.0, "mean": 100.0}
        assert read(report)[0].cached_tokens == 50

    def test_no_success(self):
        report = json.loads(files.INFERENCE_PERF)
        report["successes"] = {"count": 0}
        with pytest.raises(MeasurementError, match="no request was answered"):
            read(report)


class TestTable:
    def test_csv(self):
        first, second = read(files.TABLE)
        assert (first.label, first.accelerator, first.model) == ("first", "H100 SXM", "Llama 3.1 8B")
        assert said(first) == pytest.approx(
            {"prompt_tokens": 1024, "output_tokens": 128, "batch": 8, "ttft": 0.1205, "itl": 0.00925}
        )
        assert said(second) == {"prompt_tokens": 1024, "output_tokens": 128, "batch": 16, "itl": pytest.approx(0.0105)}

    @pytest.mark.parametrize("delimiter", [";", "\t"])
    def test_other_delimiters(self, delimiter):
        assert read(files.TABLE.replace(",", delimiter)) == read(files.TABLE)

    def test_fields_by_their_own_names_are_seconds(self):
        measured = Measurement(tool="by hand", ttft=0.5, itl=0.01, e2e=1.0, concurrency=4.0)
        assert read([asdict(measured)]) == [measured]

    @pytest.mark.parametrize("other", ["model,test", "batch_size,input_len,output_len", "duration,completed"])
    def test_columns_that_tools_have_too(self, other):
        """A table of someone's own may share some of a tool's names, and is none of its results."""
        assert read(f"{other},ttft_ms\n{'3,' * len(other.split(','))}30\n")[0].ttft == 0.03

    def test_said_twice(self):
        with pytest.raises(MeasurementError, match="ttft and ttft_ms say the same twice"):
            read([{"ttft": 1.0, "ttft_ms": 1000.0}])

    def test_pandas(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"batch": [1, 2], "ttft_ms": [30.0, float("nan")], "itl_ms": [5, 6]})
        assert [said(each) for each in read(frame)] == [
            {"batch": 1, "ttft": 0.03, "itl": 0.005}, {"batch": 2, "itl": 0.006},
        ]  # fmt: skip

    def test_anything_like_a_frame(self):
        class Frame:
            columns = ("concurrency", "ttft_ms")

            def to_dict(self, kind):
                assert kind == "records"
                return [{"concurrency": 4, "ttft_ms": 30.0}]

        assert said(read(Frame())[0]) == {"concurrency": 4, "ttft": 0.03}


class TestSources:
    def test_bytes_of_any_utf(self):
        assert read(files.VLLM_SERVE.encode()) == read(files.VLLM_SERVE)
        assert read(files.LLAMA_BENCH_MARKDOWN.encode("utf-16")) == read(files.LLAMA_BENCH_MARKDOWN)
        assert read(b"\xef\xbb\xbf" + files.TABLE.encode()) == read(files.TABLE)

    def test_what_is_told_wins(self):
        (measured,) = read(files.VLLM_SERVE, accelerator="L40S", devices=1, label="base")
        assert (measured.accelerator, measured.devices, measured.label) == ("L40S", 1, "base")

    def test_told_what_there_is_not(self):
        with pytest.raises(MeasurementError, match="a measurement has no field 'gpu': its fields are tool, label"):
            read(files.VLLM_SERVE, gpu="L40S")

    def test_is_imported_only_when_asked_for(self):
        program = (
            "import sys, roofwidget; print([m for m in sys.modules if 'measure' in m]); roofwidget.measurements.read"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"
        assert roofwidget.measurements.read is read

    def test_knows_its_tools(self):
        assert {"vLLM bench serve", "llama-bench", "AIPerf", "inference-perf", "a table"} < set(tools())


VLLM = json.loads(files.VLLM_SERVE)


class TestFaults:
    @pytest.mark.parametrize(
        ("source", "sentence"),
        [
            ("", "there is no file '.*'|is a directory"),
            (b"", "the text is empty: there is no result in it"),
            ("nowhere.json", "there is no file 'nowhere.json'"),
            ("a\0b", "there is no file"),
            (b"\xff\x00\xfe", "the text is no text in UTF-8"),
            (7, "measurements are read from a path, text, bytes, dicts or a DataFrame, not from int"),
            ([], "the list has no result in it"),
            ([1], "the list, result 1 must be an object with named fields, not 1"),
            ("[]", "the text has no result in it"),
            ("hello\nworld", "the text is no JSON and no table: it begins with 'hello'"),
            (files.VLLM_SERVE[:700], r"the text is no whole JSON: line 1, column \d+: .*: it may be cut off$"),
            (files.LLAMA_BENCH_JSON[:800], r"no whole JSON: line \d+, column \d+: .*: it may be cut off$"),
            ('{"a": 1]', r"no whole JSON: line 1, column 8: Expecting ',' delimiter"),
            ("[" * 100_000, "nested too deep"),
            (files.LLAMA_BENCH_CSV[:-100], r"line 3 of the table has \d+ cells under a head of 15|no CSV"),
            (files.LLAMA_BENCH_MARKDOWN.split("build:")[0][:-10], "is cut off: row 6 of its table ends without"),
            ("a,a\n1,2", "two columns called 'a'"),
            ("ttft_ms,batch\n", "the text is no JSON and no table|a head and no rows"),
            ({}, "the result has the fields of no known tool .*: it has none"),
            ({"loss": 0.5, "epoch": 3}, r"no known tool \(vLLM bench serve, .*a table\): found loss, epoch$"),
            ({k: v for k, v in VLLM.items() if k != "completed"}, "; for vLLM bench serve it lacks completed"),
            ({**VLLM, "completed": 0}, "no request was answered"),
            ({**VLLM, "mean_ttft_ms": -3.0}, "^the result: mean_ttft_ms must be a number of 0 or more, not -3.0$"),
            ({**VLLM, "mean_ttft_ms": float("nan")}, "mean_ttft_ms must be .*, not nan"),
            ({**VLLM, "mean_ttft_ms": "fast"}, "mean_ttft_ms must be .*, not 'fast'"),
            ({**VLLM, "mean_ttft_ms": True}, "mean_ttft_ms must be .*, not True"),
            ({**VLLM, "model_id": {}}, "model_id must be a text, not {}"),
            ({**VLLM, "mean_e2el_ms": 20.0}, "of vLLM bench serve: a whole request takes 0.02 s and its first token"),
            ([VLLM, {**VLLM, "request_rate": -1}], "^the list, result 2: request_rate must be"),
            ([{"ttft_ms": None}], "it says nothing of speed"),
            ({**json.loads(files.INFERENCE_PERF), "successes": 3}, "successes must be an object, not 3"),
        ],
    )  # fmt: skip
    def test_is_one_sentence(self, source, sentence):
        with pytest.raises(MeasurementError, match=sentence) as raised:
            read(source)
        assert "\n" not in str(raised.value)

    def test_names_the_file(self, tmp_path):
        path = tmp_path / "bench.json"
        path.write_text(json.dumps({**VLLM, "output_throughput": "many"}))
        with pytest.raises(MeasurementError, match=r"^bench\.json: output_throughput must be .*, not 'many'$"):
            read(path)
        with pytest.raises(MeasurementError, match="is a directory: give its files one by one"):
            read(tmp_path)

    def test_survives_pickling(self):
        error = MeasurementError("a sentence")
        assert str(pickle.loads(pickle.dumps(error))) == "a sentence"

    @pytest.mark.parametrize("fields", [{"ttft": 0.0}, {"itl": float("inf")}, {"e2e": "1"}, {"ttft": 1.0, "batch": -1},
                                        {"ttft": 1.0, "model": 3}, {"ttft": 2.0, "e2e": 1.0}, {},
                                        {"ttft": 1.0, "prompt_tokens": 5, "cached_tokens": 6}])  # fmt: skip
    def test_a_measurement_that_cannot_be(self, fields):
        with pytest.raises(ParameterError):
            Measurement(tool="by hand", **fields)

    def test_rounding_is_no_fault(self):
        """WILLIAM-qmul/SGLang-dLoRA: a median TTFT of 606.88 ms of requests of 606.86 ms."""
        assert replace(Measurement(tool="by hand", ttft=0.60688), e2e=0.60686).ttft == 0.60688


ANY = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just(10**400),
    st.sampled_from(["nan", "-1", "inf", "1e999"]), st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip
OBJECTS = [text for text in files.ALL.values() if text.startswith("{") and text not in files.STREAMS]


def reads_or_says(source):
    """Either measurements, each of which says something, or one sentence."""
    try:
        measured = read(source)
    except MeasurementError as error:
        told = str(error)
    else:
        told = "read" if all(isinstance(each, Measurement) for each in measured) else ""
    assert told
    assert "\n" not in told


def places(fields, path=()):
    """Where the values of an object stand, at any depth."""
    for name, value in fields.items():
        yield (*path, name)
        if isinstance(value, Mapping):
            yield from places(value, (*path, name))


class TestMangled:
    @given(text=st.sampled_from(list(files.ALL.values())), data=st.data())
    def test_cut_off_anywhere(self, text, data):
        content = text.encode()
        reads_or_says(content[: data.draw(st.integers(0, len(content)))])

    @given(text=st.sampled_from(list(files.ALL.values())), data=st.data())
    def test_a_piece_replaced(self, text, data):
        content = text.encode()
        start, length = data.draw(st.integers(0, len(content))), data.draw(st.integers(0, 40))
        reads_or_says(content[:start] + data.draw(st.binary(max_size=8)) + content[start + length :])

    @given(text=st.sampled_from(OBJECTS), data=st.data())
    def test_fields_dropped_or_replaced(self, text, data):
        result = json.loads(text)
        for _ in range(data.draw(st.integers(1, 3))):
            *path, name = data.draw(st.sampled_from(list(places(result)) or [("a",)]))
            at = result
            for step in path:
                at = at[step]
            if data.draw(st.booleans()):
                at.pop(name, None)
            else:
                at[name] = data.draw(ANY)
        reads_or_says(result)

    @given(st.dictionaries(st.sampled_from(["ttft", "itl_ms", "batch", "tpot", "request_rate", "model", "osl"]), ANY))
    def test_any_row(self, row):
        reads_or_says([row])

    @given(st.one_of(st.text(), st.binary(), ANY, st.lists(ANY)))
    def test_anything(self, source):
        reads_or_says(source)
