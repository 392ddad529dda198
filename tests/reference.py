#!/usr/bin/env python3
"""Logits that transformers computes for checkpoints, for ns-worker to match.

usage: reference.py OUT DIRECTORY...      needs torch and transformers

Each checkpoint is run in float32 on 24 prompt tokens and 8 greedy steps.  Into
OUT go NAME.f32, the logits as ns-worker --dump-logits writes them, and a row
of reference.tsv.  With --tokens FILE the prompt is that file's ids, with
--steps N there are N steps, with --no-logits only the row is written.
"""
import argparse
import os
import sys

import torch
import transformers


def options():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("directory", nargs="+")
    p.add_argument("--tokens")
    p.add_argument("--steps", type=int, default=8)
    p.add_argument("--no-logits", action="store_true")
    return p.parse_args()


def prompt(o, vocabulary):
    if o.tokens:
        with open(o.tokens) as f:
            return [int(word) for word in f.read().split()]
    return [(7 + 13 * i + i * i) % vocabulary for i in range(24)]


def run(model, tokens, steps):
    """The logits of the last prompt position and of each step, and the tokens."""
    rows, generated, cache = [], [], None
    feed = torch.tensor([tokens])
    for _ in range(1 + steps):
        out = model(feed, past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        rows.append(out.logits[0, -1].float())
        generated.append(int(rows[-1].argmax()))
        feed = torch.tensor([generated[-1:]])
    return torch.stack(rows), generated


def main():
    o = options()
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = False
    os.makedirs(o.out, exist_ok=True)
    print("torch", torch.__version__, "transformers", transformers.__version__,
          file=sys.stderr)
    with open(os.path.join(o.out, "reference.tsv"), "w") as table:
        table.write("model\tvocabulary\tprompt\tgenerated\n")
        for directory in o.directory:
            name = os.path.basename(os.path.normpath(directory))
            model = transformers.AutoModelForCausalLM.from_pretrained(
                directory, dtype=torch.float32, attn_implementation="eager",
                local_files_only=True).eval()
            tokens = prompt(o, model.config.vocab_size)
            logits, generated = run(model, tokens, o.steps)
            words = [",".join(map(str, t)) for t in (tokens, generated)]
            table.write(f"{name}\t{logits.shape[1]}\t{words[0]}\t{words[1]}\n")
            if not o.no_logits:
                logits.numpy().astype("<f4").tofile(
                    os.path.join(o.out, name + ".f32"))


if __name__ == "__main__":
    main()
