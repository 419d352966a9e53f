"""Loads exported training data with the dataset code of the library for which it was written.

The libraries are too large for the development environment. Install one in an environment of its own and run
this file with its Python:

    python -m venv trl-environment && trl-environment/bin/pip install trl torchvision
    trl-environment/bin/python benchmarks/load_training_data.py path/to/export

The script reads the library from ``training.json`` and ends with an error if a question, an image or a
placeholder is lost.
"""

# ruff: noqa: PLC0415 - each environment has one of the libraries
from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any


def load_trl() -> Iterable[tuple[int, int]]:
    """Load with datasets, and fill in the images with TRL."""
    from datasets import Features, Image, List, Value, load_dataset
    from trl import prepare_multimodal_messages

    part_features = {"type": Value("string"), "text": Value("string")}
    features = Features(
        {
            "id": Value("string"),
            "messages": List({"role": Value("string"), "content": List(part_features)}),
            "images": List(Image()),
        }
    )
    for row in load_dataset("json", data_files="train.jsonl", split="train", features=features):
        messages = prepare_multimodal_messages(row["messages"], images=row["images"])
        parts_with_image = [
            part for message in messages for part in message["content"] if part.get("image") is not None
        ]
        yield len(row["images"]), len(parts_with_image)


def load_llama_factory() -> Iterable[tuple[int, int]]:
    """Load with LLaMA-Factory's loader, and count placeholders in the aligned prompts."""
    from llamafactory.data.loader import _get_merged_dataset
    from llamafactory.hparams import DataArguments, ModelArguments
    from transformers import Seq2SeqTrainingArguments

    rows: Any = _get_merged_dataset(
        ["overread_train"],
        ModelArguments(model_name_or_path="none"),
        DataArguments(dataset_dir=".", media_dir="."),
        Seq2SeqTrainingArguments(output_dir="output"),
        stage="sft",
    )
    for row in rows:
        for path in row["_images"]:
            if not Path(path).is_file():
                sys.exit(f"{path} was not found by LLaMA-Factory.")
        yield len(row["_images"]), sum(message["content"].count("<image>") for message in row["_prompt"])


def load_ms_swift() -> Iterable[tuple[int, int]]:
    """Load with ms-swift's preprocessor, and compare boxes with their placeholders."""
    from swift.dataset import load_dataset

    train, _ = load_dataset("train.jsonl", strict=True, use_hf=True)
    for row in train:
        answer = row["messages"][-1]["content"]
        boxes = (row.get("objects") or {}).get("bbox") or []
        if answer.count("<bbox>") != len(boxes) or answer.count("<ref-object>") != len(boxes):
            sys.exit(f"{len(boxes)} boxes do not match their placeholders: {answer}")
        yield len(row["images"]), sum(message["content"].count("<image>") for message in row["messages"])


LOADERS = {
    "trl": (load_trl, "trl"),
    "llama-factory": (load_llama_factory, "llamafactory"),
    "ms-swift": (load_ms_swift, "ms-swift"),
}


def main() -> None:
    """Load the folder that is named by the first argument."""
    os.chdir(sys.argv[1])
    description = json.loads(Path("training.json").read_text("utf-8"))
    load, distribution = LOADERS[description["library"]]
    counts = list(load())
    mismatches = [count for count in counts if count[0] != count[1]]
    if mismatches or len(counts) != description["questions"]:
        sys.exit(
            f"{len(counts)} of {description['questions']} questions loaded, {len(mismatches)} of them with "
            "another number of images than placeholders."
        )
    images = sum(images for images, _ in counts)
    library = f"{distribution} {version(distribution)}"
    print(f"{library}: {len(counts):,} questions, {images:,} images, one per placeholder")


if __name__ == "__main__":
    main()
