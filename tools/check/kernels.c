/* kernels.c: the launches that nsys saw and those that ncu counted one by one. */
#include <math.h>

#include "check.h"

struct launches {
	char	*phase;
	int64_t	 step;
	uint64_t n;
};

/* Launches a phase and step; rows of whole ranges, which have no grid, are none. */
static struct launches *
launches_read(const struct run *r, size_t *n, bool *by_ncu)
{
	char *path = run_path(r, run_has(r, "launches.tsv") ? "launches.tsv" : "counters.tsv");
	char *last = xstrdup("");
	struct launches *v = NULL;
	size_t cap = 0;
	struct tsv t;

	tsv_open(&t, path);
	size_t source = tsv_col(&t, "source"), phase = tsv_col(&t, "phase");
	size_t step = tsv_col(&t, "step"), launch = tsv_col(&t, "launch");
	size_t grid = tsv_find(&t, "grid"), i;

	for (*n = 0; tsv_next(&t); ) {
		if (strcmp(t.val[source], "ncu") != 0)
			continue;
		*by_ncu = true;
		if (strcmp(t.val[launch], last) == 0 || grid == TSV_NONE || tsv_is_na(&t, grid))
			continue;
		free(last);
		last = xstrdup(t.val[launch]);
		for (i = 0; i < *n; i++)
			if (v[i].step == run_step(&t, step) &&
			    strcmp(v[i].phase, t.val[phase]) == 0)
				break;
		if (i == *n) {
			v = xgrow(v, &cap, ++*n, sizeof *v);
			v[i] = (struct launches){ xstrdup(t.val[phase]),
			    run_step(&t, step), 0 };
		}
		v[i].n++;
	}
	tsv_close(&t);
	free(last);
	free(path);
	return v;
}

/* Kernels that the timeline has in a step; NAN if it is not in it. */
static double
n_seen(const struct run *r, const struct launches *l)
{
	char *path = run_path(r, "timeline.tsv");
	double n = NAN;
	struct tsv t;

	tsv_open(&t, path);
	size_t phase = tsv_col(&t, "phase"), step = tsv_col(&t, "step");
	size_t kernels = tsv_col(&t, "n_kernels");

	while (tsv_next(&t))
		if (strcmp(t.val[phase], l->phase) == 0 && (l->step == NO_STEP ||
		    run_step(&t, step) == l->step))
			n = (isnan(n) ? 0 : n) + tsv_num(&t, kernels);
	tsv_close(&t);
	free(path);
	return n;
}

static void
judge_kernels(struct run *r, const struct launches *l)
{
	double seen = n_seen(r, l);
	struct finding f = finding(NULL, l->phase, "ncu", seen, (double)l->n, NAN);
	char *name = l->step == NO_STEP ? xstrdup(l->phase) :
	    xasprintf("%s, step %lld", l->phase, (long long)l->step);

	if (isnan(seen))
		found(r, &f, NOT_JUDGED, "%s: ncu counted %llu kernels; the timeline "
		    "does not have it", name, (unsigned long long)l->n);
	else if (seen == (double)l->n)
		found(r, &f, PASS, "%s: ncu counted each kernel that nsys saw", name);
	else
		found(r, &f, WARN, "%s: nsys saw %.12g kernels, ncu counted %llu: a filter "
		    "left some out, or the two runs were not alike", name, seen,
		    (unsigned long long)l->n);
	free(name);
}

void
check_kernels(struct run *r)
{
	struct launches *v;
	bool by_ncu = false;
	size_t n;

	if (!run_has(r, "launches.tsv") && !run_has(r, "counters.tsv")) {
		nothing_found(r, "this run holds no capture of ncu");
		return;
	}
	v = launches_read(r, &n, &by_ncu);
	for (size_t i = 0; i < n; i++) {
		judge_kernels(r, &v[i]);
		free(v[i].phase);
	}
	if (n == 0)
		nothing_found(r, by_ncu ? "ncu counted whole ranges, not kernel by kernel" :
		    "nothing in this run was counted by ncu");
	free(v);
}
