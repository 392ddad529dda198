/* tables.c: what ns-worker writes of a run. */
#include "job.h"

void
write_baseline(const struct run *r)
{
	const struct plan *p = &r->o->plan;
	struct out out;

	out_open(&out, NULL);
	out_head(&out, "repeat phase step n_tokens start_ns dur_ns dev_ns");
	for (size_t i = 0; i < r->n_timing; i++) {
		const struct timing *t = &r->timing[i];

		out_count(&out, t->repeat);
		out_text(&out, t->prefill ? "prefill" : "decode");
		out_count(&out, t->step);
		out_count(&out, p->batch * (t->prefill ? p->prompt : 1));
		out_count(&out, t->start_ns);
		out_count(&out, t->dur_ns);
		if (r->o->backend->device_ns != NULL)
			out_count(&out, t->dev_ns);
		else
			out_na(&out);
		out_row(&out);
	}
	out_close(&out);
}

const char *const step_words[STEP_CUTS] = { "auto", "kernels", "experts", "persistent" };

void
write_settings(const struct run *r)
{
	const struct backend *b = r->o->backend;
	struct out out;

	out_open(&out, r->o->settings);
	out_kv(&out, "step", b->step != NULL ? step_words[b->step(r->engine)] : NULL);
	out_close(&out);
}

/* A header alone where weights are used as they are mapped. */
void
write_loading(const struct run *r)
{
	struct loaded l;
	struct out out;

	out_open(&out, r->o->loading);
	out_head(&out, "bytes dur_ns n_threads");
	if (r->o->backend->loaded != NULL) {
		l = r->o->backend->loaded(r->engine);
		out_count(&out, l.bytes);
		out_count(&out, l.dur_ns);
		out_count(&out, l.n_threads);
		out_row(&out);
	}
	out_close(&out);
}

void
write_footprint(const struct run *r)
{
	struct out out;

	out_open(&out, r->o->footprint);
	out_head(&out, "time_ns source used_bytes");
	for (size_t i = 0; i < r->n_footprint; i++) {
		const struct footprint *f = &r->footprint[i];
		const char *source[] = { "allocator", "driver", "process", "system" };
		uint64_t used[] = { f->allocator, f->driver, f->process, f->system };

		for (size_t s = 0; s < sizeof used / sizeof *used; s++) {
			if (s == 1 && r->o->backend->used == NULL)
				continue;
			out_count(&out, f->time_ns);
			out_text(&out, source[s]);
			if (used[s] != 0)
				out_count(&out, used[s]);
			else
				out_na(&out);
			out_row(&out);
		}
	}
	out_close(&out);
}

void
write_routing(const struct run *r, const uint32_t *count)
{
	const size_t layers = r->model.n_layers, experts = r->model.experts;
	struct out out;

	out_open(&out, r->o->routing);
	out_head(&out, "phase step layer expert n_tokens");
	for (size_t i = 0; i < (1 + r->o->plan.generate) * layers * experts; i++) {
		size_t step = i / experts / layers;

		if (count[i] == 0)
			continue;
		out_text(&out, step == 0 ? "prefill" : "decode");
		out_count(&out, step == 0 ? 0 : step - 1);
		out_count(&out, i / experts % layers);
		out_count(&out, i % experts);
		out_count(&out, count[i]);
		out_row(&out);
	}
	out_close(&out);
}

void
write_logits(const struct run *r, const float *logits)
{
	const struct plan *p = &r->o->plan;
	struct out out;

	out_open(&out, r->o->logits);
	fwrite(logits, sizeof *logits,
	    (1 + p->generate) * p->batch * r->model.vocab, out.fp);
	out_close(&out);
}

void
write_tokens(const struct run *r, const uint32_t *generated)
{
	const struct plan *p = &r->o->plan;
	struct out out;

	out_open(&out, r->o->dump_tokens);
	out_head(&out, "sequence position origin token");
	for (size_t s = 0; s < p->batch; s++)
		for (size_t i = 0; i < p->prompt + 1 + p->generate; i++) {
			bool given = i < p->prompt;

			out_count(&out, s);
			out_count(&out, i);
			out_text(&out, given ? "prompt" : "generated");
			out_count(&out, given ? r->prompt[i * p->batch + s] :
			    generated[(i - p->prompt) * p->batch + s]);
			out_row(&out);
		}
	out_close(&out);
}
