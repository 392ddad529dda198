#!/usr/bin/env python3
"""transformers on the checkpoints that ns-worker runs.

usage: peers.py TOKENS {CHECKPOINT LOGITS}...

LOGITS is what ns-worker --dump-logits -g 0 wrote of the CHECKPOINT after TOKENS.
out, for each checkpoint in turn:
     decode  tokens a second, batch 1 after 128 tokens, in bf16, not compiled
     theirs  relative L2 of its bf16 logits after TOKENS from its own in float32
     ours    the same of LOGITS
Exit 3 where there is no transformers or no GPU for it.
"""
import statistics
import sys
import time

try:
    import torch
    import transformers
except ImportError as absent:
    print(absent, file=sys.stderr)
    sys.exit(3)

PROMPT, STEPS, WARM, REPEATS = 128, 16, 4, 3


def logits(model, tokens):
    return model(torch.tensor([tokens], device="cuda")).logits[0, -1].double()


def decode_rate(model):
    """The loop that costs least: no generate(), greedy, its own cache."""
    torch.manual_seed(1)
    rates = []
    for _ in range(REPEATS):
        feed = torch.randint(model.config.vocab_size, (1, PROMPT), device="cuda")
        cache = None
        for step in range(1 + WARM + STEPS):
            if step == 1 + WARM:
                torch.cuda.synchronize()
                start = time.perf_counter()
            out = model(feed, past_key_values=cache, use_cache=True)
            cache = out.past_key_values
            feed = out.logits[:, -1:].argmax(-1)
        torch.cuda.synchronize()
        rates.append(STEPS / (time.perf_counter() - start))
    return statistics.median(rates)


def measure(directory, ours, tokens):
    model = transformers.AutoModelForCausalLM.from_pretrained(
        directory, dtype=torch.bfloat16, local_files_only=True).cuda().eval()
    size = model.config.vocab_size
    ours = torch.from_file(ours, size=size, dtype=torch.float32).cuda().double()
    print("decode", decode_rate(model), sep="\t")
    theirs = logits(model, tokens)
    right = logits(model.float(), tokens)
    for who, got in (("theirs", theirs), ("ours", ours)):
        print(who, float((got - right).norm() / right.norm()), sep="\t")


def main():
    if not torch.cuda.is_available():
        print("torch sees no GPU", file=sys.stderr)
        sys.exit(3)
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = False
    with open(sys.argv[1]) as f:
        tokens = [int(word) for word in f.read().split()]
    for directory, ours in zip(sys.argv[2::2], sys.argv[3::2]):
        measure(directory, ours, tokens)


if __name__ == "__main__":
    main()
