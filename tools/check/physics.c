/* physics.c: what was measured against what the checkpoint says must move. */
#include <math.h>

#include "check.h"

/* A number of platform.kv, or what holds where there is none. */
static double
setting(const struct run *r, const char *key, double otherwise)
{
	double x = r->platform.path != NULL ? kv_num(&r->platform, key) : NAN;

	return isnan(x) ? otherwise : x;
}

static double
tolerance(const struct run *r, const char *phase)
{
	double x = strcmp(phase, "prefill") == 0 ?
	    setting(r, "prefill_tolerance_ratio", 0.02) :
	    setting(r, "decode_tolerance_ratio", 0.01);

	if (r->model.path != NULL && kv_num(&r->model, "n_experts") > 0)
		x = fmax(x, setting(r, "moe_tolerance_ratio", 0.02));
	return x;
}

/* What a line that is written costs in reads, where it is fetched first. */
static double
reads(const struct run *r, const struct need *need)
{
	return need->read_bytes + (setting(r, "write_allocate", 0) != 0 ?
	    need->write_bytes : 0);
}

/* Gate's and up's input and output, of the tokens of one of n steps: the least that they take. */
static double
widest_activations(const struct run *r, const struct measured *m, size_t n)
{
	enum { WORD_BYTES = 2 };
	const double experts = kv_num(&r->model, "n_experts_per_token");
	const double ffn = experts > 0 ? experts * kv_num(&r->model, "expert_ffn_size") :
	    kv_num(&r->model, "ffn_size");

	return m->n_tokens / (double)n *
	    (kv_num(&r->model, "hidden_size") + 2 * ffn) * WORD_BYTES;
}

enum direction { READ, WRITE };

static void
judge_phase(struct run *r, const struct measured *m, enum direction d)
{
	size_t n;
	struct need need = readset_sum(&r->readset, m->phase, m->step,
	    m->n_steps, &n);
	double expected = d == READ ? reads(r, &need) : need.write_bytes;
	double measured = d == READ ? m->read_bytes : m->write_bytes;
	double ll = setting(r, "last_level_bytes", 0);
	const double wide = r->model.path == NULL ? NAN : widest_activations(r, m, n);
	struct finding f = finding(NULL, m->phase, m->source, expected, measured,
	    tolerance(r, m->phase));
	char by[32];

	/* Writes are judged by all that moves: there are few of them. */
	f.error = ratio(measured - expected, fmax(reads(r, &need), need.write_bytes));
	if (n == 0)
		found(r, &f, NOT_JUDGED, "%s is not in readset.tsv, or none of "
		    "its measured steps is", m->phase);
	else if (n < m->n_steps)
		found(r, &f, NOT_JUDGED, "%s: readset.tsv has %zu of the %zu "
		    "measured steps: it is of another workload", m->phase, n,
		    m->n_steps);
	else if (isnan(f.error))
		found(r, &f, NOT_JUDGED, "%s: what memory %s was not %s", m->phase,
		    d == READ ? "delivers" : "takes",
		    isnan(measured) ? "measured" : "predicted");
	else if (reads(r, &need) / (double)n <= ll)
		found(r, &f, NOT_JUDGED, "%s: what a step needs (%.12g bytes) fits "
		    "into the last level of cache (%.12g bytes): memory need not "
		    "deliver it", m->phase, reads(r, &need) / (double)n, ll);
	else if (judge(&f, FAIL) == PASS && d == READ)
		found(r, &f, PASS, "%s: memory delivers what the checkpoint's header "
		    "says, to %s", m->phase, percent(f.error, by));
	else if (judge(&f, FAIL) == PASS)
		found(r, &f, PASS, "%s: memory takes what is predicted, to %s of all "
		    "that moves", m->phase, percent(f.error, by));
	else if (d == WRITE && f.error < 0 && expected - measured <= ll)
		found(r, &f, PASS, "%s: memory takes %s less than predicted, of "
		    "all that moves: the last level can still hold that much",
		    m->phase, percent(f.error, by));
	else if (d == WRITE)
		found(r, &f, WARN, "%s: memory takes %s %s than predicted, of "
		    "all that moves: %s", m->phase, percent(f.error, by),
		    f.error < 0 ? "less" : "more", f.error < 0 ?
		    "what was written may still lie in the cache" :
		    "activations leave the caches, or lines written earlier do");
	else if (f.error < 0)
		found(r, &f, FAIL, "%s: memory delivers %s less than the "
		    "checkpoint says must be read: a layer or tensor is "
		    "predicted and not executed, part of the work was not "
		    "captured, or a metric is missing%s", m->phase,
		    percent(f.error, by), m->n_missing > 0 ? " (some are)" : "");
	else if (ll > 0 && wide > ll)
		found(r, &f, WARN, "%s: memory delivers %s more than the checkpoint "
		    "says must be read: of so many tokens activations leave the caches "
		    "(%.12g bytes at gate and up; the last level has %.12g bytes), and "
		    "weights may be read again", m->phase, percent(f.error, by), wide, ll);
	else
		found(r, &f, FAIL, "%s: memory delivers %s more than the "
		    "checkpoint says must be read: weights are read again, "
		    "activations leave the caches, a tensor is executed and not "
		    "predicted, or a factor of the registry is wrong", m->phase,
		    percent(f.error, by));
}

