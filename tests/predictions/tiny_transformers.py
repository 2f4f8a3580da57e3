"""Tiny random models of transformers, saved as a hub's folder holds them: an object detector and a grounding model."""

import json
from pathlib import Path

LABELS = {0: "circle", 1: "square", 2: "cross"}


def detector(folder: Path) -> None:
    from predictions.backends import torch_setup

    torch = torch_setup.torch()
    from transformers import YolosConfig, YolosForObjectDetection, YolosImageProcessor

    torch.manual_seed(5)
    config = YolosConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=37, image_size=[64, 64],
        patch_size=16, num_detection_tokens=6, id2label=LABELS, label2id={name: key for key, name in LABELS.items()},
    )  # fmt: skip
    YolosForObjectDetection(config).save_pretrained(folder)
    YolosImageProcessor(size={"shortest_edge": 64, "longest_edge": 64}).save_pretrained(folder)


def grounding(folder: Path) -> None:
    """OWL-ViT with a vocabulary of letters."""
    from predictions.backends import torch_setup

    torch = torch_setup.torch()
    from transformers import (
        CLIPTokenizer,
        OwlViTConfig,
        OwlViTForObjectDetection,
        OwlViTImageProcessor,
        OwlViTProcessor,
        OwlViTTextConfig,
        OwlViTVisionConfig,
    )

    torch.manual_seed(2)  # its boxes have an area
    folder.mkdir(parents=True)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [*letters, *(f"{one}</w>" for one in letters), "<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 37}
    text = OwlViTTextConfig(vocab_size=len(words), max_position_embeddings=16, **size)
    vision = OwlViTVisionConfig(image_size=64, patch_size=16, **size)
    config = OwlViTConfig(text_config=text.to_dict(), vision_config=vision.to_dict(), projection_dim=32)
    OwlViTForObjectDetection(config).save_pretrained(folder)
    seer = OwlViTImageProcessor(size={"height": 64, "width": 64}, crop_size={"height": 64, "width": 64})
    OwlViTProcessor(seer, tokenizer).save_pretrained(folder)
