"""Every reader, on a file that the real tool wrote."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from holdfast import evals
from holdfast.errors import HoldfastError
from holdfast.evals.submission import FORMATS
from tests.evals.logs import CHOICE, FILES, TEXT, changed, changed_lines, entries, zipped

SUMS = [f"sum-{number:02d}" for number in range(1, 13)]


def test_a_log_of_inspect() -> None:
    found = evals.read(FILES / "inspect.eval")
    assert found.items == tuple(SUMS)
    assert [item for item, score in found.by_item().items() if score == 0] == [
        "sum-03",
        "sum-06",
        "sum-08",
    ]
    assert set(found.scores) == {0.0, 1.0}
    assert (found.scorer, found.format, found.epochs) == ("includes", "inspect", 1)
    assert (found.filter, found.missing, found.partial, len(found)) == (None, (), False, 12)


@pytest.mark.parametrize("name", ["inspect-epochs.eval", "inspect-epochs.json"])
def test_epochs_of_inspect_are_averaged(name: str) -> None:
    """Letters and booleans say the same; 2 and 3 were wrong at first, 3 and 8 the second time."""
    expected = [0.5 if n in (2, 8) else 0.0 if n == 3 else 1.0 for n in range(1, 13)]
    for scorer in ("includes", "exact"):
        found = evals.read(FILES / name, score=scorer)
        assert found.scores == tuple(expected)
        assert (found.scorer, found.epochs) == (scorer, 2)
    short = evals.read(FILES / name, score="brevity").by_item()
    assert short["sum-01"] == 0.5
    assert short["sum-02"] == pytest.approx((1 / 3 + 1 / 2) / 2)


def test_deflated_logs_and_logs_without_summaries(tmp_path: Path) -> None:
    """Older versions deflate; without summaries every sample is read."""
    whole = evals.read(FILES / "inspect.eval")
    parts = entries(FILES / "inspect.eval")
    assert evals.read(zipped(tmp_path / "deflated.eval", parts)) == whole
    assert evals.read(zipped(tmp_path / "stored", parts, zipfile.ZIP_STORED)) == whole
    del parts["summaries.json"]
    assert evals.read(zipped(tmp_path / "samples.eval", parts)) == whole


def test_letters_and_several_values_of_inspect(tmp_path: Path) -> None:
    def graded(log: Any) -> Any:
        letters = "CIPN" * 3
        log["samples"] = [each for each in log["samples"] if each["epoch"] == 1]
        log["eval"]["config"]["epochs"] = 1
        for sample, letter in zip(log["samples"], letters, strict=True):
            sample["scores"] = {"both": {"value": {"grade": letter, "speed": 0.25}}}
        return log

    log = changed(FILES / "inspect-epochs.json", tmp_path, graded)
    assert evals.read(log, score="both.grade").scores == (1.0, 0.0, 0.5, 0.0) * 3
    assert set(evals.read(log, score="both.speed").scores) == {0.25}


@pytest.mark.parametrize(
    ("name", "state"),
    [("inspect-stopped.eval", "error"), ("inspect-killed.eval", "started")],
)
def test_an_interrupted_run_is_refused_unless_partial(name: str, state: str) -> None:
    with pytest.raises(HoldfastError, match=rf"did not end well \(its state: {state}\).*--partial"):
        evals.read(FILES / name)
    part = evals.read(FILES / name, partial=True)
    reached = 4 if state == "error" else 6
    assert part.partial
    assert part.items == tuple(SUMS[:reached])
    assert part.missing == tuple(SUMS[reached:])
    counted = evals.read(FILES / name, partial=True, missing="wrong")
    assert counted.items == tuple(SUMS)
    assert counted.scores == (1.0,) * reached + (0.0,) * (12 - reached)


def test_items_without_a_score_are_refused_or_wrong() -> None:
    path = FILES / "inspect-errors.eval"
    words = r"2 items \('sum-05', 'sum-09'\) have no score.*missing='wrong'"
    with pytest.raises(HoldfastError, match=words):
        evals.read(path)
    with pytest.raises(HoldfastError, match=words):  # the run did end: nothing may be left out
        evals.read(path, partial=True)
    found = evals.read(path, missing="wrong")
    assert found.missing == ("sum-05", "sum-09")
    assert [item for item, score in found.by_item().items() if not score] == [
        "sum-03",
        "sum-05",
        "sum-09",
    ]


def test_samples_of_lm_eval() -> None:
    lines = [json.loads(line) for line in CHOICE.read_text().splitlines()]
    for metric in ("acc", "acc_norm"):
        found = evals.read(CHOICE, score=metric)
        assert found.by_item() == {line["doc_id"]: line[metric] for line in lines}
        assert found.digests == {line["doc_id"]: line["doc_hash"] for line in lines}
        assert (found.format, found.filter) == ("lm-eval", "none")
    for name, value in (("strict-match", 0.0), ("flexible-extract", 1.0)):
        found = evals.read(TEXT, filter=name)
        assert (found.filter, found.scorer) == (name, "exact_match")
        assert found.scores == (value,) * 12


def test_instances_of_helm() -> None:
    path = FILES / "per_instance_stats.json"
    for perturbation in ("none", "lowercase"):
        found = evals.read(path, score="max_prob", filter=perturbation, epochs=2)
        assert found.items == ("id10394", "id1898", "id3398")
        assert found.scores == (1.0, 1.0, 1.0)
        assert (found.format, found.epochs) == ("helm", 2)
    assert set(evals.read(path, score="exact_match", filter="none", epochs=2).scores) == {0.0}
    with pytest.raises(HoldfastError, match="2 tries for 1 epoch; average over all of them"):
        evals.read(path, score="exact_match", filter="none")
    words = "3 items .* have no score under 'training_co2_cost'"  # HELM counted none
    with pytest.raises(HoldfastError, match=words):
        evals.read(path, score="training_co2_cost", filter="none", epochs=2)


def test_results_of_promptfoo() -> None:
    path = FILES / "promptfoo.json"
    found = evals.read(path, filter="0")
    assert found.by_item() == {0: 1.0, 1: 0.5, 2: 0.5, 3: 1.0, 4: 0.5, 5: 0.5}
    assert (found.format, found.scorer) == ("promptfoo", "score")
    assert evals.read(path, filter="1", score="success").scores == (1, 0, 0, 1, 0, 0)
    assert evals.read(path, filter="1", score="brevity").scores == (0.5,) * 6


def test_what_promptfoo_could_not_run_has_no_score(tmp_path: Path) -> None:
    def failed(document: Any) -> Any:
        document["results"]["results"][4]["failureReason"] = 2
        return document

    path = changed(FILES / "promptfoo.json", tmp_path, failed)
    with pytest.raises(HoldfastError, match=r"1 item \(2\) has no score"):
        evals.read(path, filter="0")


def test_repeats_and_other_versions_of_promptfoo_are_refused(tmp_path: Path) -> None:
    def repeated(document: Any) -> Any:
        document["runtimeOptions"]["repeat"] = 2
        return document

    def older(document: Any) -> Any:
        document["results"]["version"] = 2
        return document

    with pytest.raises(HoldfastError, match="every test 2 times"):
        evals.read(changed(FILES / "promptfoo.json", tmp_path, repeated))
    with pytest.raises(HoldfastError, match="version 2 of promptfoo"):
        evals.read(changed(FILES / "promptfoo.json", tmp_path, older))


def test_events_of_openai_evals(tmp_path: Path) -> None:
    path = FILES / "openai-events.jsonl"
    found = evals.read(path, score="match")
    assert [item for item, score in found.by_item().items() if not score] == [
        "sums.dev.3",
        "sums.dev.7",
    ]
    assert (len(found), found.format) == (10, "openai-evals")
    assert evals.read(path, score="f1").by_item()["sums.dev.4"] == 0.5
    interrupted = changed_lines(
        path, tmp_path, lambda lines: [line for line in lines if "final_report" not in line]
    )
    with pytest.raises(HoldfastError, match="did not end well"):
        evals.read(interrupted, score="match")
    assert evals.read(interrupted, score="match", partial=True).scores == found.scores


def test_a_sample_of_openai_evals_that_was_judged_twice(tmp_path: Path) -> None:
    twice = changed_lines(
        FILES / "openai-events.jsonl",
        tmp_path,
        lambda lines: lines + [line for line in lines if line.get("type") == "match"],
    )
    with pytest.raises(HoldfastError, match="2 tries for 1 epoch"):
        evals.read(twice, score="match")
    assert evals.read(twice, score="match", epochs=2).epochs == 2


def test_instances_of_every_eval_ever(tmp_path: Path) -> None:
    path = FILES / "every-eval-ever.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    expected = {
        line["sample_id"]: line["evaluation"]["score"]
        for line in lines
        if line["evaluation_result_id"] == "acc"
    }
    for score in (None, "score", "is_correct"):
        found = evals.read(path, filter="sums_choice/acc", score=score)
        assert found.by_item() == expected
        assert found.format == "every-eval-ever"
    assert found.digests["0"] == lines[0]["sample_hash"]

    def failed(lines: list[Any]) -> list[Any]:
        lines[0]["error"] = "timeout"
        return lines

    with pytest.raises(HoldfastError, match=r"1 item \('0'\) has no score"):
        evals.read(changed_lines(path, tmp_path, failed), filter="sums_choice/acc")


def test_plain_tables(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "question": ["a", "b", "c"],
            "item": [10, 20, 30],
            "acc": [True, False, True],
            "f1": [0.5, 0.25, 1.0],
        }
    )
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ndjson(tmp_path / "a.jsonl")
    for name in ("csv", "parquet", "jsonl"):
        path = tmp_path / f"a.{name}"
        assert evals.read(path, score="acc").by_item() == {10: 1.0, 20: 0.0, 30: 1.0}
        found = evals.read(path, score="f1")
        assert found.by_item() == {10: 0.5, 20: 0.25, 30: 1.0}
        assert (found.format, found.scorer) == (name, "f1")
        named = evals.read(path, score="f1", key="question")
        assert named.items == ("a", "b", "c")


def test_cells_of_csv_are_what_an_engine_takes_them_for(tmp_path: Path) -> None:
    """Read without one, by types that all cells of a column have."""
    path = tmp_path / "a.csv"
    path.write_text(
        '\ufeffid,"a ""question"", quoted",whole,part,flag,text,none\r\n'
        '007,"one,\ntwo",1, 0.5,TRUE,1,\r\n12,,0,1e-1,false,x,\r\n\r\n-3,b,,,True,,\r\n',
        encoding="utf-8",
        newline="",
    )
    for score, numbers in {"whole": (1, 0), "part": (0.5, 0.1), "flag": (1, 0, 1)}.items():
        known = evals.read(path, score=score, missing="wrong").by_item()
        assert known == {7: numbers[0], 12: numbers[1], -3: (*numbers, 0)[2]}
    frame = pl.read_csv(path, infer_schema_length=None, truncate_ragged_lines=True)
    assert frame["id"].drop_nulls().to_list() == [7, 12, -3]
    for score in ("text", "none"):
        with pytest.raises(HoldfastError, match=f"there is no score '{score}'"):
            evals.read(path, score=score)
    path.write_text("id,acc,acc\n1,0,1\n")
    with pytest.raises(HoldfastError, match="cannot be read as CSV"):
        evals.read(path)


def test_a_column_of_epochs(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,epoch,acc\na,1,1\na,2,0\nb,1,1\nb,2,1\n")
    with pytest.raises(HoldfastError, match=r"2 tries for 1 epoch.*epochs=2"):
        evals.read(path)
    assert evals.read(path, epochs=2).by_item() == {"a": 0.5, "b": 1.0}


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_format_that_is_named_is_believed(name: str, tmp_path: Path) -> None:
    """And a file of another one is refused, not guessed at."""
    path = tmp_path / "log"
    path.write_bytes(b'{"neither": ["one", "nor the other"]}')
    with pytest.raises(HoldfastError, match="log"):
        evals.read(path, format=name)


@pytest.mark.parametrize(
    ("path", "run", "said"),
    [
        (FILES / "inspect.eval", "", {}),
        (CHOICE, CHOICE.stem, {"score": "acc"}),
        (FILES / "promptfoo.json", "eval-", {"filter": "0"}),
        (FILES / "openai-events.jsonl", "2611160", {"score": "f1"}),
        (FILES / "every-eval-ever.jsonl", "sums_choice/", {"filter": "sums_choice/acc"}),
    ],
)
def test_what_the_tool_calls_the_run(path: Path, run: str, said: dict[str, Any]) -> None:
    found = evals.read(path, **said).run
    assert found is not None
    assert found.startswith(run)
    assert len(found) > 15


def test_two_runs_of_inspect_are_two() -> None:
    names = ("inspect-epochs.eval", "inspect-epochs.json")
    assert len({evals.read(FILES / name, score="exact").run for name in names}) == 2