static void
predicted(struct run *r, enum direction d)
{
	for (size_t i = 0; i < r->n_memory; i++)
		if (phase_cmp(r->memory[i].phase, "NA") != 0)
			judge_phase(r, &r->memory[i], d);
	if (r->n_memory == 0)
		nothing_found(r, "steps.tsv has no row of memory");
}

void
check_predicted_read(struct run *r)
{
	predicted(r, READ);
}

void
check_predicted_write(struct run *r)
{
	predicted(r, WRITE);
}

/* The next phase after this one that the readset names; NULL: the first. */
static const char *
next_phase(const struct readset *s, const char *phase)
{
	for (size_t i = 0; i < s->n; i++)
		if (phase == NULL || (strcmp(s->step[i].phase, phase) != 0 &&
		    i > 0 && strcmp(s->step[i - 1].phase, phase) == 0))
			return s->step[i].phase;
	return NULL;
}

static void
judge_steps(struct run *r, const struct measured *m, const char *source,
    const char *phase)
{
	size_t n_predicted, n = m != NULL ? m->n_steps : 0;
	double all;
	struct finding f;

	readset_sum(&r->readset, phase, NULL, 0, &n_predicted);
	/* A sampled run has them all, whatever was counted. */
	all = strcmp(phase, "decode") == 0 && r->n_counted > 0 &&
	    !source_sampled(source) ? (double)r->n_counted : (double)n_predicted;
	f = finding(NULL, phase, source, all, (double)n, NAN);
	if (m != NULL && m->n_rows > 0 && n == 0)
		found(r, &f, PASS, "%s was measured as a whole", phase);
	else if (n == 0)	/* what a command has of phases was found, not agreed on */
		found(r, &f, run_has(r, "command.kv") ? WARN : FAIL, "%s was not "
		    "measured by %s: the capture ended early, or its ranges were "
		    "not found", phase, source);
	else if (m->step[n - 1] - m->step[0] != (int64_t)n - 1)
		found(r, &f, FAIL, "%s: %zu of its steps %lld to %lld were "
		    "measured: some in between are absent", phase, n,
		    (long long)m->step[0], (long long)m->step[n - 1]);
	else if ((double)n < all)
		found(r, &f, r->n_counted > 0 ? FAIL : WARN, "%s: %zu of %.12g "
		    "steps were measured: bytes are of steps %lld to %lld%s",
		    phase, n, all, (long long)m->step[0],
		    (long long)m->step[n - 1],
		    r->n_counted > 0 ? "; the capture ended early" : "");
	else
		found(r, &f, PASS, "%s: every step that was to be measured was",
		    phase);
}

/* Each source that measured memory at all has measured every phase. */
void
check_steps(struct run *r)
{
	struct finding none = finding(NULL, NULL, NULL, NAN, 0, NAN);

	for (size_t i = 0; i < r->n_memory; i++) {
		const char *source = r->memory[i].source, *phase = NULL;

		if (i > 0 && strcmp(source, r->memory[i - 1].source) == 0)
			continue;
		while ((phase = next_phase(&r->readset, phase)) != NULL) {
			const struct measured *m = NULL;

			for (size_t j = i; j < r->n_memory; j++)
				if (strcmp(r->memory[j].source, source) == 0 &&
				    strcmp(r->memory[j].phase, phase) == 0)
					m = &r->memory[j];
			judge_steps(r, m, source, phase);
		}
	}
	if (r->n_memory == 0)
		found(r, &none, FAIL, "nothing was measured at memory: the capture "
		    "is empty, or the registry does not know its metrics");
}
