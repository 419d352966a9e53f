"""The settings of a full fine-tune, written beside the training data.

The settings are those of GEMeX (section 4.1 of the paper and its training script): projection and language
model, three epochs, 64 questions per step on four GPUs (4 x 2 x 8), AdamW, a learning rate of 2e-5 with a
cosine schedule and a warm-up of 3 %, bf16. The paper writes "0.03 epochs" of warm-up, its script a ratio of
.03; the ratio is used here.
"""

from __future__ import annotations

import msgspec

from release.training.box_formats import MAX_PIXELS, BoxFormat
from release.training.conversations import TrainingLibrary

#: The models for which box formats were made, with their templates; by default, other formats use MedGemma.
_MODELS = {
    BoxFormat.QWEN2_VL: ("Qwen/Qwen2-VL-7B-Instruct", "qwen2_vl"),
    BoxFormat.QWEN25_VL: ("Qwen/Qwen2.5-VL-7B-Instruct", "qwen2_vl"),
    BoxFormat.QWEN3_VL: ("Qwen/Qwen3-VL-8B-Instruct", "qwen3_vl_nothink"),
}
_MEDGEMMA = ("google/medgemma-4b-it", "gemma3")
#: The name of the dataset in ``dataset_info.json``.
DATASET = "overread_train"

_TRL = '''"""Fine-tune a vision-language model on train.jsonl with TRL. Run it in this folder:

    accelerate launch --num_processes 4 --use_fsdp --mixed_precision bf16 train_trl.py
"""

import torch
from datasets import Features, List, Image, Value, load_dataset
from transformers import AutoModelForImageTextToText
from trl import SFTConfig, SFTTrainer

MODEL = "{model}"

part = {{"type": Value("string"), "text": Value("string")}}
features = Features(
    {{
        "id": Value("string"),
        "messages": List({{"role": Value("string"), "content": List(part)}}),
        "images": List(Image()),
    }}
)
train = load_dataset("json", data_files="train.jsonl", split="train", features=features)

model = AutoModelForImageTextToText.from_pretrained(MODEL, dtype=torch.bfloat16)
for name, parameter in model.named_parameters():
    # The projection and the language model are trained, the vision tower is not.
    in_vision_tower = any(part in name for part in ("vision_tower", "visual.blocks", "visual.patch_embed"))
    parameter.requires_grad = not in_vision_tower

trainer = SFTTrainer(
    model=model,
    train_dataset=train,
    args=SFTConfig(
        output_dir="output",
        max_length=None,  # a truncated conversation would lose image tokens
        num_train_epochs=3,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=8,
        learning_rate=2e-5,
        lr_scheduler_type="cosine",
        warmup_steps=0.03,
        optim="adamw_torch",
        bf16=True,
        gradient_checkpointing=True,
    ),
)
trainer.train()
trainer.save_model()
'''

_LLAMA_FACTORY = """# Run in this folder: FORCE_TORCHRUN=1 NPROC_PER_NODE=4 llamafactory-cli train train.yaml
model_name_or_path: {model}
template: {template}
stage: sft
do_train: true
finetuning_type: full
freeze_vision_tower: true
freeze_multi_modal_projector: false
freeze_language_model: false
dataset: {dataset}
dataset_dir: .
media_dir: .
# The images are not reduced further, because the boxes would no longer fit.
image_max_pixels: {max_pixels}
cutoff_len: 8192
output_dir: output
num_train_epochs: 3
per_device_train_batch_size: 2
gradient_accumulation_steps: 8
learning_rate: 2.0e-5
lr_scheduler_type: cosine
warmup_ratio: 0.03
optim: adamw_torch
bf16: true
gradient_checkpointing: true
fsdp: full_shard auto_wrap
"""

_MS_SWIFT = """#!/bin/sh
# Run in this folder. ms-swift converts the boxes of "objects" to the form of the model.
NPROC_PER_NODE=4 MAX_PIXELS={max_pixels} swift sft \\
  --model {model} \\
  --dataset train.jsonl \\
  --tuner_type full \\
  --freeze_vit true \\
  --freeze_aligner false \\
  --freeze_llm false \\
  --num_train_epochs 3 \\
  --per_device_train_batch_size 2 \\
  --gradient_accumulation_steps 8 \\
  --learning_rate 2e-5 \\
  --lr_scheduler_type cosine \\
  --warmup_ratio 0.03 \\
  --optim adamw_torch \\
  --torch_dtype bfloat16 \\
  --gradient_checkpointing true \\
  --deepspeed zero3 \\
  --output_dir output
"""


def recipe_files(library: TrainingLibrary, form: BoxFormat) -> dict[str, str]:
    """Return the files with the settings, by name."""
    model, template = _MODELS.get(form, _MEDGEMMA)
    if library is TrainingLibrary.TRL:
        return {"train_trl.py": _TRL.format(model=model)}
    if library is TrainingLibrary.MS_SWIFT:
        swift_model = _MODELS.get(form, _MODELS[BoxFormat.QWEN25_VL])[0]
        return {"train.sh": _MS_SWIFT.format(model=swift_model, max_pixels=MAX_PIXELS)}
    dataset_info = {
        DATASET: {
            "file_name": "train.jsonl",
            "formatting": "sharegpt",
            "columns": {"messages": "messages", "images": "images"},
            "tags": {
                "role_tag": "role",
                "content_tag": "content",
                "user_tag": "user",
                "assistant_tag": "assistant",
                "system_tag": "system",
            },
        }
    }
    return {
        "dataset_info.json": msgspec.json.format(msgspec.json.encode(dataset_info), indent=2).decode() + "\n",
        "train.yaml": _LLAMA_FACTORY.format(
            model=model, template=template, dataset=DATASET, max_pixels=_find_image_limit(form)
        ),
    }


def _find_image_limit(form: BoxFormat) -> int:
    """Return the maximum pixels of an image; only Qwen2.5-VL needs boxes in pixels of the resized image."""
    return MAX_PIXELS if form is BoxFormat.QWEN25_VL else 4 * MAX_PIXELS
