#!/usr/bin/env python3
"""A GGUF file of an F16 checkpoint, for llama.cpp to be timed on.

usage: f16-gguf.py CHECKPOINT OUT.gguf

Matrices go over as they are, vectors become F32 as ggml wants them.  Families
llama and qwen2.  There is no vocabulary but its size: for benchmarks alone.
"""
import glob
import json
import os
import struct
import sys

U32, F32, STRING = 4, 6, 8                      # of metadata
T_F32, T_F16 = 0, 1                             # of tensors
ALIGN = 32
NAMES = {"model.embed_tokens": "token_embd", "model.norm": "output_norm",
         "lm_head": "output", "input_layernorm": "attn_norm",
         "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
         "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
         "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate",
         "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}


def tensors(directory):
    """Name, shape, path, offset and size of every tensor."""
    for path in sorted(glob.glob(os.path.join(directory, "*.safetensors"))):
        with open(path, "rb") as f:
            (length,) = struct.unpack("<Q", f.read(8))
            header = json.loads(f.read(length))
        header.pop("__metadata__", None)
        for name, t in header.items():
            if t["dtype"] != "F16":
                sys.exit(f"{path}: {name} is {t['dtype']}: make the checkpoint "
                         "with ns-synth --dtype f16")
            begin, end = t["data_offsets"]
            yield name, t["shape"], path, 8 + length + begin, end - begin


def gguf_name(name):
    stem, kind = name.rsplit(".", 1)
    if stem in NAMES:
        return f"{NAMES[stem]}.{kind}"
    _, _, layer, rest = stem.split(".", 3)      # model.layers.N.REST
    return f"blk.{layer}.{NAMES[rest]}.{kind}"


def text(s):
    return struct.pack("<Q", len(s)) + s.encode()


def metadata(config):
    family = config["model_type"]
    if family not in ("llama", "qwen2"):
        sys.exit(f"no GGUF of family {family} is written here")
    theta = config.get("rope_theta") or config["rope_parameters"]["rope_theta"]
    heads = config["num_attention_heads"]
    size = config.get("head_dim") or config["hidden_size"] // heads
    numbers = {"context_length": config["max_position_embeddings"],
               "embedding_length": config["hidden_size"],
               "block_count": config["num_hidden_layers"],
               "feed_forward_length": config["intermediate_size"],
               "attention.head_count": heads,
               "attention.head_count_kv": config["num_key_value_heads"],
               "attention.key_length": size, "attention.value_length": size,
               "rope.dimension_count": size, "vocab_size": config["vocab_size"]}
    pairs = [("general.architecture", STRING, text(family)),
             ("tokenizer.ggml.model", STRING, text("none")),
             (f"{family}.attention.layer_norm_rms_epsilon", F32,
              struct.pack("<f", config["rms_norm_eps"])),
             (f"{family}.rope.freq_base", F32, struct.pack("<f", theta))]
    pairs += [(f"{family}.{k}", U32, struct.pack("<I", v)) for k, v in numbers.items()]
    return len(pairs), b"".join(text(k) + struct.pack("<I", t) + v for k, t, v in pairs)


def pieces(config, tensor):
    """The bytes of a tensor as ggml has them."""
    name, shape, path, offset, size = tensor
    with open(path, "rb") as f:
        f.seek(offset)
        data = f.read(size)
    if len(shape) == 1:
        yield struct.pack(f"<{shape[0]}f", *struct.unpack(f"<{shape[0]}e", data))
    elif config["model_type"] == "llama" and ("q_proj" in name or "k_proj" in name):
        # Pairs that turn together lie side by side.
        key = "num_attention_heads" if "q_proj" in name else "num_key_value_heads"
        dim, row = shape[0] // config[key], shape[1] * 2
        for r in range(shape[0]):
            r = r // dim * dim + r % 2 * (dim // 2) + r % dim // 2
            yield data[r * row:(r + 1) * row]
    else:
        yield data


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: f16-gguf.py CHECKPOINT OUT.gguf")
    with open(os.path.join(sys.argv[1], "config.json")) as f:
        config = json.load(f)
    every = list(tensors(sys.argv[1]))
    n_pairs, pairs = metadata(config)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(every), n_pairs) + pairs
    at = 0
    for name, shape, _, _, size in every:
        dims = shape[::-1]
        size *= 2 if len(shape) == 1 else 1
        head += text(gguf_name(name)) + struct.pack(
            f"<I{len(dims)}QIQ", len(dims), *dims, T_F16 if len(dims) > 1 else T_F32, at)
        at += -(-size // ALIGN) * ALIGN
    with open(sys.argv[2], "wb") as out:
        out.write(head + bytes(-len(head) % ALIGN))
        for tensor in every:
            for data in pieces(config, tensor):
                out.write(data)
            out.write(bytes(-out.tell() % ALIGN))


if __name__ == "__main__":
    main()
