#!/usr/bin/env python3
"""Why a mixture's logits differ: near ties of its router, in a model of the rounding.

usage: ties.py CHECKPOINT...      needs numpy; ns-synth --dtype bf16 or f16

Each checkpoint (mixtral or qwen3_moe) runs on 12 random sequences of 128 tokens in
f32, and with every word that the CUDA backend keeps in 16 bits rounded to 16.
out  model  router  moved  choices  score_error  off_ratio  worst
     router: fed rounded x, f32 x (as it is), or told the experts of f32
     moved: choices that fall otherwise; score_error: rms of the router's scores
     off_ratio: positions whose logits are off by more than 2e-2; worst: relative L2
and how near the last expert chosen and the first not chosen are.
"""
import glob
import json
import os
import struct
import sys

import numpy as np

SEQUENCES, TOKENS, TOLERANCE = 12, 128, 2e-2


def bf16(x):
    u = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((u + 0x7fff + (u >> 16 & 1)) & 0xffff0000).astype(np.uint32).view(np.float32)


def f16(x):
    return x.astype(np.float16).astype(np.float32)


def same(x):
    return x


def checkpoint(directory):
    with open(os.path.join(directory, "config.json")) as f:
        config = json.load(f)
    weights, dtype = {}, None
    for path in glob.glob(os.path.join(directory, "*.safetensors")):
        with open(path, "rb") as f:
            (length,) = struct.unpack("<Q", f.read(8))
            header = json.loads(f.read(length))
            data = f.read()
        header.pop("__metadata__", None)
        for name, t in header.items():
            begin, end = t["data_offsets"]
            dtype = t["dtype"]
            if dtype == "F16":
                w = np.frombuffer(data[begin:end], "<f2").astype(np.float32)
            else:
                w = (np.frombuffer(data[begin:end], "<u2").astype(np.uint32) << 16).view(np.float32)
            weights[name] = w.reshape(t["shape"])
    return config, weights, f16 if dtype == "F16" else bf16


def norm(x, w, eps):
    return w * (x / np.sqrt((x * x).mean(-1, keepdims=True) + eps))


class Model:
    def __init__(self, directory):
        self.c, self.w, self.round = checkpoint(directory)
        heads = self.c["num_attention_heads"]
        self.dim = self.c.get("head_dim") or self.c["hidden_size"] // heads
        self.heads, self.kv_heads = heads, self.c["num_key_value_heads"]
        self.eps, self.top = self.c["rms_norm_eps"], self.c["num_experts_per_tok"]

    def attend(self, layer, x, r):
        n, d, at = len(x), self.dim, f"model.layers.{layer}."
        xn = r(norm(x, self.w[at + "input_layernorm.weight"], self.eps))
        q, k, v = (r(xn @ self.w[f"{at}self_attn.{p}_proj.weight"].T).reshape(n, -1, d)
                   for p in "qkv")
        if at + "self_attn.q_norm.weight" in self.w:
            q = norm(q, self.w[at + "self_attn.q_norm.weight"], self.eps)
            k = norm(k, self.w[at + "self_attn.k_norm.weight"], self.eps)
        angle = np.arange(n)[:, None] * self.c["rope_theta"] ** (-np.arange(0, d, 2) / d)
        cos, sin = (f(angle).astype(np.float32)[:, None] for f in (np.cos, np.sin))

        def turn(t):
            a, b = t[..., :d // 2], t[..., d // 2:]
            return r(np.concatenate([a * cos - b * sin, b * cos + a * sin], -1))

        q, k = turn(q), turn(k)
        unseen = np.triu(np.full((n, n), -np.inf, np.float32), 1)
        out = np.empty_like(q)
        for h in range(self.heads):
            kv = h // (self.heads // self.kv_heads)
            s = q[:, h] @ k[:, kv].T / np.sqrt(d) + unseen
            s = np.exp(s - s.max(-1, keepdims=True))
            out[:, h] = (r(s) @ v[:, kv]) / s.sum(-1, keepdims=True)
        return r(out.reshape(n, -1)) @ self.w[at + "self_attn.o_proj.weight"].T

    def expert(self, names, xn, r):
        gate, up, down = (self.w[n + ".weight"] for n in names)
        g, u = r(xn @ gate.T), r(xn @ up.T)
        return r(g / (1 + np.exp(-g)) * u) @ down.T

    def feed(self, layer, x, r, exact, told, seen):
        at = f"model.layers.{layer}."
        xn = norm(x, self.w[at + "post_attention_layernorm.weight"], self.eps)
        mixtral = at + "block_sparse_moe.gate.weight" in self.w
        router = at + ("block_sparse_moe" if mixtral else "mlp") + ".gate.weight"
        if router not in self.w:
            return self.expert([f"{at}mlp.{n}_proj" for n in ("gate", "up", "down")], r(xn), r)
        score = (xn if exact else r(xn)) @ self.w[router].T
        chosen = np.argsort(-score, -1, kind="stable")[:, :self.top]
        if told is not None:
            chosen = told[len(seen)][1]
        seen.append((score, chosen))
        p = np.exp(score - score.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        share = np.take_along_axis(p, chosen, -1)
        if self.c.get("norm_topk_prob", True):
            share = share / share.sum(-1, keepdims=True)
        out = np.zeros_like(x)
        for e in range(score.shape[1]):
            rows, rank = np.nonzero(chosen == e)
            names = ([f"{at}block_sparse_moe.experts.{e}.{n}" for n in ("w1", "w3", "w2")] if mixtral
                     else [f"{at}mlp.experts.{e}.{n}_proj" for n in ("gate", "up", "down")])
            out[rows] += share[rows, rank][:, None] * self.expert(names, r(xn)[rows], r)
        return out

    def run(self, tokens, rounded, exact=True, told=None):
        """The logits of every position, and each mixture layer's scores and choices."""
        r, seen = self.round if rounded else same, []
        x = self.w["model.embed_tokens.weight"][tokens]
        for layer in range(self.c["num_hidden_layers"]):
            x = x + self.attend(layer, x, r)
            x = x + self.feed(layer, x, r, exact, told, seen)
        head = self.w.get("lm_head.weight", self.w["model.embed_tokens.weight"])
        return r(norm(x, self.w["model.norm.weight"], self.eps)) @ head.T, seen


def compare(name, model):
    routers = ("rounded x", "f32 x", "told")
    error, score_error = {r: [] for r in routers}, {r: [] for r in routers}
    moved, gap, choices = dict.fromkeys(routers, 0), [], 0
    for seed in range(SEQUENCES):
        tokens = np.random.default_rng(seed).integers(0, model.c["vocab_size"], TOKENS)
        want, seen = model.run(tokens, False)
        for score, chosen in seen:
            ordered = -np.sort(-score, -1)
            gap.append(ordered[:, model.top - 1] - ordered[:, model.top])
            choices += len(chosen)
        for r in routers:
            got, other = model.run(tokens, True, r != "rounded x", seen if r == "told" else None)
            error[r].append(np.linalg.norm(got - want, axis=1) / np.linalg.norm(want, axis=1))
            for (s, c), (t, d) in zip(seen, other):
                moved[r] += int((np.sort(c, 1) != np.sort(d, 1)).any(1).sum())
                score_error[r].append(np.square(s - t).ravel())
    for r in routers:
        e = np.concatenate(error[r])
        print(name, r, moved[r], choices, f"{np.sqrt(np.concatenate(score_error[r]).mean()):.5f}",
              f"{(e > TOLERANCE).mean():.4f}", f"{e.max():.4f}", sep="\t")
    near = np.quantile(np.concatenate(gap), (.01, .05, .5))
    print(name, "gap of 1, 5, 50 %", *(f"{g:.4f}" for g in near), sep="\t")


def main():
    print("model\trouter\tmoved\tchoices\tscore_error\toff_ratio\tworst")
    for directory in sys.argv[1:]:
        compare(os.path.basename(os.path.normpath(directory)), Model(directory))


if __name__ == "__main__":
    main()
